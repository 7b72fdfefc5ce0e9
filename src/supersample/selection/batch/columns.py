"""Columns of many wide candidates as products in float32: several at a time, or roughly, from a sketch of the candidates."""

from abc import ABC, abstractmethod

import numpy as np
from scipy import linalg

from supersample._threads import cut, map_blocks
from supersample._typing import Features, Indices, Reals
from supersample.kernels.singles import SingleGram
from supersample.kernels.stationary import Stationary

__all__ = ["LARGE", "Columns", "FeatureColumns", "KernelColumns", "Sketch"]

#: Coordinates or features of all candidates beyond which a column takes as long as reading them.
LARGE = 1 << 22
#: Rows of a part of a column.
_PART = 8192
#: Dimensions of a sketch, rows that it is made from, and the least share of the largest square that counts as a direction.
_DIMENSIONS, _SKETCHED, _SHARE = 64, 512, 1e-9


class Columns(ABC):
    """<phi(x), phi(y)> for every candidate x and some candidates y, from products of vectors in float32."""

    vectors: Reals

    @abstractmethod
    def finish(self, products: Reals, left: Indices, right: Indices | slice) -> Reals:
        """Turn products of vectors into values, in place where that is possible."""

    def of(self, places: Indices) -> Reals:
        """Return the columns of some candidates, one a row, on all cores; O(N) memory for each."""
        some = self.vectors[places]
        out = np.empty((places.size, len(self.vectors)), dtype=self.vectors.dtype)

        def work(part: slice) -> None:
            out[:, part] = self.finish(some @ self.vectors[part].T, places, part)

        map_blocks(work, cut(len(self.vectors), _PART))
        return out

    def between(self, left: Indices, right: Indices) -> Reals:
        """Return the values between some candidates and some others."""
        return self.finish(self.vectors[left] @ self.vectors[right].T, left, right)


class KernelColumns(Columns):
    """Values of a smooth kernel of the Euclidean distance."""

    def __init__(self, gram: SingleGram) -> None:
        """Take points that the kernel values of `gram` are computed from by products in float32."""
        assert isinstance(gram.kernel, Stationary)
        assert gram.scaled is not None
        assert gram.norms is not None
        self.vectors, self._norms, self._kernel = gram.scaled, gram.norms, gram.kernel

    def finish(self, products: Reals, left: Indices, right: Indices | slice) -> Reals:
        """Apply the kernel's profile to the squared distances."""
        products *= np.float32(-2.0)
        products += self._norms[left][:, None]
        products += self._norms[right]
        self._kernel.profile(np.maximum(products, np.float32(0.0), out=products))
        return products


class FeatureColumns(Columns):
    """Products of features."""

    def __init__(self, features: Features) -> None:
        """Take the features of the candidates."""
        self.vectors = features

    def finish(self, products: Reals, left: Indices, right: Indices | slice) -> Reals:
        """Return them as they are."""
        return products


class Sketch:
    """The vectors in the 64 directions in which some of them are largest: rough columns in a tenth of the time."""

    def __init__(self, columns: Columns) -> None:
        """Project the vectors. O(64 N D) time, O(64 N) memory."""
        self._columns, vectors = columns, columns.vectors
        some = vectors[:: max(1, len(vectors) // _SKETCHED)][:_SKETCHED].astype(np.float64)
        values, rotation = linalg.eigh(some @ some.T)
        kept = np.flatnonzero(values > _SHARE * float(values[-1]))[-_DIMENSIONS:]
        directions = ((some.T @ rotation[:, kept]) / np.sqrt(values[kept])).astype(vectors.dtype)
        self._short = np.concatenate(map_blocks(lambda part: vectors[part] @ directions, cut(len(vectors), _PART)))

    def column(self, place: int) -> Reals:
        """Return the values between a candidate and all, roughly."""
        products = self._short @ self._short[place]
        return np.asarray(self._columns.finish(products[None], np.array([place]), slice(None))[0])
