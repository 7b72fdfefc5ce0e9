"""A summary's state to and from the bytes of a file."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from supersample._checks import require
from supersample._stored import UnknownNameError
from supersample._typing import Floats
from supersample.errors import InputError
from supersample.profile import Profile
from supersample.records.encoding import ColumnOptions, Encoding
from supersample.selection.stream.aim import Aim
from supersample.selection.stream.lifecycle import Stream
from supersample.selection.stream.plan import Plan, Settings
from supersample.storage.codec import pack, unpack
from supersample.storage.container import DAMAGE, Contents, from_bytes, to_bytes
from supersample.summary.outcome import MmdPoint, Outcome
from supersample.summary.row_store import RowStore, held_positions
from supersample.summary.state import NO_PROFILE, Maps, Request, Running, State, WarmUp, check_encoding, with_profile

__all__ = ["Restored", "restore", "store"]


def store(
    state: State, *, kind: str, source: str, settled: Running | None = None, outcome: Outcome | None = None, **more: Any
) -> bytes:
    """Return the bytes of a file that holds a state and, if given, its settled form and its outcome."""
    arrays: list[np.ndarray[Any, Any]] = []
    request, kept = state.request, state.kept.compact()
    running, maps = (state, None) if isinstance(state, Running) else (None, state.maps)
    header = {
        "kind": kind,
        "source": source,
        "more": more,
        "settings": pack(request.settings, arrays),
        "options": request.options.to_plain(),
        "encoding": _plain(running.encoding if running is not None else None if maps is None else maps.encoding),
        "plan": pack(running.shared if running is not None else None if maps is None else maps.plan, arrays),
        "stream": pack(None if running is None else running.stream, arrays),
        "history": pack(state.mmd_path, arrays),
        "profile": pack(None if running is None else running.profile, arrays),
        "redacted": pack(state.redacted, arrays),
        "positions": pack(kept.positions, arrays),
        "settled": None if settled is None or settled is state else pack(settled.stream, arrays),
        "settled_encoding": None if settled is None or settled is state else _plain(settled.encoding),
        "outcome": pack(outcome, arrays),
    }
    if isinstance(state, WarmUp) and state.aim is not None:  # a running stream has its own
        header["aim"] = pack(state.aim, arrays)
    return to_bytes(Contents(header, arrays, kept.table))


class Restored:
    """The contents of a file."""

    def __init__(self, header: Mapping[str, Any], state: State, settled: Running | None, outcome: Outcome | None) -> None:
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
    # Format 1 has these two, and no other options.
    asked = header["options"] if "options" in header else {name: header[name] for name in ("columns", "weight")}
    request = Request(settings, ColumnOptions.of(asked))
    request.check(kept.table.schema)
    plan = _expect(unpack(header["plan"], arrays), Plan, optional=True)
    path = _expect(unpack(header["history"], arrays), tuple)
    require(all(isinstance(each, MmdPoint) for each in path), "the path of MMD is impossible")
    profile, redacted = (_expect(unpack(header.get(each), arrays), Profile, optional=True) for each in ("profile", "redacted"))
    aim = _expect(unpack(header.get("aim"), arrays), Aim, optional=True)
    common = _Common(request, kept, plan, path, profile, redacted or NO_PROFILE, aim)  # format 1 has neither profile
    state = _state(common, arrays, header["stream"], header["encoding"])
    settled = None
    if header["settled"] is not None:
        found = _state(common, arrays, header["settled"], header["settled_encoding"])
        settled = _expect(found, Running)
        if isinstance(state, WarmUp):
            settled = with_profile(settled)  # of the rows that wait
        require(settled.stream.plan is not None, "the settled stream has no features")
        require(settled.n_seen == state.n_seen, "the settled stream has seen other rows")
    # Formats 1 and 2 had other weights and criticisms: the outcome is computed again when it is asked for.
    kept_outcome = header["outcome"] if contents.version >= 3 else None
    outcome = _expect(unpack(kept_outcome, arrays), Outcome, optional=True)
    if outcome is not None:
        read = settled or state
        require(isinstance(read, Running), "there is an outcome of nothing")
        assert isinstance(read, Running)
        outcome.check(read.stream, held_positions(read.stream))
    more = header["more"]
    named = isinstance(header["kind"], str) and isinstance(header["source"], str) and isinstance(more, Mapping)
    require(named, "the header is incomplete")
    if header["kind"] == "checkpoint":
        complete = isinstance(more.get("asked"), Mapping) and isinstance(more.get("beginning"), str)
        require(complete, "the checkpoint does not say of what run")
    return Restored(header, state, settled, outcome)


class _Common(NamedTuple):
    """What a state and its settled form share."""

    request: Request
    kept: RowStore
    plan: Plan | None
    path: tuple[MmdPoint, ...]
    profile: Profile | None
    redacted: Profile
    aim: Aim | None


def _state(common: _Common, arrays: list[np.ndarray[Any, Any]], stream: Any, encoding: Any) -> State:
    """Return a warm-up or a running state; the points of a stream are those of the kept rows under its encoding."""
    request, kept, plan, path, profile, redacted, aim = common
    schema = kept.table.schema
    if encoding is None:
        require(plan is None and stream is None, "there are features without an encoding")
        return _waiting(WarmUp(request, schema, kept, redacted=redacted, aim=aim), path)
    how = Encoding.of(encoding)
    check_encoding(how, request, schema)
    if stream is None:
        require(plan is not None, "there is an encoding without features")
        assert plan is not None
        return _waiting(WarmUp(request, schema, kept, Maps(how, plan), redacted, aim), path)
    batches = kept.table.combine_chunks().to_batches()
    points = np.concatenate([how.points(batch) for batch in batches]) if batches else np.empty((0, how.width))

    def points_at(positions: Any) -> Floats:
        places = np.searchsorted(kept.positions, positions)
        require(bool((kept.positions[np.minimum(places, points.shape[0] - 1)] == positions).all()), "a held row is missing")
        return np.asarray(points[places])

    held = _expect(unpack(stream, arrays, points_at), Stream)
    state = Running(request, schema, kept, how, held, path, plan, profile, redacted)
    state.check(points)
    return state


def _waiting(state: WarmUp, path: tuple[MmdPoint, ...]) -> WarmUp:
    require(len(path) == 0, "the path of MMD is impossible")
    state.check()
    return state


def _shown(name: str) -> str:
    return repr(name if len(name) <= 60 else f"{name[:60]}...")


def _plain(encoding: Encoding | None) -> Any:
    return None if encoding is None else encoding.to_plain()


def _expect(value: Any, kind: type, *, optional: bool = False) -> Any:
    require(isinstance(value, kind) or (optional and value is None), f"expected {kind.__name__}, got {type(value).__name__}")
    return value
