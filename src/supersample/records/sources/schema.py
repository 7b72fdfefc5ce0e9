"""The column contract: usable names, plain types, and batches that all conform to them.

Arrow has several layouts for the same values (dictionaries, views, large offsets, runs). The layout depends on the library
that made the table, so all are converted to the plainest one: the same rows then have the same types from every library.
Structures are taken apart into one column for each field, with a dotted name.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace

import pyarrow as pa

from supersample._text import one_line
from supersample.errors import InputError, MismatchError
from supersample.records.sources.base import Source, mapped
from supersample.records.sources.nested import decoded, flat_fields, flattened, spread_empty

__all__ = [
    "RESERVED", "alike", "as_text", "conform", "empty_columns", "plain_schema", "promote", "text_columns",
]  # fmt: skip

#: Names of columns that a summary adds to rows.
RESERVED = ("_row", "_weight", "_share", "_kind", "_witness", "_nearest", "_ratio", "_count", "_other", "_known", "_like")

_VIEWS = ("list_view<", "large_list_view<")


def plain_schema(schema: pa.Schema, where: str) -> pa.Schema:
    """Return the schema with plain types, fields of structures as columns `a.b`, and no metadata.

    Raise InputError for names and types that cannot be used.
    """
    if len(schema) == 0:
        raise InputError(f"source must have columns, got none in {where}")
    _refuse_twice(_names(schema, where), where, "rename one")
    schema = pa.schema(flat_fields(schema))
    names = _names(schema, where)
    _refuse_twice(names, where, "the fields of a structure 'a' become columns 'a.b', so rename the field or the column")
    taken = [name for name in names if name in RESERVED]
    if taken:
        raise InputError(
            f"source must not have a column named {taken[0]!r}, got one in {where}: a summary adds columns of the names "
            f"{', '.join(RESERVED)} to its rows; rename or drop it"
        )
    mixed = [field.name for field in schema if pa.types.is_union(field.type)]
    if mixed:
        raise InputError(
            f"source: column {mixed[0]!r} must hold values of one type, got {schema.field(mixed[0]).type} in {where}; convert "
            f"or drop it"
        )
    return pa.schema([pa.field(field.name, _plain(field.type)) for field in schema])


def _refuse_twice(names: list[str], where: str, what: str) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(f"source must have columns of different names, got {twice[0]!r} more than once in {where}; {what}")


def promote(expected: pa.Schema, found: pa.Schema, where: str) -> pa.Schema:
    """Return the schema that both plain schemas convert to, with the names and order of the first.

    A column of nulls takes the other's type, or the columns of a structure of its name; integers and times take the wider or
    finer type; integers beside floats become floats.
    """
    expected, found = spread_empty(expected, found), spread_empty(found, expected)
    _same_names(expected, found, where)
    return pa.schema(
        [pa.field(name, _common(name, expected.field(name).type, found.field(name).type, where)) for name in expected.names]
    )


def conform(batch: pa.RecordBatch, schema: pa.Schema, where: str, dropped: Collection[str] = frozenset()) -> pa.RecordBatch:
    """Return the batch with exactly this schema; costs a pass over the columns whose type differs, and nothing for others.

    dropped: columns that are left out if the batch has them.
    """
    _names(batch.schema, where)
    batch = flattened(batch, schema)
    if dropped:
        batch = batch.select([place for place, name in enumerate(batch.schema.names) if name not in dropped])
    if batch.schema.names != schema.names:
        _refuse_twice(batch.schema.names, where, "rename one")
        _same_names(schema, batch.schema, where)
        batch = batch.select(schema.names)
    columns = [_as(batch.column(place), field, where) for place, field in enumerate(schema)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def as_text(schema: pa.Schema, columns: Collection[str]) -> pa.Schema:
    """Return the schema with these columns as text."""
    return pa.schema([field.with_type(pa.string()) if field.name in columns else field for field in schema])


def _names(schema: pa.Schema, where: str) -> list[str]:
    try:
        return list(schema.names)
    except UnicodeDecodeError as error:
        raise InputError(f"source must have columns with names in UTF-8, got others in {where}; rename them") from error


def alike(first: Source, second: Source) -> tuple[Source, Source]:
    """Return two sources with their shared columns converted to types that hold the values of both.

    Nulls take the other's type, integers beside floats become floats, and days beside times become times. What is text on
    one side is read as text on the other, where that can be read again: a few bad cells make a column of numbers text. Other
    pairs of types are left as they are.
    """
    first, second = _with_texts(first, second), _with_texts(second, first)
    left, right = spread_empty(first.schema, second.schema), spread_empty(second.schema, first.schema)
    types = {}
    for name in set(left.names) & set(right.names):
        kinds = [schema.field(name).type for schema in (left, right)]
        types[name] = _wider(*kinds) or _wider(*reversed(kinds))
    return _read_as(first, left, types), _read_as(second, right, types)


def text_columns(source: Source) -> set[str]:
    """Return the columns of text."""
    return {field.name for field in source.schema if pa.types.is_string(field.type)}


def _with_texts(source: Source, other: Source) -> Source:
    """Return the source with the columns as text that are text on the other side, if it can be read so."""
    names = (text_columns(other) & set(source.schema.names)) - text_columns(source) - empty_columns(source)
    return source if source.as_text is None or not names else source.as_text(frozenset(names))


def empty_columns(source: Source) -> set[str]:
    """Return the columns of null type, those that hold no values."""
    return {field.name for field in source.schema if pa.types.is_null(field.type)}


def _wider(kind: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    """Return a type that holds the values of both if the second is the wider one, else None."""
    types = pa.types
    if types.is_null(kind) and not types.is_null(other):
        return other
    if types.is_integer(kind) and types.is_floating(other):
        return pa.float64()
    if types.is_date(kind) and types.is_timestamp(other) and other.tz is None:
        return other
    return None


def _read_as(source: Source, own: pa.Schema, types: Mapping[str, pa.DataType | None]) -> Source:
    schema = pa.schema([pa.field(field.name, types.get(field.name) or field.type) for field in own])

    def converted(batch: pa.RecordBatch) -> pa.RecordBatch:
        try:
            return flattened(batch, schema).cast(schema)
        except pa.ArrowException as error:
            raise MismatchError(
                f"source: the columns of {source.label} must convert without loss to the types of the other side, and do not: "
                f"{one_line(error)}; give both sides the same types"
            ) from error

    if source.schema.equals(schema):
        return source
    again = source.as_text

    def as_read_text(columns: frozenset[str]) -> Source:
        assert again is not None
        narrow = again(columns)
        return _read_as(narrow, as_text(own, columns), {name: kind for name, kind in types.items() if name not in columns})

    return replace(mapped(source, schema, converted), as_text=None if again is None else as_read_text)


def _plain(layout: pa.DataType) -> pa.DataType:
    types = pa.types
    if types.is_dictionary(layout) or str(layout).startswith("run_end_encoded"):
        return _plain(layout.value_type)
    if str(layout) in ("large_string", "string_view"):
        return pa.string()
    if str(layout) in ("large_binary", "binary_view"):
        return pa.binary()
    if types.is_fixed_size_list(layout):
        return pa.list_(_plain_field(layout.value_field), layout.list_size)
    if types.is_list(layout) or str(layout).startswith(("large_list<", *_VIEWS)):
        return pa.list_(_plain_field(layout.value_field))
    if types.is_struct(layout):
        return pa.struct([_plain_field(layout.field(place)) for place in range(layout.num_fields)])
    return layout


def _plain_field(field: pa.Field) -> pa.Field:
    if "list_view<" in str(field.type):
        return field  # a nested view would be cast, and PyArrow's cast of a view returns arrays that are too short
    # The name of a list's values is a convention of the writer ("item", "element", "l"), and no part of the data.
    return field.with_type(_plain(field.type)).with_nullable(True).remove_metadata()


def _as(column: pa.Array, field: pa.Field, where: str) -> pa.Array:
    if column.type == field.type:
        return column
    try:
        column = decoded(column)
        plain = _plain(column.type)
        if plain != field.type and _common(field.name, field.type, plain, where) != field.type:
            raise _mismatch(field.name, field.type, plain, where)
        return column if column.type == field.type else column.cast(field.type)
    except pa.ArrowException as error:
        raise MismatchError(
            f"source: column {field.name!r} of {where} must convert to {field.type} without loss, got {column.type} that does "
            f"not: {one_line(error)}; give the column one type throughout"
        ) from error


def _common(name: str, expected: pa.DataType, found: pa.DataType, where: str) -> pa.DataType:
    if expected == found:
        return expected
    try:
        both = [pa.schema([pa.field("", layout)]) for layout in (expected, found)]
        return pa.unify_schemas(both, promote_options="permissive").field(0).type
    except pa.ArrowException as error:
        raise _mismatch(name, expected, found, where) from error


def _mismatch(name: str, expected: pa.DataType, found: pa.DataType, where: str) -> MismatchError:
    return MismatchError(
        f"source: column {name!r} must have one type, expected {expected} as before, got {found} in {where}; convert the "
        f"column to one type, or leave the odd part out"
    )


def _same_names(expected: pa.Schema, found: pa.Schema, where: str) -> None:
    missing = [name for name in expected.names if name not in found.names]
    extra = [name for name in found.names if name not in expected.names]
    if missing or extra:
        told = [f"{what} {', '.join(map(repr, names[:5]))}{', ...' * (len(names) > 5)}"
                for what, names in (("no", missing), ("additional", extra)) if names]  # fmt: skip
        raise MismatchError(
            f"source must have the same columns throughout, expected {len(expected)} as before, got {' and '.join(told)} in "
            f"{where}; leave the odd part out, or give all parts the same columns"
        )
