"""A stream from a generator: memory, the mean embedding and the held-out MMD, from 1e5 rows to 1e7."""

import math
from typing import Any

import numpy as np

from benchmarks.drained import drained
from benchmarks.speed.report import Benchmark, Context, Result, Row, Target
from benchmarks.speed.timing import in_child
from supersample import SuperSampler
from supersample._typing import Floats

__all__ = ["BENCHMARK"]

_CHUNK = 50_000
_WIDTH = 2


def followed(n: int) -> dict[str, Any]:
    """Feed n generated rows to a sampler and read everything it has to say."""
    sampler = _sampler()
    for index in range(n // _CHUNK):
        sampler.partial_fit(_chunk(index))
    mean = drained(sampler).moments.mean()
    return {
        "mmd": sampler.mmd_,
        "error": sampler.mmd_error_,
        "random": sampler.random_mmd_,
        "mean": mean.tolist(),
    }


def _sampler() -> SuperSampler:
    return SuperSampler(100, random_state=0)


def _chunk(index: int) -> Floats:
    generator = np.random.default_rng([11, index])
    return generator.standard_normal((_CHUNK, _WIDTH)) + 4.0 * generator.integers(0, 3, (_CHUNK, 1))


def _oracle(n: int) -> Floats:
    """Return the mean of the same float32 features: float64 means of chunks, added without rounding."""
    feature_map = _sampler().partial_fit(_chunk(0)).feature_map_
    means = [feature_map.transform(_chunk(index)).mean(axis=0, dtype=np.float64) for index in range(n // _CHUNK)]
    return np.array([math.fsum(column) for column in np.transpose(means)]) / len(means)


def _run(context: Context) -> Result:
    sizes = (50_000, 100_000, 300_000) if context.quick else (100_000, 1_000_000, 10_000_000)
    taken = {n: in_child(followed, n=n) for n in sizes}
    rows: list[Row] = [
        {
            "rows": n,
            "peak MB": each["peak_mb"],
            "held-out MMD": each["mmd"],
            "+-": each["error"],
            "random MMD": each["random"],
        }
        for n, each in taken.items()
    ]
    small, middle, large = (taken[n] for n in sizes)
    error = float(np.abs(np.array(large["mean"]) - _oracle(sizes[-1])).max())
    return Result(
        rows,
        [
            Target(f"peak MB at {sizes[2]:,} - at {sizes[0]:,}", large["peak_mb"] - small["peak_mb"], "at most", 5),
            Target(f"largest error of mu at {sizes[2]:,}", error, "at most", 1e-12),
            Target(f"held-out MMD at {sizes[2]:,} / at {sizes[1]:,}", large["mmd"] / middle["mmd"], "at most", 1.25),
        ],
        [f"d = {_WIDTH}, M = 100, features='auto'; {_CHUNK:,} rows at a time"],
    )


BENCHMARK = Benchmark(
    "10,000,000 rows from a generator: memory, error of the mean embedding, held-out MMD",
    [
        "Peak memory is that of a whole process, and includes the second look and the readings.",
        "mu is compared with the mean of the same float32 features: rounding of sums is measured, not that of features.",
        "The held-out MMD has the same 128 features at every length, so that much of its error is common to both.",
    ],
    _run,
)
