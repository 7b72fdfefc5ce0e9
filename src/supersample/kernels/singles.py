"""Kernel values in float32: half the time of float64, and about a millionth of k(x, x) in error.

Sums of them must be taken in float64: their rounding errors cancel there.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from supersample._compiled import singles
from supersample._products import RowProduct
from supersample._threads import BLOCK_ROWS, cut, map_blocks
from supersample._typing import Floats, Indices, Reals
from supersample.kernels.base import Kernel
from supersample.kernels.radial import Gaussian
from supersample.kernels.stationary import WIDEST_BY_DIFFERENCES, Stationary

__all__ = ["Columns", "SingleGram", "Singles", "single_against"]

Singles = npt.NDArray[np.float32]

#: Points at a larger squared distance from the middle, in bandwidths, are taken in float64: their distances by products lose
#: this many times the rounding error of float32.
_FAR = 64.0
#: Points of a tile of a symmetric matrix, and rows of tiles at a time.
_TILE, _BATCH = 1024, 8


def single_against(kernel: Kernel, points: Floats) -> Callable[[Floats], Reals]:
    """Return a function that computes the Gram block of blocks of BLOCK_ROWS rows with these points.

    In float32 for smooth kernels of the Euclidean distance and wide points that lie near each other, else in float64. A row's
    values do not depend on its place or on the other rows.
    """
    exact = kernel.against(points)
    if not isinstance(kernel, Stationary) or not kernel.is_smooth or points.shape[1] <= WIDEST_BY_DIFFERENCES:
        return exact
    scaled, origin, norms = _centred(kernel, points)
    if float(norms.max()) > _FAR:
        return exact
    product = RowProduct(np.ascontiguousarray(-2.0 * scaled.T, dtype=np.float32))
    return _InSingles(kernel, exact, origin, product, norms.astype(np.float32))


@dataclass(frozen=True)
class _InSingles:
    """The Gram block with points whose transpose, times -2, is the matrix of a product; `origin` is in their middle."""

    kernel: Stationary
    exact: Callable[[Floats], Floats]
    origin: Floats
    product: RowProduct
    norms: Reals

    def __call__(self, rows: Floats) -> Reals:
        left = (self.kernel.scale(rows) - self.origin).astype(np.float32)
        own = np.einsum("ij,ij->i", left, left)
        out = self.product(left)
        _finish(self.kernel, own, self.norms, out)
        far = np.flatnonzero(~(own <= _FAR))
        if far.size:
            out[far] = self.exact(rows)[far]
        return out


class SingleGram:
    """Kernel values among some points, in blocks; O(N d) memory.

    In float32 by differences for narrow points, by products for wide ones and smooth kernels; in float64, rounded, for other
    kernels and for wide points that lie far apart.
    """

    def __init__(self, kernel: Kernel, points: Floats) -> None:
        self.kernel, self.points = kernel, points
        self.diagonal = kernel.diagonal(points)
        self.scaled: Singles | None = None
        self.norms: Singles | None = None
        if not isinstance(kernel, Stationary) or kernel.metric != "squared_l2" or points.shape[0] == 0:
            return
        scaled, _, norms = _centred(kernel, points)
        if points.shape[1] <= WIDEST_BY_DIFFERENCES:
            self.scaled = scaled.astype(np.float32)
        elif kernel.is_smooth and float(norms.max()) <= _FAR:
            self.scaled, self.norms = scaled.astype(np.float32), norms.astype(np.float32)

    def against(self, columns: Indices | slice) -> "Columns":
        """Return these columns, prepared once for all blocks."""
        return Columns(self, np.arange(self.points.shape[0])[columns])

    @property
    def is_rounded(self) -> bool:
        """Whether values are computed in float32, and not only rounded to it."""
        return self.scaled is not None

    def embed(self, columns: Indices | slice, weights: Floats, rows: Indices) -> Floats:
        """Return sum_j weights_j k(x, y_j) over some columns, for some points x, added up in float64 on all cores."""
        out, held = np.empty(rows.size), self.against(columns)

        def work(part: slice) -> None:
            values = np.empty((part.stop - part.start, weights.size), dtype=np.float32)
            held.fill(rows[part], values)
            singles.weighted_sums(values, weights, out[part])

        map_blocks(work, cut(out.size, BLOCK_ROWS))
        return out

    def embed_own(self, columns: Indices, weights: Floats) -> Floats:
        """Return the same for these columns themselves; their Gram matrix is symmetric, so half of it is computed."""
        tiles = cut(weights.size, _TILE)
        held = [self.against(columns[tile]) for tile in tiles]
        z = np.zeros(weights.size)

        def work(row: int) -> Floats:
            """Return what a row of tiles adds to z at its own points and, by symmetry, at all later points."""
            mine, start = tiles[row], tiles[row].start
            added = np.zeros(weights.size - start)
            nothing = np.empty(_TILE)
            for tile, others in zip(tiles[row:], held[row:], strict=True):
                values = np.empty((mine.stop - start, tile.stop - tile.start), dtype=np.float32)
                others.fill(columns[mine], values)
                below = nothing[: values.shape[1]] if tile is mine else added[tile.start - start : tile.stop - start]
                singles.both_sums(values, weights[mine], weights[tile], added[: values.shape[0]], below)
            return added

        # A few rows of tiles at a time: the results of all of them would take memory of order N^2.
        for batch in cut(len(tiles), _BATCH):
            for row, added in enumerate(map_blocks(work, list(range(batch.start, batch.stop))), start=batch.start):
                z[tiles[row].start :] += added
        return z

    def embed_all(self, weights: Floats) -> Floats:
        """Return sum_j weights_j k(x, y_j) over all points, for all of them, where products give their distances.

        As `embed_own`, without copies, and for the Gaussian kernel without storing kernel values; rounded otherwise.
        """
        assert isinstance(self.kernel, Stationary)
        assert self.scaled is not None
        assert self.norms is not None
        kernel, scaled, norms, tiles = self.kernel, self.scaled, self.norms, cut(weights.size, _TILE)
        z = np.zeros(weights.size)

        def work(row: int) -> Floats:
            mine, start = tiles[row], tiles[row].start
            left, added = scaled[mine] * np.float32(-2.0), np.zeros(weights.size - start)
            nothing = np.empty(_TILE)
            for tile in tiles[row:]:
                values: Singles = np.matmul(left, scaled[tile].T, dtype=np.float32)
                below = nothing[: values.shape[1]] if tile is mine else added[tile.start - start : tile.stop - start]
                if type(kernel) is Gaussian:
                    sums = (norms[mine], norms[tile], weights[mine], weights[tile], added[: len(values)], below)
                    singles.gaussian_sums(values, *sums)
                else:
                    _finish(kernel, norms[mine], norms[tile], values)
                    singles.both_sums(values, weights[mine], weights[tile], added[: len(values)], below)
            return added

        for batch in cut(len(tiles), _BATCH):
            for row, added in enumerate(map_blocks(work, list(range(batch.start, batch.stop))), start=batch.start):
                z[tiles[row].start :] += added
        return z


class Columns:
    """Some points of a `SingleGram`, prepared for kernel values of blocks of rows with them; changed in place by `put`."""

    def __init__(self, gram: SingleGram, columns: Indices) -> None:
        self._gram = gram
        self._scaled, self._norms = gram.scaled, gram.norms
        if self._scaled is None:
            self._points = gram.points[columns]
        elif self._norms is None:
            self._right = np.ascontiguousarray(self._scaled[columns].T)
        else:
            self._right, self._right_norms = self._scaled[columns] * np.float32(-2.0), self._norms[columns]

    def fill(self, rows: Indices | slice, out: Singles) -> None:
        """Write the kernel values between some rows and the columns."""
        kernel = self._gram.kernel
        if self._scaled is None or not isinstance(kernel, Stationary):
            kernel.fill(self._gram.points[rows], self._points, wide := np.empty(out.shape))
            out[...] = wide
        elif self._norms is None:
            singles.squared_l2(self._scaled[rows], self._right, out)
            kernel.profile(out)
        else:
            np.matmul(self._scaled[rows], self._right.T, out=out)
            _finish(kernel, self._norms[rows], self._right_norms, out)

    def put(self, place: int, point: int) -> None:
        """Replace one of the columns by another point."""
        if self._scaled is None:
            self._points[place] = self._gram.points[point]
        elif self._norms is None:
            self._right[:, place] = self._scaled[point]
        else:
            self._right[place] = self._scaled[point] * np.float32(-2.0)
            self._right_norms[place] = self._norms[point]


def _centred(kernel: Stationary, points: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the points in bandwidths about their middle, the middle, and their squared norms."""
    scaled = kernel.scale(points)
    origin = scaled.mean(axis=0)
    scaled -= origin
    return scaled, origin, np.einsum("ij,ij->i", scaled, scaled)


def _finish(kernel: Stationary, left: Reals, right: Reals, out: Singles | Reals) -> None:
    """Turn products, times -2, into kernel values, with the squared norms of both sides."""
    out += left[:, None]
    out += right
    kernel.profile(np.maximum(out, np.float32(0.0), out=out))
