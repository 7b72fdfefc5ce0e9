"""supersample merge, show and report: what can be done with saved summaries alone."""

from functools import reduce
from pathlib import Path

import click

from supersample.cli.interrupts import starting
from supersample.cli.options import FILE, as_json, page_file, quiet, summary_file
from supersample.cli.output import as_rows, say, tell, tell_json, text_table
from supersample.cli.runner import load

__all__ = ["merge", "report", "show"]


@click.command(short_help="Make one summary of several.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path())
@click.option("-o", "--output", type=FILE, callback=summary_file, required=True, help="Where to save the summary of all.")
@as_json
@quiet
def merge(files: tuple[str, ...], output: Path, as_json: bool, quiet: bool) -> None:
    """Make one summary of several, as if their data had come one after the other.

    All must have been made like the first, with --like.

    \b
    Examples:
      supersample summarize part1.parquet -o part1.ss
      supersample summarize part2.parquet --like part1.ss -o part2.ss
      supersample merge part1.ss part2.ss -o all.ss
    """
    if len(files) < 2:
        raise click.UsageError("merge takes two summaries or more")
    merged = reduce(lambda first, second: first.merge(second), (load(file, "FILE") for file in files))
    merged.save(output)
    if as_json:
        tell_json(merged.to_dict() | {"file": str(output)})
    else:
        tell(str(merged))
    if not quiet:
        say(f"wrote {output}")


@click.command(short_help="Print what a saved summary says.")
@click.argument("file", type=click.Path())
@click.option("-n", "--rows", type=click.IntRange(min=0), default=10, show_default=True, help="Rows to show of each table.")
@as_json
def show(file: str, rows: int, as_json: bool) -> None:
    """Print what a saved summary says.

    With --json, all its prototypes and criticisms, whatever --rows says.

    \b
    Examples:
      supersample show taxi.ss
      supersample show taxi.ss --rows 100
      supersample show taxi.ss --json | jq '.prototypes[]._row'
    """
    summary = load(file, "FILE")
    if as_json:
        tables = {"prototypes": as_rows(summary.prototypes), "criticisms": as_rows(summary.criticisms)}
        tell_json(summary.to_dict() | tables)
        return
    tell(str(summary))
    width = max(len(note.name) for note in summary.columns)
    tell("\nColumns:")
    for note in summary.columns:
        tell(f"  {note.name:{width}}  {note.type}, {note.kind}{f': {note.note}' if note.note else ''}")
    for title, table in (("Prototypes", summary.prototypes), ("Criticisms", summary.criticisms)):
        if rows and table.num_rows:
            tell(f"\n{title}:\n{text_table(table, rows)}")


@click.command(short_help="Write the page of a saved summary.")
@click.argument("file", type=click.Path())
@click.option("-o", "--output", type=FILE, callback=page_file, required=True, help="The page (.html) to write.")
@click.option("--title", help="The page's title.")
@quiet
def report(file: str, output: Path, title: str | None, quiet: bool) -> None:
    """Write a saved summary as one page to look at, without network, on any screen.

    The path of the page is printed.

    \b
    Examples:
      supersample report taxi.ss -o taxi.html
      supersample report taxi.ss -o taxi.html --title "Taxi rides in May"
    """
    with starting():
        from supersample.report import write_report
    summary = load(file, "FILE")
    tell(str(write_report(summary, output, title=title)))
    if not quiet:
        say("open it in a browser")
