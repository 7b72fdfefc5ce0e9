"""Writing a file so that nobody ever sees half of it."""

import os
import tempfile
from pathlib import Path

from supersample.errors import InputError

__all__ = ["write_whole"]


def write_whole(path: str | os.PathLike[str], text: str) -> Path:
    """Write text to a file by way of another in the same folder: under the final name there is the old file or the new one."""
    target = Path(path)
    if not target.parent.is_dir():
        raise InputError(f"path: the folder {str(target.parent)!r} does not exist; create it first, or write elsewhere")
    if target.is_dir():
        raise InputError(f"path: {str(target)!r} is a folder; name a file in it, such as {str(target / 'report.html')!r}")
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name[:100]}.", suffix=".part", dir=target.parent)
    except OSError as error:
        raise InputError(f"path: cannot write into the folder {str(target.parent)!r}: {error.strerror}") from error
    part = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.chmod(0o666 & ~_umask())
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return target


def _umask() -> int:
    """Return the permissions that new files are not given; the system tells only by changing them."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
