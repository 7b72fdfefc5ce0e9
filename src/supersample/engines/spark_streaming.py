"""A history of a Spark stream: a function for `foreachBatch` that counts every epoch once, whatever Spark delivers again."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from supersample._files import as_path
from supersample.errors import InputError, InputTypeError, MismatchError
from supersample.history import Alarm, History
from supersample.history.folder import MAIN
from supersample.history.keeping import resume, save_with
from supersample.storage.lock import exclusive_lock

__all__ = ["SparkSink", "spark_sink"]

#: The local property in which Spark says which query a job belongs to; it is the same for all runs from one checkpoint.
_QUERY = "sql.streaming.queryId"
#: What the file of the history is compared by, so that another process's writing is noticed.
_Stamp = tuple[int, int, int]


class SparkSink:
    """What `spark_sink` returns: called by Spark with each micro-batch and its epoch. history: as it is in the folder."""

    def __init__(
        self, folder: Path, asked: Mapping[str, Any], on_alarm: Callable[[Alarm], Any] | None, collect_rows: int,
        new_checkpoint: bool,
    ) -> None:  # fmt: skip
        self._folder, self._asked, self._on_alarm = folder, dict(asked), on_alarm
        self._collect_rows, self._new_checkpoint = collect_rows, new_checkpoint
        self._known: tuple[_Stamp | None, History, Mapping[str, Any]] | None = None
        History(**self._asked)  # what it refuses is an error now, and not in the first epoch

    @property
    def history(self) -> History:
        """The history that the folder holds; read from there, so it can be asked while the query runs."""
        return History.load(self._folder)

    def __call__(self, frame: Any, epoch: int) -> None:
        """Take in a micro-batch and save it, in one step with its epoch; one that was taken in before is not counted again."""
        if "connect" in type(frame).__module__:
            raise InputTypeError(
                "frame must be one of Spark itself, got one of Spark Connect, whose query is not known; run it in the driver"
            )
        with exclusive_lock(self._folder, "folder"):
            history, before = self._opened()
            query = str(frame.sparkSession.sparkContext.getLocalProperty(_QUERY) or "")
            if self._repeated(before, query, epoch):
                self._announce(history, int(before["alarms"]))
                return
            n_alarms = len(history.alarms)
            self._known = None  # if anything fails, the folder says where we are
            self._take(history, frame)
            if history.n_seen:
                after = {"spark": {"query": query, "epoch": epoch, "alarms": n_alarms}}
                save_with(history, self._folder, after)
                self._known = (self._stamp(), history, after)
        self._announce(history, n_alarms)

    def _opened(self) -> tuple[History, Mapping[str, Any]]:
        """Return the history, and what was saved with it for us; read again if someone else has written it."""
        stamp = self._stamp()
        if self._known is None or self._known[0] != stamp:
            history = History(**self._asked)
            more = resume(history, self._folder) if stamp is not None else {}
            self._known = (stamp, history, more)
        return self._known[1], self._known[2].get("spark", {})

    def _stamp(self) -> _Stamp | None:
        try:
            about = (self._folder / MAIN).stat()
        except FileNotFoundError:
            return None
        return about.st_ino, about.st_size, about.st_mtime_ns

    def _repeated(self, before: Mapping[str, Any], query: str, epoch: int) -> bool:
        """Return whether an epoch was taken in before; refuse one that cannot be the next."""
        if self._stamp() is None:
            return False
        holds = f"folder {str(self._folder)!r} holds a history"
        remedy = "restore the folder and the checkpoint from the same backup, or choose another folder"
        if before.get("query") != query:
            if self._new_checkpoint:
                return False
            raise MismatchError(
                f"{holds} that this checkpoint does not belong to; {remedy}; new_checkpoint=True goes on with this history, if "
                f"none of the rows that now come were counted before"
            )
        last = int(before["epoch"])
        if not last <= epoch <= last + 1:
            raise MismatchError(
                f"{holds} up to epoch {last}, and Spark goes on with epoch {epoch}, so that rows would be counted "
                f"{'twice' if epoch < last else 'never'}; {remedy}"
            )
        return epoch == last

    def _take(self, history: History, frame: Any) -> None:
        """Take in the rows: through the driver if they are few, else as blocks that the workers make."""
        few = frame.limit(self._collect_rows + 1).toArrow()
        if few.num_rows <= self._collect_rows:
            if few.num_rows:
                history.update(few)
            return
        frame = frame.persist()  # it is read several times
        try:
            history.update(frame)
        finally:
            frame.unpersist()

    def _announce(self, history: History, n_alarms: int) -> None:
        """Call on_alarm with each new alarm; Spark repeats an epoch whose function failed, so each arrives at least once."""
        if self._on_alarm is not None:
            for alarm in history.alarms[n_alarms:]:
                self._on_alarm(alarm)


def spark_sink(
    folder: str | os.PathLike[str],
    *,
    time: str,
    every: Any,
    on_alarm: Callable[[Alarm], Any] | None = None,
    collect_rows: int = 100_000,
    new_checkpoint: bool = False,
    **options: Any,
) -> SparkSink:
    """Return a function for Spark's `foreachBatch` that keeps a History of a stream in a folder, each row counted once.

    The epoch is saved in one step with its rows, so one that Spark delivers again after a crash is not counted again. Only one
    query may write to a folder, and always from the same checkpoint.

    folder: where the history is kept, on a disk of the driver. time, every, options: as for `History`.
    on_alarm: called with each new Alarm once it is saved; if it raises, the query fails, and Spark repeats the epoch.
    collect_rows: the driver takes micro-batches of up to so many rows itself; the workers make blocks of larger ones.
    new_checkpoint: go on with a history that another checkpoint belongs to; all rows that come are counted.
    """
    if not isinstance(time, str):
        raise InputTypeError(f"time must name a column, since rows of Spark have no order, got {time!r}")
    if isinstance(collect_rows, bool) or not isinstance(collect_rows, int) or collect_rows < 0:
        raise InputError(f"collect_rows must be a whole number of rows, at least 0, got {collect_rows!r}")
    if on_alarm is not None and not callable(on_alarm):
        raise InputTypeError(f"on_alarm must be a function of an Alarm, got {on_alarm!r}")
    asked = {"time": time, "every": every, **options}
    return SparkSink(as_path(folder, "folder"), asked, on_alarm, collect_rows, new_checkpoint)
