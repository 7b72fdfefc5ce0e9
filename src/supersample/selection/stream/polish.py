"""Swap descent with the exact kernel over a pool of candidates: the last step of a selection."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from supersample._compiled.pool import next_swap
from supersample._typing import Floats, Indices
from supersample.selection.pool import ExactPool, Singles

__all__ = ["polish"]

#: Number of kicks for up to 100 points. For more points kicks gain little and cost much: their number falls with the fourth
#: power of the size.
_KICKS, _KICKED_SIZE = 40, 100
_KICKED_SHARE = 0.05
_KICK_CHOICES = 16
#: Gains below this share of k(x, x) are rounding errors.
_LEAST_GAIN = 1e-9


@dataclass
class _Descent:
    """The state of the search: chosen rows of the pool, their kernel rows, and the column sums of these."""

    chosen: Indices
    kernel_rows: Singles
    sums: Floats
    taken: npt.NDArray[np.bool_]

    def copy(self) -> "_Descent":
        return _Descent(self.chosen.copy(), self.kernel_rows.copy(), self.sums.copy(), self.taken.copy())


def polish(pool: ExactPool, pull: Floats, start: Indices, generator: np.random.Generator) -> Indices:
    """Return M different rows of the pool with a small MMD to a target, starting from the rows `start`.

    pull: z(x) = E k(x, target) for each row of the pool. Replacing y_j by x lowers M^2 MMD^2 by
        2 s(y_j) - k(y_j, y_j) - 2 s(x) - k(x, x) + 2 k(x, y_j) + 2 M (z(x) - z(y_j)),   s(x) = sum_l k(x, y_l).
    Each slot in turn takes its best row, until no swap gains. Then a few random slots are moved to a near row (a kick) and the
    descent is repeated; the result is kept if it ends lower. O(P) for each slot visited, O(P d) for each swap, O(M P) memory.
    """
    m = start.size
    diagonal = pool.diagonal
    least = _LEAST_GAIN * float(diagonal.mean())
    weight = 2.0 * m * pull - diagonal

    def swap(state: _Descent, slot: int, row: int) -> None:
        fresh = pool.rows(np.array([row]))[0]
        state.sums += fresh - state.kernel_rows[slot]
        state.kernel_rows[slot] = fresh
        state.taken[state.chosen[slot]] = False
        state.taken[row] = True
        state.chosen[slot] = row

    def height(state: _Descent) -> float:
        return float(state.sums[state.chosen].sum() - 2.0 * m * pull[state.chosen].sum())

    def descend(state: _Descent) -> None:
        slot, lowest = 0, height(state)
        while True:
            base = weight - 2.0 * state.sums
            own = base[state.chosen] + 2.0 * diagonal[state.chosen]  # with x = y_j the gain is zero
            base[state.taken] = -np.inf
            slot, row = next_swap(slot, state.kernel_rows, base, own, least)
            if row < 0:
                return
            swap(state, slot, row)
            slot, reached = (slot + 1) % m, height(state)
            if reached >= lowest:  # the gain was a rounding error of float32, and could be made again and again
                return
            lowest = reached

    first = pool.rows(start)
    taken = np.zeros(pool.points.shape[0], dtype=np.bool_)
    taken[start] = True
    best = _Descent(start.copy(), first, first.sum(axis=0, dtype=np.float64), taken)
    descend(best)
    lowest = height(best)
    if pool.points.shape[0] - m < 1:
        return best.chosen
    for _ in range(round(_KICKS * min(1.0, _KICKED_SIZE / m) ** 4)):
        trial = best.copy()
        for slot in generator.choice(m, max(1, round(_KICKED_SHARE * m)), replace=False):
            free = np.flatnonzero(~trial.taken)
            offered = free[generator.integers(0, free.size, _KICK_CHOICES)]
            swap(trial, int(slot), int(offered[np.argmax(trial.kernel_rows[slot, offered])]))
        descend(trial)
        reached = height(trial)
        if reached < lowest:
            best, lowest = trial, reached
    return best.chosen
