"""Results as the values of JSON and of Python."""

import base64
import datetime as dt
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["as_rows", "plain", "values_of"]


def plain(value: Any) -> Any:
    """Return a value in the types of JSON: NaN and infinities become null, times ISO text, bytes base64."""
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    return str(value)


def as_rows(table: "pa.Table", rows: int | None = None) -> list[dict[str, Any]]:
    """Return the first rows of a table as dictionaries of Python values."""
    first = table if rows is None else table.slice(0, rows)
    columns = [values_of(first.column(place)) for place in range(first.num_columns)]
    return [dict(zip(first.column_names, values, strict=True)) for values in zip(*columns, strict=True)]


def values_of(column: "pa.ChunkedArray") -> list[Any]:
    """Return a column as Python values; those that Python has no type for are text."""
    import pyarrow as pa  # not at the top: commands start without it

    try:
        if pa.types.is_timestamp(column.type) and column.type.unit == "ns":  # Python's times end at microseconds
            column = column.cast(pa.timestamp("us", column.type.tz), safe=False)
        return list(column.to_pylist())
    except (ValueError, OverflowError, pa.ArrowException):
        return list(column.cast(pa.string()).to_pylist())
