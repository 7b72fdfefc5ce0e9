"""Fourier against Fastfood features, over the width of the input."""

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from benchmarks.speed.report import Benchmark, Context, Result, Row, Target
from benchmarks.speed.timing import race
from supersample._typing import Points
from supersample.features import Fastfood, FeatureMap, Fourier
from supersample.kernels import Gaussian

__all__ = ["BENCHMARK"]

_WIDTHS = (8, 16, 32, 64, 128, 256, 512, 1024)


def _run(context: Context) -> Result:
    n, n_features = (1_000, 2_048) if context.quick else (10_000, 16_384)
    rows: list[Row] = []
    ratios = []
    for width in _WIDTHS:
        seconds, errors = _at_width(width, n, n_features)
        ratios.append(seconds["Fourier"] / seconds["Fastfood"])
        rows.append(
            {
                "d": width,
                "Fourier s": seconds["Fourier"],
                "Fastfood s": seconds["Fastfood"],
                "Fourier / Fastfood": ratios[-1],
                "Fourier rms error of k": errors["Fourier"],
                "Fastfood rms error of k": errors["Fastfood"],
            }
        )
    return Result(
        rows,
        [Target(f"Fourier / Fastfood at d = {_WIDTHS[-1]}", ratios[-1], "at least", 3)],
        [f"n = {n:,}, {n_features:,} features ({n_features // 2:,} frequencies), float32; {_crossing(ratios)}"],
    )


def _at_width(width: int, n: int, n_features: int) -> tuple[dict[str, float], dict[str, float]]:
    """Return seconds and error of each map."""
    points = np.random.default_rng(width).standard_normal((n, width), dtype=np.float32)
    kernel = Gaussian(math.sqrt(2.0 * width))
    maps: dict[str, FeatureMap] = {
        "Fourier": Fourier(kernel, n_features, random_state=0),
        "Fastfood": Fastfood(kernel, n_features, random_state=0),
    }
    errors = {name: _kernel_error(each, points[:300], kernel) for name, each in maps.items()}  # and draws, and compiles
    seconds = race(3, {name: partial(each.transform, points) for name, each in maps.items()})
    return seconds, errors


def _kernel_error(feature_map: FeatureMap, points: Points, kernel: Gaussian) -> float:
    features = feature_map.transform(points).astype(np.float64)
    return float(np.sqrt(np.mean((features @ features.T - kernel(points)) ** 2)))


def _crossing(ratios: Sequence[float]) -> str:
    """Say from where on the ratio stays above one, on a straight line between logarithms."""
    slower = [index for index, ratio in enumerate(ratios) if ratio < 1.0]
    if not slower:
        return f"Fastfood is faster from d = {_WIDTHS[0]} on"
    last = slower[-1]
    if last == len(ratios) - 1:
        return f"Fourier is faster at d = {_WIDTHS[-1]}, the widest"
    below, above = math.log(ratios[last]), math.log(ratios[last + 1])
    low, high = math.log(_WIDTHS[last]), math.log(_WIDTHS[last + 1])
    crossing = math.exp(low + (high - low) * -below / (above - below))
    return f"they cross at d = {crossing:.0f}, between {_WIDTHS[last]} and {_WIDTHS[last + 1]}"


BENCHMARK = Benchmark(
    "Fourier against Fastfood features: 10,000 rows, L = 8,192 frequencies, d = 8 to 1,024",
    [
        "Both write the same cosines and sines, which no projection can save: they bound the ratio.",
        "Fastfood pads the width to a power of two; the sweep takes powers of two only, so just above one it does worse.",
        "Drawing the frequencies is not timed: it happens once a map.",
    ],
    _run,
)
