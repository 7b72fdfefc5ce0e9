"""Ctrl-C ends the process at once while it starts, and raises KeyboardInterrupt while it works.

An exception does not stop imports reliably: Python runs code of its own between modules, and an exception raised there is
printed with a traceback and then lost. At the start there is nothing to clean up, so the process can just end. If an import
runs during work (PyArrow imports pandas with the first column), the exception is delayed until the import is done; so it is in
callbacks from C, which lose exceptions too.
"""

import _thread
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from supersample.cli import end

__all__ = ["install", "starting", "working"]

_working = False
_main = _thread.get_ident()
_BINDING = f"llvmlite{os.sep}binding"


def install() -> None:
    """Install the handler of Ctrl-C, in the main thread."""
    global _main
    _main = _thread.get_ident()
    signal.signal(signal.SIGINT, _interrupted)


@contextmanager
def starting() -> Iterator[None]:
    """Let Ctrl-C end the process at once: for slow imports, while no file is being written."""
    with _phase(working=False):
        yield


@contextmanager
def working() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt, so that unfinished work can be cleaned up."""
    with _phase(working=True):
        yield


@contextmanager
def _phase(*, working: bool) -> Iterator[None]:
    global _working
    before, _working = _working, working
    try:
        yield
    finally:
        _working = before


def _interrupted(number: int, frame: FrameType | None) -> None:
    if not _working:
        end()
    if not _is_lost(frame):
        signal.default_int_handler(number, frame)
    # Not with `threading`: the interrupted code may hold its locks.
    _thread.start_new_thread(_again, (number,))


def _is_lost(frame: FrameType | None) -> bool:
    """Return whether an exception would be printed and lost here: in the import system, in a callback from C, or in a wrapper.

    threadpoolctl lists the libraries of the process by such a callback; objects of llvmlite's binding that were interrupted
    while they are made fail again when they are dropped.
    """
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith("<frozen importlib") or name.endswith("threadpoolctl.py") or _BINDING in name:
            return True
        frame = frame.f_back
    return False


def _again(number: int) -> None:
    time.sleep(0.01)
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(_main, number)  # wakes it, if it waits
    else:
        signal.raise_signal(number)
