"""Files that users name: read with errors that say why not, written atomically."""

import errno
import hashlib
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

from supersample.errors import InputError, InputTypeError

__all__ = ["as_path", "behind_link", "beside", "read_file", "unwritable", "write_atomically"]

#: Bytes of a name that leave room for the endings of files beside it; file systems allow at most 255.
_LONGEST = 200
#: Some file systems cannot flush folders, or not without permission to list them; the files in them are complete anyway.
_NOT_FLUSHED = (errno.EACCES, errno.EINVAL, errno.ENOTSUP)


def as_path(path: Any, name: str) -> Path:
    """Return a user's argument as a path."""
    if not isinstance(path, str | os.PathLike):
        raise InputTypeError(f"{name} must be a path, got {type(path).__name__}")
    made = Path(path)
    if not made.name or "\0" in str(made):
        raise InputError(f"{name} must name a file, got {str(path)!r}")
    return made


def read_file(path: Path, name: str) -> bytes:
    """Return the bytes of the file given by the argument `name`, or raise an error that says why not."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{name} must name a readable file, got {str(path)!r}: {error.strerror}; check its name") from error


def behind_link(path: Path, name: str) -> Path:
    """Return the file that a symbolic link points to, so that writing does not replace the link; else the path itself."""
    try:
        return Path(os.path.realpath(path)) if stat.S_ISLNK(path.lstat().st_mode) else path
    except FileNotFoundError:
        return path
    except OSError as error:
        raise unwritable(path, name, error) from error


def beside(path: Path, ending: str) -> Path:
    """Return the path of a hidden file in the same folder, with a name that is unique to this path and not too long.

    >>> beside(Path("run.checkpoint"), "lock").name
    '.run.checkpoint.lock'
    """
    name, encoded = path.name, os.fsencode(path.name)
    if len(encoded) > _LONGEST:
        digest = hashlib.sha256(encoded).hexdigest()[:16]
        name = f"{encoded[: _LONGEST - 17].decode(errors='ignore')}-{digest}"
    return path.with_name(f".{name}.{ending}")


def unwritable(path: Path, name: str, error: OSError) -> InputError:
    """Return the error for a file, given by the argument `name`, that cannot be written."""
    what = "choose another place, or make room in this one"
    if error.errno == errno.ENOENT and not path.parent.is_dir():
        what = f"create the folder {str(path.parent)!r} first"
    return InputError(f"{name} must name a file that can be written, got {str(path)!r}: {error.strerror}; {what}")


def write_atomically(path: Path, data: bytes, name: str) -> None:
    """Write a file atomically: its path holds the old contents or the new ones, even after a power cut.

    name: the argument that gave the path, for messages.
    """
    partial = beside(path, f"{secrets.token_hex(4)}.partial")
    try:
        with partial.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        raise unwritable(path, name, error) from error
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
    try:
        _flush_folder(path.parent)
    except OSError as error:
        if error.errno not in _NOT_FLUSHED:
            raise InputError(
                f"{name} names a file that was written whole, {str(path)!r}, but its folder could not be flushed to the disk: "
                f"{error.strerror}; a power cut may bring the old file back, so write it again or elsewhere"
            ) from error


def _flush_folder(folder: Path) -> None:
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
