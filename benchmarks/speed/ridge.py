"""How well the calibrated background stands for the stream, over the ridge of the calibration."""

from collections.abc import Iterator
from dataclasses import replace
from unittest.mock import patch

import numpy as np

from benchmarks.speed.datasets import covtype, electricity
from benchmarks.speed.report import Benchmark, Context, Result, Row
from benchmarks.speed.truth import Truth, median_kernel
from benchmarks.speed.workloads import arranged, mixture
from supersample import SuperSampler
from supersample._typing import Floats
from supersample.selection import stream
from supersample.selection.stream import background, calibration

__all__ = ["BENCHMARK"]

_RIDGES = (1e-7, 1e-5, 1e-3, 1e-1)


def _orders(context: Context) -> Iterator[tuple[str, Floats, Floats]]:
    """Yield each data set with the rows as they come."""
    for width, n in ((2, 100_000), (10, 65_536)):
        points, labels = mixture(0, 6_000 if context.quick else n, width)
        for order in ("shuffled", "by coordinate"):
            yield f"mixture, d = {width}, {order}", points, arranged(points, labels, order)
    thin = 8 if context.quick else 1
    for name, rows in (("electricity", electricity(context.data)[::thin]), ("CovType", covtype(context.data)[::thin])):
        yield f"{name}, shuffled", rows, rows[np.random.default_rng(0).permutation(len(rows))]
        yield f"{name}, file order", rows, rows


def _distances(truth: Truth, points: Floats, seeds: int) -> dict[str, float]:
    """Return the mean true MMD between the data and the background: as drawn, and calibrated with each ridge."""
    found = []
    for seed in range(seeds):
        sampler = SuperSampler(100, bandwidth=truth.kernel.bandwidth, random_state=seed).fit(points)
        state = stream.drain(sampler._now.state)
        state = replace(state, background=background.settled(state.background, state.settings.n_background))
        sample, shares = state.background.rows.points, state.background.shares()
        features, mean = sampler.feature_map_.transform(sample), state.moments.mean()
        weights = [shares]
        for ridge in _RIDGES:
            with patch.object(calibration, "_RIDGE", ridge):
                weights.append(calibration.calibrate(features, shares, mean))
        found.append(truth.mmds(sample, np.column_stack(weights)))
    names = ("as drawn", *(f"ridge {ridge:g}" for ridge in _RIDGES))
    return {name: float(value) for name, value in zip(names, np.mean(found, axis=0), strict=True)}


def _run(context: Context) -> Result:
    seeds = 1 if context.quick else 2
    rows: list[Row] = []
    truth: Truth | None = None
    for name, points, ordered in _orders(context):
        if truth is None or truth.points is not points:
            truth = Truth(points, median_kernel(points))
        rows.append({"data": name, "N": len(points), **_distances(truth, ordered, seeds)})
    return Result(rows, [], [f"true MMD between the weighted background of 5,000 and the data, mean of {seeds} seeds"])


BENCHMARK = Benchmark(
    "the background that the second look takes for the data, over the ridge of its calibration",
    [
        "This is the distance of the target from the data: no selection can be known to be nearer than that.",
        "features='auto'; in sorted streams its landmarks are all from one place, and Fourier features do most of the work.",
    ],
    _run,
)
