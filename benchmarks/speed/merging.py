"""Two halves merged against one pass over all rows."""

import time

import numpy as np

from benchmarks.speed.report import Benchmark, Context, Result, Row, Target
from benchmarks.speed.truth import Truth, median_kernel
from benchmarks.speed.workloads import Order, arranged, mixture
from supersample import SuperSampler
from supersample._typing import Points

__all__ = ["BENCHMARK"]

_CASES = ((2, 100_000, 100), (10, 65_536, 256))
_ORDERS: tuple[Order, ...] = ("shuffled", "by coordinate")


def _merged(first: SuperSampler, points: Points) -> Points:
    half = len(points) // 2
    first.fit(points[:half])
    return first.merge(first.empty_like(1).partial_fit(points[half:])).prototypes_


def _run(context: Context) -> Result:
    mixtures = 2 if context.quick else 5
    rows: list[Row] = []
    targets = []
    for width, most, m in _CASES:
        n = 3_000 if context.quick else most
        for order in _ORDERS:
            found = []
            for seed in range(mixtures):
                points, labels = mixture(seed, n, width)
                truth = Truth(points, median_kernel(points))
                ordered = arranged(points, labels, order)
                sampler = SuperSampler(m, bandwidth=truth.kernel.bandwidth, random_state=seed)
                start = time.perf_counter()
                whole = sampler.fit(ordered).prototypes_
                middle = time.perf_counter()
                both = _merged(sampler, ordered)
                end = time.perf_counter()
                found.append((truth.mmd(whole), truth.mmd(both), middle - start, end - middle))
            whole_mmd, merged_mmd, whole_seconds, merged_seconds = (float(each) for each in np.mean(found, axis=0))
            rows.append(
                {
                    "data": f"d = {width}, {order}",
                    "N": n,
                    "M": m,
                    "one pass, true MMD": whole_mmd,
                    "merged": merged_mmd,
                    "merged / one pass": merged_mmd / whole_mmd,
                    "one pass s": whole_seconds,
                    "merged s": merged_seconds,
                }
            )
            targets.append(
                Target(f"true MMD, merged halves / one pass, d = {width}, {order}", merged_mmd / whole_mmd, "at most", 1.5)
            )
    return Result(rows, targets, [f"mean of {mixtures} mixtures of ten Gaussians; features='auto'"])


BENCHMARK = Benchmark(
    "two halves of a stream, merged, against one pass over all of it",
    [
        "The second sampler is made with empty_like from the first, so both have the map of the first half's first rows.",
        "Sorted by a coordinate, the halves have hardly a point in common.",
        "'merged s' is for both halves one after the other, the merge and all readings; in use the halves run side by side.",
    ],
    _run,
)
