"""Summaries of Spark frames: a state for each partition from its Arrow batches, rounds of merges, and one small result.

Only DataFrames are used, so that it works through Spark Connect too, except to start some partitions alone, where that is not
possible. Spark's own pages show the progress of a run.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Any

import pyarrow as pa
from pyspark import StorageLevel, TaskContext

from supersample.engines.job import Job
from supersample.engines.partition_tasks import NOTHING, finish, head, label_of, merge_parts, summarize_part
from supersample.engines.spark_failures import is_remote, spark_errors
from supersample.errors import InputError, InputTypeError
from supersample.records.sources.frames import name_of
from supersample.summary import Summary

__all__ = ["cluster", "run"]

Batches = Iterable[pa.RecordBatch]

_SCHEMA = "part long, state binary"
_ARROW = pa.schema([("part", pa.int64()), ("state", pa.binary())])


def run(frame: Any, job: Job) -> Summary:
    """Summarise a Spark DataFrame on its workers.

    The first rows of up to 8 partitions, spread over all, are read once more than the others, and of more partitions if these
    have fewer than 5,000 rows. A Python worker holds a batch of rows and one state, or the two that it merges, whatever the
    size of a partition; the driver receives the state of the whole. The states of all partitions stay on the workers' disks
    until they are merged.
    """
    frame = _checked(frame)
    empty = job.begin(_Cluster(frame), "the Spark DataFrame")
    with spark_errors(frame, "one summary for each partition"):
        states = _each(frame, lambda index, rows: summarize_part(empty, index, rows)).persist(StorageLevel.DISK_ONLY)
    try:
        with spark_errors(frame, "one summary for each partition", parts=True):
            n_parts = _count(states)
        with spark_errors(frame, f"merge of {n_parts} summaries"):
            found = _merged(states, n_parts).collect()
    finally:
        states.unpersist()
    return finish(bytes(found[0].state) if found else NOTHING, label_of(n_parts))


class _Cluster:
    """The partitions of a frame. Through Spark Connect, all of them are started where some would do."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame

    @cached_property
    def count(self) -> int:
        with spark_errors(self.frame, "number of partitions", parts=True):
            states = _each(self.frame, lambda _, __: NOTHING, only=frozenset())
            return _count(states) if is_remote(self.frame) else int(states.rdd.getNumPartitions())

    def heads(self, indices: Sequence[int], most: int, weight: str | None = None) -> list[bytes]:
        chosen = frozenset(indices)
        with spark_errors(self.frame, "first rows", parts=True):
            states = _each(self.frame, lambda index, rows: head(index, most, weight, rows), only=chosen)
            rows = states.collect() if is_remote(self.frame) else _collect_only(states, indices)
        found = {row.part: bytes(row.state) for row in rows}
        return [found.get(index, NOTHING) for index in indices]

    def each(self, work: Callable[[int, Any], bytes]) -> list[bytes]:
        with spark_errors(self.frame, "first pass", parts=True):
            rows = _each(self.frame, lambda index, rows: work(index, rows), empty=work).collect()
        return [bytes(row.state) for row in sorted(rows, key=lambda row: row.part)]

    def grouped(self, split: Callable[[int, Any], list[bytes]], work: Callable[[list[bytes]], bytes]) -> list[bytes]:
        plain, names = _plainly(self.frame)

        def dealt(batches: Batches) -> Iterator[pa.RecordBatch]:
            index = _index()
            for group, piece in enumerate(split(index, _some(batches, names))):
                yield pa.RecordBatch.from_pydict({"part": [index], "state": [piece], "pair": [group]})

        def chosen(pieces: pa.Table) -> pa.Table:
            ordered = pieces.sort_by("part")
            return _like(pieces, ordered.column("pair")[0].as_py(), work(ordered.column("state").to_pylist()))

        with spark_errors(self.frame, f"choice in {self.count} parts"):
            pieces = plain.mapInArrow(dealt, _SCHEMA + ", pair long").repartition(self.count, "pair")
            rows = pieces.groupBy("pair").applyInArrow(chosen, _SCHEMA).collect()
        return [bytes(row.state) for row in sorted(rows, key=lambda row: row.part)]


