"""The sequential step of the stream: offer the rows of a block to a reservoir, one after the other."""

import numba
import numpy as np
import numpy.typing as npt

Singles = npt.NDArray[np.float32]
Indices = npt.NDArray[np.int64]

_FAST = {"reassoc", "contract", "nsz"}


@numba.njit(cache=True, nogil=True, fastmath=_FAST)
def dot(left: Singles, right: Singles) -> np.float32:
    """Return the inner product of two float32 vectors, summed in an order that depends on their length only."""
    total = np.float32(0.0)
    for k in range(left.size):
        total += left[k] * right[k]
    return total


@numba.njit(cache=True, nogil=True, fastmath=False)
def leave_over(norms: Singles, shadows: Singles) -> None:
    """Fill the last column of shadows with the length of the remainder after the projections in the other columns.

    The map from features to shadows is a contraction: |shadows_i - shadows_j| <= |features_i - features_j|.
    """
    q = shadows.shape[1] - 1
    for i in range(shadows.shape[0]):
        left = norms[i]
        for k in range(q):
            left -= shadows[i, k] * shadows[i, k]
        shadows[i, q] = np.sqrt(max(left, np.float32(0.0)))


@numba.njit(cache=True, nogil=True, fastmath=_FAST)
def reach(offsets: Singles, shadows: Singles, own: Singles, needed: np.float32, room: Singles) -> int:
    """Fill room[j] with offsets[j] + 2 sum_k own[k] shadows[k, j]; return how many are more than needed.

    They are counted, since a maximum of float32 would be taken one by one: it has to look out for NaN.
    """
    m = room.size
    two = np.float32(2.0)
    for j in range(m):
        room[j] = offsets[j]
    for k in range(own.size):
        value = two * own[k]
        row = shadows[k]
        for j in range(m):
            room[j] += value * row[j]
    some = np.int32(0)
    for j in range(m):
        some += np.int32(1) if room[j] > needed else np.int32(0)
    return int(some)


@numba.njit(cache=True, nogil=True, fastmath=False)
def take_place(
    slot: int, x: Singles, norm: np.float32, reservoir: Singles, norms: Singles, heights: Singles, pull: Singles
) -> None:
    """Put x in the place of y_slot and update `pull` = M (nu - mu) and every h(y_j) = phi(y_j).pull."""
    width = x.size
    change = np.empty(width, dtype=np.float32)
    for k in range(width):
        change[k] = x[k] - reservoir[slot, k]
        pull[k] += change[k]
        reservoir[slot, k] = x[k]
    norms[slot] = norm
    for j in range(heights.size):
        heights[j] += dot(reservoir[j], change)
    heights[slot] = dot(x, pull)


@numba.njit(cache=True, nogil=True, fastmath=False)
def offer(
    features: Singles,
    row_norms: Singles,
    row_shadows: Singles,
    reservoir: Singles,
    norms: Singles,
    heights: Singles,
    shadows: Singles,
    pull: Singles,
    threshold: float,
    swapped_row: Indices,
    swapped_slot: Indices,
    histogram: Indices,
) -> int:
    """Offer rows to the reservoir in order, by exact search; return the number of swaps made.

    Row x takes the place of y_j where gain_j = 2 (h(y_j) - h(x)) - |phi(x) - phi(y_j)|^2 is largest, if that is above
    `threshold`; h(y) = phi(y).pull with pull = M (nu - mu). Distances are bounded from below by those between shadows, a few
    coordinates to which features are mapped by a contraction (row_shadows: n x q, shadows: q x M). Features are compared only
    where the bound allows a gain. The bound has some slack, so that rounding cannot hide a gain.
    swapped_row, swapped_slot: filled with the row and the slot of each swap.
    histogram: counts rows by the number of points that they were compared with.
    """
    n = features.shape[0]
    q, m = shadows.shape
    two = np.float32(2.0)
    slack = np.float32(1e-5)
    limit = np.float32(threshold)
    room = np.empty(m, dtype=np.float32)
    offsets = np.empty(m, dtype=np.float32)
    squares = np.zeros(m, dtype=np.float32)
    for k in range(q):
        for j in range(m):
            squares[j] += shadows[k, j] * shadows[k, j]
    stale = True
    swaps = 0
    for i in range(n):
        if stale:
            for j in range(m):
                offsets[j] = two * heights[j] - squares[j]
            stale = False
        x = features[i]
        height = dot(x, pull)
        square = np.float32(0.0)
        for k in range(q):
            square += row_shadows[i, k] * row_shadows[i, k]
        needed = two * height + square + limit - slack
        if reach(offsets, shadows, row_shadows[i], needed, room) == 0:
            histogram[0] += 1
            continue
        compared = 0
        best = -1
        best_gain = limit
        for j in range(m):
            if room[j] > needed:
                compared += 1
                gain = two * (heights[j] - height + dot(x, reservoir[j])) - row_norms[i] - norms[j]
                if gain > best_gain:
                    best_gain = gain
                    best = j
        histogram[min(compared, histogram.size - 1)] += 1
        if best < 0:
            continue
        take_place(best, x, row_norms[i], reservoir, norms, heights, pull)
        for k in range(q):
            shadows[k, best] = row_shadows[i, k]
        squares[best] = square
        swapped_row[swaps] = i
        swapped_slot[swaps] = best
        swaps += 1
        stale = True
    return swaps
