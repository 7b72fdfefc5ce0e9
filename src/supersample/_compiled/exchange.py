"""The sequential part of swap descent by blocks: rows that gain are swapped in, one after the other."""

import numba
import numpy as np
import numpy.typing as npt

Singles = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


@numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz", "nnan"})
def best_slots(values: Singles, own: Floats, sums: Floats, best: Floats, slots: Indices) -> None:
    """Fill sums[i] with sum_j values[i, j], best[i] with max_j own[j] + 2 values[i, j], and slots[i] with its place."""
    n, m = values.shape
    for i in range(n):
        row = values[i]
        total = 0.0
        top = -np.inf
        block = 0
        for start in range(0, m, 64):
            # Blocks keep the maximum in vector registers; the place is searched only in the best block.
            stop = min(start + 64, m)
            here = -np.inf
            for j in range(start, stop):
                value = np.float64(row[j])
                total += value
                here = max(here, own[j] + 2.0 * value)
            if here > top:
                top = here
                block = start
        sums[i] = total
        best[i] = top
        slots[i] = block
        for j in range(block, min(block + 64, m)):
            if own[j] + 2.0 * np.float64(row[j]) >= top:
                slots[i] = j
                break


@numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz", "nnan"})
def best_slot(row: Singles, own: Floats) -> int:
    """Return the slot j where own[j] + 2 row[j] is largest."""
    top = -np.inf
    place = 0
    for j in range(row.size):
        value = own[j] + 2.0 * np.float64(row[j])
        if value > top:
            top = value
            place = j
    return place


@numba.njit(cache=True, nogil=True, fastmath=False)
def swap_in(
    first: int,
    across: Singles,
    among: Singles,
    base: Floats,
    diagonal: Floats,
    sums: Floats,
    ready: Indices,
    leaving: Singles,
    held_sums: Floats,
    own: Floats,
    pulls: Floats,
    least: float,
    swapped: Indices,
) -> int:
    """Swap in rows that gain, in order from `first`; return the row whose slot has no kernel values ready, or their number.

    across: k(rows, held points); among: k(rows, rows); base[i] = 2 M z(x_i) - k(x_i, x_i); sums[i] = s(x_i) =
    sum_l k(x_i, y_l). Row i takes slot j where gain = own[j] + 2 k(x_i, y_j) + base[i] - 2 s(x_i) is largest, if that is above
    `least`; own[j] = 2 s(y_j) - k(y_j, y_j) - 2 M z(y_j). ready[j]: the row of `leaving` with k(y_j, held points), or -1.
    swapped[i]: filled with the slot that row i took, or -1. O(M + rows) for each swap.
    """
    n, m = across.shape
    two_m = 2.0 * m
    for a in range(first, n):
        row = across[a]
        slot = best_slot(row, own)
        if not own[slot] + 2.0 * np.float64(row[slot]) + base[a] - 2.0 * sums[a] > least:
            continue
        place = ready[slot]
        if place < 0:
            return a
        gone = leaving[place]
        kept = np.float64(row[slot])
        for j in range(m):
            held_sums[j] += np.float64(row[j]) - np.float64(gone[j])
            own[j] += 2.0 * (np.float64(row[j]) - np.float64(gone[j]))
        held_sums[slot] = sums[a] - kept + diagonal[a]
        own[slot] = 2.0 * held_sums[slot] - diagonal[a] - two_m * pulls[a]
        for j in range(m):
            if ready[j] >= 0:
                leaving[ready[j], slot] = row[j]
        ready[slot] = -1
        for i in range(n):
            sums[i] += np.float64(among[i, a]) - np.float64(across[i, slot])
            across[i, slot] = among[i, a]
        swapped[a] = slot
    return int(n)
