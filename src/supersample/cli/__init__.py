"""The command line: summarize, compare, merge, show, report, demo."""

__all__ = ["main"]


def main() -> None:
    """Run the command `supersample`; Ctrl-C stops it from here on."""
    # These modules are there when Python starts: no file is read, and no import interrupted, before the handler is in place.
    import _signal  # type: ignore[import-not-found]
    import os
    import sys

    def end(*_: object) -> None:
        try:
            if sys.stderr is not None:
                os.write(2, b"stopped\n")
        finally:
            os._exit(130)

    # A caller that ignores the signal, as shells do for background jobs, is left alone.
    heeded = _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler
    if heeded:
        _signal.signal(_signal.SIGINT, end)
    from supersample.cli import interrupts

    if heeded:
        interrupts.install()
    from supersample.cli.group import group

    group(prog_name="supersample")
