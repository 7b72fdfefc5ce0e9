"""The state of a summary: a table's stream, the encoding of its columns, and the rows that it holds.

Two states, `WarmUp` and `Running`, and pure functions: `init`, `update`, `settle`, `merge`. The result does not depend on how
rows are cut into batches.
"""

import zlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import ClassVar, NamedTuple

import numpy as np
import pyarrow as pa

from supersample import profile as profiles
from supersample._checks import FURTHEST, ROUNDING, require
from supersample._stored import check_fields
from supersample._typing import Floats
from supersample._validation import check_weights
from supersample.embedding.moments import scale_weights
from supersample.errors import InputError, MismatchError
from supersample.profile import ColumnPlan, Profile
from supersample.records.encoding import REDACTED, ColumnOptions, Encoding, learn, require_same, weights_of
from supersample.records.encoding.first_values import first_values
from supersample.records.encoding.values import is_numeric, is_time, numbers_of
from supersample.records.sources.conforming import conformed, described
from supersample.records.sources.schema import conform, plain_schema, promote
from supersample.selection import stream
from supersample.selection.stream import merging
from supersample.selection.stream.aim import Aim
from supersample.selection.stream.lifecycle import Stream
from supersample.selection.stream.plan import WARM_UP, Plan, Settings
from supersample.selection.stream.rows import Rows
from supersample.summary.outcome import MmdPoint, measure
from supersample.summary.row_store import RowStore, held_positions

__all__ = [
    "NO_PROFILE", "Maps", "Request", "Running", "State", "WarmUp", "check_encoding", "column_plans", "gathered", "init",
    "learned_from", "like", "merge", "part", "require_same_maps", "rows_of", "same_maps", "settle", "times_of", "unredacted",
    "update", "with_profile",
]  # fmt: skip

#: The profile of no columns.
NO_PROFILE = Profile(())
#: MMD is measured after this many rows, and each time their number has doubled.
_FIRST_READING = 8192


@dataclass(frozen=True)
class Request:
    """The request of the user: the settings of the stream, and which columns enter the kernel."""

    settings: Settings
    options: ColumnOptions

    @property
    def weight(self) -> str | None:
        """The column of row weights."""
        return self.options.weight

    def check(self, schema: pa.Schema) -> None:
        """Refuse a request that is impossible for rows with this schema."""
        require(plain_schema(schema, "the table").equals(schema), "the table has columns of types that are not read")
        self.settings.check()
        self.options.check(schema)


class Maps(NamedTuple):
    """How rows become points and points become features: what summaries must share to be merged or compared."""

    encoding: Encoding
    plan: Plan


@dataclass(frozen=True)
class WarmUp:
    """A summary until its first rows have fixed the encoding: the rows wait in `kept`.

    maps: those of another summary, if this one is to be like it; then the first row ends the warm-up, and none waits.
    redacted: the profile of columns whose values are not kept; the rows that wait have none. aim: what the rows that are
    chosen are to match in place of the source; it comes with its maps.
    """

    request: Request
    schema: pa.Schema
    kept: RowStore
    maps: Maps | None = None
    redacted: Profile = NO_PROFILE
    aim: Aim | None = None

    mmd_path: ClassVar[tuple[MmdPoint, ...]] = ()

    @property
    def n_seen(self) -> int:
        """Rows seen."""
        return int(self.kept.positions.size)

    def check(self) -> None:
        """Refuse a warm-up that cannot be continued."""
        waiting = self.kept.positions
        _check_profile(self.redacted, self.schema, self.request.options.redact, waiting.size)
        if self.maps is None:
            require(self.aim is None, "the target has no features")
            require(waiting.size < WARM_UP and np.array_equal(waiting, np.arange(waiting.size)), "rows that wait are missing")
            return
        require(waiting.size == 0, "rows wait for an encoding that is there")
        reach, plan = self.maps.encoding.reach(), self.maps.plan
        plan.check(reach)
        if self.aim is not None:
            self.aim.check(plan, self.maps.encoding.width, FURTHEST * float(np.sqrt(plan.kernel.largest)))
            _check_reach(self.aim.points, reach)


