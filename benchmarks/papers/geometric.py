"""Geometric rates for kernel-based sampling: figure 1, on one machine and on several."""

from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import supersample as ss
from benchmarks.papers.figures import loglog_slope, panels, write_numbers
from benchmarks.papers.geometric_distributed import METHODS, choose, in_order, lines_of
from benchmarks.papers.herding_data import KERNEL, mixture
from benchmarks.papers.trials import one_thread_workers

__all__ = ["run"]

Floats = npt.NDArray[np.float64]

_STYLE: dict[str, dict[str, Any]] = {
    "herding": {"color": "#0072B2", "linestyle": "--", "marker": "o"},
    "WKH": {"color": "#56B4E9", "linestyle": "-", "marker": "^"},
    "SBQ": {"color": "#D55E00", "linestyle": "-", "marker": "s"},
    "5-WKH": {"color": "#56B4E9", "linestyle": "--", "marker": "<"},
    "10-WKH": {"color": "#56B4E9", "linestyle": ":", "marker": ">"},
    "5-SBQ": {"color": "#D55E00", "linestyle": "--", "marker": "d"},
    "10-SBQ": {"color": "#D55E00", "linestyle": ":", "marker": "p"},
    "5-WKH-1": {"color": "#000000", "linestyle": "--", "marker": "1"},
    "5-SBQ-1": {"color": "#000000", "linestyle": ":", "marker": "2"},
}
_SINGLE = {"herding": ss.herd, **METHODS}
_PARTS = (5, 10)


def run(out: Path, data: Path, quick: bool) -> None:
    """Match the mixture of twenty Gaussians."""
    pools, pool_size, sizes = (2, 2_000, (10, 20, 40)) if quick else (10, 10_000, (10, 20, 50, 100, 200))
    with one_thread_workers() as workers:
        found = list(workers.map(partial(_match, data, pool_size, sizes), range(pools)))
    numbers: dict[str, Any] = {"pools": pools}
    with panels(out / "figure-1", 1, legend_beside=True) as (ax,):
        for name in found[0]:
            mean = {n: float(np.mean([each[name][n] for each in found])) for n in found[0][name]}
            at = {n: mean[n] for n in sizes}
            slope = loglog_slope(list(at)[1:], list(at.values())[1:])
            numbers[name] = {"mmd": at, "slope_20_on": slope}
            print(f"figure 1     {name:8} " + ", ".join(f"{n}: {each:.4f}" for n, each in at.items()) + f"; slope {slope:.2f}")
            if name in _STYLE:  # one part of ten alone is printed only: there are lines enough
                marked = {} if len(mean) == len(sizes) else {"marker": ""}
                ax.loglog(list(mean), list(mean.values()), label=name, **{**_STYLE[name], **marked})
        ax.set(xlabel="points", ylabel="MMD")
    judged = sizes[-2]
    ratio = numbers["5-SBQ"]["mmd"][judged] / numbers["SBQ"]["mmd"][judged]
    print(f"figure 1     5-SBQ at {judged} / single SBQ at {judged}: {ratio:.3f}, at most 1.5: {_verdict(ratio <= 1.5)}")
    _print_order(found, sizes)
    write_numbers(out / "figure-1", numbers)


def _match(data: Path, pool_size: int, sizes: tuple[int, ...], seed: int) -> dict[str, dict[int, float]]:
    """Return each line's MMD by the number of points: greedy single runs pass all of them, Algorithm 2 is run for each."""
    pool, options = _problem(data, pool_size, seed)
    lines: dict[str, dict[int, float]] = {}
    for name, method in _SINGLE.items():
        lines[name] = {n: float(each) for n, each in enumerate(method(pool, max(sizes), **options).mmd, start=1)}
    for parts, name in product(_PARTS, METHODS):
        found = {m: choose(name, parts, pool, m, partition=seed, **options) for m in sizes}
        _, distributed, alone = lines_of(name, parts)
        lines[distributed] = {m: float(each.mmd[-1]) for m, each in found.items()}
        lines[alone] = {m: float(each.runs[:-1].mean()) for m, each in found.items()}
    return lines


def _problem(data: Path, pool_size: int, seed: int) -> tuple[Floats, dict[str, Any]]:
    measure = mixture(data)
    return measure.sample(pool_size, np.random.SeedSequence([1, seed])), {"target": measure, "kernel": KERNEL}


def _print_order(found: list[dict[str, dict[int, float]]], sizes: tuple[int, ...]) -> None:
    """Print whether distributed lies between single and one part alone; noise is the standard error over pools."""
    for parts, name in product(_PARTS, METHODS):
        held = 0
        for m in sizes:
            values = np.array([[each[line][m] for line in lines_of(name, parts)] for each in found])
            mean, steps = values.mean(axis=0), np.diff(values, axis=1)
            error = steps.std(axis=0, ddof=1) / np.sqrt(len(found))
            held += in_order(*mean)
            print(
                f"figure 1     {parts}-{name} at {m}: single {mean[0]:.5f}, distributed {mean[1]:.5f} "
                f"({mean[1] - mean[0]:+.5f} +- {error[0]:.5f}), one part alone {mean[2]:.5f} "
                f"({mean[2] - mean[1]:+.5f} +- {error[1]:.5f}): {_verdict(in_order(*mean))}; "
                f"in {sum(in_order(*each) for each in values)} of {len(found)} pools"
            )
        print(f"figure 1     {parts}-{name}: single <= distributed <= one part alone at {held} of {len(sizes)} sizes")


def _verdict(holds: bool) -> str:
    return "met" if holds else "MISSED"
