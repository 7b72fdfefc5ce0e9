"""Rows of text files by position: one pass counts the rows of each block, then the wanted rows alone are parsed.

The blocks are those that the reader parses. Where it is in doubt what ends a row, PyArrow's parser decides, so the count is
always that of the rows that are read.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.csv

from supersample._compiled.csv_rows import row_spans
from supersample.records.sources.base import Batches, Positions, after, between, picked, sound
from supersample.records.sources.text import (
    BLOCK,
    Bytes,
    csv_blocks,
    delimiter_of,
    included,
    ndjson_blocks,
    parse_csv,
    parse_json,
)

__all__ = ["TextIndex", "csv_index", "ndjson_index"]

#: Where each row of a block begins and ends, without its line end.
_Spans: TypeAlias = tuple[Positions, Positions]
_TWO_IN_A_LINE = re.compile(rb"\}[ \t\r]*\{")


class _Block(NamedTuple):
    """Where a block begins in the file, its bytes, and its rows."""

    start: int
    size: int
    rows: int


@dataclass(frozen=True)
class TextIndex:
    """The blocks of a file, the first of which may have a header line.

    `spans(block, is_first)` returns where its rows are, None if that is in doubt; `parse(block, schema, is_first)` parses it.
    """

    blocks: tuple[_Block, ...]
    spans: Callable[[bytes, bool], _Spans | None]
    parse: Callable[[bytes, pa.Schema, bool], pa.Table]

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return sum(block.rows for block in self.blocks)

    def take(self, file: BinaryIO, schema: pa.Schema, positions: Positions) -> Batches:
        """Yield the rows at these positions."""
        ends = np.cumsum([block.rows for block in self.blocks], dtype=np.int64)
        waiting: list[bytes] = []
        for place in np.unique(np.searchsorted(ends, positions, side="right")).tolist():
            about, end = self.blocks[place], int(ends[place])
            inside = positions[(positions >= end - about.rows) & (positions < end)] - (end - about.rows)
            file.seek(about.start)
            block = file.read(about.size)
            spans = self.spans(block, place == 0)
            if spans is not None:
                _same(len(spans[0]), about.rows)
                waiting += [block[start:stop] for start, stop in zip(spans[0][inside], spans[1][inside], strict=True)]
            if spans is None or sum(map(len, waiting)) > BLOCK:
                yield from self._parsed(waiting, schema)
                waiting = []
            if spans is None:
                table = self.parse(block, schema, place == 0)
                _same(table.num_rows, about.rows)
                yield from picked((piece for batch in table.to_batches() for piece in sound(batch)), inside)
        yield from self._parsed(waiting, schema)

    def between(self, file: BinaryIO, schema: pa.Schema, start: int, stop: int) -> Batches:
        """Yield the rows from `start` to `stop`; blocks without any are not read."""
        before = 0
        for place, about in enumerate(self.blocks):
            first, end = max(start - before, 0), min(stop - before, about.rows)
            before += about.rows
            if first < end:
                file.seek(about.start)
                table = self.parse(file.read(about.size), schema, place == 0)
                _same(table.num_rows, about.rows)
                whole = (piece for batch in table.to_batches() for piece in sound(batch))
                yield from between(after(whole, first), end - first)

    def _parsed(self, rows: list[bytes], schema: pa.Schema) -> Batches:
        if not rows:
            return
        table = self.parse(b"\n".join(rows), schema, False)
        _same(table.num_rows, len(rows))
        for batch in table.to_batches():
            yield from sound(batch)


def _same(found: int, counted: int) -> None:
    if found != counted:
        raise ValueError(f"{counted:,} rows were counted where {found:,} are now; the file was changed")


def csv_index(stream: Bytes, delimiter: str | None) -> TextIndex:
    """Count the rows of a CSV file, block by block."""
    blocks = csv_blocks(stream)
    start, first = next(blocks, (0, b""))
    mark = delimiter or delimiter_of(first)
    names = parse_csv(first, mark, None, None).schema.names if first else []
    counted = [_Block(start, len(first), _csv_rows(first, mark, None))]
    counted += [_Block(start, len(block), _csv_rows(block, mark, names)) for start, block in blocks]

    def parse(block: bytes, schema: pa.Schema, is_first: bool) -> pa.Table:
        return parse_csv(block, mark, schema, None if is_first else names, included(names, schema))

    return TextIndex(tuple(counted), lambda block, is_first: _csv_spans(block, mark, is_first), parse)


def ndjson_index(stream: Bytes, nested: Callable[[pa.Schema], pa.Schema]) -> TextIndex:
    """Count the rows of an NDJSON file, block by block; `nested` returns the schema to parse with for one of flat columns."""
    counted = [_Block(start, len(block), _json_rows(block)) for start, block in ndjson_blocks(stream)]
    return TextIndex(
        tuple(counted), lambda block, _: _json_spans(block), lambda block, schema, _: parse_json(block, nested(schema))
    )


def _csv_rows(block: bytes, mark: str, names: list[str] | None) -> int:
    """Return the number of rows that the parser finds in a block; without `names`, its first line is the header."""
    lines = _plain_lines(block)
    if lines is not None:
        return lines - (names is None)
    spans = _csv_spans(block, mark, names is None)
    return _parsed_csv_rows(block, mark, names) if spans is None else len(spans[0])


def _plain_lines(block: bytes) -> int | None:
    r"""Return the number of lines if each must be one row: no quotes, no empty line, one kind of line end; else None.

    >>> _plain_lines(b"a\nb"), _plain_lines(b"a\r\nb\r\n"), _plain_lines(b"a\n\nb\n"), _plain_lines(b'"a\n"\n')
    (2, 2, None, None)
    """
    if b'"' in block:
        return None
    end = b"\r\n" if b"\r" in block else b"\n"
    ends = block.count(end)
    odd = block.count(b"\n") != ends or (end == b"\r\n" and block.count(b"\r") != ends)
    if odd or block.startswith(end) or end + end in block:
        return None
    return ends + (not block.endswith(end))


def _csv_spans(block: bytes, mark: str, has_header: bool) -> _Spans | None:
    most = len(block) // 2 + 1  # a row of one byte and its line end
    starts, stops = np.empty(most, np.int64), np.empty(most, np.int64)
    found = row_spans(np.frombuffer(block, np.uint8), ord(mark), starts, stops)
    return None if found < has_header else (starts[has_header:found], stops[has_header:found])


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
    return block.strip(b"\n").count(b"\n") + 1 if _one_a_line(block) else parse_json(block, None).num_rows


def _json_spans(block: bytes) -> _Spans | None:
    if not _one_a_line(block):
        return None
    first, last = len(block) - len(block.lstrip(b"\n")), len(block.rstrip(b"\n"))
    ends = np.flatnonzero(np.frombuffer(block, np.uint8)[first:last] == ord("\n")) + first
    return np.append(first, ends + 1), np.append(ends, last)


def _one_a_line(block: bytes) -> bool:
    """Return whether each line must be one object: it begins and ends with a brace, and no object follows another in it."""
    lines = block.strip(b"\n")
    whole = lines.startswith(b"{") and lines.endswith(b"}") and lines.count(b"}\n{") == lines.count(b"\n")
    return whole and not _TWO_IN_A_LINE.search(lines)
