"""One Gaussian process whose mean and amplitude are integrated out: evidence, integral, values elsewhere, residuals."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import linalg, special

from supersample._typing import Floats
from supersample.kernels import Kernel

__all__ = ["Marginal", "Prior", "Residuals", "marginal", "tail"]

#: Noise that every prior has, as a share of k(x, x), so that K can be factored for kernels wide beside the points.
_JITTER = 1e-12
#: Share of the residual sum of squares that a value left out cannot take away: the rest would be rounding.
_LEAST = 1e-12


class Prior(NamedTuple):
    """f = m + a g with g ~ GP(0, k), m flat; a is flat in log a if amplitude is None. ratio: variance of the noise / a^2.

    odds: its probability before there are values, beside that of the other priors.
    """

    kernel: Kernel
    ratio: float
    amplitude: float | None
    odds: float = 1.0


class Residuals(NamedTuple):
    """Values less what the other values predict: in standard deviations, with the log density that was predicted there."""

    standardised: Floats
    log_density: Floats


@dataclass(frozen=True)
class Marginal:
    """The posterior of f under one prior; y are the values, K includes the noise.

    m = 1^T K^-1 y / 1^T K^-1 1 and a^2 = (y - m)^T K^-1 (y - m) / (n - 1). Given y, every linear functional of f is Student t
    with n - 1 degrees of freedom, or Gaussian if the amplitude is given.

    root: L with L L^T = K; ones: L^-1 1; rest: L^-1 (y - m). freedom: n - 1, or infinity if the amplitude is given.
    evidence: log p(y) of the prior times its odds, up to a constant that is the same for all priors.
    """

    prior: Prior
    points: Floats
    root: Floats
    ones: Floats
    rest: Floats
    mean: float
    amplitude: float
    freedom: float
    evidence: float

    @property
    def variance(self) -> float:
        """The variance of a functional of g with variance 1: a^2 (n - 1) / (n - 3), infinite for fewer than 4 values."""
        if np.isinf(self.freedom):
            return self.amplitude**2
        return self.amplitude**2 * self.freedom / (self.freedom - 2.0) if self.freedom > 2.0 else np.inf

    def halves(self, across: Floats) -> Floats:
        """Return L^-1 of one column, or of several."""
        return np.asarray(linalg.solve_triangular(self.root, across, lower=True, check_finite=False))

    def weights(self, z: Floats) -> Floats:
        """Return w with posterior mean w^T y, for the functional with covariances z to the values: they sum to one.

        w = K^-1 (z + 1 (1 - 1^T K^-1 z) / 1^T K^-1 1).
        """
        half = self.halves(z)
        moved = half + self.ones * (1.0 - half @ self.ones) / (self.ones @ self.ones)
        return np.asarray(linalg.solve_triangular(self.root, moved, lower=True, trans=1, check_finite=False))

    def share(self, z: Floats, energy: float) -> float:
        """Return E - z^T K^-1 z + (1 - z^T K^-1 1)^2 / 1^T K^-1 1, the posterior variance beside `variance`."""
        half = self.halves(z)
        return float(energy - half @ half + (1.0 - half @ self.ones) ** 2 / (self.ones @ self.ones))

    def predict(self, rows: Floats) -> tuple[Floats, Floats]:
        """Return mean and variance of f at rows (Huszar and Duvenaud 2012, eq. 10 and 11, with m and a integrated out)."""
        across = np.empty((self.points.shape[0], rows.shape[0]))
        self.prior.kernel.fill(self.points, rows, across)
        half = self.halves(across)
        left = self.prior.kernel.diagonal(rows) - np.einsum("ij,ij->j", half, half)
        left += (1.0 - self.ones @ half) ** 2 / (self.ones @ self.ones)
        return self.mean + self.rest @ half, np.maximum(left, np.finfo(float).tiny) * self.variance

    def residuals(self) -> Residuals:
        """Return the residual of each value after the others, without fitting again.

        With Q = K^-1 - K^-1 1 1^T K^-1 / 1^T K^-1 1 they are (Q y)_i / Q_ii, with variance a_i^2 / Q_ii, where a_i is the
        amplitude from the other values. They are Student t with n - 2 degrees of freedom. O(n^3).
        """
        inverse = self.halves(np.eye(self.rest.size))
        pulled, across = self.rest @ inverse, self.ones @ inverse
        own = np.einsum("ij,ij->j", inverse, inverse)
        q = np.maximum(own - across**2 / (self.ones @ self.ones), _LEAST * own)
        if np.isinf(self.freedom):
            left = np.full(q.size, self.amplitude**2)
        else:
            total = self.freedom * self.amplitude**2
            left = np.maximum(total - pulled**2 / q, _LEAST * total) / (self.freedom - 1.0)
        standardised = pulled / np.sqrt(q * left)
        return Residuals(standardised, _log_density(standardised, self.freedom - 1.0) + 0.5 * np.log(q / left))


def marginal(prior: Prior, points: Floats, gram: Floats, values: Floats, grain: float) -> Marginal | None:
    """Return the posterior of f, or None if K cannot be factored. O(n^3).

    gram: the kernel between the points, without noise. grain: the rounding error of the values.

    The evidence is -log|K| / 2 - log(1^T K^-1 1) / 2 - (n - 1) log((y - m)^T K^-1 (y - m)) / 2.
    """
    size = values.size
    noisy = gram.copy()
    noisy[np.diag_indices_from(gram)] += prior.ratio + _JITTER * float(np.diag(gram).max())
    try:
        root = linalg.cholesky(noisy, lower=True, check_finite=False)
    except linalg.LinAlgError:
        return None
    both = linalg.solve_triangular(root, np.column_stack([np.ones(size), values]), lower=True, check_finite=False)
    ones, half = both[:, 0], both[:, 1]
    precision = float(ones @ ones)
    mean = float(ones @ half) / precision
    rest = half - mean * ones
    square = max(float(rest @ rest), size * grain**2)
    evidence = np.log(prior.odds) - float(np.log(np.diag(root)).sum()) - 0.5 * np.log(precision)
    if prior.amplitude is not None:
        amplitude, freedom = prior.amplitude, np.inf
        evidence -= 0.5 * square / amplitude**2 + (size - 1) * np.log(amplitude)
    else:
        amplitude, freedom = float(np.sqrt(square / max(1, size - 1))), float(size - 1)
        evidence -= 0.5 * (size - 1) * np.log(square)
    return Marginal(prior, points, root, ones, rest, mean, amplitude, freedom, float(evidence))


def tail(values: Floats, freedom: float) -> Floats:
    """Return P(t < value) for Student's t, normal if the degrees of freedom are infinite."""
    return np.asarray(special.ndtr(values) if np.isinf(freedom) else special.stdtr(freedom, values))


def _log_density(values: Floats, freedom: float) -> Floats:
    if np.isinf(freedom):
        return np.asarray(-0.5 * values**2 - 0.5 * np.log(2.0 * np.pi))
    constant = special.gammaln(0.5 * (freedom + 1.0)) - special.gammaln(0.5 * freedom) - 0.5 * np.log(freedom * np.pi)
    return np.asarray(constant - 0.5 * (freedom + 1.0) * np.log1p(values**2 / freedom))
