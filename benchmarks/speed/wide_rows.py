"""Rows of 768 numbers: the true MMD of a stream's selection beside exact herding of all rows."""

import time
from typing import Any

import numpy as np

import supersample as ss
from benchmarks.speed.datasets import mnist
from benchmarks.speed.report import Benchmark, Context, Result, Row, Target
from benchmarks.speed.truth import Truth, median_kernel
from benchmarks.speed.workloads import clustered_directions
from supersample._typing import Floats

__all__ = ["BENCHMARK"]

_SIZES = (100, 1_000, 4_000)
_MOST = 1.05


def judged(points: Floats, sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    """Return seconds and true MMD of both for each number of points; herding is sequential, so it runs once."""
    kernel = median_kernel(points)
    truth = Truth(points, kernel)
    start = time.perf_counter()
    herded = ss.herd(points, max(sizes), kernel=kernel, random_state=0).indices
    herding = time.perf_counter() - start
    found = []
    for m in sizes:
        sampler = ss.SuperSampler(m, bandwidth=kernel.bandwidth, random_state=0)
        start = time.perf_counter()
        chosen = sampler.fit(points).prototype_indices_
        seconds = time.perf_counter() - start
        random = np.random.default_rng(0).choice(len(points), m, replace=False)
        mmds = (truth.mmd(points[each]) for each in (chosen, herded[:m], random))
        found.append({"m": m, "seconds": seconds, "herding": herding, "D": sampler.feature_map_.n_features, "mmd": tuple(mmds)})
    return found


def _run(context: Context) -> Result:
    vectors = clustered_directions(0, 4_000 if context.quick else 20_000, 768).astype(np.float64)
    sets = {"clustered unit vectors, 768": vectors}
    if (context.data / "mnist_train.parquet").exists():
        sets["MNIST, 784"] = mnist(context.data, 4_000 if context.quick else 50_000)
    rows: list[Row] = []
    targets = []
    for name, points in sets.items():
        for each in judged(points, _SIZES[:2] if context.quick else _SIZES):
            ours, herding, random = each["mmd"]
            rows.append(
                {"data": f"{name}, M = {each['m']:,}", "D": each["D"], "ours": ours, "exact herding": herding, "random": random,
                 "seconds": each["seconds"], "herding of the most s": each["herding"]}
            )  # fmt: skip
            told = f"true MMD, ours / exact herding, {name}, M = {each['m']:,}"
            targets.append(Target(told, ours / herding, "at most", _MOST))
    return Result(rows, targets, [])


BENCHMARK = Benchmark(
    "Wide rows: SuperSampler beside exact herding",
    [
        "One bandwidth, the median distance, for both. Herding has all rows as candidates and the exact kernel, in memory.",
        "Herding takes no row twice. One seed.",
    ],
    _run,
)
