"""The state of a summary: a table's stream, the encoding of its columns, and the rows that it holds.

State and pure functions: `init`, `update`, `settle`, `merge`. The result does not depend on how rows are cut into batches.
"""

import zlib
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from supersample._checks import ROUNDING, require
from supersample._stored import check_fields
from supersample._typing import Floats
from supersample._validation import check_weights
from supersample.embedding.moments import scale_weights
from supersample.errors import InputError, MismatchError
from supersample.records.encoding import ColumnChoice, Encoding, check_columns, learn, require_same, weights_of
from supersample.records.sources.conforming import conformed, described
from supersample.records.sources.schema import plain_schema
from supersample.selection import stream
from supersample.selection.stream import merging
from supersample.selection.stream.lifecycle import Stream
from supersample.selection.stream.plan import WARM_UP, Plan, Settings
from supersample.selection.stream.rows import Rows
from supersample.summary.outcome import MmdPoint, measure
from supersample.summary.row_store import RowStore, held_positions

__all__ = ["Request", "State", "init", "like", "merge", "part", "require_same_maps", "settle", "update"]

#: MMD is measured after this many rows, and each time their number has doubled.
_FIRST_READING = 8192


@dataclass(frozen=True)
class Request:
    """The request of the user: the settings of the stream, and which columns enter the kernel."""

    settings: Settings
    columns: ColumnChoice = None
    weight: str | None = None

    def check(self, schema: pa.Schema) -> None:
        """Refuse a request that is impossible for rows with this schema."""
        require(plain_schema(schema, "the table").equals(schema), "the table has columns of types that are not read")
        self.settings.check()
        check_columns(schema, self.columns, self.weight)


@dataclass(frozen=True)
class State:
    """Everything needed to continue a summary. Until the first rows have fixed the encoding, all rows are in `kept`.

    plan: the maps of another summary, if this one is made like it.
    """

    request: Request
    schema: pa.Schema
    encoding: Encoding | None
    plan: Plan | None
    stream: Stream | None
    kept: RowStore
    mmd_path: tuple[MmdPoint, ...] = ()

    @property
    def n_seen(self) -> int:
        """Rows seen."""
        return self.kept.positions.size if self.stream is None else self.stream.n_seen

    def check(self, points: Floats) -> None:
        """Refuse a state whose parts do not fit together; `points` are those of its kept rows."""
        kept, encoding, held = self.kept, self.encoding, self.stream
        self._check_path()
        if encoding is None:
            require(self.plan is None and held is None, "there are features without an encoding")
            waiting = kept.positions
            require(waiting.size < WARM_UP and np.array_equal(waiting, np.arange(waiting.size)), "rows that wait are missing")
            return
        for plan in (self.plan, None if held is None else held.plan):
            if plan is not None:
                plan.check(encoding.reach())
        if held is None:
            require(kept.positions.size == 0, "rows wait for an encoding that is there")
            return
        require(
            bool((np.abs(points) <= encoding.reach() * (1.0 + ROUNDING)).all()), "points lie beyond what their encoding gives"
        )
        asked = self.request.settings
        held.settings.check()
        require(replace(held.settings, seed=asked.seed, stream=asked.stream) == asked, "stream and request differ in settings")
        require(held.width == encoding.width, "encoding and stream differ in width")
        held.check(kept.positions)

    def check_encoding(self, encoding: Encoding) -> None:
        """Refuse an encoding that does not fit the table's columns, or whose fields or notes are invalid."""
        schema = self.schema
        for each in (encoding, *encoding.blocks, *encoding.notes):
            check_fields(each)
        encoding.check(schema)
        require(encoding.weight_column == self.request.weight, "encoding and request differ in the column of weights")
        require([note.name for note in encoding.notes] == schema.names, "the notes are not those of the table's columns")
        used = {block.name: (block.called, block.width, block.weight) for block in encoding.blocks}
        for note in encoding.notes:
            left = ("weight" if note.name == encoding.weight_column else "left out", 0, 0.0)
            told = (note.kind, note.width, note.weight)
            require(told == used.get(note.name, left), "notes and encoding differ in a column")

    def _check_path(self) -> None:
        rows = [each.rows for each in self.mmd_path]
        require(rows == sorted(set(rows)) and all(0 < each <= self.n_seen for each in rows), "the path of MMD is impossible")
        for each in self.mmd_path:
            each.check(np.inf)


def init(request: Request, schema: pa.Schema) -> State:
    """Return the state of a summary that has seen nothing."""
    check_columns(schema, request.columns, request.weight)
    return State(request, schema, None, None, None, RowStore.none(schema))


def like(state: State, settings: Settings) -> State:
    """Return an empty state with the encoding and the feature maps of a settled one."""
    assert state.stream is not None
    request = replace(state.request, settings=settings)
    return State(request, state.schema, state.encoding, state.stream.plan, None, RowStore.none(state.schema))


def part(empty: State, index: int) -> State:
    """Return the initial state of one partition of a larger table: an empty state with random draws of its own.

    The draws are keyed by the partition's index, so a partition that is read again gives the same bytes.
    """
    assert empty.encoding is not None
    settings = empty.request.settings
    own = replace(settings, seed=settings.seed.child("partition").child(index))
    return replace(empty, stream=stream.init(own, empty.encoding.width, empty.plan))


