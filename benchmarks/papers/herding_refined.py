"""Section 6 of Huszar and Duvenaud (2012): does a local optimiser that starts from the best candidate change the choice?"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import supersample as ss
from benchmarks.papers.figures import write_numbers
from benchmarks.papers.herding_data import KERNEL, Pool

__all__ = ["local_optimisation"]

Measure = ss.measures.GaussianMixture

_METHODS = {"herding": ss.herd, "SBQ": ss.sbq}


def local_optimisation(out: Path, measure: Measure, pools: list[Pool], count: int, mapped: Callable[..., Any]) -> None:
    """Choose with and without moving each point uphill from its candidate, and compare MMD and places."""
    numbers: dict[str, Any] = {}
    for name in _METHODS:
        found = list(mapped(partial(_refined, measure, name, count), pools))
        ratios = np.array([path / pool.paths[name][:count] for (path, _), pool in zip(found, pools, strict=True)])
        moved = np.concatenate([each for _, each in found])
        at = {n: (float(ratios[:, n - 1].mean()), float(ratios[:, n - 1].std(ddof=1))) for n in (8, 20, 100, 200) if n <= count}
        numbers[name] = {"mmd_ratio": at, "median_move": float(np.median(moved)), "largest_move": float(moved.max())}
        listed = ", ".join(f"{n}: {mean:.3f} +- {spread:.3f}" for n, (mean, spread) in at.items())
        print(
            f"section 6    {name}: MMD with local optimisation over MMD without, mean and deviation over {len(pools)} pools: "
            f"{listed}; a point moves by {np.median(moved):.3f} (median), {moved.max():.3f} at most, kernel width 0.5"
        )
    write_numbers(out / "local-optimisation", numbers)


def _refined(measure: Measure, name: str, count: int, pool: Pool) -> tuple[Any, Any]:
    found = _METHODS[name](pool.candidates, count, target=measure, kernel=KERNEL, refine=True)
    return found.mmd, np.linalg.norm(found.points - pool.candidates[found.indices], axis=1)
