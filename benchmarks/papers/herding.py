"""Optimally-weighted herding is Bayesian quadrature: figures 1, 3, 4, 5, 6, 7 and 8 on the original mixture."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import supersample as ss
from benchmarks.papers.figures import loglog_slope, panels, write_numbers
from benchmarks.papers.herding_data import KERNEL, Bumps, in_model, mixture, out_of_model
from benchmarks.papers.trials import one_thread_workers

__all__ = ["run"]

Floats = npt.NDArray[np.float64]
Measure = ss.measures.GaussianMixture

_POOL = 10_000
_STYLE: dict[str, dict[str, Any]] = {
    "random": {"color": "#CC79A7", "linestyle": ":", "label": "independent draws"},
    "herding": {"color": "#0072B2", "linestyle": "--", "label": "herding"},
    "herding, BQ weights": {"color": "#009E73", "linestyle": "-.", "label": "herding, BQ weights"},
    "SBQ": {"color": "#D55E00", "linestyle": "-", "label": "SBQ"},
}


class _Pool(NamedTuple):
    """Chosen points of one pool, by method, and their MMD path."""

    points: dict[str, Floats]
    paths: dict[str, Floats]
    weights: Floats


def run(out: Path, data: Path, quick: bool) -> None:
    """Draw pools, choose from each, and measure what the paper's figures show."""
    seeds, largest, functions = (2, 60, 20) if quick else (10, 200, 250)
    measure = mixture(data)
    with one_thread_workers() as workers:
        pools = list(workers.map(partial(_choose, measure, largest, 2_000 if quick else _POOL), range(seeds)))
        _first_points(out, measure, pools)
        _weights(out, measure, pools, 50 if quick else 100)
        _discrepancies(out, pools, largest, quick)
        sizes = np.unique(np.geomspace(1, largest, 25).round().astype(int))
        for figure, draw in (("figure-6", in_model), ("figure-8", out_of_model)):
            _errors(out / figure, measure, pools[0], draw, functions, sizes, workers.map)
        _bound(out, measure, pools[0], sizes, 250 if not quick else 20)


def _choose(measure: Measure, largest: int, pool_size: int, seed: int) -> _Pool:
    pool = measure.sample(pool_size, np.random.SeedSequence([1, seed]))
    herded = ss.herd(pool, largest, target=measure, kernel=KERNEL)
    again = ss.herd(pool, largest, target=measure, kernel=KERNEL, resume=herded, weighting="free")
    greedy = ss.sbq(pool, largest, target=measure, kernel=KERNEL)
    some = pool[:largest]
    gram, z = KERNEL(some), measure.mean_embedding(KERNEL, some)
    counts = np.arange(1, largest + 1)
    within = np.array([gram[:n, :n].sum() for n in counts]) / counts**2
    random = np.sqrt(measure.energy(KERNEL) - 2.0 * np.cumsum(z) / counts + within)
    points = {"random": some, "herding": herded.points, "herding, BQ weights": herded.points, "SBQ": greedy.points}
    paths = {"random": random, "herding": herded.mmd, "herding, BQ weights": again.mmd, "SBQ": greedy.mmd}
    return _Pool({name: np.asarray(each, dtype=np.float64) for name, each in points.items()}, paths, greedy.weights)


def _weights_of(name: str, measure: Measure, points: Floats) -> Floats:
    kind: Any = "free" if name in ("SBQ", "herding, BQ weights") else "uniform"
    return ss.quadrature_weights(points, target=measure, kernel=KERNEL, kind=kind)


def _first_points(out: Path, measure: Measure, pools: list[_Pool]) -> None:
    """Figure 1: 8 points of SBQ beside 20 of herding."""
    with panels(out / "figure-1", 2) as axes:
        for ax, (name, count) in zip(axes, (("herding", 20), ("SBQ", 8)), strict=True):
            points = pools[0].points[name][:count]
            weights = _weights_of(name, measure, points)
            grid = np.stack(np.meshgrid(np.linspace(-6, 6, 90), np.linspace(-6, 6, 90)), axis=-1)
            density = measure.mean_embedding(ss.kernels.Gaussian(0.05), grid.reshape(-1, 2)).reshape(90, 90)
            ax.contour(grid[..., 0], grid[..., 1], density, levels=8, colors="0.8", linewidths=0.6)
            ax.scatter(points[:, 0], points[:, 1], s=1000 * np.abs(weights), color=_STYLE[name]["color"], alpha=0.8)
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


def _weights(out: Path, measure: Measure, pools: list[_Pool], count: int) -> None:
    """Figures 3 and 4: the weights of 100 points, and their sum as points are added to a narrow kernel's choice."""
    weights = [np.sort(_weights_of("SBQ", measure, pool.points["SBQ"][:count])) for pool in pools]
    sums, negative = [float(each.sum()) for each in weights], [int((each < 0).sum()) for each in weights]
    # The middle of the mixture is about 5 wide (a standard deviation of 2.3 to each side): a twentieth is 0.25.
    narrow = ss.kernels.Gaussian(0.25)
    pool = measure.sample(4_000, np.random.SeedSequence([2, 0]))
    found = ss.sbq(pool, count, target=measure, kernel=narrow)
    sizes = np.arange(1, len(found) + 1)
    shrunk = [float(ss.quadrature_weights(found.points[:n], target=measure, kernel=narrow).sum()) for n in sizes]
    with panels(out / "figure-3-4", 2) as (left, right):
        left.bar(np.arange(weights[0].size), weights[0], color=_STYLE["SBQ"]["color"])
        left.axhline(1.0 / count, color="black", linewidth=0.8, linestyle="--")
        left.set_title(f"weights of {count} SBQ points, sorted; sum {sums[0]:.3f}")
        right.plot(sizes, shrunk, color=_STYLE["SBQ"]["color"])
        right.axhline(1.0, color="black", linewidth=0.8, linestyle="--")
        right.set(title="sum of the weights, kernel a twentieth as wide", xlabel="points")
    print(
        f"figure 3     {count} SBQ weights: sum {np.mean(sums):.3f} (paper 0.93), negative {np.mean(negative):.1f}; "
        f"figure 4: sum {shrunk[0]:.3f} at 1 point, {shrunk[-1]:.3f} at {count}"
    )
    write_numbers(
        out / "figure-3-4",
        {"sums": sums, "negative": negative, "weights": weights[0], "narrow_sums": shrunk, "narrow_width": 0.25},
    )


