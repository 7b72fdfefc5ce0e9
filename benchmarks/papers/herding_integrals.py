"""Figures 6, 7 and 8 of Huszar and Duvenaud (2012): errors of integrals, and weights by smoothness."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import supersample as ss
from benchmarks.papers import herding_printed as printed
from benchmarks.papers.figures import loglog_slope, panels, write_numbers
from benchmarks.papers.herding_data import STYLE, Bumps, Pool, in_model, narrow, one_width, smooth, weights_of

__all__ = ["figures_6_to_8"]

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int_]
Measure = ss.measures.GaussianMixture
Draw = Callable[[Measure, int], Bumps]

#: Widths of the bumps by which equal and quadrature weights are compared; the kernel's is 0.5.
_WIDTHS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 2.0, 3.0)


def figures_6_to_8(out: Path, measure: Measure, pool: Pool, largest: int, quick: bool, mapped: Callable[..., Any]) -> None:
    """Measure errors of functions within the space of the kernel and outside of it."""
    count = 20 if quick else 250
    sizes = np.unique([*np.geomspace(1, largest, 25).round(), *(n for n in printed.SIZES if n <= largest)]).astype(int)
    _errors(out / "figure-6", measure, pool, in_model, count, sizes, mapped, printed.FIGURE_6)
    _errors(out / "figure-8", measure, pool, smooth, count, sizes, mapped, printed.FIGURE_8)
    _errors(out / "figure-8-narrow", measure, pool, narrow, count, sizes, mapped, {})
    _by_width(out, measure, pool, count, min(200, largest), mapped)
    _bound(out, measure, pool, sizes, count)


def _errors(
    path: Path,
    measure: Measure,
    pool: Pool,
    draw: Draw,
    count: int,
    sizes: Indices,
    mapped: Callable[..., Any],
    theirs: dict[str, list[float]],
) -> None:
    """Figures 6 and 8: the mean error of random functions' integrals against the number of points."""
    weights = {name: [weights_of(name, measure, pool.points[name][:n]) for n in sizes] for name in STYLE}
    errors = np.array(list(mapped(partial(_errors_of, measure, pool, draw, weights), range(count))))
    numbers: dict[str, Any] = {"functions": count, "sizes": sizes.tolist(), "paper": theirs}
    with panels(path, 1) as (ax,):
        for place, (name, style) in enumerate(STYLE.items()):
            mean = errors[:, place].mean(axis=0)
            ax.loglog(sizes, mean, **style)
            if name in theirs and path.name == "figure-6":  # the size of the functions of figure 8 is not known
                ax.loglog(printed.SIZES, theirs[name], "x", color=style["color"])
            slope = loglog_slope(sizes[sizes >= 20], mean[sizes >= 20])
            numbers[name] = {"mean_error": mean, "slope_20_on": slope}
            at = dict(zip(sizes.tolist(), mean, strict=True))
            listed = ", ".join(f"{n}: {at[n]:.3g}" for n in printed.SIZES if n in at)
            there = ", ".join(f"{each:.2g}" for each in theirs.get(name, []))
            print(f"{path.name:15} {name:20} {listed}; slope {slope:.2f}" + (f"; paper {there}" if there else ""))
        ax.set(xlabel="points", ylabel="mean absolute error")
        ax.legend()
    write_numbers(path, numbers)


def _errors_of(measure: Measure, pool: Pool, draw: Draw, weights: dict[str, list[Floats]], seed: int) -> list[list[float]]:
    function = draw(measure, seed)
    truth = function.integral(measure)
    return [[abs(float(w @ function(pool.points[name][: w.size])) - truth) for w in weights[name]] for name in STYLE]


def _by_width(out: Path, measure: Measure, pool: Pool, count: int, size: int, mapped: Callable[..., Any]) -> None:
    """Compare the weights on the same herding points for bumps of one width, from a tenth of the kernel's to six times it."""
    weights = {name: [weights_of(name, measure, pool.points[name][:size])] for name in STYLE}
    errors = {}
    for width in _WIDTHS:
        found = np.array(list(mapped(partial(_errors_of, measure, pool, partial(one_width, width), weights), range(count))))
        errors[width] = {name: np.sqrt((found[:, place, 0] ** 2).mean()) for place, name in enumerate(STYLE)}
        ratio = errors[width]["herding, BQ weights"] / errors[width]["herding"]
        print(
            f"figure 8     bumps of width {width}: root mean square error at {size} points "
            + ", ".join(f"{name} {each:.2g}" for name, each in errors[width].items())
            + f"; herding's with BQ weights {ratio:.2f} times that with equal ones"
        )
    lengths = {name: float(np.sqrt(weights[name][0] @ weights[name][0])) for name in STYLE}
    sums = {name: float(weights[name][0].sum()) for name in STYLE}
    print(
        f"figure 8     {size} weights, root of the sum of squares (sum): "
        + ", ".join(f"{name} {each:.4f} ({sums[name]:.4f})" for name, each in lengths.items())
    )
    with panels(out / "figure-8-widths", 1) as (ax,):
        for name, style in STYLE.items():
            ax.loglog(_WIDTHS, [each[name] for each in errors.values()], **style)
        ax.axvline(0.5, color="0.7", linewidth=0.8)
        ax.set(xlabel="width of the bumps (kernel: 0.5)", ylabel=f"root mean square error, {size} points")
        ax.legend()
    write_numbers(out / "figure-8-widths", {"size": size, "errors": errors, "root_of_sum_of_squares": lengths, "sums": sums})


def _bound(out: Path, measure: Measure, pool: Pool, sizes: Indices, count: int) -> None:
    """Figure 7: errors of ten functions of norm one under the bound; all `count` of them are checked against it."""
    weights = [weights_of("SBQ", measure, pool.points["SBQ"][:n]) for n in sizes]
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
