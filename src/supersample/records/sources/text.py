"""Rows written as text: CSV with a header line, and NDJSON with one object a line.

Types are those that PyArrow reads out of the first block; a later value that does not fit is an error, never a silent
change. An unquoted empty field or `NA` is null; `nan` is a number that is none.
"""

from collections.abc import Iterator
from typing import BinaryIO

import pyarrow as pa
import pyarrow.csv
import pyarrow.json

from supersample.errors import InputError
from supersample.records.sources.base import Batches

__all__ = ["BLOCK", "TEXT_HINT", "csv_reader", "delimiter_of", "ndjson_reader"]

#: Bytes of text parsed at a time; the first block decides on the types.
BLOCK = 8 << 20
TEXT_HINT = (
    f"types are read out of the first {BLOCK >> 20} MB, so make the values of each column of one kind, or convert the file "
    f"to Parquet with types of your choice"
)
_NULLS = ["", "NA", "N/A", "#N/A", "n/a", "NULL", "null"]


def csv_reader(stream: BinaryIO, delimiter: str, schema: pa.Schema | None = None) -> tuple[pa.Schema, Batches]:
    """Parse CSV from a stream of bytes; `schema` names types to use instead of those found."""
    types = None if schema is None else dict(zip(schema.names, schema.types, strict=True))
    reader = pyarrow.csv.open_csv(
        stream,
        read_options=pyarrow.csv.ReadOptions(block_size=BLOCK),
        # Without newlines_in_values a quoted line break at the edge of a block is taken for the end of a row.
        parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=types, null_values=_NULLS, strings_can_be_null=True, quoted_strings_can_be_null=False
        ),
    )
    return reader.schema, iter(reader)


def delimiter_of(head: bytes) -> str:
    r"""Tell the delimiter from the first bytes: a comma where the header has one, else the commonest of ; tab and |.

    >>> delimiter_of(b"a;b;c\n1,5;2;3\n"), delimiter_of(b"alone\n")
    (';', ',')
    """
    header = head.split(b"\n", 1)[0]
    if b"," in header or not any(mark in header for mark in (b";", b"\t", b"|")):
        return ","
    return max(";\t|", key=lambda mark: header.count(mark.encode()))


def ndjson_reader(stream: BinaryIO, schema: pa.Schema | None = None) -> tuple[pa.Schema, Batches]:
    """Parse NDJSON from a stream of bytes; `schema` names types to use instead of those found."""
    blocks = _line_blocks(stream)
    first = next(blocks, b"")
    if first.lstrip()[:1] == b"[":
        raise InputError("source must be one JSON object a line, got a JSON array; convert it, with `jq -c '.[]'` for one")
    head = _parse(first, schema) if first else pa.table({})
    schema = head.schema if schema is None else schema

    def batches() -> Batches:
        yield from head.to_batches()
        for block in blocks:
            yield from _parse(block, schema).to_batches()

    return schema, batches()


def _parse(block: bytes, schema: pa.Schema | None) -> pa.Table:
    return pyarrow.json.read_json(
        pa.BufferReader(block),
        # One block of the parser for one of ours: a row that straddles two of the parser's would be refused.
        read_options=pyarrow.json.ReadOptions(block_size=len(block) + 1),
        parse_options=pyarrow.json.ParseOptions(
            explicit_schema=schema, newlines_in_values=False, unexpected_field_behavior="infer" if schema is None else "error"
        ),
    )


def _line_blocks(stream: BinaryIO) -> Iterator[bytes]:
    """Cut a stream of bytes after line ends, about BLOCK bytes at a time, leaving out blocks of blank lines."""
    rest = stream.read(3).removeprefix(b"\xef\xbb\xbf")  # the mark that some editors put at the start of UTF-8
    while chunk := stream.read(BLOCK):
        end = chunk.rfind(b"\n") + 1
        block, rest = (rest + chunk[:end], chunk[end:]) if end else (b"", rest + chunk)
        if block.strip():
            yield block
    if rest.strip():
        yield rest
