"""Rows of low density: candidates for criticisms that are unlike all other rows.

The density of a row is <mu, phi(x)>, mu the mean features of all rows so far; the features are there, so it costs one product.
Few rows of low density are kept. The kernel is wide: all rows of a small dense heap may have a lower density than rows that are
alone. So when too many are kept, the half that has most others of them near is dropped. Which rows are far from everything is
found when a result is read.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from supersample._checks import require
from supersample._stored import FLOATS, INTEGER, instance_of, stored
from supersample._typing import Features, Floats, Indices
from supersample.features import FeatureMap
from supersample.kernels import Kernel
from supersample.selection.stream.metric import squares_to
from supersample.selection.stream.rows import Rows

__all__ = ["Rare", "init", "merge", "of_rows", "offer", "settled", "size_for", "update"]

#: Candidates kept for each criticism that was asked for, and their largest number.
_PER_CRITICISM, _MOST = 50, 1000
#: The candidates are scored again whenever there are so many times as many rows as at the last time.
_GROWTH = 4
#: A candidate is in a crowd if more than _CROWD of _SOME are near: nearer than most of these are to their second neighbour.
_SOME, _CROWD, _MOST_OF_THEM, _NEIGHBOUR = 256, 8, 0.9, 2


class _Part(NamedTuple):
    """Rows and their densities."""

    rows: Rows
    density: Floats


@stored("Rare", {"size": INTEGER, "rows": instance_of(Rows), "density": FLOATS, "scored_at": INTEGER})
@dataclass(frozen=True)
class Rare:
    """At most `size` rows in order of the stream, with their densities by the mean after `scored_at` rows or later.

    As more rows come the mean moves; whenever there are four times as many, the kept rows are scored again. Of rows that are
    equal to the bit, only the first is kept. waiting: later rows that are not joined with the others yet, so that a chunk
    copies only the few rows that it adds; `settled` joins them. None wait in a stream between two updates, nor in a file.
    """

    size: int
    rows: Rows
    density: Floats
    scored_at: int = 0
    waiting: tuple[_Part, ...] = ()

    def shifted(self, by: int) -> "Rare":
        """Return the same rows at positions `by` rows later."""
        return replace(self, rows=self.rows.shifted(by))

    def check(self) -> None:
        """Refuse densities that do not belong to the rows."""
        require(len(self.rows) <= self.size, "there are more rare rows than are kept")
        require(self.density.shape == self.rows.positions.shape, "the rare rows are incomplete")
        require(bool(np.isfinite(self.density).all()) and self.scored_at >= 0, "the rare rows have an impossible density")
        require(bool((np.diff(self.rows.positions) > 0).all()), "the rare rows are out of order")


def size_for(n_criticisms: int) -> int:
    """Return how many candidates to keep for so many criticisms."""
    return min(_MOST, _PER_CRITICISM * n_criticisms)


def init(size: int, width: int) -> Rare:
    """Return no rows."""
    return Rare(size, Rows.none(width), np.empty(0))


def update(state: Rare, rows: Rows, features: Features, mean: Floats, n_used: int, feature_map: FeatureMap) -> Rare:
    """Return the candidates after more rows, `mean` and `n_used` being those after them; some may wait to be joined."""
    if state.size == 0:
        return state
    return offer(state, _density(features, mean), rows.take, mean, n_used, feature_map)


def offer(
    state: Rare, density: Floats, take: Callable[[Indices], Rows], mean: Floats, n_used: int, feature_map: FeatureMap
) -> Rare:
    """Return the candidates after more rows of these densities. take: returns rows by their places among them.

    Some of the rows may wait to be joined with the others.
    """
    low = np.arange(density.size)
    if n_used >= _GROWTH * state.scored_at:
        # The mean has moved: all new rows may enter, so that a heap with which a stream began does not keep the others out.
        state = settled(state)
        again = _density(feature_map.transform(state.rows.points), mean) if len(state.rows) else state.density
        state = replace(state, density=again, scored_at=n_used)
    elif 2 * len(state.rows) >= state.size:
        # Rows wait only below this maximum, so it is that of all candidates.
        low = np.flatnonzero(density < state.density.max())
        if low.size == 0:
            return state
        if _count(state) + low.size <= state.size:
            return replace(state, waiting=(*state.waiting, _Part(take(low), density[low])))
    return _with(state, take(low), density[low], feature_map.kernel)


def settled(state: Rare) -> Rare:
    """Return the same candidates, none of which waits."""
    if not state.waiting:
        return state
    rows, density = _joined(state)
    return replace(state, rows=rows, density=density, waiting=())


def merge(left: Rare, right: Rare, mean: Floats, n_used: int, feature_map: FeatureMap) -> Rare:
    """Return the candidates of both, by the mean of both together; `right` stands after `left`."""
    rows = Rows.joined(left.rows, right.rows)
    return of_rows(max(left.size, right.size), rows, mean, n_used, feature_map)


def of_rows(size: int, rows: Rows, mean: Floats, n_used: int, feature_map: FeatureMap) -> Rare:
    """Return the candidates among some rows, in order of the stream."""
    empty = Rare(size, rows.take(np.empty(0, dtype=np.int64)), np.empty(0), n_used)
    if size == 0 or len(rows) == 0:
        return empty
    return _with(empty, rows, _density(feature_map.transform(rows.points), mean), feature_map.kernel)


def _with(state: Rare, rows: Rows, density: Floats, kernel: Kernel) -> Rare:
    """Return the candidates with more of them; if there are too many, without copies, and of the new ones the least dense."""
    held, half = _count(state), state.size - state.size // 2
    both, densities = _joined(state, _Part(rows, density))
    if len(both) > state.size:
        fresh = _first_of_equals(both.points)
        if fresh.size > state.size:
            old, new = fresh[fresh < held], fresh[fresh >= held]
            if new.size > half:
                fresh = np.concatenate([old, np.sort(new[np.argsort(densities[new], kind="stable")[:half]])])
        if fresh.size > state.size:
            points = both.points if fresh.size == len(both) else both.points[fresh]  # a copy of wide rows takes long
            fresh = np.sort(fresh[_loneliest(kernel, points, densities[fresh])[:half]])
        both, densities = both.take(fresh), densities[fresh]
    return replace(state, rows=both, density=densities, waiting=())


def _count(state: Rare) -> int:
    """Count the candidates."""
    return len(state.rows) + sum(part.density.size for part in state.waiting)


def _joined(state: Rare, *more: _Part) -> _Part:
    """Return all candidates in order of the stream, and more rows after them."""
    parts = (_Part(state.rows, state.density), *state.waiting, *more)
    return _Part(Rows.joined(*(part.rows for part in parts)), np.concatenate([part.density for part in parts]))


def _loneliest(kernel: Kernel, points: Floats, density: Floats) -> Indices:
    """Return the places of rows: those that are in no crowd by their density, then the others, the least crowded first."""
    step = -(-len(points) // _SOME)
    away = squares_to(kernel, points[::step])(points)
    near = np.quantile(np.partition(away[::step], _NEIGHBOUR, axis=1)[:, _NEIGHBOUR], _MOST_OF_THEM)
    return np.lexsort((density, np.maximum((away <= near).sum(axis=1, dtype=np.int16), _CROWD)))


def _first_of_equals(points: Floats) -> Indices:
    """Return the places of rows that are no copies of earlier ones."""
    # Equal rows have equal sums; rows with equal sums that differ are told apart by their bytes.
    sums = (points * np.sqrt(np.arange(2.0, 2.0 + points.shape[1]))).sum(axis=1)
    ordered = np.sort(sums)
    if (ordered[1:] != ordered[:-1]).all():
        return np.arange(sums.size)
    _, first, group, counts = np.unique(sums, return_index=True, return_inverse=True, return_counts=True)
    kept = np.zeros(sums.size, dtype=np.bool_)
    kept[first] = True
    seen: set[bytes] = set()
    for place in np.flatnonzero(counts[group] > 1):
        own = points[place].tobytes()
        kept[place] = own not in seen
        seen.add(own)
    return np.flatnonzero(kept)


def _density(features: Features, mean: Floats) -> Floats:
    return np.asarray(features @ mean.astype(features.dtype), dtype=np.float64)
