"""A source of rows: what is known of it before reading, and its batches from any row on."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from supersample._hashing import hash_words
from supersample._text import one_line, plural
from supersample.errors import InputError, SupersampleError

__all__ = [
    "MAX_BYTES", "MAX_ROWS", "Batches", "Numbered", "OtherTypeError", "Positions", "Source", "after", "between", "guarded",
    "mapped", "once", "picked", "pieces", "sound", "spread",
]  # fmt: skip

#: The most rows of a batch: four times as many take 60 MB more for Parquet of 55 columns, and no less time.
MAX_ROWS = 16_384
#: The most bytes of a batch if its rows are all of one size.
MAX_BYTES = 64 << 20

#: From the word of one part to that of the next, whose hashes place the rows of a sample.
_STRIDE = np.uint64(0x9E3779B97F4A7C15)

Batches: TypeAlias = Iterator[pa.RecordBatch]
#: Numbers of rows, strictly increasing.
Positions: TypeAlias = npt.NDArray[np.int64]


class OtherTypeError(InputError):
    """Values of a text file that do not fit the types that its first rows have; `columns` are those that hold them."""

    def __init__(self, message: str, columns: frozenset[str]) -> None:
        super().__init__(message)
        self.columns = columns


class Numbered(NamedTuple):
    """The rows of a source by number: how many there are, and `between(start, stop)`, which reads those from start to stop.

    It may be called from several threads at once; each call reads for itself, and little more than its own rows.
    """

    n_rows: int
    between: Callable[[int, int], Batches]


@dataclass(frozen=True)
class Source:
    """Rows that are read in order, a bounded batch at a time.

    `label` names it in messages; `n_rows` is None if the number is not cheap to know; `identity` is what a checkpoint stores
    to recognise it, as plain JSON, empty if a restart cannot be checked. `batches(skip)` yields the rows from number `skip`
    on, in batches of at most MAX_ROWS rows and about MAX_BYTES, none of them empty. `sample(n)` returns the rows at the
    positions `spread(N, n)` of all N, in order; it is None if rows cannot be read out of order, or not again. `without(names)`
    returns the source without these columns, if its reader can leave them out; None if they are removed after reading.
    `as_text(names)` returns the source with these columns as text, for files of text that can be read again. `numbered()`
    gives its rows by number, for text after a pass that counts them; None if they can only be read in order.
    """

    label: str
    schema: pa.Schema
    n_rows: int | None
    identity: Mapping[str, Any]
    batches: Callable[[int], Batches]
    sample: Callable[[int], pa.Table] | None = None
    without: "Callable[[frozenset[str]], Source] | None" = None
    as_text: "Callable[[frozenset[str]], Source] | None" = None
    numbered: Callable[[], Numbered] | None = None


def mapped(source: Source, schema: pa.Schema, change: Callable[[pa.RecordBatch], pa.RecordBatch]) -> Source:
    """Return the source with each of its batches changed; `schema` is that of the changed ones."""
    given, by_number = source.sample, source.numbered

    def sample(n: int) -> pa.Table:
        rows = given(n).to_batches() if given else []
        return pa.Table.from_batches(map(change, rows), schema)

    def batches(skip: int) -> Batches:
        return map(change, source.batches(skip))

    def numbered() -> Numbered:
        assert by_number is not None
        n_rows, rows = by_number()
        return Numbered(n_rows, lambda start, stop: map(change, rows(start, stop)))

    return replace(
        source, schema=schema, batches=batches, sample=sample if given else None, without=None, as_text=None,
        numbered=numbered if by_number else None,
    )  # fmt: skip


def spread(n_rows: int, n: int) -> Positions:
    """Return `n` positions spread over all rows, one in each of `n` equal parts; all positions if there are no more than `n`.

    A hash of the part's number places the position inside the part, so that no period of the rows can be in step with them.
    The same numbers give the same positions on every machine.

    >>> spread(1000, 5), spread(3, 5)
    (array([135, 300, 479, 644, 947]), array([0, 1, 2]))
    """
    if n_rows <= n:
        return np.arange(n_rows, dtype=np.int64)
    edges = np.array([place * n_rows // n for place in range(n + 1)], np.int64)
    inside = hash_words(np.arange(n, dtype=np.uint64) * _STRIDE) % np.diff(edges).astype(np.uint64)
    return edges[:-1] + inside.astype(np.int64)


def picked(batches: Iterable[pa.RecordBatch], positions: Positions) -> Batches:
    """Yield the rows at these positions of all batches together; batches after the last position are not asked for."""
    before = done = 0
    if len(positions) == 0:
        return
    for batch in batches:
        end = int(np.searchsorted(positions, before + batch.num_rows))
        if end > done:
            yield from _taken(batch, positions[done:end] - before)
        before, done = before + batch.num_rows, end
        if done == len(positions):
            return


def _taken(batch: pa.RecordBatch, places: Positions) -> Batches:
    if len(places) == batch.num_rows:
        yield batch
        return
    try:
        yield batch.take(pa.array(places))
    except pa.ArrowNotImplementedError:  # views and runs, in older versions
        yield from (batch.slice(int(place), 1) for place in places)


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


def between(batches: Iterable[pa.RecordBatch], rows: int) -> Batches:
    """Yield the first `rows` rows of all batches together; batches after them are not asked for."""
    missing = rows
    if missing <= 0:
        return
    for batch in batches:
        yield batch if batch.num_rows <= missing else batch.slice(0, missing)
        missing -= batch.num_rows
        if missing <= 0:
            return


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
    except OtherTypeError as error:
        raise OtherTypeError(_unread(where, rows, error, hint), error.columns) from error
    except SupersampleError:
        raise
    except Exception as error:
        raise InputError(_unread(where, rows, error, hint)) from error


def _unread(where: str, rows: int, error: Exception, hint: str) -> str:
    return f"source: {where} could not be read beyond its first {plural(rows, 'row')}: {one_line(error)}; {hint}"
