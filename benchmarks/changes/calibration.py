"""Thresholds of detectors for a run length: that of Page's test by Siegmund's formula, those of windows by a bootstrap."""

import math
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq

__all__ = ["page_threshold", "window_places", "window_thresholds"]

Floats = npt.NDArray[np.floating]
Places = npt.NDArray[np.int64]

#: By how much a discrete walk passes its threshold, in standard deviations (Siegmund 1985).
_OVERSHOOT = 1.166


def page_threshold(run_length: float, slack: float) -> float:
    """Return h for which a two-sided Page test on standard normal values has this mean run length (Siegmund 1985).

    One side runs (exp(2 k b) - 2 k b - 1) / (2 k^2) rows, b = h + 1.166, where k, the slack, is subtracted from each value;
    both sides half of that.
    """

    def excess(h: float) -> float:
        power = 2.0 * slack * (h + _OVERSHOOT)
        return (math.exp(power) - power - 1.0) / (2.0 * slack**2) - 2.0 * run_length

    return float(brentq(excess, 0.0, 40.0 / slack))


def window_places(n: int, window: int, count: int, rng: np.random.Generator) -> Places:
    """Return for each bootstrap the 2 w - 1 rows, of n, that stand for w overlapping windows."""
    return np.array([rng.permutation(n)[-(2 * window - 1) :] for _ in range(count)])


def window_thresholds(kernel: Floats, window: int, run_length: float, places: Places) -> npt.NDArray[np.float64]:
    """Return the thresholds on MMD^2 of MMDDriftOnline of alibi-detect: w for the first steps, the last for all later ones.

    These are the numbers of its own bootstrap, by running sums in a compiled loop, so that as many bootstraps as its
    documentation asks for can be afforded. Each bootstrap takes 2 w - 1 rows of the reference for w overlapping windows, and
    the others for the reference. Threshold t is the 1 - 1 / run_length quantile of MMD^2 of window t, among the bootstraps
    that passed no threshold before.

    kernel: n x n kernel values of the reference. places: those of `window_places`.
    """
    whole = kernel.sum(axis=0, dtype=np.float64) - np.diag(kernel)
    squares = np.empty((len(places), window))
    compiled: Any = numba.njit(_fill_squares)
    compiled(kernel, whole, places, window, squares)
    found = np.empty(window)
    for step in range(window):
        found[step] = np.quantile(squares[:, step], 1.0 - 1.0 / run_length)
        squares = squares[squares[:, step] < found[step]]
    return found


def _fill_squares(kernel: Floats, whole: Floats, places: Places, window: int, squares: Floats) -> None:
    """Write MMD^2 of each window, unbiased, with the rows that belong to none for the reference; `whole`: sums of columns."""
    size = places.shape[1]
    rows, total = len(kernel) - size, whole.sum()
    for draw in range(len(places)):
        own = np.zeros(size)  # of each row with the others of all windows
        leaves, comes = np.zeros(size), np.zeros(size)  # with the w - 1 rows after it, and before it
        for i in range(size):
            line = kernel[places[draw, i]]
            for j in range(i + 1, min(i + window, size)):
                value = line[places[draw, j]]
                leaves[i] += value
                comes[j] += value
            for j in range(i + window, size):
                value = line[places[draw, j]]
                own[i] += value
                own[j] += value
        own += leaves + comes
        across = whole[places[draw]] - own  # of each row with those of the reference
        inside = (total - own.sum() - 2.0 * across.sum()) / (rows * (rows - 1))
        among, between = 2.0 * comes[:window].sum(), across[:window].sum()  # of the rows of the present window
        for step in range(window):
            if step:
                among += 2.0 * (comes[step + window - 1] - leaves[step - 1])
                between += across[step + window - 1] - across[step - 1]
            squares[draw, step] = inside + among / (window * (window - 1)) - 2.0 * between / (rows * window)
