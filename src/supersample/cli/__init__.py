"""The command line: summarize, compare, merge, show, report, demo."""

from supersample.cli.group import main

__all__ = ["main"]
