"""MMD^2 of two large samples: by Fourier features, exactly, and by a plain NumPy loop."""

import math
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.speed.report import Benchmark, Context, Result, Row, Target
from benchmarks.speed.timing import best_of, in_child
from benchmarks.speed.workloads import BANDWIDTH, D, two_samples
from supersample import mmd2
from supersample._typing import Floats
from supersample.discrepancy.mmd import Method
from supersample.kernels import Gaussian

__all__ = ["BENCHMARK"]

_BLOCK = 500
_N_FEATURES = 256


def ours(method: Method, n: int, rounds: int) -> dict[str, Any]:
    """Time one method of `mmd2` and keep its value."""
    x, y = two_samples(n)
    values: list[float] = []

    def work(rows: int = n) -> None:
        kernel = Gaussian(BANDWIDTH)
        values.append(mmd2(x[:rows], y[:rows], kernel=kernel, method=method, n_features=_N_FEATURES, random_state=0))

    work(1000)  # compile
    return {"seconds": best_of(rounds, work), "mmd2": values[-1]}


def plainly(n: int, n_timed: int) -> dict[str, Any]:
    """Time an evenly spread share of the blocks of the plain loop, and scale up to all of them."""
    _check_plain_loop()
    samples = _widened(n)
    blocks = list(_blocks(n))
    timed = blocks[:: max(1, len(blocks) // n_timed)]
    start = time.perf_counter()
    for left, i, right, j, _ in timed:
        _block_sum(samples[left][i : i + _BLOCK], samples[right][j : j + _BLOCK])
    seconds = (time.perf_counter() - start) * len(blocks) / len(timed)
    return {"seconds": seconds, "n_timed": len(timed), "n_blocks": len(blocks)}


def _widened(n: int) -> dict[str, Floats]:
    x, y = two_samples(n)
    return {"x": x.astype(np.float64), "y": y.astype(np.float64)}


def _block_sum(a: Floats, b: Floats) -> float:
    squared = ((a[:, None] - b[None]) ** 2).sum(-1)
    return float(np.exp(squared / (-2.0 * BANDWIDTH**2)).sum())


def _blocks(n: int) -> Iterator[tuple[str, int, str, int, float]]:
    """Yield each pair of blocks and its share of MMD^2; within a sample, those on and above the diagonal."""
    starts = range(0, n, _BLOCK)
    for sample in ("x", "y"):
        yield from ((sample, i, sample, j, (1.0 if i == j else 2.0) / n**2) for i in starts for j in starts if i <= j)
    yield from (("x", i, "y", j, -2.0 / n**2) for i in starts for j in starts)


def _check_plain_loop() -> None:
    samples = _widened(2 * _BLOCK)
    value = math.fsum(
        factor * _block_sum(samples[left][i : i + _BLOCK], samples[right][j : j + _BLOCK])
        for left, i, right, j, factor in _blocks(2 * _BLOCK)
    )
    expected = mmd2(samples["x"], samples["y"], kernel=Gaussian(BANDWIDTH))
    if not math.isclose(value, expected, rel_tol=1e-9):
        raise AssertionError(f"the plain loop gives {value} and mmd2 {expected}: they must measure the same thing")


def _run(context: Context) -> Result:
    n = 5_000 if context.quick else 100_000
    fourier = in_child(ours, method="fourier", n=n, rounds=7)
    exact = in_child(ours, method="exact", n=n, rounds=1)
    plain = in_child(plainly, n=n, n_timed=40 if context.quick else 400)
    rows: list[Row] = [
        {
            "method": name,
            "seconds": taken["seconds"],
            "times Fourier": taken["seconds"] / fourier["seconds"],
            "peak MB": taken["peak_mb"],
            "MMD^2": taken.get("mmd2"),
        }
        for name, taken in (("Fourier, 256 features", fourier), ("exact", exact), ("plain NumPy loop", plain))
    ]
    share = f"the plain loop's seconds are scaled up from {plain['n_timed']:,} of its {plain['n_blocks']:,} blocks"
    return Result(
        rows,
        [
            Target("exact / Fourier", exact["seconds"] / fourier["seconds"], "at least", 100),
            Target("plain NumPy loop / Fourier", plain["seconds"] / fourier["seconds"], "at least", 2000),
        ],
        [f"n = {n:,} + {n:,}, d = {D}; {share}"],
    )


BENCHMARK = Benchmark(
    "MMD^2 of 100,000 + 100,000 rows, d = 16, L = 128 frequencies, against exact code",
    [
        "Fourier features approximate the kernel: its MMD^2 differs from the exact one as the table shows.",
        "The plain loop (500 x 500 broadcasts in float64) uses one core, as NumPy does; the other two use all.",
        "The plain loop is spared half of the symmetric blocks, as our exact code is.",
    ],
    _run,
)
