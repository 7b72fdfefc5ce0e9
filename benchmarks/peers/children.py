"""Measurements in a fresh process: the first call cold, with compilation, and the next ones warm; failures become reasons."""

import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeVar

from benchmarks.speed.timing import in_child, peak_mb

__all__ = ["Environment", "interpreter", "measured", "reason", "timed"]

Environment = Literal["peers", "older"]

#: Packages that compile when first called: their first time cannot stand for the next ones.
_COMPILING = ("apricot-select", "coreax", "hyppo", "supersample")
#: A call of another package that takes longer than this is not repeated, and its one time stands for both.
_ONCE = 10.0
#: No further call is started after this many seconds of warm ones.
_WARM = 6.0
_TIMEOUT = 400.0

Given = TypeVar("Given")


def timed(package: str, load: Callable[[int], Given], call: Callable[[Given, int], Any], calls: int) -> dict[str, Any]:
    """Load and call with 0, 1, 2, ..., up to `calls` times; return results, seconds of calls and the memory held before.

    The first call is cold. If it took long and compiled nothing, it is the only one.
    """
    once = float("inf") if package in _COMPILING else _ONCE
    given = load(0)
    before = peak_mb()
    results: list[Any] = []
    seconds: list[float] = []
    while True:
        start = time.perf_counter()
        results.append(call(given, len(results)))
        seconds.append(time.perf_counter() - start)
        if len(results) == calls or seconds[0] > once or sum(seconds[1:]) > _WARM:
            return {"results": results, "cold": seconds[0], "warm": seconds[1:], "before_mb": before}
        given = load(len(results))


def measured(
    work: Callable[..., dict[str, Any]],
    environment: Environment,
    *,
    compiled: Path | None = None,
    timeout: float = _TIMEOUT,
    **arguments: Any,
) -> dict[str, Any]:
    """Run a measurement in a process of its environment; return it, or {"error": why not}.

    compiled: the folder of a compile cache to use and keep; by default it is empty, so that the first call compiles.
    """
    python = interpreter(environment)
    if python is None:
        return {"error": f"the environment {environment!r} is not there"}
    cache = tempfile.mkdtemp(prefix="numba-")
    variables = {"NUMBA_CACHE_DIR": str(compiled or cache), "PYTHONWARNINGS": "ignore"}
    try:
        return in_child(work, python=python, variables=variables, timeout=timeout, **arguments)
    except subprocess.TimeoutExpired:
        return {"error": f"took more than {timeout:.0f} s"}
    except subprocess.CalledProcessError as error:
        killed = error.returncode < 0
        return {"error": f"its process was ended by signal {-error.returncode}" if killed else "its process failed"}
    finally:
        shutil.rmtree(cache, ignore_errors=True)


def interpreter(environment: Environment) -> Path | None:
    """Return this interpreter, or that of the sibling environment that `make bench-peers` makes."""
    here = Path(sys.executable)
    if environment == "peers":
        return here
    sibling = here.parents[2] / f"peers-{environment}" / "bin" / "python"
    return sibling if sibling.exists() else None


def reason(error: Exception) -> str:
    """Return the kind of an error and the first line of its message, less the paths of this machine."""
    lines = str(error).strip().splitlines()
    message = re.sub(r"(/[\w.+-]+){2,}", "a file", lines[0]) if lines else ""
    return f"{type(error).__name__}: {message[:160]}"