def update(state: State, batch: pa.RecordBatch) -> State:
    """Return the state after some more rows; the state passed in stays as it was."""
    if batch.num_rows == 0:
        return state
    batch = conformed(batch, state.schema)
    if state.stream is not None:
        return _feed(state, batch)
    if state.encoding is None:
        if state.request.weight is not None:  # checked now, before any row is taken in
            column, name = batch.column(state.request.weight), f"column {state.request.weight!r}"
            check_weights(weights_of(column), batch.num_rows, name, all_zero=True, first=state.n_seen)
        held = state.kept.joined(state.n_seen, batch)
        if held.positions.size < WARM_UP:
            return replace(state, kept=held)
        encoding = learn(held.table.slice(0, WARM_UP), state.request.columns, state.request.weight)
        return _feed_all(_begun(state, encoding), held.table)
    return _feed(_begun(state, state.encoding, batch), batch)


def settle(state: State) -> State:
    """Return the state with encoding and maps fixed, from however few rows; nothing else changes."""
    if state.stream is None:
        if state.n_seen == 0:
            raise InputError("the summary has seen no rows; update it with some first")
        if state.encoding is None:
            table = state.kept.table
            state = _feed_all(_begun(state, learn(table, state.request.columns, state.request.weight)), table)
    assert state.stream is not None
    if state.stream.plan is not None:
        return state
    fixed = stream.fix_plan(state.stream)
    if fixed.plan is None:
        weight = state.request.weight
        raise InputError(
            f"the summary has nothing to choose from: none of the {state.n_seen} rows has a positive weight in column "
            f"{weight!r}; give rows that have, or leave weight out"
        )
    return replace(state, stream=fixed)


def merge(left: State, right: State) -> State:
    """Return the state of both, as if the rows of `right` had come after those of `left`; both must be settled."""
    assert left.stream is not None
    assert right.stream is not None
    assert left.encoding is not None
    assert right.encoding is not None
    require_same(left.encoding, right.encoding)
    if left.schema != right.schema:
        raise MismatchError(
            f"the two summaries have different columns and cannot be merged: {described(left.schema)} and "
            f"{described(right.schema)}; make the second one with summarize(..., like=first)"
        )
    require_same_maps(left.stream, right.stream)
    merged = merging.merge(left.stream, right.stream)
    kept = left.kept.merged(right.kept, left.n_seen, held_positions(merged))
    return replace(left, stream=merged, kept=kept, mmd_path=())


def require_same_maps(left: Stream, right: Stream) -> None:
    """Raise MismatchError if two settled streams have different feature maps."""
    assert left.plan is not None
    assert right.plan is not None
    if left.plan.feature_map != right.plan.feature_map or left.plan.held_out != right.plan.held_out:
        raise MismatchError(
            f"the two summaries have different kernels or features ({left.plan.feature_map!r} and {right.plan.feature_map!r}) "
            f"and cannot be combined; make the second one with summarize(..., like=first)"
        )


def _begun(state: State, encoding: Encoding, first: pa.RecordBatch | None = None) -> State:
    settings = state.request.settings
    if state.plan is not None and first is not None:
        # Parts that share a plan often share their random_state, but must not share their random draws.
        mark = zlib.crc32(encoding.points(first.slice(0, 1)).tobytes())
        settings = replace(settings, seed=settings.seed.child("like").child(mark))
    begun = stream.init(settings, encoding.width, state.plan)
    return replace(state, encoding=encoding, stream=begun, kept=RowStore.none(state.schema))


def _feed_all(state: State, table: pa.Table) -> State:
    for batch in table.combine_chunks().to_batches():
        state = _feed(state, batch)
    return state


def _feed(state: State, batch: pa.RecordBatch) -> State:
    encoding, held = state.encoding, state.stream
    assert encoding is not None
    assert held is not None
    rows = _rows(encoding, batch, held.n_seen)
    first, path, start = held.n_seen, state.mmd_path, 0
    while start < len(rows):
        mark = _next_mark(held.n_seen)
        stop = min(len(rows), start + mark - held.n_seen)
        held = stream.update(held, rows.take(slice(start, stop)).shifted(-start))
        start = stop
        if held.n_seen == mark:
            point = measure(held)
            path = path if point is None else (*path, point)
    return replace(state, stream=held, kept=state.kept.after(first, batch, held_positions(held)), mmd_path=path)


def _rows(encoding: Encoding, batch: pa.RecordBatch, first: int) -> Rows:
    """Return the points and weights of a batch that begins at position `first` of the stream."""
    points = encoding.points(batch)
    weights = encoding.weights(batch)
    positions = np.arange(len(points), dtype=np.int64)
    if weights is None:
        half: Floats = np.full(len(points), 0.5)
        return Rows(points, positions, half, np.ones(len(points), dtype=np.int64))
    checked = check_weights(weights, len(points), f"column {encoding.weight_column!r}", all_zero=True, first=first)
    return Rows(points, positions, *scale_weights(checked))


def _next_mark(n_seen: int) -> int:
    mark = _FIRST_READING
    while mark <= n_seen:
        mark *= 2
    return mark
