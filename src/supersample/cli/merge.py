"""supersample merge: saved summaries in, the summary of all their rows out."""

from functools import reduce
from pathlib import Path

import click

from supersample.cli.describing import notes_text
from supersample.cli.options import FILE, as_json, quiet, summary_file
from supersample.cli.output import say, tell, tell_json
from supersample.cli.runner import load

__all__ = ["merge"]


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
        if notes := notes_text(merged):
            tell(f"\n{notes}")
    if not quiet:
        say(f"wrote {output}")
