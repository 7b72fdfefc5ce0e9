"""What a detector is here: rows go in, one after another, and positions of alarms come out."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from benchmarks.peers.children import Environment
from benchmarks.peers.judge import Floats

__all__ = ["RUN_LENGTH", "Detector", "Look", "OneByOne", "Scale", "Session", "Task", "WithReference"]

#: Rows between false alarms that everybody is asked for.
RUN_LENGTH = 10_000


class Task(NamedTuple):
    """The seed of a stream, and a folder in which thresholds that took long are kept."""

    seed: int
    cache: Path


class Session(Protocol):
    """A detector on one stream. watched: rows in which it could have raised an alarm, or learned from while it watched."""

    watched: int

    def feed(self, rows: Floats) -> Iterator[int]:
        """Take in more rows, and yield the position in the stream of each row that raises an alarm."""
        ...


class Detector(NamedTuple):
    """A detector with its settings.

    start: imports what is needed, and returns how to begin a session with the first rows of a stream. reference: whether these
    rows are its reference, and the rows after them are fed; else all rows are fed. setting: what its parameters mean, and how
    they were set. category: whether a last column of categories is fed as it is; else as columns of 0 and 1. slow: whether it
    takes about a millisecond for a row, so that it gets fewer streams. only: the streams that it is for, if not all. needs:
    rows without which it is of no use.
    """

    name: str
    package: str
    start: Callable[[], Callable[[Floats, Task], Session]]
    setting: str
    environment: Environment = "peers"
    reference: bool = False
    category: bool = False
    slow: bool = False
    only: tuple[str, ...] = ()
    needs: int = 0


#: Takes a row and says whether it raises an alarm.
Look = Callable[[Floats], bool]


class Scale:
    """Columns less their mean, over their standard deviation, in some first rows; columns of one or two values stay as is."""

    def __init__(self, first: Floats) -> None:
        varied = np.array([len(np.unique(column)) > 2 for column in first.T])
        self._centre = np.where(varied, first.mean(axis=0), 0.0)
        self._scale = np.where(varied, first.std(axis=0), 1.0)

    def __call__(self, rows: Floats) -> Floats:
        """Return rows in these units."""
        return np.asarray((rows - self._centre) / self._scale)


class OneByOne:
    """A peer that needs no reference. After an alarm it begins again, with the next row."""

    def __init__(self, first: Floats, make: Callable[[], Look]) -> None:
        self._scale, self._make = Scale(first), make
        self._look = make()
        self.watched = 0

    def feed(self, rows: Floats) -> Iterator[int]:
        """Take in rows one at a time."""
        for row in self._scale(rows):
            raised = self._look(row)
            self.watched += 1
            if raised:
                self._look = self._make()
                yield self.watched - 1


class WithReference:
    """A peer with a reference. After an alarm as many rows as the first ones are collected for the next, without a look."""

    def __init__(self, first: Floats, make: Callable[[Floats], Look]) -> None:
        self._make, self._wanted, self._position = make, len(first), len(first)
        self._held: list[Floats] = []
        self._look: Look | None = None
        self.watched = 0
        self._begin(first)

    def feed(self, rows: Floats) -> Iterator[int]:
        """Take in rows one at a time."""
        for row in rows:
            self._position += 1
            if self._look is None:
                self._held.append(row)
                if len(self._held) == self._wanted:
                    self._begin(np.array(self._held))
                continue
            self.watched += 1
            if self._look(self._scale(row)):
                self._look, self._held = None, []
                yield self._position - 1

    def _begin(self, reference: Floats) -> None:
        self._scale = Scale(reference)
        self._look = self._make(self._scale(reference))
