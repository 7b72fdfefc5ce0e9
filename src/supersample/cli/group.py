"""The command `supersample`, and how it ends: with results, with one line on what went wrong, or stopped by the user.

Results go to standard output, all else to standard error. Exit status: 0 done, 1 drift found where that was asked to fail,
2 bad usage or input, 130 stopped by Ctrl-C, 141 nobody reads the output any more.
"""

import os
import sys
from typing import Any

import click

from supersample.cli.compare import compare
from supersample.cli.demo import demo
from supersample.cli.output import say
from supersample.cli.stored import merge, report, show
from supersample.cli.summarize import summarize
from supersample.errors import SupersampleError

__all__ = ["main"]


class _Group(click.Group):
    """Commands whose failures are told in one line, without a traceback, unless they are faults of the program."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was asked for."""
        try:
            done = super().invoke(ctx)
            if sys.stdout is not None:  # None where the caller closed it: then results go nowhere, as was asked for
                sys.stdout.flush()
        except BrokenPipeError:
            # What is still unwritten would fail again when the process ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(141)
        except (SupersampleError, OSError) as error:
            say(f"error: {' '.join(str(error).split())}")
            ctx.exit(2)
        except KeyboardInterrupt:
            say("stopped")
            ctx.exit(130)
        return done


@click.group(name="supersample", cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="supersample", prog_name="supersample")
def main() -> None:
    """Replace a data set, or a stream without end, by the few real rows that stand for it.

    \b
    supersample summarize taxi.parquet -o taxi.ss --report taxi.html
    supersample summarize today.csv --like taxi.ss -o today.ss
    supersample compare taxi.ss today.ss --fail-on-drift

    Results go to standard output, messages and progress to standard error.
    """


for _command in (summarize, compare, merge, show, report, demo):
    main.add_command(_command)
