"""Make or load summaries for a command, with a progress bar and, after Ctrl-C, a message on how to resume."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from supersample.cli import STOPPED
from supersample.cli.interrupts import starting
from supersample.cli.output import say

if TYPE_CHECKING:
    from supersample.records.sources import Source
    from supersample.summary import Summary

__all__ = ["is_data", "load", "run"]


def run(
    names: str | Sequence[str],
    options: Mapping[str, Any],
    *,
    source: "Source | None" = None,
    progress: bool | None = None,
    quiet: bool = False,
) -> "Summary":
    """Summarise the named data, with a bar if one is wanted; Ctrl-C ends the command with a message on the checkpoint.

    source: the named data, if they were opened before.
    """
    with starting():
        from supersample.summary import summarize
        from supersample.summary.progress import Bar

    # Standard error is None if the caller closed it.
    wanted = sys.stderr is not None and sys.stderr.isatty() if progress is None else progress
    label = names if isinstance(names, str) else names[0] if len(names) == 1 else f"{len(names)} sources"
    bar = Bar("standard input" if label == "-" else Path(label).name)
    try:
        return summarize(names if source is None else source, progress=bar if wanted and not quiet else False, **options)
    except KeyboardInterrupt:
        bar.close()
        say(f"stopped; {_where_to_go_on(options.get('checkpoint'))}")
        click.get_current_context().exit(STOPPED)
    finally:
        bar.close()


def load(path: str | Path, name: str) -> "Summary":
    """Load the saved summary that an argument or option of this name gave."""
    with starting():
        from supersample.summary.summary import load_from
    return load_from(path, name)


def is_data(path: str) -> bool:
    """Return whether a path names data, not a saved summary: a folder, a pattern, standard input, a data file, or a URI."""
    with starting():
        from supersample.records.sources.paths import format_of
        from supersample.records.sources.remote import has_scheme
    return path == "-" or has_scheme(path) or Path(path).is_dir() or format_of(Path(path)) is not None or (
        not Path(path).exists() and any(mark in path for mark in "*?[")
    )  # fmt: skip


def _where_to_go_on(checkpoint: Path | None) -> str:
    if checkpoint is None:
        return "nothing is kept of it (with --checkpoint FILE, the same command goes on where it stopped)"
    if checkpoint.exists():
        return f"the same command goes on from {str(checkpoint)!r}"
    return "nothing was read yet, so the same command starts again"
