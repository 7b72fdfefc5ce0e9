"""Weighted sums of Gaussian kernel values without storing them: distance, exponential and both sums in one pass."""

import numba
import numpy as np
import numpy.typing as npt

from .distances import squared_l2_row

Floats = npt.NDArray[np.float64]

# ln 2 in two parts; the first has few enough digits for its small multiples to be exact.
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
_LOG2_E = 1.44269504088896338700
#: exp(-708) is about the smallest number of full precision; smaller kernel values are negligible.
_LARGEST = 708.0


@numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def sums(left: Floats, right_t: Floats, left_weights: Floats, right_weights: Floats, across: Floats, below: Floats) -> None:
    """Fill across[i] with sum_j right_weights[j] k_ij and add sum_i left_weights[i] k_ij to below[j].

    k_ij = exp(-|left_i - right_j|^2 / 2); `right_t` is d x m. The exponential is 2^k times a polynomial of degree 13 on
    |r| <= ln 2 / 2, whose remainder is below 1e-17; it is written out so that the compiler can vectorise it.
    """
    n = left.shape[0]
    m = right_t.shape[1]
    row = np.empty(m)
    for i in range(n):
        squared_l2_row(left[i], right_t, row)
        weight = left_weights[i]
        total = 0.0
        for j in range(m):
            t = -min(0.5 * row[j], _LARGEST)
            whole = np.floor(t * _LOG2_E + 0.5)
            r = (t - whole * _LN2_HIGH) - whole * _LN2_LOW
            p = 1.0 / 6227020800.0
            p = p * r + 1.0 / 479001600.0
            p = p * r + 1.0 / 39916800.0
            p = p * r + 1.0 / 3628800.0
            p = p * r + 1.0 / 362880.0
            p = p * r + 1.0 / 40320.0
            p = p * r + 1.0 / 5040.0
            p = p * r + 1.0 / 720.0
            p = p * r + 1.0 / 120.0
            p = p * r + 1.0 / 24.0
            p = p * r + 1.0 / 6.0
            p = p * r + 0.5
            p = p * r + 1.0
            p = p * r + 1.0
            value = p * np.int64((np.int64(whole) + 1023) << 52).view(np.float64)
            total += right_weights[j] * value
            below[j] += weight * value
        across[i] = total
