"""File formats: the extensions that name each, and how a file of it is opened. All are found through one registry."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa

from supersample._registry import Registry
from supersample.records.sources.base import Batches, Positions, after, between
from supersample.records.sources.ipc import (
    FILE_MAGIC,
    ipc_file_batches,
    ipc_file_between,
    ipc_file_outline,
    ipc_file_rows,
    ipc_stream_reader,
)
from supersample.records.sources.locations import Location, Remote, byte_stream
from supersample.records.sources.nested import deepened, wanted
from supersample.records.sources.npy import npy_batches, npy_outline, npy_picked
from supersample.records.sources.parquet import parquet_batches, parquet_outline, parquet_rows
from supersample.records.sources.text import TEXT_HINT, Bytes, csv_reader, ndjson_reader
from supersample.records.sources.text_index import TextIndex, csv_index, ndjson_index

__all__ = ["COMPRESSIONS", "DAMAGED", "FORMATS", "DataFile", "Format", "Rows"]

#: The second extensions of compressed text files, and their compressions.
COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
DAMAGED = "the file may be damaged or incomplete: write it again, or leave it out"


class Rows(NamedTuple):
    """The rows of a file by position: how many there are, and `take(schema, positions)`, which reads some of them.

    `between(schema, start, stop)` reads the rows from start to stop, without those before; None if `take` does it as well.
    """

    n_rows: int
    take: Callable[[pa.Schema, Positions], Batches]
    between: Callable[[pa.Schema, int, int], Batches] | None = None

    def part(self, schema: pa.Schema, start: int, stop: int) -> Batches:
        """Yield the rows from `start` to `stop`."""
        if self.between is None:
            return self.take(schema, np.arange(start, stop, dtype=np.int64))
        return self.between(schema, start, stop)


@dataclass(frozen=True)
class DataFile:
    """One file: its columns, its number of rows if the file states it, and how to read it as `schema` from row `skip` on.

    `read` may leave out columns that the schema does not have, or give them all; the reader of all files removes them.
    `rows` finds its rows by position, for text by a pass over the file; None if they can only be read in order.
    """

    path: Location
    schema: pa.Schema
    n_rows: int | None
    read: Callable[[pa.Schema, int], Batches]
    hint: str = DAMAGED
    rows: Callable[[], Rows] | None = None


class Format(NamedTuple):
    """A file format: the extensions that name it, how a file is opened, and whether text of it may be compressed."""

    extensions: tuple[str, ...]
    open: Callable[[Any], DataFile]
    is_text: bool = False


def _parquet(path: Location) -> DataFile:
    schema, n_rows = parquet_outline(path)

    def rows() -> Rows:
        def part(asked: pa.Schema, start: int, stop: int) -> Batches:
            return between(read(asked, start), stop - start)

        return Rows(n_rows, lambda asked, positions: parquet_rows(path, positions, wanted(schema, asked)), part)

    def read(asked: pa.Schema, skip: int) -> Batches:
        return parquet_batches(path, skip, wanted(schema, asked))

    return DataFile(path, schema, n_rows, read, rows=rows)


def _arrow(path: Location) -> DataFile:
    with path.open("rb") as file:
        whole = file.read(len(FILE_MAGIC)) == FILE_MAGIC
    if whole:
        return _arrow_file(path)
    with _bytes(path) as stream:
        schema = ipc_stream_reader(stream)[0]
    return DataFile(path, schema, None, lambda _, skip: after(_streamed(path), skip))


def _arrow_file(path: Location) -> DataFile:
    schema, counts = ipc_file_outline(path)

    def fields(asked: pa.Schema) -> list[int] | None:
        whole = [wanted(pa.schema([field]), asked) != [] for field in schema]
        return None if all(whole) else [place for place, kept in enumerate(whole) if kept]

    def read(asked: pa.Schema, skip: int) -> Batches:
        return after(ipc_file_batches(path, fields(asked)), skip)

    def rows() -> Rows:
        def part(asked: pa.Schema, start: int, stop: int) -> Batches:
            return ipc_file_between(path, counts, start, stop, fields(asked))

        return Rows(sum(counts), lambda asked, positions: ipc_file_rows(path, counts, positions, fields(asked)), part)

    return DataFile(path, schema, sum(counts), read, rows=rows)


def _streamed(path: Location) -> Batches:
    with _bytes(path) as stream:
        yield from ipc_stream_reader(stream)[1]


def _csv(path: Location) -> DataFile:
    delimiter = "\t" if ".tsv" in path.name.lower() else None
    with _bytes(path) as stream:
        schema = csv_reader(stream, delimiter=delimiter)[0]
    names = schema.names

    def read(asked: pa.Schema, skip: int) -> Batches:
        with _bytes(path) as stream:
            yield from after(csv_reader(stream, asked, delimiter=delimiter, names=names)[1], skip)

    return DataFile(path, schema, None, read, TEXT_HINT, _text_rows(path, lambda stream: csv_index(stream, delimiter)))


def _ndjson(path: Location) -> DataFile:
    with _bytes(path) as stream:
        nested = ndjson_reader(stream)[0]

    def read(schema: pa.Schema, skip: int) -> Batches:
        with _bytes(path) as stream:
            yield from after(ndjson_reader(stream, deepened(nested, schema))[1], skip)

    rows = _text_rows(path, lambda stream: ndjson_index(stream, lambda schema: deepened(nested, schema)))
    return DataFile(path, nested, None, read, TEXT_HINT, rows)


def _text_rows(path: Location, index: Callable[[Bytes], TextIndex]) -> Callable[[], Rows] | None:
    """Return what finds the rows of a text file by position; None if it is compressed or remote, and so read in order alone."""
    if path.suffix.lower() in COMPRESSIONS or isinstance(path, Remote):
        return None

    @cache
    def rows() -> Rows:
        with path.open("rb") as file:
            found = index(file)

        def part(schema: pa.Schema, start: int, stop: int) -> Batches:
            with path.open("rb") as file:
                yield from found.between(file, schema, start, stop)

        return Rows(found.n_rows, lambda schema, positions: take(found, schema, positions), part)

    def take(found: TextIndex, schema: pa.Schema, positions: Positions) -> Batches:
        with path.open("rb") as file:
            yield from found.take(file, schema, positions)

    return rows


def _npy(path: Location) -> DataFile:
    with path.open("rb") as file:
        stored = npy_outline(file)

    def read(_: pa.Schema, skip: int) -> Batches:
        with path.open("rb") as file:
            yield from npy_batches(file, stored, skip)

    def take(_: pa.Schema, positions: Positions) -> Batches:
        with path.open("rb") as file:
            yield from npy_picked(file, stored, positions)

    def part(asked: pa.Schema, start: int, stop: int) -> Batches:
        return between(read(asked, start), stop - start)

    return DataFile(path, stored.schema, stored.n_rows, read, rows=lambda: Rows(stored.n_rows, take, part))


@contextmanager
def _bytes(path: Location) -> Iterator[BinaryIO]:
    """Open a file for reading, decompressed if its extension names a compression."""
    with byte_stream(path, COMPRESSIONS.get(path.suffix.lower())) as stream:
        yield stream


#: The formats of files; a new one is a function and a line here.
FORMATS: Registry[Format] = Registry(
    "format",
    {
        "parquet": Format((".parquet", ".pq"), _parquet),
        "csv": Format((".csv", ".tsv"), _csv, is_text=True),
        "arrow": Format((".arrow", ".arrows", ".ipc", ".feather"), _arrow),
        "ndjson": Format((".ndjson", ".jsonl", ".json"), _ndjson, is_text=True),
        "npy": Format((".npy",), _npy),
    },
)
