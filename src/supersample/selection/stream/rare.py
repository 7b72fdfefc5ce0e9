"""Rows of low density: candidates for criticisms that are unlike all other rows.

The density of a row is <mu, phi(x)>, mu the mean features of all rows so far; the features are there, so it costs one product.
The few rows of lowest density are kept. Which of them are far from everything is found when a result is read.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from supersample._checks import require
from supersample._stored import FLOATS, INTEGER, instance_of, stored
from supersample._typing import Features, Floats, Indices
from supersample.selection.stream.rows import Rows

__all__ = ["Rare", "init", "merge", "of_rows", "size_for", "update"]

#: Candidates kept for each criticism that was asked for, and their largest number.
_PER_CRITICISM, _MOST = 50, 1000

Transform = Callable[[Floats], Features]


@stored("Rare", {"size": INTEGER, "rows": instance_of(Rows), "density": FLOATS, "scored_at": INTEGER})
@dataclass(frozen=True)
class Rare:
    """At most `size` rows in order of the stream, with their densities by the mean after `scored_at` rows or later.

    As more rows come the mean moves; whenever their number has doubled, the kept rows are scored again. Of rows that are equal
    to the bit, only the first is kept.
    """

    size: int
    rows: Rows
    density: Floats
    scored_at: int = 0

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


def update(state: Rare, rows: Rows, features: Features, mean: Floats, n_used: int, transform: Transform) -> Rare:
    """Return the rows of lowest density after more rows, `mean` and `n_used` being those after them."""
    if state.size == 0:
        return state
    if n_used >= 2 * state.scored_at:
        again = _density(transform(state.rows.points), mean) if len(state.rows) else state.density
        state = replace(state, density=again, scored_at=n_used)
    density = _density(features, mean)
    if len(state.rows) == state.size:
        low = np.flatnonzero(density < state.density.max())
        if low.size == 0:
            return state
        rows, density = rows.take(low), density[low]
    return _lowest(state, rows, density)


def merge(left: Rare, right: Rare, mean: Floats, n_used: int, transform: Transform) -> Rare:
    """Return the rows of lowest density of both, by the mean of both together; `right` stands after `left`."""
    rows = Rows.joined(left.rows, right.rows)
    return of_rows(max(left.size, right.size), rows, mean, n_used, transform)


def of_rows(size: int, rows: Rows, mean: Floats, n_used: int, transform: Transform) -> Rare:
    """Return the rows of lowest density among some, in order of the stream."""
    empty = Rare(size, rows.take(np.empty(0, dtype=np.int64)), np.empty(0), n_used)
    return empty if size == 0 or len(rows) == 0 else _lowest(empty, rows, _density(transform(rows.points), mean))


def _lowest(state: Rare, rows: Rows, density: Floats) -> Rare:
    both, densities = Rows.joined(state.rows, rows), np.concatenate([state.density, density])
    fresh = _first_of_equals(both.points)
    if fresh.size < len(both):
        both, densities = both.take(fresh), densities[fresh]
    if len(both) > state.size:
        kept = np.sort(np.argsort(densities, kind="stable")[: state.size])
        both, densities = both.take(kept), densities[kept]
    return replace(state, rows=both.copy(), density=densities)


def _first_of_equals(points: Floats) -> Indices:
    """Return the places of rows that are no copies of earlier ones."""
    # Equal rows have equal sums; rows with equal sums that differ are told apart by their bytes.
    sums = (points * np.sqrt(np.arange(2.0, 2.0 + points.shape[1]))).sum(axis=1)
    _, first, group, counts = np.unique(sums, return_index=True, return_inverse=True, return_counts=True)
    if first.size == sums.size:
        return np.arange(sums.size)
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
