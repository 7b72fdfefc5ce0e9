"""One run at a time: a file lock that ends with the process that holds it, on every operating system."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from supersample._files import beside, unwritable
from supersample.errors import InputError

if TYPE_CHECKING:
    from filelock import BaseFileLock

__all__ = ["exclusive_lock"]

#: A link is not followed, and a pipe in the place of the file is an error and no wait.
_FLAGS = os.O_CREAT | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


@contextmanager
def exclusive_lock(path: Path, name: str) -> Iterator[None]:
    """Hold a lock beside `path` for as long as the block runs; refuse if another run, of any process or thread, holds it.

    The lock belongs to the open file: a killed process leaves no lock behind, only an empty file that the next run reuses.
    name: the argument that gave the path, for messages.
    """
    file = beside(path, "lock")
    lock = _locked(file, path, name)
    try:
        yield
    finally:
        # The file is removed while it is locked, so that it is never the file of another run. Windows cannot remove an open
        # file; there filelock removes it after the release.
        with suppress(OSError):  # an empty file that stays does no harm
            file.unlink(missing_ok=True)
        lock.release()


def _locked(file: Path, path: Path, name: str) -> "BaseFileLock":
    """Acquire a lock of the operating system, never one that a file's existence marks: a killed run would leave it held."""
    import filelock  # not at the top: it imports asyncio, and only runs with a checkpoint need it

    native = filelock.WindowsFileLock if sys.platform == "win32" else filelock.UnixFileLock
    lock = native(file, blocking=False, fallback_to_soft=False)
    while True:
        try:
            os.close(os.open(file, _FLAGS, 0o666))  # separates files that cannot be written from those that cannot be locked
        except OSError as error:
            raise unwritable(path, name, error) from error
        try:
            lock.acquire()
        except filelock.Timeout as error:
            if not file.exists():
                continue  # the run before removed it between our opening and locking it
            raise InputError(
                f"{name} {str(path)!r} is in use by another run; wait for it to end, or give this one a file of its own"
            ) from error
        except OSError as error:
            raise InputError(
                f"{name} must name a file on a disk that can lock files, so that no two runs write it at once, got "
                f"{str(path)!r}: {error.strerror}; choose a folder on a local disk"
            ) from error
        return lock
