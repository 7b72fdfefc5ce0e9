"""Detectors on streams, in a process of their own."""

import time
from collections.abc import Sequence
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


def watched(
    place: int, files: Sequence[str], changes: Sequence[Sequence[int]], options: dict[str, Any], cache: str
) -> dict[str, Any]:
    """Run the detector at this place of the list over stored streams; options: some of those of a StreamSet."""
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
            alarms = _followed(session, rows[options["first"] if detector.reference else 0 :], moments, once=options["once"])
            scored = score(alarms, moments, options["horizon"], len(rows))
            found["streams"] += 1
            found["watched"] += session.watched
            found["delays"] += scored.delays
            found["elsewhere"] += scored.elsewhere
    except Exception as error:
        return {"error": f"fails: {reason(error)}"}
    return {**found, "seconds": time.process_time() - started}


def encoded(rows: Floats, categories: int) -> Floats:
    """Return rows with the last column as columns of 0 and 1, if it is one of categories."""
    if not categories:
        return rows
    return np.concatenate([rows[:, :-1], np.eye(categories)[rows[:, -1].astype(np.int64)]], axis=1)


def _followed(session: Session, rows: Floats, changes: Sequence[int], *, once: bool) -> list[int]:
    """Return the alarms; those after the one for a change are left out if there is only one of each to be found."""
    alarms: list[int] = []
    for alarm in session.feed(rows):
        alarms.append(alarm)
        if once and alarm >= changes[-1]:
            break
    return alarms
