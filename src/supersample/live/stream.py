"""A named stream: a history, the ledger of what was acknowledged, and one thread that takes batches in, in their order."""

import secrets
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

from supersample.errors import InputError
from supersample.history import History
from supersample.history.keeping import options_of, resume, save_with, schema_of, timeline_of
from supersample.history.timeline import Timeline
from supersample.live.alarm_book import AlarmBook
from supersample.live.batch import HTTP, Batch, FullError, Taken, UnavailableError, Unread
from supersample.live.database import Database
from supersample.live.intake import Intake, Outgoing
from supersample.live.ledger import Ledger
from supersample.live.pauses import Pauses
from supersample.live.settings import Limits, StreamSettings, check_name
from supersample.live.shaping import Shape
from supersample.storage.lock import exclusive_lock

__all__ = ["Stream"]

#: Rows that are taken in before the next commit, so that one flush of the disk serves many batches.
_GROUP_ROWS, _GROUP_BATCHES = 50_000, 64
#: Seconds that a stream without anything to do sleeps at most.
_IDLE = 0.5

Waiting = tuple[Batch | Unread, "Future[Taken]"]


class Stream:
    """Rows go in by `take`, from any thread; once its future has a result, they survive whatever happens to the process.

    settings: of the configuration. folder: the stream's own, which holds the history and the database. changed: called, by the
    thread of the stream, with its name after each commit. outgoing: what is sent out for an alarm.
    """

    def __init__(
        self, settings: StreamSettings, folder: Path, limits: Limits, changed: Callable[[str], None] = lambda _: None,
        outgoing: Outgoing | None = None,
    ) -> None:  # fmt: skip
        self.name = check_name(settings.name, "a stream")
        self.settings, self.limits = settings, limits
        self._changed, self._outgoing = changed, outgoing
        folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as held:
            for each in ("stream", "history"):
                held.enter_context(exclusive_lock(folder / each, "folder"))
            self._open(folder, held)
            self._held = held.pop_all()
        self._waiting: list[Waiting] = []
        self._rows = self._bytes = 0
        #: Sources of which a batch could not be kept: what comes after it must not be, before the source goes back to it.
        self._broken: set[str] = set()
        self._ready = threading.Condition()
        self._stopping = False
        #: When a batch came last, in seconds since 1970; None if none ever did.
        self.last_received: float | None = self.ledger.last_taken()
        self._not_taken = self._not_saved = ""
        self._thread = threading.Thread(target=self._run, name=f"stream {self.name}", daemon=True)

    def _open(self, folder: Path, held: ExitStack) -> None:
        arguments = dict(self.settings.history)
        if arguments.get("redact") and "like" not in arguments:
            raise InputError(
                f"stream {self.name!r} must have like= where it has redact=, since until columns are learned from 5,000 rows "
                f"their values would be kept; summarize some rows first, and name that summary"
            )
        self.database = Database(folder / "stream.sqlite")
        held.callback(self.database.close)
        with self.database.transaction() as run:  # a stream that was killed before its first save starts again from one seed
            run.execute("INSERT OR IGNORE INTO facts VALUES ('seed', ?)", (str(secrets.randbits(63)),))
        arguments.setdefault("random_state", int(self.database.fact("seed") or 0))
        drop = arguments.pop("drop", None) or ()  # removed before anything is written, so the history never has them
        self.history = History(**{"time": None, **arguments})
        self._folder = folder / "history"
        through = int(resume(self.history, self._folder).get("through", 0))
        options = options_of(self.history)  # those of `like` too
        self.ledger, self.alarms = Ledger(self.database, logged=not options.redact), AlarmBook(self.database)
        shape, last = Shape.of(options, self.settings.history.get("time"), drop), self.ledger.opened(through)
        self._intake = Intake(self.history, self.ledger, self.alarms, shape, last, self._outgoing)
        self._intake.replay(through)
        self._saved = through

    def start(self) -> None:
        """Begin to take batches in."""
        self._thread.start()

    def take(self, given: Batch | Unread) -> "Future[Taken]":
        """Take in a batch; the future has a result once it is durable, or the error why it never will be.

        Raises FullError if too much waits already, UnavailableError if the stream is being closed.
        """
        rows, size = (given.table.num_rows, given.table.nbytes) if isinstance(given, Batch) else (0, len(given.content))
        done: Future[Taken] = Future()
        with self._ready:
            if self._stopping:
                raise UnavailableError(f"stream {self.name!r} is being closed; send the batch again later, with the same id")
            full = self._rows + rows > self.limits.queue_rows or self._bytes + size > self.limits.queue_bytes
            if full and self._rows + self._bytes:  # one batch alone may be as large as it likes
                raise FullError(
                    f"stream {self.name!r} cannot keep up, {self._rows:,} rows wait; send the batch again later", 1.0
                )
            self._waiting.append((given, done))
            self._rows, self._bytes = self._rows + rows, self._bytes + size
            self._ready.notify()
        return done

    def resumed(self, source: str) -> Any:
        """Return the position after the last batch of a source that is durable; from now on its batches are taken again."""
        with self._ready:
            self._broken.discard(source)
        return self.ledger.positions().get(source)

    @property
    def timeline(self) -> Timeline | None:
        """The history at this moment; None while it learns from the first rows how columns become points."""
        return timeline_of(self.history)

    @property
    def trouble(self) -> str:
        """Why nothing can be taken in or saved at the moment; empty if all is well."""
        return self._not_taken or self._not_saved

    @property
    def waiting_rows(self) -> int:
        """Rows that wait to be taken in."""
        return self._rows

    @property
    def alive(self) -> bool:
        """Whether the stream takes batches in."""
        return self._thread.is_alive() and not self._stopping

    def stop(self) -> None:
        """Take in what waits, save, and end; what is known can still be asked."""
        with self._ready:
            self._stopping = True
            self._ready.notify()
        if self._thread.is_alive():
            self._thread.join()

    def close(self) -> None:
        """Close the files; nothing can be asked after that."""
        self._held.close()

    def schema(self) -> pa.Schema | None:
        """Return the columns of the rows seen so far, None if there are none."""
        return schema_of(self.history)

    def _run(self) -> None:
        pauses, save_at = Pauses(), time.monotonic() + self.settings.save_seconds
        while True:
            group = self._next_group(min(_IDLE, max(save_at - time.monotonic(), 0.0)))
            if group:
                self._take_group(group)
            if time.monotonic() >= save_at or self._stopping:
                saved = self._save()
                save_at = time.monotonic() + (self.settings.save_seconds if saved else pauses.next())
                if saved:
                    pauses.reset()
            with self._ready:
                if self._stopping and not self._waiting:
                    return

    def _next_group(self, seconds: float) -> list[Waiting]:
        with self._ready:
            if not self._waiting and not self._stopping:
                self._ready.wait(seconds)
            group: list[Waiting] = []
            rows = 0
            while self._waiting and len(group) < _GROUP_BATCHES and rows < _GROUP_ROWS:
                group.append(self._waiting.pop(0))
                rows += _rows_of(group[-1][0])
            return group

    def _take_group(self, group: Sequence[Waiting]) -> None:
        """Take in a few batches in one commit; either all of them are durable and known, or none."""
        group, broken = self._apart(group)
        for given, done in broken:
            done.set_exception(UnavailableError(f"a batch of {given.source!r} before this one could not be kept"))
        if not group:
            self._forget(broken)
            return
        results: list[Any]
        try:
            results = self._intake.taken([given for given, _ in group])
        except Exception as error:  # whatever it is, nothing was kept, and the next batch may do
            self._not_taken = f"{type(error).__name__}: {error}"
            self._broken |= {given.source for given, _ in group if given.source != HTTP}
            results = [
                UnavailableError(f"stream {self.name!r} cannot take rows at the moment ({error}); send the batch again")
            ] * len(group)
        else:
            self._not_taken = ""
            if not (self.ledger.logged or self._saved_at_last()):
                results = [
                    UnavailableError(f"stream {self.name!r} is being closed; send the batch again with the same id")
                ] * len(group)
        self._forget([*group, *broken])
        for (_, done), result in zip(group, results, strict=True):
            if isinstance(result, Exception):
                done.set_exception(result)
            else:
                done.set_result(result)
        self.last_received = max(given.received for given, _ in group)
        with suppress(Exception):  # whoever listens must not stop the stream
            self._changed(self.name)

    def _forget(self, group: Sequence[Waiting]) -> None:
        """Count the batches of a group no longer among those that wait."""
        with self._ready:
            self._rows -= sum(_rows_of(given) for given, _ in group)
            self._bytes -= sum(_size_of(given) for given, _ in group)

    def _apart(self, group: Sequence[Waiting]) -> tuple[list[Waiting], list[Waiting]]:
        """Return the batches that may be taken, and those of sources that must go back first."""
        parts: tuple[list[Waiting], list[Waiting]] = [], []
        for each in group:
            parts[each[0].source in self._broken].append(each)
        return parts

    def _saved_at_last(self) -> bool:
        """Save, however long it takes: what is not logged is acknowledged only then; return False if the stream is closed."""
        pauses = Pauses()
        while not self._save():
            with self._ready:
                if self._stopping:
                    return False
                self._ready.wait(pauses.next())
        return True

    def _save(self) -> bool:
        """Save the history, if it has anything new; return whether that went well."""
        if self._saved == self._intake.last or self.history.n_seen == 0:
            return True
        try:
            self._save_through(self._intake.last)
        except Exception as error:  # the ledger still has every row
            self._not_saved = f"the history cannot be saved: {error}"
            return False
        self._not_saved = ""
        return True

    def _save_through(self, last: int) -> None:
        if self.history.n_seen:
            save_with(self.history, self._folder, {"through": last})
            self.ledger.saved(last, self.settings.remember)
        self._saved = last


def _rows_of(given: Batch | Unread) -> int:
    return given.table.num_rows if isinstance(given, Batch) else 0


def _size_of(given: Batch | Unread) -> int:
    return int(given.table.nbytes) if isinstance(given, Batch) else len(given.content)
