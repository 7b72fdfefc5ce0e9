"""The command line: summarize, compare, history, watch, merge, show, report, demo."""

# These modules are there when Python starts: no file is read, and no import interrupted, before Ctrl-C is handled.
import _signal  # type: ignore[import-not-found]
import os
import sys

__all__ = ["STOPPED", "end", "main"]

#: The exit status after Ctrl-C, as in shells: 128 plus the number of the signal.
STOPPED = 130


def main() -> None:
    """Run the command `supersample`; Ctrl-C stops it from here on."""
    # A caller that ignores the signal, as shells do for background jobs, is left alone.
    handled = _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler
    if handled:
        _signal.signal(_signal.SIGINT, end)
    from supersample.cli import interrupts

    if handled:
        interrupts.install()
    from supersample.cli.group import group

    try:
        group(prog_name="supersample")
    except SystemExit as stop:
        if stop.code == STOPPED:
            _leave()
        if handled:  # all is done: as the interpreter ends it drops our handler, and the signal would take the status along
            _signal.signal(_signal.SIGINT, _signal.SIG_IGN)
        raise


def _leave() -> None:
    """End the process after Ctrl-C, once all is cleaned up: libraries may be at work in threads, and crash in a usual end."""
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):
        pass  # the caller reads no more
    os._exit(STOPPED)


def end(*_: object) -> None:
    """End the process with the exit status of Ctrl-C, without running anything else; a handler of signals."""
    try:
        if sys.stderr is not None:  # None if the caller closed it; then 2 may be the number of another file
            os.write(2, b"stopped\n")  # unbuffered: the interrupted code may be writing to the buffer
    finally:
        os._exit(STOPPED)
