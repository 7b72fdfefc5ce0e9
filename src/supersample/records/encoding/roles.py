"""What a column is: its role, recognised by its name, its type and the rows that were looked at."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from supersample._typing import Floats
from supersample.errors import InputError
from supersample.records.encoding.text_role import is_id_name, text_role
from supersample.records.encoding.values import is_list, is_number, is_text, numbers_of
from supersample.records.reading import Reading, recognise

__all__ = ["Role", "forced_role", "role_of"]

#: Columns with fewer values than this are too short to tell ids and constants from others.
_ENOUGH = 20
#: Whole numbers are ids if more than this share of them differ, and this share of the steps from row to row goes up.
_NEARLY_ALL, _UPWARDS = 0.95, 0.99


@dataclass(frozen=True)
class Role:
    """What a column is.

    kind: "number", "boolean", "category", "text", "time", "vector", "id", "constant", or "other" for what no kernel takes.
    why: for ids and others, the reason, in words that follow the column's name. reading: how text is read as what it holds.
    """

    kind: str
    why: str = ""
    reading: Reading | None = None


def role_of(name: str, column: pa.Array) -> Role:
    """Recognise the role of a column."""
    if column.null_count == len(column):
        return Role("constant", "holds nothing but missing values in the rows looked at")
    kind = column.type
    if is_list(kind):
        numbers = is_number(kind.value_type)
        return Role("vector") if numbers else Role("other", f"lists of {kind.value_type} have no place in a kernel")
    if is_text(kind):
        return _text(name, column)
    if pa.types.is_temporal(kind) and not (pa.types.is_duration(kind) or pa.types.is_interval(kind)):
        return Role("time")
    if pa.types.is_boolean(kind):
        return _unless_constant(column, Role("boolean"))
    if is_number(kind) or pa.types.is_decimal(kind) or pa.types.is_duration(kind):
        return _number(name, column)
    return Role("other", f"values of type {kind} have no place in a kernel")


def forced_role(name: str, column: pa.Array, asked: str) -> Role:
    """Return the role that a user gave to a column; refuse one that its values cannot have."""
    found = role_of(name, column)
    if asked == found.kind:
        return found
    kind = column.type
    if asked in ("number", "boolean", "time") and is_text(kind):
        reading = recognise(column, asked)
        if reading is None:
            raise _cannot(name, kind, asked, "too few of its values can be read so, or they are codes with leading zeros")
        return Role(asked, "", reading)
    numeric = is_number(kind) or bool(pa.types.is_decimal(kind) or pa.types.is_boolean(kind) or pa.types.is_duration(kind))
    fits = {
        "number": numeric,
        "boolean": pa.types.is_boolean(kind) or (numeric and _zeros_and_ones(numbers_of(column))),
        "category": is_text(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind),
        "text": is_text(kind),
        "time": pa.types.is_temporal(kind) and not (pa.types.is_duration(kind) or pa.types.is_interval(kind)),
        "vector": is_list(kind),
        "id": True,
    }
    if not fits[asked]:
        why = "its numbers are stored with decimals, as pandas does where some are missing; .astype('Int64') makes them whole"
        codes = asked == "category" and bool(pa.types.is_floating(kind))
        raise _cannot(name, kind, asked, why if codes else f"it was recognised as {found.kind}")
    return Role(asked, "is an id, as types= says" if asked == "id" else "")


def _cannot(name: str, kind: pa.DataType, asked: str, why: str) -> InputError:
    return InputError(
        f"types: column {name!r} of type {kind} cannot be a {asked}: {why}; choose another type, or 'ignore', or convert "
        f"the column"
    )


def _text(name: str, column: pa.Array) -> Role:
    reading = recognise(column)
    if reading is not None:
        values, _ = reading.read(column)
        if reading.kind == "time":
            return Role("time", "", reading)
        found = _number(name, values) if reading.kind == "number" else _unless_constant(values, Role("boolean"))
        return Role(found.kind, found.why, reading)
    present = pc.value_counts(column.cast(pa.large_string()).drop_null())
    values, counts = present.field("values"), present.field("counts").to_numpy(zero_copy_only=False)
    if len(values) == 1 and int(counts[0]) == len(column) and len(column) >= _ENOUGH:
        return Role("constant")
    kind = text_role(values, counts, name)
    return Role(
        kind, f"looks like an id: {len(values):,} different values in {int(counts.sum()):,} rows" if kind == "id" else ""
    )


def _number(name: str, column: pa.Array) -> Role:
    values = numbers_of(column).astype(np.float64)
    finite = values[np.isfinite(values)]
    if finite.size == 0:
        return Role("constant", "holds no finite number in the rows looked at")
    if _zeros_and_ones(values):
        return _unless_constant(column, Role("boolean"))
    # Some libraries pass integers with missing values as floats; floats without missing values are meant as floats.
    whole = pa.types.is_integer(column.type) or bool(np.isnan(values).any())
    why = _id_by(name, finite) if whole else ""
    return Role("id", why) if why else _unless_constant(column, Role("number"))


def _zeros_and_ones(values: Floats) -> bool:
    finite = values[np.isfinite(values)]
    return finite.size > 0 and bool(np.isin(finite, (0.0, 1.0)).all())


def _unless_constant(column: pa.Array, role: Role) -> Role:
    if len(column) < _ENOUGH or column.null_count:
        return role
    # Older versions of PyArrow have no distinct half floats.
    values = column.cast(pa.float32()) if pa.types.is_float16(column.type) else column
    if len(values.unique()) > 1:
        return role
    return Role("constant", "", role.reading)


def _id_by(name: str, values: Floats) -> str:
    """Return why whole numbers are ids, or nothing if they are not."""
    if values.size < _ENOUGH or bool((values != np.floor(values)).any()):
        return ""
    if is_id_name(name):
        return "looks like an id, by its name"
    steps = np.diff(values)
    if np.unique(values).size <= _NEARLY_ALL * values.size:
        return ""
    upwards = float((steps > 0).mean()) >= _UPWARDS
    consecutive = bool(np.abs(steps).max() == 1.0 and np.ptp(steps) == 0.0)
    return "looks like an id: nearly every value differs, and they run upwards" if upwards or consecutive else ""
