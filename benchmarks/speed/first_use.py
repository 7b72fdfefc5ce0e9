"""From `import` to the first result, with an empty compile cache and with a filled one."""

import json
import os
import statistics
import subprocess
import sys
import tempfile

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
ready = time.perf_counter()
import numpy as np
x = np.random.default_rng(0).normal(size=(10_000, 4))
begun = time.perf_counter()
{call}
print(json.dumps([ready - start, time.perf_counter() - begun]))
"""


def _timed(call: str, cache: str) -> tuple[float, float]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    program = [sys.executable, "-W", "ignore", "-c", _PROGRAM.format(call=call)]
    done = subprocess.run(program, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    imported, called = json.loads(done.stdout.splitlines()[-1])
    return float(imported), float(called)


def _run(context: Context) -> Result:
    rounds = 1 if context.quick else 3
    rows: list[Row] = []
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
                "first call": name,
                "import s": statistics.median(each[0] for each in warm),
                "cold s": colds[-1],
                "warm s": statistics.median(each[1] for each in warm),
            }
        )
    return Result(
        rows,
        [
            Target("seconds of the slowest cold first call", max(colds), "at most", 5),
            Target("seconds of import, median", statistics.median(imports), "at most", 1.5),
        ],
        [f"10,000 rows of 4 columns (the tests and critic: 2,000 or fewer); median of {rounds} fresh processes"],
    )


BENCHMARK = Benchmark(
    "first use: import, the first call with an empty compile cache, and with a filled one",
    [
        "Files of the packages are in the disk cache; the very first import after an installation also writes byte code.",
        "Cold: nothing compiled before. Compiled loops are kept beside the package, or where NUMBA_CACHE_DIR points.",
    ],
    _run,
)
