"""A column as plain numbers or labels, whatever its Arrow type."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from supersample._typing import Floats
from supersample.report.cells import text_of

__all__ = ["SECONDS", "Flags", "Labels", "as_labels", "as_numbers", "is_moment", "shares_of"]

#: One text a row, None where a value is missing.
Labels = npt.NDArray[np.object_]
#: One boolean a row.
Flags = npt.NDArray[np.bool_]
#: Seconds in a unit of time.
SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


def is_moment(kind: pa.DataType) -> bool:
    """Return whether a type holds dates or timestamps (not times of day or durations)."""
    return bool(pa.types.is_timestamp(kind) or pa.types.is_date(kind))


def as_numbers(column: pa.ChunkedArray) -> Floats:
    """Return a column as float64, NaN for missing values; dates as days since 1970, times of day and durations as seconds."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = column.type
    if is_moment(kind):
        return _floats(column.cast(pa.timestamp("ms"), safe=False).cast(pa.int64())) / 86_400_000.0
    if pa.types.is_time(kind) or pa.types.is_duration(kind):
        width = pa.int32() if pa.types.is_time32(kind) else pa.int64()
        return _floats(column.cast(width)) * SECONDS[kind.unit]
    return _floats(column)


def _floats(column: pa.ChunkedArray) -> Floats:
    values: npt.NDArray[Any] = pc.fill_null(column.cast(pa.float64(), safe=False), float("nan")).to_numpy()
    return np.array(values, dtype=np.float64)


def as_labels(column: pa.ChunkedArray) -> Labels:
    """Return a column as short text, None for missing values; each distinct value is formatted once."""
    distinct = pc.dictionary_encode(column).combine_chunks() if not pa.types.is_dictionary(column.type) else _unified(column)
    words = [text_of(each, 40) if each.is_valid else None for each in distinct.dictionary]
    table = np.array([*words, None], dtype=object)
    places = pc.fill_null(distinct.indices.cast(pa.int64()), len(words)).to_numpy(zero_copy_only=False)
    chosen: Labels = table[places]
    return chosen


def _unified(column: pa.ChunkedArray) -> pa.DictionaryArray:
    plain = column.cast(column.type.value_type)
    return pc.dictionary_encode(plain).combine_chunks()


def shares_of(table: pa.Table, column: str = "_weight") -> Floats:
    """Return the weights of rows, or another column, as shares that sum to 1."""
    weights = as_numbers(table.column(column))
    total = weights.sum()
    return weights / total if total > 0 else np.full(len(weights), 1.0 / max(1, len(weights)))
