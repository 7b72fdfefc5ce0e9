"""Options shared by several commands, and the parsing of their values."""

from collections.abc import Sequence
from pathlib import Path

import click

from supersample.cli.interrupts import starting
from supersample.errors import InputError

__all__ = ["FILE", "as_json", "bandwidth", "page", "page_file", "parse_columns", "progress", "quiet", "seed", "summary_file"]

#: A path to write to.
FILE = click.Path(dir_okay=False, path_type=Path)


def summary_file(_: click.Context, option: click.Parameter, path: Path | None) -> Path | None:
    """Refuse a path that no summary can be written to, before anything is read, so that no work is lost at the end."""
    _refuse_no_folder(option, path)
    if path is not None and _is_data_file(path):
        raise click.BadParameter(f"{str(path)!r} is the name of a data file; try {path.stem + '.ss'!r}", param=option)
    return path


def page_file(_: click.Context, option: click.Parameter, path: Path | None) -> Path | None:
    """Refuse a path that no page can be written to, before anything is read."""
    _refuse_no_folder(option, path)
    if path is not None and path.suffix.lower() not in (".html", ".htm"):
        raise click.BadParameter(f"{str(path)!r} must end in .html, since a page is written there", param=option)
    return path


def bandwidth(_: click.Context, option: click.Parameter, value: str | None) -> float | str | None:
    """Read a number, or the word median."""
    if value is None or value == "median":
        return value
    try:
        return float(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is neither a number nor 'median'", param=option) from None


def _refuse_no_folder(option: click.Parameter, path: Path | None) -> None:
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
    parts = [part.strip() for text in given for part in text.split(",") if part.strip()]
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


as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
page = click.option("--report", "page", type=FILE, callback=page_file, help="Write a page (.html) to look at, too.")
quiet = click.option("-q", "--quiet", is_flag=True, help="Write nothing to standard error unless something is wrong.")
progress = click.option(
    "--progress/--no-progress", default=None, help="Show a progress bar; by default where standard error is a terminal."
)
seed = click.option("--seed", type=click.IntRange(min=0), help="Make the run repeatable: the same seed, the same rows.")
