"""Kernel sums over a pool of points that is too large for its Gram matrix: columns, blocks and means, exact or by features."""

from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt

from supersample._threads import BLOCK_ROWS, cut, map_blocks
from supersample._typing import Features, Floats, Indices
from supersample.embedding.moments import squared_norms
from supersample.features import FeatureMap
from supersample.kernels import Kernel
from supersample.kernels.singles import SingleGram
from supersample.kernels.stationary import WIDEST_BY_DIFFERENCES
from supersample.selection.greedy import greedy_prototypes

__all__ = ["Codes", "ExactPool", "FeaturePool", "Pool", "embedded", "embedded_own", "explain", "is_rounded", "kernel_block"]

_TILE_COLUMNS = 4096
#: Points of a tile of a symmetric matrix, and rows of tiles at a time.
_TILE_OWN, _BATCH = 1024, 8
#: Kernel rows of points at least this wide are expensive enough to cache, for pools up to this size.
_WIDE, _LARGEST_CACHE = 17, 6000

#: Rows whose kernel values are held at a time.
_PART = 16_384
#: Products of coordinates beyond which kernel values of wide points are in float32.
_MOST_EXACT = 1 << 33

Singles = npt.NDArray[np.float32]

Codes = npt.NDArray[np.int64]


def kernel_block(kernel: Kernel, left: Floats, right: Floats) -> Floats:
    """Return the exact Gram block of two arrays of points, which may be empty; one thread."""
    out = np.empty((left.shape[0], right.shape[0]))
    if out.size:
        kernel.fill(left, right, out)
    return out


def embedded(kernel: Kernel, points: Floats, others: Floats, weights: Floats) -> Floats:
    """Return sum_i weights_i k(x, y_i) over some points y, for every point x, on all cores.

    Of very many values of wide points, each is rounded to float32, and their sums are not.
    """
    if is_rounded(points, others):
        both = SingleGram(kernel, np.concatenate([others, points]))
        return both.embed(slice(0, len(others)), weights, np.arange(len(others), len(others) + len(points)))
    rows_of = kernel.against(others)
    parts = map_blocks(lambda rows: rows_of(points[rows]) @ weights, cut(points.shape[0], BLOCK_ROWS))
    return np.concatenate(parts) if parts else np.empty(0)


def embedded_own(kernel: Kernel, points: Floats, weights: Floats) -> Floats:
    """Return the same where x and y are the same points; the Gram matrix is symmetric, so half of it is computed."""
    if is_rounded(points, points):
        return SingleGram(kernel, points).embed_own(np.arange(len(points)), weights)
    parts = cut(len(points), _TILE_OWN)
    z = np.zeros(len(points))

    def work(row: int) -> Floats:
        mine, start = parts[row], parts[row].start
        added, rows_of = np.zeros(len(points) - start), kernel.against(points[mine])
        for part in parts[row:]:
            values = rows_of(points[part])
            added[part.start - start : part.stop - start] += values @ weights[mine]
            if part is not mine:
                added[: mine.stop - start] += weights[part] @ values
        return added

    for batch in cut(len(parts), _BATCH):  # the results of all of them would take memory of order N^2
        for row, added in enumerate(map_blocks(work, list(range(batch.start, batch.stop))), start=batch.start):
            z[parts[row].start :] += added
    return z


def is_rounded(points: Floats, others: Floats) -> bool:
    """Return whether `embedded` takes kernel values in float32."""
    return bool(points.shape[1] > WIDEST_BY_DIFFERENCES and points.size * others.shape[0] > _MOST_EXACT)


class Pool(ABC):
    """N points with their kernel; with codes, the kernel of points with different codes is 0."""

    def __init__(self, kernel: Kernel, points: Floats, codes: Codes | None = None) -> None:
        self.kernel = kernel
        self.points = points
        self.codes = codes
        self.diagonal = kernel.diagonal(points)

    @abstractmethod
    def means(self) -> Floats:
        """Return z_j = 1/N sum_i k(x_i, x_j) for all j."""

    @abstractmethod
    def column(self, index: int) -> Floats:
        """Return k(x_j, x_index) for all j."""

    def prototypes(self, means: Floats, count: int) -> tuple[Indices, Floats]:
        """Choose prototypes greedily by J, given the means; return them and the sum of their kernel columns."""
        return greedy_prototypes(self.column, means, self.diagonal, count)

    def diagonals(self) -> Floats:
        """Return the exact k(x, x) of all points."""
        return self.kernel.diagonal(self.points)

    def block(self, rows: Indices, columns: Indices) -> Floats:
        """Return exact kernel values between some points and some others."""
        out = kernel_block(self.kernel, self.points[rows], self.points[columns])
        return out if self.codes is None else out * (self.codes[rows][:, None] == self.codes[columns])


