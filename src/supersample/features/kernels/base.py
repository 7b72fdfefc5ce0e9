"""What a kernel is: an exact Gram block, a diagonal, an identity; and what shift-invariant kernels add to that."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from supersample._compiled import distances
from supersample._threads import BLOCK_ROWS, cut, map_blocks
from supersample._typing import Floats, PointsLike, RandomState
from supersample.errors import InputError, InputTypeError, MismatchError
from supersample.features.kernels.bandwidth import median_distance
from supersample.records.arrays import check_points

__all__ = ["Bandwidth", "Kernel", "Stationary", "as_float64"]

Bandwidth = float | tuple[float, ...] | Literal["median"]

#: Up to this width differences are as fast as a matrix product, and more exact.
_WIDEST_BY_DIFFERENCES = 16
#: A squared distance this small beside the norms has lost more than half of its digits in the expanded form.
_CANCELLED = 1e-6


class Kernel(ABC):
    """A positive-definite function k(x, y) of two points.

    Called with points, it returns their exact Gram matrix: O(n m d) time, O(n m) memory. Kernels can be added, and multiplied
    by positive numbers. A kernel of one's own is a `Function`.

    >>> from supersample.kernels import Gaussian
    >>> Gaussian(1.0)([[0.0], [1.0]]).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    """

    @abstractmethod
    def fill(self, left: Floats, right: Floats, out: Floats) -> None:
        """Write the Gram block k(left_i, right_j) into `out`; no checks, one thread."""

    def against(self, points: Floats) -> Callable[[Floats], Floats]:
        """Return a function that gives the Gram block of any rows with these points, prepared once for many calls."""
        return _Against(self, points)

    @abstractmethod
    def paired(self, left: Floats, right: Floats) -> Floats:
        """Return k(left_i, right_i) for each i; no checks, one thread."""

    def diagonal(self, points: Floats) -> Floats:
        """Return k(x, x) for each row."""
        return self.paired(points, points)

    @property
    @abstractmethod
    def identity(self) -> Mapping[str, Any]:
        """What determines the kernel, as plain values that can be compared and stored as JSON."""

    @property
    def k0(self) -> float:
        """k(x, x), where it is the same for every x."""
        raise InputTypeError(f"{self!r} has no constant k(x, x): only shift-invariant kernels do; use diagonal(points)")

    @property
    def is_resolved(self) -> bool:
        """Whether every bandwidth is a number, so that the kernel can be evaluated."""
        return True

    def resolve(self, points: PointsLike, *, random_state: RandomState = None) -> "Kernel":
        """Return this kernel with "median" bandwidths replaced by numbers taken from `points`."""
        return self

    def resolved_by(self, bandwidth: float) -> "Kernel":
        """Return this kernel with "median" bandwidths replaced by a number."""
        return self

    def check_width(self, width: int) -> None:
        """Refuse rows of a width that the kernel has not one bandwidth a column for; most kernels take any."""
        return

    @property
    def has_spectrum(self) -> bool:
        """Whether the kernel is shift-invariant with a spectral measure that frequencies can be drawn from."""
        return False

    @property
    def is_radial(self) -> bool:
        """Whether the spectral measure is that of s g, g standard normal, up to one factor for each column."""
        return False

    @property
    def n_uniforms(self) -> int:
        """How many uniforms a frequency needs beyond one for each input."""
        return 0

    def frequencies(self, uniforms: Floats, n_inputs: int) -> Floats:
        """Map points of the unit cube (n x (n_inputs + n_uniforms)) to draws from the spectral measure (n x n_inputs)."""
        raise InputTypeError(self._without("spectral measure"))

    def spread(self, uniforms: Floats) -> Floats:
        """Map uniforms (n x n_uniforms) to draws of s, the length of a frequency relative to a standard normal's.

        s rises with the first uniform.
        """
        raise InputTypeError(self._without("radial spectral measure"))

    def scale(self, points: Floats) -> Floats:
        """Divide each column by its bandwidth, where one bandwidth serves the whole kernel."""
        raise InputTypeError(self._without("single bandwidth"))

    def _without(self, what: str) -> str:
        return (
            f"{self!r} has no {what}, so there are no frequencies to draw: use another kind of frequencies, or Nystroem "
            f"features, which work for every kernel"
        )

    def __call__(self, left: PointsLike, right: PointsLike | None = None) -> Floats:
        """Return the exact Gram matrix in float64, computed in blocks on all cores; O(n m d) time, O(n m) memory."""
        first = as_float64(left, "left")
        second = first if right is None else as_float64(right, "right")
        if first.shape[1] != second.shape[1]:
            raise MismatchError(f"left and right must have the same width, got {first.shape[1]} and {second.shape[1]}")
        self.require_resolved()
        out = np.empty((first.shape[0], second.shape[0]))

        def work(rows: slice) -> None:
            self.fill(first[rows], second, out[rows])

        map_blocks(work, cut(first.shape[0], BLOCK_ROWS))
        return out

    def require_resolved(self) -> None:
        """Refuse to go on while a bandwidth is still the word "median"."""
        if not self.is_resolved:
            raise InputError(
                f"{self!r} has no bandwidth yet: 'median' needs data; call kernel.resolve(points) first, or pass a number"
            )

    def __add__(self, other: "Kernel") -> "Kernel":
        """Return the sum of two kernels, itself a kernel."""
        from supersample.features.kernels.combined import Sum  # a sum is a kernel: the two modules need each other

        if not isinstance(other, Kernel):
            return NotImplemented
        return Sum.of((1.0, self), (1.0, other))

    def __rmul__(self, factor: float) -> "Kernel":
        """Return the kernel times a positive number."""
        from supersample.features.kernels.combined import Sum

        return Sum.of((factor, self))

    __mul__ = __rmul__


@dataclass(frozen=True)
class Stationary(Kernel):
    """A kernel of the difference alone, k(x, y) = profile(distance(x / bandwidth, y / bandwidth)), with k(x, x) = 1.

    bandwidth: a number, one number for each column, or "median" (of the distances in a sample, see `resolve`).
    """

    bandwidth: Bandwidth = "median"

    def __post_init__(self) -> None:
        """Bring the bandwidth to a float or a tuple of floats."""
        object.__setattr__(self, "bandwidth", _checked_bandwidth(self.bandwidth, type(self).__name__))

    @property
    def k0(self) -> float:
        """k(x, x) = 1."""
        return 1.0

    @property
    @abstractmethod
    def metric(self) -> Literal["l1", "squared_l2"]:
        """What the profile is a function of."""

    @property
    def has_spectrum(self) -> bool:
        """Every kernel of this kind has one (Bochner's theorem)."""
        return True

    @abstractmethod
    def profile(self, distances: Floats) -> None:
        """Replace distances (by `metric`) by kernel values, in place."""

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
        """Refuse rows of another width than the bandwidth has values."""
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
        by_differences = self.metric == "l1" or points.shape[1] <= _WIDEST_BY_DIFFERENCES
        if by_differences:
            return _Prepared(scaled, np.ascontiguousarray(scaled.T), None, None)
        # Only differences matter, so the origin is free: near the data, the norms are small and little cancels.
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
class _Against:
    """The Gram block with fixed points, as a function that can be stored with what uses it."""

    kernel: Kernel
    points: Floats

    def __call__(self, left: Floats) -> Floats:
        out = np.empty((left.shape[0], self.points.shape[0]))
        self.kernel.fill(left, self.points, out)
        return out


@dataclass(frozen=True)
class _AgainstPrepared:
    """The same, with the points scaled and transposed already."""

    kernel: Stationary
    prepared: _Prepared

    def __call__(self, left: Floats) -> Floats:
        out = np.empty((left.shape[0], self.prepared.points.shape[0]))
        self.kernel._fill(left, self.prepared, out)
        return out


def as_float64(points: PointsLike, name: str) -> Floats:
    """Return checked points in float64, in which all exact kernel values are computed."""
    return np.ascontiguousarray(check_points(points, name), dtype=np.float64)


def _checked_bandwidth(value: Any, name: str) -> Bandwidth:
    if isinstance(value, str):
        if value != "median":
            raise InputError(f"bandwidth of {name} must be a positive number, one a column, or 'median', got {value!r}")
        return "median"
    try:
        array: npt.NDArray[Any] = np.asarray(value)
    except ValueError as error:
        raise InputTypeError(f"bandwidth of {name} must be a positive number, one a column, or 'median'") from error
    if array.dtype.kind not in "iuf" or array.ndim > 1 or array.size == 0:
        raise InputTypeError(f"bandwidth of {name} must be a positive number, one a column, or 'median', got {value!r}")
    if not bool(np.all(np.isfinite(array) & (array > 0))):
        raise InputError(f"bandwidth of {name} must be positive and finite, got {value!r}")
    return tuple(float(width) for width in array) if array.ndim else float(array)
