"""One source of many files, of any mix of formats, whose columns agree."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from supersample._text import one_line
from supersample.errors import InputError, MismatchError, SupersampleError
from supersample.records.sources.base import Batches, Source, after, guarded, pieces
from supersample.records.sources.ipc import FILE_MAGIC, ipc_file_batches, ipc_file_outline, ipc_stream_reader
from supersample.records.sources.parquet import parquet_batches, parquet_outline
from supersample.records.sources.paths import COMPRESSIONS, expand, format_of
from supersample.records.sources.schema import conform, plain_schema, promote
from supersample.records.sources.text import TEXT_HINT, csv_reader, ndjson_reader

__all__ = ["DataFile", "open_file", "open_files"]

_DAMAGED = "the file may be damaged or incomplete: write it again, or leave it out"
_ENCODED = "text must be UTF-8: convert the file, with `iconv -f latin1 -t utf-8` for one"
_BY_LINE = "; of JSON, each line must be one object, as `jq -c .` writes it"


@dataclass(frozen=True)
class DataFile:
    """One file: its columns, its number of rows if the file states it, and how to read it as `schema` from row `skip` on."""

    path: Path
    schema: pa.Schema
    n_rows: int | None
    read: Callable[[pa.Schema, int], Batches]
    hint: str = _DAMAGED


def open_files(given: Sequence[str | PathLike[str]]) -> Source:
    """Open paths, globs and folders as one source.

    Every file is first opened for its columns alone, so that files that do not fit together are refused before hours of
    reading.
    """
    files = [open_file(path) for path in expand(given)]
    schema = files[0].schema
    for file in files[1:]:
        schema = _promoted(schema, file, files[0])
    counts = [file.n_rows for file in files]
    known = [[str(file.path.resolve()), file.path.stat().st_size, file.path.stat().st_mtime_ns] for file in files]
    return Source(
        label=files[0].path.name if len(files) == 1 else f"{len(files)} files",
        schema=schema,
        n_rows=None if None in counts else sum(count or 0 for count in counts),
        identity={"kind": "files", "files": known},
        batches=lambda skip: _read(files, schema, skip),
    )


def open_file(path: Path, name: str | None = None) -> DataFile:
    """Open one file in the format of its extension; `name` is its name in messages."""
    name, wanted = name or str(path), format_of(path) or "parquet"
    try:
        if path.stat().st_size == 0:
            raise InputError(f"source: {name} must hold data, got a file of zero bytes; write it again, or leave it out")
        file = _OPENERS[wanted](path)
        return DataFile(path, plain_schema(file.schema, name), file.n_rows, file.read, file.hint)
    except SupersampleError:
        raise
    except Exception as error:
        told = one_line(error)
        badly_encoded = isinstance(error, UnicodeDecodeError) or "invalid utf" in told.lower()
        hint = _ENCODED if badly_encoded and wanted in ("csv", "ndjson") else _DAMAGED + _BY_LINE * (wanted == "ndjson")
        raise InputError(f"source: {name} must be a readable {wanted} file, as its extension tells: {told}; {hint}") from error


def _promoted(schema: pa.Schema, file: DataFile, first: DataFile) -> pa.Schema:
    try:
        return promote(schema, file.schema, str(file.path))
    except MismatchError as error:
        raise MismatchError(f"{error} (the first file is {str(first.path)!r})") from error


def _read(files: list[DataFile], schema: pa.Schema, skip: int) -> Batches:
    for file in files:
        if file.n_rows is not None and skip >= file.n_rows:
            skip -= file.n_rows
            continue
        # A file of unknown length is read from its start, so that the skipped rows can be counted.
        start = skip if file.n_rows is not None else 0
        where = str(file.path)
        for batch in guarded(file.read(schema, start), where, file.hint, start):
            rest = 0 if file.n_rows is not None else min(skip, batch.num_rows)
            skip -= rest
            for piece in pieces(batch.slice(rest)):
                yield conform(piece, schema, where)
        if file.n_rows is not None:
            skip = 0


def _parquet(path: Path) -> DataFile:
    schema, n_rows = parquet_outline(path)
    return DataFile(path, schema, n_rows, lambda _, skip: parquet_batches(path, skip))


def _arrow(path: Path) -> DataFile:
    with path.open("rb") as file:
        whole = file.read(len(FILE_MAGIC)) == FILE_MAGIC
    if whole:
        schema, n_rows = ipc_file_outline(path)
        return DataFile(path, schema, n_rows, lambda _, skip: after(ipc_file_batches(path), skip))
    with _bytes(path) as stream:
        schema = ipc_stream_reader(stream)[0]
    return DataFile(path, schema, None, lambda _, skip: after(_streamed(path), skip))


def _streamed(path: Path) -> Batches:
    with _bytes(path) as stream:
        yield from ipc_stream_reader(stream)[1]


def _csv(path: Path) -> DataFile:
    delimiter = "\t" if ".tsv" in path.name.lower() else None
    with _bytes(path) as stream:
        schema = csv_reader(stream, delimiter=delimiter)[0]

    def read(schema: pa.Schema, skip: int) -> Batches:
        with _bytes(path) as stream:
            yield from after(csv_reader(stream, schema, delimiter=delimiter)[1], skip)

    return DataFile(path, schema, None, read, TEXT_HINT)


def _ndjson(path: Path) -> DataFile:
    with _bytes(path) as stream:
        schema = ndjson_reader(stream)[0]

    def read(schema: pa.Schema, skip: int) -> Batches:
        with _bytes(path) as stream:
            yield from after(ndjson_reader(stream, schema)[1], skip)

    return DataFile(path, schema, None, read, TEXT_HINT)


_OPENERS = {"parquet": _parquet, "arrow": _arrow, "csv": _csv, "ndjson": _ndjson}


@contextmanager
def _bytes(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading, decompressed if its extension names a compression."""
    with pa.input_stream(str(path), compression=COMPRESSIONS.get(path.suffix.lower())) as stream:
        yield stream
