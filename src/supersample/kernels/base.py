"""The interface of a kernel: an exact Gram block, a diagonal, an identity."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from supersample._threads import BLOCK_ROWS, cut, map_blocks
from supersample._typing import Floats, PointsLike, RandomState
from supersample._validation import check_points
from supersample.device.arrays import Home, home_of
from supersample.device.checks import check_device_points
from supersample.errors import InputError, InputTypeError, MismatchError
from supersample.kernels.on_device import DeviceKernel

__all__ = ["Kernel", "as_float64"]


class Kernel(ABC):
    """A positive-definite function k(x, y) of two points.

    Called with points, it returns their exact Gram matrix: O(n m d) time, O(n m) memory. Kernels can be added, and multiplied
    by positive numbers. Wrap a function of your own in `Function`.

    >>> from supersample.kernels import Gaussian
    >>> Gaussian(1.0)([[0.0], [1.0]]).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    """

    @abstractmethod
    def fill(self, left: Floats, right: Floats, out: Floats) -> None:
        """Write the Gram block k(left_i, right_j) into `out`; no checks, one thread."""

    def against(self, points: Floats) -> Callable[[Floats], Floats]:
        """Return a function that computes the Gram block of any rows with these points; the points are prepared once."""
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

    def on_device(self, home: Home, dtype: Any, origin: Floats) -> DeviceKernel:
        """Return this kernel for points that lie elsewhere. dtype: that of its values; origin: a point near the others."""
        raise InputTypeError(
            f"{self!r} takes arrays of the host only, and the points are those of {home}; bring them to the host"
        )

    @property
    def k0(self) -> float:
        """k(x, x), where it is the same for every x."""
        raise InputTypeError(f"{self!r} has no constant k(x, x): only shift-invariant kernels do; use diagonal(points)")

    @property
    def largest(self) -> float:
        """An upper bound of k(x, x): k0, or infinity where k(x, x) differs between points."""
        try:
            return self.k0
        except InputTypeError:
            return np.inf

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
        """Refuse rows whose width differs from the number of bandwidths; by default any width is accepted."""
        return

    def check_on(self, points: Floats, *, differences: bool = False) -> None:
        """Refuse a function whose values on some of these points cannot be a kernel's; built-in kernels need no check.

        differences: the kernel is used for differences of means only; conditionally positive-definite functions, such as the
        negative distance, then pass.
        """
        return

    def as_sum(self) -> tuple[tuple[float, "Kernel"], ...]:
        """Return factors and kernels that this kernel is the sum of; by default itself, once."""
        return ((1.0, self),)

    @property
    def has_spectrum(self) -> bool:
        """Whether the kernel is shift-invariant and frequencies can be drawn from its spectral measure."""
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

    def mean_square_frequency(self, n_inputs: int) -> float:
        """Return the mean of |w|^2 over the spectral measure, which may be infinite."""
        raise InputTypeError(f"{self!r} does not say what the mean square of its frequencies is; use another kernel")

    def spread(self, uniforms: Floats) -> Floats:
        """Map uniforms (n x n_uniforms) to draws of s, the length of a frequency relative to a standard normal's.

        s rises with the first uniform.
        """
        raise InputTypeError(self._without("radial spectral measure"))

    def scale(self, points: Floats) -> Floats:
        """Divide each column by its bandwidth, if the whole kernel has a single bandwidth."""
        raise InputTypeError(self._without("single bandwidth"))

    def _without(self, what: str) -> str:
        return (
            f"{self!r} has no {what}, so there are no frequencies to draw: use another kind of frequencies, or Nystroem "
            f"features, which work for every kernel"
        )

    def __call__(self, left: PointsLike, right: PointsLike | None = None) -> Floats:
        """Return the exact Gram matrix in float64, computed in blocks on all cores; O(n m d) time, O(n m) memory.

        For arrays of torch, CuPy and JAX it is computed, and stays, where they lie.
        """
        home = home_of(left=left, right=right)
        if home is not None:
            return self._on_home(home, left, right)
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

    def _on_home(self, home: Home, left: Any, right: Any) -> Floats:
        with home.working():
            first = check_device_points(left, "left", home)
            second = first if right is None else check_device_points(right, "right", home)
            if first.shape[1] != second.shape[1]:
                raise MismatchError(f"left and right must have the same width, got {first.shape[1]} and {second.shape[1]}")
            self.require_resolved()
            self.check_width(int(first.shape[1]))
            kernel = self.on_device(home, home.wide, home.floats(second[0, :]))
            there: Floats = kernel.block(kernel.prepare(first), kernel.prepare(second))
            return there

    def require_resolved(self) -> None:
        """Raise an error if a bandwidth is still the word "median"."""
        if not self.is_resolved:
            raise InputError(
                f"{self!r} has no bandwidth yet: 'median' needs data; call kernel.resolve(points) first, or pass a number"
            )

    def __eq__(self, other: object) -> bool:
        """Compare classes and identities."""
        return type(self) is type(other) and isinstance(other, Kernel) and dict(self.identity) == dict(other.identity)

    def __hash__(self) -> int:
        """Hash the identity."""
        return hash(json.dumps(dict(self.identity), sort_keys=True))

    def __repr__(self) -> str:
        """Show class and identity."""
        shown = ", ".join(f"{name}={value!r}" for name, value in self.identity.items() if name != "kernel")
        return f"{type(self).__name__}({shown})"

    def __add__(self, other: "Kernel") -> "Kernel":
        """Return the sum of two kernels, itself a kernel."""
        from supersample.kernels.combined import Sum  # a sum is a kernel: the two modules need each other

        if not isinstance(other, Kernel):
            return NotImplemented
        return Sum.of((1.0, self), (1.0, other))

    def __rmul__(self, factor: float) -> "Kernel":
        """Return the kernel times a positive number."""
        from supersample.kernels.combined import Sum

        return Sum.of((factor, self))

    __mul__ = __rmul__


@dataclass(frozen=True)
class _Against:
    """The Gram block with fixed points, as a function that can be pickled with the object that uses it."""

    kernel: Kernel
    points: Floats

    def __call__(self, left: Floats) -> Floats:
        out = np.empty((left.shape[0], self.points.shape[0]))
        self.kernel.fill(left, self.points, out)
        return out


def as_float64(points: PointsLike, name: str) -> Floats:
    """Return checked points in float64, the type of all exact kernel computations."""
    return np.ascontiguousarray(check_points(points, name), dtype=np.float64)
