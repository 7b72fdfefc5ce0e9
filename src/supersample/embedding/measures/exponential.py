"""One-dimensional integrals of kernels p(rate |u|) exp(-rate |u|), p a polynomial: Laplacian and Matern.

In one dimension the Matern kernels are of this form, with rate sqrt(2 nu) / bandwidth; the Laplacian is a product of such
kernels over the columns, so its integrals against product measures are products of these.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from supersample._typing import Floats
from supersample.features.kernels import Kernel, Laplacian, Matern

__all__ = ["Decay", "decays", "normal_mean", "uniform_energy", "uniform_mean"]

_POLYNOMIALS = {0.5: (1.0,), 1.5: (1.0, 1.0), 2.5: (1.0, 1.0, 1.0 / 3.0)}


class Decay(NamedTuple):
    """One column's kernel sum_k coefficients_k (rate |u|)^k exp(-rate |u|)."""

    rate: float
    coefficients: tuple[float, ...]


def decays(kernel: Kernel, dimension: int) -> list[Decay] | None:
    """Return the factor of each column, or None where the kernel is no product of such factors."""
    if isinstance(kernel, Laplacian):
        return [Decay(1.0 / width, (1.0,)) for width in _widths(kernel.bandwidth, dimension)]
    if isinstance(kernel, Matern) and dimension == 1:
        (width,) = _widths(kernel.bandwidth, 1)
        return [Decay(float(np.sqrt(2.0 * kernel.nu)) / width, _POLYNOMIALS[kernel.nu])]
    return None


def uniform_mean(decay: Decay, low: float, high: float, points: Floats) -> Floats:
    """Return the mean of the kernel between y and a uniform x on [low, high], for each y.

    With G(t) the integral of the kernel from 0 to t, odd in t, it is (G(high - y) + G(y - low)) / (high - low).
    """
    return np.asarray((_primitive(decay, high - points, 0) + _primitive(decay, points - low, 0)) / (high - low))


def uniform_energy(decay: Decay, low: float, high: float) -> float:
    """Return the mean of the kernel between two uniform draws: 2 / w^2 times the integral of (w - t) k(t) over [0, w]."""
    width = np.array([high - low])
    value = width * _primitive(decay, width, 0) - _primitive(decay, width, 1)
    return float(2.0 * value[0] / width[0] ** 2)


def normal_mean(decay: Decay, mean: Floats, variance: npt.ArrayLike) -> Floats:
    """Return E k(u) for u ~ N(mean, variance).

    Completing the square turns exp(-rate u) N(u; mean, v) into exp(v rate^2 / 2 - rate mean) N(u; mean - rate v, v), and
    what is left are the moments of a normal on the half line; u < 0 is the mirror image. The factor may be beyond float64
    where the half line has next to no mass, so the two are multiplied as logarithms.
    """
    spread = np.sqrt(np.asarray(variance, dtype=np.float64))
    total = np.zeros(np.broadcast(mean, spread).shape)
    for side in (mean, -mean):
        shift = side / spread - decay.rate * spread
        log_factor = 0.5 * (decay.rate * spread) ** 2 - decay.rate * side
        mass = np.exp(log_factor + special.log_ndtr(shift))
        edge = np.exp(log_factor - 0.5 * shift**2) / np.sqrt(2.0 * np.pi)
        # Moments of a standard normal shifted by `shift` on the half line, in units of `spread`.
        moments = [mass, shift * mass + edge, (shift**2 + 1.0) * mass + shift * edge]
        for power, coefficient in enumerate(decay.coefficients):
            total += coefficient * (decay.rate * spread) ** power * moments[power]
    return np.asarray(total)


def _primitive(decay: Decay, t: Floats, power: int) -> Floats:
    """Return the integral of u^power k(u) from 0 to t; by incomplete gamma functions, which do not cancel for small t."""
    scaled = decay.rate * np.abs(t)
    total = np.zeros_like(scaled)
    for degree, coefficient in enumerate(decay.coefficients):
        order = degree + power
        total += coefficient * special.gamma(order + 1.0) * special.gammainc(order + 1.0, scaled)
    return np.asarray(np.sign(t) ** (power + 1) * total / decay.rate ** (power + 1))


def _widths(bandwidth: object, dimension: int) -> list[float]:
    return [float(width) for width in np.broadcast_to(np.asarray(bandwidth, dtype=np.float64), (dimension,))]
