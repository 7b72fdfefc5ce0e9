"""Accelerated projected gradient steps on the simplex."""

import numba
import numpy as np
import numpy.typing as npt

Reals = npt.NDArray[np.float32] | npt.NDArray[np.float64]
Floats = npt.NDArray[np.float64]


@numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def product(matrix: Reals, vector: Floats, out: Floats) -> None:
    """Fill `out` with the product of a matrix, in float32 or float64, and a vector."""
    for i in range(matrix.shape[0]):
        row = matrix[i]
        total = 0.0
        for j in range(row.size):
            total += np.float64(row[j]) * vector[j]
        out[i] = total


@numba.njit(cache=True, nogil=True, fastmath=False)
def nearest(values: Floats, out: Floats) -> None:
    """Fill `out` with the nearest weights to `values` that are not negative and sum to one."""
    falling = np.sort(values)[::-1]
    total = 0.0
    excess = 0.0
    for i in range(falling.size):
        total += falling[i]
        mean = (total - 1.0) / (i + 1.0)
        if falling[i] > mean:
            excess = mean
    for i in range(values.size):
        out[i] = max(values[i] - excess, 0.0)


@numba.njit(cache=True, nogil=True, fastmath=False)
def descend(matrix: Reals, goal: Floats, longest: float, steps: int, look: int, enough: float, held: Floats) -> int:
    """Lower w^T K w - 2 w^T goal from the weights `held` on the simplex, in place; return the number of steps.

    Steps of Beck and Teboulle 2009 with the restarts of O'Donoghue and Candes 2015; 1 / longest is their length. They end where
    what can still be gained is at most the share `enough` of what was gained, which is looked at every `look` steps.
    """
    size = held.size
    ahead = held.copy()
    moved = np.empty(size)
    slope = np.empty(size)
    pace = 1.0
    start = 0.0
    for step in range(steps):
        if step % look == 0:
            product(matrix, held, slope)
            value = 0.0
            along = 0.0
            least = np.inf
            for i in range(size):
                value += held[i] * (slope[i] - 2.0 * goal[i])
                along += held[i] * (slope[i] - goal[i])
                least = min(least, slope[i] - goal[i])
            if step == 0:
                start = value
            if 2.0 * (along - least) <= enough * (start - value):  # by convexity
                return step
        product(matrix, ahead, slope)
        for i in range(size):
            slope[i] = ahead[i] - (slope[i] - goal[i]) / longest
        nearest(slope, moved)
        turn = 0.0
        for i in range(size):
            turn += (ahead[i] - moved[i]) * (moved[i] - held[i])
        if turn > 0.0:
            pace = 1.0  # it went too far
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * pace * pace))
        for i in range(size):
            ahead[i] = moved[i] + (pace - 1.0) / following * (moved[i] - held[i])
            held[i] = moved[i]
        pace = following
    return steps
