"""Detectors on streams, in a process of their own: as many streams as fit into a time of the processor."""

import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.changes.detect_ours import OURS
from benchmarks.changes.detect_river import RIVER
from benchmarks.changes.detect_windows import WINDOWED
from benchmarks.changes.protocol import Detector, Session, Task
from benchmarks.changes.scoring import score
from benchmarks.peers.children import reason
from benchmarks.peers.judge import Floats

__all__ = ["DETECTORS", "encoded", "watched"]

DETECTORS: tuple[Detector, ...] = (*OURS, *RIVER, *WINDOWED)
#: Rows after which the clock is looked at.
_STRIDE = 1_000


def watched(
    place: int, files: Sequence[str], changes: Sequence[Sequence[int]], options: dict[str, Any], cache: str
) -> dict[str, Any]:
    """Run the detector at this place of the list over stored streams; options: those of a StreamSet."""
    detector = DETECTORS[place]
    try:
        begin = detector.start()
    except Exception as error:
        return {"error": f"cannot be imported: {reason(error)}"}
    found: dict[str, Any] = {"streams": 0, "watched": 0, "delays": [], "elsewhere": 0}
    started = time.process_time()
    try:
        for seed, (file, moments) in enumerate(zip(files, changes, strict=True)):
            rows = encoded(np.load(file), 0 if detector.category else options["categories"])
            session = begin(rows[: options["first"]], Task(seed, Path(cache)))
            alarms, end = _followed(session, rows, moments, options, detector.reference, started + options["seconds"])
            scored = score(alarms, moments, options["horizon"], end)
            found["streams"] += 1
            found["watched"] += session.watched
            found["delays"] += scored.delays
            found["elsewhere"] += scored.elsewhere
            if time.process_time() - started > options["seconds"]:
                break
    except Exception as error:
        return {"error": f"fails: {reason(error)}"}
    return {**found, "seconds": time.process_time() - started}


def encoded(rows: Floats, categories: int) -> Floats:
    """Return rows with the last column as columns of 0 and 1, if it is one of categories."""
    if not categories:
        return rows
    return np.concatenate([rows[:, :-1], np.eye(categories)[rows[:, -1].astype(np.int64)]], axis=1)


def _followed(
    session: Session, rows: Floats, changes: Sequence[int], options: dict[str, Any], reference: bool, until: float
) -> tuple[list[int], int]:
    """Return the alarms and how many rows were fed: all, or until the clock was out and no change was still to be found."""
    start, horizon = options["first"] if reference else 0, options["horizon"]
    stops = [] if options["once"] else range(start + _STRIDE, len(rows), _STRIDE)
    stops = [each for each in stops if not any(change < each < change + horizon for change in changes)]
    alarms: list[int] = []
    for low, high in pairwise([start, *stops, len(rows)]):
        for alarm in session.feed(rows[low:high]):
            alarms.append(alarm)
            if options["once"] and alarm >= changes[-1]:
                return alarms, len(rows)
        if time.process_time() > until:
            return alarms, high
    return alarms, len(rows)
