"""How much a batch holds once every value is written out: a dictionary, a run or a view says a long value many times."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from supersample._typing import Floats

__all__ = ["n_leaves", "written_out"]

#: Types that store runs and views, by how their names begin; older versions of PyArrow have no other way to tell.
_RUNS, _TEXT_VIEWS, _LIST_VIEWS = "run_end_encoded", ("string_view", "binary_view"), ("list_view<", "large_list_view<")


def n_leaves(kind: pa.DataType) -> int:
    """Return how many columns without fields a type holds, at any depth.

    >>> n_leaves(pa.list_(pa.struct([("a", pa.int8()), ("b", pa.struct([("c", pa.int8())]))])))
    2
    """
    inner = _inner(kind)
    if inner is not None:
        return n_leaves(inner)
    return sum(n_leaves(kind.field(place).type) for place in range(kind.num_fields)) if kind.num_fields else 1


def written_out(batch: pa.RecordBatch) -> float:
    """Return the bytes that the values of a batch take where each is written out; a value of type null counts as one byte.

    >>> runs = pa.DictionaryArray.from_arrays(pa.array([0] * 1_000, pa.int8()), pa.array(["long" * 10]))
    >>> written_out(pa.record_batch({"a": runs}))
    40000.0
    """
    return sum(float(each.nbytes) if _is_plain(each.type) else float(_sizes(each).sum()) for each in batch.columns)


def _inner(kind: pa.DataType) -> pa.DataType | None:
    """Return the type of the values where it stands for another one."""
    if isinstance(kind, pa.BaseExtensionType):
        return kind.storage_type
    return kind.value_type if pa.types.is_dictionary(kind) or str(kind).startswith(_RUNS) else None


def _is_plain(kind: pa.DataType) -> bool:
    """Return whether values of a type lie in memory as often as they occur."""
    if _inner(kind) is not None or pa.types.is_null(kind) or str(kind).startswith((*_TEXT_VIEWS, *_LIST_VIEWS)):
        return False
    return all(_is_plain(kind.field(place).type) for place in range(kind.num_fields))


def _sizes(column: pa.Array) -> Floats:
    """Return the bytes of each value; as floats, which do not overflow where encodings stand inside each other."""
    kind, n_rows = column.type, len(column)
    if isinstance(kind, pa.BaseExtensionType):
        return _sizes(column.storage)
    if pa.types.is_dictionary(kind):
        sizes = np.append(_sizes(column.dictionary), 0.0)
        return np.asarray(sizes[column.indices.fill_null(len(sizes) - 1).to_numpy(zero_copy_only=False)])
    if str(kind).startswith(_RUNS):
        ends = np.clip(column.run_ends.to_numpy().astype(np.int64) - column.offset, 0, n_rows)
        return np.repeat(_sizes(column.values), np.diff(ends, prepend=0))
    if pa.types.is_struct(kind):
        return sum((_sizes(each) for each in column.flatten()), np.zeros(n_rows))
    if str(kind).startswith(_TEXT_VIEWS):  # a view is four numbers, and the first is the length
        lengths = np.frombuffer(column.buffers()[1], dtype=np.int32)[::4][column.offset : column.offset + n_rows]
        return np.maximum(lengths, 0).astype(np.float64)
    if kind.num_fields and not pa.types.is_union(kind):
        return _sizes_of_lists(column)
    if pa.types.is_null(kind):
        return np.ones(n_rows)
    return np.full(n_rows, column.nbytes / max(n_rows, 1)) if not _has_lengths(kind) else _lengths(column)


def _has_lengths(kind: pa.DataType) -> bool:
    text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return bool(text or pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _lengths(column: pa.Array) -> Floats:
    return np.asarray(pc.binary_length(column).fill_null(0).to_numpy(zero_copy_only=False), dtype=np.float64)


def _sizes_of_lists(column: pa.Array) -> Floats:
    n_rows, before = len(column), np.append(0.0, np.cumsum(_sizes(column.values)))
    if pa.types.is_fixed_size_list(column.type):
        starts = (column.offset + np.arange(n_rows)) * column.type.list_size
        return np.asarray(before[starts + column.type.list_size] - before[starts])
    if str(column.type).startswith(_LIST_VIEWS):
        starts, counts = (each.to_numpy(zero_copy_only=False) for each in (column.offsets, column.sizes))
        return np.asarray(before[starts + counts] - before[starts])
    offsets = column.offsets.to_numpy(zero_copy_only=False)
    return np.asarray(before[offsets[1:]] - before[offsets[:-1]])
