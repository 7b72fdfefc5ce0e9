"""Memory of the exact MMD^2 as the samples grow."""

from benchmarks.speed.discrepancy import ours
from benchmarks.speed.report import Benchmark, Context, Result, Row, Target
from benchmarks.speed.timing import in_child
from benchmarks.speed.workloads import D

__all__ = ["BENCHMARK"]


def _run(context: Context) -> Result:
    sizes = (2_500, 5_000) if context.quick else (25_000, 50_000)
    # What a process holds with libraries loaded, loops compiled and threads started, before any data to speak of.
    base = in_child(ours, method="exact", n=1_000, rounds=1)["peak_mb"]
    rows: list[Row] = []
    peaks = []
    for n in sizes:
        taken = in_child(ours, method="exact", n=n, rounds=1)
        peaks.append(taken["peak_mb"])
        rows.append(
            {
                "rows": f"{n:,} + {n:,}",
                "seconds": taken["seconds"],
                "peak MB": taken["peak_mb"],
                "above 1,000 + 1,000 MB": taken["peak_mb"] - base,
                "data MB": 2 * n * D * 4 / 1e6,
                "pairwise matrices MB": 3 * n**2 * 8 / 1e6,
                "MMD^2": taken["mmd2"],
            }
        )
    return Result(
        rows,
        [Target(f"peak MB at {sizes[-1]:,} + {sizes[-1]:,}", peaks[-1], "at most", 600)],
        [f"d = {D}; a process that does the same with 1,000 + 1,000 rows peaks at {base:.0f} MB"],
    )


BENCHMARK = Benchmark(
    "exact MMD^2 of 50,000 + 50,000 rows, d = 16: time and peak memory",
    [
        "Peak memory is that of a whole process: interpreter, libraries, data and all.",
        "The data are float32 and are widened once to float64; beyond that copy nothing grows with the rows.",
        "The pairwise matrices are what a method that holds them would need; nothing here does.",
    ],
    _run,
)
