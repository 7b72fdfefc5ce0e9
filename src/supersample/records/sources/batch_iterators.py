"""Iterators of batches: frames, Arrow batches, arrays or dictionaries of columns, one after the other."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from supersample._text import one_line
from supersample.errors import InputError, InputTypeError
from supersample.records.sources.base import Batches, Source, guarded, once, pieces
from supersample.records.sources.frames import frame_batches, has_stream, is_pandas, name_of
from supersample.records.sources.matrices import array_batch
from supersample.records.sources.schema import conform, plain_schema

__all__ = ["is_batch", "mapping_batch", "open_iterator", "open_list"]

_RAISED = "the iterator of batches raised this error"


def is_batch(value: Any) -> bool:
    """Return whether a value can be one batch of several."""
    return has_stream(value) or is_pandas(value) or isinstance(value, np.ndarray | Mapping)


def open_iterator(iterator: Iterator[Any], label: str) -> Source:
    """Open an iterator of batches as a source that can be read once.

    Batches are read at once up to the first one with rows, which decides the columns.
    """
    batches = _batches(iterator, label)
    first = next(batches, None)
    if first is None:
        raise InputError(f"source: {label} must give batches of rows, got none; it may have been used up before")
    schema = plain_schema(first.schema, f"the first batch of {label}")
    return Source(label, schema, None, {}, once(_cut(first, batches, schema, label), label))


def open_list(batches: list[Any]) -> Source:
    """Open a list of batches as a source that can be read again."""
    label = f"a list of {len(batches)} batches"
    opened = open_iterator(iter(batches), label)
    return Source(label, opened.schema, None, {}, lambda skip: open_iterator(iter(batches), label).batches(skip))


def mapping_batch(columns: Mapping[Any, Any]) -> pa.RecordBatch:
    """Copy a dictionary of columns into one batch."""
    flat = [name for name, values in columns.items() if isinstance(values, str | bytes) or not isinstance(values, Iterable)]
    if flat:
        raise InputTypeError(
            f"source: a dictionary must hold a list or array for each column, got {name_of(columns[flat[0]])} for {flat[0]!r}; "
            f"rows given as dictionaries become a table by pyarrow.Table.from_pylist(rows)"
        )
    try:
        return pa.RecordBatch.from_pydict({str(name): values for name, values in columns.items()})
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
        raise InputError(
            f"source: a dictionary must hold columns of the same length, each of one type: {one_line(error)}"
        ) from error


def _batches(iterator: Iterable[Any], label: str) -> Batches:
    """Yield the Arrow batches that have rows; errors name the item that cannot be used."""
    for batch in guarded(_arrow(iterator, label), label, _RAISED):
        if batch.num_rows:
            yield batch


def _arrow(iterator: Iterable[Any], label: str) -> Batches:
    for place, item in enumerate(iterator):
        if has_stream(item) or is_pandas(item):
            yield from frame_batches(item)
        elif isinstance(item, Mapping):
            yield mapping_batch(item)
        elif isinstance(item, np.ndarray):
            yield array_batch(item, f"item {place} of {label}")
        else:
            raise InputTypeError(
                f"source: {label} must give batches (Arrow, pandas or polars tables, NumPy arrays or dictionaries of columns), "
                f"got {name_of(item)} as item {place}; gather single rows into batches"
            )


def _cut(first: pa.RecordBatch, batches: Batches, schema: pa.Schema, label: str) -> Batches:
    yield from (conform(piece, schema, label) for piece in pieces(first))
    rows = first.num_rows
    for batch in batches:
        where = f"{label} after {rows:,} rows"
        yield from (conform(piece, schema, where) for piece in pieces(batch))
        rows += batch.num_rows
