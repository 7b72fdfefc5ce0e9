"""supersample summarize: data in, a summary out."""

from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from supersample.cli.describing import notes_text
from supersample.cli.interrupts import starting
from supersample.cli.options import (
    FILE,
    as_json,
    bandwidth,
    column_options,
    column_settings,
    number_or_text,
    page,
    progress,
    quiet,
    seed,
    summary_file,
)
from supersample.cli.output import say, tell, tell_json, text_table
from supersample.cli.rows import rows_file, write_rows
from supersample.cli.runner import is_data, load, run

__all__ = ["summarize"]


@click.command(short_help="Find the rows that stand for a table.")
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True)
@click.option("-o", "--output", type=FILE, callback=summary_file, help="Save the summary, to show, compare, merge or report.")
@click.option("-p", "--prototypes", type=click.IntRange(min=1), help="Rows that stand for the data.  [default: 100]")
@click.option("-c", "--criticisms", type=click.IntRange(min=0), help="Rows that these miss.  [default: 20; 0 with --target]")
@column_options
@click.option("--weight", metavar="COLUMN", help="The column that says what each row counts for.")
@click.option("--kernel", metavar="NAME", help="gaussian, laplacian, cauchy, matern12, matern32 or matern52.")
@click.option(
    "--bandwidth", metavar="NUMBER", callback=bandwidth, help="The kernel's length scale on encoded rows.  [default: median]"
)
@click.option("--features", metavar="NAME", help="How the kernel is approximated: auto, fourier or nystroem.  [default: auto]")
@click.option("--n-features", type=click.IntRange(min=1), help="How many features that takes.")
@click.option("--time", metavar="COLUMN", help="The column that says when rows happened, for --half-life.")
@click.option(
    "--half-life", metavar="ROWS|DURATION", callback=number_or_text, help="Rows lose half of their weight in this: 10000, 7d."
)
@click.option(
    "--target", metavar="FILE", help="Match the rows of this data file, or of this saved summary, and not the source itself."
)
@seed
@click.option("--like", type=click.Path(), metavar="FILE", help="Encode as this summary does, to compare or merge the two.")
@click.option(
    "--jobs", "n_jobs", type=int, metavar="N", help="Read large files in parts, by so many processes; -1 for all cores."
)
@click.option("--checkpoint", type=FILE, callback=summary_file, help="Keep the state here; the same command goes on from it.")
@click.option(
    "--rows", type=FILE, callback=rows_file, help="Write the chosen rows to a data file (.parquet, .csv, .arrow, .ndjson), too."
)
@page
@as_json
@progress
@quiet
def summarize(
    sources: tuple[str, ...], output: Path | None, rows: Path | None, page: Path | None, as_json: bool, **options: Any
) -> None:
    """Find the rows that stand for a table, and those that they miss.

    SOURCE is a Parquet, CSV, Arrow, Feather, NDJSON or .npy file, a folder, a pattern, several of these, or - for standard
    input; s3://, gs://, https:// and other URIs name files elsewhere. It is read in memory that does not grow with it.

    \b
    Examples:
      supersample summarize taxi.parquet
      supersample summarize 'logs/*.csv' -p 50 -c 10 -o logs.ss --report logs.html
      zcat events.ndjson.gz | supersample summarize - -o events.ss
      supersample summarize big/ -o big.ss --checkpoint big.checkpoint --seed 1
      supersample summarize today.csv --like logs.ss -o today.ss
      supersample summarize orders.csv --type zip=category --ignore note --label churned
      supersample summarize orders.parquet --rows chosen.csv
      supersample summarize events.parquet --time when --half-life 7d
      supersample summarize pool.parquet --target wanted.parquet -p 1000 --rows chosen.csv
    """
    quiet = options.pop("quiet")
    _refuse_equal({"--output": output, "--rows": rows, "--report": page, "--checkpoint": options["checkpoint"]})
    settings = _settings(options)
    source = sources[0] if len(sources) == 1 else list(sources)
    summary = run(source, settings, progress=options["progress"], quiet=quiet)
    written: dict[str, str] = {}
    if output is not None:
        summary.save(output)
        written["file"] = str(output)
    if rows is not None:
        written["rows"] = str(write_rows(summary, rows))
    if page is not None:
        with starting():
            from supersample.report import write_report
        written["report"] = str(write_report(summary, page))
    if as_json:
        tell_json(summary.to_dict() | written)
    else:
        tell(str(summary))
        if notes := notes_text(summary):
            tell(f"\n{notes}")
        if output is None:
            tell("\n" + text_table(summary.prototypes, 10))
    if not quiet:
        for path in written.values():
            say(f"wrote {path}")


def _refuse_equal(paths: dict[str, Path | None]) -> None:
    given = [(name, Path(path).resolve()) for name, path in paths.items() if path is not None]
    for place, (name, path) in enumerate(given):
        for other, theirs in given[:place]:
            if path == theirs:
                raise click.UsageError(f"{name} must be another file than {other}, got {path.name} for both")


def _settings(options: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of ss.summarize that were given; the others keep its defaults."""
    with starting():
        from supersample.summary.summarizing import Options
    settings = column_settings(options)
    names = (*(field.name for field in fields(Options)), "checkpoint", "n_jobs")
    settings |= {name: options[name] for name in names if options.get(name) is not None}
    if options["seed"] is not None:
        settings["random_state"] = options["seed"]
    if options["target"] is not None:
        settings["target"] = options["target"] if is_data(options["target"]) else load(options["target"], "--target")
    if options["like"] is not None:
        settings["like"] = load(options["like"], "--like")
    return settings
