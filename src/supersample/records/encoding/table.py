"""The encoding of a table as a matrix: learned once from some of its rows, then fixed, stored and compared."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from supersample._stored import INTEGER, NUMBER, TEXT, instance_of, optional, stored, tuple_of
from supersample._threads import cut, map_blocks
from supersample._typing import Floats, Weights
from supersample.errors import InputError, MismatchError
from supersample.records.encoding.column_type import ColumnType, LeftOut, column_from_plain, own_types
from supersample.records.encoding.cycle import Cycle
from supersample.records.encoding.first_values import MOST
from supersample.records.encoding.hashed_category import HashedCategory
from supersample.records.encoding.number import Number
from supersample.records.encoding.options import REDACTED, ColumnOptions, listed
from supersample.records.encoding.roles import Role, forced_role, role_of
from supersample.records.encoding.text import Text
from supersample.records.encoding.values import is_numeric, is_text, numbers_of, plain_storage
from supersample.records.encoding.vector import Vector
from supersample.records.reading import Reading

__all__ = ["NOT_IN_TARGET", "ColumnNote", "Encoding", "adopted", "learn", "require_same", "same_points", "weights_of"]

#: Why a column of a table that is matched with a target stays out of the kernel.
NOT_IN_TARGET = "is not in the target"
#: Why a column is left out that columns= does not name.
_NOT_ASKED = "not asked for"
#: Rows that are encoded at a time.
_ROWS = 4096


@stored("ColumnNote", {"name": TEXT, "type": TEXT, "kind": TEXT, "width": INTEGER, "weight": NUMBER, "note": TEXT})
@dataclass(frozen=True)
class ColumnNote:
    """What a column was taken for, and how it is used.

    kind: its role: "number", "boolean", "category", "text", "time", "vector", "id", "constant", "weight", the name of a
    registered type, or "other". Summaries of format 1 say "left out" of every column that is not in the kernel.
    width: coordinates in the kernel, 0 if it is left out, with the reason in `note`.
    weight: how many ordinary columns it counts for.
    """

    name: str
    type: str
    kind: str
    width: int
    weight: float
    note: str

    @property
    def used(self) -> bool:
        """Whether the column is in the kernel."""
        return self.width > 0


@stored(
    "Encoding",
    {
        "blocks": tuple_of(instance_of(ColumnType)),
        "notes": tuple_of(instance_of(ColumnNote)),
        "weight_column": optional(TEXT),
        "aside": tuple_of(instance_of(ColumnType)),
        "readings": tuple_of(tuple_of(TEXT, instance_of(Reading), repeated=False)),
        "centres": tuple_of(tuple_of(TEXT, NUMBER, repeated=False)),
        "first": tuple_of(tuple_of(TEXT, tuple_of(INTEGER), repeated=False)),
    },
)
@dataclass(frozen=True)
class Encoding:
    """A fixed map from rows of a table to points: one block of coordinates for each column in the kernel.

    The last coordinate is the square root of the number of missing values in columns that had none when it was learned.
    aside: blocks of columns that are compared, but not in the kernel. readings: how columns of text that hold numbers, times or
    truth values are read, by name. centres: the medians of columns of numbers and times, by name, in the rows learned from.
    first: the hashes of the values of categories and texts in the first rows of a stream, by name, where they were few.
    """

    blocks: tuple[ColumnType, ...]
    notes: tuple[ColumnNote, ...]
    weight_column: str | None
    aside: tuple[ColumnType, ...] = ()
    readings: tuple[tuple[str, Reading], ...] = ()
    centres: tuple[tuple[str, float], ...] = ()
    first: tuple[tuple[str, tuple[int, ...]], ...] = ()

    @property
    def width(self) -> int:
        """The number of coordinates."""
        return sum(block.width for block in self.blocks) + 1

    def places(self) -> dict[str, slice]:
        """Return the slice of coordinates of each column."""
        ends = np.cumsum([0, *(block.width for block in self.blocks)])
        return {block.name: slice(int(a), int(b)) for block, a, b in zip(self.blocks, ends[:-1], ends[1:], strict=True)}

    def groups(self) -> dict[str, tuple[int, int]]:
        """Return which group of coordinates holds the values of each column, and which marks its missing ones.

        Groups are counted from 0 in the order of coordinates; `group_widths` has their numbers of coordinates.
        """
        ends = np.cumsum([1 + block.missing for block in self.blocks]).tolist()
        last = ends[-1] if ends else 0
        return {
            block.name: (end - 1 - block.missing, end - 1 if block.missing else last)
            for block, end in zip(self.blocks, ends, strict=True)
        }

    def group_widths(self) -> tuple[int, ...]:
        """Return the number of coordinates of each group: values and marks of missing ones by column, then the last one."""
        widths = [[block.size, 1] if block.missing else [block.size] for block in self.blocks]
        return (*(each for part in widths for each in part), 1)

    def reach(self) -> Floats:
        """Return an upper bound of the absolute value of each coordinate."""
        sizes = [np.full(block.width, block.reach) for block in self.blocks]
        return np.concatenate([*sizes, [np.sqrt(len(self.blocks))]])

    def check(self, schema: pa.Schema) -> None:
        """Raise InputError if rows of this schema cannot have produced this encoding."""
        names = [block.name for block in self.blocks]
        if not names or len(set(names)) < len(names) or not set(names) <= set(schema.names):
            raise InputError(f"an encoding must name columns of {listed(schema.names)}, each once, got {names}")
        readings = dict(self.readings)
        if not {*readings, *(block.name for block in self.aside)} <= set(schema.names):
            raise InputError(f"an encoding must read columns of {listed(schema.names)}, got {sorted(readings)}")
        for name, reading in readings.items():
            reading.check()
            if not is_text(schema.field(name).type):
                raise InputError(f"column {name!r} must be text to be read as {reading.kind}")
        for block in (*self.blocks, *self.aside):
            block.check(readings[block.name].type if block.name in readings else schema.field(block.name).type)
        if not {name for name, _ in self.first} <= set(names):
            raise InputError(f"an encoding must know first values of columns in it, {names}, got others")
        if any(len(hashes) > MOST or not all(-(1 << 63) <= each < 1 << 63 for each in hashes) for _, hashes in self.first):
            raise InputError(f"an encoding must know at most {MOST} first values of a column, as whole numbers of 64 bits")

    def column(self, batch: pa.RecordBatch, name: str) -> pa.Array:
        """Return a column as the values that its text holds."""
        column, reading = batch.column(name), dict(self.readings).get(name)
        return column if reading is None else reading.read(plain_storage(column))[0]

    def points(self, batch: pa.RecordBatch) -> Floats:
        """Return the coordinates of each row, n x width. O(n width), on all cores."""
        out = np.empty((batch.num_rows, self.width))

        def work(rows: slice) -> None:
            part = batch.slice(rows.start, rows.stop - rows.start)
            # Columns are written one after the other: a small column-major block stays in the cache.
            scratch = np.empty((part.num_rows, self.width), order="F")
            surprises = np.zeros(part.num_rows)
            for block, place in zip(self.blocks, self.places().values(), strict=True):
                absent = block.fill(self.column(part, block.name), scratch[:, place])
                if absent is not None:
                    surprises += absent
            np.sqrt(surprises, out=scratch[:, -1])
            out[rows] = scratch

        map_blocks(work, cut(batch.num_rows, _ROWS))
        return out

    def weights(self, batch: pa.RecordBatch) -> Weights | None:
        """Return the column of weights, or None if all rows count alike."""
        if self.weight_column is None:
            return None
        return weights_of(batch.column(self.weight_column))

    def to_plain(self) -> dict[str, Any]:
        """Return the encoding as plain values that can be stored as JSON and compared."""
        return {
            "blocks": [block.to_plain() for block in self.blocks],
            "notes": [vars(note) for note in self.notes],
            "weight_column": self.weight_column,
            "aside": [block.to_plain() for block in self.aside],
            "readings": {name: vars(reading) for name, reading in self.readings},
            "centres": dict(self.centres),
        } | ({"first": {name: list(hashes) for name, hashes in self.first}} if self.first else {})

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> "Encoding":
        """Return the encoding that `to_plain` described."""
        blocks = tuple(column_from_plain(each) for each in plain["blocks"])
        aside = tuple(column_from_plain(each) for each in plain.get("aside", ()))  # format 1 has none, and no readings
        readings = tuple((name, Reading(**fields)) for name, fields in sorted(plain.get("readings", {}).items()))
        notes = tuple(ColumnNote(**each) for each in plain["notes"])
        centres = tuple(sorted(plain.get("centres", {}).items()))
        first = tuple((name, tuple(hashes)) for name, hashes in sorted(plain.get("first", {}).items()))
        return cls(blocks, notes, plain["weight_column"], aside, readings, centres, first)


def weights_of(column: pa.Array) -> Weights:
    """Return a column of weights as numbers, missing ones as NaN."""
    return numbers_of(column).astype(np.float64)


def learn(table: pa.Table, options: ColumnOptions) -> Encoding:
    """Learn the encoding from some rows of a table."""
    chosen = options.check(table.schema)
    blocks: list[ColumnType] = []
    aside: list[ColumnType] = []
    notes: list[ColumnNote] = []
    readings: dict[str, Reading] = {}
    centres: dict[str, float] = {}
    for field in table.schema:
        name, kind = field.name, str(field.type)
        column = plain_storage(_one_chunk(table.column(name)))
        if name == options.weight:
            notes.append(ColumnNote(name, kind, "weight", 0, 0.0, "weighs the rows"))
            centres |= _centre(name, column)
            continue
        if name in options.redact:
            notes.append(ColumnNote(name, kind, REDACTED, 0, 0.0, "is redacted: counted, but its values are not kept"))
            continue
        asked = (options.types or {}).get(name)
        role, block = _learned(name, column, chosen.get(name, 0.0) or 1.0, asked, options)
        if role.reading is not None:
            readings[name] = role.reading
            column, _ = role.reading.read(column)
        centres |= _centre(name, column)
        if options.columns is not None and name != options.label and chosen.get(name, 0.0) == 0.0:
            notes.append(ColumnNote(name, kind, role.kind, 0, 0.0, _NOT_ASKED))
        elif isinstance(block, LeftOut):
            notes.append(ColumnNote(name, kind, role.kind, 0, 0.0, block.why))
        elif name == options.label:
            aside.append(block)
            notes.append(ColumnNote(name, kind, role.kind, 0, 0.0, "is the label: compared, but not in the kernel"))
        else:
            blocks.append(block)
            notes.append(ColumnNote(name, kind, role.kind, block.width, block.weight, ""))
    if not blocks:
        reasons = "; ".join(f"{note.name}: {note.note}" for note in notes)
        raise InputError(
            f"source must have at least one column that can enter the kernel: numbers, truth values, categories, text or "
            f"vectors of one length; got none ({reasons}). Convert one, name it with columns=, or say with types= what it is"
        )
    found = tuple(sorted(readings.items())), tuple(sorted(centres.items()))
    return Encoding(tuple(blocks), tuple(notes), options.weight, tuple(aside), *found)


def adopted(encoding: Encoding, table: pa.Table, options: ColumnOptions) -> Encoding:
    """Return the encoding for a table that has its columns and maybe others, which stay out of the kernel.

    What the others are is learned from these rows of the table.
    """
    lacking = [block.name for block in encoding.blocks if block.name not in table.schema.names]
    if lacking:
        raise MismatchError(
            f"the source must have the columns by which it is matched with the target, "
            f"{listed([block.name for block in encoding.blocks])}; missing: {lacking}; rename columns, or leave them out of "
            f"the target"
        )
    chosen = options.check(table.schema)
    shared = {note.name: note for note in encoding.notes if note.used}
    unshared = {note.name: f"left out of the target: {note.note}" for note in encoding.notes if not note.used}
    readings = {name: reading for name, reading in encoding.readings if name in shared}
    centres = {name: centre for name, centre in encoding.centres if name in shared}
    aside: list[ColumnType] = []
    notes: list[ColumnNote] = []
    for field in table.schema:
        name, kind = field.name, str(field.type)
        column = plain_storage(_one_chunk(table.column(name)))
        if name in shared and name in (options.weight, options.label, *options.redact):
            raise InputError(
                f"column {name!r} takes part in the match with the target, and so cannot be weight, label or redacted; leave "
                f"it out of the target, or choose another column"
            )
        if name in shared:
            notes.append(replace(shared[name], type=kind))
            continue
        if name == options.weight:
            notes.append(ColumnNote(name, kind, "weight", 0, 0.0, "weighs the rows"))
            centres |= _centre(name, column)
            continue
        if name in options.redact:
            notes.append(ColumnNote(name, kind, REDACTED, 0, 0.0, "is redacted: counted, but its values are not kept"))
            continue
        role, block = _learned(name, column, 1.0, (options.types or {}).get(name), options)
        if role.reading is not None:
            readings[name] = role.reading
            column, _ = role.reading.read(column)
        centres |= _centre(name, column)
        why = block.why if isinstance(block, LeftOut) else unshared.get(name, NOT_IN_TARGET)
        if options.columns is not None and chosen.get(name, 0.0) == 0.0:
            why = _NOT_ASKED
        if name == options.label and not isinstance(block, LeftOut):
            aside.append(block)
            why = "is the label: compared, but not in the kernel"
        notes.append(ColumnNote(name, kind, role.kind, 0, 0.0, why))
    found = tuple(sorted(readings.items())), tuple(sorted(centres.items()))
    return Encoding(encoding.blocks, tuple(notes), options.weight, tuple(aside), *found)


def _centre(name: str, column: pa.Array) -> dict[str, float]:
    """Return the median of a column of numbers or times, by name; nothing for other columns."""
    kind = column.type
    if not (is_numeric(kind) or (pa.types.is_temporal(kind) and not pa.types.is_interval(kind))):
        return {}
    values = numbers_of(column).astype(np.float64)
    finite = values[np.isfinite(values)]
    return {name: 2.0 * float(np.median(finite / 2.0))} if finite.size else {}


def _learned(
    name: str, column: pa.Array, weight: float, asked: str | None, options: ColumnOptions
) -> tuple[Role, ColumnType | LeftOut]:
    """Return what a column is, and how it enters the kernel or why it does not."""
    named = options.columns is not None and name in options.columns
    forced = named or asked is not None
    if asked == "ignore":
        return role_of(name, column), LeftOut("ignored, as types= says")
    for label, cls in own_types().items():
        if (asked is None or label == asked) and column.null_count < len(column):
            block = cls.learn(name, column, weight, forced=forced)
            if isinstance(block, ColumnType):
                return Role(block.called), block
            if isinstance(block, LeftOut):
                return role_of(name, column), block
    if asked in own_types():
        raise InputError(
            f"types: column {name!r} of type {column.type} is not taken by the column type {asked!r}; choose another"
        )
    role = role_of(name, column) if asked is None else forced_role(name, column, asked)
    if role.why and not (forced and role.kind == "id" and asked != "id"):
        return role, LeftOut(role.why)
    values = column if role.reading is None else role.reading.read(column)[0]
    times = "level" if named and options.times == "ignore" else options.times
    if role.kind == "time" and times == "ignore":
        return role, LeftOut('times are ignored; times="cycle" takes hour and day of week, times="level" the time itself')
    return role, _block(role, name, values, weight, times)


def _block(role: Role, name: str, values: pa.Array, weight: float, times: str) -> ColumnType | LeftOut:
    """Return how a column of a role enters the kernel."""
    takers: tuple[type[ColumnType], ...] = (Number, HashedCategory, Vector)
    if role.kind == "category":
        takers = (HashedCategory,)
    elif role.kind == "text":
        takers = (Text,)
    elif role.kind == "time" and times == "cycle":
        takers = (Cycle,)
        if role.reading is not None and not role.reading.has_hours:
            values = values.cast(pa.date32())
    for taker in takers:
        block: ColumnType | LeftOut | None = taker.learn(name, values, weight, forced=True)
        if block is not None:
            return block
    return LeftOut(f"values of type {values.type} have no place in a kernel")


def same_points(left: Encoding, right: Encoding) -> bool:
    """Return whether two encodings map the same row to the same points."""
    return all(left.to_plain()[part] == right.to_plain()[part] for part in ("blocks", "aside", "readings"))


def require_same(left: Encoding, right: Encoding) -> None:
    """Raise MismatchError if two encodings map the same row to different points."""
    if not same_points(left, right):
        names = [each.name for each in left.blocks], [each.name for each in right.blocks]
        what = f"columns {names[0]} and {names[1]}" if names[0] != names[1] else "the same columns, scaled differently"
        raise MismatchError(
            f"the two summaries encode their rows differently ({what}) and cannot be combined: each learned its encoding from "
            f"its own rows; make the second one with summarize(..., like=first)"
        )


def _one_chunk(column: pa.ChunkedArray) -> pa.Array:
    whole = column.combine_chunks()
    return whole if isinstance(whole, pa.Array) else whole.chunk(0)
