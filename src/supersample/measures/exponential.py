"""One-dimensional integrals of kernels p(rate |u|) exp(-rate |u|), p a polynomial: Laplacian and Matern.

In one dimension the Matern kernels are of this form, with rate sqrt(2 nu) / bandwidth; the Laplacian is a product of such
kernels over the columns, so its integrals against product measures are products of these.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from supersample._typing import Floats
from supersample.kernels import Kernel, Laplacian, Matern

__all__ = ["Decay", "decays", "normal_mean", "uniform_energy", "uniform_mean"]

#: Moments of the half line beyond _FAR come from the continued fraction; with _TERMS terms it is exact to rounding.
_FAR, _TERMS = 2.0, 80
_POLYNOMIALS = {0.5: (1.0,), 1.5: (1.0, 1.0), 2.5: (1.0, 1.0, 1.0 / 3.0)}


class Decay(NamedTuple):
    """One column's kernel sum_k coefficients_k (rate |u|)^k exp(-rate |u|)."""

    rate: float
    coefficients: tuple[float, ...]


def decays(kernel: Kernel, dimension: int) -> list[Decay] | None:
    """Return the factor of each column, or None if the kernel is not a product of such factors."""
    if isinstance(kernel, Laplacian):
        return [Decay(1.0 / width, (1.0,)) for width in _widths(kernel.bandwidth, dimension)]
    if isinstance(kernel, Matern) and dimension == 1:
        (width,) = _widths(kernel.bandwidth, 1)
        return [Decay(float(np.sqrt(2.0 * kernel.nu)) / width, _POLYNOMIALS[kernel.nu])]
    return None


def uniform_mean(decay: Decay, low: float, high: float, points: Floats) -> Floats:
    """Return the mean of the kernel between y and a uniform x on [low, high], for each y.

    For y inside the interval it is the integral over [0, high - y] and [0, y - low]; for y outside, over the distances from y
    to the interval. Each is a sum of positive terms, so no digits are lost however narrow or wide the kernel is.
    """
    nearest = np.maximum(np.maximum(points - high, low - points), 0.0)
    above, below = np.clip(high - points, 0.0, high - low), np.clip(points - low, 0.0, high - low)
    return np.asarray((_stretch(decay, nearest, above) + _stretch(decay, nearest, below)) / (high - low))


def uniform_energy(decay: Decay, low: float, high: float) -> float:
    """Return the mean of the kernel between two uniform draws: 2 / w^2 times the integral of (w - t) k(t) over [0, w]."""
    width = np.array([high - low])
    value = width * _primitive(decay, width, 0) - _primitive(decay, width, 1)
    return float(2.0 * value[0] / width[0] ** 2)


def normal_mean(decay: Decay, mean: Floats, variance: npt.ArrayLike) -> Floats:
    """Return E k(u) for u ~ N(mean, variance).

    With a = rate s, b = mean / s and t = u / s, the half line u > 0 gives phi(b) sum_n c_n a^n J_n(a - b), phi the standard
    normal density and J_n(x) the integral of t^n exp(-t^2 / 2 - x t) over t > 0; u < 0 is the mirror image. All terms are
    positive, so the result is accurate if every J_n is (`_half_line`).
    """
    spread = np.sqrt(np.asarray(variance, dtype=np.float64))
    a = np.asarray(decay.rate * spread)
    total = np.zeros(np.broadcast(mean, spread).shape)
    for side in (mean, -mean):
        for power, moment in enumerate(_half_line(a, np.asarray(side / spread), len(decay.coefficients))):
            total += decay.coefficients[power] * a**power * moment
    return np.asarray(total)


def _half_line(a: Floats, b: Floats, count: int) -> list[Floats]:
    """Return phi(b) J_n(a - b) for n = 0, 1, ..., count - 1, count at most 3.

    J_0 is Mills' ratio, and J_1 = 1 - x J_0, J_2 = J_0 - x J_1. For large x those differences cancel; there the ratios
    J_n+1 / J_n = (n + 1) / (x + J_n+2 / J_n+1), Laplace's continued fraction, are evaluated from the last term back,
    without any difference.
    """
    x = np.asarray(a - b)
    edge = np.exp(-0.5 * b**2) / np.sqrt(2.0 * np.pi)
    right = x > 0.0
    # For x <= 0 phi(b) may vanish while J_0 overflows: there the square is completed and the product computed directly.
    at_left = np.exp(np.where(right, -np.inf, 0.5 * np.square(a) - a * b)) * special.ndtr(-x)
    moments = [np.where(right, edge * np.sqrt(np.pi / 2.0) * special.erfcx(np.where(right, x, 0.0) / np.sqrt(2.0)), at_left)]
    if count == 1:
        return moments
    first = edge - x * moments[0]
    moments += [first, moments[0] - x * first]
    far = x > _FAR
    if bool(far.any()):
        ratio = np.zeros(int(far.sum()))
        for order in range(_TERMS, 1, -1):
            ratio = order / (x[far] + ratio)
        above = 1.0 / (x[far] + ratio)
        moments[1][far] = moments[0][far] * above
        moments[2][far] = moments[1][far] * ratio
    return moments[:count]


def _stretch(decay: Decay, start: Floats, length: Floats) -> Floats:
    """Return the integral of k(u) over [start, start + length], by incomplete gamma functions.

    k(start + t) is exp(-rate start) times a polynomial in rate t with positive coefficients, times exp(-rate t).
    """
    x, scaled = decay.rate * start, decay.rate * length
    total = np.zeros_like(scaled)
    for degree in range(len(decay.coefficients)):
        shifted = sum(
            coefficient * special.comb(power, degree) * x ** (power - degree)
            for power, coefficient in enumerate(decay.coefficients)
            if power >= degree
        )
        total += shifted * special.gamma(degree + 1.0) * special.gammainc(degree + 1.0, scaled)
    return np.asarray(np.exp(-x) * total / decay.rate)


def _primitive(decay: Decay, t: Floats, power: int) -> Floats:
    """Return the integral of u^power k(u) from 0 to t by incomplete gamma functions; they do not cancel for small t."""
    total = np.zeros_like(t)
    for degree, coefficient in enumerate(decay.coefficients):
        order = degree + power
        total += coefficient * special.gamma(order + 1.0) * special.gammainc(order + 1.0, decay.rate * t)
    return np.asarray(total / decay.rate ** (power + 1))


def _widths(bandwidth: object, dimension: int) -> list[float]:
    return [float(width) for width in np.broadcast_to(np.asarray(bandwidth, dtype=np.float64), (dimension,))]
