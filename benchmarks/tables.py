"""What is said about tables, measured: `python -m benchmarks.tables [--pairs 200] [--seeds 8] [--data FOLDER]`.

Equal days: pairs of days of one log, with timestamps, ids and a daily cycle; how many differ at 5%, and the 99.9% band of that.
Dependent rows: pairs of parts of one series, each row near the one before it, and rows that are there five times; how many
differ at 5% though nothing changed.
Profiles: with a folder of data, in how many columns of covtype.parquet and electricity.parquet the profile says something else
than pandas, beyond the errors that it states.
Random rows: the number of random rows that a summary is said to be as good as, over the number by the exact kernel.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from scipy import signal, stats

import supersample as ss

__all__ = ["day", "dependent_rows", "disagreeing", "equal_days", "profiles", "random_rows"]

#: Rounding of means and standard deviations by pandas, which are rounded once here.
_ROUNDING = 1e-9
_QUANTILES = {"q01": 0.01, "q05": 0.05, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95, "q99": 0.99}


def day(seed: int, which: int, n_rows: int = 3_000) -> pa.Table:
    """Return one day of a log: the same distribution each day, other times and other ids."""
    rng = np.random.default_rng([seed, which])
    busy = 1.2 + np.sin((np.arange(24) - 7) / 24 * 2 * np.pi)
    hours = np.sort(rng.choice(24, n_rows, p=busy / busy.sum()) + rng.random(n_rows))
    start = np.datetime64("2024-06-01", "us") + np.timedelta64(which, "D")
    return pa.table(
        {
            "ts": start + (hours * 3.6e9).astype("timedelta64[us]"),
            "event_id": np.arange(n_rows) + which * 10**6 + seed,
            "session": [f"{each:016x}" for each in rng.integers(0, 2**62, n_rows)],
            "latency": np.exp(rng.normal(0.2 * np.sin(hours / 24 * 2 * np.pi), 0.5)),
            "status": rng.choice(["200", "404", "500"], n_rows, p=[0.9, 0.07, 0.03]),
            "route": rng.choice([f"/r{place}" for place in range(30)], n_rows),
            "bytes": rng.integers(1, 5000, n_rows),
        }
    )


def equal_days(pairs: int) -> None:
    """Compare pairs of equal days, and print how many differ at the 5% level."""
    pvalues = []
    for seed in range(pairs):
        first = ss.summarize(day(seed, 0), 20, 0, random_state=0)
        pvalues.append(first.compare(ss.summarize(day(seed, 1), like=first, random_state=1)).pvalue)
    low, high = stats.binom.interval(0.999, pairs, 0.05)
    print(f"equal days: {sum(p <= 0.05 for p in pvalues)} of {pairs} pairs differ at 5% (99.9% band: {low:.0f} to {high:.0f})")


def dependent_rows(pairs: int) -> None:
    """Compare series of one process, AR(1) in five columns, and rows that are there five times; print how many differ at 5%."""
    for near in (0.0, 0.3, 0.5, 0.9):
        differ = 0
        for seed in range(pairs):
            noise = np.random.default_rng([seed, int(10 * near)]).normal(size=(2, 3_000, 5))
            series = np.stack([signal.lfilter([1.0], [1.0, -near], each, axis=0)[500:] for each in noise])
            first = ss.summarize(series[0], 20, 0, random_state=0)
            differ += first.compare(ss.summarize(series[1], like=first, random_state=1)).pvalue <= 0.05
        print(f"dependent rows: AR(1) with {near}: {differ} of {pairs} pairs of 2,500 + 2,500 rows differ at 5%")
    differ = 0
    for seed in range(pairs):
        left, right = np.repeat(np.random.default_rng(seed).normal(size=(2, 500, 5)), 5, axis=1)
        first = ss.summarize(left, 20, 0, random_state=0)
        differ += first.compare(ss.summarize(right, like=first, random_state=1)).pvalue <= 0.05
    print(f"dependent rows: each five times: {differ} of {pairs} pairs of 2,500 + 2,500 rows differ at 5%")


def random_rows(seeds: int) -> None:
    """Print the stated number of random rows over the one by the exact kernel, for some seeds and numbers of prototypes."""
    ratios = []
    for seed in range(seeds):
        rows = np.random.default_rng(seed).normal(size=(2_000, 3))
        for prototypes in (20, 100):
            made = ss.summarize(rows, prototypes, 0, random_state=seed)
            points, chosen = made.encode(rows), made.encode(made.prototypes)
            exact = float(ss.mmd2(chosen, points, kernel=made.kernel, estimator="biased"))
            own = made.kernel(points)
            # Expected MMD^2 of N rows without replacement: (k(x, x) - |mean|^2) / N (1 - N / n) n / (n - 1).
            spread = float(np.diag(own).mean() - own.mean())
            n = len(points)
            ratios.append(made.as_good_as / (1.0 / (exact * (n - 1) / (n * spread) + 1.0 / n)))
    found = np.array(ratios)
    shown = ", ".join(f"{each:.2f}" for each in np.quantile(found, (0.0, 0.25, 0.5, 0.75, 1.0)))
    print(f"random rows: stated over exact, {found.size} summaries; least, quartiles, largest: {shown}")


def profiles(data: Path) -> None:
    """Print in how many columns of real tables the profile and pandas disagree, and where."""
    for name in ("covtype", "electricity"):
        frame = pq.read_table(data / f"{name}.parquet").to_pandas()
        rows = ss.summarize(data / f"{name}.parquet", 5, 0, random_state=0).profile.to_pylist()
        odd = {row["name"]: told for row in rows if (told := disagreeing(row, frame[row["name"]]))}
        print(f"profiles: {name}, {len(frame):,} rows: {len(odd)} of {len(rows)} columns disagree with pandas {odd or ''}")


def disagreeing(row: dict[str, Any], column: pd.Series) -> list[str]:
    """Return what a row of a profile says of a column that pandas says otherwise, beyond the errors that the row states.

    The number of distinct values may be off by four standard errors, a mark of one column in 16,000.
    """
    there = column.dropna()
    counts = there.value_counts()
    odd = [name for name, true in (("count", len(there)), ("missing", int(column.isna().sum()))) if row[name] != true]
    if abs(row["distinct"] - counts.size) > 4.0 * row["distinct_error"] * counts.size:
        odd.append("distinct")
    if pd.api.types.is_numeric_dtype(there):
        numbers = there.astype(float)
        odd += [name for name, true in (("min", numbers.min()), ("max", numbers.max())) if float(row[name]) != true]
        pairs = (("mean", numbers.mean()), ("sd", numbers.std()))
        odd += [name for name, true in pairs if abs(row[name] - true) > _ROUNDING * max(abs(true), numbers.std())]
        odd += [name for name, share in _QUANTILES.items() if not _within(row, name, np.quantile(numbers, share), numbers)]
    # Numbers are written with no more digits than their type has.
    own = there.dtype.type if pd.api.types.is_numeric_dtype(there) else str
    for each in row["top"]:
        short = int(counts.get(own(each["value"]), -1)) - each["count"]
        if not 0 <= short <= row["top_error"]:
            odd.append(f"top {each['value']}")
    return odd


def _within(row: dict[str, Any], name: str, true: float, numbers: pd.Series) -> bool:
    """Return whether a quantile is within its stated error, a share of its distance from the centre.

    The centre is the median of 5,000 rows: it lies between the 45% and the 55% point, seven standard errors to either side.
    """
    furthest = float(np.abs(true - np.quantile(numbers, (0.45, 0.55))).max())
    error = row["quantile_error"] * furthest + _ROUNDING * max(abs(true), float(numbers.std()))
    return bool(abs(row[name] - true) <= error)


def main() -> None:
    """Run all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--data", type=Path, help="a folder with covtype.parquet and electricity.parquet")
    asked = parser.parse_args()
    if asked.data is not None:
        profiles(asked.data)
    random_rows(asked.seeds)
    equal_days(asked.pairs)
    dependent_rows(asked.pairs)


if __name__ == "__main__":
    main()
