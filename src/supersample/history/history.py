"""History: summaries of a stream along time, which can be asked about any two ranges, and alarms where it changed."""

import importlib
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import pyarrow as pa

from supersample._files import as_path
from supersample._locking import one_at_a_time
from supersample._text import did_you_mean, plural
from supersample._typing import RandomState
from supersample.errors import InputError, InputTypeError, MismatchError
from supersample.history import timeline
from supersample.history.alarm import Alarm
from supersample.history.cycles import cycle_note
from supersample.history.folder import MAIN, Files, Saved, read_folder, write_folder
from supersample.history.lookout import matched
from supersample.history.merging import looked_again
from supersample.history.merging import merged as merged_timelines
from supersample.history.period import Period, as_pair, blocks_within, period_of
from supersample.history.reading import progress, rows_to_skip
from supersample.history.rules import rules_of, ticks_of
from supersample.history.timeline import Timeline
from supersample.history.times import shown_alarm, shown_times
from supersample.history.waiting import Waiting, check_time
from supersample.records.sources import open_source, without
from supersample.records.sources.base import OtherTypeError, Source
from supersample.records.sources.clusters import EngineHome, engine_of
from supersample.records.sources.conforming import conformed
from supersample.selection.stream.plan import WARM_UP
from supersample.storage.lock import exclusive_lock
from supersample.summary.comparison import Comparison
from supersample.summary.notes import Note
from supersample.summary.summarizing import Options, check_seconds
from supersample.summary.summary import Summary

__all__ = ["History", "notes_of", "state_of"]


#: So many late rows in a row mean that the clock is ahead of what arrives.
_BEHIND = 64


