"""Optimally-weighted herding is Bayesian quadrature: figures 1, 3, 4 and 5 on the original mixture, and all the others."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import supersample as ss
from benchmarks.papers import herding_printed as printed
from benchmarks.papers.figures import loglog_slope, panels, write_numbers
from benchmarks.papers.herding_data import STYLE, Pool, choose, mixture, weights_of
from benchmarks.papers.herding_integrals import figures_6_to_8
from benchmarks.papers.herding_posterior import figure2
from benchmarks.papers.herding_refined import local_optimisation
from benchmarks.papers.trials import one_thread_workers

__all__ = ["run"]

Measure = ss.measures.GaussianMixture

_POOL = 10_000


def run(out: Path, data: Path, quick: bool) -> None:
    """Draw pools, choose from each, and measure what the paper's figures show."""
    seeds, largest = (2, 60) if quick else (10, 400)
    measure = mixture(data)
    with one_thread_workers() as workers:
        pools = list(workers.map(partial(choose, measure, largest, 2_000 if quick else _POOL), range(seeds)))
        _first_points(out, measure, pools)
        _weights(out, measure, pools, 50 if quick else 100)
        _discrepancies(out, pools, largest)
        figures_6_to_8(out, measure, pools[0], largest, quick, workers.map)
        local_optimisation(out, measure, pools, 20 if quick else 200, workers.map)
    figure2(out)


def _first_points(out: Path, measure: Measure, pools: list[Pool]) -> None:
    """Figure 1: 8 points of SBQ beside 20 of herding."""
    with panels(out / "figure-1", 2) as axes:
        for ax, (name, count) in zip(axes, (("herding", 20), ("SBQ", 8)), strict=True):
            points = pools[0].points[name][:count]
            weights = weights_of(name, measure, points)
            grid = np.stack(np.meshgrid(np.linspace(-6, 6, 90), np.linspace(-6, 6, 90)), axis=-1)
            density = measure.mean_embedding(ss.kernels.Gaussian(0.05), grid.reshape(-1, 2)).reshape(90, 90)
            ax.contour(grid[..., 0], grid[..., 1], density, levels=8, colors="0.8", linewidths=0.6)
            ax.scatter(points[:, 0], points[:, 1], s=1000 * np.abs(weights), color=STYLE[name]["color"], alpha=0.8)
            ax.set_title(f"{count} points of {name}: MMD {pools[0].paths[name][count - 1]:.3f}")
    eight = [pool.paths["SBQ"][7] for pool in pools]
    twenty = [pool.paths["herding"][19] for pool in pools]
    equal = [int(np.argmax(pool.paths["SBQ"] <= pool.paths["herding"][19])) + 1 for pool in pools]
    met = int(sum(a <= b for a, b in zip(eight, twenty, strict=True)))
    print(
        f"figure 1     MMD of 8 SBQ points {np.mean(eight):.4f}, of 20 herding points {np.mean(twenty):.4f}; no larger in "
        f"{met} of {len(pools)} pools"
    )
    write_numbers(out / "figure-1", {"sbq_8": eight, "herding_20": twenty, "sbq_points_that_equal_20": equal, "pools_met": met})


def _weights(out: Path, measure: Measure, pools: list[Pool], count: int) -> None:
    """Figures 3 and 4: quadrature weights of 100 points, and their sum as points are added, on herding points and on SBQ's."""
    numbers: dict[str, Any] = {}
    sizes = np.arange(1, count + 1)
    with panels(out / "figure-3-4", 2) as (left, right):
        for name, place in (("herding, BQ weights", -0.2), ("SBQ", 0.2)):
            weights = [weights_of(name, measure, pool.points[name][:count]) for pool in pools]
            sums = np.array([[weights_of(name, measure, pool.points[name][:n]).sum() for n in sizes] for pool in pools])
            negative = [int((each < 0).sum()) for each in weights]
            left.bar(np.arange(count) + place, np.sort(weights[0]), 0.4, color=STYLE[name]["color"], label=STYLE[name]["label"])
            right.plot(sizes, sums.mean(axis=0), **STYLE[name])
            at = {n: float(sums[:, n - 1].mean()) for n in (1, 20, 100) if n <= count}
            numbers[name] = {"sums": sums[:, -1], "mean_sums": at, "negative": negative}
            listed = ", ".join(f"{n}: {each:.3f}" for n, each in at.items())
            print(
                f"figure 3, 4  quadrature weights on points of {name:20} sums {listed} (pools {sums[:, -1].min():.3f} to "
                f"{sums[:, -1].max():.3f} at {count}); negative of {count}: {np.mean(negative):.1f} ({min(negative)} to "
                f"{max(negative)})"
            )
        right.plot(list(printed.FIGURE_4), list(printed.FIGURE_4.values()), "kx", label="figure 4 of the paper")
        left.axhline(1.0 / count, color="black", linewidth=0.8, linestyle="--")
        left.set_title(f"{count} weights, sorted, first pool")
        left.legend()
        right.axhline(1.0, color="black", linewidth=0.8, linestyle="--")
        right.set(title="sum of the weights, mean of the pools", xlabel="points")
        right.legend(loc="lower right")
    print(f"figure 3, 4  paper: figure 3 {printed.FIGURE_3}, figure 4 {printed.FIGURE_4}")
    write_numbers(out / "figure-3-4", numbers | {"paper": {"figure 3": printed.FIGURE_3, "figure 4": printed.FIGURE_4}})


def _discrepancies(out: Path, pools: list[Pool], largest: int) -> None:
    """Figure 5: MMD against the number of points, and the slopes, beside the paper's curves."""
    sizes = np.arange(1, largest + 1)
    numbers: dict[str, Any] = {"pools": len(pools)}
    with panels(out / "figure-5", 1) as (ax,):
        for name, style in STYLE.items():
            paths = np.array([pool.paths[name] for pool in pools])
            ax.loglog(sizes, paths.mean(axis=0), **style)
            ax.loglog(printed.SIZES, printed.FIGURE_5[name], "x", color=style["color"])
            slopes = [loglog_slope(sizes[19:], path[19:]) for path in paths]
            at = {str(n): paths[:, n - 1] for n in sorted({8, *printed.SIZES}) if n <= largest}
            theirs = dict(zip(map(str, printed.SIZES), printed.FIGURE_5[name], strict=True))
            numbers[name] = {"mmd": at, "slopes_20_on": slopes, "paper": theirs}
            listed = ", ".join(
                f"{n}: {each.mean():.4f}" + (f" (paper {theirs[n]:.4f})" if n in theirs else "") for n, each in at.items()
            )
            print(f"figure 5     {name:20} {listed}; slope {np.mean(slopes):.2f} ({min(slopes):.2f} to {max(slopes):.2f})")
        ax.plot([], [], "kx", label="the paper's curves")
        ax.set(xlabel="points", ylabel="MMD")
        ax.legend()
    below = [float((pool.paths["SBQ"] / pool.paths["herding"]).max()) for pool in pools]
    print(f"figure 5     largest MMD of SBQ over that of herding, at any size, in any pool: {max(below):.3f}")
    write_numbers(out / "figure-5", numbers | {"largest_ratio_of_sbq_to_herding": max(below)})
