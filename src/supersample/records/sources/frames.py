"""Tables in memory and streams of Arrow batches: pyarrow, pandas, polars, DuckDB, and anything else with an Arrow stream."""

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from supersample._text import one_line
from supersample.errors import InputError, InputTypeError
from supersample.records.sources.base import (
    MAX_ROWS,
    Batches,
    Numbered,
    Source,
    after,
    guarded,
    once,
    picked,
    pieces,
    spread,
)
from supersample.records.sources.schema import conform, plain_schema

__all__ = ["frame_batches", "has_stream", "is_pandas", "name_of", "open_pandas", "open_table"]

_STOPPED = "what makes the batches stopped with this error"
#: What Arrow raises for values that it has no type for; OverflowError is for integers beyond 64 bits.
_NO_TYPE = (pa.ArrowException, TypeError, ValueError, OverflowError, NotImplementedError)


def name_of(value: Any) -> str:
    """Return the name of a value's type with the package that users know it by.

    >>> name_of(pa.table({"a": [1]})), name_of(3)
    ('pyarrow.Table', 'int')
    """
    kind = type(value)
    package = kind.__module__.split(".")[0].lstrip("_")
    return kind.__name__ if package == "builtins" else f"{package}.{kind.__name__}"


def has_stream(value: Any) -> bool:
    """Return whether a value exports its rows through Arrow's C interface."""
    return hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__")


def is_pandas(value: Any) -> bool:
    """Return whether a value is a pandas frame, without importing pandas."""
    return name_of(value) == "pandas.DataFrame"


def open_table(frame: Any, label: str = "") -> Source:
    """Open an object with an Arrow stream; tables can be read again, readers and query results once."""
    label = label or name_of(frame)
    first = _reader(frame)
    schema = plain_schema(first.schema, label)
    if isinstance(frame, pa.Table | pa.RecordBatch) or label == "polars.DataFrame":
        return _open_in_memory(frame, schema, label)
    return Source(label, schema, None, {}, once(_cut(first, schema, label), label))


def _open_in_memory(frame: Any, schema: pa.Schema, label: str) -> Source:
    n_rows = len(frame) if label == "polars.DataFrame" else frame.num_rows

    def sample(n: int) -> pa.Table:
        positions = spread(n_rows, n)
        rows = _reader(frame[positions]) if label == "polars.DataFrame" else picked(_reader(frame), positions)
        return pa.Table.from_batches(_cut(rows, schema, label), schema)

    def rows(start: int, stop: int) -> Batches:
        return _cut(_reader(frame.slice(start, stop - start)), schema, label)

    identity = {"kind": label, "rows": n_rows}
    return Source(
        label, schema, n_rows, identity, lambda skip: after(_cut(_reader(frame), schema, label), skip), sample,
        numbered=lambda: Numbered(n_rows, rows),
    )  # fmt: skip


def open_pandas(frame: Any) -> Source:
    """Open a pandas frame, without its index, converting a batch of rows at a time."""
    label = name_of(frame)
    whole = _pandas_schema(frame)
    schema = plain_schema(whole, label)

    def converted(rows: Any) -> Batches:
        for batch in _pandas_table(rows, whole).to_batches():
            yield from (conform(piece, schema, label) for piece in pieces(batch))

    def rows(first: int, end: int) -> Batches:
        for start in range(first, end, MAX_ROWS):
            yield from converted(frame.iloc[start : min(end, start + MAX_ROWS)])

    def batches(skip: int) -> Batches:
        return rows(skip, len(frame))

    def sample(n: int) -> pa.Table:
        return pa.Table.from_batches(converted(frame.iloc[spread(len(frame), n)]), schema)

    identity = {"kind": label, "rows": len(frame)}
    return Source(label, schema, len(frame), identity, batches, sample, numbered=lambda: Numbered(len(frame), rows))


def frame_batches(frame: Any) -> Batches:
    """Yield the batches of one frame as they are, for a source that is made of frames."""
    if is_pandas(frame):
        yield from _pandas_table(frame, _pandas_schema(frame)).to_batches()
    else:
        yield from map(_validated, _reader(frame))


def _reader(frame: Any) -> pa.RecordBatchReader:
    if isinstance(frame, pa.Table):
        return frame.to_reader()  # C strings would cut its names off at a zero byte
    if isinstance(frame, pa.RecordBatch):
        return pa.RecordBatchReader.from_batches(frame.schema, [frame])
    if isinstance(frame, pa.RecordBatchReader):
        return frame
    try:
        if hasattr(frame, "__arrow_c_stream__"):
            return pa.RecordBatchReader.from_stream(frame)
        batch = pa.record_batch(frame)
        return pa.RecordBatchReader.from_batches(batch.schema, [batch])
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InputTypeError(
            f"source must be a table with named columns of types that Arrow has, got {name_of(frame)}: {one_line(error)}; "
            f"pass a frame, as with .to_frame(), or cast the column"
        ) from error


def _cut(reader: Iterable[pa.RecordBatch], schema: pa.Schema, label: str) -> Batches:
    for batch in guarded(map(_validated, reader), label, _STOPPED):
        yield from (conform(piece, schema, label) for piece in pieces(batch))


def _validated(batch: pa.RecordBatch) -> pa.RecordBatch:
    batch.validate(full=True)  # batches of other code may hold anything, invalid text included
    return batch


def _pandas_schema(frame: Any) -> pa.Schema:
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise InputError(
            f"source must have columns of different names, got {twice!r} more than once in {name_of(frame)}; rename one"
        )
    try:
        return pa.Schema.from_pandas(frame, preserve_index=False)
    except _NO_TYPE as error:
        raise _no_type(frame, error) from error


def _pandas_table(frame: Any, schema: pa.Schema) -> pa.Table:
    try:
        return pa.Table.from_pandas(frame.set_axis(schema.names, axis=1), schema=schema, preserve_index=False)
    except _NO_TYPE as error:
        raise _no_type(frame, error) from error


def _no_type(frame: Any, error: Exception) -> InputTypeError:
    told = "; ".join(" ".join(str(part).split()) for part in error.args) or type(error).__name__
    odd = next((name for name in frame.columns if not _converts(frame[name])), "?")
    return InputTypeError(
        f"source: column {odd!r} of {name_of(frame)} must hold values of one type that Arrow has, got others: {told}; convert "
        f"the column, as with .astype(str), or drop it"
    )


def _converts(column: Any) -> bool:
    try:
        pa.array(column, from_pandas=True)
    except _NO_TYPE:
        return False
    return True
