"""Kernels of the Euclidean distance that are mixtures of Gaussians of different widths.

For each, a frequency is s g / bandwidth with g standard normal in R^d and s >= 0 independent of g: s = 1 gives the
Gaussian kernel, s^2 = 2 nu / chi^2_{2 nu} the Matern kernels (a multivariate t), s^2 = 2 Exp(1) the Cauchy kernel.
So independent, orthogonal and quasi-random frequencies and Fastfood use the same rule.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import special

from supersample._stored import NUMBER, stored
from supersample._typing import Floats, Reals
from supersample.device.arrays import Array
from supersample.errors import InputError, InputTypeError
from supersample.kernels.bandwidth import BANDWIDTH
from supersample.kernels.stationary import Stationary

__all__ = ["Cauchy", "Gaussian", "Matern", "Radial"]

#: exp(-_FAR) is 0 in float64.
_FAR = 1e3


@dataclass(frozen=True)
class Radial(Stationary):
    """A stationary kernel of the Euclidean distance, a Gaussian of random width."""

    @property
    def metric(self) -> Literal["l1", "squared_l2"]:
        """The squared Euclidean distance."""
        return "squared_l2"

    @property
    def is_radial(self) -> bool:
        """True for every kernel of this class."""
        return True

    @property
    def n_uniforms(self) -> int:
        """One, for s."""
        return 1

    @abstractmethod
    def spread(self, uniforms: Floats) -> Floats:
        """Map uniforms (n x n_uniforms) to draws of s, which rise with the first uniform; the Gaussian kernel has s = 1."""

    @property
    def mean_square_spread(self) -> float:
        """The mean of s^2, which may be infinite."""
        raise InputTypeError(f"{self!r} does not say what the mean of s^2 is; give its class a mean_square_spread")

    def mean_square_frequency(self, n_inputs: int) -> float:
        """Return E s^2 times the sum over columns of 1 / bandwidth^2."""
        return self.mean_square_spread * float((self.scale(np.ones((1, n_inputs))) ** 2).sum())

    def frequencies(self, uniforms: Floats, n_inputs: int) -> Floats:
        """Return s g / bandwidth, g from the first `n_inputs` columns of `uniforms` and s from the next."""
        directions = special.ndtri(uniforms[:, :n_inputs])
        return self.scale(directions * self.spread(uniforms[:, n_inputs:])[:, None])


@stored("Gaussian", {"bandwidth": BANDWIDTH})
@dataclass(frozen=True)
class Gaussian(Radial):
    """The Gaussian kernel exp(-|x - y|^2 / (2 bandwidth^2)) (Paige, Sejdinovic and Wood 2016, eq. 31).

    >>> Gaussian(1.0)([[0.0]], [[0.0], [1.0]]).round(4)
    array([[1.    , 0.6065]])
    """

    @property
    def is_smooth(self) -> bool:
        """True: it is a function of the squared distance."""
        return True

    def profile(self, distances: Reals) -> None:
        """exp(-r^2 / 2)."""
        distances *= -0.5
        np.exp(distances, out=distances)

    def profile_at(self, xp: Any, exponents: Array) -> Array:
        """The exponents are those of the exponential."""
        return xp.exp(exponents)

    @property
    def n_uniforms(self) -> int:
        """None: s is not random."""
        return 0

    @property
    def mean_square_spread(self) -> float:
        """s = 1."""
        return 1.0

    def spread(self, uniforms: Floats) -> Floats:
        """s = 1."""
        return np.ones(uniforms.shape[0])


@stored("Cauchy", {"bandwidth": BANDWIDTH})
@dataclass(frozen=True)
class Cauchy(Radial):
    """The Cauchy (rational quadratic) kernel 1 / (1 + |x - y|^2 / bandwidth^2), with heavy tails.

    >>> Cauchy(2.0)([[0.0]], [[0.0], [2.0]])
    array([[1. , 0.5]])
    """

    @property
    def is_smooth(self) -> bool:
        """True: it is a function of the squared distance."""
        return True

    def profile(self, distances: Reals) -> None:
        """1 / (1 + r^2)."""
        distances += 1.0
        np.reciprocal(distances, out=distances)

    def profile_at(self, xp: Any, exponents: Array) -> Array:
        """1 / (1 + r^2), with r^2 = -2 times the exponent."""
        return 1.0 / (1.0 - 2.0 * xp.where(exponents < 0.0, exponents, xp.zeros_like(exponents)))

    @property
    def mean_square_spread(self) -> float:
        """E s^2 = 2."""
        return 2.0

    def spread(self, uniforms: Floats) -> Floats:
        """s^2 = 2 Exp(1), since 1 / (1 + r^2) is the mean of exp(-t r^2) over t from Exp(1)."""
        return np.sqrt(-2.0 * np.log1p(-uniforms[:, 0]))


@stored("Matern", {"bandwidth": BANDWIDTH, "nu": NUMBER})
@dataclass(frozen=True)
class Matern(Radial):
    """The Matern kernel of smoothness nu = 1/2, 3/2 or 5/2; nu = 1/2 is exp(-|x - y| / bandwidth).

    >>> Matern(nu=0.5, bandwidth=1.0)([[0.0]], [[0.0], [1.0]]).round(4)
    array([[1.    , 0.3679]])
    """

    nu: float = 1.5

    def __init__(self, nu: float = 1.5, bandwidth: Any = "median") -> None:
        """Take the smoothness first, as is usual."""
        if nu not in (0.5, 1.5, 2.5):
            raise InputError(f"nu of Matern must be 0.5, 1.5 or 2.5, got {nu!r}")
        object.__setattr__(self, "nu", float(nu))
        object.__setattr__(self, "bandwidth", bandwidth)
        self.__post_init__()

    @property
    def identity(self) -> Mapping[str, Any]:
        """Name, bandwidth and smoothness."""
        return {**super().identity, "nu": self.nu}

    @property
    def is_smooth(self) -> bool:
        """Whether it has a derivative at distance zero."""
        return self.nu > 0.5

    def profile(self, distances: Reals) -> None:
        """With t = sqrt(2 nu) r: e^-t times 1, 1 + t, or 1 + t + t^2 / 3."""
        distances *= 2.0 * self.nu
        np.sqrt(distances, out=distances)
        np.minimum(distances, _FAR, out=distances)  # an infinite distance times e^-inf would be NaN
        decay = np.exp(-distances)
        if self.nu == 0.5:
            distances[...] = decay
        elif self.nu == 1.5:
            distances += 1.0
            distances *= decay
        else:
            distances[...] = (1.0 + distances + distances * distances / 3.0) * decay

    def profile_at(self, xp: Any, exponents: Array) -> Array:
        """The same, with t^2 = 2 nu r^2 = -4 nu times the exponent."""
        squares = -4.0 * self.nu * exponents
        t = xp.sqrt(xp.where(squares > 0.0, squares, xp.zeros_like(squares)))
        decay = xp.exp(-t)
        if self.nu == 0.5:
            return decay
        return (1.0 + t) * decay if self.nu == 1.5 else (1.0 + t + t * t / 3.0) * decay

    @property
    def mean_square_spread(self) -> float:
        """E 2 nu / chi^2_{2 nu} = nu / (nu - 1), infinite for nu = 1/2."""
        return self.nu / (self.nu - 1.0) if self.nu > 1.0 else np.inf

    def spread(self, uniforms: Floats) -> Floats:
        """s^2 = 2 nu / chi^2_{2 nu}; taken from the upper tail, so that s rises with the uniform as for the other kernels."""
        return np.asarray(np.sqrt(self.nu / special.gammainccinv(self.nu, uniforms[:, 0])))
