"""Detectors of ours, as they come: ChangeDetector on numbers, History on tables."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.changes.protocol import RUN_LENGTH, Detector, Session, Task
from benchmarks.peers.judge import Floats

if TYPE_CHECKING:
    import supersample as ss

__all__ = ["DEFAULT", "OURS"]

#: The one that peers are compared with.
DEFAULT = "ChangeDetector"
#: Rows that are passed at a time, and rows of a block of a history.
_BATCH, _BLOCK = 1_000, 100


class _Arrays:
    """A ChangeDetector; `start` rows went before the first one that is fed."""

    def __init__(self, detector: "ss.ChangeDetector", start: int) -> None:
        self._detector, self._start, self.watched = detector, start, 0

    def feed(self, rows: Floats) -> Iterator[int]:
        """Take in rows in batches."""
        for place in range(0, len(rows), _BATCH):
            batch = rows[place : place + _BATCH]
            raised = self._detector.update(batch)
            self.watched += len(batch)
            yield from (self._start + int(alarm.at) for alarm in raised)


class _Tables:
    """A History; rows are passed block by block, and an alarm counts from the last row passed when it shows."""

    def __init__(self, history: "ss.History") -> None:
        self._history, self.watched = history, 0

    def feed(self, rows: Floats) -> Iterator[int]:
        """Take in rows in batches."""
        for place in range(0, len(rows), _BLOCK):
            batch = rows[place : place + _BLOCK]
            before = len(self._history.alarms)
            self._history.update(_table(batch))
            self.watched += len(batch)
            yield from [self.watched - 1] * (len(self._history.alarms) - before)


def _table(rows: Floats) -> dict[str, Any]:
    """Return columns of numbers, the last one of them a category."""
    numbers = {f"x{place}": column for place, column in enumerate(rows.T[:-1])}
    return {**numbers, "label": np.char.add("c", rows[:, -1].astype(np.int64).astype(str))}


def _arrays(*, reference: bool = False, **options: Any) -> Callable[[], Callable[[Floats, Task], Session]]:
    def start() -> Callable[[Floats, Task], Session]:
        import supersample as ss

        def begin(first: Floats, task: Task) -> Session:
            given = first if reference else None
            detector = ss.ChangeDetector(given, run_length=RUN_LENGTH, random_state=task.seed, **options)
            return _Arrays(detector, len(first) if reference else 0)

        return begin

    return start


def _history() -> Callable[[Floats, Task], Session]:
    import supersample as ss

    def begin(first: Floats, task: Task) -> Session:
        known = ss.summarize(_table(first), random_state=task.seed)
        history = ss.History(None, _BLOCK, like=known, run_length=RUN_LENGTH // _BLOCK, random_state=task.seed)
        return _Tables(history)

    return begin


OURS = (
    Detector(DEFAULT, "supersample", _arrays(), "As it comes: no reference, `guarantee=\"asymptotic\"`."),
    Detector(
        "ChangeDetector, reference", "supersample", _arrays(reference=True),
        "The first 1,000 rows as `reference`; else as it comes.", reference=True,
    ),
    Detector(
        "ChangeDetector, reference, exact", "supersample", _arrays(reference=True, guarantee="exact"),
        "The same with `guarantee=\"exact\"`: bets against the reference; the run length holds for any distribution.",
        reference=True,
    ),
    Detector(
        "ChangeDetector, season 48", "supersample", _arrays(season=48), "`season` = 48 rows, a day; else as it comes.",
        only=("electricity",),
    ),
    Detector(
        "History, label as a category", "supersample", lambda: _history(),
        "`every` = 100 rows, `run_length` = 100 blocks, which are 10,000 rows; encoding and features by `like=` a summary of "
        "the first 1,000 rows.",
        category=True, only=("rbf-label",),
    ),
)  # fmt: skip
