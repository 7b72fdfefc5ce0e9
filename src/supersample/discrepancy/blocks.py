"""Unbiased MMD^2 within small blocks of rows; the B-test and MMD-linear average these values."""

import math
from itertools import combinations, combinations_with_replacement

import numpy as np

from supersample._threads import map_blocks
from supersample._typing import Floats, Points
from supersample.kernels import Kernel

__all__ = ["block_values"]

#: Blocks with more rows than this get a Gram matrix each; smaller ones are computed together, a pair of places at a time.
_LARGEST_AT_ONCE = 8


def block_values(x: Points, y: Points, kernel: Kernel, *, linear: bool, paired: bool) -> Floats:
    """Return the unbiased MMD^2 of each block; every row is in exactly one.

    Block b holds rows b, b + B, b + 2 B, ... of both samples, so that samples of different sizes fill the same number B of
    blocks. B is the largest number with at least two rows of each sample a block (linear), or about sqrt(n) rows of the smaller
    sample a block (block).

    paired: as printed by Gretton et al. 2012 (Lemma 14) and Zaremba et al. 2013. A block holds consecutive rows, as many of
    each sample; rows that fill no block are left out, and so is k(x_i, y_i), as if row i of x belonged to row i of y. The mean
    is the same and the variance larger.
    """
    smaller = min(x.shape[0], y.shape[0])
    rows_a_block = 2 if linear else max(2, math.isqrt(smaller))
    n_blocks = max(1, smaller // rows_a_block)
    left, right = x.astype(np.float64), y.astype(np.float64)
    if paired:
        return _paired(left, right, kernel, n_blocks, rows_a_block)
    if max(left.shape[0], right.shape[0]) <= _LARGEST_AT_ONCE * n_blocks:
        return _all_at_once(left, right, kernel, n_blocks)

    def work(block: int) -> float:
        return _unbiased(left[block::n_blocks], right[block::n_blocks], kernel)

    return np.array(map_blocks(work, list(range(n_blocks))))


def _paired(x: Floats, y: Floats, kernel: Kernel, n_blocks: int, size: int) -> Floats:
    """Return the mean of k(x_a, x_b) + k(y_a, y_b) - k(x_a, y_b) - k(x_b, y_a) over the pairs a < b of each block."""
    left, right = (rows[: n_blocks * size].reshape(n_blocks, size, -1) for rows in (x, y))
    if size > _LARGEST_AT_ONCE:

        def work(block: int) -> float:
            samples = left[block], right[block]
            grams = (kernel.against(second)(first) for first, second in combinations_with_replacement(samples, 2))
            xx, xy, yy = (gram.sum() - np.trace(gram) for gram in grams)
            return float(xx + yy - 2.0 * xy) / (size * (size - 1))

        return np.array(map_blocks(work, list(range(n_blocks))))
    values = np.zeros(n_blocks)
    for a, b in combinations(range(size), 2):
        values += kernel.paired(left[:, a], left[:, b]) + kernel.paired(right[:, a], right[:, b])
        values -= kernel.paired(left[:, a], right[:, b]) + kernel.paired(left[:, b], right[:, a])
    return values * (2.0 / (size * (size - 1)))


def _unbiased(x: Floats, y: Floats, kernel: Kernel) -> float:
    rows = np.concatenate([x, y])
    gram = np.empty((rows.shape[0], rows.shape[0]))
    kernel.fill(rows, rows, gram)
    np.fill_diagonal(gram, 0.0)
    m, n = x.shape[0], y.shape[0]
    within = gram[:m, :m].sum() / (m * (m - 1)) + gram[m:, m:].sum() / (n * (n - 1))
    return float(within - 2.0 * gram[:m, m:].mean())


def _all_at_once(x: Floats, y: Floats, kernel: Kernel, n_blocks: int) -> Floats:
    """Compute all blocks together: for each pair of places in a block, the kernel between the rows at those places."""
    sizes = {name: _sizes(points.shape[0], n_blocks) for name, points in (("x", x), ("y", y))}
    places = {
        name: [points[start : start + n_blocks] for start in range(0, points.shape[0], n_blocks)]
        for name, points in (("x", x), ("y", y))
    }
    values = np.zeros(n_blocks)
    for name in ("x", "y"):
        pairs = sizes[name] * (sizes[name] - 1) / 2.0
        for i, first in enumerate(places[name]):
            for second in places[name][i + 1 :]:
                count = second.shape[0]
                values[:count] += kernel.paired(first[:count], second) / pairs[:count]
    for first in places["x"]:
        for second in places["y"]:
            count = min(first.shape[0], second.shape[0])
            cross = kernel.paired(first[:count], second[:count])
            values[:count] -= 2.0 * cross / (sizes["x"] * sizes["y"])[:count]
    return values


def _sizes(n_rows: int, n_blocks: int) -> Floats:
    sizes = np.full(n_blocks, n_rows // n_blocks, dtype=np.float64)
    sizes[: n_rows % n_blocks] += 1
    return sizes
