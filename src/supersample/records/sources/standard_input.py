"""Rows from standard input or another stream of bytes, in the format that the first bytes identify.

Text and Arrow streams are read as they arrive and may be endless. Parquet and Arrow files have their index at the end, so they
are written to a temporary file first.
"""

import io
import shutil
import sys
import tempfile
import weakref
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from supersample._text import one_line
from supersample.errors import InputError, SupersampleError
from supersample.records.sources.base import Batches, Source, guarded, once, pieces
from supersample.records.sources.files import open_file
from supersample.records.sources.ipc import FILE_MAGIC, STREAM_MAGIC, ipc_stream_reader
from supersample.records.sources.schema import conform, plain_schema
from supersample.records.sources.text import PIPE_HINT, TEXT_HINT, csv_reader, ndjson_reader

__all__ = ["open_standard_input", "open_stream"]

_PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd"}
_HEAD = 16
_PIECE = 1 << 20
_BROKEN = "what writes to it may have stopped early"


def open_standard_input() -> Source:
    """Open standard input as a source that can be read once."""
    if sys.stdin is None or sys.stdin.isatty():
        raise InputError("source '-' must have rows on standard input, got a terminal; pipe a file into the command")
    return open_stream(sys.stdin.buffer, "standard input")


def open_stream(stream: BinaryIO, label: str) -> Source:
    """Open a stream of bytes as a source that can be read once."""
    try:
        return _open(_Headed(stream), label)
    except SupersampleError:
        raise
    except Exception as error:
        raise InputError(f"source: {label} must be Parquet, Arrow, NDJSON or CSV: {one_line(error)}; {_BROKEN}") from error


def _open(stream: "_Headed", label: str) -> Source:
    head = stream.head
    if not head:
        raise InputError(f"source: {label} must hold data, got zero bytes; {_BROKEN}")
    for magic, codec in _PACKED.items():
        if head.startswith(magic):
            return _open(_Headed(pa.CompressedInputStream(_file(stream), codec)), label)
    if head.startswith((b"PAR1", FILE_MAGIC)):
        return _spooled(stream, ".parquet" if head.startswith(b"PAR1") else ".arrow", label)
    if head.startswith(STREAM_MAGIC):
        return _once(*ipc_stream_reader(_file(stream)), label, _BROKEN)
    if head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"["):
        return _once(*ndjson_reader(stream), label, TEXT_HINT)
    return _once(*csv_reader(stream), label, PIPE_HINT)


def _once(schema: pa.Schema, batches: Batches, label: str, hint: str) -> Source:
    plain = plain_schema(schema, label)
    cut = (conform(piece, plain, label) for batch in guarded(batches, label, hint) for piece in pieces(batch))
    return Source(label, plain, None, {}, once(cut, label))


def _spooled(stream: "_Headed", suffix: str, label: str) -> Source:
    folder = Path(tempfile.mkdtemp(prefix="supersample-"))
    try:
        path = folder / f"input{suffix}"
        with path.open("wb") as file:
            shutil.copyfileobj(stream, file, _PIECE)
        found = open_file(path, label)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    # The folder is removed with its reader or at the end of the process, whichever comes first.
    weakref.finalize(found, shutil.rmtree, folder, ignore_errors=True)

    def batches() -> Batches:
        for batch in guarded(found.read(found.schema, 0), label, _BROKEN):
            yield from (conform(piece, found.schema, label) for piece in pieces(batch))

    return Source(label, found.schema, found.n_rows, {}, once(batches(), label))


def _file(stream: "_Headed") -> pa.PythonFile:
    return pa.PythonFile(stream, mode="r")


class _Headed(io.RawIOBase):
    """A stream with its first bytes in `head`; reading still starts with them.

    It reads what is available, in repeated calls: one call for many bytes can miss an interrupt by the user, since Python
    handles signals between calls.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._some = getattr(stream, "read1", stream.read)
        self._rest = b""
        self._rest = self.head = self.read(_HEAD)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        size = sys.maxsize if size < 0 else size
        parts, self._rest = [self._rest[:size]], self._rest[size:]
        missing = size - len(parts[0])
        while missing and (more := self._some(min(missing, _PIECE))):
            parts.append(more)
            missing -= len(more)
        return b"".join(parts)
