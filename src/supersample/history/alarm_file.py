"""An alarm as the bytes of a file, and back."""

from dataclasses import asdict
from typing import Any

import pyarrow as pa

from supersample._checks import require
from supersample.history.alarm import Alarm
from supersample.storage.container import Contents, to_bytes
from supersample.summary.comparison import ColumnChange, PairChange

__all__ = ["alarm_bytes", "alarm_of"]

#: Fields that hold numbers, which may be infinite; JSON has no such number.
_NUMBERS = ("at", "change", "mmd", "evidence")


def alarm_bytes(alarm: Alarm) -> bytes:
    """Return the bytes of a file that holds an alarm, with the rows that it shows."""
    header = {
        "file": "alarm",
        "kind": alarm.kind,
        "between": [repr(float(each)) for each in alarm.between],
        "columns": [asdict(each) for each in alarm.columns],
        "pairs": [asdict(each) for each in alarm.pairs],
        "n_before": None if alarm.before is None else alarm.before.num_rows,
        **{name: repr(float(getattr(alarm, name))) for name in _NUMBERS},
    }
    tables = [each for each in (alarm.before, alarm.after) if each is not None]
    table = pa.concat_tables(tables).combine_chunks() if tables else pa.table({})
    return to_bytes(Contents(header, [], table))


def alarm_of(contents: Contents, name: str) -> Alarm:
    """Return the alarm of a file; raise an error of any kind if it holds none."""
    header, table = contents.header, contents.table
    require(header["file"] == "alarm" and header["kind"] in ("content", "volume"), f"{name} is no alarm")
    count = header["n_before"]
    require(count is None or 0 <= count <= table.num_rows, f"{name} is no alarm")
    first, last = map(float, header["between"])
    return Alarm(
        kind=header["kind"],
        between=(first, last),
        columns=tuple(ColumnChange(**_tuples(each)) for each in header["columns"]),
        pairs=tuple(PairChange(**_tuples(each)) for each in header["pairs"]),
        before=None if count is None else table.slice(0, count),
        after=None if count is None else table.slice(count),
        **{each: float(header[each]) for each in _NUMBERS},
    )


def _tuples(values: dict[str, Any]) -> dict[str, Any]:
    """Return fields with tuples where JSON has lists."""
    return {name: tuple(each) if isinstance(each, list) else each for name, each in values.items()}
