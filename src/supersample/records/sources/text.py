"""Rows written as text: CSV with a header line, and NDJSON with one object a line.

PyArrow infers the types from the first megabytes. A later value that does not fit is an error, never a silent change. For
CSV it names the columns (`OtherTypeError`), and what reads a file from its start reads it again with these as text; NDJSON,
pipes, and whatever has taken rows of the file before end in the error. An unquoted empty field or `NA` is null; `nan` is read
as NaN, not as null.

Blocks of whole rows are cut here and parsed one by one, not by PyArrow's streaming reader: its threads read ahead, hold several
blocks in memory and cannot be stopped while they wait for a pipe.
"""

import itertools
import re
from collections.abc import Callable, Iterator
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.json

from supersample._text import one_line
from supersample.errors import InputError
from supersample.records.reading.numbers import FEW_CODES, has_thousands_dots
from supersample.records.sources.base import Batches, OtherTypeError, sound

__all__ = [
    "BLOCK", "FIRST_BLOCK", "PIPE_HINT", "TEXT_HINT", "Bytes", "csv_blocks", "csv_reader", "delimiter_of", "first_of",
    "included", "ndjson_blocks", "ndjson_reader", "parse_csv", "parse_json",
]  # fmt: skip

#: Bytes that the types are inferred from, and bytes parsed at a time after them.
FIRST_BLOCK, BLOCK = 4 << 20, 1 << 20
TEXT_HINT = (
    f"types are read out of the first {FIRST_BLOCK >> 20} MB, so give each column values of one kind, or convert the file to "
    f"Parquet with types of your choice"
)
#: The first byte of JSON, behind a mark of the byte order.
_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*(\S)")
#: What to do about it where the rows cannot be read again.
PIPE_HINT = (
    f"types are read out of the first {FIRST_BLOCK >> 20} MB, and what comes through a pipe cannot be read again with a column "
    f"as text, as a file is: write it to a file and pass that"
)
_NULLS = ["", "NA", "N/A", "#N/A", "n/a", "NULL", "null"]


class Bytes(Protocol):
    """What text is read from."""

    def read(self, size: int, /) -> bytes:
        """Return the next `size` bytes, fewer only at the end."""
        ...


def csv_reader(
    stream: Bytes, schema: pa.Schema | None = None, *, delimiter: str | None = None, names: list[str] | None = None
) -> tuple[pa.Schema, Batches]:
    """Parse CSV from a stream of bytes; `schema` gives types to use instead of the inferred ones.

    names: all columns of the file; those that are not in `schema` are not converted.
    """
    blocks = (block for _, block in csv_blocks(stream))
    first = next(blocks, b"")
    mark = delimiter or delimiter_of(first)
    include = None if names is None or schema is None else included(names, schema)
    head = parse_csv(first, mark, schema or _inferred(first, mark), None, include)
    schema, names = schema or head.schema, names or head.schema.names

    def batches() -> Batches:
        yield from head.to_batches()
        for block in blocks:
            yield from parse_csv(block, mark, schema, names, include).to_batches()

    return head.schema, batches()


def _inferred(block: bytes, delimiter: str) -> pa.Schema:
    """Return the columns of a block with a header.

    Whole numbers written with leading zeros are codes, and stay text. So do numbers whose dots separate thousands, which are
    then read as such.
    """
    schema = parse_csv(block, delimiter, None, None).schema
    numbers = [field.name for field in schema if pa.types.is_integer(field.type) or pa.types.is_floating(field.type)]
    if not numbers or len(set(schema.names)) < len(schema):
        return schema
    as_text = pa.schema([field.with_type(pa.string()) if field.name in numbers else field for field in schema])
    texts = parse_csv(block, delimiter, as_text, None, numbers)
    kept = [name for name in numbers if _is_written(texts.column(name).combine_chunks())]
    return pa.schema([field.with_type(pa.string()) if field.name in kept else field for field in schema])


def _is_written(texts: pa.Array) -> bool:
    """Return whether numbers are written in a way that is lost when they are parsed."""
    padded = pc.mean(pc.match_substring_regex(texts, pattern="^0[0-9]").cast(pa.float64())).as_py() or 0.0
    return padded > FEW_CODES or has_thousands_dots(texts.drop_null())


def ndjson_reader(stream: Bytes, schema: pa.Schema | None = None) -> tuple[pa.Schema, Batches]:
    """Parse NDJSON from a stream of bytes; `schema` gives types to use instead of the inferred ones."""
    blocks = (block for _, block in ndjson_blocks(stream))
    first = next(blocks, b"")
    if first.lstrip()[:1] == b"[":
        raise InputError("source must be one JSON object a line, got a JSON array; convert it, with `jq -c '.[]'` for one")
    head = parse_json(first, schema) if first else pa.table({})
    schema = head.schema if schema is None else schema

    def batches() -> Batches:
        for table in itertools.chain([head], (parse_json(block, schema) for block in blocks)):
            for batch in table.to_batches():
                yield from sound(batch)  # the parser accepts bytes that are not UTF-8

    return head.schema, batches()


