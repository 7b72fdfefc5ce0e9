"""The reservoir paper's O(log M): what a row costs by exact search and by the tree, for M from 100 to 100,000."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.papers.figures import LINES, loglog_slope, panels, write_numbers
from benchmarks.speed.timing import in_child
from benchmarks.speed.workloads import mixture
from supersample import SuperSampler
from supersample._random import as_seed
from supersample._typing import Floats
from supersample.kernels import Gaussian
from supersample.selection import stream
from supersample.selection.stream.plan import CHUNK, settings_of
from supersample.selection.stream.rows import Rows

__all__ = ["cost", "run"]

#: Columns and the number of features, and the points.
_WIDTHS = {2: 200, 64: 512}
_SIZES = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
#: The stream is this many times M rows long before it is timed, and at least so many rows.
_BEFORE, _LEAST = 4, 50_000
#: Chunks that are timed; the one before them makes basis and tree.
_TIMED = 4


def cost(width: int, m: int, before: int) -> dict[str, Any]:
    """Take in the same rows after the same `before` rows, by either search; return processor microseconds a row."""
    points, _ = mixture(0, before + (1 + _TIMED) * CHUNK, width)
    settings = settings_of(
        n_prototypes=m, n_criticisms=0, kernel="gaussian", bandwidth="median", features="fourier", n_features=_WIDTHS[width],
        search="tree", random_state=as_seed(0).sequence(),
    )  # fmt: skip
    SuperSampler(100, kernel=Gaussian(1.0), random_state=0).fit(points[:10_000])  # compiles
    whole = before - before % CHUNK
    before_timing = stream.update(stream.init(settings, width), _rows(points[:whole]))
    found: dict[str, Any] = {}
    for search in ("exact", "tree"):
        state = replace(before_timing, settings=replace(before_timing.settings, search=search))
        state = stream.update(state, _rows(points[whole : whole + CHUNK]))
        compared, start = state.reservoir.histogram, time.process_time()
        after = stream.update(state, _rows(points[whole + CHUNK : whole + (1 + _TIMED) * CHUNK]))
        found[search] = (time.process_time() - start) / (_TIMED * CHUNK) * 1e6
        counts = after.reservoir.histogram - compared
        found[f"{search}_comparisons"] = float(counts @ np.arange(counts.size) / counts.sum())
        found["features"] = _alone(before_timing, points[whole:])
    return found


def _rows(points: Floats) -> Rows:
    n = len(points)
    return Rows(points, np.arange(n, dtype=np.int64), np.full(n, 0.5), np.ones(n, dtype=np.int64))


def _alone(state: stream.Stream, points: Floats) -> float:
    """Return what the features of a row cost, those that measure included."""
    plan = state.fixed_plan
    start = time.process_time()
    for phi in (plan.feature_map, plan.held_out):
        phi.transform(points)
    return (time.process_time() - start) / len(points) * 1e6


def run(out: Path, _: Path, quick: bool) -> None:
    """Draw microseconds a row against M, with the slopes of the lines; write the numbers."""
    numbers: dict[str, Any] = {}
    with panels(out / "cost", len(_WIDTHS)) as axes:
        for axis, width in zip(axes, _WIDTHS, strict=True):
            sizes = _SIZES[:3] if quick else _SIZES
            taken = [in_child(cost, threads=1, width=width, m=m, before=_before(m, quick)) for m in sizes]
            lines = {name: np.array([each[name] for each in taken]) for name in ("exact", "tree", "features")}
            for (name, values), style in zip(lines.items(), ("exact", "fourier", "linear"), strict=True):
                axis.loglog(sizes, values, **{**LINES[style], "label": name})
            axis.set(xlabel="M", ylabel="microseconds a row", title=f"d = {width}, D = {_WIDTHS[width]}")
            axis.legend()
            large = slice(-4, None)
            slopes = {name: loglog_slope(np.array(sizes[large]), lines[name][large]) for name in ("exact", "tree")}
            numbers[f"d = {width}"] = {"M": sizes, "slopes from the fourth largest M": slopes, "each": taken}
            for m, each in zip(sizes, taken, strict=True):
                print(
                    f"d = {width}  M = {m:>7,}  exact {each['exact']:9.2f} us, {each['exact_comparisons']:7.2f} comparisons; "
                    f"tree {each['tree']:8.2f} us, {each['tree_comparisons']:6.2f}; features alone {each['features']:.2f} us"
                )
            print(f"d = {width}  slopes of the last four, log to log: {slopes}", flush=True)
    write_numbers(out / "cost", numbers)


def _before(m: int, quick: bool) -> int:
    return max(10_000 if quick else _LEAST, _BEFORE * m)
