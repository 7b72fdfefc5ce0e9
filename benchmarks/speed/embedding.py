"""The mean embedding of a long float32 stream: rows a second, and how far it is from float64."""

import math
import time
from typing import Any

import numpy as np

from benchmarks.speed.report import Benchmark, Context, Result, Row, Target
from benchmarks.speed.timing import in_child
from supersample import MeanEmbedding
from supersample._typing import Floats, Reals
from supersample.features import Fourier
from supersample.kernels import Gaussian

__all__ = ["BENCHMARK"]

_CHUNK = 250_000
_WIDTH = 2
_N_FEATURES = 64


def stream(n: int) -> dict[str, Any]:
    """Feed the stream to an embedding; only the updates are timed."""
    MeanEmbedding(_map(np.float32)).update(_chunk(0)[:1])  # compile
    embedding = MeanEmbedding(_map(np.float32))
    seconds = 0.0
    for index in range(n // _CHUNK):
        rows = _chunk(index)
        start = time.perf_counter()
        embedding.update(rows)
        seconds += time.perf_counter() - start
    return {"seconds": seconds, "mean": embedding.mean.tolist()}


def _map(dtype: type[np.float32] | type[np.float64]) -> Fourier:
    return Fourier(Gaussian(1.0), _N_FEATURES, dtype=dtype, random_state=0)


def _chunk(index: int) -> Reals:
    return np.random.default_rng([7, index]).standard_normal((_CHUNK, _WIDTH), dtype=np.float32)


def _oracles(n: int) -> dict[str, Floats]:
    """Return three means, each from float64 means of chunks, added without rounding.

    They differ in what is done in float64: the sums alone; the waves too, with the float32 map's own frequencies and
    amplitude; or all, frequencies and amplitude included.
    """
    narrow, wide = _map(np.float32), _map(np.float64)
    frequencies = np.asarray(narrow.drawn(_WIDTH), dtype=np.float64)
    amplitude = float(np.float32(math.sqrt(2.0 / _N_FEATURES)))
    means: dict[str, list[Floats]] = {"sums": [], "sums and waves": [], "everything": []}
    for index in range(n // _CHUNK):
        rows = _chunk(index)
        projections = rows.astype(np.float64) @ frequencies
        waves = np.concatenate([np.cos(projections), np.sin(projections)], axis=1)
        means["sums"].append(narrow.transform(rows).mean(axis=0, dtype=np.float64))
        means["sums and waves"].append(amplitude * waves.mean(axis=0))
        means["everything"].append(wide.transform(rows).mean(axis=0, dtype=np.float64))
    return {name: np.array([math.fsum(column) for column in np.transpose(of)]) / len(of) for name, of in means.items()}


def _run(context: Context) -> Result:
    n = 500_000 if context.quick else 10_000_000
    taken = in_child(stream, n=n)
    mean = np.array(taken["mean"])
    errors = {name: float(np.abs(mean - oracle).max()) for name, oracle in _oracles(n).items()}
    rows: list[Row] = [{"oracle: float64 in": name, "largest error": error} for name, error in errors.items()]
    speed = f"{n:,} rows in {taken['seconds']:.3g} s: {n / taken['seconds']:,.0f} rows/s; peak {taken['peak_mb']:.0f} MB"
    return Result(
        rows,
        [Target("largest error against float64 in everything", errors["everything"], "at most", 1e-9)],
        [f"{speed}; d = {_WIDTH}, D = {_N_FEATURES}"],
    )


BENCHMARK = Benchmark(
    "MeanEmbedding of 10,000,000 float32 rows, d = 2, D = 64: speed and error",
    [
        "The error is of the sample's mean feature vector, not of the population's: no sampling error is in it.",
        "Rows are made in chunks of 250,000; making them is not timed, and no more than a chunk is held.",
        "'everything' compares with the map of dtype float64 and the same seed, so it includes what float32 rounds off "
        "frequencies and amplitude, which no length of stream averages out.",
    ],
    _run,
)