@dataclass(frozen=True)
class Running:
    """A summary whose rows become points of a stream; `kept` has the rows of all points that the stream holds.

    shared: the feature maps that were given to it, if it was made like another summary.
    profile: the statistics of all rows; None if it comes from a file of format 1, which had none. redacted: those of columns
    whose values are not kept.
    """

    request: Request
    schema: pa.Schema
    kept: RowStore
    encoding: Encoding
    stream: Stream
    mmd_path: tuple[MmdPoint, ...] = ()
    shared: Plan | None = None
    profile: Profile | None = None
    redacted: Profile = NO_PROFILE

    @property
    def n_seen(self) -> int:
        """Rows seen."""
        return self.stream.n_seen

    @property
    def counts_alike(self) -> bool:
        """Whether rows count in averages as they do in the profile: they have no weights, and do not lose them with time."""
        return self.encoding.weight_column is None and self.request.settings.half_life is None

    def check(self, points: Floats) -> None:
        """Refuse a state whose parts do not fit together; `points` are those of its kept rows."""
        rows = [each.rows for each in self.mmd_path]
        require(rows == sorted(set(rows)) and all(0 < each <= self.n_seen for each in rows), "the path of MMD is impossible")
        for each in self.mmd_path:
            each.check(np.inf)
        reach = self.encoding.reach()
        for plan in (self.shared, self.stream.plan):
            if plan is not None:
                plan.check(reach)
        _check_reach(points, reach)
        asked, held = self.request.settings, self.stream.settings
        held.check()
        require(replace(held, seed=asked.seed, stream=asked.stream) == asked, "stream and request differ in settings")
        require(self.stream.width == self.encoding.width, "encoding and stream differ in width")
        blocks = self.stream.dependence
        require(blocks is None or blocks.widths == self.encoding.group_widths(), "the block sums are of other columns")
        self.stream.check(self.kept.positions)
        if self.stream.aim is not None:
            _check_reach(self.stream.aim.points, reach)
        hidden = self.request.options.redact
        _check_profile(self.redacted, self.schema, hidden, self.n_seen)
        if self.profile is not None:
            _check_profile(self.profile, self.schema, [each for each in self.schema.names if each not in hidden], self.n_seen)

    @property
    def whole_profile(self) -> Profile | None:
        """The statistics of all columns, in their order, without the texts that occur too rarely to be shown."""
        if self.profile is None:
            return None
        found = {each.name: each for each in (*self.profile.columns, *self.redacted.columns)}
        return profiles.without_rare(Profile(tuple(found[name] for name in self.schema.names)), self.request.options.min_count)


def _check_reach(points: Floats, reach: Floats) -> None:
    require(bool((np.abs(points) <= reach * (1.0 + ROUNDING)).all()), "points lie beyond what their encoding gives")


def _check_profile(profile: Profile, schema: pa.Schema, names: Collection[str], rows: int) -> None:
    profile.check()
    wanted = [(field.name, str(field.type)) for field in schema if field.name in names]
    require([(each.name, each.type) for each in profile.columns] == wanted, "the profile is of other columns")
    require(not wanted or profile.rows == rows, "the profile is of other rows")


#: Everything needed to continue a summary.
State = WarmUp | Running


def check_encoding(encoding: Encoding, request: Request, schema: pa.Schema) -> None:
    """Refuse an encoding that does not fit the table's columns, or whose fields or notes are invalid."""
    for each in (encoding, *encoding.blocks, *encoding.aside, *encoding.notes, *dict(encoding.readings).values()):
        check_fields(each)
    encoding.check(schema)
    require(encoding.weight_column == request.weight, "encoding and request differ in the column of weights")
    require([note.name for note in encoding.notes] == schema.names, "the notes are not those of the table's columns")
    used = {block.name: block for block in encoding.blocks}
    for note in encoding.notes:
        block = used.get(note.name)
        size = (0, 0.0) if block is None else (block.width, block.weight)
        require((note.width, note.weight) == size, "notes and encoding differ in a column")
        # An id may enter as a number, and a column that does not vary as any kind.
        fits = block is None or note.kind in (block.called, "id", "constant")
        require(
            fits and (note.kind == "weight") == (note.name == encoding.weight_column), "notes and encoding differ in a kind"
        )


def init(request: Request, schema: pa.Schema) -> WarmUp:
    """Return the state of a summary that has seen nothing."""
    kept = request.options.kept(schema)
    request.options.check(kept)
    return WarmUp(request, kept, RowStore.none(kept), redacted=unredacted(request, kept))


def unredacted(request: Request, schema: pa.Schema) -> Profile:
    """Return the profile of columns that are redacted, before any row."""
    hidden = request.options.redact
    return profiles.init([ColumnPlan(field.name, field.type, REDACTED) for field in schema if field.name in hidden])


def like(state: Running, settings: Settings) -> WarmUp:
    """Return an empty state with the encoding and the feature maps of a settled one."""
    request, maps = replace(state.request, settings=settings), Maps(state.encoding, state.stream.fixed_plan)
    empty, hidden = RowStore.none(state.schema), unredacted(request, state.schema)
    return WarmUp(request, state.schema, empty, maps, hidden, state.stream.aim)


