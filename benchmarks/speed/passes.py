"""One pass over the data against five."""

import time

import numpy as np

from benchmarks.speed.report import Benchmark, Context, Result, Row, Target
from benchmarks.speed.truth import Truth, median_kernel
from benchmarks.speed.workloads import mixture
from supersample import SuperSampler

__all__ = ["BENCHMARK"]

_PASSES = (1, 5)


def _run(context: Context) -> Result:
    mixtures, n = (2, 10_000) if context.quick else (10, 100_000)
    mmds: dict[int, list[float]] = {passes: [] for passes in _PASSES}
    seconds: dict[int, list[float]] = {passes: [] for passes in _PASSES}
    for seed in range(mixtures):
        points, _ = mixture(seed, n, 2)
        truth = Truth(points, median_kernel(points))
        for passes in _PASSES:
            sampler = SuperSampler(100, bandwidth=truth.kernel.bandwidth, random_state=seed)
            start = time.perf_counter()
            for _ in range(passes):
                sampler.partial_fit(points)
            chosen = sampler.prototypes_
            seconds[passes].append(time.perf_counter() - start)
            mmds[passes].append(truth.mmd(chosen))
    rows: list[Row] = [
        {
            "passes": passes,
            "seconds": float(np.mean(seconds[passes])),
            "true MMD": float(np.mean(mmds[passes])),
            "+-": float(np.std(mmds[passes], ddof=1) / np.sqrt(mixtures)),
        }
        for passes in _PASSES
    ]
    ratio = float(np.mean(mmds[1]) / np.mean(mmds[5]))
    return Result(
        rows,
        [Target("true MMD, one pass / five", ratio, "at most", 1.2)],
        [f"N = {n:,}, d = 2, M = 100, mean of {mixtures} mixtures of ten Gaussians; features='auto'"],
    )


BENCHMARK = Benchmark(
    "one pass over 100,000 rows against five passes over the same rows",
    ["Five passes are five calls of partial_fit with the same rows: a row may be held twice, as positions differ."],
    _run,
)
