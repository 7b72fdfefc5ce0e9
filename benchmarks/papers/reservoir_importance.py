"""The reservoir paper, figure 5: a few equally weighted points from an importance sampler."""

from collections.abc import Sequence
from concurrent.futures import Executor
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp
from scipy.stats import norm

import supersample as ss
from benchmarks.drained import drained
from benchmarks.papers.figures import panels, write_numbers

__all__ = ["figure5"]

Floats = npt.NDArray[np.float64]

SIZES = (2, 3, 5, 8)
METHODS = ("paper's stream", "with second look", "resampled at random")
#: The target, two Gaussians, and the deviation of the proposal, one at zero; the paper gives neither.
WEIGHTS, MEANS, DEVIATIONS = np.array([0.4, 0.6]), np.array([-2.5, 2.0]), np.array([0.7, 1.2])
BROAD = 5.0
#: The median distance of the weighted rows is about 2.5; 1 is about the width of the target's components.
KERNELS: tuple[tuple[str, float | Literal["median"]], ...] = (
    ("gaussian", "median"),
    ("laplacian", "median"),
    ("gaussian", 1.0),
)
#: One column of the picture: for each method the chosen points at each N.
Column = dict[str, list[Floats]]


def figure5(out: Path, quick: bool, pool: Executor) -> None:
    """Figure 5: the points chosen from N weighted ones, against regions of equal probability under the target."""
    places = [10, 100, 1000] if quick else [10, 100, 1000, 10_000, 100_000]
    seeds = range(2 if quick else 20)
    numbers: dict[str, Any] = {"runs": len(seeds), "N": places, "M": SIZES}
    for kernel, bandwidth in KERNELS:
        runs = list(pool.map(partial(_run, places=places, kernel=kernel, bandwidth=bandwidth), seeds))
        for (column, size), method in product(enumerate(SIZES), METHODS):
            # The last N, and for the stream all of them: a second look takes longer than the stream.
            shares = [_share_alone([each[column][method][row] for each in runs], size) for row in range(-len(places), 0)
                      if method != METHODS[1] or row == -1]  # fmt: skip
            mmd = float(np.mean([_mmd(each[column][method][-1], kernel, bandwidth) for each in runs]))
            gap = float(np.median([np.diff(np.sort(each[column][method][-1])).min() for each in runs]))
            numbers[f"M = {size}, {kernel}, bandwidth {bandwidth}, {method}"] = {
                "regions_with_one_point": shares,
                "mmd": mmd,
                "least_distance": gap,
            }
            print(
                f"figure 5  M={size}, {kernel}, bandwidth {bandwidth}, {method:19} alone in {shares[-1]:.0%} of the regions; "
                f"MMD to the target {mmd:.4f}; least distance of two points {gap:.2f}"
            )
        for size in SIZES:
            middles = _quantiles((np.arange(size) + 0.5) / size)
            print(f"figure 5  M={size}, {kernel}, bandwidth {bandwidth}, quantiles: MMD {_mmd(middles, kernel, bandwidth):.4f}")
    write_numbers(out / "figure5", numbers)
    _picture(out / "figure5", places, runs[0])


def _picture(path: Path, places: Sequence[int], columns: Sequence[Column]) -> None:
    grid = np.linspace(-6.0, 7.0, 400)
    density = _density(grid)
    tall = 1.35 * density.max()
    with panels(path, len(SIZES)) as axes:
        figure = axes[0].get_figure(root=True)
        assert figure is not None
        figure.set_size_inches(10.5, 4.8)
        for axis, size, column in zip(axes, SIZES, columns, strict=True):
            for border in _borders(size):
                axis.axvline(border, color="#009E73", linestyle="--", lw=1)
            for row in range(len(places)):
                base = -row * tall
                axis.plot(grid, base + density, color="#0072B2", lw=1)
                axis.axhline(base, color="0.7", lw=0.6)
                axis.plot(column[METHODS[0]][row], np.full(size, base), "o", color="#D55E00", label=METHODS[0])
                axis.plot(column[METHODS[1]][row], np.full(size, base), "o", color="black", mfc="none", ms=7, label=METHODS[1])
            axis.set_yticks([-row * tall for row in range(len(places))], [f"N = {place:,}" for place in places])
            axis.tick_params(axis="y", length=0, labelleft=axis is axes[0])
            axis.grid(visible=False)
            axis.spines["left"].set_visible(False)
            axis.set(title=f"M = {size}", xlim=(-6.0, 7.0), ylim=(-(len(places) - 0.8) * tall, tall))
        figure.legend(*(handles[:2] for handles in axes[0].get_legend_handles_labels()), loc="outside lower center", ncols=2)


def _run(seed: int, places: Sequence[int], kernel: str, bandwidth: float | Literal["median"]) -> list[Column]:
    """Return the chosen points for each M; the second look is taken at the last N alone, for the run that is drawn at all."""
    rng = np.random.default_rng([5, seed])
    points = rng.normal(0.0, BROAD, (places[-1], 1))
    log_weights = np.log(_density(points[:, 0])) - norm.logpdf(points[:, 0], 0.0, BROAD)
    chosen = []
    for size in SIZES:
        sampler = ss.SuperSampler(
            size, kernel=kernel, features="fourier", n_features=200, bandwidth=bandwidth, search="exact", random_state=seed
        )
        column: Column = {method: [] for method in METHODS}
        for start, stop in zip((0, *places[:-1]), places, strict=True):
            sampler.partial_fit(points[start:stop], log_weight=log_weights[start:stop])
            column[METHODS[0]].append(drained(sampler).reservoir.rows.points[:, 0])
            if seed == 0 or stop == places[-1]:
                column[METHODS[1]].append(sampler.prototypes_[:, 0].astype(np.float64))
            weights = np.exp(log_weights[:stop] - logsumexp(log_weights[:stop]))
            column[METHODS[2]].append(points[rng.choice(stop, size, p=weights / weights.sum()), 0])
        chosen.append(column)
    return chosen


def _density(values: Floats) -> Floats:
    return np.asarray(norm.pdf(values[:, None], MEANS, DEVIATIONS) @ WEIGHTS)


def _quantiles(shares: Floats) -> Floats:
    """Return the values below which these shares of the target lie."""
    grid = np.linspace(-12.0, 12.0, 100_001)
    return np.interp(shares, norm.cdf(grid[:, None], MEANS, DEVIATIONS) @ WEIGHTS, grid)


def _borders(size: int) -> Floats:
    """Return the values that cut the target into regions of equal probability."""
    return _quantiles(np.arange(1, size) / size)


def _mmd(points: Floats, kernel: str, bandwidth: float | Literal["median"]) -> float:
    """Return the MMD of equally weighted points to the target; a "median" bandwidth is that of the target itself, 2.5."""
    target = ss.measures.GaussianMixture(WEIGHTS, MEANS[:, None], (DEVIATIONS**2)[:, None, None])
    width = 2.5 if bandwidth == "median" else bandwidth
    chosen = ss.kernels.Gaussian(width) if kernel == "gaussian" else ss.kernels.Laplacian(width)
    rows = points[:, None]
    square = target.energy(chosen) - 2.0 * target.mean_embedding(chosen, rows).mean() + chosen(rows).mean()
    return float(np.sqrt(max(square, 0.0)))


def _share_alone(sets: Sequence[Floats], size: int) -> float:
    """Return the share of regions that hold just one point."""
    borders = _borders(size)
    return float(np.mean([np.bincount(np.searchsorted(borders, points), minlength=size) == 1 for points in sets]))
