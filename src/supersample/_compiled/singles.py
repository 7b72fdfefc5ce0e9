"""Kernel values in float32: distances by differences, sums in float64."""

import numba
import numpy as np
import numpy.typing as npt

Singles = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]

#: Columns of a tile, few enough for it to stay in cache while all rows pass.
_TILE = 1024
# ln 2 in two parts; the first has few enough digits for its small multiples to be exact.
_LN2_HIGH, _LN2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)
_LOG2_E = np.float32(1.44269504)
#: exp(-87) is about the smallest number of full precision; smaller kernel values are negligible.
_SMALLEST = np.float32(-87.0)


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


@numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def gaussian_sums(
    products: Singles,
    left: Singles,
    right: Singles,
    left_weights: Floats,
    right_weights: Floats,
    across: Floats,
    below: Floats,
) -> None:
    """Add the sums of `both_sums` for k_ij = exp(-(left_i + right_j + products_ij) / 2), without storing k.

    left, right: squared norms; products: inner products, times -2. The exponential is 2^k times the polynomial of Cephes for
    float32 on |r| <= ln 2 / 2, within two units of the last digit; it is written out so that the compiler can vectorise it.
    """
    n, m = products.shape
    row = np.empty(m, np.float32)
    one, half = np.float32(1.0), np.float32(0.5)
    for i in range(n):
        norm = left[i]
        values = products[i]
        for j in range(m):
            t = max(-half * max(values[j] + (norm + right[j]), np.float32(0.0)), _SMALLEST)
            whole = np.floor(t * _LOG2_E + half)
            r = (t - whole * _LN2_HIGH) - whole * _LN2_LOW
            p = np.float32(1.9875691500e-4)
            p = p * r + np.float32(1.3981999507e-3)
            p = p * r + np.float32(8.3334519073e-3)
            p = p * r + np.float32(4.1665795894e-2)
            p = p * r + np.float32(1.6666665459e-1)
            p = p * r + np.float32(5.0000001201e-1)
            p = p * (r * r) + r + one
            row[j] = p * np.int32((np.int32(whole) + np.int32(127)) << np.int32(23)).view(np.float32)
        weight = left_weights[i]
        total = 0.0
        for j in range(m):
            value = np.float64(row[j])
            total += right_weights[j] * value
            below[j] += weight * value
        across[i] += total
