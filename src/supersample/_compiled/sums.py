"""Compensated running sums of feature vectors, for any number of rows and any scale of the weights."""

import math

import numba
import numpy as np
import numpy.typing as npt

Reals = npt.NDArray[np.float32] | npt.NDArray[np.float64]
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

#: Rows added in plain float64 before the partial sum is folded into the compensated total.
FOLD = 256


@numba.njit(cache=True, nogil=True, fastmath=False)
def _fold(total: Floats, error: Floats, partial: Floats) -> None:
    """Add `partial` to the pair (total, error) and keep the rounding error (Knuth's two-sum)."""
    for k in range(total.size):
        s = total[k]
        x = partial[k]
        t = s + x
        back = t - s
        error[k] += (s - (t - back)) + (x - back)
        total[k] = t
        partial[k] = 0.0


@numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def squared_norms(features: Reals, out: Floats) -> None:
    """Fill out[i] with |features[i]|^2; the order of the sum depends on D only, not on the number of rows."""
    n, d = features.shape
    for i in range(n):
        norm = 0.0
        for k in range(d):
            value = np.float64(features[i, k])
            norm += value * value
        out[i] = norm


@numba.njit(cache=True, nogil=True, fastmath=False)
def accumulate(
    features: Reals,
    norms: Floats,
    mantissas: Floats,
    exponents: Integers,
    totals: Floats,
    errors: Floats,
    partials: Floats,
    counts: Integers,
) -> None:
    """Add rows of features with weights mantissa * 2^exponent to the running sums, in row order.

    totals, errors, partials: length D + 3, for the D features, then sum w, sum w^2 and sum w^2 |phi|^2.
    counts: rows seen, rows in `partials`, exponent of the sums, 1 once a positive weight was seen.
    The sums are kept divided by 2^exponent (those of squared weights by its square), with the largest exponent so far, so that
    they neither overflow nor underflow; scaling by a power of two is exact. Empty `mantissas` means a weight of one for each
    row.
    """
    n, d = features.shape
    weighted = mantissas.size > 0
    for i in range(n):
        counts[0] += 1
        mantissa = 0.5
        exponent = 1
        if weighted:
            mantissa = mantissas[i]
            exponent = exponents[i]
            if mantissa == 0.0:
                continue
        if counts[3] == 0:
            counts[2] = exponent
            counts[3] = 1
        elif exponent > counts[2]:
            shift = max(counts[2] - exponent, -2000)
            scale = math.ldexp(1.0, shift)
            square = math.ldexp(1.0, 2 * shift)
            for k in range(d + 3):
                factor = scale if k <= d else square
                totals[k] *= factor
                errors[k] *= factor
                partials[k] *= factor
            counts[2] = exponent
        w = math.ldexp(mantissa, max(exponent - counts[2], -2000))
        row = features[i]
        for k in range(d):
            partials[k] += w * np.float64(row[k])
        partials[d] += w
        partials[d + 1] += w * w
        partials[d + 2] += w * w * norms[i]
        counts[1] += 1
        if counts[1] == FOLD:
            _fold(totals, errors, partials)
            counts[1] = 0
