"""A source of rows: what is known of it before reading, and its batches from any row on."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import pyarrow as pa

from supersample._text import one_line, plural
from supersample.errors import InputError, SupersampleError

__all__ = ["MAX_BYTES", "MAX_ROWS", "Batches", "Source", "after", "guarded", "once", "pieces", "sound"]

#: The most rows of a batch: four times as many take 60 MB more for Parquet of 55 columns, and no less time.
MAX_ROWS = 16_384
#: The most bytes of a batch if its rows are all of one size.
MAX_BYTES = 64 << 20

Batches: TypeAlias = Iterator[pa.RecordBatch]


@dataclass(frozen=True)
class Source:
    """Rows that are read in order, a bounded batch at a time.

    `label` names it in messages; `n_rows` is None if the number is not cheap to know; `identity` is what a checkpoint stores
    to recognise it, as plain JSON, empty if a restart cannot be checked. `batches(skip)` yields the rows from number `skip`
    on, in batches of at most MAX_ROWS rows and about MAX_BYTES, none of them empty.
    """

    label: str
    schema: pa.Schema
    n_rows: int | None
    identity: Mapping[str, Any]
    batches: Callable[[int], Batches]
    sample: Callable[[int], pa.Table] | None = None


def pieces(batch: pa.RecordBatch | pa.Table) -> Iterator[Any]:
    """Cut a batch or table into slices within the limits, without copying; an empty one gives none."""
    rows = batch.num_rows
    if rows == 0:
        return
    fitting = int(rows * (MAX_BYTES / max(1, _size(batch))))
    step = max(1, min(MAX_ROWS, fitting))
    for start in range(0, rows, step):
        yield batch.slice(start, step)


def _size(batch: pa.RecordBatch | pa.Table) -> int:
    try:
        return int(batch.nbytes)
    except pa.ArrowTypeError:  # older versions of PyArrow cannot tell which part of its buffers a view uses
        return int(batch.get_total_buffer_size())


def sound(batch: pa.RecordBatch) -> Batches:
    """Cut a batch from a file into pieces with validated offsets and text, or raise Arrow's error.

    Readers do not validate them: a damaged file would crash the process, or fail where the file is no longer known.
    """
    batch.validate()
    for piece in pieces(batch):
        piece.validate(full=True)
        yield piece


def after(batches: Iterable[pa.RecordBatch], skip: int) -> Batches:
    """Read past the first `skip` rows, keeping none of them."""
    for batch in batches:
        if skip >= batch.num_rows:
            skip -= batch.num_rows
            continue
        yield batch.slice(skip) if skip else batch
        skip = 0


def once(batches: Iterable[pa.RecordBatch], label: str) -> Callable[[int], Batches]:
    """Return `batches(skip)` for batches that can be read only once; a second call raises InputError."""
    taken = False

    def read(skip: int) -> Batches:
        nonlocal taken
        if taken:
            raise InputError(
                f"source: {label} can be read only once and has been read already; pass files, a table or a frame to read "
                f"it again, or make a new iterator"
            )
        taken = True
        return after(batches, skip)

    return read


def guarded(batches: Iterable[pa.RecordBatch], where: str, hint: str, start: int = 0) -> Batches:
    """Yield the batches; raise any foreign error as InputError with the place and the number of rows before it."""
    rows = start
    try:
        for batch in batches:
            rows += batch.num_rows
            yield batch
    except SupersampleError:
        raise
    except Exception as error:
        raise InputError(
            f"source: {where} could not be read beyond its first {plural(rows, 'row')}: {one_line(error)}; {hint}"
        ) from error
