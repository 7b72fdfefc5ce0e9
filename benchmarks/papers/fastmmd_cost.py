"""FastMMD figure 6: what MMD^2 costs, against the number of rows and against their width."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from matplotlib.ticker import NullLocator

import supersample as ss
from benchmarks.papers.fastmmd_data import boxes
from benchmarks.papers.figures import LINES, loglog_slope, panels, write_numbers

__all__ = ["run"]

Method = Literal["exact", "block", "linear", "fourier", "fastfood"]
METHODS: tuple[Method, ...] = ("exact", "block", "linear", "fourier", "fastfood")

#: A call is repeated until this many seconds have gone into it, and its best time counts.
_ENOUGH_S = 0.5


def run(out: Path, data: Path, quick: bool) -> None:  # noqa: ARG001
    """Figure 6: seconds against N at d = 16, L = 128, and against d at N = 10^4, L = 8192; N rows in each sample."""
    rows = [1000, 3000] if quick else [1000, 3162, 10_000, 31_623, 100_000]
    widths = [8, 64] if quick else [8, 16, 32, 64, 128, 256, 512, 1024]
    fixed = 1000 if quick else 10_000
    by_rows = _measure([(n, 16) for n in rows], n_frequencies=128)
    by_width = _measure([(fixed, d) for d in widths], n_frequencies=8192)
    _report(by_rows, rows, "N")
    _report(by_width, widths, "d")
    write_numbers(
        out / "figure6",
        {
            "against_rows": {"N": rows, "d": 16, "L": 128, "seconds": by_rows},
            "against_width": {"N": fixed, "d": widths, "L": 8192, "seconds": by_width},
        },
    )
    with panels(out / "figure6", 2) as axes:
        for method in METHODS:
            axes[0].plot(rows, by_rows[method], **LINES[method], mfc="none")
            axes[1].plot(widths, by_width[method], **LINES[method], mfc="none")
        axes[0].set(xscale="log", yscale="log", xlabel="rows N of each sample", ylabel="seconds", title="(a) d = 16, L = 128")
        axes[1].set(yscale="log", xlabel="dimensions d", ylabel="seconds", title=f"(b) N = {fixed:,}, L = 8,192")
        axes[1].set_xscale("log", base=2)
        axes[1].set_xticks(widths, [str(width) for width in widths])
        axes[1].xaxis.set_minor_locator(NullLocator())
        axes[0].legend()


def _measure(shapes: Sequence[tuple[int, int]], n_frequencies: int) -> dict[str, list[float]]:
    """Return the best time of each method for each shape (rows, width)."""
    seconds: dict[str, list[float]] = {method: [] for method in METHODS}
    for n, width in shapes:
        x, y = boxes(n, width, np.random.default_rng(6))
        for method in METHODS:
            if not seconds[method]:
                _seconds(method, x[:100], y[:100], n_frequencies)  # compiles, or loads what was compiled
            spent: list[float] = []
            while sum(spent) < _ENOUGH_S:
                spent.append(_seconds(method, x, y, n_frequencies))
            seconds[method].append(min(spent))
    return seconds


def _seconds(method: Method, x: np.ndarray, y: np.ndarray, n_frequencies: int) -> float:
    # A fixed bandwidth: finding a median is no part of any of the methods.
    kernel = ss.kernels.Gaussian(float(np.sqrt(x.shape[1])))
    start = time.perf_counter()
    ss.mmd2(x, y, kernel=kernel, method=method, n_features=2 * n_frequencies, random_state=0)
    return time.perf_counter() - start


def _report(seconds: dict[str, list[float]], places: Sequence[int], name: str) -> None:
    for method in METHODS:
        times = "  ".join(f"{value:.2g}" for value in seconds[method])
        print(f"figure 6  {method:8} slope in {name} {loglog_slope(places, seconds[method]):.2f}, seconds {times}")
    for method in ("fourier", "fastfood"):
        exact, block = (seconds[other][-1] / seconds[method][-1] for other in ("exact", "block"))
        print(f"figure 6  at {name}={places[-1]:,} {method} is {exact:,.2g} times as fast as exact, {block:,.2g} as block")
