"""Residuals of k(x, x) and z(x) of every candidate after the selected points, by partial Cholesky or in features."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from scipy import linalg

from supersample._compiled import residual
from supersample._threads import cut, map_blocks
from supersample._typing import Floats
from supersample.selection.batch.candidates import CandidateSpace, ExactCandidates, FeatureCandidates

__all__ = ["CLEAR", "TIE", "ExactResidual", "FeatureResidual", "Residual", "residual_of"]

#: A candidate is selected only if its residual is above this share of k(x, x). It is the root of the rounding error: smooth
#: kernels gain the slope of f from near copies of selected points, but that is lost in the rounding of huge opposite weights.
CLEAR = 1e-8
#: The same where features are held in float32.
_CLEAR_SINGLE = 1e-5
#: Gains whose difference is below this share of the largest are ties. Quotients of differences, they carry more rounding than
#: the sums that `first_best` compares (docs/decisions/047).
TIE = 1e-10
#: Candidates of a part of a product with the factor.
_PART = 1 << 15


class Residual(ABC):
    """R(x) and zr(x) for the whole pool.

    With P the projection onto the span of the chosen phi: R(x) = |phi(x) - P phi(x)|^2 and zr(x) = <mu - P mu, phi(x)>. With
    noise of this variance beside k, R(x) is at least the noise: no point is spanned, and one may be chosen again.
    """

    def __init__(self, space: CandidateSpace, clear: float = CLEAR, noise: float = 0.0) -> None:
        """Start with nothing selected."""
        self.space = space
        self.left: Any = space.diagonal + noise
        self.z: Any = 1.0 * space.z
        self.clear = clear
        self.noise = noise
        self.floor: Any = (0.0 if noise else clear) * space.diagonal

    @property
    @abstractmethod
    def energy(self) -> float:
        """E of the target, in the same inner product."""

    @abstractmethod
    def add(self, row: Floats, index: int | None = None) -> None:
        """Add a point; `index` is its place in the pool, None if it is off the pool."""

    def best(self, *, by_variance: bool) -> int:
        """Return the candidate that lowers MMD^2 most, by zr^2 / R, or the one with the largest |zr|; -1 if all are spanned.

        Gains fall by orders of magnitude, so ties are relative to the largest gain and not to k(x, x). Where z is known within
        an error only, it is computed exactly for the candidates that may be the best, if there are several.
        """
        best = int(residual.best(self.z, self.left, self.floor, by_variance, TIE))
        while self.space.error > 0.0 and best >= 0:
            close = residual.close(self.z, self.left, self.floor, by_variance, self.space.error)
            if close.size == 1:
                break
            changes = self.space.settle(close)
            if not bool(changes.any()):
                break
            self.z[close] += changes
            best = int(residual.best(self.z, self.left, self.floor, by_variance, TIE))
        return best


class ExactResidual(Residual):
    """Rows of the partial Cholesky factor of the Gram matrix, one for each chosen point: O(N m) memory."""

    def __init__(self, space: ExactCandidates, count: int, noise: float = 0.0, clear: float = CLEAR) -> None:
        """Leave room for `count` points."""
        super().__init__(space, clear, noise)
        self.exact = space
        self._factor = np.empty((count, space.size))
        self._root = np.zeros((count, count))
        self._halves = np.empty(count)
        self._rows = np.empty((count, space.points.shape[1]))
        self._product = np.zeros(space.size)
        self._parts = cut(space.size, _PART)
        self.size = 0

    @property
    def energy(self) -> float:
        """E of the target."""
        return self.exact.energy

    @property
    def root(self) -> Floats:
        """The Cholesky factor of the chosen points' own Gram matrix."""
        return self._root[: self.size, : self.size]

    @property
    def halves(self) -> Floats:
        """L^-1 z of the chosen points."""
        return self._halves[: self.size]

    @property
    def rows(self) -> Floats:
        """The selected points that were not spanned."""
        return self._rows[: self.size]

    def add(self, row: Floats, index: int | None = None) -> None:
        """Add a row to the factor; O(N n). A spanned point changes nothing."""
        n = self.size
        column = None
        if index is not None:
            column = self.space.column(row)
            self._settle(index, column)
            spanned, own, z = self._at(index)
        else:
            values, diagonal = self.space.embed(row[None])
            spanned = np.empty(0)
            if n:
                across = self.space.gram(self.rows, row[None])[:, 0]
                spanned = linalg.solve_triangular(self.root, across, lower=True, check_finite=False)
            own = float(diagonal[0] + self.noise - spanned @ spanned)
            z = float(values[0] - spanned @ self.halves)
            if not self.noise and own <= self.clear * float(diagonal[0]):
                return
        if column is None:
            column = self.space.column(row)
        length = float(np.sqrt(own))
        self._write(spanned, length, z / length, column)
        self._root[n, :n], self._root[n, n] = spanned, length
        self._halves[n], self._rows[n] = z / length, row
        self.size += 1
        if not self.noise:
            self._clear(index)

    def _settle(self, index: int, column: Any) -> None:
        """Let z of a candidate be exact."""
        self.z[index] += self.exact.settle_by(index, column)

    def _at(self, index: int) -> tuple[Floats, float, float]:
        """Return the column of the factor at a candidate, its residual, and z of that."""
        return self._factor[: self.size, index].copy(), float(self.left[index]), float(self.z[index])

    def _write(self, spanned: Floats, length: float, half: float, column: Any) -> None:
        """Turn a Gram row into the next row of the factor, and subtract it."""
        if self.size:
            held, out = self._factor[: self.size], self._product
            map_blocks(lambda part: np.dot(spanned, held[:, part], out=out[part]), self._parts)
        residual.subtract(self._product, length, half, column, self.z, self.left)
        self._factor[self.size] = column

    def _clear(self, index: int | None) -> None:
        """Let a candidate that was chosen have nothing left."""
        if index is not None:
            self.left[index] = 0.0


