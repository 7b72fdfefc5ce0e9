"""Columns of numbers that another table has as text, for a few cells of it are no numbers: read like the numbers."""

from dataclasses import replace

import pyarrow as pa

from supersample.errors import MismatchError
from supersample.profile import Profile
from supersample.records.encoding import Encoding
from supersample.records.encoding.values import is_numeric, is_text
from supersample.records.reading import Reading
from supersample.records.sources import Source
from supersample.records.sources.schema import as_text
from supersample.summary.row_store import RowStore
from supersample.summary.state import Maps, Running, State, WarmUp, unredacted

__all__ = ["brought_to_text", "fitted", "require_readable", "with_same_texts"]

#: How text is read where a column of numbers has it: as numbers are written without a convention of their own.
_PLAIN = Reading("number", "1234.56")
#: What numbers may have been taken for; truth values and weights have no room for text.
_KINDS = ("number", "id")
#: The least share of texts that must be numbers for the column to be one.
_LEAST = 0.5


def with_same_texts(given: Source, like: pa.Schema) -> Source:
    """Return a source of text files with the columns as text that another summary has as text, to keep them as written."""
    names = frozenset(
        field.name for field in given.schema if field.name in like.names and is_text(like.field(field.name).type)
        and not (is_text(field.type) or pa.types.is_null(field.type))
    )  # fmt: skip
    return given if given.as_text is None or not names else given.as_text(names)


def fitted(empty: WarmUp, found: pa.Schema) -> WarmUp:
    """Return an empty state that has the maps of another summary, for rows that have some of its numbers as text.

    The rows keep the text; what is no number is missing in the kernel, and counted.
    """
    assert empty.maps is not None
    names = _mixed(empty.maps.encoding, empty.schema, found)
    if not names:
        return empty
    schema, encoding = as_text(empty.schema, names), _with_texts(empty.maps.encoding, names)
    hidden = unredacted(empty.request, schema)
    return replace(empty, schema=schema, kept=RowStore.none(schema), maps=Maps(encoding, empty.maps.plan), redacted=hidden)


def require_readable(state: State, before: pa.Schema, label: str) -> None:
    """Raise MismatchError if a column of numbers is text here that mostly holds no numbers; before: the other's columns."""
    if not isinstance(state, Running) or state.profile is None:
        return
    for name in _mixed(state.encoding, before, state.schema):
        column = state.profile[name]
        if column.count < _LEAST * (column.count + column.unreadable):
            raise MismatchError(
                f"column {name!r} must hold numbers, as in the summary that like= names, got text in {label} of which "
                f"{column.unreadable:,} of {column.count + column.unreadable:,} values are no numbers; convert the column, "
                f"drop it from both, or make the summary without like="
            )


def brought_to_text(left: Running, right: Running) -> tuple[Running, Running]:
    """Return both states with the float64 columns of one side as text where the other side has text that is read alike.

    Nothing that was counted changes: the same values are counted from such text. Whole numbers were told apart in another way.
    """
    return _brought(left, right), _brought(right, left)


def _brought(state: Running, other: Running) -> Running:
    readings = dict(other.encoding.readings)
    names = {
        field.name for field in state.schema
        if pa.types.is_float64(field.type) and readings.get(field.name) == _PLAIN and field.name in _named(state.encoding)
    }  # fmt: skip
    if not names or state.profile is None:
        return state
    schema, encoding = as_text(state.schema, names), _with_texts(state.encoding, names)
    kept = RowStore(state.kept.positions, state.kept.table.cast(schema))
    columns = [
        replace(each, type=str(pa.string()), reading=_PLAIN) if each.name in names else each for each in state.profile.columns
    ]
    return replace(state, schema=schema, kept=kept, encoding=encoding, profile=Profile(tuple(columns)))


def _mixed(encoding: Encoding, before: pa.Schema, after: pa.Schema) -> set[str]:
    """Return the columns that are numbers before and text after."""
    return {
        name for name in _named(encoding) & set(before.names) & set(after.names)
        if is_numeric(before.field(name).type) and is_text(after.field(name).type)
    }  # fmt: skip


def _named(encoding: Encoding) -> set[str]:
    return {note.name for note in encoding.notes if note.kind in _KINDS}


def _with_texts(encoding: Encoding, names: set[str]) -> Encoding:
    readings = dict(encoding.readings) | dict.fromkeys(names, _PLAIN)
    notes = [replace(note, type=str(pa.string())) if note.name in names else note for note in encoding.notes]
    return replace(encoding, notes=tuple(notes), readings=tuple(sorted(readings.items())))
