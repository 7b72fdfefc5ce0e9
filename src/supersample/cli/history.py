"""supersample history: when did a stream change, and what?"""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from supersample.cli import STOPPED
from supersample.cli.describing import notes_text
from supersample.cli.interrupts import starting
from supersample.cli.options import as_json, column_options, column_settings, history_folder, page, quiet, seed, whole_or_text
from supersample.cli.output import say, tell, tell_json
from supersample.cli.runner import load
from supersample.errors import MismatchError

if TYPE_CHECKING:
    import pyarrow as pa

    from supersample.history import Alarm, History

__all__ = ["history"]

#: Arguments of ss.History with an option of the same name.
_ARGUMENTS = ("time", "every", "season", "lateness", "keep", "run_length", "guarantee", "at_least")
#: What other arguments are called in the shell.
_OPTIONS = {"types": "--type and --ignore", "volume": "--no-volume", "random_state": "--seed"}


@click.command(short_help="When did a stream change, and what?")
@click.argument("files", metavar="[FILE]...", nargs=-1)
@click.option("--time", metavar="COLUMN", help="The column that says when rows happened.  [default: rows are counted]")
@click.option("--every", metavar="SPAN", callback=whole_or_text, help="The span of a block: 15m, 1h, 1d, or 1000 rows.")
@click.option("--season", metavar="SPAN", callback=whole_or_text, help="After this the stream repeats itself: 1d, 7d.")
@click.option(
    "--lateness", metavar="SPAN", callback=whole_or_text, help="How late rows may come to be looked at.  [default: one block]"
)
@click.option("--keep", metavar="SPAN", callback=whole_or_text, help="The age at which blocks are dropped.  [default: never]")
@click.option(
    "--run-length",
    metavar="SPAN",
    callback=whole_or_text,
    help="The time between false alarms, at least, on average: 90d, or 5000 blocks.  [default: 10000 blocks]",
)
@click.option("--guarantee", type=click.Choice(["asymptotic", "exact"]), help="How that is kept.  [default: asymptotic]")
@click.option("--at-least", type=click.FloatRange(0, 2), metavar="MMD", help="The smallest change that matters.  [default: 0]")
@click.option("--no-volume", is_flag=True, help="Do not watch the number of rows.")
@column_options
@click.option("--weight", metavar="COLUMN", help="The column that says what each row counts for.")
@click.option("--like", type=click.Path(), metavar="FILE", help="Encode as this summary does.")
@seed
@click.option("-o", "--output", callback=history_folder, type=click.Path(path_type=Path), metavar="FOLDER",
              help="Keep the history in this folder; the same command goes on from it.")  # fmt: skip
