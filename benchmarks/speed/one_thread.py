"""A whole fit on one thread over the cost of as many features, in processor time: what the stream itself costs."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.speed.report import Benchmark, Context, Result, Row, Target
from benchmarks.speed.timing import in_child
from benchmarks.speed.workloads import clustered_directions, mixture
from supersample import SuperSampler
from supersample._typing import Points

__all__ = ["BENCHMARK"]

_BLOCK = 3072
#: Columns, points, features, rows, and the largest ratio.
_CASES = (
    (2, 100, 200, 1_000_000, 3.0),
    (2, 1_000, 200, 1_000_000, 8.0),
    (64, 100, 512, 400_000, 2.0),
    (64, 1_000, 1_024, 400_000, 3.5),
    (768, 1_000, 2_048, 100_000, 3.0),
)


def measure(width: int, m: int, n_features: int, n: int, rounds: int) -> dict[str, Any]:
    """Time a fit, and two ways to compute and average the same features, in turns; the shortest processor time of each."""
    points: Points = clustered_directions(0, n, width) if width > 64 else mixture(0, n, width)[0]
    sampler = SuperSampler(m, features="fourier", n_features=n_features, random_state=0)
    feature_map = sampler.fit(points[:20_000]).feature_map_  # compiles, too
    frequencies = np.random.default_rng(0).standard_normal((width, n_features), dtype=np.float32)

    def of_map() -> None:
        total = np.zeros(n_features)
        for start in range(0, n, _BLOCK):
            total += feature_map.transform(points[start : start + _BLOCK]).sum(axis=0, dtype=np.float64)

    def of_numpy() -> None:
        total = np.zeros(n_features)
        for start in range(0, n, _BLOCK):
            features = points[start : start + _BLOCK].astype(np.float32, copy=False) @ frequencies
            total += np.cos(features, out=features).mean(axis=0)

    works: dict[str, Callable[[], Any]] = {"fit": lambda: sampler.fit(points), "map": of_map, "numpy": of_numpy}
    best = dict.fromkeys(works, float("inf"))
    for _ in range(rounds):
        for name, work in works.items():
            start = time.process_time()
            work()
            best[name] = min(best[name], time.process_time() - start)
    start = time.process_time()
    mmd = sampler.mmd_
    return {**best, "reading": time.process_time() - start, "mmd": mmd, "random": sampler.random_mmd_}


def _run(context: Context) -> Result:
    rows: list[Row] = []
    targets = []
    for width, m, n_features, n, goal in _CASES:
        some, rounds = (n // 10, 2) if context.quick else (n, 3)
        taken = in_child(measure, threads=1, width=width, m=m, n_features=n_features, n=some, rounds=rounds)
        floor = min(taken["map"], taken["numpy"])
        rows.append(
            {
                "d": width, "M": m, "D": n_features, "rows": some, "fit s": taken["fit"], "map s": taken["map"],
                "numpy s": taken["numpy"], "ratio": taken["fit"] / floor, "reading s": taken["reading"],
                "held-out MMD": taken["mmd"], "random MMD": taken["random"],
            }
        )  # fmt: skip
        targets.append(
            Target(f"fit / floor, d = {width}, M = {m:,}, D = {n_features:,}", taken["fit"] / floor, "at most", goal)
        )
    return Result(rows, targets, ["processor seconds of one thread, shortest of several in turns; Fourier features"])


BENCHMARK = Benchmark(
    "SuperSampler.fit on one thread, over the floor of its features",
    [
        "The floor is the faster of the map's own transform, summed in float64, and NumPy's float32 product, cosine and mean.",
        "The fit includes its warm-up, the 128 held-out features and the background sample; its reading is shown apart.",
        "Rows are a Gaussian mixture in float64; of 768 columns, clustered unit vectors in float32.",
    ],
    _run,
)
