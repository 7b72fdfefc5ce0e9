"""Convert later rows to the columns of the first ones: the same names, and the same types or a lossless conversion."""

import re
from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from supersample.errors import MismatchError
from supersample.records.reading import Reading
from supersample.records.sources.nested import flattened

__all__ = ["conformed", "described"]


def conformed(batch: pa.RecordBatch, schema: pa.Schema, readings: Iterable[tuple[str, Reading]] = ()) -> pa.RecordBatch:
    """Return a batch with the columns of the schema, in its order and of its types; refuse a conversion that loses digits.

    readings: how columns of text are read; where one is read as numbers, numbers become such text.
    """
    if batch.schema.equals(schema):
        return batch
    batch = flattened(batch, schema)
    missing = [name for name in schema.names if name not in batch.schema.names]
    extra = [name for name in batch.schema.names if name not in schema.names]
    if missing or extra:
        raise MismatchError(
            f"the rows must have the columns seen before, {described(schema)}; missing: {missing or 'none'}, not seen before: "
            f"{extra or 'none'}; pass the same columns"
        )
    columns, read = [], dict(readings)
    for field in schema:
        column = batch.column(field.name)
        columns.append(column if column.type == field.type else _converted(column, field, read.get(field.name)))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _converted(column: pa.Array, field: pa.Field, reading: Reading | None) -> pa.Array:
    """Return a column in the type of the rows seen before, if the conversion is exact to the last digit."""
    if column.null_count == len(column):
        return pa.nulls(len(column), field.type)
    if pa.types.is_null(field.type):
        raise MismatchError(
            f"column {field.name!r} held nothing but missing values in the rows seen before, and now has values of type "
            f"{column.type}: give rows that have some first, or leave the column out of both"
        )
    if reading is not None and reading.kind == "number" and _family(column.type) == "number":
        return _written(column, field, reading)
    try:
        if _family(column.type) != _family(field.type):
            raise pa.ArrowInvalid("another kind of values")
        made = column.cast(field.type)
        back = made.cast(column.type)
        same = pc.equal(column, back).fill_null(True)
        if pa.types.is_floating(column.type):
            same = pc.or_(same, pc.is_nan(column).fill_null(True))
        if not pc.all(same).as_py():
            raise pa.ArrowInvalid("digits would be lost")
    except pa.ArrowException as error:
        raise MismatchError(
            f"column {field.name!r} must be of type {field.type}, as in the rows seen before, got {column.type}, which does "
            f"not convert ({' '.join(str(error).split())}); give the column one type in all rows, the one that holds all values"
        ) from error
    return made


def _written(column: pa.Array, field: pa.Field, reading: Reading) -> pa.Array:
    """Return numbers as text that the reading reads as these numbers."""
    made = column.cast(field.type)
    values, unreadable = reading.read(made)
    same = pc.equal(values, column.cast(pa.float64(), safe=False)).fill_null(True)
    if unreadable or not pc.all(same).as_py():
        raise MismatchError(
            f"column {field.name!r} must hold text that is read as numbers ({reading.form}), as in the rows seen before, got "
            f"{column.type} with numbers that cannot be written so; give the column one type in all rows"
        )
    return made


def _family(kind: pa.DataType) -> str:
    """Return the family of types that convert into each other: numbers, or types that differ only in unit or layout."""
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return "number"
    if pa.types.is_date(kind) or (pa.types.is_timestamp(kind) and kind.tz is None):
        return "day or moment"
    return re.split(r"[\[(<]", str(kind))[0]


def described(schema: pa.Schema) -> str:
    """Name the first columns of a schema and their types."""
    shown = ", ".join(f"{field.name} ({field.type})" for field in list(schema)[:8])
    return shown if len(schema) <= 8 else f"{shown} and {len(schema) - 8} more"
