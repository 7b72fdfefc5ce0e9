"""Sorted streams against shuffled ones, with and without the second look."""

import time

import numpy as np

from benchmarks.speed.report import Benchmark, Context, Result, Row, Target
from benchmarks.speed.truth import Truth, median_kernel
from benchmarks.speed.workloads import ORDERS, arranged, mixture
from supersample import SuperSampler
from supersample._typing import Floats
from supersample.selection import stream

__all__ = ["BENCHMARK"]

_CASES = ((2, 100_000, 100), (10, 65_536, 256))


def _before_and_after(sampler: SuperSampler, points: Floats) -> tuple[Floats, Floats, float]:
    """Return what the reservoir holds at the end of the stream, what is shown after the second look, and seconds for both."""
    start = time.perf_counter()
    shown = sampler.fit(points).prototypes_
    seconds = time.perf_counter() - start
    return stream.drain(sampler._now.state).reservoir.rows.points, np.asarray(shown, dtype=np.float64), seconds


def _run(context: Context) -> Result:
    mixtures = 2 if context.quick else 10
    rows: list[Row] = []
    targets = []
    for width, most, m in _CASES:
        n = 3_000 if context.quick else most
        outcomes: dict[str, list[tuple[float, float, float]]] = {order: [] for order in ORDERS}
        for seed in range(mixtures):
            points, labels = mixture(seed, n, width)
            truth = Truth(points, median_kernel(points))
            for order in ORDERS:
                sampler = SuperSampler(m, bandwidth=truth.kernel.bandwidth, random_state=seed)
                held, shown, seconds = _before_and_after(sampler, arranged(points, labels, order))
                outcomes[order].append((truth.mmd(held), truth.mmd(shown), seconds))
        for order in ORDERS:
            found = outcomes[order]
            bare, looked, seconds = np.mean(found, axis=0)
            ratio = float(looked / np.mean(outcomes["shuffled"], axis=0)[1])
            rows.append(
                {
                    "data": f"d = {width}, {order}",
                    "N": n,
                    "M": m,
                    "seconds": float(seconds),
                    "true MMD, stream only": float(bare),
                    "with second look": float(looked),
                    "+-": float(np.std([each[1] for each in found], ddof=1) / np.sqrt(mixtures)),
                    "stream only / with": float(bare / looked),
                    "with / shuffled": ratio,
                }
            )
            if order != "shuffled":
                targets.append(Target(f"true MMD, sorted {order} / shuffled, d = {width}", ratio, "at most", 2.0))
    return Result(rows, targets, [f"mean of {mixtures} mixtures of ten Gaussians; features='auto'"])


BENCHMARK = Benchmark(
    "streams sorted by a coordinate and by cluster against shuffled ones",
    [
        "All orders have one bandwidth, the median of the shuffled sample: a sorted stream's first rows would give another.",
        "The map still comes from the first 5,000 rows, which in a sorted stream are all from one place.",
        "'stream only' is what the reservoir holds at the end; a user never sees it, since reading takes the second look.",
    ],
    _run,
)
