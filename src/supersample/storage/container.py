"""One file: a header, arrays, one table, and a checksum over all of it.

Layout, all numbers little-endian: the eight bytes SUPERSMP; the format version (4 bytes); the length of the header (8 bytes);
the header, JSON; the arrays one after the other; the table as an Arrow IPC stream; the SHA-256 digest of everything before it.
"""

import hashlib
import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from supersample.errors import InputError

__all__ = ["DAMAGE", "FORMAT_VERSION", "Contents", "from_bytes", "to_bytes"]

#: The version that is written; all from 1 on are read.
FORMAT_VERSION = 3
_MAGIC = b"SUPERSMP"
_PREFIX = struct.Struct("<8sIQ")
_DIGEST = hashlib.sha256().digest_size
_DTYPES = {each: np.dtype(each) for each in ("<f4", "<f8", "<i8", "|u1")}
#: What foreign bytes can raise while they are parsed and their objects rebuilt; Arrow raises OSError for a truncated stream.
DAMAGE = (
    LookupError, TypeError, ValueError, AttributeError, AssertionError, ArithmeticError, RecursionError, MemoryError, OSError,
    pa.ArrowException,
)  # fmt: skip
#: Arrays of more dimensions than this do not occur.
_MOST_AXES = 3


@dataclass(frozen=True)
class Contents:
    """What a file holds: a header of plain values, arrays, and a table; and the format that it has."""

    header: Mapping[str, Any]
    arrays: Sequence[np.ndarray[Any, Any]]
    table: pa.Table
    version: int = FORMAT_VERSION


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
    """Return what a file holds; for bytes that `to_bytes` did not write, raise InputError that says what is wrong."""
    if data[:8] != _MAGIC:
        raise InputError(
            f"{name} must be a file that Summary.save wrote; its first bytes say that it is something else; "
            f"if it holds data, summarise it first, with `supersample summarize` or supersample.summarize"
        )
    if len(data) < _PREFIX.size + _DIGEST:
        raise InputError(f"{name} is cut off after {len(data)} bytes; copy it again or create it again")
    _, version, length = _PREFIX.unpack_from(data)
    body, digest = data[:-_DIGEST], data[-_DIGEST:]
    if hashlib.sha256(body).digest() != digest:
        raise InputError(f"{name} is damaged or cut off: its checksum does not fit; copy it again or create it again")
    if not 1 <= version <= FORMAT_VERSION:
        raise InputError(
            f"{name} has format version {version} and this supersample reads versions 1 to {FORMAT_VERSION}; use a newer "
            f"release, or create the summary again"
        )
    try:
        return _parsed(body, length, version)
    except DAMAGE as error:
        raise InputError(f"{name} does not hold a summary, though its checksum fits ({error}); create it again") from error


def _parsed(body: bytes, length: int, version: int) -> Contents:
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
    return Contents(header["contents"], arrays, table, version)


def _header(data: bytes) -> Any:
    """Return a header as plain values; refuse NaN, infinities and halves of characters."""

    def refuse(name: str) -> None:
        raise ValueError(f"the header holds {name}, which is no number")

    header = json.loads(data.decode(), parse_constant=refuse)
    if b"\\ud" in data.lower():  # an escape that may be half of a character
        try:
            json.dumps(header, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            raise ValueError("the header holds half of a character") from error
    return header
