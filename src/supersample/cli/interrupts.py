"""Ctrl-C ends the process at once while it starts, and raises KeyboardInterrupt while it works.

An exception does not stop imports reliably: Python runs code of its own between modules, and what is raised there is printed
with a traceback and then lost. At the start nothing has to be put in order, so the process can just end. Where an import
interrupts work (PyArrow imports pandas when it first meets a column), the exception waits until the import is done.
"""

import _thread
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

__all__ = ["STOPPED", "end", "install", "starting", "working"]

#: The exit status of what Ctrl-C stopped, as shells have it: 128 and the number of the signal.
STOPPED = 130

_working = False


def install() -> None:
    """Decide from now on what Ctrl-C does, unless the caller had it ignored, as shells do for jobs in the background."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupted)


@contextmanager
def starting() -> Iterator[None]:
    """Let Ctrl-C end the process at once: for imports that take long, while no file is being written."""
    with _phase(working=False):
        yield


@contextmanager
def working() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt, so that what is half done can be put in order."""
    with _phase(working=True):
        yield


def end() -> NoReturn:
    """End the process as one that Ctrl-C stopped, without running anything else."""
    try:
        if sys.stderr is not None:  # None where the caller closed it; then 2 may be the number of another file
            os.write(2, b"stopped\n")  # no buffer that the interrupted code may be writing to itself
    finally:
        os._exit(STOPPED)


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
    if not _imports(frame):
        signal.default_int_handler(number, frame)
    # Not by threading, whose locks the interrupted code may hold.
    _thread.start_new_thread(_again, (number,))


def _imports(frame: FrameType | None) -> bool:
    """Tell whether the import system is at work in this frame or in one that called it."""
    while frame is not None and not frame.f_code.co_filename.startswith("<frozen importlib"):
        frame = frame.f_back
    return frame is not None


def _again(number: int) -> None:
    time.sleep(0.01)
    signal.raise_signal(number)
