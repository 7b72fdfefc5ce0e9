"""A year in hourly blocks: `python -m benchmarks.changes.year [--rows 1e7] [--out FILE]` feeds one History, and measures it.

Ten columns: the time, seven of normal numbers, one of counts, one of a category of six values. Rows are made batch by batch,
off the clock, and taken in from an iterator of record batches. Cold counts compilation and imports that happen late; warm
counts the rows after the first batch. Memory is that of the process: at its peak, and how much more that is than before the
history began, with a batch of rows held. Ranges are read until their MMD is known, selection included.
"""

import argparse
import json
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import supersample as ss
from benchmarks.soak import memory_mb
from benchmarks.speed.report import surroundings
from supersample._typing import Floats
from supersample.history.period import Period

__all__ = ["batches", "direct_mean", "main", "measured_year"]

_BATCH, _SECONDS = 50_000, 365 * 86_400
_BEGIN = np.datetime64("2025-01-01T00:00:00", "us")
#: Ranges that are read; the moments of the last one are computed again from its rows.
_RANGES = ((None, None), ("2025-02-10", "2025-11-03"), ("2025-12-30 05:00", "2025-12-31 17:00"), ("2025-03-01", "2025-04-01"))
_WORDS = np.array(["a", "b", "c", "d", "e", "f"])


def batches(rows: int) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a year, the same each time."""
    size = min(_BATCH, -(-rows // 2))
    for place, first in enumerate(range(0, rows, size)):
        rng, n = np.random.default_rng([9, place]), min(size, rows - first)
        micros = ((first + np.arange(n)) * (_SECONDS * 1e6 / rows)).astype(np.int64)
        numbers = {f"x{column}": rng.standard_normal(n) for column in range(7)}
        counts, words = rng.poisson(20.0, n), _WORDS[rng.integers(0, len(_WORDS), n)]
        yield pa.record_batch({"when": _BEGIN + micros.astype("timedelta64[us]"), **numbers, "count": counts, "kind": words})


class _Clock:
    """The time that the rows themselves took to be made, which is not that of the history."""

    def __init__(self) -> None:
        self.making = 0.0

    def given(self, rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield these, and count the seconds that each took to come."""
        while True:
            start = time.perf_counter()
            batch = next(rows, None)
            self.making += time.perf_counter() - start
            if batch is None:
                return
            yield batch


def measured_year(rows: int) -> dict[str, Any]:
    """Feed a history with a year of rows, and return what it took."""
    source = batches(rows)
    first = next(source)
    before = memory_mb("VmRSS")
    history = ss.History("when", "1h", random_state=0)
    started = time.perf_counter()
    history.update(iter([first]))
    cold, clock, started = time.perf_counter() - started, _Clock(), time.perf_counter()
    history.update(clock.given(source))
    warm = time.perf_counter() - started - clock.making
    peak = memory_mb("VmHWM")
    ranges = [_read(history, *each) for each in _RANGES]
    return {
        "rows": history.n_seen, "columns": first.num_columns, "blocks": len(history.blocks), "alarms": len(history.alarms),
        "rows_a_second": (rows - len(first)) / warm,
        "rows_a_second_cold": rows / (cold + warm),
        "before_mb": before, "peak_mb": peak, "growth_mb": peak - before, "peak_after_reading_mb": memory_mb("VmHWM"),
        "ranges": ranges, "moments_apart": _apart(history, rows),
    }  # fmt: skip


def _read(history: ss.History, start: str | None, end: str | None) -> dict[str, Any]:
    began = time.perf_counter()
    period = history.between(start, end)
    merged = time.perf_counter() - began
    mmd = period.mmd
    return {
        "start": str(period.start), "end": str(period.end), "rows": period.n_seen, "seconds_between": merged,
        "seconds_read": time.perf_counter() - began - merged, "mmd": float(mmd),
    }  # fmt: skip


def _apart(history: ss.History, rows: int) -> float:
    """Return by how much the mean features of a range differ from those of its rows, at most."""
    period = history.between(*_RANGES[-1])
    told = period._ready().settled.stream.moments.mean()
    return float(np.abs(told - direct_mean(period, rows)).max())


def direct_mean(period: Period, rows: int) -> Floats:
    """Return the mean features of the rows within the bounds of a period, sums of batches added without rounding."""
    features = period._ready().plan.feature_map
    low, high = (np.datetime64(each).astype("datetime64[us]") for each in (period.start, period.end))
    parts, count = [], 0
    for batch in batches(rows):
        when = batch.column("when").to_numpy()
        inside = batch.filter(pa.array((when >= low) & (when < high)))
        if inside.num_rows:
            parts.append(features.transform(period.encode(pa.Table.from_batches([inside]))).sum(axis=0, dtype=np.float64))
            count += inside.num_rows
    assert count == period.n_seen, f"the history has {period.n_seen:,} rows of {count:,} in this range"
    return np.array([math.fsum(column) for column in np.transpose(parts)]) / count


def main() -> int:
    """Measure a year, print it, and keep it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.changes.year", description="A year in hourly blocks.")
    parser.add_argument("--rows", type=float, default=1e7, help="rows of the year")
    parser.add_argument("--out", type=Path, help="file for the measurements, as JSON")
    arguments = parser.parse_args()
    found = {
        "name": "year",
        "kind": "year",
        "surroundings": {**surroundings(), "older_versions": {}},
        **measured_year(int(arguments.rows)),
    }
    text = json.dumps(found, indent=1)
    print(text)
    if arguments.out is not None:
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        arguments.out.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
