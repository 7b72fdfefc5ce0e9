"""Thresholds of detectors for a run length: that of Page's test by Siegmund's formula, those of windows by a bootstrap."""

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq

__all__ = ["page_threshold", "window_places", "window_thresholds"]

Floats = npt.NDArray[np.floating]
Places = npt.NDArray[np.int64]

#: By how much a discrete walk passes its threshold, in standard deviations (Siegmund 1985).
_OVERSHOOT = 1.166
#: Kernel values that are gathered at a time.
_GATHERED = 400_000


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

    These are the numbers of its own bootstrap, by running sums in place of a loop over windows, so that as many bootstraps as
    its documentation asks for can be afforded. Each bootstrap takes 2 w - 1 rows of the reference for w overlapping windows,
    and the others for the reference. Threshold t is the 1 - 1 / run_length quantile of MMD^2 of window t, among the bootstraps
    that passed no threshold before.

    kernel: n x n kernel values of the reference. places: those of `window_places`.
    """
    rows = len(kernel) - (2 * window - 1)
    whole = kernel.sum(axis=0, dtype=np.float64) - np.diag(kernel)
    squares = np.concatenate([_squares(kernel, whole, each, window, rows) for each in _chunks(places)])
    found = np.empty(window)
    for step in range(window):
        found[step] = np.quantile(squares[:, step], 1.0 - 1.0 / run_length)
        squares = squares[squares[:, step] < found[step]]
    return found


def _chunks(places: Places) -> Iterator[Places]:
    size = max(1, _GATHERED // places.shape[1] ** 2)
    return (places[start : start + size] for start in range(0, len(places), size))


def _squares(kernel: Floats, whole: Floats, places: Places, window: int, rows: int) -> npt.NDArray[np.float64]:
    """Return MMD^2 of each window, unbiased, with the rows that belong to none for the reference."""
    size = places.shape[1]
    own = kernel[places[:, :, None], places[:, None, :]]
    own[:, np.arange(size), np.arange(size)] = 0.0
    across = whole[places] - own.sum(axis=2, dtype=np.float64)  # of each row with those of the reference
    inside = (whole.sum() - own.sum(axis=(1, 2), dtype=np.float64) - 2.0 * across.sum(axis=1)) / (rows * (rows - 1))
    # From one window to the next a row leaves and another comes, each with its values with the w - 1 rows that stay.
    apart = np.arange(size) - np.arange(size)[:, None]
    leaves = np.einsum("bij,ij->bi", own, ((apart > 0) & (apart < window)).astype(own.dtype))[:, : window - 1]
    comes = np.einsum("bij,ij->bi", own, ((apart < 0) & (apart > -window)).astype(own.dtype))[:, window:]
    among = own[:, :window, :window].sum(axis=(1, 2), dtype=np.float64)[:, None] + _running(2.0 * (comes - leaves))
    sums = _running(across)
    between = sums[:, window:] - sums[:, :window]
    return inside[:, None] + among / (window * (window - 1)) - 2.0 * between / (rows * window)


def _running(values: Floats) -> npt.NDArray[np.float64]:
    """Return the sums of the first 0, 1, 2, ... values of each line."""
    return np.concatenate([np.zeros((len(values), 1)), np.cumsum(values, axis=1, dtype=np.float64)], axis=1)
