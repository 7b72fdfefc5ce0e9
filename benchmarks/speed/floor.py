"""Fourier features against their floor: the bare NumPy product and cosine."""

from typing import Any

import numpy as np

from benchmarks.speed.report import Benchmark, Context, Result, Row, Target
from benchmarks.speed.timing import in_child, race
from benchmarks.speed.workloads import BANDWIDTH, D, two_samples
from supersample._typing import Reals
from supersample.features import Fourier
from supersample.kernels import Gaussian

__all__ = ["BENCHMARK"]

_N_FEATURES = 1024


def against_numpy(n: int, rounds: int) -> dict[str, Any]:
    """Time both forms of the map and the floor in turns."""
    x, _ = two_samples(n)
    paired = Fourier(Gaussian(BANDWIDTH), _N_FEATURES, random_state=0)
    phase = Fourier(Gaussian(BANDWIDTH), _N_FEATURES, form="phase", random_state=0)
    w = np.ascontiguousarray(phase.drawn(D))

    def floor() -> Reals:
        features: Reals = x @ w
        np.cos(features, out=features)
        return features

    works = {"paired": lambda: paired.transform(x), "phase": lambda: phase.transform(x), "floor": floor}
    race(1, works)
    return {"seconds": race(rounds, works)}


def _run(context: Context) -> Result:
    n, rounds = (5_000, 3) if context.quick else (50_000, 15)
    rows: list[Row] = []
    targets = []
    for label, threads in (("one thread", 1), ("all threads", None)):
        seconds = in_child(against_numpy, threads=threads, n=n, rounds=rounds)["seconds"]
        ratios = {form: seconds[form] / seconds["floor"] for form in ("paired", "phase")}
        rows.append(
            {
                "threads": label,
                "X @ W, cos: s": seconds["floor"],
                "Fourier s": seconds["paired"],
                "ratio": ratios["paired"],
                "phase form s": seconds["phase"],
                "phase ratio": ratios["phase"],
            }
        )
        targets.append(Target(f"Fourier.transform / floor, {label}", ratios["paired"], "at most", 1.3))
    return Result(rows, targets, [f"n = {n:,}, d = {D}, D = {_N_FEATURES:,}, float32; best of {rounds}, taken in turns"])


BENCHMARK = Benchmark(
    "Fourier.transform at d = 16, D = 1,024, float32, against NumPy's X @ W and cos in place",
    [
        "The default form takes cosine and sine of D / 2 projections; the floor D cosines, after a product twice as large. "
        "The phase form, which projects as the floor does, is shown beside it and has no target.",
        "Both allocate their result, and both pay for its first touch.",
        "With all threads NumPy's product is threaded and its cosine is not; one thread is the fair comparison.",
    ],
    _run,
)
