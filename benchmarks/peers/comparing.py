"""Tables of two-sample tests: time under a shift, what p-value comes out, and how often a test rejects when nothing changed."""

import time
from typing import Any, NamedTuple

import numpy as np

from benchmarks.peers.children import measured, reason, timed
from benchmarks.peers.judge import median_distance
from benchmarks.peers.selection_protocol import Floats
from benchmarks.peers.two_sample_tests import TESTS, Task, Test, Tester

__all__ = ["Comparison", "comparison_table", "comparisons", "tested"]

_WIDTH = 10
#: Rows a side where the level is counted.
_LEVEL_ROWS = 256
#: No further repetition is started after this many seconds.
_LEVEL_SECONDS = 12.0


class Comparison(NamedTuple):
    """Two samples of n rows each, the second moved by `shift` in each column."""

    name: str
    n: int
    shift: float
    permutations: int
    calls: int
    repetitions: int
    large: bool


def comparisons(*, quick: bool) -> list[Comparison]:
    """Return the tables; n is 16 times a power of four, so that the bins of CTT are full."""
    if quick:
        return [Comparison("tests", 256, 0.2, 19, 2, 5, False), Comparison("tests-large", 1_024, 0.1, 19, 2, 5, True)]
    return [Comparison("tests", 1_024, 0.1, 99, 4, 200, False), Comparison("tests-large", 16_384, 0.025, 99, 4, 200, True)]


def samples(seed: int, n: int, shift: float) -> tuple[Floats, Floats]:
    """Return two normal samples, the second moved."""
    x, y = np.random.default_rng([n, seed]).standard_normal((2, n, _WIDTH))
    return x, y + shift


def tested(place: int, n: int, shift: float, permutations: int, calls: int, repetitions: int) -> dict[str, Any]:
    """Run the test at this place of the list: under the shift on the clock, then without one, then under a very large one."""
    try:
        test = TESTS[place].make()
    except Exception as error:
        return {"error": f"cannot be imported: {reason(error)}"}
    bandwidth = median_distance(np.concatenate(samples(0, n, shift)))
    try:
        taken = timed(
            TESTS[place].package,
            lambda draw: samples(draw, n, shift),
            lambda pair, draw: test(*pair, Task(bandwidth, permutations, draw)),
            calls,
        )
        rejections = _rejections(test, bandwidth, permutations, repetitions)
        far = test(*samples(0, _LEVEL_ROWS, 3.0), Task(bandwidth, permutations, 0)).pvalue
    except Exception as error:
        return {"error": f"fails: {reason(error)}"}
    outcomes = taken.pop("results")
    return {
        **taken,
        "pvalues": [each.pvalue for each in outcomes],
        "rejects": [each.rejects for each in outcomes],
        "null_rejections": float(sum(rejections)),
        "null_repetitions": len(rejections),
        "far_pvalue": far,
    }


def _rejections(test: Tester, bandwidth: float, permutations: int, repetitions: int) -> list[float]:
    """Return how often the test rejects at 5% where both samples are of one population."""
    rejections: list[float] = []
    start = time.perf_counter()
    while len(rejections) < repetitions and time.perf_counter() - start < _LEVEL_SECONDS:
        # Seeds above those of the shifted samples.
        draw = 1_000 + len(rejections)
        rejections.append(test(*samples(draw, _LEVEL_ROWS, 0.0), Task(bandwidth, permutations, draw)).rejects)
    return rejections


def comparison_table(comparison: Comparison) -> dict[str, Any]:
    """Return the table of a pair of samples: a row for each test, and what is missing and why."""
    rows: list[dict[str, Any]] = []
    missing: list[dict[str, str]] = []
    options = {name: getattr(comparison, name) for name in ("n", "shift", "permutations", "calls", "repetitions")}
    for place, test in enumerate(TESTS):
        if comparison.large and test.limit:
            missing.append(_missing(test, f"left out: {test.limit}"))
            continue
        taken = measured(tested, test.environment, place=place, **options)
        if "error" in taken:
            missing.append(_missing(test, taken["error"]))
        else:
            rows.append({"method": test.name, "package": test.package, **taken})
        print(f"  {test.name} ({test.package}): {taken.get('error') or round(taken['cold'], 3)}", flush=True)
    return {
        "kind": "comparison",
        "name": comparison.name,
        "d": _WIDTH,
        "level_rows": _LEVEL_ROWS,
        **options,
        "large": comparison.large,
        "rows": rows,
        "missing": missing,
    }


def _missing(test: Test, why: str) -> dict[str, str]:
    return {"method": test.name, "package": test.package, "reason": why}
