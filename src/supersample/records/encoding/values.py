"""The values of a column of an Arrow table as NumPy arrays: numbers, booleans, times and lists of numbers."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from supersample._hashing import Hashes, hash_texts, hash_words
from supersample._typing import Floats
from supersample.errors import InputError

__all__ = [
    "coded", "fill_by_value", "hashes_of", "is_list", "is_number", "is_numeric", "is_text", "is_time", "numbers_of",
    "plain_storage", "vectors_of",
]  # fmt: skip

#: How many of each unit of time make a second.
_PARTS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def is_number(kind: pa.DataType) -> bool:
    """Return whether a type holds integers or floating-point numbers."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def is_numeric(kind: pa.DataType) -> bool:
    """Return whether a type holds numbers, decimals included, or booleans."""
    return is_number(kind) or bool(pa.types.is_decimal(kind) or pa.types.is_boolean(kind))


def is_time(kind: pa.DataType) -> bool:
    """Return whether a type holds dates, with or without a time of day."""
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def is_text(kind: pa.DataType) -> bool:
    """Return whether a type holds text."""
    view = getattr(pa.types, "is_string_view", lambda _: False)
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or view(kind))


def is_list(kind: pa.DataType) -> bool:
    """Return whether a type holds lists."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def plain_storage(column: pa.Array) -> pa.Array:
    """Return the values under an extension type, such as the lists that tensors are stored as."""
    return column.storage if isinstance(column, pa.ExtensionArray) else column


def numbers_of(column: pa.Array) -> npt.NDArray[Any]:
    """Return a column of numbers, booleans or times (in seconds); one with missing values is floating-point, NaN for them."""
    kind = column.type
    if pa.types.is_temporal(kind):
        return _seconds(column)
    if pa.types.is_boolean(kind):
        column = column.cast(pa.uint8())
    elif pa.types.is_decimal(kind) or pa.types.is_float16(kind):
        column = column.cast(pa.float64())
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _seconds(column: pa.Array) -> Floats:
    """Return times in seconds, the same for every unit: whole seconds and fractions are converted separately."""
    kind = column.type
    whole = column.cast(pa.int32()) if pa.types.is_date32(kind) or pa.types.is_time32(kind) else column
    counts = whole.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    if pa.types.is_date32(kind):
        seconds = counts * 86_400.0
    else:
        parts = _PARTS["ms" if pa.types.is_date64(kind) else kind.unit]
        seconds = (counts // parts).astype(np.float64) + (counts % parts) / parts
    if column.null_count:
        seconds[column.is_null().to_numpy(zero_copy_only=False)] = np.nan
    return np.asarray(seconds)


def vectors_of(column: pa.Array, length: int, name: str) -> tuple[Floats, Floats]:
    """Return a column of lists as a matrix, and 1.0 for each missing list; a list of another length is refused."""
    absent = np.asarray(column.is_null().to_numpy(zero_copy_only=False), dtype=np.float64)
    present = np.flatnonzero(absent == 0.0)
    full = column if present.size == len(column) else column.take(pa.array(present))
    lengths = np.full(present.size, column.type.list_size) if pa.types.is_fixed_size_list(column.type) else _lengths(full)
    if bool((lengths != length).any()):
        other = int(lengths[lengths != length][0])
        raise InputError(
            f"column {name!r} must hold lists of {length} numbers, as in the rows learned from, got one of {other}; leave the "
            f"column out with columns=, or make its lists of one length"
        )
    values = np.full((len(column), length), np.nan)
    values[present] = numbers_of(full.flatten()).reshape(present.size, length)
    return values, absent


def hashes_of(values: pa.Array) -> Hashes:
    """Return the hash of each text, whole number or boolean; there must be no missing values."""
    if is_text(values.type):
        return hash_texts(values)
    unsigned = pa.types.is_uint64(values.type)
    words = values.to_numpy(zero_copy_only=False).astype(np.uint64 if unsigned else np.int64)
    return hash_words(words.view(np.uint64))


def coded(column: pa.Array) -> pa.DictionaryArray:
    """Return the distinct values of a column and the place of each; half floats as float32, for older versions of PyArrow."""
    values = column.cast(pa.float32()) if pa.types.is_float16(column.type) else column
    return values.dictionary_encode()


def fill_by_value(column: pa.Array, vectors_of_values: Callable[[pa.Array], Floats], out: Floats) -> Floats:
    """Write the vector of each value into `out`, computed once for each distinct one; missing values become 0.

    Return 1.0 where a value is missing, else 0.0.
    """
    codes = column.dictionary_encode()
    vectors = np.vstack([vectors_of_values(codes.dictionary), np.zeros((1, out.shape[1]))])
    np.take(vectors, codes.indices.fill_null(len(codes.dictionary)).to_numpy(zero_copy_only=False), axis=0, out=out)
    return np.asarray(column.is_null().to_numpy(zero_copy_only=False), dtype=np.float64)


def _lengths(lists: pa.Array) -> Floats:
    return np.asarray(pc.list_value_length(lists).to_numpy(zero_copy_only=False), dtype=np.float64)