class FeatureResidual(Residual):
    """An orthonormal basis of the chosen features: O(N D) a point, and no memory beyond the features and m D numbers."""

    def __init__(self, space: FeatureCandidates, count: int) -> None:
        """Leave room for at most D directions."""
        super().__init__(space, _CLEAR_SINGLE if space.is_single else CLEAR)
        self.map_field = space
        self._basis = np.empty((min(count, space.mean.size), space.mean.size))
        self.size = 0

    @property
    def energy(self) -> float:
        """|mu|^2 of the features."""
        return float(self.map_field.mean @ self.map_field.mean)

    def add(self, row: Floats, index: int | None = None) -> None:
        """Add a direction. A spanned point changes nothing."""
        phi = self.map_field.transform(row[None])[0]
        basis = self._basis[: self.size]
        direction = phi - basis.T @ (basis @ phi)
        # The residual may be small relative to phi: a second subtraction makes it orthogonal to rounding.
        direction -= basis.T @ (basis @ direction)
        length = float(np.sqrt(direction @ direction))
        if index is not None:
            self.left[index] = 0.0
        if self.size == self._basis.shape[0] or length**2 <= self.clear * float(phi @ phi):
            return
        direction /= length
        self._basis[self.size] = direction
        self.size += 1
        column = self.map_field.product(direction)
        half = float(self.map_field.mean @ direction)
        residual.subtract(np.zeros(column.size), 1.0, half, column, self.z, self.left)
        if index is not None:
            self.left[index] = 0.0


def residual_of(space: CandidateSpace, count: int) -> Residual:
    """Return the residual that goes with the space."""
    if space.home is not None:
        return _residual_there(space, count)
    if isinstance(space, ExactCandidates):
        return ExactResidual(space, count)
    assert isinstance(space, FeatureCandidates)
    return FeatureResidual(space, count)


def _residual_there(space: CandidateSpace, count: int) -> Residual:
    """Return the residual of candidates that lie on a device."""
    from supersample.selection.batch.on_device import ExactOnDevice, FeaturesOnDevice
    from supersample.selection.batch.residual_on_device import (  # kinds of the classes above
        ExactResidualOnDevice,
        FeatureResidualOnDevice,
    )

    if isinstance(space, ExactOnDevice):
        return ExactResidualOnDevice(space, count)
    assert isinstance(space, FeaturesOnDevice)
    return FeatureResidualOnDevice(space, count)
