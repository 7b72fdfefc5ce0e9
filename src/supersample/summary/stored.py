"""A summary's state to and from the bytes of a file."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from supersample._typing import Floats
from supersample.errors import InputError
from supersample.records.encoding import ColumnChoice, Encoding
from supersample.selection.plan import Plan, Settings
from supersample.selection.stream import Stream
from supersample.summary.container import DAMAGE, Contents, from_bytes, to_bytes
from supersample.summary.kept import Kept
from supersample.summary.outcome import Outcome, Reading
from supersample.summary.plain import pack, require_types, unpack
from supersample.summary.state import Request, State

__all__ = ["Restored", "restore", "store"]


def store(
    state: State, *, kind: str, source: str, settled: State | None = None, outcome: Outcome | None = None, **more: Any
) -> bytes:
    """Return the bytes of a file that holds a state, and where known its settled form and its outcome."""
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
        "history": pack(state.history, arrays),
        "positions": pack(kept.positions, arrays),
        "settled": None if settled is None or settled is state else pack(settled.stream, arrays),
        "settled_encoding": None if settled is None or settled is state else _plain(settled.encoding),
        "outcome": pack(outcome, arrays),
    }
    return to_bytes(Contents(header, arrays, kept.table))


class Restored:
    """What a file gave back."""

    def __init__(self, header: Mapping[str, Any], state: State, settled: State | None, outcome: Outcome | None) -> None:
        self.kind: str = header["kind"]
        self.source: str = header["source"]
        self.more: Mapping[str, Any] = header["more"]
        self.state, self.settled, self.outcome = state, settled, outcome


def restore(data: bytes, name: str) -> Restored:
    """Return what `store` was given; whatever else the bytes are ends in a clear error."""
    contents = from_bytes(data, name)
    try:
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            return _restored(contents)
    except DAMAGE as error:
        raise InputError(f"{name} does not hold a summary, though its checksum fits ({error}); make it anew") from error


def _restored(contents: Contents) -> Restored:
    header, arrays = contents.header, list(contents.arrays)
    positions = _expect(unpack(header["positions"], arrays), np.ndarray)
    kept = Kept(positions, contents.table)
    settings = _expect(unpack(header["settings"], arrays), Settings)
    columns: ColumnChoice = header["columns"]
    state = State(
        Request(settings, columns, header["weight"]),
        contents.table.schema,
        None if header["encoding"] is None else _encoding(header["encoding"]),
        _expect(unpack(header["plan"], arrays), Plan, optional=True),
        None,
        kept,
        _expect(unpack(header["history"], arrays), tuple),
    )
    _require(all(isinstance(each, Reading) for each in state.history), "the history is impossible")
    _require_request(state.request, contents.table.column_names)
    state = _with_stream(state, header["stream"], header["encoding"], arrays)
    settled = None
    if header["settled"] is not None:
        settled = _with_stream(state, header["settled"], header["settled_encoding"], arrays)
        assert settled.stream is not None
        _require(settled.stream.plan is not None, "the settled stream has no features")
    outcome = _expect(unpack(header["outcome"], arrays), Outcome, optional=True)
    if outcome is not None:
        _require_outcome(outcome, kept)
    _require(isinstance(header["source"], str) and isinstance(header["more"], Mapping), "the header is incomplete")
    waiting = state.stream is None and kept.positions.size > 0
    _require(not (waiting and state.encoding is not None), "rows wait for an encoding that is there")
    return Restored(header, state, settled, outcome)


def _with_stream(state: State, stream: Any, encoding: Any, arrays: list[np.ndarray[Any, Any]]) -> State:
    """Return the state with a stream, whose points are those of the kept rows under an encoding."""
    kept = state.kept
    _require(kept.positions.ndim == 1 and kept.positions.size == kept.table.num_rows, "rows and positions differ in number")
    _require(bool((np.diff(kept.positions) > 0).all()), "positions are out of order")
    if stream is None:
        return state
    how = _encoding(encoding)
    for block in how.blocks:
        _require(block.name in state.schema.names, f"column {block.name!r} is missing")
    batches = kept.table.combine_chunks().to_batches()
    points = np.concatenate([how.points(batch) for batch in batches]) if batches else np.empty((0, how.width))

    def points_at(positions: Any) -> Floats:
        places = np.searchsorted(kept.positions, positions)
        _require(bool((kept.positions[np.minimum(places, points.shape[0] - 1)] == positions).all()), "a held row is missing")
        return np.asarray(points[places])

    restored = replace(state, stream=_expect(unpack(stream, arrays, points_at), Stream), encoding=how)
    _require_consistent(restored)
    return restored


def _require_outcome(outcome: Outcome, kept: Kept) -> None:
    groups = (
        (outcome.prototypes, (outcome.shares, outcome.quadrature)),
        (outcome.criticisms, (outcome.witness, outcome.nearest, outcome.criticism_shares)),
        (outcome.background, (outcome.background_shares,)),
    )
    for positions, values in groups:
        _require(bool(np.isin(positions, kept.positions).all()), "the outcome names rows that the file does not hold")
        _require(positions.ndim == 1 and all(each.shape == positions.shape for each in values), "the outcome is incomplete")
    _require(outcome.prototypes.size > 0, "the outcome has no prototypes")
    inside = (outcome.nearest >= 0) & (outcome.nearest < outcome.prototypes.size)
    _require(bool(inside.all()), "the outcome names prototypes that there are not")
    numbers = (outcome.mmd, outcome.random_mmd, outcome.energy)
    _require(all(np.isfinite(each) and each >= 0 for each in numbers), "the outcome is impossible")
    _require(not outcome.error < 0, "the outcome is impossible")
    for _, values in groups:
        _require(all(bool(np.isfinite(each).all()) for each in values), "the outcome is impossible")


def _require_request(request: Request, names: list[str]) -> None:
    settings, columns = request.settings, request.columns
    _require(settings.n_prototypes >= 1 and settings.n_criticisms >= 0 and settings.stream >= 0, "the settings are impossible")
    _require(min(settings.seed.entropy, *settings.seed.path, 0) >= 0, "the seed is impossible")
    _require(settings.n_features is None or settings.n_features >= 1, "the number of features is impossible")
    _require(columns is None or all(isinstance(name, str) and name in names for name in columns), "columns are missing")
    _require(request.weight is None or request.weight in names, "the column of weights is missing")


def _require_consistent(state: State) -> None:
    """Refuse a state whose parts do not fit together: it would fail later, and less clearly."""
    held = state.stream
    assert held is not None
    assert state.encoding is not None
    _require(state.encoding.width == held.width, "encoding and stream differ in width")
    _require(0 <= held.n_used <= held.n_seen < 1 << 62 and 0 <= held.chunks < 1 << 62, "the numbers of rows are impossible")
    last = int(state.kept.positions[-1]) if state.kept.positions.size else -1
    _require(held.n_seen > last and bool((state.kept.positions >= 0).all()), "rows stand beyond the end of the stream")
    _require(held.reservoir.size == held.settings.n_prototypes, "the reservoir has another size than was asked for")
    _require(held.criticisms.size == held.settings.n_criticisms, "the criticisms have another number than was asked for")
    _require(held.reservoir.basis_at >= 0, "the numbers of rows are impossible")
    sample = held.background
    _require(sample.next_mantissa > 0, "the background sample is impossible")
    for rows in (
        held.pending,
        held.reservoir.rows,
        held.criticisms.rows,
        *(part.rows for part in (sample.kept, *sample.waiting)),
    ):
        _require(rows.points.shape == (rows.positions.size, held.width), "points and positions differ in number")
        _require(rows.mantissas.shape == rows.exponents.shape == rows.positions.shape, "weights and positions differ in number")
    if held.plan is not None:
        _require(held.moments.totals.shape == (held.plan.feature_map.n_features + 3,), "moments and features differ in number")
        _require(held.held_out.totals.shape == (held.plan.held_out.n_features + 3,), "moments and features differ in number")
        shape = (len(held.reservoir.rows), held.plan.feature_map.n_features)
        _require(held.reservoir.features.shape == shape, "the reservoir has other features than its map")
        held.plan.feature_map.transform(np.zeros((1, held.width)))
        held.plan.held_out.transform(np.zeros((1, held.width)))


def _encoding(plain: Any) -> Encoding:
    encoding = Encoding.of(plain)
    for each in (encoding, *encoding.blocks, *encoding.notes):
        require_types(each)
    return encoding


def _plain(encoding: Encoding | None) -> Any:
    return None if encoding is None else encoding.to_plain()


def _expect(value: Any, kind: type, *, optional: bool = False) -> Any:
    _require(isinstance(value, kind) or (optional and value is None), f"expected {kind.__name__}, got {type(value).__name__}")
    return value


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)
