"""A summary's state to and from the bytes of a file."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from supersample._checks import require
from supersample._stored import UnknownNameError
from supersample._typing import Floats
from supersample.errors import InputError
from supersample.records.encoding import ColumnChoice, Encoding
from supersample.selection.stream.lifecycle import Stream
from supersample.selection.stream.plan import Plan, Settings
from supersample.storage.codec import pack, unpack
from supersample.storage.container import DAMAGE, Contents, from_bytes, to_bytes
from supersample.summary.outcome import MmdPoint, Outcome
from supersample.summary.row_store import RowStore
from supersample.summary.state import Request, State

__all__ = ["Restored", "restore", "store"]


def store(
    state: State, *, kind: str, source: str, settled: State | None = None, outcome: Outcome | None = None, **more: Any
) -> bytes:
    """Return the bytes of a file that holds a state and, if given, its settled form and its outcome."""
    arrays: list[np.ndarray[Any, Any]] = []
    request, kept = state.request, state.kept.compact()
    columns: Any = request.columns
    header = {
        "kind": kind,
        "source": source,
        "more": more,
        "settings": pack(request.settings, arrays),
        "columns": dict(columns) if isinstance(columns, Mapping) else None if columns is None else list(columns),
        "weight": request.weight,
        "encoding": _plain(state.encoding),
        "plan": pack(state.plan, arrays),
        "stream": pack(state.stream, arrays),
        "history": pack(state.mmd_path, arrays),
        "positions": pack(kept.positions, arrays),
        "settled": None if settled is None or settled is state else pack(settled.stream, arrays),
        "settled_encoding": None if settled is None or settled is state else _plain(settled.encoding),
        "outcome": pack(outcome, arrays),
    }
    return to_bytes(Contents(header, arrays, kept.table))


class Restored:
    """The contents of a file."""

    def __init__(self, header: Mapping[str, Any], state: State, settled: State | None, outcome: Outcome | None) -> None:
        self.kind: str = header["kind"]
        self.source: str = header["source"]
        self.more: Mapping[str, Any] = header["more"]
        self.state, self.settled, self.outcome = state, settled, outcome


def restore(data: bytes, name: str) -> Restored:
    """Return what `store` was given; raise InputError for any other bytes."""
    contents = from_bytes(data, name)
    try:
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            return _restored(contents)
    except UnknownNameError as error:
        raise InputError(
            f"{name} holds {_shown(error.args[0])}, which is not registered here; if it is a kernel, feature map or column "
            f"type of your own, import the module that registers it and load again"
        ) from error
    except DAMAGE as error:
        raise InputError(f"{name} does not hold a summary, though its checksum fits ({error}); create it again") from error


def _restored(contents: Contents) -> Restored:
    header, arrays = contents.header, list(contents.arrays)
    kept = RowStore(_expect(unpack(header["positions"], arrays), np.ndarray), contents.table)
    kept.check()
    settings = _expect(unpack(header["settings"], arrays), Settings)
    columns: ColumnChoice = header["columns"]
    request = Request(settings, columns, header["weight"])
    request.check(kept.table.schema)
    plan = _expect(unpack(header["plan"], arrays), Plan, optional=True)
    path = _expect(unpack(header["history"], arrays), tuple)
    require(all(isinstance(each, MmdPoint) for each in path), "the path of MMD is impossible")
    empty = State(request, contents.table.schema, None, plan, None, kept, path)
    state = _with_stream(empty, header["stream"], header["encoding"], arrays)
    settled = None
    if header["settled"] is not None:
        settled = _with_stream(empty, header["settled"], header["settled_encoding"], arrays)
        assert settled.stream is not None
        require(settled.stream.plan is not None, "the settled stream has no features")
        require(settled.n_seen == state.n_seen, "the settled stream has seen other rows")
    outcome = _expect(unpack(header["outcome"], arrays), Outcome, optional=True)
    if outcome is not None:
        read = settled or state
        require(read.stream is not None, "there is an outcome of nothing")
        assert read.stream is not None
        outcome.check(read.stream, read.kept.positions)
    more = header["more"]
    named = isinstance(header["kind"], str) and isinstance(header["source"], str) and isinstance(more, Mapping)
    require(named, "the header is incomplete")
    if header["kind"] == "checkpoint":
        told = isinstance(more.get("asked"), Mapping) and isinstance(more.get("beginning"), str)
        require(told, "the checkpoint does not say of what run")
    return Restored(header, state, settled, outcome)


def _with_stream(empty: State, stream: Any, encoding: Any, arrays: list[np.ndarray[Any, Any]]) -> State:
    """Return the state with an encoding, and a stream whose points are those of the kept rows under it."""
    state, kept, points = empty, empty.kept, np.empty((0, 0))
    if encoding is not None:
        how = Encoding.of(encoding)
        state.check_encoding(how)
        state = replace(state, encoding=how)
        if stream is not None:
            batches = kept.table.combine_chunks().to_batches()
            points = np.concatenate([how.points(batch) for batch in batches]) if batches else np.empty((0, how.width))

    def points_at(positions: Any) -> Floats:
        places = np.searchsorted(kept.positions, positions)
        require(bool((kept.positions[np.minimum(places, points.shape[0] - 1)] == positions).all()), "a held row is missing")
        return np.asarray(points[places])

    state = replace(state, stream=_expect(unpack(stream, arrays, points_at), Stream, optional=True))
    state.check(points)
    return state


def _shown(name: str) -> str:
    return repr(name if len(name) <= 60 else f"{name[:60]}...")


def _plain(encoding: Encoding | None) -> Any:
    return None if encoding is None else encoding.to_plain()


def _expect(value: Any, kind: type, *, optional: bool = False) -> Any:
    require(isinstance(value, kind) or (optional and value is None), f"expected {kind.__name__}, got {type(value).__name__}")
    return value
