"""The tasks of every engine, as functions from bytes to bytes: none of our objects is pickled on the way.

An engine reads the heads of some partitions (`spread_rows`), turns them into the empty state that all partitions start from
(`warm_up`), summarises each partition (`summarize_part`) and merges neighbours (`merge_parts`, in the shape of `tree`). The
result depends only on the partitions and their order, never on which worker runs a task, when, or how often.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from supersample._text import one_line, plural
from supersample.errors import InputError, SupersampleError
from supersample.records.sources import Source, open_source, without
from supersample.records.sources.schema import conform, promote
from supersample.selection.stream.plan import WARM_UP
from supersample.storage.container import DAMAGE
from supersample.summary import Summary
from supersample.summary import state as states
from supersample.summary.partition import empty_of, merged, packed, running_of, tree
from supersample.summary.snapshot import Snapshot
from supersample.summary.state import Request, State

__all__ = [
    "failed",
    "finish",
    "gathered_rows",
    "head",
    "label_of",
    "merge_parts",
    "naming",
    "packed",
    "rows_of",
    "spread",
    "spread_rows",
    "stopped",
    "summarize_part",
    "tree",
    "unreadable",
    "warm_up",
]

#: The bytes of a partition without rows.
NOTHING = b""
#: Partitions whose first rows a warm-up looks at, if these have enough rows.
SPREAD = 8


def label_of(n_parts: int) -> str:
    """Return the name of a run's data; it is the same for all engines, since a summary's bytes hold it."""
    return plural(n_parts, "partition")


def head(index: int, most: int, weight: str | None, source: Any) -> bytes:
    """Return the first rows of a partition, at most so many, as an Arrow stream.

    Rows of weight zero are skipped: they carry no information, and there may be any number of them.
    """
    held: list[pa.RecordBatch] = []
    with naming(index):
        given = open_source(source)
        missing = most
        for batch in given.batches(0):
            some = _counting(batch, weight).slice(0, missing)
            held.append(some)
            missing -= some.num_rows
            if missing == 0:
                break
    return _written(pa.Table.from_batches(held, given.schema))


def rows_of(head: bytes) -> pa.Table:
    """Return the rows that `head` returned; none for an engine's empty partition."""
    if not head:
        return pa.table({})
    try:
        table = pa.ipc.open_stream(head).read_all()
        table.validate(full=True)
    except DAMAGE as error:
        raise InputError(
            f"the first rows of a partition came back damaged: {one_line(error)}; run again, and look for what changes "
            f"bytes on their way between workers"
        ) from error
    return table