class ExactPool(Pool):
    """Exact kernel values: N^2 (d + 1) operations for the means, O(N) memory."""

    def __init__(self, kernel: Kernel, points: Floats, codes: Codes | None = None) -> None:
        super().__init__(kernel, points, codes)
        self._rows_of = kernel.against(points)
        self._cached: dict[int, Singles] = {}

    def rows(self, chosen: Indices) -> Singles:
        """Return the kernel rows of some points, in float32; for a small pool of wide points each is computed once."""
        if self.points.shape[1] < _WIDE or self.points.shape[0] > _LARGEST_CACHE:
            return np.asarray(self._rows_of(self.points[chosen]), dtype=np.float32)
        fresh = [each for each in chosen.tolist() if each not in self._cached]
        if fresh:
            self._cached.update(zip(fresh, self._rows_of(self.points[fresh]).astype(np.float32), strict=True))
        return np.stack([self._cached[each] for each in chosen.tolist()])

    def embed(self, chosen: Indices, weights: Floats) -> Floats:
        """Return sum_i weights_i k(x, x_i) over the chosen points, for every point x of the pool, on all cores."""
        return embedded(self.kernel, self.points, self.points[chosen], weights)

    def means(self) -> Floats:
        """Add up tiles of the Gram matrix on all cores."""
        n = self.points.shape[0]
        tiles = [(tile, self.kernel.against(self.points[tile])) for tile in cut(n, _TILE_COLUMNS)]

        def work(rows: slice) -> Floats:
            total = np.zeros(rows.stop - rows.start)
            for tile, rows_of in tiles:
                values = rows_of(self.points[rows])
                if self.codes is not None:
                    values *= self.codes[rows][:, None] == self.codes[tile]
                total += values.sum(axis=1)
            return total

        return np.asarray(np.concatenate(map_blocks(work, cut(n, BLOCK_ROWS))) / n)

    def column(self, index: int) -> Floats:
        """Return one row of the symmetric Gram matrix."""
        values: Floats = self._rows_of(self.points[index : index + 1])[0]
        return values if self.codes is None else values * (self.codes == self.codes[index])


class FeaturePool(Pool):
    """Kernel values as inner products of features, in both means and columns, so that their errors cancel; O(N D)."""

    def __init__(self, feature_map: FeatureMap, points: Floats, codes: Codes | None = None) -> None:
        super().__init__(feature_map.kernel, points, codes)
        self.features: Features = feature_map.transform(points)
        self.diagonal = squared_norms(self.features)

    def means(self) -> Floats:
        """Return the products with the mean features, with codes only those of the same code."""
        n = self.points.shape[0]
        codes = np.zeros(n, dtype=np.int64) if self.codes is None else self.codes
        targets = np.zeros((int(codes.max()) + 1, self.features.shape[1]))
        for code in range(targets.shape[0]):
            mine = slice(None) if self.codes is None else np.flatnonzero(codes == code)
            targets[code] = self.features[mine].sum(axis=0, dtype=np.float64) / n

        def work(rows: slice) -> Floats:
            return np.asarray(np.einsum("ij,ij->i", self.features[rows], targets[codes[rows]]))

        return np.concatenate(map_blocks(work, cut(n, BLOCK_ROWS)))

    def column(self, index: int) -> Floats:
        """Return the products with one row of features."""
        values: Floats = (self.features @ self.features[index]).astype(np.float64)
        return values if self.codes is None else values * (self.codes == self.codes[index])


def explain(pool: Pool, shares: Floats, prototypes: Indices, criticisms: Indices) -> tuple[Indices, Floats]:
    """Return the nearest prototype of each criticism, and the share of the pool nearer to it than to any prototype.

    Nearness is by the kernel's own distance, k(x, x) + k(y, y) - 2 k(x, y); with labels, rows of other labels are far.
    """
    if criticisms.size == 0:
        return np.empty(0, dtype=np.int64), np.empty(0)
    diagonal = pool.diagonals()
    # A constant k(x, x) is left out: distances of far points would differ by less than its rounding.
    constant = bool((diagonal == diagonal[0]).all())

    def distances(left: Indices, right: Indices) -> Floats:
        values = -2.0 * pool.block(left, right)
        return np.asarray(values if constant else values + diagonal[left][:, None] + diagonal[right])

    nearest = distances(criticisms, prototypes).argmin(axis=1).astype(np.int64)
    closer = np.zeros(criticisms.size)
    for part in np.array_split(np.arange(shares.size), 1 + shares.size // _PART):
        to_prototypes = distances(part, prototypes).min(axis=1)
        closer += shares[part] @ (distances(part, criticisms) < to_prototypes[:, None])
    return nearest, closer
