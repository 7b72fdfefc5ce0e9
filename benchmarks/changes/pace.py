"""How long a million rows take, each detector in a process of its own; and what alibi-detect's own bootstrap takes."""

import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.changes.detect_windows import own_thresholds
from benchmarks.changes.protocol import Task
from benchmarks.changes.watching import DETECTORS
from benchmarks.peers.children import reason

__all__ = ["bootstrapped", "paced"]

_FIRST, _WARM, _CHUNK = 1_000, 2_000, 1_000


def paced(place: int, rows: int, seconds: float) -> dict[str, Any]:
    """Feed at most so many Gaussian rows of ten columns, for so many seconds or a little longer."""
    detector = DETECTORS[place]
    try:
        begin = detector.start()
    except Exception as error:
        return {"error": f"cannot be imported: {reason(error)}"}
    stream = np.random.default_rng(0).standard_normal((_FIRST + _WARM + rows, 10))
    if detector.category:
        stream[:, -1] = np.random.default_rng(1).integers(0, 15, len(stream))
    with TemporaryDirectory() as cache:
        start = time.perf_counter()
        session = begin(stream[:_FIRST], Task(0, Path(cache)))
        ready = time.perf_counter() - start
        list(session.feed(stream[_FIRST : _FIRST + _WARM]))  # what compiles has compiled
        taken, start = 0, time.perf_counter()
        while taken < rows and time.perf_counter() - start < seconds:
            chunk = stream[_FIRST + _WARM + taken :][:_CHUNK]
            list(session.feed(chunk))
            taken += len(chunk)
    return {"rows": taken, "seconds": time.perf_counter() - start, "ready": ready}


def bootstrapped(window: int, bootstraps: int) -> dict[str, Any]:
    """Return the seconds of alibi-detect's own bootstrap, and by how much thresholds computed here differ from its own."""
    try:
        theirs, ours, seconds = own_thresholds(window, 100, bootstraps)
    except Exception as error:
        return {"error": reason(error)}
    apart = float(np.abs(np.array(theirs) - np.array(ours)).max())
    return {"window": window, "bootstraps": bootstraps, "seconds": seconds, "apart": apart, "threshold": theirs[-1]}