@click.option("--fail-on-change", is_flag=True, help="Exit with status 1 if these rows raised an alarm.")
@page
@as_json
@quiet
def history(
    files: tuple[str, ...],
    output: Path | None,
    page: Path | None,
    fail_on_change: bool,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Tell when the rows of FILEs changed along time, and what changed: one line for each alarm.

    With -o, the history is kept in a folder. The same command again takes in rows of files that are new, and no row twice; a
    folder that is there needs no other option. Without FILEs, the folder is shown as it is.

    \b
    Examples:
      supersample history log.parquet --time when --every 1h --season 1d
      supersample history 'logs/*.csv' --time when --every 1h --season 1d -o logs.history --report timeline.html
      supersample history 'logs/*.csv' -o logs.history --fail-on-change
      supersample history -o logs.history --report timeline.html
      supersample history stream.csv --every 1000
    """
    held = _held(output)
    found = _opened(files, held, _asked(options), str(output))
    before = 0 if held is None else len(held.alarms)
    if files:
        _update(found, files, output)
    written = {"folder": str(output)} if output is not None and files else {}
    if page is not None:
        written["report"] = str(found.report(page))
    new = found.alarms[before:]
    if as_json:
        tell_json(_values(found) | {"new_alarms": len(new)} | written)
    else:
        tell(_text(found))
    if not quiet:
        for path in written.values():
            say(f"wrote {path}")
    if new and fail_on_change:
        say(f"change: {len(new)} new, the last at {new[-1].change}")
        click.get_current_context().exit(1)


def _asked(options: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of ss.History that were given."""
    found = column_settings(options) | {name: options[name] for name in (*_ARGUMENTS, "weight") if options[name] is not None}
    if options["no_volume"]:
        found["volume"] = False
    if options["seed"] is not None:
        found["random_state"] = options["seed"]
    if options["like"] is not None:
        found["like"] = options["like"]
    return found


def _held(folder: Path | None) -> "History | None":
    """Return the history of a folder, if it holds one."""
    with starting():
        from supersample.history import History
        from supersample.history.folder import MAIN
    return History.load(folder) if folder is not None and (folder / MAIN).exists() else None


def _opened(files: tuple[str, ...], held: "History | None", asked: dict[str, Any], folder: str) -> "History":
    """Return a new history, or the one that is held if nothing is asked for; a new one goes on from it if it is the same."""
    from supersample.history import History

    if "every" in asked and files:
        like = {"like": load(asked["like"], "--like")} if "like" in asked else {}
        return History(**{"time": None} | asked | like)
    if held is None:
        raise click.UsageError("Missing option '--every'." if files else "Missing argument 'FILE...'.")
    if asked:
        option = _OPTIONS.get(first := next(iter(asked)), f"--{first.replace('_', '-')}")
        more = "give --every as well" if files else "name files"
        raise click.UsageError(f"the history {folder} has its own settings; leave {option} out, or {more}")
    return held


def _update(found: "History", files: tuple[str, ...], folder: Path | None) -> None:
    try:
        found.update(files[0] if len(files) == 1 else list(files), save_to=folder)
    except KeyboardInterrupt:
        kept = "nothing is kept of it (with -o FOLDER, the same command goes on where it stopped)"
        say(f"stopped; {kept if folder is None else f'the same command goes on from {str(folder)!r}'}")
        click.get_current_context().exit(STOPPED)
    except MismatchError as error:
        raise MismatchError(str(error).replace("save_to", "-o", 1)) from error


def _text(found: "History") -> str:
    """Say what is held, one line for each alarm, and how much evidence of another change there is."""
    from supersample._text import plural

    alarms, blocks = found.alarms, found.blocks
    rows, held, count = plural(found.n_seen, "row"), plural(blocks.num_rows, "block"), plural(len(alarms), "alarm")
    start, end = (each if isinstance(each, datetime) else f"{each:,.15g}" for each in _span(blocks))
    lines = [f"{rows} in {held}, {start} to {end}, {count}"]
    lines += [f"  {' '.join(_line(each).split())}" for each in alarms]
    lines.append(f"evidence of {'another' if alarms else 'a'} change: {found.evidence:.0%} of the alarm threshold")
    return "\n".join([*lines, *filter(None, [notes_text(found)])])


def _span(blocks: "pa.Table") -> tuple[Any, Any]:
    """Return where the first block begins and the last one ends."""
    return blocks["start"][0].as_py(), blocks["end"][-1].as_py()


def _line(alarm: "Alarm") -> str:
    return f"{alarm.kind} {alarm}"


def _values(found: "History") -> dict[str, Any]:
    """Return what is printed as JSON."""
    blocks = found.blocks
    start, end = _span(blocks)
    return {
        "source": found.source,
        "n_seen": found.n_seen,
        "n_late": found.n_late,
        "n_blocks": blocks.num_rows,
        "start": start,
        "end": end,
        "evidence": found.evidence,
        "alarms": [_alarm_values(each) for each in found.alarms],
        "notes": [vars(each) for each in found.notes],
    }


def _alarm_values(alarm: "Alarm") -> dict[str, Any]:
    plain = {name: getattr(alarm, name) for name in ("kind", "at", "change", "between", "mmd", "evidence")}
    columns = [{name: getattr(each, name) for name in ("name", "difference", "pvalue", "what")} for each in alarm.columns]
    pairs = [{name: getattr(each, name) for name in ("columns", "before", "after", "pvalue")} for each in alarm.pairs]
    return plain | {"changed": list(alarm.changed), "what": alarm.in_words(), "columns": columns, "pairs": pairs}
