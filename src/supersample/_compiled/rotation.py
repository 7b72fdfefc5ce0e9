"""Move the first point of a Cholesky factor to the end by rotations, which keep rounding errors small."""

import numba
import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@numba.njit(cache=True, nogil=True, fastmath=False)
def first_to_last(root: Floats, factor: Floats, halves: Floats) -> None:
    """Turn K = L L^T of m points in an order into that of the order with the first one last, in place.

    root: L (m x m). factor: L^-1 k(points, x) for every candidate x (m x N). halves: L^-1 z. The rows of L are shifted, and
    rotated back to a triangle; rows of factor and halves are rotated with them. The last rows of these then belong to the
    direction that the moved point adds to the span of the others.
    """
    m = root.shape[0]
    first = root[0].copy()
    for i in range(m - 1):
        for j in range(m):
            root[i, j] = root[i + 1, j]
    root[m - 1] = first
    for i in range(m - 1):
        a, b = root[i, i], root[i, i + 1]
        length = np.hypot(a, b)
        cosine, sine = a / length, b / length
        for k in range(i, m):
            a, b = root[k, i], root[k, i + 1]
            root[k, i], root[k, i + 1] = cosine * a + sine * b, cosine * b - sine * a
        root[i, i + 1] = 0.0
        for x in range(factor.shape[1]):
            a, b = factor[i, x], factor[i + 1, x]
            factor[i, x], factor[i + 1, x] = cosine * a + sine * b, cosine * b - sine * a
        a, b = halves[i], halves[i + 1]
        halves[i], halves[i + 1] = cosine * a + sine * b, cosine * b - sine * a
