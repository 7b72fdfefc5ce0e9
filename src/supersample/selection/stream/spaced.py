"""Points of a pool that match a target and lie at least a given distance apart."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from supersample._typing import Floats, Indices
from supersample.kernels import Kernel

__all__ = ["far_from", "spaced"]

#: Rounds of swaps at most; gains below this share of k(x, x) are rounding errors.
_ROUNDS, _LEAST_GAIN = 4, 1e-9
#: Points whose kernel values are computed at a time.
_SLOTS = 32
#: Rounding of a squared distance by products, as a share of the squared norms: pairs that may be too near count as such.
_ROUNDING = 1e-13


def far_from(points: Floats, others: Floats, least: float) -> npt.NDArray[np.bool_]:
    """Return which points are not nearer than `least` to any of some others."""
    room = _Room(points, least)
    return np.asarray(sum((room.near(each) for each in others), start=np.zeros(len(points), dtype=np.int64)) == 0)


def spaced(kernel: Kernel, points: Floats, pull: Callable[[int], Floats], size: int, least: float, before: Floats) -> Indices:
    """Return at most `size` places of a pool with a small MMD to a target, no two points nearer than `least` to each other.

    Nor is any nearer to one of the points chosen before. pull: z(x) = E k(x, target) for each point of the pool, for so many
    points. Points are taken one by one, as kernel herding does (Chen, Welling and Smola 2010), from those that are far enough
    from the ones taken; then each in turn is moved to the best place that the others leave open. Fewer are returned where no
    place is open any more. Distances are Euclidean, in the units of the points. O(P d) for each step.
    """
    if len(points) == 0:
        return np.empty(0, dtype=np.int64)
    room, rows_of = _Room(points, least), kernel.against(points)
    sums, crowd = np.zeros(len(points)), np.zeros(len(points), dtype=np.int64)
    for each in before:
        crowd += room.near(each)
    diagonal, wanted, chosen = kernel.diagonal(points), pull(size), []
    for count in range(1, size + 1):
        values = wanted - sums / count - diagonal / (2.0 * count)
        values[crowd > 0] = -np.inf
        best = int(values.argmax())
        if not values[best] > -np.inf:
            break
        chosen.append(best)
        sums += rows_of(points[best : best + 1])[0]
        crowd += room.near(points[best])
        crowd[best] += 1  # a row is taken once, however small `least` is
    found = np.array(chosen, dtype=np.int64)
    if len(chosen) == 0:
        return found
    if len(chosen) < size:
        wanted = pull(len(chosen))
    for _ in range(_ROUNDS):
        if _moved(rows_of, points, wanted, found, sums, crowd, diagonal, room) == 0:
            break
    return found


class _Room:
    """Which points of a pool are too near to a point."""

    def __init__(self, points: Floats, least: float) -> None:
        self.middle = points.mean(axis=0)
        self.points, self.square = points - self.middle, least * least
        self.norms = np.einsum("ij,ij->i", self.points, self.points)

    def near(self, point: Floats) -> Indices:
        """Return 1 for each point of the pool that is too near, else 0."""
        own = point - self.middle
        norm = float(own @ own)
        away = self.norms + norm - 2.0 * (self.points @ own)
        return np.asarray(away < self.square + _ROUNDING * (self.norms + norm), dtype=np.int64)


def _moved(
    rows_of: Callable[[Floats], Floats],
    points: Floats,
    pull: Floats,
    chosen: Indices,
    sums: Floats,
    crowd: Indices,
    diagonal: Floats,
    room: _Room,
) -> int:
    """Let each point take its best place, in place; return how many moved.

    Replacing y by x lowers M^2 MMD^2 by 2 s(y) - k(y, y) - 2 s(x) - k(x, x) + 2 k(x, y) + 2 M (z(x) - z(y)).
    """
    size, moved, enough = chosen.size, 0, _LEAST_GAIN * float(diagonal.mean())
    for slot, place in enumerate(chosen.tolist()):
        if slot % _SLOTS == 0:  # a point keeps its place until its turn, so that one product gives the values of many
            columns = rows_of(points[chosen[slot : slot + _SLOTS]])
        column, near = columns[slot % _SLOTS], room.near(points[place])
        near[place] += 1
        gains = 2.0 * (size * pull - sums + column) - diagonal
        gains[crowd - near > 0] = -np.inf
        best = int(gains.argmax())
        if best == place or not gains[best] > gains[place] + enough:
            continue
        there = room.near(points[best])
        there[best] += 1
        sums += rows_of(points[best : best + 1])[0] - column
        crowd += there - near
        chosen[slot] = best
        moved += 1
    return moved
