"""Sums of squares of blocks of 1, 2, 4, ... consecutive rows, by a binary counter."""

import numba
import numpy as np
import numpy.typing as npt

Reals = npt.NDArray[np.float32] | npt.NDArray[np.float64]
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

#: Blocks have up to 2^(LEVELS - 1) rows.
LEVELS = 21


@numba.njit(cache=True, nogil=True, fastmath=False)
def add_rows(
    features: Reals,
    signs: Reals,
    points: Floats,
    sources: Integers,
    targets: Integers,
    turns: Floats,
    weights: Floats,
    totals: Floats,
    counts: Integers,
    sizes: Floats,
    products: Floats,
    squares: Floats,
    held: Integers,
    carried: Floats,
    fold: Reals,
    row: Floats,
) -> None:
    """Add rows to the sums of all levels, in row order; level l has blocks of 2^l rows. O(C) a row for C coordinates.

    There must be a level for each length that the rows can fill.

    Coordinates: the features folded to the length of `fold`, with signs (one line for each fold), and coordinates sources[k] of
    the points, added to targets[k] with the signs turns[k]. totals: sum of w x.
    For each level, counts: of blocks; sizes: sums of W, W^2 and Q, where W is the weight of a block and Q the sum of its
    squared weights; products, squares: sums of W S and S^2 by coordinate, where S is the block's sum of w x; held, carried:
    whether a block waits for its neighbour, and its S, W and Q. fold, row: space for folded features, and for S, W and Q.
    """
    n, d = features.shape
    width, folded = totals.size, fold.size
    for i in range(n):
        w = weights[i]
        for c in range(folded):
            fold[c] = signs[0, c] * features[i, c]
        for part in range(1, signs.shape[0]):
            start = part * folded
            for c in range(min(folded, d - start)):
                fold[c] += signs[part, c] * features[i, np.uint64(start + c)]
        for c in range(folded):
            row[c] = w * np.float64(fold[c])
        for c in range(folded, width):
            row[c] = 0.0
        for k in range(targets.size):
            row[targets[k]] += w * turns[k] * points[i, sources[k]]
        for c in range(width):
            totals[c] += row[c]
        row[width] = w
        row[width + 1] = w * w
        level = 0
        while True:
            whole = row[width]
            counts[level] += 1
            sizes[level, 0] += whole
            sizes[level, 1] += whole * whole
            sizes[level, 2] += row[width + 1]
            for c in range(width):
                products[level, c] += whole * row[c]
                squares[level, c] += row[c] * row[c]
            if level == LEVELS - 1:
                break
            if held[level] == 0:
                for c in range(width + 2):
                    carried[level, c] = row[c]
                held[level] = 1
                break
            for c in range(width + 2):
                row[c] += carried[level, c]
            held[level] = 0
            level += 1
