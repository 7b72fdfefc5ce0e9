"""Parameters of a Gaussian process by marginal likelihood."""

from typing import NamedTuple

import numpy as np
from scipy import linalg, optimize

from supersample._typing import Floats
from supersample.kernels import Kernel
from supersample.kernels.stationary import Stationary

__all__ = ["Prior", "fitted", "log_likelihood"]

#: Jitter on the diagonal, relative to k(x, x), so that a trial width that makes K singular still has a likelihood.
_JITTER = 1e-10
_WIDEST = float(np.log(1e3))


class Prior(NamedTuple):
    """f ~ GP(0, amplitude^2 kernel), observed with independent noise."""

    amplitude: float
    kernel: Kernel
    noise: float


def log_likelihood(prior: Prior, points: Floats, values: Floats) -> float:
    """Return log p(f | X) = -f^T K^-1 f / 2 - log|K| / 2 - n log(2 pi) / 2, K with amplitude and noise. O(n^3)."""
    gram = prior.amplitude**2 * prior.kernel(points)
    gram[np.diag_indices_from(gram)] += prior.noise**2 + _JITTER * np.diag(gram).max()
    try:
        root = linalg.cholesky(gram, lower=True, check_finite=False)
    except linalg.LinAlgError:
        return -np.inf
    half = linalg.solve_triangular(root, values, lower=True, check_finite=False)
    return float(-0.5 * half @ half - np.log(np.diag(root)).sum() - 0.5 * values.size * np.log(2.0 * np.pi))


def fitted(start: Prior, points: Floats, values: Floats, parts: frozenset[str]) -> Prior:
    """Return the prior that maximises the likelihood of the values over the named parts: amplitude, width, noise.

    Width is one factor on the bandwidth, or one for each column if the kernel has a bandwidth for each; kernels without a
    bandwidth do not change. The search starts from several widths and takes quasi-Newton steps on logarithms.
    """
    size = float(np.sqrt(np.mean(values**2))) or 1.0
    kernel = start.kernel
    widths = 0
    if "width" in parts and isinstance(kernel, Stationary):
        widths = len(kernel.bandwidth) if isinstance(kernel.bandwidth, tuple) else 1

    def prior_of(vector: Floats) -> Prior:
        rest = list(vector)
        amplitude = size * float(np.exp(rest.pop(0))) if "amplitude" in parts else start.amplitude
        noise = size * float(np.exp(rest.pop(0))) if "noise" in parts else start.noise
        if widths == 0 or not isinstance(kernel, Stationary):
            return Prior(amplitude, kernel, noise)
        factors = np.exp(np.array(rest))
        scaled = (np.atleast_1d(np.asarray(kernel.bandwidth, dtype=np.float64)) * factors).tolist()
        return Prior(amplitude, kernel.with_bandwidth(tuple(scaled) if widths > 1 else scaled[0]), noise)

    def loss(vector: Floats) -> float:
        value = log_likelihood(prior_of(vector), points, values)
        return -value / values.size if np.isfinite(value) else 1e10

    head = [0.0] * ("amplitude" in parts) + [-3.0] * ("noise" in parts)
    limits = [(-7.0, 7.0)] * len(head) + [(-_WIDEST, _WIDEST)] * widths
    best, best_loss = None, np.inf
    for factor in (0.0, -1.0, 1.0) if widths else (0.0,):
        found = optimize.minimize(loss, np.array(head + [factor] * widths), method="L-BFGS-B", bounds=limits)
        if found.fun < best_loss:
            best, best_loss = found.x, float(found.fun)
    return start if best is None else prior_of(np.asarray(best))