def learned_from(request: Request, tables: Sequence[pa.Table], label: str) -> WarmUp:
    """Return an empty state whose encoding and feature maps are those of some rows of the source."""
    learned = settle(gathered(request, tables, label))
    return like(replace(learned, encoding=replace(learned.encoding, first=())), request.settings)


def gathered(request: Request, tables: Sequence[pa.Table], label: str) -> State:
    """Return the state of some rows; what differs between the tables' types is brought to one, or refused."""
    schema = reduce(lambda left, right: promote(left, right, label), (table.schema for table in tables))
    state: State = init(request, schema)
    for table in tables:
        for batch in table.combine_chunks().to_batches():
            state = update(state, conform(batch, schema, label))  # `update` drops what is to be dropped
    return state


def part(empty: WarmUp, index: int) -> Running:
    """Return the initial state of one partition of a larger table: an empty state with random draws of its own.

    The draws are keyed by the partition's index, so a partition that is read again gives the same bytes.
    """
    assert empty.maps is not None
    settings = empty.request.settings
    return _running(empty, empty.maps.encoding, replace(settings, seed=settings.seed.child("partition").child(index)))


def update(state: State, batch: pa.RecordBatch) -> State:
    """Return the state after some more rows; the state passed in stays as it was."""
    if batch.num_rows == 0:
        return state
    encoding = state.encoding if isinstance(state, Running) else None if state.maps is None else state.maps.encoding
    batch = conformed(state.request.options.rest(batch), state.schema, () if encoding is None else encoding.readings)
    state = replace(state, redacted=profiles.update(state.redacted, batch))
    batch = state.request.options.masked(batch)
    if isinstance(state, Running):
        return _feed(state, batch)
    if state.maps is not None:
        return _feed(_running_like(state, state.maps.encoding, batch), batch)
    if state.request.weight is not None:  # checked now, before any row is taken in
        column, name = batch.column(state.request.weight), f"column {state.request.weight!r}"
        check_weights(weights_of(column), batch.num_rows, name, all_zero=True, first=state.n_seen)
    waiting = replace(state, kept=state.kept.joined(state.n_seen, batch))
    return waiting if waiting.n_seen < WARM_UP else _warmed_up(waiting)


def settle(state: State) -> Running:
    """Return the state with encoding and maps fixed, from however few rows; nothing else changes."""
    if state.n_seen == 0 and not isinstance(state, Running):
        raise InputError("the summary has seen no rows; update it with some first")
    running = state if isinstance(state, Running) else _warmed_up(state)
    if running.stream.plan is not None:
        return running
    fixed = stream.fix_plan(running.stream)
    if fixed.plan is None:
        weight = state.request.weight
        raise InputError(
            f"the summary has nothing to choose from: none of the {state.n_seen} rows has a positive weight in column "
            f"{weight!r}; give rows that have, or leave weight out"
        )
    return replace(running, stream=fixed)


def merge(left: Running, right: Running) -> Running:
    """Return the state of both, as if the rows of `right` had come after those of `left`; both must be settled."""
    require_same(left.encoding, right.encoding)
    if left.schema != right.schema:
        raise MismatchError(
            f"the two summaries have different columns and cannot be merged: {described(left.schema)} and "
            f"{described(right.schema)}; make the second one with summarize(..., like=first)"
        )
    require_same_maps(left.stream, right.stream)
    if (left.profile is None) != (right.profile is None):
        raise MismatchError(
            "one of the two summaries was saved by an earlier version and has no profile of its rows; they cannot be merged: "
            "make it again from its data"
        )
    both = None if left.profile is None or right.profile is None else profiles.merge(left.profile, right.profile)
    merged = merging.merge(left.stream, right.stream)
    kept = left.kept.merged(right.kept, left.n_seen, held_positions(merged))
    hidden = profiles.merge(left.redacted, right.redacted)
    return replace(left, stream=merged, kept=kept, mmd_path=(), profile=both, redacted=hidden)


def same_maps(left: Stream, right: Stream) -> bool:
    """Return whether two settled streams have the same feature maps."""
    first, second = left.fixed_plan, right.fixed_plan
    return first.feature_map == second.feature_map and first.held_out == second.held_out


def require_same_maps(left: Stream, right: Stream) -> None:
    """Raise MismatchError if two settled streams have different feature maps."""
    first, second = left.fixed_plan, right.fixed_plan
    if not same_maps(left, right):
        raise MismatchError(
            f"the two summaries have different kernels or features ({first.feature_map!r} and {second.feature_map!r}) and "
            f"cannot be combined; make the second one with summarize(..., like=first)"
        )


