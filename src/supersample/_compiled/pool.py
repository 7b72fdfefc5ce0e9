"""The inner loop of swap descent over a pool of candidates."""

import numba
import numpy as np
import numpy.typing as npt

Singles = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]


@numba.njit(cache=True, nogil=True, fastmath={"nnan", "nsz", "reassoc"})
def next_swap(slot: int, kernel_rows: Singles, base: Floats, own: Floats, least: float) -> tuple[int, int]:
    """Search slots in turn, starting at `slot`, for one whose best row of the pool gains more than `least`.

    Row x scores 2 k(x, y_slot) + base[x] in that slot, and own[slot] is the score of the point held there, by the same rule.
    Returns the slot and the row; row -1 if no slot can gain.
    """
    m, n = kernel_rows.shape
    for _ in range(m):
        row = kernel_rows[slot]
        best = -np.inf
        for start in range(0, n, 64):
            # Blocks keep the maximum in vector registers; the place is searched only in the best block.
            stop = min(start + 64, n)
            top = -np.inf
            for x in range(start, stop):
                top = max(top, 2.0 * row[x] + base[x])
            if top > best:
                best = top
                block = start
        if best - own[slot] > least:
            for x in range(block, min(block + 64, n)):
                if 2.0 * row[x] + base[x] == best:
                    return slot, x
        slot = slot + 1 if slot + 1 < m else 0
    return slot, -1
