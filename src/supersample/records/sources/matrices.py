"""NumPy arrays as rows: two dimensions become columns x0, x1, ..., fields of structured arrays keep their names."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from supersample._text import one_line, plural
from supersample.errors import InputError, InputTypeError
from supersample.records.sources.base import MAX_BYTES, MAX_ROWS, Batches, Numbered, Source, spread
from supersample.records.sources.schema import conform, plain_schema

__all__ = ["array_batch", "open_array"]

Array = npt.NDArray[Any]


def open_array(array: Array, label: str = "numpy.ndarray") -> Source:
    """Open an array as a source; rows are copied a batch at a time."""
    schema = plain_schema(array_batch(array[:1] if array.ndim in (1, 2) else array, label).schema, label)
    if array.dtype.hasobject:
        # The type of a column of objects is known only from all rows.
        schema = plain_schema(array_batch(array, label).schema, label)

    def rows(first: int, end: int) -> Batches:
        step = max(1, min(MAX_ROWS, MAX_BYTES * max(1, len(array)) // max(1, array.nbytes)))
        for start in range(first, end, step):
            yield conform(array_batch(array[start : min(end, start + step)], label), schema, label)

    def batches(skip: int) -> Batches:
        return rows(skip, len(array))

    def sample(n: int) -> pa.Table:
        rows = array_batch(array[spread(len(array), n)], label)
        return pa.Table.from_batches([conform(rows, schema, label)], schema)

    identity = {"kind": label, "rows": len(array)}
    return Source(label, schema, len(array), identity, batches, sample, numbered=lambda: Numbered(len(array), rows))


def array_batch(array: Array, label: str) -> pa.RecordBatch:
    """Copy an array's rows into one batch."""
    if array.dtype.names:
        if array.ndim != 1:
            raise InputError(f"source: a structured array must have one dimension, got shape {array.shape}; pass .ravel()")
        columns = {name: array[name] for name in array.dtype.names}
    elif array.ndim == 1:
        columns = {"x0": array}
    elif array.ndim == 2:
        columns = {f"x{place}": array[:, place] for place in range(array.shape[1])}
    else:
        raise InputError(
            f"source: {label} must have one or two dimensions (rows, columns), got {array.ndim} with shape {array.shape}; "
            f"reshape it, as with .reshape(len(array), -1)"
        )
    if not columns:
        raise InputError(f"source must have columns, got {plural(0, 'column')} in {label} of shape {array.shape}")
    return pa.RecordBatch.from_arrays([_column(values, name, label) for name, values in columns.items()], list(columns))


def _column(values: Array, name: str, label: str) -> pa.Array:
    if values.dtype.kind == "c":
        raise InputTypeError(
            f"source: column {name!r} of {label} must be of real numbers, got complex ones; pass real and imaginary parts as "
            f"two columns"
        )
    if not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))
    try:
        if values.ndim > 1:
            flat = np.ascontiguousarray(values).reshape(-1)
            return pa.FixedSizeListArray.from_arrays(_plain_column(flat), int(np.prod(values.shape[1:])))
        return _plain_column(values)
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
        raise InputTypeError(
            f"source: column {name!r} of {label} must be of a type that Arrow has, got dtype {values.dtype}: "
            f"{one_line(error)}; convert the column first"
        ) from error


def _plain_column(values: Array) -> pa.Array:
    if isinstance(values, np.ma.MaskedArray):
        return pa.array(np.asarray(values), mask=np.ma.getmaskarray(values))
    return pa.array(values)
