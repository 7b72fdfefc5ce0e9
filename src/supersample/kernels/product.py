"""Kernels that are products over the columns."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from supersample._stored import stored
from supersample._typing import Floats, Reals
from supersample.device.arrays import Array
from supersample.kernels.bandwidth import BANDWIDTH
from supersample.kernels.stationary import Stationary

__all__ = ["Laplacian"]


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

    def profile(self, distances: Reals) -> None:
        """exp(-r)."""
        np.negative(distances, out=distances)
        np.exp(distances, out=distances)

    def profile_at(self, xp: Any, exponents: Array) -> Array:
        """The exponents are those of the exponential."""
        return xp.exp(exponents)

    def mean_square_frequency(self, n_inputs: int) -> float:
        """Infinite: a Cauchy frequency has no mean square."""
        return np.inf

    def frequencies(self, uniforms: Floats, n_inputs: int) -> Floats:
        """Return independent Cauchy frequencies for each column."""
        return self.scale(np.tan(np.pi * (uniforms[:, :n_inputs] - 0.5)))
