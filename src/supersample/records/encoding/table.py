"""The encoding of a table as a matrix: learned once from the first rows, then fixed, stored and compared."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from supersample._stored import INTEGER, NUMBER, TEXT, instance_of, optional, stored, tuple_of
from supersample._threads import cut, map_blocks
from supersample._typing import Floats, Weights
from supersample.errors import InputError, InputTypeError, MismatchError
from supersample.records.encoding.column_type import ColumnType, LeftOut, column_from_plain, learn_column
from supersample.records.encoding.values import is_numeric, numbers_of

__all__ = ["ColumnChoice", "ColumnNote", "Encoding", "check_columns", "learn", "require_same", "weights_of"]

#: What users may pass as `columns`: names, or names with weights; None for all.
ColumnChoice = Sequence[str] | Mapping[str, float] | None

#: Rows that are encoded at a time.
_ROWS = 4096


@stored("ColumnNote", {"name": TEXT, "type": TEXT, "kind": TEXT, "width": INTEGER, "weight": NUMBER, "note": TEXT})
@dataclass(frozen=True)
class ColumnNote:
    """How a column is used.

    kind: "number", "boolean", "time", "category", "vector", "weight", or "left out" of the kernel, with the reason in `note`.
    width: coordinates in the kernel; weight: how many ordinary columns it counts for.
    """

    name: str
    type: str
    kind: str
    width: int
    weight: float
    note: str


@stored(
    "Encoding",
    {
        "blocks": tuple_of(instance_of(ColumnType)),
        "notes": tuple_of(instance_of(ColumnNote)),
        "weight_column": optional(TEXT),
    },
)
@dataclass(frozen=True)
class Encoding:
    """A fixed map from rows of a table to points: one block of coordinates for each column in the kernel.

    The last coordinate is the square root of the number of missing values in columns that had none in the first rows.
    """

    blocks: tuple[ColumnType, ...]
    notes: tuple[ColumnNote, ...]
    weight_column: str | None

    @property
    def width(self) -> int:
        """The number of coordinates."""
        return sum(block.width for block in self.blocks) + 1

    def places(self) -> dict[str, slice]:
        """Return the slice of coordinates of each column."""
        ends = np.cumsum([0, *(block.width for block in self.blocks)])
        return {block.name: slice(int(a), int(b)) for block, a, b in zip(self.blocks, ends[:-1], ends[1:], strict=True)}

    def reach(self) -> Floats:
        """Return an upper bound of the absolute value of each coordinate."""
        sizes = [np.full(block.width, block.reach) for block in self.blocks]
        return np.concatenate([*sizes, [np.sqrt(len(self.blocks))]])

    def check(self, schema: pa.Schema) -> None:
        """Raise InputError if rows of this schema cannot have produced this encoding."""
        names = [block.name for block in self.blocks]
        if not names or len(set(names)) < len(names) or not set(names) <= set(schema.names):
            raise InputError(f"an encoding must name columns of {_listed(schema.names)}, each once, got {names}")
        for block in self.blocks:
            block.check(schema.field(block.name).type)

    def points(self, batch: pa.RecordBatch) -> Floats:
        """Return the coordinates of each row, n x width. O(n width), on all cores."""
        out = np.empty((batch.num_rows, self.width))

        def work(rows: slice) -> None:
            part = batch.slice(rows.start, rows.stop - rows.start)
            # Columns are written one after the other: a small column-major block stays in the cache.
            scratch = np.empty((part.num_rows, self.width), order="F")
            surprises = np.zeros(part.num_rows)
            for block, place in zip(self.blocks, self.places().values(), strict=True):
                absent = block.fill(part.column(block.name), scratch[:, place])
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
        }

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> "Encoding":
        """Return the encoding that `to_plain` described."""
        blocks = tuple(column_from_plain(each) for each in plain["blocks"])
        return cls(blocks, tuple(ColumnNote(**each) for each in plain["notes"]), plain["weight_column"])


def weights_of(column: pa.Array) -> Weights:
    """Return a column of weights as numbers, missing ones as NaN."""
    return numbers_of(column).astype(np.float64)


def learn(table: pa.Table, columns: ColumnChoice, weight: str | None) -> Encoding:
    """Learn the encoding from the first rows of a table."""
    chosen = check_columns(table.schema, columns, weight)
    blocks: list[ColumnType] = []
    notes: list[ColumnNote] = []
    for field in table.schema:
        name, kind = field.name, str(field.type)
        if name == weight:
            notes.append(ColumnNote(name, kind, "weight", 0, 0.0, "weighs the rows"))
            continue
        if chosen.get(name, 0.0) == 0.0:
            notes.append(ColumnNote(name, kind, "left out", 0, 0.0, "not asked for"))
            continue
        block = learn_column(name, _one_chunk(table.column(name)), chosen[name], forced=columns is not None)
        if isinstance(block, LeftOut):
            notes.append(ColumnNote(name, kind, "left out", 0, 0.0, block.why))
            continue
        blocks.append(block)
        notes.append(ColumnNote(name, kind, block.called, block.width, block.weight, ""))
    if not blocks:
        reasons = "; ".join(f"{note.name}: {note.note}" for note in notes)
        raise InputError(
            f"source must have at least one column that can enter the kernel: numbers, truth values, categories, times or "
            f"vectors of one length; got none ({reasons}). Convert one, or name it with columns="
        )
    return Encoding(tuple(blocks), tuple(notes), weight)


def check_columns(schema: pa.Schema, columns: ColumnChoice, weight: str | None) -> dict[str, float]:
    """Return the kernel weight of each requested column; refuse names that the schema does not have."""
    if weight is not None and weight not in schema.names:
        raise InputError(f"weight must name a column of the source ({_listed(schema.names)}), got {weight!r}")
    if weight is not None and not is_numeric(schema.field(weight).type):
        raise InputError(f"weight must name a column of numbers, got {weight!r} of type {schema.field(weight).type}")
    if columns is None:
        return {name: 1.0 for name in schema.names if name != weight}
    if isinstance(columns, str) or not isinstance(columns, Mapping | Sequence):
        raise InputTypeError(f"columns must be a list of names or a dict of names and weights, got {columns!r}")
    chosen = dict(columns) if isinstance(columns, Mapping) else dict.fromkeys(columns, 1.0)
    for name, share in chosen.items():
        if name not in schema.names:
            raise InputError(f"columns must name columns of the source ({_listed(schema.names)}), got {name!r}")
        if name == weight:
            raise InputError(f"columns must not name the column of weights, got {name!r} for both")
        if isinstance(share, bool) or not isinstance(share, int | float) or not (np.isfinite(share) and share >= 0):
            raise InputError(f"columns: the weight of {name!r} must be a finite number of 0 or more, got {share!r}")
    if not any(chosen.values()):
        raise InputError(f"columns must give at least one column a positive weight, got {columns!r}")
    return {name: float(share) for name, share in chosen.items()}


def require_same(left: Encoding, right: Encoding) -> None:
    """Raise MismatchError if two encodings map the same row to different points."""
    if left.to_plain()["blocks"] != right.to_plain()["blocks"]:
        names = [each.name for each in left.blocks], [each.name for each in right.blocks]
        what = f"columns {names[0]} and {names[1]}" if names[0] != names[1] else "the same columns, scaled differently"
        raise MismatchError(
            f"the two summaries encode their rows differently ({what}) and cannot be combined: each learned its encoding from "
            f"its own first rows; make the second one with summarize(..., like=first)"
        )


def _one_chunk(column: pa.ChunkedArray) -> pa.Array:
    whole = column.combine_chunks()
    return whole if isinstance(whole, pa.Array) else whole.chunk(0)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:8]))
    return shown if len(names) <= 8 else f"{shown} and {len(names) - 8} more"
