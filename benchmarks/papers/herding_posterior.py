"""Figure 2 of Huszar and Duvenaud (2012): a function, its posterior after a few calls, and that of its integral."""

from pathlib import Path

import numpy as np
from scipy.stats import norm, t

import supersample as ss
from benchmarks.papers.figures import panels, write_numbers

__all__ = ["figure2"]

_CALLS = 6
#: p(x), and f(x) as three bumps, one outside of the mass of p; the paper gives neither.
_MEASURE = ss.measures.GaussianMixture([1.0], [[0.0]], [[[1.0]]])
_BUMPS = ((1.0, -1.2, 0.7), (0.8, 0.9, 0.5), (-0.6, 2.5, 0.8))


def _function(x: np.ndarray) -> np.ndarray:
    return np.asarray(sum(height * np.exp(-0.5 * ((x - centre) / width) ** 2) for height, centre, width in _BUMPS))


def figure2(out: Path) -> None:
    """Draw the posterior of f by `Integral.predict`, and that of the integral."""
    found = ss.integrate(
        lambda x: _function(x[:, 0]), _MEASURE, _CALLS, kernel=ss.kernels.Gaussian(0.8), vectorized=True, random_state=0
    )
    truth = sum(
        height * width / np.sqrt(1.0 + width**2) * np.exp(-0.5 * centre**2 / (1.0 + width**2))
        for height, centre, width in _BUMPS
    )
    grid = np.linspace(-4.0, 4.0, 401)
    mean, sd = found.predict(grid[:, None])
    inside = float(np.mean(np.abs(_function(grid) - mean) <= 2.0 * sd))
    with panels(out / "figure-2", 2) as (left, right):
        left.fill_between(grid, mean - 2.0 * sd, mean + 2.0 * sd, color="#0072B2", alpha=0.2, label="2 standard deviations")
        left.plot(grid, _function(grid), color="black", label="f")
        left.plot(grid, mean, color="#0072B2", linestyle="--", label="posterior mean")
        left.plot(grid, norm.pdf(grid), color="0.6", linestyle=":", label="p(x)")
        left.plot(found.points[:, 0], found.values, "o", color="#D55E00", label="calls")
        left.set(title=f"(a) f after {_CALLS} calls", xlabel="x")
        left.legend(loc="lower left", fontsize=7)
        around = np.linspace(found.mean - 4.0 * found.sd, found.mean + 4.0 * found.sd, 201)
        scale = found.sd * np.sqrt((_CALLS - 3.0) / (_CALLS - 1.0))  # Student t with n - 1 degrees of freedom
        right.plot(around, t.pdf(around, _CALLS - 1, found.mean, scale), color="#0072B2", label="posterior of the integral")
        right.axvline(truth, color="black", label="the integral")
        right.set(title="(b) its integral against p", xlabel="Z")
        right.legend(fontsize=7)
    print(
        f"figure 2     {_CALLS} calls: integral {found.mean:.4f} +- {found.sd:.4f}, truth {truth:.4f}; f is within 2 standard "
        f"deviations on {inside:.0%} of [-4, 4]; trusted: {found.trusted}"
    )
    write_numbers(out / "figure-2", {"calls": _CALLS, "mean": found.mean, "sd": found.sd, "truth": truth, "f_inside": inside})
