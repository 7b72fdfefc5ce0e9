"""The reservoir paper, figure 5: a few equally weighted points from an importance sampler."""

from collections.abc import Sequence
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp
from scipy.stats import norm

import supersample as ss
from benchmarks.papers.figures import panels, write_numbers
from supersample.selection import stream

__all__ = ["figure5"]

Floats = npt.NDArray[np.float64]

SIZES = (2, 3, 5, 8)
METHODS = ("paper's stream", "with second look", "resampled at random")
#: The target, two Gaussians, and the deviation of the proposal, one at zero; the paper gives neither.
WEIGHTS, MEANS, DEVIATIONS = np.array([0.4, 0.6]), np.array([-2.5, 2.0]), np.array([0.7, 1.2])
BROAD = 5.0


def figure5(out: Path, quick: bool, pool: Executor) -> None:
    """Figure 5: the points chosen from N weighted ones, against regions of equal probability under the target."""
    places = [10, 100, 1000, 10_000] if quick else [10, 100, 1000, 10_000, 100_000]
    runs = list(pool.map(partial(_run, places=places), range(4 if quick else 50)))
    numbers: dict[str, Any] = {"runs": len(runs), "N": places, "M": SIZES}
    for column, size in enumerate(SIZES):
        counts = np.array([[_count(points, size) for points in each[column]] for each in runs])
        chosen = counts.reshape(len(runs), len(places), len(METHODS), size)
        ones = np.mean(chosen == 1, axis=(0, 3))
        every = np.mean(np.all(chosen == 1, axis=3), axis=0)
        for m, method in enumerate(METHODS):
            numbers[f"M = {size}, {method}"] = {"regions_with_one_point": ones[:, m], "runs_with_one_in_each": every[:, m]}
            print(
                f"figure 5  M={size}, N={places[-1]:,}, {method:19} regions with one point {ones[-1, m]:.0%}, "
                f"runs with one in each {every[-1, m]:.0%}"
            )
    write_numbers(out / "figure5", numbers)
    grid = np.linspace(-6.0, 7.0, 400)
    density = _density(grid)
    tall = 1.35 * density.max()
    with panels(out / "figure5", len(SIZES)) as axes:
        figure = axes[0].get_figure(root=True)
        assert figure is not None
        figure.set_size_inches(11.0, 4.6)
        for column, (axis, size) in enumerate(zip(axes, SIZES, strict=True)):
            for border in _borders(size):
                axis.axvline(border, color="#009E73", linestyle="--", lw=1)
            for row in range(len(places)):
                base = -row * tall
                axis.plot(grid, base + density, color="#0072B2", lw=1)
                axis.axhline(base, color="0.7", lw=0.6)
                points = runs[0][column][len(METHODS) * row]
                axis.plot(points, np.full(size, base), "o", color="#D55E00", markersize=4.5, clip_on=False)
            axis.set_yticks([-row * tall for row in range(len(places))], [f"N = {place:,}" for place in places])
            axis.tick_params(axis="y", length=0, labelleft=column == 0)
            axis.grid(visible=False)
            axis.spines["left"].set_visible(False)
            axis.set(title=f"M = {size}", xlim=(-6.0, 7.0), ylim=(-(len(places) - 1) * tall - 0.02, tall))


def _run(seed: int, places: Sequence[int]) -> list[list[Floats]]:
    """Return the chosen points: for each M a list, the methods at the first N, then at the next."""
    rng = np.random.default_rng([5, seed])
    points = rng.normal(0.0, BROAD, (places[-1], 1))
    log_weights = np.log(_density(points[:, 0])) - norm.logpdf(points[:, 0], 0.0, BROAD)
    chosen = []
    for size in SIZES:
        sampler = ss.SuperSampler(size, features="fourier", n_features=200, search="exact", random_state=seed)
        at_places: list[Floats] = []
        for start, stop in zip((0, *places[:-1]), places, strict=True):
            sampler.partial_fit(points[start:stop], log_weight=log_weights[start:stop])
            weights = np.exp(log_weights[:stop] - logsumexp(log_weights[:stop]))
            drawn = points[rng.choice(stop, size, p=weights / weights.sum())]
            held = stream.drain(sampler._state).reservoir.rows.points
            at_places += [np.sort(found[:, 0]) for found in (held, sampler.prototypes_, drawn)]
        chosen.append(at_places)
    return chosen


def _density(values: Floats) -> Floats:
    return np.asarray(norm.pdf(values[:, None], MEANS, DEVIATIONS) @ WEIGHTS)


def _borders(size: int) -> Floats:
    """Return the values that cut the target into regions of equal probability."""
    grid = np.linspace(-12.0, 12.0, 100_001)
    below = norm.cdf(grid[:, None], MEANS, DEVIATIONS) @ WEIGHTS
    return np.interp(np.arange(1, size) / size, below, grid)


def _count(points: Floats, size: int) -> npt.NDArray[np.int64]:
    return np.bincount(np.searchsorted(_borders(size), points), minlength=size)
