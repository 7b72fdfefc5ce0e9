"""The interface of a feature map: phi(x) in R^D with phi(x).phi(y) close to k(x, y), immutable, with an identity."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from supersample._checks import FURTHEST, require, within
from supersample._typing import Features, Points, PointsLike
from supersample._validation import check_points
from supersample.device.arrays import Home, home_of
from supersample.device.checks import check_device_points
from supersample.errors import InputError, InputTypeError
from supersample.features.on_device import DeviceMap
from supersample.kernels import Kernel, KernelLike, as_kernel

__all__ = ["FeatureMap", "as_dtype", "require_features", "resolved_kernel"]


class FeatureMap(ABC):
    """A fixed map from points to feature vectors.

    Two maps are equal when their identities are: same kernel, same parameters, same seed. Row i of `transform(points)` depends
    on row i alone, bit for bit, whatever other rows are passed with it.

    To write your own map, set the three attributes and define `identity` and `fill`; to store it with a summary, register it
    with `supersample.features.register`.

    >>> import supersample as ss
    >>> one, same = (ss.features.Fourier(ss.kernels.Gaussian(1.0), 8, random_state=0) for _ in range(2))
    >>> one == same, one.transform([[0.0], [1.0]]).shape
    (True, (2, 8))
    """

    kernel: Kernel
    n_features: int
    dtype: np.dtype[Any]

    @property
    @abstractmethod
    def identity(self) -> Mapping[str, Any]:
        """What determines the map, as plain values that can be compared and stored as JSON."""

    @property
    def squared_norm(self) -> float | None:
        """|phi(x)|^2, for maps where it is the same for every x but for rounding; None for others."""
        return None

    @property
    def is_exact(self) -> bool:
        """Whether phi(x).phi(y) is the kernel itself and not an approximation of it."""
        return False

    @abstractmethod
    def fill(self, points: Points, out: Features) -> None:
        """Write the features of checked points into `out` (n x n_features, of this map's dtype)."""

    def on_device(self, home: Home, n_inputs: int) -> DeviceMap:
        """Return this map for points that lie elsewhere, of `n_inputs` columns."""
        raise InputTypeError(
            f"{type(self).__name__} features are computed on the CPU only, and the points are those of {home}; use Fourier, "
            f"Nystroem or Landmark features there, or bring the points to the host"
        )

    def transform(self, points: PointsLike) -> Features:
        """Return the features of each row: n x n_features. Those of torch, CuPy and JAX arrays lie where the points do."""
        home = home_of(points=points)
        if home is not None:
            with home.working():
                given = check_device_points(points, "points", home)
                there: Features = self.on_device(home, int(given.shape[1])).of_all(given)
                return there
        rows = check_points(points, "points")
        out = np.empty((rows.shape[0], self.n_features), dtype=self.dtype)
        self.fill(rows, out)
        return out

    def __eq__(self, other: object) -> bool:
        """Compare identities."""
        return isinstance(other, FeatureMap) and self.identity == other.identity

    def __hash__(self) -> int:
        """Hash the identity."""
        return hash(json.dumps(self.identity, sort_keys=True))

    def __repr__(self) -> str:
        """Show the kernel and the number of features."""
        return f"{type(self).__name__}({self.kernel!r}, n_features={self.n_features}, dtype={self.dtype.name})"

    def check(self) -> None:  # noqa: B027  most maps have nothing to check
        """Refuse invalid parts read from a file; maps drawn from a seed have no parts."""


def resolved_kernel(kernel: KernelLike) -> Kernel:
    """Return a kernel that can be evaluated: a map needs its bandwidth at once."""
    checked = as_kernel(kernel)
    checked.require_resolved()
    return checked


def as_dtype(dtype: npt.DTypeLike) -> np.dtype[Any]:
    """Return float32 or float64 as a dtype."""
    try:
        checked = np.dtype(dtype)
    except TypeError as error:
        raise InputTypeError(f"dtype must be float32 or float64, got {dtype!r}") from error
    if checked not in (np.float32, np.float64):
        raise InputError(f"dtype must be float32 or float64, got {checked}")
    return checked


def require_features(features: Features, shape: tuple[int, ...], kernel: Kernel | None, whose: str) -> None:
    """Refuse stored features of another shape, or larger than the kernel allows."""
    require(features.shape == shape, f"{whose} has other features than its map")
    largest = 0.0 if kernel is None else FURTHEST * float(np.sqrt(kernel.largest))
    require(within(features, largest), f"{whose} has impossible features")
