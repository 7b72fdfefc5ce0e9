"""Summaries of Spark frames: Arrow batches to a state for each partition, rounds of merges, and one small result.

Only DataFrames are used, no RDDs, so that it also works through Spark Connect. Spark's own pages show how far a run has come.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

import pyarrow as pa
from pyspark import TaskContext

from supersample.engines.job import Job
from supersample.engines.parts import NOTHING, finish, growing, head, label_of, merge_parts, summarize_part
from supersample.engines.spark_failures import told
from supersample.errors import InputTypeError
from supersample.records.sources.frames import name_of
from supersample.summary import Summary

__all__ = ["run"]

Batches = Iterable[pa.RecordBatch]

_SCHEMA = "part long, state binary"
_ARROW = pa.schema([("part", pa.int64()), ("state", pa.binary())])


def run(frame: Any, job: Job) -> Summary:
    """Summarise a Spark DataFrame where it lies.

    The partitions that hold the first 5,000 rows are begun once more than the others. A Python worker holds a batch of rows and
    one state, or the two that it merges, whatever the size of a partition; the driver gets the state of the whole.
    """
    if not hasattr(frame, "mapInArrow"):
        raise InputTypeError(f"source must be a Spark DataFrame, got {name_of(frame)}; pass source.to_spark() or .toDF()")
    if frame.isStreaming:
        raise InputTypeError("source must have an end, got a streaming Spark DataFrame; summarise its batches in foreachBatch")
    empty = job.begin(_heads(frame, job.request.weight), "the Spark DataFrame")
    states = _each(frame, lambda index, rows: summarize_part(empty, index, rows)).persist()
    try:
        with told(frame, "one summary for each partition", parts=True):
            n_parts = 1 + max((row.part for row in states.select("part").collect()), default=0)
        with told(frame, f"merging {n_parts} summaries"):
            found = _merged(states, n_parts).collect()
    finally:
        states.unpersist()
    return finish(bytes(found[0].state) if found else NOTHING, label_of(n_parts))


def _heads(frame: Any, weight: str | None) -> Iterator[bytes]:
    """Yield heads of partitions in order. `take` runs the first partitions first, and no more than it needs."""
    heads = _each(frame, lambda index, rows: head(index, weight, rows))
    for group in growing(1 << 30):
        with told(frame, "first rows", parts=True):
            rows = heads.take(group.stop)
        yield from (bytes(row.state) for row in rows[group.start :] if row.state)
        if len(rows) < group.stop:
            return


def _each(frame: Any, work: Callable[[int, Iterator[pa.RecordBatch]], bytes]) -> Any:
    """Return a frame of one row for each partition: its index, and what `work` makes of its rows."""

    def work_on(batches: Batches) -> Iterator[pa.RecordBatch]:
        index = TaskContext.get().partitionId()
        some = (batch for batch in batches if batch.num_rows)
        first = next(some, None)
        yield _row(index, NOTHING if first is None else work(index, chain([first], some)))

    return frame.mapInArrow(work_on, _SCHEMA)


def _merged(states: Any, n_parts: int) -> Any:
    """Merge neighbours by rounds: part 2i and 2i + 1 become part i of the next, one that has no neighbour goes on as it is."""
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
    return pa.Table.from_batches([_row(ordered.column("pair")[0].as_py(), state)])


def _row(part: int, state: bytes) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([part], pa.int64()), pa.array([state], pa.binary())], schema=_ARROW)
