"""A stream without end, for an hour: does memory stay flat, do the sums stay right, does the summary stay good?

`python -m benchmarks.soak --rows 1e9 --minutes 60 --out out/soak` writes a line of JSON at each look and ends with verdicts.

Caveats first. The rows are a cycle of a million different ones that comes round again and again, so that the mean features
after each whole cycle are known: those of one cycle. The sampler cannot tell; it holds no rows to compare with but its own.
Memory is that of the whole process, the million rows included. Each look reads the result, second look and all, as users do.
The MMD is told twice: by the sampler itself, and as what changes of the exact MMD^2 to the million rows.
"""

import argparse
import json
import math
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from supersample import SuperSampler
from supersample._typing import Floats
from supersample.features import FeatureMap
from supersample.selection import stream

__all__ = ["main"]

_CYCLE, _CHUNK = 1_000_000, 50_000
#: Looks before memory counts as settled, and what the run must show.
_WARM = 3
_MOST_GROWTH_MB, _MOST_ERROR, _MOST_SHARE = 5.0, 1e-10, 0.1


def cycle(n: int) -> Floats:
    """Return n rows in two dimensions from three clusters, in random order."""
    generator = np.random.default_rng(5)
    return generator.standard_normal((n, 2)) + 4.0 * generator.integers(0, 3, (n, 1))


def memory_mb(field: str) -> float:
    """Return what this process holds now (VmRSS), or the most it has held (VmHWM), in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise RuntimeError(f"this system does not tell {field}; the soak run needs Linux")


def mean_of(features: FeatureMap, rows: Floats) -> Floats:
    """Return the mean of float32 features over some rows, added without rounding."""
    parts = [features.transform(part).mean(axis=0, dtype=np.float64) for part in np.split(rows, len(rows) // _CHUNK)]
    return np.array([math.fsum(column) for column in np.transpose(parts)]) / len(parts)


def exact_square(sampler: SuperSampler, rows: Floats) -> float:
    """Return MMD^2 between prototypes and rows by the kernel itself, less the energy of the rows, which never changes."""
    chosen = sampler.prototypes_.astype(np.float64)
    across = np.mean([sampler.kernel_(part, chosen).mean() for part in np.split(rows, len(rows) // _CHUNK)])
    return float(sampler.kernel_(chosen).mean() - 2.0 * across)


def soak(n_rows: int, minutes: float, cycles: int, log: Path) -> list[dict[str, Any]]:
    """Feed rows until there were as many and as much time has passed; look after every so many cycles."""
    rows = cycle(_CYCLE)
    sampler = SuperSampler(100, 10, random_state=0)
    looks: list[dict[str, Any]] = []
    expected: list[Floats] = []
    start = time.monotonic()
    with log.open("w") as file:
        while sampler.__dict__.get("_now") is None or sampler.n_seen_ < n_rows or time.monotonic() - start < 60 * minutes:
            for _ in range(cycles):
                for part in np.split(rows, _CYCLE // _CHUNK):
                    sampler.partial_fit(part)
            state = stream.drain(sampler._now.state)
            if state.plan is None:
                raise RuntimeError("a cycle is longer than any warm-up")
            expected = expected or [mean_of(each, rows) for each in (state.plan.feature_map, state.plan.held_out)]
            sums = zip((state.moments, state.held_out), expected, strict=True)
            error = max(float(np.abs(each.mean() - mean).max()) for each, mean in sums)
            looks.append(
                {
                    "rows": sampler.n_seen_, "seconds": round(time.monotonic() - start, 1), "mmd": sampler.mmd_,
                    "mmd_error": sampler.mmd_error_, "random_mmd": sampler.random_mmd_, "error_of_mean": error,
                    "exact_square": exact_square(sampler, rows),
                    "rss_mb": memory_mb("VmRSS"), "peak_mb": memory_mb("VmHWM"),
                }
            )  # fmt: skip
            file.write(json.dumps(looks[-1]) + "\n")
            file.flush()
    return looks


def verdicts(looks: list[dict[str, Any]]) -> list[tuple[str, float, float]]:
    """Return what was asked, what came of it and what it may be at most."""
    if len(looks) <= _WARM:
        raise SystemExit(f"a soak run needs more than {_WARM} looks, got {len(looks)}; ask for more rows or more looks")
    settled = looks[_WARM - 1]
    growth = max(each[field] - settled[field] for each in looks[_WARM:] for field in ("rss_mb", "peak_mb"))
    quarter = max(1, len(looks) // 4)

    def rise(field: str) -> float:
        first, last = (float(np.mean([each[field] for each in part])) for part in (looks[:quarter], looks[-quarter:]))
        return last - first

    return [
        (f"MB held or peak MB, the larger growth after {settled['rows']:,} rows", growth, _MOST_GROWTH_MB),
        ("largest error of the mean features, at any look", max(each["error_of_mean"] for each in looks), _MOST_ERROR),
        ("held-out MMD, last quarter - first, over the first", rise("mmd") / looks[0]["mmd"], _MOST_SHARE),
        ("exact MMD^2, last quarter - first, over the first", rise("exact_square") / looks[0]["mmd"] ** 2, _MOST_SHARE),
    ]


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; 1 where a verdict fails."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, default=1e9)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--cycles", type=int, default=10, help="cycles of a million rows from look to look")
    parser.add_argument("--out", type=Path, default=Path("out/soak"))
    asked = parser.parse_args(arguments)
    asked.out.mkdir(parents=True, exist_ok=True)
    looks = soak(int(asked.rows), asked.minutes, asked.cycles, asked.out / "looks.jsonl")
    last, failed = looks[-1], 0
    print(f"{last['rows']:,} rows in {last['seconds'] / 60:.1f} minutes, {len(looks)} looks, held-out MMD {last['mmd']:.3g}")
    for what, found, most in verdicts(looks):
        failed += found > most
        print(f"  {'PASS' if found <= most else 'MISS'} {what}: {found:.3g} (at most {most:g})")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
