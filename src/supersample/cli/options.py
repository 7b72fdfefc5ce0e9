"""Options shared by several commands, and the parsing of their values."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from supersample.cli.interrupts import starting
from supersample.errors import InputError

__all__ = [
    "FILE", "as_json", "bandwidth", "column_options", "column_settings", "history_folder", "number_or_text", "page",
    "page_file", "parse_columns", "parse_types", "progress", "quiet", "refuse_no_folder", "seed", "summary_file",
    "whole_or_text",
]  # fmt: skip

#: A path to write to.
FILE = click.Path(dir_okay=False, path_type=Path)


def summary_file(_: click.Context, option: click.Parameter, path: Path | None) -> Path | None:
    """Refuse a path that no summary can be written to, before anything is read, so that no work is lost at the end."""
    refuse_no_folder(option, path)
    if path is not None and _is_data_file(path):
        raise click.BadParameter(f"{str(path)!r} is the name of a data file; try {path.stem + '.ss'!r}", param=option)
    return path


def page_file(_: click.Context, option: click.Parameter, path: Path | None) -> Path | None:
    """Refuse a path that no page can be written to, before anything is read."""
    refuse_no_folder(option, path)
    if path is not None and path.suffix.lower() not in (".html", ".htm"):
        raise click.BadParameter(f"{str(path)!r} must end in .html, since a page is written there", param=option)
    return path


def history_folder(_: click.Context, option: click.Parameter, path: Path | None) -> Path | None:
    """Refuse a path that no history can be kept at, before anything is read."""
    refuse_no_folder(option, path)
    if path is None:
        return None
    if path.exists() and not path.is_dir():
        raise click.BadParameter(f"{str(path)!r} is a file, and a history is a folder; choose another name", param=option)
    if path.is_dir() and any(path.iterdir()):
        with starting():
            from supersample.history.folder import MAIN
        if not (path / MAIN).exists():
            raise click.BadParameter(f"the folder {str(path)!r} holds something else; name a new one", param=option)
    return path


def bandwidth(_: click.Context, option: click.Parameter, value: str | None) -> float | str | None:
    """Read a number, or the word median."""
    if value is None or value == "median":
        return value
    try:
        return float(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is neither a number nor 'median'", param=option) from None


def number_or_text(_: click.Context, __: click.Parameter, value: str | None) -> float | str | None:
    """Read a number where there is one; anything else stays text, as durations are."""
    try:
        return None if value is None else float(value)
    except ValueError:
        return value


def whole_or_text(_: click.Context, __: click.Parameter, value: str | None) -> int | str | None:
    """Read a whole number where there is one; anything else stays text, as durations are."""
    return int(value) if value is not None and value.isdecimal() else value


def refuse_no_folder(option: click.Parameter, path: Path | None) -> None:
    """Refuse a path in a folder that does not exist."""
    if path is not None and not path.parent.is_dir():
        raise click.BadParameter(f"the folder {str(path.parent)!r} does not exist; create it first", param=option)


def _is_data_file(path: Path) -> bool:
    with starting():
        from supersample.records.sources.paths import format_of
    return format_of(path) is not None


def parse_columns(given: Sequence[str]) -> list[str] | dict[str, float] | None:
    """Read column names with optional weights.

    >>> parse_columns(["a,b"]), parse_columns(["a,b=2", "c"])
    (['a', 'b'], {'a': 1.0, 'b': 2.0, 'c': 1.0})
    """
    parts = _names(given)
    if not parts:
        return None
    if not any("=" in part for part in parts):
        return parts
    chosen = {}
    for part in parts:
        name, mark, weight = part.rpartition("=")
        try:
            chosen[name if mark else part] = float(weight) if mark else 1.0
        except ValueError:
            raise InputError(f"--columns must give a number as the weight of {name!r}, got {weight!r}") from None
    return chosen


def parse_types(given: Sequence[str], ignored: Sequence[str]) -> dict[str, str] | None:
    """Read what columns are, and names of columns to ignore.

    >>> parse_types(["price=number", "zip=category"], ["note,url"])
    {'price': 'number', 'zip': 'category', 'note': 'ignore', 'url': 'ignore'}
    """
    types = {}
    for part in given:
        name, mark, kind = part.rpartition("=")
        if not mark or not name:
            raise InputError(f"--type must be a column, an equals sign and what it is, as price=number, got {part!r}")
        types[name.strip()] = kind.strip()
    for name in _names(ignored):
        if types.get(name, "ignore") != "ignore":
            raise InputError(
                f"--ignore names column {name!r}, which --type says is a {types[name]}; leave it out of one of them"
            )
        types[name] = "ignore"
    return types or None


def _names(given: Sequence[str]) -> list[str]:
    return [part.strip() for text in given for part in text.split(",") if part.strip()]


def column_settings(options: dict[str, Any]) -> dict[str, Any]:
    """Take the options of columns out of those of a command; return them as arguments of ss.summarize, if given."""
    columns, types, ignored = (options.pop(name) for name in ("columns", "type", "ignore"))
    found = {"columns": parse_columns(columns), "types": parse_types(types, ignored)}
    found |= {name: options.pop(name) for name in ("label", "times", "min_count")}
    found |= {name: _names(options.pop(name)) or None for name in ("drop", "redact")}
    return {name: value for name, value in found.items() if value is not None}


C = TypeVar("C", bound=Callable[..., Any])


def column_options(command: C) -> C:
    """Add the options that say what columns are and which of them count."""
    added = (
        click.option("--columns", multiple=True, metavar="A,B=2", help="Columns that count, with weights.  [default: all]"),
        click.option("--type", multiple=True, metavar="A=KIND", help="What a column is: number, boolean, category, text, time, "
                     "vector or id.  [default: recognised]"),
        click.option("--ignore", multiple=True, metavar="A,B", help="Columns that are kept, but do not count."),
        click.option("--drop", multiple=True, metavar="A,B", help="Columns that are removed while reading, and kept nowhere."),
        click.option("--redact", multiple=True, metavar="A,B", help="Columns that are counted, but whose values are masked."),
        click.option("--min-count", type=click.IntRange(1), metavar="N", help="Texts that occur less often are not shown among "
                     "the frequent values of a column.  [default: 1]"),
        click.option("--label", metavar="COLUMN", help="A column that is compared, but does not count in the choice of rows."),
        click.option("--times", type=click.Choice(["ignore", "cycle", "level"]), help="What times count for: nothing, hour and "
                     "day of week, or the time itself.  [default: ignore]"),
    )  # fmt: skip
    for option in reversed(added):
        command = option(command)
    return command


as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
page = click.option("--report", "page", type=FILE, callback=page_file, help="Write a page (.html) to look at, too.")
quiet = click.option("-q", "--quiet", is_flag=True, help="Write nothing to standard error unless something is wrong.")
progress = click.option(
    "--progress/--no-progress", default=None, help="Show a progress bar; by default where standard error is a terminal."
)
seed = click.option("--seed", type=click.IntRange(min=0), help="Make the run repeatable: the same seed, the same rows.")
