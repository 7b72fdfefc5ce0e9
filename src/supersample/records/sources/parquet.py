"""Parquet files, decoded on demand by PyArrow's threads.

They are read with `iter_batches`, not with the scanner of data sets: the scanner is little faster and takes twice the memory,
since it reads ahead of a slow consumer (docs/decisions/012).
"""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from supersample.records.sources.base import MAX_BYTES, MAX_ROWS, Batches, sound

__all__ = ["parquet_batches", "parquet_outline"]

# If both the file and its largest row group, decompressed, are larger than this, row groups are read in pieces, not at once.
# (The compressed size of the group would be a better measure, but PyArrow crashes the process if it is damaged.)
_LARGE = 64 << 20
_BUFFERS = 16 << 20


def parquet_outline(path: Path) -> tuple[pa.Schema, int]:
    """Return the schema and the number of rows, from the footer alone."""
    with pq.ParquetFile(path) as file:
        return file.schema_arrow, file.metadata.num_rows


def parquet_batches(path: Path, skip: int = 0) -> Batches:
    """Yield batches from row `skip` on; row groups before it are not read."""
    with pq.ParquetFile(path) as file:
        about = file.metadata
        unpacked = max((about.row_group(group).total_byte_size for group in range(about.num_row_groups)), default=0)
    large = min(path.stat().st_size, unpacked) > _LARGE
    buffer = max(1 << 14, _BUFFERS // max(1, len(file.schema_arrow))) if large else 0
    with pq.ParquetFile(path, buffer_size=buffer) as file:
        for group in range(file.num_row_groups):
            about = file.metadata.row_group(group)
            if skip >= about.num_rows:
                skip -= about.num_rows
                continue
            rows = _batch_rows(file.schema_arrow, about)
            for batch in file.iter_batches(batch_size=rows, row_groups=[group], use_threads=True):
                if skip >= batch.num_rows:
                    skip -= batch.num_rows
                    continue
                yield from sound(batch.slice(skip))
                skip = 0


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
