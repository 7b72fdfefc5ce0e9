"""Batch selection from wide rows, beside an older version of the package: `--against` names its checkout."""

import time
from pathlib import Path
from typing import Any

import numpy as np

import supersample as ss
from benchmarks.speed.report import Benchmark, Context, Result, Row, Target
from benchmarks.speed.timing import in_child
from benchmarks.speed.truth import median_kernel
from benchmarks.speed.workloads import clustered_directions

__all__ = ["BENCHMARK"]

_WIDTH, _FEATURES, _ROUNDS = 768, 1_024, 2
_CASES = {
    "herd": ("herd", 1_000, False),
    "sbq": ("sbq", 500, False),
    "frank_wolfe": ("frank_wolfe", 200, False),
    "herd by features": ("herd", 1_000, True),
    "sbq by features": ("sbq", 500, True),
}


def selected(n: int, m: int, method: str, by_features: bool) -> dict[str, Any]:
    """Select m of n clustered unit vectors; a first small call compiles."""
    points = clustered_directions(0, n, _WIDTH).astype(np.float64)
    kernel = median_kernel(points)
    given: dict[str, Any] = {"kernel": kernel}
    if by_features:
        given = {"features": ss.features.Fourier(kernel, _FEATURES, random_state=0)}
    getattr(ss, method)(clustered_directions(1, 6_000, _WIDTH).astype(np.float64), 5, random_state=0, **given)
    start, processor = time.perf_counter(), time.process_time()
    found = getattr(ss, method)(points, m, random_state=0, **given)
    return {
        "seconds": time.perf_counter() - start,
        "processor": time.process_time() - processor,
        "mmd": float(found.mmd[-1]),
        "indices": found.indices.tolist(),
    }


def _run(context: Context) -> Result:
    here = Path(ss.__file__).resolve().parents[2]
    trees = {"new": here} | ({} if context.against is None else {"old": context.against.resolve()})
    rows: list[Row] = []
    targets = []
    best: dict[tuple[str, str], dict[str, Any]] = {}
    for case, (method, m, by_features) in _CASES.items():
        n, count = (6_000, 50) if context.quick else (50_000, m)
        for _ in range(1 if context.quick else _ROUNDS):
            for name, tree in trees.items():
                given: dict[str, Any] = {"n": n, "m": count, "method": method, "by_features": by_features}
                found = in_child(selected, variables={"PYTHONPATH": str(tree / "src")}, **given)
                before = best.setdefault((case, name), found)
                for clock in ("seconds", "processor"):
                    found[clock] = min(found[clock], before[clock])
                best[case, name] = found
        new, old = best[case, "new"], best.get((case, "old"))
        row: Row = {"selection": f"{case}({count}) of {n:,} x {_WIDTH}", "s": new["seconds"], "processor s": new["processor"],
                    "MB": new["peak_mb"], "MMD": new["mmd"]}  # fmt: skip
        if old is not None:
            same = sum(a == b for a, b in zip(new["indices"], old["indices"], strict=True))
            # What features are to be faster than is the exact selection of the old version.
            exact = best[case.removesuffix(" by features"), "old"]
            row |= {"old s": old["seconds"], "old processor s": old["processor"], "old MB": old["peak_mb"],
                    "old exact / new": exact["seconds"] / new["seconds"], "same": same / count}  # fmt: skip
            goal = 10.0 if by_features else 2.5
            targets.append(Target(f"exact selection before / {case} now", exact["seconds"] / new["seconds"], "at least", goal))
        rows.append(row)
    return Result(rows, targets, [])


BENCHMARK = Benchmark(
    "Batch selection from 50,000 x 768 clustered unit vectors",
    [
        "Each selection in a process of its own, both versions in turns, best of two; with the target's embedding.",
        "Processor seconds are those of all threads. 'same': the share of places with the same row in both versions.",
        "Without --against (the folder of an older checkout) there is nothing to compare with.",
    ],
    _run,
)
