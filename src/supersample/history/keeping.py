"""What a service needs of a history beyond `save`: to take a step back, and to know what a saved one has seen."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from supersample._locking import one_at_a_time
from supersample.history.history import History
from supersample.history.timeline import Timeline
from supersample.history.waiting import Waiting
from supersample.records.encoding.options import ColumnOptions
from supersample.records.sources import open_source

__all__ = ["Mark", "mark", "options_of", "restore", "resume", "save_with", "schema_of", "take_rest", "timeline_of"]


class Mark(NamedTuple):
    """A history at one moment; it costs nothing, since states do not change."""

    state: Timeline | Waiting
    source: str


def mark(history: History) -> Mark:
    """Return what `restore` needs."""
    return Mark(history._state, history.source)


@one_at_a_time
def restore(history: History, at: Mark) -> None:
    """Forget what a history has taken in since a mark."""
    history.__dict__.update(_state=at.state, source=at.source)


@one_at_a_time
def save_with(history: History, folder: Path, more: Mapping[str, Any]) -> None:
    """Save a history, and with it, in the same step, what else is to be remembered; `resume` returns it."""
    history.__dict__["_more"] = dict(more)
    history._write(folder, more)


@one_at_a_time
def resume(history: History, folder: Path) -> Mapping[str, Any]:
    """Go on from the history of a folder, if it holds one that was asked for the same; return what was saved with it."""
    history._continue(folder)
    return history._more


def schema_of(history: History) -> pa.Schema | None:
    """Return the columns of the rows seen so far, None if there are none."""
    return history._state.schema


@one_at_a_time
def take_rest(history: History, rows: pa.Table) -> None:
    """Take in rows without the columns that the history drops; if any cannot be used, none are."""
    history._take(open_source(rows), 0)


def options_of(history: History) -> ColumnOptions:
    """Return what was asked of columns, by arguments or by `like`."""
    return history._state.request.options


def timeline_of(history: History) -> Timeline | None:
    """Return the state at this moment, None while the history learns how columns become points."""
    state = history._state
    return None if isinstance(state, Waiting) else state
