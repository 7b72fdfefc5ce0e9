"""Section 7.2 of Huszar and Duvenaud (2012): what an error costs, by method and by the cost of a call of f."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import supersample as ss
from benchmarks.papers.figures import panels, write_numbers
from benchmarks.papers.herding_data import KERNEL, STYLE, mixture

__all__ = ["run"]

Floats = npt.NDArray[np.float64]
Measure = ss.measures.GaussianMixture

#: Errors to reach, as MMD: the largest error for a function of norm one.
_GOALS = (0.1, 0.05, 0.02, 0.01, 0.005, 0.002)
#: Seconds for a call of f.
_COSTS = (1e-6, 1e-3, 1.0)
#: Where switching leaves SBQ for herding.
_SWITCH = 100
_REPEATS = 5
_LINES = {**STYLE, "SBQ, then herding": {"color": "black", "linestyle": ":", "marker": "x", "label": "SBQ, then herding"}}


def run(out: Path, data: Path, quick: bool) -> None:
    """Find the points that each method needs for an error, time their choice, and add the calls of f."""
    measure = mixture(data)
    pool = measure.sample(10_000, np.random.SeedSequence([1, 0]))
    goals = _GOALS[:2] if quick else _GOALS
    needed = _needed(measure, pool, goals, 60 if quick else 3_000)
    choices = _choices(measure, pool)
    seconds = {
        name: {goal: _seconds(choices[name], n) for goal, n in each.items() if n is not None} for name, each in needed.items()
    }
    numbers: dict[str, Any] = {"needed": needed, "seconds_to_choose": seconds}
    for name, each in needed.items():
        listed = ", ".join(f"{goal}: {n:,} points in {seconds[name][goal]:.2g} s" for goal, n in each.items() if n is not None)
        print(f"section 7.2  {name:20} {listed}")
    with panels(out / "frontier", len(_COSTS)) as axes:
        for ax, cost in zip(axes, _COSTS, strict=True):
            total = {
                name: {goal: seconds[name][goal] + cost * n for goal, n in each.items() if n is not None}
                for name, each in needed.items()
            }
            for name, line in total.items():
                ax.loglog(list(line.values()), list(line), **{"marker": "o", **_LINES[name]})
            ax.set(xlabel="seconds", ylabel="MMD", title=f"a call of f takes {cost:g} s")
            best = {goal: _cheapest(total, goal) for goal in goals}
            numbers[f"cheapest at {cost:g} s a call"] = best
            listed = ", ".join(f"{goal}: {name} ({total[name][goal]:.2g} s)" for goal, name in best.items())
            print(f"section 7.2  cheapest where f takes {cost:g} s: {listed}")
        axes[0].legend(fontsize=7)
    write_numbers(out / "frontier", numbers)


def _cheapest(total: dict[str, dict[float, float]], goal: float) -> str:
    there = {name: each[goal] for name, each in total.items() if goal in each}
    return min(there, key=there.__getitem__)


def _needed(measure: Measure, pool: Floats, goals: tuple[float, ...], largest: int) -> dict[str, dict[float, int | None]]:
    """Return the smallest number of points with which each method is within each goal."""
    options: dict[str, Any] = {"target": measure, "kernel": KERNEL}
    herded = ss.herd(pool, largest, **options)
    weighted = ss.herd(pool, min(largest, 1_000), weighting="free", **options)
    greedy = ss.sbq(pool, min(largest, 500), **options)
    start = ss.sbq(pool, min(_SWITCH, largest), **options)
    switched = ss.herd(pool, min(largest, 1_000), resume=start, weighting="free", **options)
    paths = {"herding": herded.mmd, "herding, BQ weights": weighted.mmd, "SBQ": greedy.mmd, "SBQ, then herding": switched.mmd}
    found: dict[str, dict[float, int | None]] = {
        name: {goal: int(np.argmax(path <= goal)) + 1 if bool((path <= goal).any()) else None for goal in goals}
        for name, path in paths.items()
    }
    for goal, n in found["SBQ, then herding"].items():
        if n is not None and n <= _SWITCH:  # still SBQ itself
            found["SBQ, then herding"][goal] = None
    # The mean of MMD^2 of n independent draws is (k(x, x) - E) / n.
    spread = KERNEL.k0 - measure.energy(KERNEL)
    return {"random": {goal: int(np.ceil(spread / goal**2)) for goal in goals}, **found}


def _choices(measure: Measure, pool: Floats) -> dict[str, Callable[[int], object]]:
    options: dict[str, Any] = {"target": measure, "kernel": KERNEL}

    def switched(n: int) -> object:
        start = ss.sbq(pool, min(n, _SWITCH), **options)
        return start if n <= _SWITCH else ss.herd(pool, n, resume=start, weighting="free", **options)

    return {
        "random": lambda n: measure.sample(n, np.random.default_rng(0)),
        "herding": lambda n: ss.herd(pool, n, **options),
        "herding, BQ weights": lambda n: ss.herd(pool, n, weighting="free", **options),
        "SBQ": lambda n: ss.sbq(pool, n, **options),
        "SBQ, then herding": switched,
    }


def _seconds(choose: Callable[[int], object], n: int) -> float:
    """Return the median time of choosing n points, weights included."""
    taken = []
    for _ in range(_REPEATS):
        start = time.perf_counter()
        choose(n)
        taken.append(time.perf_counter() - start)
    return float(np.median(taken))
