"""What is said about tables, measured: `python -m benchmarks.tables [--pairs 200] [--seeds 8]`.

Equal days: pairs of days of one log, with timestamps, ids and a daily cycle; how many differ at 5%, and the 99.9% band of that.
Dependent rows: pairs of parts of one series, each row near the one before it, and rows that are there five times; how many
differ at 5% though nothing changed.
Random rows: the number of random rows that a summary is said to be as good as, over the number by the exact kernel.
"""

import argparse

import numpy as np
import pyarrow as pa
from scipy import signal, stats

import supersample as ss

__all__ = ["day", "dependent_rows", "equal_days", "random_rows"]


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


def main() -> None:
    """Run all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=8)
    asked = parser.parse_args()
    random_rows(asked.seeds)
    equal_days(asked.pairs)
    dependent_rows(asked.pairs)


if __name__ == "__main__":
    main()
