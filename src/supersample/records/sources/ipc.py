"""Arrow's own formats: files (Feather too), mapped into memory, and streams."""

from collections.abc import Sequence
from typing import BinaryIO

import pyarrow as pa
import pyarrow.ipc

from supersample.records.sources.base import Batches, Positions, after, between, picked, sound
from supersample.records.sources.locations import Location, mapped_file

__all__ = [
    "FILE_MAGIC", "STREAM_MAGIC", "ipc_file_batches", "ipc_file_between", "ipc_file_outline", "ipc_file_rows",
    "ipc_stream_reader",
]  # fmt: skip

FILE_MAGIC = b"ARROW1"
STREAM_MAGIC = b"\xff\xff\xff\xff"


def ipc_file_outline(path: Location) -> tuple[pa.Schema, list[int]]:
    """Return the schema and the number of rows of each batch, from its header; if compressed, one column is decompressed."""
    with mapped_file(path) as file:
        schema = pa.ipc.open_file(file).schema
        # A PyArrow data set would count faster, but crashes the process on a damaged header.
        one = pa.ipc.IpcReadOptions(included_fields=[_narrowest(schema)] if len(schema) else None)
        reader = pa.ipc.open_file(file, options=one)
        return schema, [reader.get_batch(place).num_rows for place in range(reader.num_record_batches)]


def _narrowest(schema: pa.Schema) -> int:
    """Return the index of the column with the fewest bits a row; columns of variable-length values come last."""
    plain = (pa.types.is_primitive, pa.types.is_decimal, pa.types.is_fixed_size_binary)
    widths = [kind.bit_width if any(each(kind) for each in plain) else 1 << 20 for kind in schema.types]
    return widths.index(min(widths))


def ipc_file_batches(path: Location, fields: list[int] | None = None) -> Batches:
    """Yield the batches of a file; the file is memory-mapped, so an uncompressed batch costs no memory before it is sliced.

    fields: the places of the columns to read, all if None.
    """
    with mapped_file(path) as file:
        reader = pa.ipc.open_file(file, options=pa.ipc.IpcReadOptions(included_fields=fields))
        for place in range(reader.num_record_batches):
            yield from sound(reader.get_batch(place))


def ipc_file_between(path: Location, counts: Sequence[int], start: int, stop: int, fields: list[int] | None = None) -> Batches:
    """Yield the rows from `start` to `stop`; batches without any are not read. `counts` are the rows of each batch."""
    with mapped_file(path) as file:
        reader = pa.ipc.open_file(file, options=pa.ipc.IpcReadOptions(included_fields=fields))
        before = 0
        for place, rows in enumerate(counts):
            first, end = max(start - before, 0), min(stop - before, rows)
            before += rows
            if first < end:
                yield from between(after(sound(reader.get_batch(place)), first), end - first)


def ipc_file_rows(path: Location, counts: Sequence[int], positions: Positions, fields: list[int] | None = None) -> Batches:
    """Yield the rows at these positions; batches without any are not read. `counts` are the rows of each batch."""
    with mapped_file(path) as file:
        reader = pa.ipc.open_file(file, options=pa.ipc.IpcReadOptions(included_fields=fields))
        before = 0
        for place, rows in enumerate(counts):
            inside = positions[(positions >= before) & (positions < before + rows)] - before
            before += rows
            if len(inside):
                yield from picked(sound(reader.get_batch(place)), inside)


def ipc_stream_reader(stream: BinaryIO) -> tuple[pa.Schema, Batches]:
    """Read a stream of bytes in Arrow's streaming format."""
    reader = pa.ipc.open_stream(stream)
    return reader.schema, (piece for batch in reader for piece in sound(batch))
