"""The command `supersample`, and how it ends: with results, with one line on what went wrong, or stopped by the user.

Results go to standard output, all else to standard error. Exit status: 0 done, 1 drift found with --fail-on-drift or
--fail-on-change, 2 bad usage or input, 130 stopped by Ctrl-C, 141 the pipe that reads the output was closed.
"""

import os
import sys
from importlib import import_module
from typing import Any

import click

from supersample import __version__
from supersample.cli import STOPPED
from supersample.cli.interrupts import starting, working
from supersample.cli.output import say
from supersample.errors import SupersampleError

__all__ = ["COMMANDS", "group"]

#: The module of each command, and its line in the list of commands, so that the list is shown without importing any of them.
COMMANDS = {
    "summarize": ("supersample.cli.summarize", "Find the rows that stand for a table."),
    "compare": ("supersample.cli.compare", "Do two data sets, or summaries, differ, and where?"),
    "history": ("supersample.cli.history", "When did a stream change, and what?"),
    "watch": ("supersample.cli.watch", "Watch streams as a service, with a page and alarms."),
    "merge": ("supersample.cli.merge", "Make one summary of several."),
    "show": ("supersample.cli.show", "Print what a saved summary says."),
    "report": ("supersample.cli.report", "Write the page of a saved summary."),
    "demo": ("supersample.cli.demo", "See it work on handwritten digits, or with --live on a stream."),
}


class _Group(click.Group):
    """Commands that are imported on use.

    Their errors are printed in one line, without a traceback, unless they are faults of the program.
    """

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Import the requested command; until then the group has only its name and one line of help."""
        name, known, rest = super().resolve_command(ctx, args)
        if name is None or known is None:
            return name, known, rest
        with starting():
            command: click.Command = getattr(import_module(COMMANDS[name][0]), name)
        return name, command, rest

    def invoke(self, ctx: click.Context) -> Any:
        """Run the requested command."""
        try:
            with working():
                done = super().invoke(ctx)
                if sys.stdout is not None:  # None if the caller closed it: then results are discarded
                    sys.stdout.flush()
        except BrokenPipeError:
            # Unwritten output would fail again when the process ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(141)
        except (SupersampleError, OSError) as error:
            say(f"error: {' '.join(str(error).split())}")
            ctx.exit(2)
        except KeyboardInterrupt:
            say("stopped")
            ctx.exit(STOPPED)
        return done


@click.group(name="supersample", cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="supersample")
def group() -> None:
    """Replace a data set, or a stream without end, by the few real rows that stand for it.

    \b
    supersample summarize taxi.parquet -o taxi.ss --report taxi.html
    supersample summarize today.csv --like taxi.ss -o today.ss
    supersample compare taxi.ss today.ss --fail-on-drift
    supersample history 'logs/*.csv' --time when --every 1h --season 1d --report timeline.html

    Results go to standard output, messages and progress to standard error.
    """


for _name, (_, _line) in COMMANDS.items():
    group.add_command(click.Command(_name, short_help=_line))