def _warmed_up(state: WarmUp) -> Running:
    """End the warm-up: learn the encoding from the rows that wait, and feed them to the stream."""
    request, table = state.request, state.kept.table
    rows = table.slice(0, WARM_UP)
    encoding = learn(rows, request.options)
    encoding = replace(encoding, first=first_values(encoding.blocks, rows))
    running = _running(state, encoding, request.settings)
    for batch in table.combine_chunks().to_batches():
        running = _feed(running, batch)
    return running


def _running_like(state: WarmUp, encoding: Encoding, first: pa.RecordBatch) -> Running:
    """End the warm-up of a summary that has its maps from another."""
    # Parts that share a plan often share their random_state, but must not share their random draws.
    mark = zlib.crc32(encoding.points(first.slice(0, 1)).tobytes())
    settings = state.request.settings
    return _running(state, encoding, replace(settings, seed=settings.seed.child("like").child(mark)))


def _running(state: WarmUp, encoding: Encoding, settings: Settings) -> Running:
    plan = None if state.maps is None else state.maps.plan
    started = stream.init(settings, encoding.width, plan, encoding.group_widths(), state.aim)
    profile = profiles.init(column_plans(encoding, state.schema))
    kept = RowStore.none(state.schema)
    return Running(state.request, state.schema, kept, encoding, started, (), plan, profile, state.redacted)


def with_profile(state: Running) -> Running:
    """Return a state with the profile of the rows that it keeps, for one that keeps all rows that it has seen."""
    profile = profiles.init(column_plans(state.encoding, state.schema))
    for batch in state.kept.table.to_batches():
        profile = profiles.update(profile, batch)
    return replace(state, profile=profile)


def column_plans(encoding: Encoding, schema: pa.Schema) -> list[ColumnPlan]:
    """Return what the profile must know of each column that is not redacted."""
    roles = {note.name: note.kind for note in encoding.notes}
    readings, centres = dict(encoding.readings), dict(encoding.centres)
    return [
        ColumnPlan(field.name, field.type, roles[field.name], readings.get(field.name), centres.get(field.name, 0.0))
        for field in schema
        if roles[field.name] != REDACTED
    ]


def _feed(state: Running, batch: pa.RecordBatch) -> Running:
    held, path, start = state.stream, state.mmd_path, 0
    rows = rows_of(state.encoding, batch, held.n_seen)
    first, times = held.n_seen, None
    if state.request.options.time is not None:
        times = times_of(state.encoding, batch, state.request.options.time)
    while start < len(rows):
        mark = _next_mark(held.n_seen)
        stop = min(len(rows), start + mark - held.n_seen)
        some = slice(start, stop)
        held = stream.update(held, rows.take(some).shifted(-start), None if times is None else times[some])
        start = stop
        if held.n_seen == mark:
            point = measure(held)
            path = path if point is None else (*path, point)
    kept = state.kept.after(first, batch, held_positions(held))
    profile = None if state.profile is None else profiles.update(state.profile, batch)
    return replace(state, stream=held, kept=kept, mmd_path=path, profile=profile)


def rows_of(encoding: Encoding, batch: pa.RecordBatch, first: int) -> Rows:
    """Return the points and weights of a batch that begins at position `first` of the stream."""
    points = encoding.points(batch)
    weights = encoding.weights(batch)
    positions = np.arange(len(points), dtype=np.int64)
    if weights is None:
        half: Floats = np.full(len(points), 0.5)
        return Rows(points, positions, half, np.ones(len(points), dtype=np.int64))
    checked = check_weights(weights, len(points), f"column {encoding.weight_column!r}", all_zero=True, first=first)
    return Rows(points, positions, *scale_weights(checked))


def times_of(encoding: Encoding, batch: pa.RecordBatch, name: str) -> Floats:
    """Return when the rows of a batch happened, by a column of times (in seconds) or numbers; NaN where it is missing."""
    column = encoding.column(batch, name)
    if not (is_time(column.type) or is_numeric(column.type)):
        raise InputError(
            f"time must name a column of times or numbers, got {name!r} of type {column.type}, which is not read as times; "
            f"parse it first, or say types={{{name!r}: 'time'}}"
        )
    return np.asarray(numbers_of(column), dtype=np.float64)


def _next_mark(n_seen: int) -> int:
    mark = _FIRST_READING
    while mark <= n_seen:
        mark *= 2
    return mark