def delimiter_of(head: bytes) -> str:
    r"""Infer the delimiter from the first bytes: a comma if the header has one, else the commonest of ; tab and |.

    >>> delimiter_of(b"a;b;c\n1,5;2;3\n"), delimiter_of(b"alone\n")
    (';', ',')
    """
    header = head.split(b"\n", 1)[0]
    if b"," in header or not any(mark in header for mark in (b";", b"\t", b"|")):
        return ","
    return max(";\t|", key=lambda mark: header.count(mark.encode()))


# Below, each of our blocks is one block of the parser: it refuses a row that straddles two of its blocks.


def included(names: list[str], schema: pa.Schema) -> list[str] | None:
    """Return the columns of a file that a schema has, None for all."""
    kept = [name for name in names if name in schema.names]
    return None if len(kept) == len(names) else kept


def parse_csv(
    block: bytes, delimiter: str, schema: pa.Schema | None, names: list[str] | None, include: list[str] | None = None
) -> pa.Table:
    """Parse a block of CSV; without `names` its first line is the header; `include` are the columns to convert, if not all."""
    try:
        return _parsed(block, delimiter, schema, names, include)
    except pa.ArrowInvalid as error:
        if schema is None:
            raise
        odd = frozenset(name for name in include or schema.names if not _fits(block, delimiter, schema, names, name))
        if not odd:
            raise
        named = ", ".join(repr(name) for name in sorted(odd))
        raise OtherTypeError(f"{one_line(error)} (in {named})", odd) from error


def _fits(block: bytes, delimiter: str, schema: pa.Schema, names: list[str] | None, column: str) -> bool:
    """Return whether all values of a column have its type."""
    try:
        _parsed(block, delimiter, schema, names, [column])
    except pa.ArrowInvalid:
        return False
    return True


def _parsed(
    block: bytes, delimiter: str, schema: pa.Schema | None, names: list[str] | None, include: list[str] | None
) -> pa.Table:
    types = None if schema is None else dict(zip(schema.names, schema.types, strict=True))
    return pyarrow.csv.read_csv(
        pa.BufferReader(block),
        read_options=pyarrow.csv.ReadOptions(block_size=len(block) + 1, column_names=names),
        parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=types,
            null_values=_NULLS,
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            include_columns=include,
        ),
    )


def first_of(block: bytes) -> bytes:
    r"""Return the first byte of JSON, behind a mark of the byte order and white space.

    >>> first_of(b"\xef\xbb\xbf \n null")
    b'n'
    """
    found = _START.match(block)
    return found[1] if found else b""


def parse_json(block: bytes, schema: pa.Schema | None) -> pa.Table:
    """Parse a block of NDJSON."""
    if first_of(block) == b"n":  # at a leading null the parser ends the process
        raise pa.ArrowInvalid("JSON parse error: a line must be an object, and the first one is none")
    return pyarrow.json.read_json(
        pa.BufferReader(block),
        read_options=pyarrow.json.ReadOptions(block_size=len(block) + 1),
        parse_options=pyarrow.json.ParseOptions(
            explicit_schema=schema, newlines_in_values=False, unexpected_field_behavior="infer" if schema is None else "error"
        ),
    )


def csv_blocks(stream: Bytes) -> Iterator[tuple[int, bytes]]:
    """Cut CSV into blocks of whole rows; yield where each begins, and its bytes."""
    return _blocks(stream, _last_row_end)


def ndjson_blocks(stream: Bytes) -> Iterator[tuple[int, bytes]]:
    """Cut NDJSON into blocks of whole lines; yield where each begins, and its bytes."""
    return _blocks(stream, lambda block: block.rfind(b"\n") + 1)


def _blocks(stream: Bytes, end_of: Callable[[bytes], int]) -> Iterator[tuple[int, bytes]]:
    """Cut a stream of bytes where rows end, leaving out blocks of blank lines."""
    size = FIRST_BLOCK
    head = stream.read(3)
    rest = head.removeprefix(b"\xef\xbb\xbf")  # the byte order mark that some editors write
    start = len(head) - len(rest)
    while chunk := stream.read(size):
        rest += chunk
        end = end_of(rest)
        block, rest = rest[:end], rest[end:]
        if block.strip():
            yield start, block
            size = BLOCK
        start += end
    if rest.strip():
        yield start, rest


def _last_row_end(block: bytes) -> int:
    r"""Return where the last whole row of CSV ends: after a line end with an even number of quotes before it.

    Unpaired quotes in unquoted text make the count wrong. If no line end fits in several blocks, the last one is taken: a
    quoted value of that length is less likely.

    >>> _last_row_end(b'a,b\n1,"x\ny"\n2,"un\nfinished')
    12
    """
    end = block.rfind(b"\n") + 1
    last, odd = end, block.count(b'"', 0, end) % 2
    while odd and end:
        before = block.rfind(b"\n", 0, end - 1) + 1
        odd ^= block.count(b'"', before, end) % 2
        end = before
    return end if end or len(block) < 2 * FIRST_BLOCK else last
