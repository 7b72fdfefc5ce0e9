"""Criticisms of two kinds: groups that the prototypes lack, and rows that are far from everything.

They are found when a result is read, from the background sample and the rows of low density.
"""

from typing import NamedTuple

import numpy as np

from supersample._typing import Floats, Indices
from supersample.errors import InputTypeError
from supersample.kernels import Kernel
from supersample.selection.pool import kernel_block
from supersample.selection.stream.background import Background
from supersample.selection.stream.rows import Rows

__all__ = ["KINDS", "Found", "missed_and_rare"]

#: The kinds of criticisms; the last is the choice of the draft Online Prototypes and Criticisms, made by another module.
KINDS = ("missed", "rare", "witness")
_MISSED, _RARE = 0, 1

#: Sample rows, those farthest from any prototype, among which groups are looked for.
_CANDIDATES = 1000
#: A row belongs to a group if the row that stands for the group is this many times as near as the nearest prototype.
_NEARER = 2.0
#: A group lies apart if a ball of twice its radius, three times that of a group of few rows, holds at most this many times its
#: share. Without a gap around the group, it would hold twice (three times) the share in one dimension, and more in others.
_APART, _FEW, _BALL, _BALL_OF_FEW = 1.25, 20, 2.0, 3.0
#: The radius of a group is that of this share of its rows.
_MOST_OF_IT = 0.9
#: Least number of sample rows of a group, and its least share of the data.
_LEAST_ROWS, _LEAST_SHARE = 7, 0.001
#: Rarity is the distance to this nearest row of the sample.
_NEIGHBOUR = 6
#: A row is a copy of an earlier criticism if it is this many times nearer to it than to its own sixth neighbour.
_COPY = 10.0
_PART = 256


class Found(NamedTuple):
    """Criticisms, and the kind of each: an index into KINDS."""

    rows: Rows
    kinds: Indices


def missed_and_rare(kernel: Kernel, prototypes: Rows, sample: Background, low: Rows, witness: Floats, count: int) -> Found:
    """Choose at most `count` criticisms: groups that the prototypes lack, the largest first, then rare rows, the rarest first.

    low: the rows of low density. witness: its values at the rows of the sample. A group is at least 7 rows and 0.1% of the
    sample, lies apart from the other rows, and has a positive witness at its middle. A rare row is far from its sixth neighbour
    in the sample. O((candidates + low) B d) for a sample of B rows.
    """
    metric = _Metric(kernel)
    points, shares = sample.rows.points, sample.shares()
    groups = _missed(metric, prototypes.points, points, shares, witness, count)
    free = low.take(np.flatnonzero(~np.isin(low.positions, prototypes.positions)))
    chosen = sample.rows.take(groups)
    if groups.size and len(free):  # those of a group that is shown already are not rare
        apart = metric.nearest(free.points, chosen.points) * _NEARER >= metric.nearest(free.points, prototypes.points)
        free = free.take(np.flatnonzero(apart))
    odd = _rare(metric, free, sample.rows, chosen.points, count - groups.size)
    kinds = np.repeat([_MISSED, _RARE], [groups.size, odd.size]).astype(np.int64)
    return Found(Rows.joined(chosen, free.take(odd)), kinds)


class _Metric:
    """Distances by which rows are near: of the points over their bandwidths, or of the kernel where it has none."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def between(self, left: Floats, right: Floats) -> Floats:
        """Return all distances between some points and others."""
        try:
            left, right = self.kernel.scale(left), self.kernel.scale(right)
        except InputTypeError:
            own, other = self.kernel.diagonal(left), self.kernel.diagonal(right)
            products = kernel_block(self.kernel, left, right)
        else:
            # About the middle of the points, where products lose fewer digits.
            middle = right.mean(axis=0) if len(right) else 0.0
            left, right = left - middle, right - middle
            own, other = (left**2).sum(axis=1), (right**2).sum(axis=1)
            products = left @ right.T
        squares = np.multiply(products, -2.0, out=products)  # in place: these are the largest arrays of a reading
        squares += own[:, None]
        squares += other
        return np.sqrt(np.maximum(squares, 0.0, out=squares), out=squares)

    def nearest(self, left: Floats, right: Floats) -> Floats:
        """Return the distance of each point to the nearest of some others."""
        parts = [self.between(left[start : start + _PART], right).min(axis=1) for start in range(0, len(left), _PART)]
        return np.concatenate(parts) if parts else np.empty(0)


def _missed(metric: _Metric, prototypes: Floats, points: Floats, shares: Floats, witness: Floats, count: int) -> Indices:
    """Return the places in the sample of rows that stand for groups without a prototype, the largest group first."""
    far = metric.nearest(points, prototypes)
    candidates = np.sort(np.argsort(-far, kind="stable")[:_CANDIDATES])
    candidates = candidates[(witness[candidates] > 0) & (far[candidates] > 0)]
    if candidates.size == 0:
        return candidates
    away = metric.between(points[candidates], points)
    chosen: list[int] = []
    best: int | None = 0
    while len(chosen) < count and best is not None:
        best = _largest_group(away, far, shares)
        if best is not None:
            chosen.append(int(candidates[best]))
            far = np.minimum(far, away[best])  # as if it were a prototype: its group is no longer missed
    return np.array(chosen, dtype=np.int64)


def _largest_group(away: Floats, far: Floats, shares: Floats) -> int | None:
    """Return the candidate with the largest group about it that lies apart; None if there is none.

    away: distances between candidates and sample rows. far: those of the sample rows to their nearest prototypes.
    """
    inside = away * _NEARER < far
    masses = inside @ shares
    for each in np.argsort(-masses, kind="stable"):
        mine = inside[each]
        if masses[each] < _LEAST_SHARE:
            break
        radius = float(np.quantile(away[each, mine], _MOST_OF_IT))
        count = int(mine.sum())
        ball = radius * (_BALL if count >= _FEW else _BALL_OF_FEW)
        if count >= _LEAST_ROWS and shares @ (away[each] <= ball) <= _APART * masses[each]:
            return int(each)
    return None


def _rare(metric: _Metric, low: Rows, sample: Rows, taken: Floats, count: int) -> Indices:
    """Return the places among `low` of the rows farthest from their sixth neighbour in the sample, without copies."""
    if count == 0 or len(low) == 0:
        return np.empty(0, dtype=np.int64)
    place = min(_NEIGHBOUR, len(sample)) - 1
    rarity = np.empty(len(low))
    for start in range(0, len(low), _PART):
        part = slice(start, start + _PART)
        away = metric.between(low.points[part], sample.points)
        away[low.positions[part, None] == sample.positions] = np.inf  # the row itself
        rarity[part] = np.partition(away, place, axis=1)[:, place]
    rarity[np.isinf(rarity)] = 0.0  # a sample of fewer rows than neighbours
    held = taken
    chosen: list[int] = []
    for each in np.argsort(-rarity, kind="stable"):
        if len(chosen) == count or not rarity[each] > 0:
            break
        point = low.points[each : each + 1]
        if len(held) and metric.between(point, held).min() * _COPY < rarity[each]:
            continue
        chosen.append(int(each))
        held = np.concatenate([held, point])
    return np.array(chosen, dtype=np.int64)
