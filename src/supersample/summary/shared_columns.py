"""The columns that two summaries have in common and can be compared in, and the rows they hold in these."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import pyarrow as pa

from supersample.errors import MismatchError
from supersample.records.encoding import ColumnNote
from supersample.records.encoding.column_type import ColumnType
from supersample.records.encoding.cycle import Cycle
from supersample.records.encoding.values import is_numeric, plain_storage
from supersample.selection.stream import background
from supersample.selection.stream.lifecycle import Stream, drain
from supersample.summary.notes import Note
from supersample.summary.state import Running

__all__ = ["Column", "Side", "converted", "one_batch", "shared_columns", "side_of"]

_SIDES = ("left", "right")
#: Roles that are one if the other side has the second.
_NUMBERS = {"number", "boolean"}


class Column(NamedTuple):
    """A column that both sides have and take for the same: what it is, its weight in the kernel, and its common type."""

    name: str
    role: str
    weight: float
    type: pa.DataType


class Side(NamedTuple):
    """One side with its background sample."""

    state: Running
    held: Stream
    batch: pa.RecordBatch

    @property
    def blocks(self) -> dict[str, ColumnType]:
        """The columns that are compared among summaries like this one."""
        encoding = self.state.encoding
        return {each.name: each for each in (*encoding.blocks, *encoding.aside)}

    @property
    def notes(self) -> dict[str, ColumnNote]:
        """How each column is used."""
        return {each.name: each for each in self.state.encoding.notes}

    def values(self, name: str) -> pa.Array:
        """Return the values of a column, as they are read."""
        return plain_storage(self.state.encoding.column(self.batch, name))


def side_of(state: Running) -> Side:
    """Return a side with nothing pending and its background sample cut to its size."""
    held = drain(state.stream)
    held = replace(held, background=background.settled(held.background, held.settings.n_background))
    return Side(state, held, one_batch(state.kept.table))


def shared_columns(sides: tuple[Side, Side]) -> tuple[list[Column], list[Note]]:
    """Return the columns that can be compared, by name, and notes about those that cannot."""
    names = [each.state.schema.names for each in sides]
    notes = [
        Note(f"only on the {_SIDES[place]}", name, f"on the {_SIDES[place]} only, so it is not compared")
        for place in (0, 1)
        for name in names[place]
        if name not in names[1 - place]
    ]
    columns = []
    for name in sorted(set(names[0]) & set(names[1])):
        found = _common(sides, name)
        if isinstance(found, Column):
            columns.append(found)
        elif found is not None:
            notes.append(found)
    if not columns:
        reasons = "; ".join(map(str, notes)) or "all columns that both have are left out"
        raise MismatchError(
            f"the two summaries have no column that can be compared ({reasons}); compare summaries of the same columns, or "
            f"make the second one with summarize(..., like=first)"
        )
    return columns, notes


def _common(sides: tuple[Side, Side], name: str) -> Column | Note | None:
    """Return how both sides have a column, or why it is not compared; None if it is left out on both."""
    blocks = [each.blocks.get(name) for each in sides]
    notes = [each.notes[name] for each in sides]
    if blocks[0] is None and blocks[1] is None:
        return None
    for place in (0, 1):
        if blocks[place] is None and notes[place].kind == "constant":  # it holds no values there: all are missing
            blocks[place] = blocks[1 - place]
        elif blocks[place] is None:
            return Note(
                "left out on one side", name, f"left out on the {_SIDES[place]} ({notes[place].note}), so it is not compared"
            )
    assert blocks[0] is not None and blocks[1] is not None  # noqa: PT018
    roles = [blocks[0].called, blocks[1].called]
    if roles[0] != roles[1] and not set(roles) <= _NUMBERS:
        return Note("another role", name, f"a {roles[0]} on the left and a {roles[1]} on the right, so it is not compared")
    values = [each.values(name) for each in sides]
    kind = _common_type(values[0], values[1])
    if kind is None or isinstance(blocks[0], Cycle) != isinstance(blocks[1], Cycle):
        kinds = [str(each.type) for each in values]
        if kinds[0] == kinds[1]:
            kinds = ["a place in day and week" if isinstance(each, Cycle) else "a moment" for each in blocks]
        return Note("another type", name, f"{kinds[0]} on the left and {kinds[1]} on the right, so it is not compared")
    role = roles[0] if roles[0] == roles[1] else "number"
    return Column(name, role, 0.5 * (blocks[0].weight + blocks[1].weight), kind)


def _common_type(left: pa.Array, right: pa.Array) -> pa.DataType | None:
    """Return a type that holds the values of both; None if there is none."""
    for one, other in ((left, right), (right, left)):
        if one.null_count == len(one):
            return other.type
    if left.type == right.type:
        return left.type
    if is_numeric(left.type) and is_numeric(right.type):
        whole = pa.types.is_integer(left.type) and pa.types.is_integer(right.type)
        unsigned = pa.types.is_uint64(left.type) or pa.types.is_uint64(right.type)
        return pa.int64() if whole and not unsigned else pa.float64()
    try:
        schemas = [pa.schema([pa.field("", each.type)]) for each in (left, right)]
        return pa.unify_schemas(schemas, promote_options="permissive").field(0).type
    except pa.ArrowException:
        return None


def converted(side: Side, columns: Sequence[Column]) -> pa.Table:
    """Return the rows that a side holds, in the columns and types that are compared."""
    arrays = []
    for column in columns:
        values = side.values(column.name)
        if values.null_count == len(values):
            values = pa.nulls(len(values), column.type)
        arrays.append(values if values.type == column.type else values.cast(column.type, safe=False))
    return pa.table(dict(zip([each.name for each in columns], arrays, strict=True)))


def one_batch(table: pa.Table) -> pa.RecordBatch:
    """Return a table as one batch."""
    whole = table.combine_chunks().to_batches()
    return (
        whole[0]
        if whole
        else pa.RecordBatch.from_arrays([pa.nulls(0, each.type) for each in table.schema], schema=table.schema)
    )
