"""The sequential step of the stream, with a random projection tree instead of a search over the whole reservoir."""

import numba
import numpy as np
import numpy.typing as npt

from .swaps import dot

Singles = npt.NDArray[np.float32]
Indices = npt.NDArray[np.int64]


@numba.njit(cache=True, nogil=True, fastmath=False)
def leaf_of(point: Singles, directions: Singles, splits: Singles) -> int:
    """Return the leaf that a feature vector falls into: right where direction.point >= split; leaves count from 0."""
    node = 0
    inner = splits.size
    while node < inner:
        node = 2 * node + 1 + (dot(directions[node], point) >= splits[node])
    return node - inner


@numba.njit(cache=True, nogil=True, fastmath=False)
def project(direction: Singles, points: Singles, slots: Indices, out: Singles) -> None:
    """Fill out[i] with direction.points[slots[i]], summed in the same order as in `leaf_of`."""
    for i in range(slots.size):
        out[i] = dot(direction, points[slots[i]])


@numba.njit(cache=True, nogil=True, fastmath=False)
def offer(
    features: Singles,
    row_norms: Singles,
    reservoir: Singles,
    norms: Singles,
    pull: Singles,
    threshold: float,
    directions: Singles,
    splits: Singles,
    leaves: Indices,
    first: Indices,
    following: Indices,
    swapped_row: Indices,
    swapped_slot: Indices,
    histogram: Indices,
) -> int:
    """Offer rows to the reservoir in order, comparing each with one leaf of the tree only; return the number of swaps.

    The point to drop is the one nearest to phi* = phi(x) + pull (Paige, Sejdinovic and Wood 2016, eq. 23), x itself included;
    it is searched in one leaf (section 3.2 there). The paper searches the leaf of phi*. A long pull moves phi* outside the
    points, so that its leaf becomes empty and the search finds no more points. Here the leaf of phi(x) is searched: it holds
    the points that x can replace.
    leaves: the leaf of each held point; first, following: the points of a leaf as a linked list, ended by -1.
    histogram: counts rows by the number of points that they were compared with.
    """
    n, width = features.shape
    target = np.empty(width, dtype=np.float32)
    two = np.float32(2.0)
    limit = np.float32(threshold)
    strength = dot(pull, pull)
    swaps = 0
    for i in range(n):
        x = features[i]
        for k in range(width):
            target[k] = x[k] + pull[k]
        leaf = leaf_of(x, directions, splits)
        base = strength - dot(target, target)
        best = -1
        best_gain = limit
        compared = 0
        slot = first[leaf]
        while slot >= 0:
            gain = base - norms[slot] + two * dot(reservoir[slot], target)
            if gain > best_gain:
                best_gain = gain
                best = slot
            compared += 1
            slot = following[slot]
        histogram[min(compared, histogram.size - 1)] += 1
        if best < 0:
            continue
        move(best, leaf, leaves, first, following)
        for k in range(width):
            pull[k] += x[k] - reservoir[best, k]
            reservoir[best, k] = x[k]
        norms[best] = row_norms[i]
        strength = dot(pull, pull)
        swapped_row[swaps] = i
        swapped_slot[swaps] = best
        swaps += 1
    return swaps


@numba.njit(cache=True, nogil=True, fastmath=False)
def move(slot: int, leaf: int, leaves: Indices, first: Indices, following: Indices) -> None:
    """Remove a point from the list of its leaf, if it is in one, and insert it at the head of another list."""
    old = leaves[slot]
    if old >= 0:
        if first[old] == slot:
            first[old] = following[slot]
        else:
            before = first[old]
            while following[before] != slot:
                before = following[before]
            following[before] = following[slot]
    leaves[slot] = leaf
    following[slot] = first[leaf]
    first[leaf] = slot
