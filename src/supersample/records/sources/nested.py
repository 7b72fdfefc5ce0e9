"""Structures as columns: each field of a structure becomes a column with a dotted name, at any depth."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["decoded", "deepened", "flat_fields", "flattened", "spread_empty", "wanted"]

_VIEWS = ("list_view<", "large_list_view<")


def flat_fields(schema: pa.Schema) -> list[pa.Field]:
    """Return the columns of a schema, with the fields of structures in their place.

    A structure without fields, and structures inside lists, stay as they are.

    >>> flat_fields(pa.schema([("a", pa.struct([("b", pa.struct([("c", pa.int8())]))]))]))
    [pyarrow.Field<a.b.c: int8>]
    """
    return [leaf for field in schema for leaf in _leaves(field.name, field.type)]


def flattened(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Return a batch with the fields of its structures as columns; a missing structure has missing fields.

    schema: the columns that are expected; those of a structure that this batch holds no values of are all missing.
    """
    if not any(_is_structure(kind) or _is_empty(kind) for kind in batch.schema.types):
        return batch
    names, columns = [], []
    for field, column in zip(batch.schema, batch.columns, strict=True):
        for name, values in _branches(field.name, column):
            for each in _instead(name, values.type, schema):
                names.append(each)
                columns.append(values if each == name else pa.nulls(batch.num_rows))
    return pa.RecordBatch.from_arrays(columns, names)


def spread_empty(schema: pa.Schema, other: pa.Schema) -> pa.Schema:
    """Return a flat schema with a column that holds no values replaced by the fields that the other schema has below its name.

    >>> spread_empty(pa.schema([("a", pa.null())]), pa.schema([("a.b", pa.int8())])).names
    ['a.b']
    """
    fields = [
        field if name == field.name else pa.field(name, pa.null())
        for field in schema
        for name in _instead(field.name, field.type, other)
    ]
    return pa.schema(fields)


def wanted(schema: pa.Schema, flat: pa.Schema) -> list[str] | None:
    """Return which of a schema's flat columns a flat schema asks for; None if it asks for all.

    >>> nested = pa.schema([("a", pa.struct([("b", pa.int8()), ("c", pa.int8())])), ("d", pa.int8())])
    >>> wanted(nested, pa.schema([("a.c", pa.int8())]))
    ['a.c']
    """
    names = [field.name for field in flat_fields(schema)]
    kept = [name for name in names if name in flat.names or _below(name, flat)]
    return None if len(kept) == len(names) else kept


def deepened(schema: pa.Schema, flat: pa.Schema) -> pa.Schema:
    """Return a schema with the types that the flat one has for its leaves: the inverse of `flat_fields`.

    >>> nested = pa.schema([("a", pa.struct([("b", pa.int64())]))])
    >>> deepened(nested, pa.schema([("a.b", pa.float64())])).types
    [StructType(struct<b: double>)]
    """
    return pa.schema([pa.field(field.name, _deep(field.name, field.type, flat)) for field in schema])


def decoded(column: pa.Array) -> pa.Array:
    """Return the values of a column that is stored as runs, as a dictionary, or as views of lists."""
    if str(column.type).startswith("run_end_encoded"):
        column = pc.run_end_decode(column)
    if pa.types.is_dictionary(column.type):
        column = _with_plain_text(column).dictionary_decode()
    return _contiguous(column) if _is_list_of_views(column.type) else column


def _with_plain_text(column: pa.DictionaryArray) -> pa.DictionaryArray:
    """Return a dictionary whose values are no views of text, as polars has them: PyArrow cannot look those up."""
    plain = {"string_view": pa.string(), "binary_view": pa.binary()}.get(str(column.type.value_type))
    return column if plain is None else pa.DictionaryArray.from_arrays(column.indices, column.dictionary.cast(plain))


def _is_list_of_views(kind: pa.DataType) -> bool:
    """Return whether lists are views, or hold dictionaries of views of text, which PyArrow's cast does not know."""
    lists = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    of_words = lists and pa.types.is_dictionary(kind.value_type) and str(kind.value_type.value_type).endswith("_view")
    return bool(str(kind).startswith(_VIEWS) or of_words)


def _contiguous(column: pa.Array) -> pa.Array:
    """Copy lists of whichever layout into contiguous ones of decoded values."""
    lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), decoded(column.flatten()), mask=column.is_null())


def _leaves(name: str, kind: pa.DataType) -> Iterator[pa.Field]:
    if not _is_structure(kind):
        yield pa.field(name, kind)
        return
    below = _values(kind)
    for place in range(below.num_fields):
        yield from _leaves(f"{name}.{below.field(place).name}", below.field(place).type)


def _branches(name: str, column: pa.Array) -> Iterator[tuple[str, pa.Array]]:
    if not _is_structure(column.type):
        yield name, column
        return
    whole = decoded(column)
    for place, values in enumerate(whole.flatten()):
        yield from _branches(f"{name}.{whole.type.field(place).name}", values)


def _deep(name: str, kind: pa.DataType, flat: pa.Schema) -> pa.DataType:
    if _is_structure(kind):
        below = (kind.field(place) for place in range(kind.num_fields))
        return pa.struct([pa.field(each.name, _deep(f"{name}.{each.name}", each.type, flat)) for each in below])
    if name in flat.names:
        return flat.field(name).type
    return _built([(path.removeprefix(f"{name}.").split("."), path) for path in _below(name, flat)], flat) or kind


def _built(paths: list[tuple[list[str], str]], flat: pa.Schema) -> pa.DataType | None:
    """Return the structure with these fields, each given by the steps to it and its name in the flat schema."""
    if not paths:
        return None
    fields = []
    for first in dict.fromkeys(steps[0] for steps, _ in paths):
        deeper = [(steps[1:], name) for steps, name in paths if steps[0] == first and len(steps) > 1]
        own = next((flat.field(name).type for steps, name in paths if steps == [first]), None)
        fields.append(pa.field(first, _built(deeper, flat) or own))
    return pa.struct(fields)


def _instead(name: str, kind: pa.DataType, schema: pa.Schema) -> list[str]:
    """Return the names that stand for a column in a flat schema: those below it if it holds no values, else its own."""
    return (_below(name, schema) if _is_empty(kind) and name not in schema.names else []) or [name]


def _below(name: str, schema: pa.Schema) -> list[str]:
    return [each for each in schema.names if each.startswith(f"{name}.")]


def _is_structure(kind: pa.DataType) -> bool:
    """Return whether values have fields, in whichever way they are stored."""
    below = _values(kind)
    return bool(pa.types.is_struct(below) and below.num_fields)


def _is_empty(kind: pa.DataType) -> bool:
    """Return whether a type has no values but null, or structures without fields."""
    return bool(pa.types.is_null(kind) or (pa.types.is_struct(kind) and not kind.num_fields))


def _values(kind: pa.DataType) -> pa.DataType:
    encoded = pa.types.is_dictionary(kind) or str(kind).startswith("run_end_encoded")
    return _values(kind.value_type) if encoded else kind
