"""Criticisms of two kinds: groups that the prototypes lack, and rows that are far from everything.

They are found when a result is read, from the background sample and the rows of low density.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from supersample._threads import cut
from supersample._typing import Floats, Indices
from supersample.kernels import Kernel
from supersample.selection.stream.background import Background
from supersample.selection.stream.metric import EQUAL, distances_to, nearest
from supersample.selection.stream.rows import Rows

__all__ = ["KINDS", "Found", "missed_and_rare"]

#: The kinds of criticisms; the last is the choice of the draft Online Prototypes and Criticisms, made by another module.
KINDS = ("missed", "rare", "witness")
_MISSED, _RARE = 0, 1

#: Sample rows, those farthest from any prototype, among which groups are looked for.
_CANDIDATES = 1000
#: A row belongs to a group if the row that stands for the group is this many times as near as the nearest prototype.
_NEARER = 2.0
#: A group lies apart if a ball about it holds at most this many other rows for each of its own. The ball has twice its radius,
#: three times that of a group of few rows, and is twice as wide where that is less than half way to the nearest prototype.
_OTHERS, _FEW, _BALL, _BALL_OF_FEW, _WIDENED, _HALF_WAY = 0.25, 20, 2.0, 3.0, 2.0, 0.5
#: The ball is wider than the usual distance between rows that differ by this factor: values on a grid are no groups apart.
_SPACINGS = 1.5
#: A group that holds more than this part of one that was found is the same.
_SAME = 0.5
#: Chance that any of the groups that are looked at has so empty a ball where rows lie evenly.
_CHANCE = 1e-3
#: The radius of a group is that of this share of its rows.
_MOST_OF_IT = 0.9
#: Least number of sample rows of a group, its least share of the data, and its least witness as a part of that share.
_LEAST_ROWS, _LEAST_SHARE, _LEAST_WITNESS = 7, 0.001, 0.1
#: Rarity is the distance to this nearest row of the sample.
_NEIGHBOUR = 6
#: A rare row has a rarity above this quantile of the sample's, or above its upper quartile by so many quartile distances (if
#: the quartiles are equal, above so many times it).
_RARER_THAN, _FAR_OUT, _TIMES = 0.95, 3.0, 2.0
#: Rows of the sample by which the usual rarity and the usual distance between rows are known; they are a random part of it.
_SOME, _FEWER = 512, 256
#: A row is a copy of an earlier criticism if it is this many times nearer to it than to its own sixth neighbour.
_COPY = 10.0
_PART = 256

Distances = Callable[[Floats], Floats]


class Found(NamedTuple):
    """Criticisms, and the kind of each: an index into KINDS."""

    rows: Rows
    kinds: Indices


def missed_and_rare(kernel: Kernel, prototypes: Rows, sample: Background, low: Rows, witness: Floats, count: int) -> Found:
    """Choose at most `count` criticisms: groups that the prototypes lack, the largest first, then rare rows, the rarest first.

    low: the rows of low density. witness: its values at the rows of the sample. A group is at least 7 rows and 0.1% of the
    sample, lies apart from the other rows, and has a positive witness. A rare row is farther from its sixth neighbour in the
    sample than is usual there; if there are few such rows, so are the criticisms. O((candidates + low) B d) for a sample of B
    rows.
    """
    to_sample, to_prototypes = distances_to(kernel, sample.rows.points), distances_to(kernel, prototypes.points)
    groups = _missed(to_sample, to_prototypes, sample, witness)[:count]
    free = low.take(np.flatnonzero(~np.isin(low.positions, prototypes.positions)))
    chosen = sample.rows.take(groups)
    if groups.size and len(free):  # those of a group that is shown already are not rare
        to_chosen = nearest(distances_to(kernel, chosen.points), free.points)
        free = free.take(np.flatnonzero(to_chosen * _NEARER >= nearest(to_prototypes, free.points)))
    odd = _rare(kernel, to_sample, free, sample.rows, chosen.points, count - groups.size)
    kinds = np.repeat([_MISSED, _RARE], [groups.size, odd.size]).astype(np.int64)
    return Found(Rows.joined(chosen, free.take(odd)), kinds)


def _missed(to_sample: Distances, to_prototypes: Distances, sample: Background, witness: Floats) -> Indices:
    """Return the places in the sample of rows that stand for groups without a prototype, the largest group first.

    Its size is the share of the data that is nearer to the row than to any prototype, as it is shown.
    """
    points, shares = sample.rows.points, sample.shares()
    to_any = nearest(to_prototypes, points)
    candidates = np.sort(np.argsort(-to_any, kind="stable")[:_CANDIDATES])
    candidates = candidates[(witness[candidates] > _LEAST_WITNESS * _LEAST_SHARE) & (to_any[candidates] > EQUAL)]
    if candidates.size == 0:
        return candidates
    away, spacing = to_sample(points[candidates]), _spacing(to_sample, points)
    chosen: list[int] = []
    most: list[Floats] = []  # of each group found: the shares of its rows, as parts of so much of it as makes another the same
    far, before = to_any, -1
    while len(chosen) > before:
        before = len(chosen)
        masses = (away < far / _NEARER) @ shares
        for each in np.argsort(-masses, kind="stable")[: np.count_nonzero(masses >= _LEAST_SHARE)]:
            place = candidates[each]
            inside = away[each] < far / _NEARER
            room = _SPACINGS * spacing, _HALF_WAY * far[place]
            if all(parts @ inside <= 1.0 for parts in most) and _apart(
                away[each], inside, shares, witness[place], room, _CHANCE / candidates.size
            ):
                chosen.append(int(each))
                most.append(shares * inside / (_SAME * float(shares @ inside)))
                far = np.minimum(far, away[each])  # as if it were a prototype: its group is no longer missed
    sizes = (away[chosen] < to_any) @ shares
    return candidates[chosen][np.argsort(-sizes, kind="stable")]


def _spacing(to_sample: Distances, points: Floats) -> float:
    """Return the median distance of rows to the nearest row that differs from them."""
    away = to_sample(points[:_FEWER])
    away[away <= EQUAL] = np.inf
    return float(np.median(away.min(axis=1)))


def _apart(
    away: Floats, inside: npt.NDArray[np.bool_], shares: Floats, witness: float, room: tuple[float, float], least: float
) -> bool:
    """Return whether the rows inside are a group that lies apart from the others.

    away: distances of all rows to the one that stands for the group. room: the least radius of the ball that must be empty, and
    how far it reaches at most if it is widened. least: the least chance of so empty a ball if the rows about the group were as
    dense as it along one line, by Poisson's distribution. Rows of unequal shares count as (sum of shares)^2 / sum of squares.
    """
    mine = shares[inside]
    mass = float(mine.sum())
    if mass < _LEAST_SHARE or witness < _LEAST_WITNESS * mass:
        return False
    count = mass**2 / float(mine @ mine)
    if count < _LEAST_ROWS - 0.5:
        return False
    wider = _BALL if count >= _FEW else _BALL_OF_FEW
    ball = wider * float(np.quantile(away[inside], _MOST_OF_IT))
    ball = max(room[0], ball, min(room[1], _WIDENED * ball))
    others = (away <= ball) & ~inside
    part = max(float(others @ shares) / mass, float(others.sum()) / mine.size)
    return part <= _OTHERS and float(special.gammaincc(part * count + 1.0, (wider - 1.0) * count)) <= least


def _rare(kernel: Kernel, to_sample: Distances, low: Rows, sample: Rows, taken: Floats, count: int) -> Indices:
    """Return the places among `low` of the rows farthest from their sixth neighbour in the sample, without copies."""
    if count == 0 or len(low) == 0 or len(sample) <= _NEIGHBOUR:
        return np.empty(0, dtype=np.int64)
    usual = _rarity(to_sample, sample.take(slice(0, _SOME)), sample, 0.0)
    first, third, least = np.quantile(usual, [0.25, 0.75, _RARER_THAN])
    # Where most rows have copies both quartiles are 0: then a row is rare if its sixth neighbour is no copy.
    least = min(least, third + _FAR_OUT * (third - first) if third - first > EQUAL else _TIMES * third)
    rarity = _rarity(to_sample, low, sample, max(least, EQUAL))
    held = taken
    chosen: list[int] = []
    for each in np.argsort(-rarity, kind="stable"):
        if len(chosen) == count or rarity[each] == 0.0:
            break
        point = low.points[each : each + 1]
        if len(held) and distances_to(kernel, held)(point).min() * _COPY < rarity[each]:
            continue
        chosen.append(int(each))
        held = np.concatenate([held, point])
    return np.array(chosen, dtype=np.int64)


def _rarity(to_sample: Distances, rows: Rows, sample: Rows, least: float) -> Floats:
    """Return the distance of each row to its sixth neighbour in the sample, itself left out; 0 if it is not above `least`."""
    found = np.zeros(len(rows))
    for part in cut(len(rows), _PART):
        away = to_sample(rows.points[part])
        _, own, same = np.intersect1d(rows.positions[part], sample.positions, assume_unique=True, return_indices=True)
        away[own, same] = np.inf
        lone = np.flatnonzero(np.count_nonzero(away <= least, axis=1) < _NEIGHBOUR)
        found[part.start + lone] = np.partition(away[lone], _NEIGHBOUR - 1, axis=1)[:, _NEIGHBOUR - 1]
    return found
