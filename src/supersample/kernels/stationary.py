"""Kernels of the difference of two points: they have a bandwidth, a distance, a profile and a spectrum."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from supersample._compiled import distances
from supersample._typing import Floats, PointsLike, RandomState, Reals
from supersample.device.arrays import Array, Home
from supersample.errors import InputTypeError, MismatchError
from supersample.kernels.bandwidth import Bandwidth, check_bandwidth, median_distance
from supersample.kernels.base import Kernel
from supersample.kernels.on_device import ByDifferences, ByProducts, DeviceKernel

__all__ = ["WIDEST_BY_DIFFERENCES", "Stationary"]

#: Up to this width differences are as fast as a matrix product, and more exact.
WIDEST_BY_DIFFERENCES = 16
#: A squared distance this small beside the norms has lost more than half of its digits in the expanded form.
_CANCELLED = 1e-6


@dataclass(frozen=True)
class Stationary(Kernel):
    """A kernel of the difference alone, k(x, y) = profile(distance(x / bandwidth, y / bandwidth)), with k(x, x) = 1.

    bandwidth: a number, one number for each column, or "median" (of the distances in a sample, see `resolve`).
    """

    bandwidth: Bandwidth = "median"

    def __post_init__(self) -> None:
        """Bring the bandwidth to a float or a tuple of floats."""
        object.__setattr__(self, "bandwidth", check_bandwidth(self.bandwidth, type(self).__name__))

    @property
    def k0(self) -> float:
        """k(x, x) = 1."""
        return 1.0

    @property
    @abstractmethod
    def metric(self) -> Literal["l1", "squared_l2"]:
        """The distance that the profile is a function of."""

    @property
    def has_spectrum(self) -> bool:
        """Every kernel of this kind has one (Bochner's theorem)."""
        return True

    @property
    def is_smooth(self) -> bool:
        """Whether kernel values change no more than in proportion to the squared distance."""
        return False

    @abstractmethod
    def profile(self, distances: Reals) -> None:
        """Replace distances (by `metric`) by kernel values, in place; float32 or float64."""

    def profile_at(self, xp: Any, exponents: Array) -> Array:
        """Return kernel values of arrays of a device, from -r^2 / 2 for the squared Euclidean distance r^2, else from -r.

        xp: the functions of the array API standard. Rounding may leave exponents just above 0.
        """
        raise InputTypeError(
            f"{type(self).__name__} has no values for arrays of a device; give the class a profile_at, or pass NumPy arrays"
        )

    def on_device(self, home: Home, dtype: Any, origin: Floats) -> DeviceKernel:
        """Take distances from one product, or column by column where that would be too rough."""
        narrow = origin.size <= WIDEST_BY_DIFFERENCES
        by_differences = self.metric == "l1" or (narrow and not self.is_smooth)
        return (ByDifferences if by_differences else ByProducts)(self, home, dtype, origin)

    @property
    def is_resolved(self) -> bool:
        """Whether the bandwidth is a number or a vector."""
        return self.bandwidth != "median"

    @property
    def identity(self) -> Mapping[str, Any]:
        """The kernel's name and bandwidth."""
        width = list(self.bandwidth) if isinstance(self.bandwidth, tuple) else self.bandwidth
        return {"kernel": type(self).__name__, "bandwidth": width}

    def resolve(self, points: PointsLike, *, random_state: RandomState = None) -> Self:
        """Set a "median" bandwidth to the median distance in a sample of at most 1,000 rows of `points`."""
        if self.is_resolved:
            return self
        metric: Literal["l1", "l2"] = "l1" if self.metric == "l1" else "l2"
        return self.with_bandwidth(median_distance(points, metric=metric, random_state=random_state))

    def with_bandwidth(self, bandwidth: Bandwidth) -> Self:
        """Return this kernel with another bandwidth."""
        return replace(self, bandwidth=bandwidth)

    def resolved_by(self, bandwidth: float) -> Self:
        """Return this kernel with a "median" bandwidth replaced by a number."""
        return self if self.is_resolved else self.with_bandwidth(bandwidth)

    def check_width(self, width: int) -> None:
        """Refuse rows whose width differs from the number of bandwidths."""
        if isinstance(self.bandwidth, tuple) and len(self.bandwidth) != width:
            raise MismatchError(
                f"bandwidth of {type(self).__name__} has {len(self.bandwidth)} values and the points have {width} columns; "
                f"pass one bandwidth for each column, or a single number"
            )

    def scale(self, points: Floats) -> Floats:
        """Divide each column by its bandwidth."""
        self.require_resolved()
        self.check_width(points.shape[1])
        width = np.asarray(self.bandwidth, dtype=np.float64)
        return np.ascontiguousarray(points / width, dtype=np.float64)

    def fill(self, left: Floats, right: Floats, out: Floats) -> None:
        """Write distances, then apply the profile to them in place."""
        self._fill(left, self._prepare(right), out)

    def against(self, points: Floats) -> Callable[[Floats], Floats]:
        """Scale and transpose the points once for all calls."""
        return _AgainstPrepared(self, self._prepare(points))

    def _prepare(self, points: Floats) -> "_Prepared":
        scaled = self.scale(points)
        by_differences = self.metric == "l1" or points.shape[1] <= WIDEST_BY_DIFFERENCES
        if by_differences:
            return _Prepared(scaled, np.ascontiguousarray(scaled.T), None, None)
        # Only differences matter, so the origin is free. An origin near the data keeps the norms small, so little cancels.
        origin = scaled.mean(axis=0)
        scaled -= origin
        return _Prepared(scaled, scaled.T, origin, np.einsum("ij,ij->i", scaled, scaled))

    def _fill(self, left: Floats, right: "_Prepared", out: Floats) -> None:
        """Write the Gram block with prepared points."""
        first = self.scale(left)
        if self.metric == "l1":
            distances.l1(first, right.transposed, out)
        elif right.origin is None or right.norms is None:
            distances.squared_l2(first, right.transposed, out)
        else:
            first -= right.origin
            np.matmul(first, right.transposed, out=out)
            norms = np.einsum("ij,ij->i", first, first)
            distances.expand_products(first, right.points, norms, right.norms, _CANCELLED, out)
        self.profile(out)

    def paired(self, left: Floats, right: Floats) -> Floats:
        """Apply the profile to the distances between the i-th rows."""
        difference = self.scale(left - right)
        if self.metric == "l1":
            values: Floats = np.abs(difference).sum(axis=1)
        else:
            values = np.einsum("ij,ij->i", difference, difference)
        self.profile(values)
        return values

    def diagonal(self, points: Floats) -> Floats:
        """Return ones."""
        return np.ones(points.shape[0])


class _Prepared(NamedTuple):
    """Scaled points, also transposed; for wide points shifted to an origin, with their squared norms."""

    points: Floats
    transposed: Floats
    origin: Floats | None
    norms: Floats | None


@dataclass(frozen=True)
class _AgainstPrepared:
    """The Gram block with fixed points that are scaled and transposed already."""

    kernel: Stationary
    prepared: _Prepared

    def __call__(self, left: Floats) -> Floats:
        out = np.empty((left.shape[0], self.prepared.points.shape[0]))
        self.kernel._fill(left, self.prepared, out)
        return out
