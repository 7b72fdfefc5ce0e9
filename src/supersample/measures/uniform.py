"""The uniform measure on a box."""

import numpy as np
import numpy.typing as npt
from scipy import special

from supersample._random import Seed
from supersample._typing import Floats, Mask, PointsLike
from supersample._validation import check_points
from supersample.errors import InputError, InputTypeError, MismatchError
from supersample.kernels import Gaussian, Kernel
from supersample.measures.base import Measure
from supersample.measures.exponential import decays, uniform_energy, uniform_mean

__all__ = ["Uniform"]

#: Longest side; its square, in bandwidths, fits into float64.
_LONGEST = 1e100

#: Points may be outside the box by this share of its numbers: they are computed, 3 * 0.1 is not 0.3.
_ROUNDING = 1e-14

#: Axes of a box whose corners are written out.
_MOST_SHOWN = 4

#: Below this length, in bandwidths, the Gaussian kernel equals to rounding a polynomial that this many nodes integrate.
_SHORT, _NODES = 0.5, 20


class Uniform(Measure):
    """The uniform measure on the box [low_1, high_1] x ... x [low_d, high_d].

    z and E are products over the axes: of differences of erf for the Gaussian kernel, of exponentials for the Laplacian
    kernel; in one dimension also for the Matern kernels. O(n d).

    low, high: one number for each axis; plain numbers for one axis.

    >>> from supersample.kernels import Gaussian
    >>> Uniform([0.0, 0.0], [1.0, 2.0]).mean_embedding(Gaussian(1.0), [[0.5, 1.0]]).round(4)
    array([0.8213])
    """

    def __init__(self, low: npt.ArrayLike, high: npt.ArrayLike) -> None:
        """Fix the corners of the box."""
        self.low, self.high = _corner(low, "low"), _corner(high, "high")
        if self.low.shape != self.high.shape:
            raise MismatchError(
                f"low and high must have one number for each axis, got {self.low.size} and {self.high.size} numbers"
            )
        if not bool((self.low < self.high).all()):
            axis = int(np.argmax(self.low >= self.high))
            raise InputError(f"low must be below high on every axis, got {self.low[axis]} and {self.high[axis]} on axis {axis}")
        with np.errstate(over="ignore"):
            if not bool((self.high - self.low <= _LONGEST).all()):
                raise InputError(f"high - low must be at most {_LONGEST:g} on every axis; choose a smaller box")

    def __repr__(self) -> str:
        """Return the corners of the box, if they have few numbers."""
        if self.dimension > _MOST_SHOWN:
            return super().__repr__()
        low, high = (each.item() if each.size == 1 else each.tolist() for each in (self.low, self.high))
        return f"Uniform({low}, {high})"

    @property
    def dimension(self) -> int:
        """The number of axes."""
        return int(self.low.size)

    def contains(self, points: PointsLike) -> Mask:
        """Return for each row whether it lies in the box, whose edges count, to rounding."""
        rows = check_points(points, "points", width=self.dimension)
        slack = _ROUNDING * np.maximum(self.high - self.low, np.maximum(np.abs(self.low), np.abs(self.high)))
        return np.asarray(((rows >= self.low - slack) & (rows <= self.high + slack)).all(axis=1))

    def _draw(self, n: int, seed: Seed) -> Floats:
        return seed.generator().uniform(self.low, self.high, (n, self.dimension))

    def _is_closed(self, kernel: Kernel) -> bool:
        return isinstance(kernel, Gaussian) or decays(kernel, self.dimension) is not None

    def _embed(self, kernel: Kernel, rows: Floats) -> Floats:
        if isinstance(kernel, Gaussian):
            widths = np.broadcast_to(np.asarray(kernel.bandwidth, dtype=np.float64), (self.dimension,))
            value = np.ones(rows.shape[0])
            for axis, width in enumerate(widths):
                below, above = rows[:, axis] - self.low[axis], self.high[axis] - rows[:, axis]
                value *= _gaussian_mean(below / width, above / width, float(self.high[axis] - self.low[axis]) / width)
            return value
        value = np.ones(rows.shape[0])
        for axis, decay in enumerate(decays(kernel, self.dimension) or []):
            value *= uniform_mean(decay, float(self.low[axis]), float(self.high[axis]), rows[:, axis])
        return value

    def _energy(self, kernel: Kernel) -> float:
        if isinstance(kernel, Gaussian):
            t = (self.high - self.low) / np.asarray(kernel.bandwidth, dtype=np.float64)
            # expm1 keeps the digits of a box that is small beside the kernel.
            ends = t * np.sqrt(np.pi / 2.0) * special.erf(t / np.sqrt(2.0)) + np.expm1(-0.5 * t**2)
            return float((2.0 * ends / t**2).prod())
        value = 1.0
        for axis, decay in enumerate(decays(kernel, self.dimension) or []):
            value *= uniform_energy(decay, float(self.low[axis]), float(self.high[axis]))
        return value


def _gaussian_mean(below: Floats, above: Floats, length: float) -> Floats:
    """Return the mean of exp(-u^2 / 2) for u in [-below, above], intervals of one length.

    It is a sum of erf, or a difference of erfc where the interval is to one side of 0. For short intervals the terms cancel,
    and Gauss-Legendre quadrature is used: it is exact to rounding there.
    """
    if length < _SHORT:
        nodes, weights = np.polynomial.legendre.leggauss(_NODES)
        places = 0.5 * length * (nodes + 1.0) - below[:, None]
        return np.asarray(0.5 * np.exp(-0.5 * places**2) @ weights)
    sides = np.stack([below, above]) / np.sqrt(2.0)
    around = special.erf(sides).sum(axis=0)
    beside = special.erfc(np.abs(sides).min(axis=0)) - special.erfc(np.abs(sides).max(axis=0))
    return np.asarray(np.sqrt(np.pi / 2.0) * np.where(sides.min(axis=0) >= 0.0, around, beside) / length)


def _corner(values: npt.ArrayLike, name: str) -> Floats:
    array = np.atleast_1d(np.asarray(values))
    if array.dtype.kind not in "iuf" or array.ndim != 1 or array.size == 0:
        raise InputTypeError(f"{name} must be a number, or one number for each axis, got {values!r}")
    if not bool(np.isfinite(array).all()):
        raise InputError(f"{name} must be finite, got {values!r}; a box without end has no uniform measure")
    return array.astype(np.float64)
