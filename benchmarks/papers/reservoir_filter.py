"""Super-sampling as the resampling step of a particle filter: section 6 of Paige, Sejdinovic and Wood (2016).

The model is the growth model of Gordon, Salmond and Smith (1993): x' = x / 2 + 25 x / (1 + x^2) + 8 cos(1.2 t) + N(0, 10),
y = x^2 / 20 + N(0, 1). Each of M particles has ten children, which are weighted by their likelihood; the resampling step keeps
M of them with equal weights. This is the setting that the paper points at, where memory for particles is scarce. The exact
filter is known by quadrature on a grid.
"""

from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

import supersample as ss
from benchmarks.papers.figures import panels, write_numbers
from benchmarks.papers.trials import one_thread_workers

__all__ = ["run"]

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]
Resample = Callable[[Floats, Floats, int, np.random.Generator], Indices]

_STEPS, _CHILDREN = 50, 10
_SIZES = (10, 20, 50, 100)
_NOISE = np.sqrt(10.0)


def _multinomial(particles: Floats, weights: Floats, m: int, rng: np.random.Generator) -> Indices:  # noqa: ARG001
    return rng.choice(weights.size, m, p=weights)


def _systematic(particles: Floats, weights: Floats, m: int, rng: np.random.Generator) -> Indices:  # noqa: ARG001
    return np.minimum(np.searchsorted(np.cumsum(weights), (np.arange(m) + rng.random()) / m), weights.size - 1)


def _sorted(particles: Floats, weights: Floats, m: int, rng: np.random.Generator) -> Indices:
    order = np.argsort(particles)
    return order[_systematic(particles, weights[order], m, rng)]


def _super_sampled(kernel: str, particles: Floats, weights: Floats, m: int, rng: np.random.Generator) -> Indices:
    found = ss.SuperSampler(m, kernel=kernel, random_state=int(rng.integers(1 << 31)))
    return found.fit(particles[:, None], sample_weight=weights).prototype_indices_


METHODS: dict[str, Resample] = {
    "multinomial": _multinomial,
    "systematic": _systematic,
    "systematic, sorted": _sorted,
    "super-sampling, Gaussian": partial(_super_sampled, "gaussian"),
    "super-sampling, Laplacian": partial(_super_sampled, "laplacian"),
}


def run(out: Path, data: Path, quick: bool) -> None:  # noqa: ARG001
    """Compare the errors of the filter's means and of its log-likelihood by the resampling step."""
    runs, sizes = (2, _SIZES[:2]) if quick else (40, _SIZES)
    numbers: dict[str, Any] = {"runs": runs, "steps": _STEPS, "children": _CHILDREN}
    with one_thread_workers() as workers, panels(out / "filter", 1, legend_beside=True) as (ax,):
        found = {size: _all(size, runs, workers) for size in sizes}
        for place, name in enumerate(METHODS):
            means = {size: each[:, place, 0] for size, each in found.items()}
            evidence = {size: each[:, place, 1] for size, each in found.items()}
            numbers[name] = {"rmse_of_means": means, "error_of_log_likelihood": evidence}
            listed = ", ".join(
                f"{size}: {each.mean():.3f} +- {each.std(ddof=1) / np.sqrt(runs):.3f} ({np.median(np.abs(evidence[size])):.2f})"
                for size, each in means.items()
            )
            print(f"filter    {name:25} RMSE of the means (median error of the log-likelihood) {listed}")
            ax.loglog(list(means), [each.mean() for each in means.values()], marker="o", label=name)
        ax.set(xlabel="particles", ylabel="RMSE of the filter's means")
    write_numbers(out / "filter", numbers)


def _all(size: int, runs: int, workers: Executor) -> Floats:
    return np.array(list(workers.map(partial(_errors, size), range(runs))))


def _errors(size: int, seed: int) -> list[list[float]]:
    """Return the RMSE of the means and the error of the log-likelihood of each method on one sequence."""
    observed = _observations(seed)
    means, evidence = _exact(observed)
    found = [_filtered(resample, observed, size, np.random.default_rng([6, size, seed])) for resample in METHODS.values()]
    return [[float(np.sqrt(np.mean((mean - means) ** 2))), log - evidence] for mean, log in found]


def _drift(x: Floats, step: int) -> Floats:
    return np.asarray(0.5 * x + 25.0 * x / (1.0 + x**2) + 8.0 * np.cos(1.2 * step))


def _observations(seed: int) -> Floats:
    rng = np.random.default_rng([7, seed])
    x, found = rng.normal(0.0, _NOISE, 1), []
    for step in range(_STEPS):
        x = _drift(x, step) + rng.normal(0.0, _NOISE, 1)
        found.append(float(x[0] ** 2 / 20.0 + rng.normal()))
    return np.array(found)


def _filtered(resample: Resample, observed: Floats, m: int, rng: np.random.Generator) -> tuple[Floats, float]:
    """Return the means of the filter, before resampling, and its log-likelihood."""
    particles = rng.normal(0.0, _NOISE, m)
    means, evidence = np.empty(observed.size), 0.0
    for step, y in enumerate(observed):
        children = np.repeat(_drift(particles, step), _CHILDREN)
        children = children + rng.normal(0.0, _NOISE, children.size)
        logs = np.asarray(norm.logpdf(y, children**2 / 20.0))
        top = logs.max()
        weights = np.exp(logs - top)
        evidence += float(top + np.log(weights.mean()))
        weights /= weights.sum()
        means[step] = weights @ children
        particles = children[resample(children, weights, m, rng)]
    return means, evidence


def _exact(observed: Floats) -> tuple[Floats, float]:
    """Return the means and the log-likelihood of the exact filter, by quadrature on a grid."""
    grid = np.linspace(-50.0, 50.0, 2_001)
    width = grid[1] - grid[0]
    density = norm.pdf(grid, 0.0, _NOISE)
    means, evidence = np.empty(observed.size), 0.0
    for step, y in enumerate(observed):
        moved = norm.pdf(grid[:, None], _drift(grid, step), _NOISE) @ density * width
        weighted = moved * norm.pdf(y, grid**2 / 20.0)
        total = weighted.sum() * width
        evidence += float(np.log(total))
        density = weighted / total
        means[step] = grid @ density * width
    return means, evidence
