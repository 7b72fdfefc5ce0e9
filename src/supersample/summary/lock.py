"""One run at a time: a lock that dies with the process that holds it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from supersample.errors import InputError
from supersample.summary.container import beside, unwritable

try:
    import fcntl

    _CAN_LOCK = True
except ImportError:  # pragma: no cover - systems without POSIX locks run without one
    _CAN_LOCK = False

__all__ = ["alone"]


@contextmanager
def alone(path: Path, name: str) -> Iterator[None]:
    """Hold a lock beside `path` for as long as the block runs; refuse if another process holds it.

    The lock belongs to the open file, so that a killed process leaves none behind, only an empty file that the next run
    takes over. name: the argument that gave the path, for messages.
    """
    if not _CAN_LOCK:
        yield
        return
    file = beside(path, "lock")
    with _locked(file, path, name):
        try:
            yield
        finally:
            with suppress(OSError):  # an empty file that stays does no harm
                file.unlink(missing_ok=True)


def _locked(file: Path, path: Path, name: str) -> BinaryIO:
    """Return the open file with the lock on it, which goes when it is closed."""
    while True:
        try:
            lock = file.open("ab")
        except OSError as error:
            raise unwritable(path, name, error) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            lock.close()
            raise InputError(
                f"{name} {str(path)!r} is in use by another run; wait for it to end, or give this one a file of its own"
            ) from error
        except OSError as error:
            lock.close()
            raise InputError(
                f"{name} must name a file on a disk that can lock files, so that no two runs write it at once, got "
                f"{str(path)!r}: {error.strerror}; choose a folder on a local disk"
            ) from error
        with suppress(FileNotFoundError):
            # The run before may have removed the file between our opening and locking it.
            if os.path.samestat(os.fstat(lock.fileno()), file.stat()):
                return lock
        lock.close()
