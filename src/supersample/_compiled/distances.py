"""Distances between all rows of two small blocks, computed by differences, so that near points lose no digits."""

import numba
import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

#: Columns of a tile, few enough for it to stay in cache while all rows pass.
_TILE = 1024


@numba.njit(cache=True, nogil=True, fastmath=False)
def squared_l2_row(point: Floats, right_t: Floats, row: Floats) -> None:
    """Fill row[j] with sum_k (point[k] - right_t[k, j])^2; `right_t` is d x m so that the inner loop is contiguous."""
    d, m = right_t.shape
    row[:] = 0.0
    k = 0
    # Four coordinates a sweep: the row is loaded and stored a quarter as often.
    while k + 4 <= d:
        x0, x1, x2, x3 = point[k], point[k + 1], point[k + 2], point[k + 3]
        y0, y1, y2, y3 = right_t[k], right_t[k + 1], right_t[k + 2], right_t[k + 3]
        for j in range(m):
            a = x0 - y0[j]
            b = x1 - y1[j]
            c = x2 - y2[j]
            e = x3 - y3[j]
            row[j] += (a * a + b * b) + (c * c + e * e)
        k += 4
    while k < d:
        x = point[k]
        y = right_t[k]
        for j in range(m):
            a = x - y[j]
            row[j] += a * a
        k += 1


@numba.njit(cache=True, nogil=True, fastmath=False)
def squared_l2(left: Floats, right_t: Floats, out: Floats) -> None:
    """Fill out[i, j] with sum_k (left[i, k] - right_t[k, j])^2."""
    for start in range(0, right_t.shape[1], _TILE):
        stop = min(start + _TILE, right_t.shape[1])
        for i in range(left.shape[0]):
            squared_l2_row(left[i], right_t[:, start:stop], out[i, start:stop])


@numba.njit(cache=True, nogil=True, fastmath=False)
def l1(left: Floats, right_t: Floats, out: Floats) -> None:
    """Fill out[i, j] with sum_k |left[i, k] - right_t[k, j]|."""
    n, d = left.shape
    m = right_t.shape[1]
    for i in range(n):
        row = out[i]
        row[:] = 0.0
        for k in range(d):
            x = left[i, k]
            y = right_t[k]
            for j in range(m):
                row[j] += abs(x - y[j])


@numba.njit(cache=True, nogil=True, fastmath=False)
def expand_products(
    left: Floats, right: Floats, left_norms: Floats, right_norms: Floats, threshold: float, out: Floats
) -> None:
    """Turn inner products in `out` into squared distances, and redo by differences those that cancelled.

    |x|^2 + |y|^2 - 2 x.y loses all digits if the distance is small relative to the norms; pairs below `threshold` times the sum
    of the norms are recomputed, so a point is at distance zero from its copy.
    """
    n, m = out.shape
    d = left.shape[1]
    for i in range(n):
        row = out[i]
        norm = left_norms[i]
        cancelled = 0
        for j in range(m):
            total = norm + right_norms[j]
            value = total - 2.0 * row[j]
            row[j] = value
            cancelled += value < threshold * total
        if cancelled > 0:
            for j in range(m):
                if row[j] < threshold * (norm + right_norms[j]):
                    exact = 0.0
                    for k in range(d):
                        difference = left[i, k] - right[j, k]
                        exact += difference * difference
                    row[j] = exact
