"""The distribution of sum_l lambda_l chi^2_1: the limit of a degenerate V-statistic such as MMD^2 under the null."""

import numpy as np
from scipy import optimize, special

from supersample._typing import Floats
from supersample.errors import InputError

__all__ = ["quantile", "survival"]

#: Weights below this share of the largest do not change the result in float64.
_NEGLIGIBLE = 1e-12
#: Distance from the mean, in standard deviations, within which the saddlepoint formula is 0 / 0 and is interpolated.
_NEAR_MEAN = 1e-3
#: More than this many standard deviations below the mean, the probability is 1 in float64.
_CERTAIN = 9.0
#: Probabilities below this come from the saddlepoint formula; its error is relative, not absolute.
_FAR_TAIL = 1e-5
#: Terms of the inversion summed at a time, and their largest number.
_TERMS, _MOST_TERMS = 512, 1 << 17
#: Weights below this share of the largest enter the inversion together, as one normal variable.
_SMALL = 1e-3


def survival(x: float, weights: Floats) -> float:
    """Return P(sum_l weights_l chi^2_1 > x).

    By inversion of the characteristic function (Imhof 1961, as a midpoint sum) to about 1e-6, and below 1e-5 by the saddlepoint
    formula of Lugannani and Rice (Kuonen 1999) to a few per cent of the probability. A single weight gives a gamma
    distribution. Never zero: at least the smallest normal float64.

    >>> round(survival(3.841459, np.array([1.0])), 6)
    0.05
    """
    kept = _kept(weights)
    if x <= 0:
        return 1.0
    # Scale to mean 1: the same probabilities, and no overflow.
    scale = kept.sum()
    kept, x = kept / scale, x / scale
    if kept.size == 1:
        return max(float(special.gammaincc(0.5, 0.5 * x)), np.finfo(np.float64).tiny)
    # The saddlepoint value decides which formula is used: in the far tail the inversion is rounding error.
    far = _saddlepoint_survival(x, kept)
    return far if far < _FAR_TAIL else max(_inversion(x, kept), _FAR_TAIL)


def quantile(level: float, weights: Floats, *, precision: float = 1e-9) -> float:
    """Return the x with P(sum_l weights_l chi^2_1 <= x) = level, to a precision relative to the mean."""
    kept = _kept(weights)
    mean, deviation = float(kept.sum()), float(np.sqrt(2.0 * (kept @ kept)))
    low, high = mean, mean + deviation
    while survival(high, kept) > 1.0 - level:
        low, high = high, 2.0 * high
    while survival(low, kept) < 1.0 - level:
        low, high = low / 4.0, low
    return float(
        optimize.brentq(
            lambda x: survival(x, kept) - (1.0 - level), low, high, xtol=precision * mean, rtol=max(precision, 1e-9)
        )
    )


def _inversion(x: float, weights: Floats) -> float:
    """Sum 1/2 + 1/pi sum_k sin(theta(u) - u x) / ((k + 1/2) rho(u)) at u = (k + 1/2) step.

    theta = 1/2 sum atan(2 lambda u), rho = prod (1 + 4 lambda^2 u^2)^1/4. The step is small enough that the aliases of the
    distribution lie beyond its tail; the terms are summed until an alternating remainder is below 1e-8.
    """
    largest = float(weights.max())
    large, small = weights[weights >= _SMALL * largest], weights[weights < _SMALL * largest]
    mean, variance = float(small.sum()), 2.0 * float(small @ small)
    step = 2.0 * np.pi / (x + 1.0 + 60.0 * largest)
    total = 0.5
    for first in range(0, _MOST_TERMS, _TERMS):
        order = np.arange(first, first + _TERMS) + 0.5
        u = step * order
        arguments = 2.0 * u[:, None] * large
        angle = 0.5 * np.arctan(arguments).sum(axis=1) - u * (x - mean)
        decay = 0.25 * np.log1p(arguments * arguments).sum(axis=1) + 0.5 * variance * u * u
        size = np.exp(-decay) / (np.pi * order)
        total += float(np.sin(angle) @ size)
        if size[-1] < 1e-8 * max(1.0, step * x):
            break
    return float(min(1.0, max(0.0, total)))


def _saddlepoint_survival(x: float, weights: Floats) -> float:
    """With K(t) = -1/2 sum log(1 - 2 t lambda) and K'(t) = x: 1 - Phi(w) + phi(w) (1/v - 1/w).

    w = sign(t) sqrt(2 (t x - K)), v = t sqrt(K''). Both are 0 at the mean; near it, the values at two neighbours are
    interpolated.
    """
    deviation = np.sqrt(2.0 * float(weights @ weights))
    gap = (x - 1.0) / deviation
    if abs(gap) < _NEAR_MEAN:
        left, right = (_lugannani_rice(1.0 + side * _NEAR_MEAN * deviation, weights) for side in (-1.0, 1.0))
        share = (gap + _NEAR_MEAN) / (2.0 * _NEAR_MEAN)
        return float((1.0 - share) * left + share * right)
    return _lugannani_rice(x, weights)


def _kept(weights: Floats) -> Floats:
    largest = float(weights.max(initial=0.0))
    kept = weights[weights > _NEGLIGIBLE * largest]
    if kept.size == 0:
        raise InputError("the weights of a chi-squared mixture must not all be zero: the data do not vary")
    return kept


def _lugannani_rice(x: float, weights: Floats) -> float:
    t = _saddlepoint(x, weights)
    inner = 1.0 - 2.0 * t * weights
    exponent = t * x + 0.5 * float(np.log(inner).sum())
    w = np.sign(t) * np.sqrt(2.0 * max(exponent, 0.0))
    if w < -_CERTAIN:
        return 1.0
    v = t * np.sqrt(2.0 * float(((weights / inner) ** 2).sum()))
    # log of the normal density and tail, so that the ratio to the density stays finite in the far tail.
    log_density = -0.5 * w * w - 0.5 * np.log(2.0 * np.pi)
    tail = np.exp(special.log_ndtr(-w) - log_density) + (1.0 / v - 1.0 / w)
    value = np.exp(log_density) * max(float(tail), np.finfo(np.float64).tiny)
    return float(min(1.0, max(value, np.finfo(np.float64).tiny)))


def _saddlepoint(x: float, weights: Floats) -> float:
    """Solve K'(t) = sum lambda / (1 - 2 t lambda) = x; K' rises from 0 to infinity as t nears 1 / (2 max lambda)."""

    def slope(t: float) -> float:
        return float((weights / (1.0 - 2.0 * t * weights)).sum()) - x

    limit = 0.5 / float(weights.max())
    if x > 1.0:
        # At the bound the largest weight alone gives lambda / (1 - 2 t lambda) >= x.
        low, high = 0.0, limit * (1.0 - float(weights.max()) / x / (1.0 + 1e-9))
        high = max(high, limit * 1e-12)
        while slope(high) < 0:
            high = 0.5 * (high + limit)
    else:
        # At the lower bound each term is at most x / (2 size), so the sum is below x by more than rounding.
        low, high = -weights.size / x, 0.0
    return float(optimize.brentq(slope, low, high, xtol=1e-300, rtol=1e-14, maxiter=500))
