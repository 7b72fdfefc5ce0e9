"""Kernel values in float32: distances by differences, sums in float64."""

import numba
import numpy as np
import numpy.typing as npt

Singles = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]

#: Columns of a tile, few enough for it to stay in cache while all rows pass.
_TILE = 1024


@numba.njit(cache=True, nogil=True, fastmath={"contract"})
def squared_l2(left: Singles, right_t: Singles, out: Singles) -> None:
    """Fill out[i, j] with sum_k (left[i, k] - right_t[k, j])^2; `right_t` is d x m."""
    n, d = left.shape
    m = right_t.shape[1]
    for start in range(0, m, _TILE):
        stop = min(start + _TILE, m)
        for i in range(n):
            row = out[i, start:stop]
            row[:] = np.float32(0.0)
            k = 0
            while k + 4 <= d:
                x0, x1, x2, x3 = left[i, k], left[i, k + 1], left[i, k + 2], left[i, k + 3]
                y0, y1 = right_t[k, start:stop], right_t[k + 1, start:stop]
                y2, y3 = right_t[k + 2, start:stop], right_t[k + 3, start:stop]
                for j in range(stop - start):
                    a = x0 - y0[j]
                    b = x1 - y1[j]
                    c = x2 - y2[j]
                    e = x3 - y3[j]
                    row[j] += (a * a + b * b) + (c * c + e * e)
                k += 4
            while k < d:
                x = left[i, k]
                y = right_t[k, start:stop]
                for j in range(stop - start):
                    a = x - y[j]
                    row[j] += a * a
                k += 1


@numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def weighted_sums(values: Singles, weights: Floats, out: Floats) -> None:
    """Fill out[i] with sum_j weights[j] values[i, j], added up in float64."""
    n, m = values.shape
    for i in range(n):
        row = values[i]
        total = 0.0
        for j in range(m):
            total += weights[j] * np.float64(row[j])
        out[i] = total


@numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def both_sums(values: Singles, left_weights: Floats, right_weights: Floats, across: Floats, below: Floats) -> None:
    """Add sum_j right_weights[j] values[i, j] to across[i] and sum_i left_weights[i] values[i, j] to below[j], in float64."""
    n, m = values.shape
    for i in range(n):
        row = values[i]
        weight = left_weights[i]
        total = 0.0
        for j in range(m):
            value = np.float64(row[j])
            total += right_weights[j] * value
            below[j] += weight * value
        across[i] += total
