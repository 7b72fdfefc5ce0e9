"""supersample compare: do two data sets differ, and where?"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from supersample.cli.interrupts import starting
from supersample.cli.options import as_json, column_options, column_settings, page, progress, quiet, seed
from supersample.cli.output import as_rows, say, short_line, tell, tell_json, text_table
from supersample.cli.runner import is_data, load, run

if TYPE_CHECKING:
    import pyarrow as pa

    from supersample.records.sources import Source
    from supersample.summary import Comparison, Summary

__all__ = ["compare", "each_change_first"]

#: What arguments of ss.summarize are called in the shell, where it is not the same.
_OPTIONS = {"types": "--type and --ignore"}
#: Characters of what is said of rows.
_LONGEST = 200


@click.command(short_help="Do two data sets, or summaries, differ, and where?")
@click.argument("left")
@click.argument("right")
@click.option("--fail-on-drift", is_flag=True, help="Exit with status 1 where the two differ, in values or in their columns.")
@click.option(
    "--level",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.05,
    show_default=True,
    help="The p-value up to which drift is reported.",
)
@click.option(
    "--at-least",
    type=click.FloatRange(0, 1),
    default=0.0,
    metavar="SHARE",
    help="The smallest difference that matters: a share of the rows, 0.01 for 1%; jointly an MMD.",
)
@click.option("--rows", type=click.IntRange(min=0), default=5, show_default=True, help="Rows to show of each side.")
@column_options
@page
@as_json
@seed
@progress
@quiet
def compare(
    left: str,
    right: str,
    fail_on_drift: bool,
    level: float,
    at_least: float,
    rows: int,
    page: Path | None,
    as_json: bool,
    seed: int | None,
    progress: bool | None,
    quiet: bool,
    **columns: Any,
) -> None:
    """Tell whether LEFT and RIGHT are data of one kind, and in which columns and rows they differ.

    Each is a saved summary, or data that are summarised first, the one like the other. Two saved summaries of which neither was
    made with --like the other are compared by their samples, so that smaller changes may go unseen.

    \b
    Examples:
      supersample compare monday.ss tuesday.ss
      supersample compare monday.ss tuesday.parquet --fail-on-drift && deploy
      supersample compare monday.csv tuesday.csv --report drift.html
      supersample compare monday.csv tuesday.csv --ignore session --type status=category
    """
    chosen = column_settings(columns)
    if chosen and not (is_data(left) and is_data(right)):
        saved = left if not is_data(left) else right
        given = next(iter(chosen))
        option = _OPTIONS.get(given, f"--{given}")
        raise click.UsageError(f"columns and types are those of the saved summary {saved}; leave {option} out")
    options = chosen | ({} if seed is None else {"random_state": seed})
    first, second = _both(left, right, options, progress=progress, quiet=quiet)
    with starting():
        from supersample.summary.summary import compared_at
    found = compared_at(first, second, at_least, level)
    written: dict[str, str] = {}
    if page is not None:
        with starting():
            from supersample.report import write_comparison
        written["report"] = str(write_comparison(first, second, page, comparison=found))
    drift = found.rejects(level)
    left_out = {note.name: note.note for note in first.columns if not note.used and note.kind != "weight"}
    if as_json:
        sides = {"left_rows": as_rows(found.left_rows, rows), "right_rows": as_rows(found.right_rows, rows)}
        tell_json(found.to_dict() | {"left_out": left_out} | sides | written)
    else:
        _tell(found, left_out, (left, right), rows)
    if not quiet:
        for path in written.values():
            say(f"wrote {path}")
    reasons = [f"p-value {found.pvalue:.3g}, at most {level:g}"] if drift else []
    reasons += [f"{note.column} is {note.text}" for note in found.not_compared]
    if reasons and fail_on_drift:
        say(f"drift: {'; '.join(reasons)}")
        click.get_current_context().exit(1)


def _both(left: str, right: str, options: dict[str, Any], *, progress: bool | None, quiet: bool) -> tuple["Summary", "Summary"]:
    """Load or make both summaries; a new one is made like the other."""
    if left == right == "-":
        raise click.UsageError("only one of LEFT and RIGHT can be standard input")
    if not (is_data(left) and is_data(right)):
        return _made((left, right), (None, None), int(is_data(left)), options, progress=progress, quiet=quiet)
    with starting():
        from supersample.records.sources import alike, empty_columns, open_source, text_columns
    opened = open_source(left), open_source(right)
    while True:
        sources = alike(*opened)
        # Empty columns cannot enter a kernel, and numbers become text, but text does not become numbers.
        empty = [empty_columns(each) for each in opened]
        texts = [text_columns(each) for each in sources]
        lead = int(bool(empty[0] - empty[1]) or (empty[0] == empty[1] and bool(texts[1] - texts[0])))
        found = _made((left, right), sources, lead, options, progress=progress, quiet=quiet)
        texts = [{note.name for note in each.columns if note.type == "string"} for each in found]
        late = frozenset(texts[0] ^ texts[1])
        first, second = (each.as_text for each in opened)
        if not late or first is None or second is None:
            return found
        opened = first(late), second(late)  # a cell far into one of the two is no number: read both as text


def _made(
    names: tuple[str, str],
    sources: "tuple[Source | None, Source | None]",
    lead: int,
    options: dict[str, Any],
    *,
    progress: bool | None,
    quiet: bool,
) -> tuple["Summary", "Summary"]:
    """Load or make both summaries, that of the side `lead` first; one that is made after it is made like it."""

    def summary(side: int, more: dict[str, Any]) -> "Summary":
        if is_data(names[side]):
            return run(names[side], more, source=sources[side], progress=progress, quiet=quiet)
        return load(names[side], ("LEFT", "RIGHT")[side])

    one = summary(lead, options)
    other = summary(1 - lead, {"like": one} | {name: options[name] for name in ("random_state",) if name in options})
    return (other, one) if lead else (one, other)


def _tell(found: "Comparison", left_out: dict[str, str], names: tuple[str, str], rows: int) -> None:
    tell(found.in_words())
    if left_out:
        tell(f"  left out {', '.join(f'{name} ({why})' for name, why in left_out.items())}")
    for name, table in (
        zip(names, (found.left_rows, found.right_rows), strict=True) if rows and found.rejects(found.level) else ()
    ):
        tell(f"\n{_rows_text(name, each_change_first(table, found), rows)}")


def each_change_first(table: "pa.Table", found: "Comparison") -> "pa.Table":
    """Return the rows of a side with one for each change first, the clearest change first."""
    changes: list[tuple[float, tuple[str, ...]]] = [(each.pvalue, each.columns) for each in found.pairs_at(found.level)]
    changes += [(each.pvalue, (each.name,)) for each in found.columns if each.name in found.changed]
    left = list(enumerate(table["_like"].to_pylist()))
    first: list[int] = []
    for _, names in sorted(changes):
        of_it = (place for place, like in left if all(_names(like, name) for name in names))
        first += [place for place in (next(of_it, None),) if place is not None and place not in first]
    order = [*first, *(place for place, _ in left if place not in first)]
    return table.take(order) if order else table  # PyArrow takes no empty list for places


def _names(like: str, column: str) -> bool:
    """Return whether a column is among those in which rows are said to be like one."""
    return f", {column} " in f", {like}"


def _rows_text(name: str, table: "pa.Table", rows: int) -> str:
    """Return the first rows of a side, under what is said of rows like them; the columns that are named there come first."""
    from supersample.summary.comparison import gain_in_words

    if table.num_rows == 0:
        return f"No kind of row was found that is clearly more common in {name}."
    shown = as_rows(table, rows)
    said = dict.fromkeys(short_line(gain_in_words(each), _LONGEST) for each in shown)
    plain = table.drop_columns(["_ratio", "_count", "_other", "_known", "_like", "_witness"])
    named = dict.fromkeys(column for each in shown for column in plain.column_names if _names(each["_like"], column))
    plain = plain.select(list(named | dict.fromkeys(plain.column_names)))
    return "\n".join([f"Rows that are more common in {name}:", *(f"  {each}" for each in said), text_table(plain, rows)])
