"""One file: a header, arrays, one table, and a checksum over all of it; written whole or not at all.

Layout, all numbers little-endian: the eight bytes SUPERSMP; the format version (4 bytes); the length of the header (8 bytes);
the header, JSON; the arrays one after the other; the table as an Arrow IPC stream; the SHA-256 digest of everything before it.
"""

import errno
import hashlib
import json
import os
import secrets
import stat
import struct
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from supersample.errors import InputError, InputTypeError

__all__ = [
    "DAMAGE", "FORMAT_VERSION", "Contents", "as_path", "behind_link", "beside", "from_bytes", "read_file", "to_bytes",
    "unwritable", "write_atomically",
]  # fmt: skip

FORMAT_VERSION = 1
_MAGIC = b"SUPERSMP"
_PREFIX = struct.Struct("<8sIQ")
_DIGEST = hashlib.sha256().digest_size
_DTYPES = {each: np.dtype(each) for each in ("<f4", "<f8", "<i8")}
#: What bytes that are not ours can raise while they are taken apart and put together again; Arrow raises OSError for a stream
#: that ends too early.
DAMAGE = (
    LookupError, TypeError, ValueError, AttributeError, AssertionError, ArithmeticError, RecursionError, MemoryError, OSError,
    pa.ArrowException,
)  # fmt: skip
#: Bytes of a name that leave room for what is added to the names of files beside it; 255 is the most that systems take.
_LONGEST = 200
#: Folders of some file systems cannot be flushed, or not by those who may not list them; what is in them is whole all the same.
_NOT_FLUSHED = (errno.EACCES, errno.EINVAL, errno.ENOTSUP)
#: Arrays of more dimensions than this do not occur.
_MOST_AXES = 3


@dataclass(frozen=True)
class Contents:
    """What a file holds: a header of plain values, arrays, and a table."""

    header: Mapping[str, Any]
    arrays: Sequence[np.ndarray[Any, Any]]
    table: pa.Table


def to_bytes(contents: Contents) -> bytes:
    """Return the bytes of a file; the same contents give the same bytes."""
    arrays = [np.ascontiguousarray(array) for array in contents.arrays]
    described = [{"dtype": array.dtype.newbyteorder("<").str, "shape": list(array.shape)} for array in arrays]
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, contents.table.schema) as writer:
        writer.write_table(contents.table)
    table = sink.getvalue()
    whole = {"contents": contents.header, "arrays": described, "table": table.size}
    header = json.dumps(whole, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()
    body = b"".join([_PREFIX.pack(_MAGIC, FORMAT_VERSION, len(header)), header, *(each.tobytes() for each in arrays), table])
    return body + hashlib.sha256(body).digest()


def from_bytes(data: bytes, name: str) -> Contents:
    """Return what a file holds; anything but bytes that `to_bytes` made ends in an error that says what is wrong."""
    if data[:8] != _MAGIC:
        raise InputError(f"{name} must be a file that Summary.save wrote; its first bytes say that it is something else")
    if len(data) < _PREFIX.size + _DIGEST:
        raise InputError(f"{name} is cut off after {len(data)} bytes; copy it again or make it anew")
    _, version, length = _PREFIX.unpack_from(data)
    body, digest = data[:-_DIGEST], data[-_DIGEST:]
    if hashlib.sha256(body).digest() != digest:
        raise InputError(f"{name} is damaged or cut off: its checksum does not fit; copy it again or make it anew")
    if version != FORMAT_VERSION:
        raise InputError(
            f"{name} has format version {version} and this supersample reads version {FORMAT_VERSION}; use a newer release, or "
            f"make the summary anew"
        )
    try:
        return _parsed(body, length)
    except DAMAGE as error:
        raise InputError(f"{name} does not hold a summary, though its checksum fits ({error}); make it anew") from error


def _parsed(body: bytes, length: int) -> Contents:
    start = _PREFIX.size
    header = _header(body[start : start + length])
    at = start + length
    arrays = []
    for each in header["arrays"]:
        dtype, shape = _DTYPES[each["dtype"]], each["shape"]
        if len(shape) > _MOST_AXES or not all(type(n) is int and n >= 0 for n in shape):
            raise ValueError(f"an array cannot have the shape {shape}")
        size = dtype.itemsize * int(np.prod(shape, dtype=object))
        if size > len(body) - at:
            raise ValueError("an array is longer than the file")
        native = np.frombuffer(body, dtype, size // dtype.itemsize, at).reshape(shape).astype(dtype.newbyteorder("="))
        arrays.append(native)
        at += size
    if header["table"] != len(body) - at:
        raise ValueError("the table has another length than the header says")
    table = pa.ipc.open_stream(pa.py_buffer(body[at:])).read_all()
    if table.nbytes > len(body):
        raise ValueError("the table is larger than the file: it was compressed, which no summary is")
    table.validate(full=True)
    return Contents(header["contents"], arrays, table)


def _header(data: bytes) -> Any:
    """Return what a header says, if all of its numbers and characters are such."""

    def refuse(name: str) -> None:
        raise ValueError(f"the header holds {name}, which is no number")

    header = json.loads(data.decode(), parse_constant=refuse)
    if b"\\ud" in data.lower():  # an escape that may be half of a character
        try:
            json.dumps(header, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            raise ValueError("the header holds half of a character") from error
    return header


def as_path(path: Any, name: str) -> Path:
    """Return a path from what users write."""
    if not isinstance(path, str | os.PathLike):
        raise InputTypeError(f"{name} must be a path, got {type(path).__name__}")
    made = Path(path)
    if not made.name or "\0" in str(made):
        raise InputError(f"{name} must name a file, got {str(path)!r}")
    return made


def read_file(path: Path, name: str) -> bytes:
    """Return the bytes of the file that the argument `name` gave, or say why not."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{name} must name a readable file, got {str(path)!r}: {error.strerror}; check its name") from error


def behind_link(path: Path, name: str) -> Path:
    """Return the file that a symbolic link points to, which writing would replace by another file; else the path itself."""
    try:
        return Path(os.path.realpath(path)) if stat.S_ISLNK(path.lstat().st_mode) else path
    except FileNotFoundError:
        return path
    except OSError as error:
        raise unwritable(path, name, error) from error


def beside(path: Path, ending: str) -> Path:
    """Return the path of a hidden file in the same folder, whose name belongs to this path alone and is never too long.

    >>> beside(Path("run.checkpoint"), "lock").name
    '.run.checkpoint.lock'
    """
    name, encoded = path.name, os.fsencode(path.name)
    if len(encoded) > _LONGEST:
        digest = hashlib.sha256(encoded).hexdigest()[:16]
        name = f"{encoded[: _LONGEST - 17].decode(errors='ignore')}-{digest}"
    return path.with_name(f".{name}.{ending}")


def unwritable(path: Path, name: str, error: OSError) -> InputError:
    """Return what to raise where the file that the argument `name` gave cannot be written."""
    return InputError(
        f"{name} must name a file that can be written, got {str(path)!r}: {error.strerror}; choose another place, or make room "
        f"in this one"
    )


def write_atomically(path: Path, data: bytes, name: str) -> None:
    """Write a file so that its path shows the old contents or the new ones, never a part, even after a power cut.

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
