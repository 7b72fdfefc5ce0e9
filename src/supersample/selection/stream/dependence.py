"""How much rows depend on those before them: sums of squares of blocks of 1, 2, 4, ..., 2^20 consecutive rows.

Where rows are independent, the sum of b of them has b times the variance of one; where neighbours are alike, more (batch means,
Conway 1963). The sums need one pass and O(C) a row for C coordinates, and merge by addition. Coordinates are the features of
the stream, folded into at most 32 with fixed random signs, and the coordinates of the points, group by group.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple, TypeVar

import numpy as np

from supersample._checks import MOST_EXPONENT, ROUNDING, require, within
from supersample._compiled import block_sums
from supersample._compiled.block_sums import LEVELS
from supersample._stored import FLOATS, INDICES, INTEGER, stored, tuple_of
from supersample._typing import Features, Floats, Indices
from supersample.embedding.moments import ScaledWeight
from supersample.selection.stream.rows import Rows

__all__ = ["Dependence", "Level", "Measured", "init", "merge", "update"]

#: Coordinates that features are folded into, those of all groups together, and those of one group at most.
_FOLDED, _GROUPED, _OF_A_GROUP = 32, 128, (8, 4, 2, 1)
#: Seed of the signs: fixed, since sums of different summaries are compared and merged.
_SIGNS = 20161203
#: Long blocks: at least so many of them, of at least so many rows each.
_LONG = 16
#: What a sum is at least where it divides.
_LEAST = float(np.finfo(np.float64).tiny)

A = TypeVar("A", Floats, Indices)


class _Layout(NamedTuple):
    """Where features go, coordinates of points (from, to, with signs), and the places of each group.

    signs: those of the features, in rows as long as what they are folded to; the last one is filled up.
    """

    folded: int
    signs: Floats
    sources: Indices
    targets: Indices
    turns: Floats
    groups: tuple[slice, ...]

    @property
    def size(self) -> int:
        """The number of coordinates."""
        return max(self.folded, int(self.targets.max(initial=-1)) + 1)


class Level(NamedTuple):
    """Blocks of one length: rows of a block, effective number of blocks, and variance of their sums over that of one row.

    The ratio is that of the sum over some coordinates, and 1 on average where rows are independent.
    """

    length: int
    blocks: float
    ratio: float


class Measured(NamedTuple):
    """What was measured of some coordinates: blocks of each length, none if they do not vary, and their dimensions.

    dimensions: (tr C)^2 / tr C^2 for their covariance C: how many equal and independent ones have sums as noisy as theirs.
    """

    levels: tuple[Level, ...]
    dimensions: float


@stored(
    "Dependence",
    {
        "n_features": INTEGER,
        "widths": tuple_of(INTEGER),
        "exponent": INTEGER,
        "totals": FLOATS,
        "counts": INDICES,
        "sizes": FLOATS,
        "products": FLOATS,
        "squares": FLOATS,
        "held": INDICES,
        "carried": FLOATS,
    },
)
@dataclass(frozen=True)
class Dependence:
    """Sums over blocks of consecutive rows, one level for each length; weights are divided by 2^exponent.

    widths: the numbers of coordinates of the groups that a point consists of; empty if points are not looked at. The other
    fields are those of `_compiled.block_sums.add_rows`. There are as many levels as there are lengths with a block.
    """

    n_features: int
    widths: tuple[int, ...]
    exponent: int
    totals: Floats
    counts: Indices
    sizes: Floats
    products: Floats
    squares: Floats
    held: Indices
    carried: Floats

    def measured(self, features: Features, points: Floats) -> tuple[Measured, tuple[tuple[Measured, ...], ...]]:
        """Return what was measured of the features, and of each group: of all its coordinates, and of each if it has several.

        features, points: those of some rows drawn at random, from which the dimensions are estimated. A group for which there
        was no place has nothing measured.
        """
        layout = _layout(self.n_features, self.widths)
        sample = _coordinates(layout, features, points)

        def of(part: slice) -> Measured:
            return Measured(self._levels(part), _dimensions(sample[:, part]))

        def alone(part: slice) -> list[Measured]:
            return [Measured(self._levels(slice(c, c + 1)), 1.0) for c in range(part.start, part.stop)]

        groups = (
            () if part.stop == part.start else (of(part), *(alone(part) if part.stop - part.start > 1 else ()))
            for part in layout.groups
        )
        return of(slice(0, layout.folded)), tuple(groups)

    def drift(self) -> float:
        """Return the share of the features' variance that is between long blocks, a sixteenth of the stream or less.

        It is about 0 where rows come in random order, or depend on rows much nearer than a sixteenth of the stream, and large
        where a table is sorted by what matters. 0 for fewer than 256 rows; rows after the last whole block are not looked at.
        """
        levels = self._levels(slice(0, _layout(self.n_features, self.widths).folded))
        long = [place for place, level in enumerate(levels) if level.blocks >= _LONG <= level.length]
        if not long:
            return 0.0
        # A block of b rows of equal weight has (sum w)^2 / sum w^2 = b.
        effective = self.sizes[long[-1], 1] / max(self.sizes[long[-1], 2], _LEAST)
        return float((levels[long[-1]].ratio - 1.0) / effective)

    def scaled(self, factor: ScaledWeight) -> "Dependence":
        """Return the sums of the same rows with all weights multiplied by a factor."""
        return replace(_times(self, factor.mantissa), exponent=self.exponent + factor.exponent)

    def coordinates(self, points: Floats) -> tuple[Floats, Indices]:
        """Return the coordinates of rows that are looked at beside their features, and the group of each."""
        layout = _layout(self.n_features, self.widths)
        whole = _coordinates(layout, np.zeros((points.shape[0], self.n_features)), points)
        groups = np.repeat(np.arange(len(layout.groups)), [part.stop - part.start for part in layout.groups])
        return whole[:, layout.folded :], groups

    def _levels(self, part: slice) -> tuple[Level, ...]:
        if self.counts.size == 0 or not self.sizes[0, 0] > 0:
            return ()
        mean, squares = self.totals[part] / self.sizes[0, 0], self.squares[:, part]
        spread = squares - 2.0 * mean * self.products[:, part] + mean**2 * self.sizes[:, 1:2]
        # What is left of two nearly equal sums is rounding error.
        spread = np.where(spread > ROUNDING * squares, spread, 0.0).sum(axis=1)
        whole, own = np.maximum(self.sizes[:, 1:], _LEAST).T
        blocks = self.sizes[:, 0] ** 2 / whole
        # The mean takes one degree of freedom.
        each = spread / own * blocks / np.maximum(blocks - 1.0, 0.5)
        if not each[0] > 0:
            return ()
        pairs = zip(blocks.tolist(), (each / each[0]).tolist(), strict=True)
        return tuple(Level(1 << place, count, ratio) for place, (count, ratio) in enumerate(pairs))

    def check(self, n_features: int, width: int, n_used: int, largest: float) -> None:
        """Refuse sums that no stream of `n_used` rows has."""
        require(self.n_features == n_features and sum(self.widths) in (0, width), "the block sums are of other rows")
        require(min(self.widths, default=1) > 0, "the block sums are of other rows")
        size, levels = _layout(self.n_features, self.widths).size, _levels(n_used)
        shapes = {"totals": (size,), "counts": (levels,), "held": (levels,), "sizes": (levels, 3)}
        shapes |= {"products": (levels, size), "squares": (levels, size), "carried": (levels, size + 2)}
        require(all(getattr(self, name).shape == shape for name, shape in shapes.items()), "the block sums are incomplete")
        require(abs(self.exponent) <= MOST_EXPONENT, "the block sums have an impossible scale")
        most = np.array([n_used >> level for level in range(levels)], dtype=np.int64)
        require(bool(((self.counts >= 0) & (self.counts <= most)).all()), "the block sums are of another number of rows")
        require(levels == 0 or int(self.counts[0]) == n_used, "the block sums are of another number of rows")
        # A compiled loop follows the blocks that wait without a look.
        waiting = sum(int(each) << level for level, each in enumerate(self.held))
        require(bool(np.isin(self.held, (0, 1)).all()) and waiting <= n_used, "the block sums wait for impossible blocks")
        require(bool((self.sizes >= 0).all()) and bool((self.squares >= 0).all()), "the block sums are impossible")
        row = largest * max(1, n_features, width)
        for values, power in ((self.totals, 1), (self.sizes, 2), (self.products, 2), (self.squares, 2), (self.carried, 2)):
            require(within(values, float(n_used) * (n_used * max(row, 1.0)) ** power), "the block sums are too large")


def init(n_features: int, widths: Sequence[int] = ()) -> Dependence:
    """Return the sums of no rows. widths: the numbers of coordinates of the groups that a point consists of."""
    size = _layout(n_features, tuple(widths)).size
    none = np.zeros(0, dtype=np.int64)
    return Dependence(
        n_features, tuple(widths), 0, np.zeros(size), none, np.zeros((0, 3)), np.zeros((0, size)), np.zeros((0, size)), none,
        np.zeros((0, size + 2)),
    )  # fmt: skip


def update(state: Dependence, features: Features, rows: Rows) -> Dependence:
    """Return the sums after more rows of positive weight; the given state is not changed."""
    if len(rows) == 0:
        return state
    n_rows = int(state.counts[:1].sum())
    largest = int(rows.exponents.max())
    started = state if n_rows else replace(state, exponent=largest)
    after = _with_levels(_scaled(started, max(largest, started.exponent)), _levels(n_rows + len(rows)))
    layout = _layout(state.n_features, state.widths)
    weights = np.ldexp(rows.mantissas, np.maximum(rows.exponents - after.exponent, -2000))
    block_sums.add_rows(
        features, layout.signs.astype(features.dtype), rows.points, layout.sources, layout.targets, layout.turns, weights,
        after.totals, after.counts, after.sizes, after.products, after.squares, after.held, after.carried,
        np.empty(layout.folded, features.dtype), np.empty(layout.size + 2),
    )  # fmt: skip
    return after


def merge(left: Dependence, right: Dependence) -> Dependence:
    """Return the sums of both, as if the rows of `right` had come after those of `left`.

    This is approximate: blocks across the border between the two are left out, with the unfinished blocks of `left`, and those
    of `right` start at its own first row. At most one block of each length is lost.
    """
    if left.counts.size == 0 or right.counts.size == 0:
        return right if left.counts.size == 0 else left
    n_rows, exponent = int(left.counts[0] + right.counts[0]), max(left.exponent, right.exponent)
    first, second = (_with_levels(_scaled(each, exponent), _levels(n_rows)) for each in (left, right))
    return replace(
        second,
        totals=first.totals + second.totals,
        counts=first.counts + second.counts,
        sizes=first.sizes + second.sizes,
        products=first.products + second.products,
        squares=first.squares + second.squares,
    )


def _levels(n_rows: int) -> int:
    return min(n_rows.bit_length(), LEVELS)


def _scaled(state: Dependence, exponent: int) -> Dependence:
    """Return the sums for weights divided by another power of two, with totals of its own."""
    shift = max(state.exponent - exponent, -2000)
    if shift == 0:
        return replace(state, totals=state.totals.copy())
    return replace(_times(state, float(np.ldexp(1.0, shift))), exponent=exponent)


def _times(state: Dependence, factor: float) -> Dependence:
    """Return the sums for weights multiplied by a factor, relative to the same power of two."""
    square = factor * factor
    carried = state.carried * factor
    carried[:, -1] = state.carried[:, -1] * square
    return replace(
        state, totals=state.totals * factor, sizes=state.sizes * np.array([factor, square, square]),
        products=state.products * square, squares=state.squares * square, carried=carried,
    )  # fmt: skip


def _with_levels(state: Dependence, levels: int) -> Dependence:
    """Return a copy with room for more levels."""

    def longer(array: A) -> A:
        out: A = np.zeros((levels, *array.shape[1:]), dtype=array.dtype)
        out[: array.shape[0]] = array
        return out

    return replace(
        state, counts=longer(state.counts), sizes=longer(state.sizes), products=longer(state.products),
        squares=longer(state.squares), held=longer(state.held), carried=longer(state.carried),
    )  # fmt: skip


@lru_cache(maxsize=64)
def _layout(n_features: int, widths: tuple[int, ...]) -> _Layout:
    """Say where features and points go: a wide group is folded into few coordinates, and groups past the last place nowhere."""
    folded = min(n_features, _FOLDED)
    most = next((each for each in _OF_A_GROUP if sum(min(each, width) for width in widths) <= _GROUPED), _OF_A_GROUP[-1])
    # The raw numbers are promised to be the same in all versions of NumPy.
    raw = np.random.PCG64(_SIGNS).random_raw(n_features + folded + sum(widths))
    signs, turns = np.split(np.where(raw >> np.uint64(63), 1.0, -1.0), [n_features + folded])
    targets, groups, place = [np.empty(0, dtype=np.int64)], [], folded
    for width in widths:
        own = min(width, most) if place + min(width, most) <= folded + _GROUPED else 0
        groups.append(slice(place, place + own))
        targets.append(place + np.arange(width) % own if own else np.full(width, -1))
        place += own
    where = np.concatenate(targets).astype(np.int64)
    sources = np.flatnonzero(where >= 0)
    folds = -(-n_features // max(folded, 1))
    lines = signs[: folds * folded].reshape(folds, folded)
    return _Layout(folded, lines, sources, where[sources], turns[sources], tuple(groups))


def _dimensions(sample: Floats) -> float:
    centred = sample - sample.mean(axis=0)
    covariance = centred.T @ centred
    total = float(np.trace(covariance))
    return total * total / float((covariance * covariance).sum()) if total > 0 else 1.0


def _coordinates(layout: _Layout, features: Features, points: Floats) -> Floats:
    """Return the coordinates of rows, n x size."""
    out = np.zeros((features.shape[0], layout.size))
    for line, start in zip(layout.signs, range(0, features.shape[1], layout.folded), strict=True):
        part = features[:, start : start + layout.folded]
        out[:, : part.shape[1]] += line[: part.shape[1]] * part
    for source, target, turn in zip(layout.sources, layout.targets, layout.turns, strict=True):
        out[:, target] += turn * points[:, source]
    return out
