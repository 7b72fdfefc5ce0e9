"""The steps of herding on a device: no number comes to the host before all points are chosen."""

from typing import Any

import numpy as np

from supersample.device.arrays import Array
from supersample.device.loops import repeat
from supersample.selection.batch.assemble import Picked

__all__ = ["herd_points_on"]


def herd_points_on(space: Any, chosen: Picked, count: int, *, replace: bool) -> Array:
    """Add points until there are `count`, by the rule of `herding_gain`; O(N d) a step, or O(N D) with features.

    Returns the sum of the columns of all points.
    """
    home, xp = space.home, space.home.xp
    # Computed on first use, which must not be within a step: steps are compiled, or recorded.
    z = space.z
    sums, taken = space.zeros(), space.zeros()
    for row in chosen.points:
        sums = sums + space.column(row)
    if not replace:
        taken = -space.barred(taken, chosen.indices)
    everywhere, places = home.places(space.size), home.places(count)
    half = 0.5 * space.diagonal

    def step(state: tuple[Array, ...]) -> tuple[Array, ...]:
        sums, taken, picked, number = state
        share = 1.0 / (xp.astype(number, home.wide) + 1.0)
        best = xp.argmax(z - share * (sums + half) - taken)
        if not replace:
            taken = xp.where(everywhere == best, np.inf * xp.ones_like(taken), taken)
        return sums + space.column_at(best), taken, xp.where(places == number, best, picked), number + 1

    start = (sums, taken, home.places(count) * 0, home.array(np.array(len(chosen))))
    found = repeat(home, step, start, count - len(chosen))
    indices = np.asarray(home.host(found[2]), dtype=np.int64)[len(chosen) :]
    chosen.extend(indices, space.rows_at(indices))
    return found[0]
