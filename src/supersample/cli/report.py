"""supersample report: the page of a saved summary."""

from pathlib import Path

import click

from supersample.cli.interrupts import starting
from supersample.cli.options import FILE, page_file, quiet
from supersample.cli.output import say, tell
from supersample.cli.runner import load

__all__ = ["report"]


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
