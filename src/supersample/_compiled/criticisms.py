"""The sequential step of the online criticisms: which row enters the set, and which point it replaces."""

import numba
import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@numba.njit(cache=True, nogil=True, fastmath=False)
def first_entry(
    start: int, gram: Floats, diagonal: Floats, fade: Floats, inverse: Floats, held_fade: Floats, tolerance: float
) -> tuple[int, int]:
    """Return the first row from `start` on that enters, and the slot it takes; (n, -1) if none does.

    The point of C + {x} whose removal leaves the largest sum |w| + log det K is dropped. Removing j changes log det by the
    logarithm of (K^-1)_jj of the enlarged matrix. That is 1 / R for x itself and (K^-1)_jj + (K^-1 k)_j^2 / R for the others,
    with R the residual of k(x, x) after the held points. gram: k(x, c_j), n x c; fade = exp(-|w|) of the rows, held_fade of the
    held points. A row with R at most `tolerance` times k(x, x) is a copy of held points and cannot enter.
    """
    n, c = gram.shape
    image = np.empty(c)
    for i in range(start, n):
        row = gram[i]
        left = diagonal[i]
        image[:] = 0.0
        for k in range(c):
            value = row[k]
            for j in range(c):
                image[j] += inverse[k, j] * value
        for j in range(c):
            left -= image[j] * row[j]
        if left <= tolerance * diagonal[i]:
            continue
        best = -1
        best_value = fade[i] * (1.0 + 1e-9)
        for j in range(c):
            value = held_fade[j] * (inverse[j, j] * left + image[j] * image[j])
            if value > best_value:
                best_value = value
                best = j
        if best >= 0:
            return i, best
    return n, -1
