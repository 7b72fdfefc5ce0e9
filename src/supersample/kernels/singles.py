"""Kernel values of blocks of wide rows in float32: half the time of float64, and a millionth of k(x, x) in error."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from supersample._products import RowProduct
from supersample._typing import Floats, Reals
from supersample.kernels.base import Kernel
from supersample.kernels.stationary import WIDEST_BY_DIFFERENCES, Stationary

__all__ = ["single_against"]

#: Points at a larger squared distance from the middle, in bandwidths, are taken in float64: their distances by products lose
#: this many times the rounding error of float32.
_FAR = 64.0


def single_against(kernel: Kernel, points: Floats) -> Callable[[Floats], Reals]:
    """Return a function that computes the Gram block of blocks of BLOCK_ROWS rows with these points.

    In float32 for smooth kernels of the Euclidean distance and wide points that lie near each other, else in float64. A row's
    values do not depend on its place or on the other rows.
    """
    exact = kernel.against(points)
    if not isinstance(kernel, Stationary) or not kernel.is_smooth or points.shape[1] <= WIDEST_BY_DIFFERENCES:
        return exact
    scaled = kernel.scale(points)
    origin = scaled.mean(axis=0)
    scaled -= origin
    norms = np.einsum("ij,ij->i", scaled, scaled)
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
        out += own[:, None]
        out += self.norms
        self.kernel.profile(np.maximum(out, np.float32(0.0), out=out))
        far = np.flatnonzero(~(own <= _FAR))
        if far.size:
            out[far] = self.exact(rows)[far]
        return out
