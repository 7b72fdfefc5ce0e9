"""A profile of ten columns beside whylogs and ydata-profiling: seconds and peak memory, each in a process of its own.

`make bench-profiles` runs it. Peers get as many rows as they manage in the time allowed: whylogs takes batches as we do,
ydata-profiling a whole frame, in its minimal mode, and no page is written.
"""

import argparse
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.speed.timing import in_child

__all__ = ["main", "pandas_describe", "profile_alone", "summarized", "whylogs_profile", "write_rows", "ydata_profile"]

_BATCH = 1_000_000


def write_rows(path: Path, rows: int) -> None:
    """Write a table of ten columns: numbers of several kinds, gaps, categories, truth values and times."""
    rng = np.random.default_rng(0)
    writer = None
    for start in range(0, rows, _BATCH):
        n = min(_BATCH, rows - start)
        batch = pa.table(
            {
                "normal": rng.normal(size=n),
                "skewed": rng.lognormal(sigma=1.5, size=n),
                "gaps": pa.array(rng.normal(size=n), mask=rng.random(n) < 0.1),
                "cents": np.round(rng.gamma(2.0, 20.0, n), 2),
                "count": rng.poisson(4.0, n),
                "wide": rng.integers(0, 10**9, n),
                "country": np.array([f"c{place}" for place in range(40)])[rng.integers(0, 40, n)],
                "town": np.array([f"town {place}" for place in range(5_000)])[(5_000 * rng.random(n) ** 2).astype(int)],
                "paid": rng.random(n) < 0.7,
                "at": np.datetime64("2024-01-01", "us") + rng.integers(0, 10**13, n),
            }
        )
        writer = writer or pq.ParquetWriter(path, batch.schema)
        writer.write_table(batch)
    if writer is not None:
        writer.close()


def _timed(work: Any) -> dict[str, Any]:
    start = time.perf_counter()
    work()
    return {"seconds": time.perf_counter() - start}


def profile_alone(path: str) -> dict[str, Any]:
    """Profile a file as `summarize` does, and choose no rows."""
    from supersample import profile

    file = pq.ParquetFile(path)
    empty = profile.init([profile.ColumnPlan(field.name, field.type, "number") for field in file.schema_arrow])
    profile.update(empty, next(file.iter_batches(1_000)))  # compiled loops are read from their cache

    def work() -> None:
        state = empty
        for batch in pq.ParquetFile(path).iter_batches(16_384):
            state = profile.update(state, batch)
        profile.to_table(state)

    return _timed(work)


def summarized(path: str) -> dict[str, Any]:
    """Summarise a file: its profile, prototypes, criticisms and certificate."""
    import supersample as ss

    ss.summarize(next(pq.ParquetFile(path).iter_batches(6_000)), random_state=0).to_bytes()
    return _timed(lambda: ss.summarize(path, random_state=0).to_bytes())


def pandas_describe(path: str) -> dict[str, Any]:
    """Read a file whole and call DataFrame.describe, which says less: no distinct numbers, no frequent values but the first."""
    import pandas as pd

    return _timed(lambda: pd.read_parquet(path).describe(include="all"))


def whylogs_profile(path: str) -> dict[str, Any]:
    """Log a file to whylogs in frames of a million rows, and read the view."""
    from whylogs.core import DatasetProfile

    def work() -> None:
        profile = DatasetProfile()
        for batch in pq.ParquetFile(path).iter_batches(_BATCH):
            profile.track(batch.to_pandas())
        profile.view().to_pandas()

    return _timed(work)


def ydata_profile(path: str) -> dict[str, Any]:
    """Describe a frame by ydata-profiling in its minimal mode, without a page."""
    import pandas as pd
    from ydata_profiling import ProfileReport

    return _timed(lambda: ProfileReport(pd.read_parquet(path), minimal=True, progress_bar=False).get_description())


def main() -> None:
    """Measure, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--minutes", type=float, default=10.0, help="allowed for one profile")
    parser.add_argument("--peers", type=Path, required=True, help="a Python that has whylogs and ydata-profiling")
    options = parser.parse_args()
    print(f"{'what':<34}{'rows':>12}{'seconds':>10}{'rows/s':>12}{'peak MB':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for rows in (int(options.rows) // 100, int(options.rows) // 10, int(options.rows)):
            path = Path(folder) / "rows.parquet"
            write_rows(path, rows)
            for name, work, python in (
                ("supersample, profile alone", profile_alone, None),
                ("supersample, whole summary", summarized, None),
                ("pandas, read and describe", pandas_describe, None),
                ("whylogs", whylogs_profile, options.peers),
                ("ydata-profiling, minimal", ydata_profile, options.peers),
            ):
                try:
                    done = in_child(work, python=python, timeout=60 * options.minutes, path=str(path))
                    told = f"{done['seconds']:>10.1f}{rows / done['seconds']:>12,.0f}{done['peak_mb']:>9,.0f}"
                except subprocess.TimeoutExpired:
                    told = f"  not done in {options.minutes:g} minutes"
                except subprocess.CalledProcessError as error:
                    told = f"  failed with status {error.returncode}"
                print(f"{name:<34}{rows:>12,}{told}", flush=True)


if __name__ == "__main__":
    from benchmarks.peers import profiles  # by the name that the other processes know

    profiles.main()
