"""Prototypes and criticisms of rows that lie on a device.

Sums over all rows are computed there; the greedy choice of criticisms, of a few rows at a time, takes kernel values from there.
"""

from typing import Any

import numpy as np

from supersample._random import Seed
from supersample._typing import Floats, Indices
from supersample.device.arrays import Array, Home
from supersample.features import FeatureMap
from supersample.kernels import Kernel
from supersample.measures.on_device import EmpiricalOnDevice
from supersample.selection.batch.assemble import Picked
from supersample.selection.batch.herding_on_device import herd_points_on
from supersample.selection.batch.on_device import ExactOnDevice, FeaturesOnDevice
from supersample.selection.pool import Codes, Pool

__all__ = ["PoolOnDevice"]


class PoolOnDevice(Pool):
    """All rows as candidates and as the target; with codes, the kernel of rows with different codes is 0."""

    def __init__(
        self, kernel: Kernel, points: Array, home: Home, feature_map: FeatureMap | None, seed: Seed, codes: Codes | None
    ) -> None:
        self.kernel, self.lie, self.home, self.codes = kernel, points, home, codes
        self.measure = EmpiricalOnDevice.lying(points, home)
        if codes is None:
            self.space: Any = _space(kernel, points, self.measure, home, feature_map, seed)
        else:
            self.space = _ByCode.of(kernel, points, home, feature_map, seed, codes)
        self.wide = kernel.on_device(home, home.wide, home.floats(points[0, :]))
        self.points = np.empty((int(points.shape[0]), 0))  # their number is asked for, and their values are not on the host
        self.diagonal = home.floats(self.wide.diagonal(self.wide.prepare(points)))

    def diagonals(self) -> Floats:
        """Return the exact k(x, x) of all points."""
        return self.diagonal

    def means(self) -> Floats:
        """Return z_j = 1/N sum_i k(x_i, x_j) for all j."""
        return self.home.floats(self.space.z)

    def prototypes(self, means: Floats, count: int) -> tuple[Indices, Floats]:
        """Choose prototypes as `greedy_prototypes` does; return them and the sum of their kernel columns."""
        chosen = Picked(self.space, None, count)
        sums = herd_points_on(self.space, chosen, count, replace=False)
        return np.array(chosen.indices, dtype=np.int64), self.home.floats(sums)

    def column(self, index: int) -> Floats:
        """Return k(x_j, x_index) for all j."""
        return self.home.floats(self.space.column_at(self.home.array(np.array(index))))

    def block(self, rows: Indices, columns: Indices) -> Floats:
        """Return exact kernel values between some points and some others."""
        if not (len(rows) and len(columns)):
            return np.empty((len(rows), len(columns)))
        left, right = (
            self.wide.prepare(self.home.xp.take(self.lie, self.home.array(each), axis=0)) for each in (rows, columns)
        )
        out = self.home.floats(self.wide.block(left, right))
        return out if self.codes is None else out * (self.codes[rows][:, None] == self.codes[columns])


def _space(
    kernel: Kernel, points: Array, measure: EmpiricalOnDevice, home: Home, feature_map: FeatureMap | None, seed: Seed
) -> ExactOnDevice | FeaturesOnDevice:
    if feature_map is None:
        return ExactOnDevice(kernel, points, measure, home)
    return FeaturesOnDevice(feature_map, points, measure, seed, home)


class _ByCode:
    """Candidates whose products with those of another code are 0."""

    @staticmethod
    def of(
        kernel: Kernel, points: Array, home: Home, feature_map: FeatureMap | None, seed: Seed, codes: Codes
    ) -> "ExactOnDevice | FeaturesOnDevice":
        """Return them, with z from the rows of each code by themselves."""
        one = EmpiricalOnDevice.lying(points[:1, :], home)
        space = _space(kernel, points, one, home, feature_map, seed)
        z = np.zeros(codes.size)
        for code in np.unique(codes):
            places = np.flatnonzero(codes == code)
            some = home.xp.take(points, home.array(places), axis=0)
            mine = _space(kernel, some, EmpiricalOnDevice.lying(some, home), home, feature_map, seed)
            z[places] = home.floats(mine.z) * (places.size / codes.size)
        space.z = home.array(z)
        there, plain = home.array(codes), space.column_at

        def column_at(place: Array) -> Array:
            column = plain(place)
            return home.xp.where(there == there[place], column, home.xp.zeros_like(column))

        space.column_at = column_at  # type: ignore[method-assign]
        return space
