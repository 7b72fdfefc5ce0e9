"""How batches are taken in: a few at a time, into the history in memory first, then in one commit into the ledger.

The history is the judge of whether rows can be used, so nothing is acknowledged that it would refuse later. If the commit
fails, the history takes a step back, and nothing of the group has happened.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import pyarrow as pa

from supersample.errors import SupersampleError
from supersample.history import Alarm, History
from supersample.history.keeping import mark, restore, schema_of, take_rest, timeline_of
from supersample.live.alarm_book import AlarmBook
from supersample.live.batch import Batch, Halving, RefusedError, Taken, Unread
from supersample.live.ledger import Entry, Ledger, key_of
from supersample.live.shaping import Shape, misfit

__all__ = ["Intake", "Outgoing"]

#: What is sent out for an alarm: targets and bodies.
Outgoing = Callable[[int, Alarm], Iterable[tuple[str, bytes]]]
#: The reason that is kept where the one at hand may quote a value that must not be kept.
_UNSAID = "it cannot be read; why is not kept, since that may quote columns that the stream drops or redacts"


class Intake:
    """The one place where a stream's rows become part of its history.

    last: the number of the last batch.
    """

    def __init__(
        self, history: History, ledger: Ledger, alarms: AlarmBook, shape: Shape, last: int, outgoing: Outgoing | None = None
    ) -> None:  # fmt: skip
        self._history, self._ledger, self._alarms, self._shape = history, ledger, alarms, shape
        self._outgoing = outgoing
        self.last = last
        #: Bytes of batches that are set aside, and reasons that may quote them, are kept only if all columns may be.
        self._kept = not shape.dropped and ledger.logged

    def replay(self, through: int) -> None:
        """Take in what was acknowledged after the history was saved last."""
        for seq, table in self._ledger.replay(through):
            try:
                take_rest(self._history, table)
            except SupersampleError as error:  # these rows were usable when they came, so the program has changed since
                reason = f"acknowledged, but not usable by this version: {error}"
                with self._ledger.transaction() as run:
                    self._ledger.add_aside(run, seq, Unread(f"replay-{seq}", reason), kept=False)
        with self._ledger.transaction() as run:
            self._alarms.record(run, timeline_of(self._history), time.time(), None)
            self._alarms.trim(run, timeline_of(self._history))

    def taken(self, group: Sequence[Batch | Unread]) -> list[Taken | Exception]:
        """Take in a group of batches; return what became of each. If it cannot be committed, raise, and keep nothing."""
        before, last = mark(self._history), self.last
        try:
            return self._taken(group)
        except BaseException:
            restore(self._history, before)
            self.last = last
            raise

    def _taken(self, group: Sequence[Batch | Unread]) -> list[Taken | Exception]:
        known = self._ledger.known([key_of(each.source, each.id) for each in group])
        entries: list[Entry] = []
        aside: list[tuple[int, Unread]] = []
        results = [self._result(each, known, entries, aside, Halving()) for each in group]
        with self._ledger.transaction() as run:
            self._ledger.add(run, entries)
            for seq, unread in aside:
                self._ledger.add_aside(run, seq, unread, kept=self._kept)
            self._alarms.record(run, timeline_of(self._history), time.time(), self._outgoing)
        return results

    def _result(
        self, given: Batch | Unread, known: set[bytes], entries: list[Entry], aside: list[tuple[int, Unread]], halving: Halving
    ) -> Taken | Exception:  # fmt: skip
        """Take a batch into the history, and note what is to be committed; return what became of it."""
        key = key_of(given.source, given.id)
        if key in known:
            return Taken(0, repeated=True)
        unread, kept = given if isinstance(given, Unread) else None, _UNSAID
        if isinstance(given, Batch):
            halving.tried()
            try:
                entries.append(Entry(self.last + 1, given, self._updated(given)))
            except MemoryError:
                raise
            except Exception as error:  # one batch must not stop the stream, whatever is wrong with it
                if given.parts is not None and halving.goes_on:
                    return _of_parts([self._result(each, known, entries, aside, halving) for each in given.parts()])
                reason = str(error) if isinstance(error, SupersampleError) else f"{type(error).__name__}: {error}"
                unread = Unread(given.id, reason, b"", given.source, given.position, given.received)
                kept = misfit(given.table, schema_of(self._history), self._shape.dropped)
        self.last += 1
        if unread is not None:
            shown = unread if self._kept or unread.plain else replace(unread, reason=kept)
            aside.append((self.last, shown))
            return RefusedError(unread.reason, shown.reason)
        assert isinstance(given, Batch)
        known.add(key)
        halving.found()
        return Taken(given.table.num_rows, repeated=False)

    def _updated(self, batch: Batch) -> pa.Table:
        """Take rows into the history in memory, and return them as they were taken."""
        rows = self._shape.fitted(batch.table, schema_of(self._history), filled=batch.filled)
        take_rest(self._history, rows)
        return rows


def _of_parts(results: Sequence[Taken | Exception]) -> Taken | Exception:
    """Return what became of a batch, given what became of its parts."""
    refused = next((each for each in results if isinstance(each, Exception)), None)
    return refused or Taken(sum(each.rows for each in results if isinstance(each, Taken)), repeated=False)
