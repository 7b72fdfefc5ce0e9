"""What commands print of a summary's columns and notes."""

import shutil
from typing import TYPE_CHECKING

from supersample.cli.output import short_line, text_table

if TYPE_CHECKING:
    from supersample.history import History
    from supersample.profile import ColumnProfile
    from supersample.summary import Summary

__all__ = ["columns_text", "notes_text"]

#: Notes that are printed beside a result.
MOST_NOTES = 6
#: Frequent values that are shown.
_NAMED = 3
_LAST = "min .. median .. max, or top"
_LONGEST_NAME, _LEAST_ROOM = 24, 16


def notes_text(summary: "Summary | History", most: int | None = MOST_NOTES) -> str:
    """Return the notes of a summary or a history, one a line, those of one kind together; nothing if there are none.

    most: print this many lines at most, and count the others; None prints every note by itself.
    """
    from supersample.summary.notes import grouped, told

    notes = summary.notes
    if most is None:
        lines = [str(note) for note in notes]
    else:
        groups = grouped(notes)
        lines = [told(group) for group in groups[:most]]
        left = sum(len(group) for group in groups[most:])
        lines += [f"and {left:,} more, on the page or with `supersample show`"] if left else []
    return "\n".join(["Notes:", *(f"  {' '.join(line.split())}" for line in lines)]) if lines else ""


def columns_text(summary: "Summary") -> str:
    """Return the columns of a summary with their roles and what the profile says of each.

    A summary of an earlier version has no profile: then with their types and how they are used.
    """
    profiles = summary.column_profiles
    if profiles is None:
        width = max(len(note.name) for note in summary.columns)
        lines = (f"{note.type}, {note.kind}{f': {note.note}' if note.note else ''}" for note in summary.columns)
        return "\n".join(f"  {note.name:{width}}  {text}" for note, text in zip(summary.columns, lines, strict=True))
    import pyarrow as pa

    used = {note.name: note.used or note.kind in ("weight", "left out") for note in summary.columns}
    rows = [_row(column, used[column.name]) for column in profiles]
    room = shutil.get_terminal_size((100, 24)).columns
    for name in list(rows[0])[:-1]:
        room -= max(len(name), *(len(row[name]) for row in rows)) + 2
    # The last column takes what room is left, however long its values are.
    longest = max(room, _LEAST_ROOM)
    return text_table(pa.Table.from_pylist(rows), len(rows), longest)


def _row(column: "ColumnProfile", used: bool) -> dict[str, str]:
    from supersample.profile import wording

    return {
        "column": short_line(column.name, _LONGEST_NAME),
        "role": column.role if used else f"{column.role}, left out",
        "count": f"{column.count:,}",
        "missing": f"{column.missing:,}",
        "distinct": wording.distinct_text(column),
        _LAST: _values(column),
    }


def _values(column: "ColumnProfile") -> str:
    from supersample.profile import wording

    if column.numbers is not None and column.role not in ("boolean", "category", "constant"):
        ends = (wording.minimum_text(column), wording.quantile_text(column, 0.5), wording.maximum_text(column))
        return " .. ".join(end for end in ends if end)
    return ", ".join(f"{each.value} ({wording.count_text(each)})" for each in column.top(_NAMED))
