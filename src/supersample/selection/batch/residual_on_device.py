"""Residuals of candidates that lie on a device: their numbers stay there, and those of the chosen few come to the host."""

import math
from typing import Any

import numpy as np

from supersample._typing import Floats
from supersample.device.arrays import Array, Home
from supersample.selection.batch.on_device import ExactOnDevice, FeaturesOnDevice
from supersample.selection.batch.residual import CLEAR, TIE, ExactResidual, FeatureResidual

__all__ = ["ExactResidualOnDevice", "FeatureResidualOnDevice"]

#: The share of k(x, x) that must be left of a candidate where there is no float64: the root of the rounding error of float32.
_CLEAR_NARROW = 3e-4


class _ResidualOnDevice:
    """Comparing and subtracting for all candidates at once."""

    home: Home
    z: Array
    left: Array
    floor: Array

    def best(self, *, by_variance: bool) -> int:
        """Return the first candidate with the largest gain, up to ties; -1 if all are spanned."""
        xp = self.home.xp
        nothing = -xp.ones_like(self.z)
        some = self.left > self.floor
        gains = self.z * self.z / xp.where(some, self.left, xp.ones_like(self.left)) if by_variance else xp.abs(self.z)
        values = xp.where(some, gains, nothing)
        bar = xp.max(values) * (1.0 - TIE)
        place = int(xp.argmax(xp.astype(values >= bar, self.home.single)))
        return place if float(values[place]) >= 0.0 else -1

    def _subtract(self, column: Array, half: float) -> None:
        self.z = self.z - half * column
        self.left = self.left - column * column

    def _clear(self, index: int | None) -> None:
        if index is not None:
            self.left = self.home.put(self.left, index, 0.0)


class ExactResidualOnDevice(_ResidualOnDevice, ExactResidual):
    """Rows of the partial Cholesky factor in float64: what is left of nearly equal numbers would be noise in float32."""

    def __init__(self, space: ExactOnDevice, count: int) -> None:
        """Leave room for `count` points."""
        factor = space.columns(count)  # what does not fit is refused before z is computed
        super().__init__(space, 0, clear=CLEAR if space.home.wide != space.home.single else _CLEAR_NARROW)
        self.home = space.home
        self._factor: Any = factor
        self._root, self._halves, self._rows = (
            np.zeros((count, count)),
            np.empty(count),
            np.empty((count, space.points.shape[1])),
        )
        self.z = 1.0 * space.z
        self.left = 1.0 * space.diagonal

    def _settle(self, index: int, column: Array) -> None:
        """Nothing: z of all candidates is as exact as it will be."""

    def _at(self, index: int) -> tuple[Floats, float, float]:
        n = self.size
        spanned = self.home.floats(self._factor[:n, index]) if n else np.empty(0)
        return spanned, float(self.left[index]), float(self.z[index])

    def _write(self, spanned: Floats, length: float, half: float, column: Array) -> None:
        n = self.size
        if n:
            column = column - self.home.array(spanned) @ self._factor[:n, :]
        column = column / length
        self._factor = self.home.put(self._factor, (n, slice(None)), column)
        self._subtract(column, half)


class FeatureResidualOnDevice(_ResidualOnDevice, FeatureResidual):
    """An orthonormal basis of the chosen features, there."""

    def __init__(self, space: FeaturesOnDevice, count: int) -> None:
        """Leave room for at most D directions."""
        super().__init__(space, 0)
        self.there, self.home = space, space.home
        self._directions = self.home.zeros((min(count, space.mean.size), space.mean.size))
        self._mean = self.home.array(space.mean)
        self.z = 1.0 * space.z
        self.left = 1.0 * space.diagonal

    def add(self, row: Floats, index: int | None = None) -> None:
        """Add a direction. A spanned point changes nothing."""
        xp = self.home.xp
        phi = self.home.array(self.there.transform(row[None])[0])
        basis = self._directions[: max(self.size, 1), :]  # a row of zeros where there is none yet
        direction = phi - (basis @ phi) @ basis
        direction = direction - (basis @ direction) @ basis
        square, own, half = (float(each) for each in (xp.sum(direction**2), xp.sum(phi * phi), xp.sum(self._mean * direction)))
        self._clear(index)
        if self.size == self._directions.shape[0] or square <= self.clear * own:
            return
        direction = direction / math.sqrt(square)
        self._directions = self.home.put(self._directions, (self.size, slice(None)), direction)
        self.size += 1
        self._subtract(self.there.project(direction), half / math.sqrt(square))
        self._clear(index)