class History:
    """Summaries of a stream along time, in blocks that are joined as they age, and alarms where the stream changed.

    Rows come in batches, in the order of their time or late. Blocks of `every` are closed once the clock, the latest time
    seen, is `lateness` past their end; then the lookout compares the latest blocks with those before them, for every boundary.
    After an alarm, what came since the change is what further blocks are compared with. Old blocks are joined to hours, days
    and months (of rows, and of times that are numbers: to twice their length, at most eight of each), never across a change
    and, with a season, not before two seasons: memory grows with the logarithm of time, and with months. Thread-safe: updates
    are serialised, and every reading is of one moment.

    time: the column that says when rows happened: dates and times, text that holds them, or numbers; None counts rows.
    every: the span of a block: a duration ("15m", "1h", "1d"), or a number of rows, or of the unit of the time column.
    season: a period after which the stream repeats itself ("1d", "7d", or a number): ranges are compared, and alarms raised,
        phase by phase, so that a cycle is no change. Nothing is found in the first season.
    like: a Summary whose encoding and features are used; by default they are learned from the first 5,000 rows, or, if the
        first source can be read out of order, from rows spread over all of it.
    lateness: how long after its end a block still takes part in alarms; by default another `every`. Rows that come later are
        counted as late, and go to their block or to the one that it was joined to.
    keep: the age at which blocks are dropped; None: never.
    run_length: the time between false alarms, at least, on average: a duration, or a number of blocks; 10,000 blocks by
        default. guarantee, at_least: as for a ChangeDetector without a reference.
    volume: whether the number of rows of a block is watched, too.
    options: those of `summarize`: prototypes, criticisms, columns, types, label, drop, redact, weight, kernel, and so on.

    >>> import numpy as np
    >>> import supersample as ss
    >>> rng = np.random.default_rng(0)
    >>> when = np.datetime64("2026-01-01T00:00:00") + np.arange(20_000) * np.timedelta64(15, "s")
    >>> load = rng.normal(size=20_000) + 2.0 * (when >= np.datetime64("2026-01-03T12:00"))
    >>> history = ss.History(time="when", every="1h", random_state=0).update({"when": when, "load": load})
    >>> [str(alarm.change) for alarm in history.alarms]
    ['2026-01-03 12:00:00']
    >>> history.between("2026-01-01", "2026-01-02").n_seen
    5760
    """

    def __init__(
        self,
        time: str | None,
        every: str | int | timedelta,
        *,
        season: str | int | timedelta | None = None,
        like: Summary | None = None,
        lateness: str | int | timedelta | None = None,
        keep: str | int | timedelta | None = None,
        run_length: str | int | timedelta | None = None,
        guarantee: Literal["asymptotic", "exact"] = "asymptotic",
        at_least: float = 0.0,
        volume: bool = True,
        random_state: RandomState = None,
        **options: Any,
    ) -> None:
        self._rules = rules_of(
            time=time, every=every, season=season, keep=keep, lateness=lateness, run_length=run_length, guarantee=guarantee,
            at_least=at_least, volume=volume,
        )  # fmt: skip
        asked = _options(options)
        empty = None if like is None else asked.empty_like(like, random_state)
        if empty is None:
            request = asked.request(random_state)
            if not self._rules.clock:
                request = replace(request, options=request.options.apart(time))
        else:
            request = empty.request
            _check_apart(like, time)
        self._drop = request.options.drop
        self._state: Timeline | Waiting = Waiting(self._rules, request, empty)
        self.source = ""
        #: Folders that it was read from or written to, so that blocks are not written again.
        self._files: dict[Path, Files] = {}
        self._more: Mapping[str, Any] = {}
        self._earlier: Mapping[str, Any] = {}

    @one_at_a_time
    def update(
        self, rows: Any, *, save_to: str | os.PathLike[str] | None = None, save_seconds: float = 30.0
    ) -> Self:  # fmt: skip
        """Take in more rows, of any kind that `summarize` takes, and return this history; if any cannot be used, none are.

        save_to: a folder that the history is saved to every `save_seconds`, and at the end. A history without rows goes on
        from what the folder holds, which must have been asked for the same. The same call again, after the process was killed,
        takes up where the last save was, and takes no row of these files or of this table twice; files may be added at the
        end. Rows of pipes and iterators are always new.
        """
        home = engine_of(rows)
        if home is not None:
            self._take_cluster(home, rows, save_to)
            return self
        given = without(open_source(rows), self._drop)
        if save_to is None:
            self._take(given, 0)
            return self
        folder = as_path(save_to, "save_to")
        with exclusive_lock(folder, "save_to"):
            self._continue(folder)
            skip, self._earlier = rows_to_skip(self._more, given, str(folder))
            if skip is not None:
                self._take(given, skip, folder, check_seconds(save_seconds, "save_seconds"))
        return self

    def _take(self, given: Source, skip: int, folder: Path | None = None, seconds: float = np.inf) -> None:
        """Take in the rows of a source from a place on; with a folder, each save takes effect, else all rows or none."""
        start, text = self._state, False
        while True:
            state = start.opened(given) if isinstance(start, Waiting) else start
            taken, saved = skip, time.monotonic()
            try:
                for batch in given.batches(skip):
                    state = state.updated(batch) if isinstance(state, Waiting) else _taken(state, batch)
                    taken += batch.num_rows
                    if folder is not None and time.monotonic() - saved >= seconds:
                        self._keep(state, given, taken, folder, done=False)
                        saved = time.monotonic()
            except OtherTypeError as error:
                if given.as_text is None or start.n_seen or text:
                    raise
                # A value far into a file is no number: read the column as text, which is read as what most of it holds.
                given, text = given.as_text(error.columns), True
                continue
            break
        self._keep(state, given, taken, folder, done=True)

    def _take_cluster(self, home: EngineHome, frame: Any, save_to: Any) -> None:
        """Take in the rows of a frame that lives on a cluster, by blocks that its workers make."""
        if save_to is not None:
            raise InputError("save_to must be left out for frames of a cluster; save the history after the update")
        # `engines` is a later layer that this one must not depend on, so it is imported only here.
        engine, state = importlib.import_module("supersample.engines.histories"), self._state
        if isinstance(state, Waiting):
            if state.batches:
                state = state.settled
            elif state.empty is not None and state.empty.maps is not None:
                state = timeline.init(state.rules, state.empty.request, state.empty.schema, state.empty.maps)
            else:
                state = engine.empty_history(home, frame, state.rules, state.request)
        check_time(state.rules, state.schema)
        self.__dict__.update(_state=engine.with_frame(home, frame, state), source=self.source or "partitions")

    def _keep(self, state: "Timeline | Waiting", given: Source, rows: int, folder: Path | None, *, done: bool) -> None:
        # One step: after an interrupt, all rows are taken in, or none.
        self.__dict__.update(_state=state, source=self.source or given.label)
        if folder is not None:
            self._more = progress(given, rows, done=done, earlier=self._earlier)
            self._write(folder, self._more)

    def _continue(self, folder: Path) -> None:
        """Go on from a folder, if it holds a history that was asked for the same."""
        known = self._files.get(folder.absolute())
        if known is not None and not known.are_current(folder):
            raise MismatchError(
                f"save_to names {str(folder)!r}, which another run has saved to since this history read or wrote it; load it "
                f"with History.load and update that one, or choose another folder"
            )
        if known is not None or not (folder / MAIN).exists():
            return
        found = History.load(folder)
        if self.n_seen:
            raise MismatchError(
                f"save_to must name a new folder, or the one that this history was loaded from, got {str(folder)!r}, which has "
                f"{plural(found.n_seen, 'row')} of another; load it with History.load, or choose another name"
            )
        mine, theirs = (_asked(each) for each in (self._state, found._state))
        different = [name for name in mine if mine[name] != theirs[name]]
        if different:
            shown = ", ".join(f"{name}: {theirs[name]} there, {mine[name]} here" for name in different)
            raise MismatchError(
                f"save_to names {str(folder)!r}, a history that was asked for something else ({shown}); ask for the same, or "
                f"choose another folder"
            )
        self.__dict__.update({name: found.__dict__[name] for name in ("_state", "source", "_files", "_more", "_drop")})

    @one_at_a_time
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the history to a folder, atomically, with checksums and without code; `History.load` reads it.

        Saved again to the same folder, only blocks that have changed are written. What another history saved there is
        replaced. A folder that another run is writing is refused.
        """
        folder = as_path(path, "path")
        with exclusive_lock(folder, "path"):
            self._write(folder, self._more)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "History":
        """Read a history that `save` wrote; a run that saves to the folder at the same time does no harm."""
        folder = as_path(path, "path")
        saved, files = read_folder(folder)
        found = cls.__new__(cls)
        state = saved.state or Waiting(saved.rules, saved.request)
        if isinstance(state, Waiting) and saved.rows is not None and saved.rows.num_rows:
            state = replace(state, schema=saved.rows.schema, batches=tuple(saved.rows.combine_chunks().to_batches()))
        found.__dict__.update(
            _rules=saved.rules, _drop=saved.request.options.drop, _state=state, source=saved.source,
            _files={folder.absolute(): files}, _more=saved.more,
        )  # fmt: skip
        return found

    def _write(self, folder: Path, more: Mapping[str, Any]) -> None:
        state = self._state
        files = self._files.setdefault(folder.absolute(), Files())
        if not isinstance(state, Waiting):
            write_folder(folder, Saved(state.rules, state.request, self.source, state, None, more), files)
            return
        if state.request.options.redact and state.n_seen:
            raise InputError(
                f"a history with redacted columns cannot be saved before it has seen {WARM_UP:,} rows, got {state.n_seen:,}: "
                f"until then it holds their values; update it with more rows first, or pass like="
            )
        if state.schema is None:
            raise InputError("the history has seen no rows; update it with some first")
        rows = pa.Table.from_batches(state.batches, state.schema)
        write_folder(folder, Saved(state.rules, state.request, self.source, None, rows, more), files)

    @property
    def n_seen(self) -> int:
        """Rows seen."""
        return self._state.n_seen

    @property
    def n_late(self) -> int:
        """Rows that came after their block was closed."""
        return self._ready().n_late

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        """The alarms raised so far, the first one first.

        Of the first 5,000 rows they are those of an encoding learned from fewer rows, and may change until it is fixed.
        """
        if self.n_seen == 0:
            return ()
        state = self._ready()
        return tuple(shown_alarm(each, state.rules) for each in state.alarms)

    @property
    def evidence(self) -> float:
        """The evidence of a change after the last closed block, over the line at which an alarm is raised."""
        found = self._ready().ticks.evidence if self.n_seen else np.empty(0)
        return float(found[-1]) if len(found) else 0.0

    @property
    def blocks(self) -> pa.Table:
        """The blocks that are held, one row each: start, end, rows, late rows."""
        state = self._ready()
        held = timeline.all_blocks(state)
        return pa.table(
            {
                "start": shown_times([each.start for each in held], state.rules),
                "end": shown_times([each.end for each in held], state.rules),
                "rows": pa.array([each.n_seen for each in held], type=pa.int64()),
                "late": pa.array([each.n_late for each in held], type=pa.int64()),
            }
        )

    @property
    def notes(self) -> tuple[Note, ...]:
        """What there is to know about the times of the rows."""
        return notes_of(self._ready())

    def report(self, path: str | os.PathLike[str], *, title: str | None = None) -> Path:
        """Write a self-contained page along time for the browser and return its path; a page that is there is replaced.

        It shows the evidence with the alarms, rows, missing values and the course of each column, and for every alarm what
        changed and rows of before and after. Any two ranges can be compared on the page.
        """
        # `report` is a later layer that this one must not depend on, so it is imported only here.
        written: Path = importlib.import_module("supersample.report").write_history(self, path, title=title)
        return written

    def between(self, start: Any = None, end: Any = None) -> Period:
        """Return the summary of a range: of all blocks that have at least half of their span in it.

        start, end: as dates or texts ("2026-01-03", "2026-01-03 12:00"), or numbers, the end not included; None for no bound.
        The summary's own `start` and `end` are those of the blocks.
        """
        state = self._ready()
        return period_of(state, blocks_within(state, start, end, "start", "end"), self.source)

    def compare(self, first: Sequence[Any], second: Sequence[Any], *, at_least: float = 0.0) -> Comparison:
        """Compare two ranges, each a pair of start and end as for `between`; with a season, the phases that both have.

        at_least: as for `Summary.compare`.
        """
        state = self._ready()
        given = ((first, "first"), (second, "second"))
        sides = [blocks_within(state, *as_pair(each, name), f"{name}[0]", f"{name}[1]") for each, name in given]
        left, right = matched(sides[0], sides[1], state.rules)
        if not left or not right:
            raise InputError("first and second must have a phase of the season in common, and have none; take longer ranges")
        return period_of(state, left, self.source).compare(period_of(state, right, self.source), at_least=at_least)

    def changes(self, run_length: str | int | timedelta | None = None) -> tuple[Alarm, ...]:
        """Return the alarms; with another `run_length`, those of content that the blocks held now would have raised.

        Blocks that were joined since are looked at as they are: old changes are placed to the hour, day or month.
        """
        if run_length is None:
            return self.alarms
        state = self._ready()
        rules = replace(state.rules, run_length=ticks_of(run_length, state.rules.every, clock=state.rules.clock))
        return tuple(shown_alarm(each, rules) for each in looked_again(state, rules))

    @one_at_a_time
    def merge(self, other: "History") -> "History":
        """Return the history of the rows of both; neither changes.

        Both must have the same rules, and encoding and features of one summary (`like=`). Blocks of the same spans are joined,
        of overlapping ones the longer span stays. Alarms are those of both, a change that both saw once, and those that show
        where rows of both come together; from then on blocks are compared with those since the last of them.
        """
        if not isinstance(other, History):
            raise InputTypeError(f"other must be a History, got {type(other).__name__}")
        state, merged = merged_timelines(self._ready(), other._ready()), History.__new__(History)
        merged.__dict__.update(
            _rules=state.rules, _drop=self._drop, _state=state, source=f"{self.source} + {other.source}", _files={}, _more={}
        )
        return merged

    def __repr__(self) -> str:
        """Show what is held."""
        state = self._state
        if isinstance(state, Waiting):
            return f"History({plural(state.n_seen, 'row')})"
        held = timeline.all_blocks(state)
        span = f", {state.rules.text(held[0].start)} to {state.rules.text(held[-1].end)}" if held else ""
        rows, blocks, alarms = plural(state.n_seen, "row"), plural(len(held), "block"), plural(len(state.alarms), "alarm")
        return f"History({rows} in {blocks}{span}, {alarms})"

    def _ready(self) -> Timeline:
        state = self._state
        if not isinstance(state, Waiting):
            return state
        if state.n_seen == 0:
            raise InputError("the history has seen no rows; update it with some first")
        return state.settled


def _taken(state: Timeline, batch: pa.RecordBatch) -> Timeline:
    rows = conformed(state.request.options.rest(batch), state.schema)
    return timeline.update(state, rows) if rows.num_rows else state


def _options(given: dict[str, Any]) -> Options:
    """Return the options of summaries; refuse names that `summarize` does not have."""
    known = {field.name: field.default for field in fields(Options)}
    for name in given:
        if name not in known or name in ("time", "half_life", "target"):
            told = did_you_mean(name, list(known))
            raise InputTypeError(f"History takes the options of summarize, and cannot use {name!r}{told}")
    return Options.of(known | given)


def _check_apart(like: Summary | None, time: str | None) -> None:
    """Refuse a summary in whose kernel the time itself counts: every block would differ from the one before it."""
    if like is not None and any(each.name == time and each.kind != "time" and each.width for each in like.columns):
        raise InputError(
            f"like must not have the time {time!r} in its kernel, and it has; make it with types={{{time!r}: 'ignore'}}"
        )


def state_of(history: History) -> Timeline:
    """Return the state of a history at this moment."""
    return history._ready()


def notes_of(state: Timeline) -> tuple[Note, ...]:
    """Return what there is to know about the times of the rows."""
    name = state.rules.time
    told = (
        ("late rows", state.n_late, "came after their block was closed; alarms did not see them"),
        ("no time", state.n_untimed, "had no time, and went to the block of the latest time seen"),
        ("times ahead", state.n_ahead, "were far ahead of all rows before, and did not move the clock until others agreed"),
    )
    counted = tuple(Note(kind, name, f"{plural(count, 'row')} {text}") for kind, count, text in told if count)
    if state.n_behind >= _BEHIND:
        text = (
            f"the latest {plural(state.n_behind, 'row')} all came after their block was closed: the clock stands at "
            f"{state.rules.text(state.now)}, ahead of what arrives, and alarms see nothing until rows come that are not late; "
            f"if wrong times led it there, make the history again without them"
        )
        counted = (Note("clock ahead", name, text), *counted)
    cycle = cycle_note(state)
    return counted if cycle is None else (cycle, *counted)


def _asked(state: Timeline | Waiting) -> dict[str, Any]:
    """Return what a history was asked for, as plain values."""
    settings, rules = state.request.settings, state.rules
    return {
        **vars(rules), **state.request.options.to_plain(), "prototypes": settings.n_prototypes,
        "criticisms": settings.n_criticisms, "kernel": repr(settings.kernel), "features": repr(settings.features),
        "n_features": settings.n_features,
    }  # fmt: skip
