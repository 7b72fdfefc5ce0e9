"""Rows of text files by position: one pass counts the rows of each block; blocks with wanted rows are parsed again.

The blocks are those that the reader parses. Their rows are counted by line ends where nothing but a line end can end a row,
and by PyArrow's parser elsewhere, so the count is always that of the rows that are read.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv

from supersample.records.sources.base import Batches, Positions, picked, sound
from supersample.records.sources.text import Bytes, csv_blocks, delimiter_of, included, ndjson_blocks, parse_csv, parse_json

__all__ = ["TextIndex", "csv_index", "ndjson_index"]

_TWO_IN_A_LINE = re.compile(rb"\}[ \t\r]*\{")


class _Block(NamedTuple):
    """Where a block begins in the file, its bytes, and its rows."""

    start: int
    size: int
    rows: int


@dataclass(frozen=True)
class TextIndex:
    """The blocks of a file, and how one of them is parsed as a schema; the first may hold the header."""

    blocks: tuple[_Block, ...]
    parse: Callable[[bytes, pa.Schema, bool], pa.Table]

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return sum(block.rows for block in self.blocks)

    def take(self, file: BinaryIO, schema: pa.Schema, positions: Positions) -> Batches:
        """Yield the rows at these positions."""
        ends = np.cumsum([block.rows for block in self.blocks], dtype=np.int64)
        for place in np.unique(np.searchsorted(ends, positions, side="right")).tolist():
            block, end = self.blocks[place], int(ends[place])
            inside = positions[(positions >= end - block.rows) & (positions < end)] - (end - block.rows)
            file.seek(block.start)
            table = self.parse(file.read(block.size), schema, place == 0)
            if table.num_rows != block.rows:
                raise ValueError(f"{block.rows:,} rows were counted in a block that now has {table.num_rows:,}")
            yield from picked((piece for batch in table.to_batches() for piece in sound(batch)), inside)


def csv_index(stream: Bytes, delimiter: str | None) -> TextIndex:
    """Count the rows of a CSV file, block by block."""
    blocks = csv_blocks(stream)
    start, first = next(blocks, (0, b""))
    mark = delimiter or delimiter_of(first)
    names = parse_csv(first, mark, None, None).schema.names if first else []
    counted = [_Block(start, len(first), _csv_rows(first, mark, None))]
    counted += [_Block(start, len(block), _csv_rows(block, mark, names)) for start, block in blocks]

    def parse(block: bytes, schema: pa.Schema, has_header: bool) -> pa.Table:
        return parse_csv(block, mark, schema, None if has_header else names, included(names, schema))

    return TextIndex(tuple(counted), parse)


def ndjson_index(stream: Bytes, nested: Callable[[pa.Schema], pa.Schema]) -> TextIndex:
    """Count the rows of an NDJSON file, block by block; `nested` returns the schema to parse with for one of flat columns."""
    counted = [_Block(start, len(block), _json_rows(block)) for start, block in ndjson_blocks(stream)]
    return TextIndex(tuple(counted), lambda block, schema, _: parse_json(block, nested(schema)))


def _csv_rows(block: bytes, mark: str, names: list[str] | None) -> int:
    """Return the number of rows that the parser finds in a block."""
    lines = _plain_lines(block)
    return lines - (names is None) if lines is not None else _parsed_csv_rows(block, mark, names)


def _plain_lines(block: bytes) -> int | None:
    r"""Return the number of lines if each must be one row: no quotes, no empty line, one kind of line end; else None.

    >>> _plain_lines(b"a\nb"), _plain_lines(b"a\r\nb\r\n"), _plain_lines(b"a\n\nb\n"), _plain_lines(b'"a\n"\n')
    (2, 2, None, None)
    """
    end = b"\r\n" if b"\r" in block else b"\n"
    ends = block.count(end)
    odd = block.count(b"\n") != ends or (end == b"\r\n" and block.count(b"\r") != ends)
    if odd or b'"' in block or block.startswith(end) or end + end in block:
        return None
    return ends + (not block.endswith(end))


def _parsed_csv_rows(block: bytes, mark: str, names: list[str] | None) -> int:
    """Count rows with the parser, converting one column alone."""
    one = names or parse_csv(block, mark, None, None).schema.names
    return int(
        pyarrow.csv.read_csv(
            pa.BufferReader(block),
            read_options=pyarrow.csv.ReadOptions(block_size=len(block) + 1, column_names=names),
            parse_options=pyarrow.csv.ParseOptions(delimiter=mark, newlines_in_values=True),
            convert_options=pyarrow.csv.ConvertOptions(include_columns=one[:1], column_types={one[0]: pa.binary()}),
        ).num_rows
    )


def _json_rows(block: bytes) -> int:
    r"""Return the number of objects in a block: that of its lines, if each is one object, else that which the parser finds.

    >>> _json_rows(b'{"a": 1}\n{"a": 2}\n'), _json_rows(b'{"a": 1} {"a": 2}\n\n{"a": 3}')
    (2, 3)
    """
    lines = block.strip(b"\n")
    ends = lines.count(b"\n")
    whole = lines.startswith(b"{") and lines.endswith(b"}") and lines.count(b"}\n{") == ends
    return ends + 1 if whole and not _TWO_IN_A_LINE.search(lines) else parse_json(block, None).num_rows
