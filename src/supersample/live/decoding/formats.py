"""The formats of bodies: how each is recognised, and read within limits. Runs in the processes that decode."""

import io
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import pyarrow as pa
import pyarrow.json
import pyarrow.parquet as pq

from supersample.live.decoding.measuring import n_leaves, written_out
from supersample.records.sources.base import Batches, OtherTypeError, sound
from supersample.records.sources.conforming import described
from supersample.records.sources.ipc import ipc_stream_reader
from supersample.records.sources.nested import flat_fields
from supersample.records.sources.text import csv_reader, first_of

__all__ = ["ENCODINGS", "FORMATS", "MEDIA_TYPES", "BodyError", "Bounds", "Format", "OverLimitError", "decoded", "unpacked"]


class BodyError(ValueError):
    """A body cannot be used; the message quotes nothing of it."""


class OverLimitError(BodyError):
    """A body is larger than it may be, once it is read."""


@dataclass(frozen=True)
class Bounds:
    """What a body may hold once it is decompressed and decoded; columns: those without fields, at any depth."""

    decoded: int
    columns: int
    rows: int


class Format(NamedTuple):
    """A format: the media types that name it, and how it is read. text: values have no types of their own."""

    media_types: tuple[str, ...]
    read: Callable[[bytes, pa.Schema | None, Bounds], Batches]
    text: bool = False


def _csv(body: bytes, known: pa.Schema | None, _: Bounds) -> Batches:
    yield from csv_reader(io.BytesIO(body), known)[1]


def _ndjson(body: bytes, known: pa.Schema | None, _: Bounds) -> Batches:
    if not body.strip():
        return
    start = first_of(body)
    if start != b"{":  # also since the parser ends the process at a leading null
        found = "a JSON array" if start == b"[" else "something else"
        raise BodyError(f"the body must be one JSON object a line, got {found}; send one object a line")
    flat = known if known is not None and not any("." in name for name in known.names) else None
    table = pyarrow.json.read_json(
        pa.BufferReader(body),
        read_options=pyarrow.json.ReadOptions(block_size=len(body) + 1, use_threads=False),
        parse_options=pyarrow.json.ParseOptions(
            explicit_schema=flat, newlines_in_values=False, unexpected_field_behavior="infer"
        ),
    )
    for batch in table.to_batches():
        yield from sound(batch)


def _arrow(body: bytes, _: pa.Schema | None, bounds: Bounds) -> Batches:
    schema, batches = ipc_stream_reader(io.BytesIO(body))
    _check_columns(schema, bounds)
    yield from batches


def _parquet(body: bytes, _: pa.Schema | None, bounds: Bounds) -> Batches:
    with pq.ParquetFile(pa.BufferReader(body)) as file:
        about = file.metadata
        _check_columns(file.schema_arrow, bounds)
        _check_rows(about.num_rows, bounds)
        if sum(about.row_group(place).total_byte_size for place in range(about.num_row_groups)) > bounds.decoded:
            raise _too_much(bounds)
        for batch in file.iter_batches(batch_size=10_000, use_threads=False):
            yield from sound(batch)


#: A format is a line here.
FORMATS = {
    "ndjson": Format(
        ("application/x-ndjson", "application/ndjson", "application/jsonl", "application/json"), _ndjson, text=True
    ),
    "csv": Format(("text/csv", "text/tab-separated-values"), _csv, text=True),
    "arrow": Format(("application/vnd.apache.arrow.stream",), _arrow),
    "parquet": Format(("application/vnd.apache.parquet", "application/parquet"), _parquet),
}
MEDIA_TYPES = {media_type: name for name, each in FORMATS.items() for media_type in each.media_types}
ENCODINGS = ("gzip", "zstd")
#: Bytes that are decompressed at a time.
_PIECE = 1 << 20


def decoded(body: bytes, form: str, encoding: str, known: pa.Schema | None, bounds: Bounds) -> pa.Table:
    """Return the rows of a body; raise an error of any kind if it holds none, or more than it may."""
    plain = unpacked(body, encoding, bounds)
    if known is not None:  # a column that has had no values may get some, of any type
        known = pa.schema([each for each in known if not pa.types.is_null(each.type)])
    found: list[pa.RecordBatch] = []
    rows, size = 0, 0.0
    for batch in _read(plain, form, known, bounds):
        _check_columns(batch.schema, bounds)
        names = [each.name for each in flat_fields(batch.schema)]
        if len(set(names)) < len(names):
            raise BodyError("the columns must have different names, and some have the same one")
        rows, size = rows + batch.num_rows, size + written_out(batch)
        _check_rows(rows, bounds)
        if size > bounds.decoded:
            raise _too_much(bounds)
        if batch.num_rows:
            found.append(batch)
    if not found:
        raise BodyError("the body must hold a row, and holds none")
    tables = [pa.Table.from_batches([each]) for each in found]
    return pa.concat_tables(tables, promote_options="default")  # of null: a column without values in some of them


def _read(body: bytes, form: str, known: pa.Schema | None, bounds: Bounds) -> Batches:
    """Yield the rows of a body; where a value has no type that is known, say which types are."""
    try:
        yield from FORMATS[form].read(body, known, bounds)
    except (pa.ArrowInvalid, OtherTypeError) as error:
        if not (known and FORMATS[form].text):
            raise
        raise ValueError(
            f"{error}; the columns have the types of the rows before, {described(known)}: send such values"
        ) from error


def unpacked(body: bytes, encoding: str, bounds: Bounds) -> bytes:
    """Return a body without its compression; stop as soon as it is too large."""
    if not encoding:
        return body
    pieces, size = [], 0
    for piece in _gunzipped(body) if encoding == "gzip" else _unpacked(body, encoding):
        size += len(piece)
        if size > bounds.decoded:
            raise _too_much(bounds)
        pieces.append(piece)
    return b"".join(pieces)


def _gunzipped(body: bytes) -> Iterator[bytes]:
    """Decompress the members of a gzip file, each to its checksum."""
    while body:
        member = zlib.decompressobj(wbits=31)
        while not member.eof:
            piece = member.decompress(body, _PIECE)
            body = member.unconsumed_tail
            if not piece and not body and not member.eof:
                raise BodyError("the gzip data ends too early; send all of it")
            yield piece
        body = member.unused_data


def _unpacked(body: bytes, encoding: str) -> Iterator[bytes]:
    with pa.CompressedInputStream(pa.BufferReader(body), encoding) as stream:
        while piece := stream.read(_PIECE):
            yield piece


def _check_columns(schema: pa.Schema, bounds: Bounds) -> None:
    count = sum(map(n_leaves, schema.types))
    if count > bounds.columns:
        raise OverLimitError(f"a batch may have at most {bounds.columns:,} columns, got {count:,}; send fewer")


def _check_rows(count: int, bounds: Bounds) -> None:
    if count > bounds.rows:
        raise OverLimitError(
            f"a batch may have at most {bounds.rows:,} rows, got {count:,} or more; send them in several batches"
        )


def _too_much(bounds: Bounds) -> OverLimitError:
    return OverLimitError(
        f"a batch may take at most {bounds.decoded:,} bytes once it is decompressed and decoded; send smaller batches"
    )
