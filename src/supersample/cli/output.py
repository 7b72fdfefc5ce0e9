"""What commands print: results on standard output as text or one JSON object, messages on standard error."""

import json
import shutil
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from supersample._plain import as_rows, plain, values_of
from supersample._text import number_text, plural

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["as_rows", "plain", "printable", "say", "short_line", "tell", "tell_json", "text_table"]

#: Columns that a summary adds to rows, shown first and in this format.
_ADDED = {
    "_row": "{:,}", "_weight": "{:.2%}", "_kind": "{}", "_share": "{:.2%}", "_witness": "{:+.2g}", "_nearest": "{}",
}  # fmt: skip
_LONGEST = 24


def say(message: str) -> None:
    """Write a message to standard error."""
    click.echo(printable(message), err=True)


def tell(text: str) -> None:
    """Write a result to standard output."""
    click.echo(printable(text))


def tell_json(value: Mapping[str, Any]) -> None:
    """Write a result to standard output as one JSON object on one line."""
    click.echo(json.dumps(plain(value), ensure_ascii=False, allow_nan=False))


def printable(text: str) -> str:
    r"""Replace unprintable characters, since a value of the data could otherwise control the reader's terminal.

    >>> printable("a\x1b[2Jb\nc")
    'a�[2Jb\nc'
    """
    return "".join(mark if mark.isprintable() or mark == "\n" else "\ufffd" for mark in text)


def text_table(table: "pa.Table", rows: int, longest: int = _LONGEST) -> str:
    """Format the first rows of a table as text, with as many columns as fit the width of the terminal.

    longest: characters of a cell; longer ones are cut.
    """
    added = [name for name in _ADDED if name in table.column_names]
    names = added + [name for name in table.column_names if name not in added]
    shown = [_column(name, table.column(name).slice(0, rows), longest) for name in names]
    room, fitting = shutil.get_terminal_size((100, 24)).columns, 0
    for cells in shown:
        room -= max(map(len, cells)) + 2
        fitting += room >= -2
    fitting = max(fitting, len(added) + 1)
    lines = ["  ".join(cell for cell in line).rstrip() for line in zip(*map(_padded, shown[:fitting]), strict=True)]
    if table.num_rows > rows:
        lines.append(f"... and {plural(table.num_rows - rows, 'more row')}")
    if len(names) > fitting:
        lines.append(f"... and {plural(len(names) - fitting, 'more column')}: {short_line(', '.join(names[fitting:]), 72)}")
    return "\n".join(lines)


def _column(name: str, column: "pa.ChunkedArray", longest: int) -> list[str]:
    form = _ADDED.get(name)
    cells = [_cell(value, longest) if form is None else form.format(value) for value in values_of(column)]
    return [short_line(name, longest), *cells]


def _cell(value: Any, longest: int) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return number_text(value, 4)
    if isinstance(value, list) and len(value) > 3:
        return f"[{len(value)} values]"
    if isinstance(value, bytes):
        return f"{len(value):,} bytes"
    return short_line(str(value), longest)


def short_line(text: str, longest: int) -> str:
    """Return a text as one line that is harmless and not too long."""
    text = printable(text).replace("\n", " ")
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _padded(cells: list[str]) -> list[str]:
    width = max(map(len, cells))
    numbers = all(cell[:1] in "+-.0123456789" for cell in cells[1:])
    return [cell.rjust(width) if numbers else cell.ljust(width) for cell in cells]