def spread_rows(n_parts: int, heads: Callable[[Sequence[int], int], Iterable[bytes]]) -> dict[int, pa.Table]:
    """Return as many rows as a warm-up needs, or all if there are fewer: the first ones of partitions spread over all of them.

    heads: returns the heads of these partitions, at most so many rows of each. If equal numbers from each do not suffice,
    because some partitions are short, more are taken from the first ones that have more. Returns tables with rows, by partition
    and in their order.
    """
    found: dict[int, pa.Table] = {}
    most = -(-WARM_UP // min(n_parts, SPREAD))

    def read(group: Sequence[int], most: int) -> bool:
        found.update(zip(group, map(rows_of, heads(group, most)), strict=True))
        return bool(sum(table.num_rows for table in found.values()) >= WARM_UP)

    if not any(read(group, most) for group in spread(n_parts)):
        longer = [index for index in range(n_parts) if found[index].num_rows == most]
        any(read([index], WARM_UP) for index in longer)
    tables, missing = {}, WARM_UP
    for index in sorted(index for index, table in found.items() if table.num_rows):
        if missing > 0:
            tables[index] = found[index].slice(0, missing)
            missing -= tables[index].num_rows
    return tables


def spread(n_parts: int) -> Iterator[list[int]]:
    """Yield groups of partitions, each spread evenly over all of them: 8, as many between these, then twice as many, ...

    >>> [len(group) for group in spread(100)], next(spread(100))[:4]
    ([8, 8, 16, 32, 36], [0, 12, 25, 37])
    """
    seen: set[int] = set()
    size = SPREAD
    while len(seen) < n_parts:
        group = sorted({place * n_parts // size for place in range(size)} - seen)
        seen.update(group)
        size *= 2
        yield group


def warm_up(tables: Mapping[int, pa.Table], request: Request, label: str) -> bytes:
    """Fix schema, encoding and feature maps from some rows of partitions, by index; return an empty state with them."""
    if not tables:
        what = "row" if request.weight is None else f"row of positive weight in column {request.weight!r}"
        raise InputError(f"source must have at least one {what}, got none from {label}")
    without(open_source(next(iter(tables.values()))), request.options.drop)  # refuses names that no column has
    try:
        return packed(states.learned_from(request, list(tables.values()), label))
    except SupersampleError:
        for index, table in tables.items():  # the error names neither the partition nor the row in it
            with naming(index):
                states.gathered(request, [table], label)
        raise


def gathered_rows(tables: Mapping[int, pa.Table], request: Request, label: str) -> Source:
    """Return some rows of partitions, by index, as one source, without the columns that are dropped."""
    if not tables:
        raise InputError(f"source must have at least one row, got none from {label}")
    schema = reduce(lambda left, right: promote(left, right, label), (table.schema for table in tables.values()))
    batches = [conform(batch, schema, label) for table in tables.values() for batch in table.combine_chunks().to_batches()]
    return without(open_source(pa.Table.from_batches(batches, schema)), request.options.drop)


def summarize_part(empty: bytes, index: int, source: Any) -> bytes:
    """Return the state of one partition, starting from a warmed-up empty state.

    Time O(n (d D + M)); memory of a batch and of the state, if the source is read in batches.
    """
    state: State = states.part(empty_of(empty), index)
    with naming(index):
        for batch in open_source(source).batches(0):
            state = states.update(state, batch)
    pa.default_memory_pool().release_unused()  # else a worker's memory grows with the number of partitions
    return packed(state) if state.n_seen else NOTHING


def merge_parts(left: bytes, right: bytes) -> bytes:
    """Return the state of two neighbours, the rows of `right` after those of `left`.

    At worst O(M^2 D), whatever the number of rows.
    """
    return merged(left, right) if left and right else left or right


def finish(data: bytes, label: str) -> Summary:
    """Return the summary of the state that a run ended with."""
    if not data:
        raise InputError(f"source must have at least one row, got none from {label}")
    return Summary(Snapshot(running_of(data)), label)


def unreadable(index: int | str, error: BaseException) -> SupersampleError:
    """Return the one error of a run whose partition `index` could not be read; "0 or 2" if it is one of them."""
    if isinstance(error, SupersampleError):
        message = str(error)
        return error if message.startswith("partition ") else type(error)(f"partition {index}: {message}")
    return failed(index, f"{type(error).__name__}: {one_line(error)}")


def failed(index: int | str, why: str) -> InputError:
    """Return the error that says that a partition could not be read, and why."""
    return InputError(
        f"partition {index} could not be read: {why}; nothing was returned; fix or leave out that partition and retry"
    )


def stopped(engine: str, what: str, why: str) -> InputError:
    """Return the error of a run that failed for a reason that lies in no single partition."""
    return InputError(f"source could not be worked on by {engine} ({what}): {why}; nothing was returned; fix it and retry")


@contextmanager
def naming(index: int) -> Iterator[None]:
    """Name the partition in any error raised inside."""
    try:
        yield
    except Exception as error:
        raise unreadable(index, error) from error


def _counting(batch: pa.RecordBatch, weight: str | None) -> pa.RecordBatch:
    if weight is None or weight not in batch.schema.names:
        return batch  # a missing column is refused later, where the columns are checked
    try:
        counts = pc.fill_null(pc.not_equal(batch.column(weight), 0), True)
    except pa.ArrowException:
        return batch  # so are weights that are not numbers
    return batch.filter(counts)


def _written(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]