def cluster(frame: Any) -> _Cluster:
    """Return the partitions of a frame for distributed herding."""
    return _Cluster(_checked(frame))


def _checked(frame: Any) -> Any:
    kind = type(frame)  # not by attributes: a Column has every one
    if kind.__name__ != "DataFrame" or not kind.__module__.startswith("pyspark.sql"):
        raise InputTypeError(f"source must be a Spark DataFrame, got {name_of(frame)}; pass source.to_spark() or .toDF()")
    if frame.isStreaming:
        raise InputTypeError("source must have an end, got a streaming Spark DataFrame; summarise its batches in foreachBatch")
    if not frame.columns:
        raise InputError("source must have columns, got a Spark DataFrame without any")
    return frame


def _count(states: Any) -> int:
    """Return the number of partitions, given the frame that `_each` returned."""
    return 1 + max((int(row.part) for row in states.select("part").collect()), default=0)


def _collect_only(states: Any, indices: Sequence[int]) -> list[Any]:
    """Return the rows of some partitions; the others are not started."""
    return list(states.sparkSession.sparkContext.runJob(states.rdd, list, partitions=list(indices)))


def _each(
    frame: Any,
    work: Callable[[int, Any], bytes],
    *,
    empty: Callable[[int, Any], bytes] = lambda _, __: NOTHING,
    only: Container[int] | None = None,
) -> Any:
    """Return a frame of one row for each partition: its index, and `work` of its rows, or `empty` if it has none.

    only: the partitions to read, all if None; nothing is read of others, and their state is empty.
    """
    plain, names = _plainly(frame)

    def work_on(batches: Batches) -> Iterator[pa.RecordBatch]:
        index, state = _index(), NOTHING
        if only is None or index in only:
            some = _some(batches, names)
            state = empty(index, None) if some is None else work(index, some)
        yield pa.RecordBatch.from_pydict({"part": [index], "state": [state]}, schema=_ARROW)

    return plain.mapInArrow(work_on, _SCHEMA)


def _plainly(frame: Any) -> tuple[Any, list[str]]:
    """Return the frame with names that Spark cannot misread (a dot in a name would mean a field), and the real names."""
    names = list(frame.columns)
    return frame.toDF(*(f"c{place}" for place in range(len(names)))), names


def _some(batches: Batches, names: list[str]) -> Batches | None:
    """Return the batches that have rows, with their real names, or None if there are none."""
    some = (batch.rename_columns(names) for batch in batches if batch.num_rows)
    first = next(some, None)
    return None if first is None else chain([first], some)


def _index() -> int:
    """Return the index of the partition that this worker is reading."""
    return int(TaskContext.get().partitionId())


def _merged(states: Any, n_parts: int) -> Any:
    """Merge neighbours in rounds: parts 2i and 2i + 1 become part i of the next; one without a neighbour stays as it is."""
    while n_parts > 1:
        n_parts = (n_parts + 1) // 2
        pairs = states.selectExpr("part", "state", "part div 2 as pair").repartition(n_parts, "pair")
        states = pairs.groupBy("pair").applyInArrow(_merge_pair, _SCHEMA)
    return states


def _merge_pair(pair: pa.Table) -> pa.Table:
    ordered = pair.sort_by("part")
    state = NOTHING
    for each in ordered.column("state"):
        state = merge_parts(state, each.as_py())
    return _like(pair, ordered.column("pair")[0].as_py(), state)


def _like(given: pa.Table, part: int, state: bytes) -> pa.Table:
    """Return a row with the types of `given`: depending on its settings, Spark expects large or small binary values."""
    schema = pa.schema([given.schema.field("part"), given.schema.field("state")])
    return pa.table({"part": [part], "state": [state]}, schema=schema)
