"""One step of greedy quadrature over a pool: subtract a direction, and find the candidate with the largest gain."""

import numba
import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@numba.njit(cache=True, nogil=True, fastmath=False)
def subtract(products: Floats, length: float, half: float, column: Floats, z: Floats, left: Floats) -> None:
    """Turn a Gram row into a row of the factor, column = (column - products) / length, and subtract it from z and left."""
    for i in range(z.size):
        value = (column[i] - products[i]) / length
        column[i] = value
        z[i] -= half * value
        left[i] -= value * value


@numba.njit(cache=True, nogil=True, fastmath=False)
def best(z: Floats, left: Floats, floor: Floats, by_variance: bool, tie: float) -> int:
    """Return the first candidate with left > floor whose z^2 / left (or |z|) is within a share `tie` of the largest, or -1."""
    top = -1.0
    for i in range(z.size):
        if left[i] > floor[i]:
            value = z[i] * z[i] / left[i] if by_variance else abs(z[i])
            top = max(top, value)
    if top < 0.0:
        return -1
    bar = top * (1.0 - tie)
    for i in range(z.size):
        if left[i] > floor[i]:
            value = z[i] * z[i] / left[i] if by_variance else abs(z[i])
            if value >= bar:
                return i
    return -1


@numba.njit(cache=True, nogil=True, fastmath=False)
def close(z: Floats, left: Floats, floor: Floats, by_variance: bool, error: float) -> Integers:
    """Return the candidates that may have the largest z^2 / left (or |z|), if each z is known within an error only."""
    least = -1.0
    for i in range(z.size):
        if left[i] > floor[i]:
            size = max(abs(z[i]) - error, 0.0)
            least = max(least, size * size / left[i] if by_variance else size)
    found = np.empty(z.size, dtype=np.int64)
    count = 0
    for i in range(z.size):
        if left[i] > floor[i]:
            size = abs(z[i]) + error
            if (size * size / left[i] if by_variance else size) >= least:
                found[count] = i
                count += 1
    return found[:count]
