"""Least work to move one sample into another around a circle, for many assignments of the same rows to the two samples."""

import numba
import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Labels = npt.NDArray[np.int8]


@numba.njit(cache=True, nogil=True, fastmath=False)
def weighted_median(values: Integers, weights: Floats, low: int, high: int, half: float, bins: Floats) -> int:
    """Return the least value at which the weights, summed in the order of the values, reach `half`.

    low, high: the smallest and the largest value. `bins` is scratch. Each pass sums the weights in bins, and keeps the bin that
    holds the median; few passes are needed, and ties cost nothing.
    """
    below = 0.0
    while low < high:
        shift = 0
        while (high - low) >> shift >= bins.size:
            shift += 1
        last = (high - low) >> shift
        bins[: last + 1] = 0.0
        for i in range(values.size):
            if low <= values[i] <= high:
                bins[(values[i] - low) >> shift] += weights[i]
        k = 0
        while k < last and below + bins[k] < half:
            below += bins[k]
            k += 1
        low += k << shift
        high = min(high, low + (1 << shift) - 1)
    return low


@numba.njit(cache=True, nogil=True, fastmath=False)
def least_work(
    order: Integers, lengths: Floats, labels: Labels, up: int, down: int, heights: Integers, bins: Floats, out: Floats
) -> None:
    """Fill out[b] with the sum of lengths times |heights - their median|, for the samples of labels[b].

    order: the rows by their place on the circle. lengths: the arc from each to the next. labels: 1 for rows of the first
    sample, 0 for rows of the second. The height after a row is F - G in whole units: a row of the first sample adds `up`, one
    of the second subtracts `down`. Whole numbers keep ties exact. `heights` and `bins` are scratch.
    """
    half = 0.5 * lengths.sum()
    for b in range(labels.shape[0]):
        height, low, high = 0, 0, 0  # the last height is 0
        for i in range(order.size):
            height += int(labels[b, order[i]]) * (up + down) - down
            heights[i] = height
            low = min(low, height)
            high = max(high, height)
        median = weighted_median(heights, lengths, low, high, half, bins)
        total = 0.0
        for i in range(order.size):
            total += lengths[i] * abs(heights[i] - median)
        out[b] = total
