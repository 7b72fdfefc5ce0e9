"""Kernels that are products over the columns."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from supersample._stored import NUMBER, any_of, stored, tuple_of
from supersample._typing import Floats
from supersample.errors import InputError, MismatchError
from supersample.kernels.bandwidth import BANDWIDTH, check_bandwidth
from supersample.kernels.base import Kernel
from supersample.kernels.stationary import Stationary

__all__ = ["Laplacian", "ProductMatern"]

#: exp(-_FAR) is 0 in float64.
_FAR = 1e3
#: Coefficients of the polynomial before exp(-t), t = sqrt(2 nu) |x - y| / bandwidth.
_POLYNOMIALS = {0.5: (1.0,), 1.5: (1.0, 1.0), 2.5: (1.0, 1.0, 1.0 / 3.0)}


@stored("Laplacian", {"bandwidth": BANDWIDTH})
@dataclass(frozen=True)
class Laplacian(Stationary):
    """The Laplacian kernel exp(-sum_k |x_k - y_k| / bandwidth_k): one exponential for each column.

    It is not a function of the Euclidean distance; Matern(nu=0.5) is.

    >>> Laplacian(1.0)([[0.0, 0.0]], [[1.0, 1.0]]).round(4)
    array([[0.1353]])
    """

    @property
    def metric(self) -> Literal["l1", "squared_l2"]:
        """The sum of absolute differences."""
        return "l1"

    def profile(self, distances: Floats) -> None:
        """exp(-r)."""
        np.negative(distances, out=distances)
        np.exp(distances, out=distances)

    def frequencies(self, uniforms: Floats, n_inputs: int) -> Floats:
        """Return independent Cauchy frequencies for each column."""
        return self.scale(np.tan(np.pi * (uniforms[:, :n_inputs] - 0.5)))


@stored("ProductMatern", {"nu": NUMBER, "bandwidth": any_of(NUMBER, tuple_of(NUMBER))})
@dataclass(frozen=True, eq=False, repr=False)
class ProductMatern(Kernel):
    """The product over the columns of one-dimensional Matern kernels of smoothness nu = 1/2, 3/2 or 5/2.

    Its integrals against boxes and Gaussians with diagonal covariances are products of one-dimensional ones, in closed form;
    those of `Matern`, a function of the Euclidean distance, are so in one dimension only, where the two are equal. nu = 1/2 is
    the Laplacian kernel. bandwidth: a number, or one for each column. O(n m d).

    >>> ProductMatern(1.5, 1.0)([[0.0, 0.0]], [[1.0, 1.0]]).round(4)
    array([[0.2336]])
    """

    nu: float
    bandwidth: float | tuple[float, ...]

    def __post_init__(self) -> None:
        """Bring the bandwidth to a float or a tuple of floats."""
        if self.nu not in _POLYNOMIALS:
            raise InputError(f"nu of ProductMatern must be 0.5, 1.5 or 2.5, got {self.nu!r}")
        width = check_bandwidth(self.bandwidth, "ProductMatern")
        if isinstance(width, str):
            raise InputError(f"bandwidth of ProductMatern must be a number, or one for each column, got {width!r}")
        object.__setattr__(self, "nu", float(self.nu))
        object.__setattr__(self, "bandwidth", width)

    @property
    def k0(self) -> float:
        """k(x, x) = 1."""
        return 1.0

    @property
    def identity(self) -> Mapping[str, Any]:
        """Name, smoothness and bandwidth."""
        width = list(self.bandwidth) if isinstance(self.bandwidth, tuple) else self.bandwidth
        return {"kernel": "ProductMatern", "nu": self.nu, "bandwidth": width}

    def check_width(self, width: int) -> None:
        """Refuse rows whose width differs from the number of bandwidths."""
        if isinstance(self.bandwidth, tuple) and len(self.bandwidth) != width:
            raise MismatchError(
                f"bandwidth of ProductMatern has {len(self.bandwidth)} values and the points have {width} columns; pass one "
                f"bandwidth for each column, or a single number"
            )

    def factors(self, width: int) -> list[tuple[float, tuple[float, ...]]]:
        """Return, for each column, the rate of its exponential and the coefficients of its polynomial."""
        self.check_width(width)
        widths = np.broadcast_to(np.asarray(self.bandwidth, dtype=np.float64), (width,))
        return [(float(np.sqrt(2.0 * self.nu) / each), _POLYNOMIALS[self.nu]) for each in widths]

    def fill(self, left: Floats, right: Floats, out: Floats) -> None:
        """Multiply the kernels of the columns."""
        out[...] = 1.0
        for column, (rate, coefficients) in enumerate(self.factors(left.shape[1])):
            out *= _decayed(rate * np.abs(left[:, column, None] - right[:, column]), coefficients)

    def paired(self, left: Floats, right: Floats) -> Floats:
        """Multiply the kernels of the columns, row by row."""
        value = np.ones(left.shape[0])
        for column, (rate, coefficients) in enumerate(self.factors(left.shape[1])):
            value *= _decayed(rate * np.abs(left[:, column] - right[:, column]), coefficients)
        return value


def _decayed(distances: Floats, coefficients: tuple[float, ...]) -> Floats:
    near = np.minimum(distances, _FAR)  # an infinite distance times exp(-inf) would be NaN
    return np.asarray(np.polynomial.polynomial.polyval(near, coefficients) * np.exp(-near))
