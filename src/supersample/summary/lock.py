"""One run at a time: a lock that dies with the process that holds it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from supersample.errors import InputError

try:
    import fcntl
except ImportError:  # pragma: no cover - systems without POSIX locks run without one
    fcntl = None  # type: ignore[assignment]

__all__ = ["alone"]


@contextmanager
def alone(path: Path, what: str) -> Iterator[None]:
    """Hold a lock beside `path` for as long as the block runs; refuse if another process holds it.

    The lock belongs to the open file, so that a killed process leaves none behind, only an empty file that the next run
    takes over.
    """
    if fcntl is None or not path.parent.is_dir():
        yield
        return
    name = path.with_name(f".{path.name}.lock")
    while True:
        lock = os.open(name, os.O_CREAT | os.O_RDWR, 0o644)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(lock)
            raise InputError(
                f"{what} {str(path)!r} is in use by another run; wait for it to end, or give this one a file of its own"
            ) from error
        # The run before may have removed the file between our opening and locking it.
        if name.exists() and os.fstat(lock).st_ino == name.stat().st_ino:
            break
        os.close(lock)
    try:
        yield
    finally:
        name.unlink(missing_ok=True)
        os.close(lock)
