"""Parquet files, decoded on demand by PyArrow's threads.

They are read with `iter_batches`, not with the scanner of data sets: the scanner is little faster and takes twice the memory,
since it reads ahead of a slow consumer (docs/decisions/012).
"""

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.parquet as pq

from supersample.records.sources.base import MAX_BYTES, MAX_ROWS, Batches, Positions, after, picked, sound
from supersample.records.sources.locations import Location, seekable, size_of

__all__ = ["parquet_batches", "parquet_outline", "parquet_rows"]

# If both the file and its largest row group, decompressed, are larger than this, row groups are read in pieces, not at once.
# (The compressed size of the group would be a better measure, but PyArrow crashes the process if it is damaged.)
_LARGE = 64 << 20
_BUFFERS = 16 << 20


def parquet_outline(path: Location) -> tuple[pa.Schema, int]:
    """Return the schema and the number of rows, from the footer alone."""
    with seekable(path) as source, pq.ParquetFile(source) as file:
        return file.schema_arrow, file.metadata.num_rows


def parquet_batches(path: Location, skip: int = 0, columns: list[str] | None = None) -> Batches:
    """Yield batches from row `skip` on; row groups before it are not read. `columns` are those to decode, all if None."""
    with _opened(path) as file:
        for group in range(file.num_row_groups):
            rows = file.metadata.row_group(group).num_rows
            if skip >= rows:
                skip -= rows
                continue
            for batch in after(_group(file, group, columns), skip):
                yield from sound(batch)
            skip = 0


def parquet_rows(path: Location, positions: Positions, columns: list[str] | None = None) -> Batches:
    """Yield the rows at these positions; row groups without any are not read. `columns` are those to decode, all if None."""
    with _opened(path) as file:
        before = 0
        for group in range(file.num_row_groups):
            rows = file.metadata.row_group(group).num_rows
            inside = positions[(positions >= before) & (positions < before + rows)] - before
            for batch in picked(_group(file, group, columns), inside):
                yield from sound(batch)
            before += rows


@contextmanager
def _opened(path: Location) -> Iterator[pq.ParquetFile]:
    with seekable(path) as source, pq.ParquetFile(source) as file:
        about = file.metadata
        unpacked = max((about.row_group(group).total_byte_size for group in range(about.num_row_groups)), default=0)
    large = min(size_of(path) or unpacked, unpacked) > _LARGE
    buffer = max(1 << 14, _BUFFERS // max(1, len(file.schema_arrow))) if large else 0
    with seekable(path) as source, pq.ParquetFile(source, buffer_size=buffer) as file:
        yield file


def _group(file: pq.ParquetFile, group: int, columns: list[str] | None) -> Batches:
    rows = _batch_rows(file.schema_arrow, file.metadata.row_group(group))
    yield from file.iter_batches(batch_size=rows, row_groups=[group], columns=columns, use_threads=True)


def _batch_rows(schema: pa.Schema, about: pq.RowGroupMetaData) -> int:
    # The encoded size is right for text but too small for repeated numbers; their width follows from the types.
    encoded = about.total_byte_size / max(1, about.num_rows)
    row_bytes = max(encoded, sum(map(_width, schema.types)), 1.0)
    return max(1, min(MAX_ROWS, int(MAX_BYTES / row_bytes)))


def _width(layout: pa.DataType) -> float:
    if pa.types.is_fixed_size_list(layout):
        return float(layout.list_size * _width(layout.value_type))
    try:
        return float(layout.bit_width / 8)
    except ValueError:
        return 0.0
