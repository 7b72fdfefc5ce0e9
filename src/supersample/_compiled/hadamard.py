"""The two Walsh-Hadamard products of Fastfood, sixteen rows at a time."""

import numba
import numpy as np
import numpy.typing as npt

Reals = npt.NDArray[np.float32] | npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

#: Rows transformed together: one cache line of float32 for each coordinate.
LANES = 16


@numba.njit(cache=True, nogil=True, fastmath=False)
def _walsh(work: Reals) -> None:
    """Transform the columns of `work` (2^q x LANES) in place by the unnormalised Walsh-Hadamard matrix."""
    n = work.shape[0]
    step = 1
    # Radix four: two levels for one sweep over memory.
    while step * 4 <= n:
        for start in range(0, n, 4 * step):
            for i in range(start, start + step):
                for lane in range(LANES):
                    a = work[i, lane]
                    b = work[i + step, lane]
                    c = work[i + 2 * step, lane]
                    d = work[i + 3 * step, lane]
                    ab, a_b, cd, c_d = a + b, a - b, c + d, c - d
                    work[i, lane] = ab + cd
                    work[i + step, lane] = a_b + c_d
                    work[i + 2 * step, lane] = ab - cd
                    work[i + 3 * step, lane] = a_b - c_d
        step *= 4
    if step * 2 <= n:
        for start in range(0, n, 2 * step):
            for i in range(start, start + step):
                for lane in range(LANES):
                    a = work[i, lane]
                    b = work[i + step, lane]
                    work[i, lane] = a + b
                    work[i + step, lane] = a - b


@numba.njit(cache=True, nogil=True, fastmath=False)
def fastfood(
    points: Reals, signs: Reals, order: Indices, gauss: Reals, lengths: Reals, first: Reals, second: Reals, out: Reals
) -> None:
    """Fill out (n x L) with the rows of S H G P H B x, for each stacked block.

    points: n x d. signs (B), order (P), gauss (G), lengths (S): blocks x 2^q. first, second: 2^q x LANES scratch.
    """
    n, d = points.shape
    blocks, width = signs.shape
    n_out = out.shape[1]
    for base in range(0, n, LANES):
        rows = min(LANES, n - base)
        for block in range(blocks):
            for k in range(d):
                sign = signs[block, k]
                for lane in range(rows):
                    first[k, lane] = sign * points[base + lane, k]
            first[d:] = 0
            _walsh(first)
            for k in range(width):
                source = order[block, k]
                scale = gauss[block, k]
                for lane in range(LANES):
                    second[k, lane] = scale * first[source, lane]
            _walsh(second)
            start = block * width
            stop = min(width, n_out - start)
            for lane in range(rows):
                for k in range(stop):
                    out[base + lane, start + k] = lengths[block, k] * second[k, lane]
