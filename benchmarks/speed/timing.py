"""Seconds as the best of several, and peak memory as that of a process of its own."""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

__all__ = ["best_of", "in_child", "peak_mb", "race"]

_ROOT = Path(__file__).resolve().parents[2]
_THREAD_LIMITS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def best_of(rounds: int, work: Callable[[], Any]) -> float:
    """Return the shortest of `rounds` times; disturbances only ever add."""
    return race(rounds, {"work": work})["work"]


def race(rounds: int, works: Mapping[str, Callable[[], Any]]) -> dict[str, float]:
    """Return the shortest time of each, taken in turns so that a slow moment of the machine falls on all alike."""
    best = dict.fromkeys(works, float("inf"))
    for _ in range(rounds):
        for name, work in works.items():
            start = time.perf_counter()
            kept = work()
            best[name] = min(best[name], time.perf_counter() - start)
            del kept  # what it returned is freed outside the clock, and before the next one allocates
    return best


def in_child(
    work: Callable[..., dict[str, Any]],
    *,
    threads: int | None = None,
    python: Path | None = None,
    variables: Mapping[str, str] | None = None,
    timeout: float | None = None,
    **arguments: Any,
) -> dict[str, Any]:
    """Run a function of a module in a fresh process; return what it returned, with "peak_mb" of the whole process added.

    Arguments and results travel as JSON. `threads` limits BLAS and our own workers, which must be said before they start;
    `variables` are further environment variables, and `python` the interpreter of another environment.
    """
    limits = {} if threads is None else dict.fromkeys(_THREAD_LIMITS, str(threads))
    command = [str(python or sys.executable), "-m", "benchmarks.speed.child", f"{work.__module__}:{work.__qualname__}"]
    done = subprocess.run(
        [*command, json.dumps(arguments)],
        cwd=_ROOT,
        env={**os.environ, **limits, **(variables or {})},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=timeout,
    )
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def peak_mb() -> float:
    """Return the most memory this process has held so far, in MB (10^6 bytes)."""
    # Linux carries ru_maxrss over exec, so a small child of a large parent would report its parent; VmHWM starts from zero.
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / 1e6
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