def _discrepancies(out: Path, pools: list[_Pool], largest: int, quick: bool) -> None:
    """Figure 5: MMD against the number of points, and the slopes."""
    sizes = np.arange(1, largest + 1)
    numbers: dict[str, Any] = {"pools": len(pools)}
    with panels(out / "figure-5", 1) as (ax,):
        for name, style in _STYLE.items():
            paths = np.array([pool.paths[name] for pool in pools])
            ax.loglog(sizes, paths.mean(axis=0), **style)
            slopes = [loglog_slope(sizes[19:], path[19:]) for path in paths]
            at = {str(n): [float(path[n - 1]) for path in paths] for n in (8, 20, 50, 100, 200) if n <= largest}
            numbers[name] = {"mmd": at, "slopes_20_on": slopes}
            listed = ", ".join(f"{n}: {np.mean(each):.4f} (worst {max(each):.4f})" for n, each in at.items())
            print(f"figure 5     {name:20} {listed}; slope {np.mean(slopes):.2f} ({min(slopes):.2f} to {max(slopes):.2f})")
        ax.set(xlabel="points", ylabel="MMD")
        ax.legend()
    if not quick:
        promises = {
            "SBQ at 100 at most 0.016": max(numbers["SBQ"]["mmd"]["100"]) <= 0.016,
            "SBQ at 200 at most 0.005": max(numbers["SBQ"]["mmd"]["200"]) <= 0.005,
            "herding at 100 at most 0.029": max(numbers["herding"]["mmd"]["100"]) <= 0.029,
            "SBQ slope under -1.15": max(numbers["SBQ"]["slopes_20_on"]) < -1.15,
            "herding slope -0.8 to -1.05": all(-1.05 <= slope <= -0.8 for slope in numbers["herding"]["slopes_20_on"]),
        }
        numbers["met_in_every_pool"] = promises
        for promise, met in promises.items():
            print(f"figure 5     {promise}, in every pool: {'met' if met else 'MISSED'}")
    write_numbers(out / "figure-5", numbers)


def _errors(
    path: Path,
    measure: Measure,
    pool: _Pool,
    draw: Callable[[Measure, int], Bumps],
    count: int,
    sizes: npt.NDArray[np.int_],
    mapped: Callable[..., Any],
) -> None:
    """Figures 6 and 8: the mean error of random functions' integrals against the number of points."""
    weights = {name: [_weights_of(name, measure, pool.points[name][:n]) for n in sizes] for name in _STYLE}
    errors = np.array(list(mapped(partial(_errors_of, measure, pool, draw, weights), range(count))))
    numbers: dict[str, Any] = {"functions": count, "sizes": sizes.tolist()}
    with panels(path, 1) as (ax,):
        for place, (name, style) in enumerate(_STYLE.items()):
            mean = errors[:, place].mean(axis=0)
            ax.loglog(sizes, mean, **style)
            slope = loglog_slope(sizes[sizes >= 20], mean[sizes >= 20])
            numbers[name] = {"mean_error": mean, "slope_20_on": slope}
            print(
                f"{path.name}     {name:20} mean error {mean[0]:.4f} at 1, {mean[-1]:.5f} at {sizes[-1]}; slope from 20 on "
                f"{slope:.2f}"
            )
        ax.set(xlabel="points", ylabel="mean absolute error")
        ax.legend()
    write_numbers(path, numbers)


def _errors_of(
    measure: Measure, pool: _Pool, draw: Callable[[Measure, int], Bumps], weights: dict[str, list[Floats]], seed: int
) -> list[list[float]]:
    function = draw(measure, seed)
    truth = function.integral(measure)
    return [[abs(float(w @ function(pool.points[name][: w.size])) - truth) for w in weights[name]] for name in _STYLE]


def _bound(out: Path, measure: Measure, pool: _Pool, sizes: npt.NDArray[np.int_], count: int) -> None:
    """Figure 7: errors of ten functions of norm one under the bound; all `count` of them are checked against it."""
    weights = [_weights_of("SBQ", measure, pool.points["SBQ"][:n]) for n in sizes]
    errors = []
    for seed in range(count):
        function = in_model(measure, seed)
        truth = function.integral(measure)
        errors.append([abs(float(w @ function(pool.points["SBQ"][: w.size])) - truth) for w in weights])
    bound = pool.paths["SBQ"][sizes - 1]
    shares = np.array(errors) / bound
    with panels(out / "figure-7", 1) as (ax,):
        for each in errors[:10]:
            ax.loglog(sizes, np.maximum(each, 1e-9), color="0.6", linewidth=0.8)
        ax.loglog(sizes, bound, color="black", label="MMD, the bound")
        ax.set(xlabel="points", ylabel="absolute error")
        ax.legend()
    print(
        f"figure 7     largest error / bound over {count} functions and {sizes.size} sizes: {shares.max():.3f}; above 1: "
        f"{int((shares > 1).sum())}"
    )
    write_numbers(
        out / "figure-7", {"functions": count, "sizes": sizes.tolist(), "bound": bound, "largest_share": float(shares.max())}
    )
