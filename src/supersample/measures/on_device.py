"""The empirical measure of points that lie on a device: kernel sums are computed there."""

from functools import cached_property
from typing import Any

import numpy as np

from supersample._random import Seed
from supersample._typing import Floats, Indices, PointsLike
from supersample._validation import check_points, check_weights, shares
from supersample.device.arrays import Array, Home, home_of, hosted
from supersample.device.checks import check_device_points, host_rows
from supersample.embedding.mean import MeanEmbedding
from supersample.errors import InputTypeError, MismatchError
from supersample.features import FeatureMap
from supersample.kernels import Kernel, KernelLike
from supersample.kernels.on_device import DeviceKernel
from supersample.kernels.sums_on_device import embedded, embedded_own
from supersample.measures.empirical import Empirical

__all__ = ["EmpiricalOnDevice"]

#: Up to this many points E is summed from kernel values in float64; of more, from values in float32, sums in float64.
_WIDE_ROWS = 20_000


class EmpiricalOnDevice(Empirical):
    """`Empirical` of an array of torch, CuPy or JAX; `points` are copied to the host only if something there asks for them."""

    def __init__(self, points: Array, weights: Any = None, *, features: FeatureMap | None = None) -> None:
        """Set points and weights, which lie where the points do."""
        home = home_of(points=points, weights=weights)
        assert home is not None
        if features is not None and not isinstance(features, FeatureMap):
            raise InputTypeError(f"features must be a feature map such as ss.features.Fourier(...), got {features!r}")
        with home.working():
            self._hold(check_device_points(points, "points", home), home)
            if weights is not None:
                count = int(points.shape[0])
                self.weights = shares(check_weights(hosted(home, weights), count, "weights"), count)
            self.features = features
            if features is not None:
                self._mean = self.mean_features(features)

    @classmethod
    def lying(cls, points: Array, home: Home) -> "EmpiricalOnDevice":
        """Return equal masses at checked points, without a copy."""
        held = cls.__new__(cls)
        held._hold(points, home)
        return held

    def _hold(self, points: Array, home: Home) -> None:
        self.lie, self.home = points, home
        self.weights = shares(None, int(points.shape[0]))
        self.features = self._mean = None

    @cached_property
    def points(self) -> Floats:  # type: ignore[override]
        """The points on the host, in float64."""
        return np.ascontiguousarray(self.home.floats(self.lie))

    @property
    def scale_rows(self) -> Array:
        """The points, where they lie."""
        return self.lie

    @property
    def dimension(self) -> int:
        """The number of columns."""
        return int(self.lie.shape[1])

    def by_points(self) -> Empirical:
        """Return the same masses without the feature map."""
        if self.features is None:
            return self
        exact = EmpiricalOnDevice.lying(self.lie, self.home)
        exact.weights = self.weights
        return exact

    def rows_at(self, places: Indices) -> Floats:
        """Copy some points to the host."""
        return np.asarray(host_rows(self.lie, places, self.home), dtype=np.float64)

    def mean_features(self, feature_map: FeatureMap) -> Floats:
        """Return the mean features of the measure, on the host."""
        with self.home.working():
            return MeanEmbedding(feature_map).update(self.lie, self.home.array(self.weights)).state.mean()

    def mean_embedding(self, kernel: KernelLike, points: PointsLike) -> Floats:
        """Return z(y) for rows that lie where the measure's points do, or on the host, as an array of theirs.

        It is computed on the device, from kernel values in float64.
        """
        lying = home_of(points=points)
        if lying not in (None, self.home):
            raise MismatchError(
                f"points must lie where the measure's own points do ({self.home}), or on the host, got {lying}; bring "
                f"them there"
            )
        resolved, home = self._checked(kernel), self.home
        with home.working():
            if lying is None:
                rows = home.array(np.asarray(check_points(points, "points", width=self.dimension), dtype=np.float64))
                return home.floats(self.embed_there(resolved, rows, home.wide))
            there = check_device_points(points, "points", home, width=self.dimension)
            values: Floats = self.embed_there(resolved, there, home.wide)
        return values

    def embed_there(self, kernel: Kernel, rows: Array, dtype: Any) -> Array:
        """Return z(y) for rows of the device, from kernel values of this type."""
        home = self.home
        if self._mean is not None and self.features is not None:
            self._require_kernel(kernel)
            there = self.features.on_device(home, self.dimension)
            mean = home.array(self._mean, there.dtype)
            far = there.is_far(float(home.xp.max(home.xp.abs(rows))))
            parts = [there.features(rows[part, :], far=far) @ mean for part in there.blocks(int(rows.shape[0]))]
            return home.xp.astype(home.xp.concat(parts), home.wide)
        on_device = self.prepared_kernel(kernel, dtype)
        return embedded(on_device, on_device.prepare(rows), on_device.prepare(self.lie), home.array(self.weights))

    def prepared_kernel(self, kernel: Kernel, dtype: Any) -> DeviceKernel:
        """Return the kernel on the device, about the middle of the points."""
        xp = self.home.xp
        return kernel.on_device(self.home, dtype, self.home.floats(xp.mean(xp.astype(self.lie, self.home.wide), axis=0)))

    def own_embedding(self, kernel: KernelLike) -> Floats:
        """Return z at the measure's own points."""
        with self.home.working():
            return self.home.floats(self.own_there(self._checked(kernel), self.energy_type))

    def own_there(self, kernel: Kernel, dtype: Any) -> Array:
        """Return the same on the device, from kernel values of this type."""
        if self._mean is not None:
            return self.embed_there(kernel, self.lie, dtype)
        on_device = self.prepared_kernel(kernel, dtype)
        return embedded_own(on_device, on_device.prepare(self.lie), self.home.array(self.weights))

    @property
    def energy_type(self) -> Any:
        """The type of the kernel values that E is summed from."""
        return self.home.wide if self.weights.size <= _WIDE_ROWS else self.home.single

    def _draw(self, n: int, seed: Seed) -> Floats:
        return self.rows_at(seed.generator().choice(self.weights.size, n, p=self.weights))
