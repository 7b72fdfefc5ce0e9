"""Kernels scaled to k(x, x) = 1."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from supersample._stored import instance_of, stored
from supersample._typing import Floats, PointsLike, RandomState
from supersample.device.arrays import Home
from supersample.errors import InputError, InputTypeError
from supersample.kernels.base import Kernel
from supersample.kernels.named import as_kernel
from supersample.kernels.on_device import DeviceKernel, Normed

__all__ = ["Normalized"]


@stored("Normalized", {"kernel": instance_of(Kernel)})
@dataclass(frozen=True)
class Normalized(Kernel):
    """The kernel k(x, y) / sqrt(k(x, x) k(y, y)), for which k(x, x) = 1.

    It satisfies Assumption 2 of Khanna, Hodgkinson and Mahoney 2021, as products, polynomials and functions of your own need
    not by themselves. Each point counts by its direction in feature space, not by its length; points without a length,
    k(x, x) = 0, are refused. A kernel with constant k(x, x) is divided by it, and keeps its spectrum, its features and its
    closed-form embeddings. Otherwise a Gram block also costs k(x, x) of its rows and columns.

    kernel: a kernel, a name, or a function of two blocks of points. A "median" bandwidth is resolved as without `Normalized`.

    >>> Normalized(lambda x, y: (1.0 + x @ y.T) ** 2)([[1.0]], [[1.0], [3.0], [-1.0]])
    array([[1. , 0.8, 0. ]])
    """

    kernel: Kernel

    def __post_init__(self) -> None:
        """Turn a name or a function into a kernel."""
        object.__setattr__(self, "kernel", as_kernel(self.kernel))

    @property
    def k0(self) -> float:
        """k(x, x) = 1."""
        return 1.0

    @property
    def identity(self) -> Mapping[str, Any]:
        """The identity of the kernel inside."""
        return {"kernel": "Normalized", "of": dict(self.kernel.identity)}

    @property
    def is_resolved(self) -> bool:
        """Whether the kernel inside is."""
        return self.kernel.is_resolved

    def resolve(self, points: PointsLike, *, random_state: RandomState = None) -> "Normalized":
        """Resolve the kernel inside."""
        return Normalized(self.kernel.resolve(points, random_state=random_state))

    def resolved_by(self, bandwidth: float) -> "Normalized":
        """Set this bandwidth in the kernel inside."""
        return Normalized(self.kernel.resolved_by(bandwidth))

    def check_width(self, width: int) -> None:
        """Check the kernel inside."""
        self.kernel.check_width(width)

    def check_on(self, points: Floats, *, differences: bool = False) -> None:
        """Check the kernel inside, and that k(x, x) is positive.

        It must be positive definite even where differences alone count: normalized, a conditionally definite one is neither.
        """
        self.kernel.check_on(points)
        self._lengths(points)

    def as_sum(self) -> tuple[tuple[float, Kernel], ...]:
        """The terms of a kernel with constant k(x, x), divided by it."""
        constant = self._constant
        if constant is None:
            return ((1.0, self),)
        return tuple((factor / constant, kernel) for factor, kernel in self.kernel.as_sum())

    def fill(self, left: Floats, right: Floats, out: Floats) -> None:
        """Write the Gram block of the kernel, then scale it."""
        self.kernel.fill(left, right, out)
        out /= self._lengths(left)[:, None]
        out /= self._lengths(right)

    def against(self, points: Floats) -> Callable[[Floats], Floats]:
        """Prepare the points, and their k(x, x), once for all calls."""
        return _AgainstNormalized(self, self.kernel.against(points), self._lengths(points))

    def on_device(self, home: Home, dtype: Any, origin: Floats) -> DeviceKernel:
        """Scale the values of the kernel there."""
        return Normed(self.kernel.on_device(home, dtype, origin))

    def paired(self, left: Floats, right: Floats) -> Floats:
        """Scale the values of the kernel."""
        return np.asarray(self.kernel.paired(left, right) / (self._lengths(left) * self._lengths(right)))

    def diagonal(self, points: Floats) -> Floats:
        """Return ones; refuse points of k(x, x) = 0."""
        self._lengths(points)
        return np.ones(points.shape[0])

    @property
    def has_spectrum(self) -> bool:
        """Whether the kernel inside has one; a constant factor does not change it."""
        return self.kernel.has_spectrum

    @property
    def is_radial(self) -> bool:
        """Whether the kernel inside is."""
        return self.kernel.is_radial

    @property
    def n_uniforms(self) -> int:
        """As many as the kernel inside needs."""
        return self.kernel.n_uniforms

    def frequencies(self, uniforms: Floats, n_inputs: int) -> Floats:
        """Draw from the spectral measure of the kernel inside."""
        return self.kernel.frequencies(uniforms, n_inputs)

    def mean_square_frequency(self, n_inputs: int) -> float:
        """Return that of the kernel inside."""
        return self.kernel.mean_square_frequency(n_inputs)

    def spread(self, uniforms: Floats) -> Floats:
        """Draw from the spread of the kernel inside."""
        return self.kernel.spread(uniforms)

    def scale(self, points: Floats) -> Floats:
        """Divide by the bandwidth of the kernel inside."""
        return self.kernel.scale(points)

    @property
    def _constant(self) -> float | None:
        try:
            return self.kernel.k0
        except InputTypeError:
            return None

    def _lengths(self, points: Floats) -> Floats:
        """Return sqrt(k(x, x)) for each row."""
        constant = self._constant
        if constant is not None:
            return np.full(points.shape[0], np.sqrt(constant))
        squares = self.kernel.diagonal(points)
        if not bool((squares > 0.0).all()):
            place = int(np.argmin(squares > 0.0))
            raise InputError(
                f"Normalized needs k(x, x) > 0 at every point, and {self.kernel!r} gives {squares[place]:.3g} at row {place}; "
                f"leave such rows out, or add a constant to the kernel"
            )
        return np.asarray(np.sqrt(squares))


@dataclass(frozen=True)
class _AgainstNormalized:
    """The Gram block with fixed points whose k(x, x) is known already."""

    kernel: Normalized
    inner: Callable[[Floats], Floats]
    lengths: Floats

    def __call__(self, left: Floats) -> Floats:
        out = self.inner(left)
        out /= self.kernel._lengths(left)[:, None]
        out /= self.lengths
        return out
