"""From the start of a process to `--help`, to `import`, and to the first result with an empty compile cache or a filled one."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

from benchmarks.speed.report import Benchmark, Context, Result, Row, Target

__all__ = ["BENCHMARK"]

_CALLS = {
    "ss.summarize(table).prototypes": "ss.summarize(dict(zip('abcd', x.T)), random_state=0).prototypes",
    "ss.SuperSampler(100, 20).fit(X).prototypes_": "ss.SuperSampler(100, 20, random_state=0).fit(x).prototypes_",
    "ss.critic(X, 50, 10)": "ss.critic(x[:2000], 50, 10)",
    "ss.herd(X, 50)": "ss.herd(x, 50)",
    "ss.sbq(X, 50)": "ss.sbq(x, 50)",
    "ss.two_sample_test(X, Y)": "ss.two_sample_test(x[:500], x[500:1000], random_state=0)",
    "ss.mmd2(X, Y)": "ss.mmd2(x[:1000], x[1000:2000])",
}
_PROGRAM = """
import json, time
start = time.perf_counter()
import supersample as ss
{name}
ready = time.perf_counter()
import numpy as np
x = np.random.default_rng(0).normal(size=(10_000, 4))
started = time.perf_counter()
{call}
print(json.dumps([ready - start, time.perf_counter() - started]))
"""


class _Start(NamedTuple):
    """Arguments of Python, and the start that is the least that this one can take."""

    arguments: list[str]
    floor: str | None = None


_STARTS = {
    "python -c pass": _Start(["-c", "pass"]),
    "import click": _Start(["-c", "import click"], "python -c pass"),
    "import numpy": _Start(["-c", "import numpy"], "python -c pass"),
    "import supersample": _Start(["-c", "import supersample"], "python -c pass"),
    "supersample --version": _Start(["-m", "supersample", "--version"], "import click"),
    "supersample --help": _Start(["-m", "supersample", "--help"], "import click"),
    "supersample summarize --help": _Start(["-m", "supersample", "summarize", "--help"], "import click"),
}


def _started(rounds: int) -> dict[str, float]:
    """Return the median seconds of each start as a whole process, taken in turns; the first of each only warms the disk."""
    seconds: dict[str, list[float]] = {name: [] for name in _STARTS}
    for _ in range(rounds + 1):
        for name, start in _STARTS.items():
            started = time.perf_counter()
            subprocess.run([sys.executable, *start.arguments], stdout=subprocess.DEVNULL, check=True)
            seconds[name].append(time.perf_counter() - started)
    return {name: statistics.median(each[1:]) for name, each in seconds.items()}


def _start_rows(seconds: dict[str, float]) -> list[Row]:
    return [
        {
            "first use": name,
            "process s": seconds[name],
            "floor": start.floor,
            "ratio": None if start.floor is None else seconds[name] / seconds[start.floor],
        }
        for name, start in _STARTS.items()
    ]


def _timed(call: str, cache: str) -> tuple[float, float]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    program = [sys.executable, "-W", "ignore", "-c", _PROGRAM.format(call=call, name=call.split("(")[0])]
    done = subprocess.run(program, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    imported, called = json.loads(done.stdout.splitlines()[-1])
    return float(imported), float(called)


def _run(context: Context) -> Result:
    rounds, starts = (1, 3) if context.quick else (3, 11)
    seconds = _started(starts)
    rows = _start_rows(seconds)
    imports, colds = [], []
    for name, call in _CALLS.items():
        cold, warm = [], []
        for _ in range(rounds):
            with tempfile.TemporaryDirectory() as cache:
                cold.append(_timed(call, cache))
                warm.append(_timed(call, cache))
        imports += [each[0] for each in warm]
        colds.append(statistics.median(each[1] for each in cold))
        rows.append(
            {
                "first use": name,
                "import s": statistics.median(each[0] for each in warm),
                "cold s": colds[-1],
                "warm s": statistics.median(each[1] for each in warm),
            }
        )
    return Result(
        rows,
        [
            Target("seconds of the slowest cold first call", max(colds), "at most", 5),
            Target("seconds of import with what a call needs, median", statistics.median(imports), "at most", 1.5),
            Target("seconds of a process that imports supersample", seconds["import supersample"], "at most", 0.5),
            Target("seconds of supersample --version", seconds["supersample --version"], "at most", 0.3),
            Target("seconds of supersample --help", seconds["supersample --help"], "at most", 0.3),
        ],
        [
            f"process: median of {starts} whole processes after one, taken in turns; ratio: to the floor named beside it",
            f"calls: 10,000 rows of 4 columns (the tests and critic: 2,000 or fewer); median of {rounds} fresh processes",
        ],
    )


BENCHMARK = Benchmark(
    "first use: the start of a process, import, the first call with an empty compile cache, and with a filled one",
    [
        "Public names are imported when first asked for: `import s` is that of supersample and of the name that is called.",
        "Files of the packages are in the disk cache; the very first import after an installation also writes byte code.",
        "Cold: nothing compiled before. Compiled loops are kept beside the package, or where NUMBA_CACHE_DIR points.",
    ],
    _run,
)
