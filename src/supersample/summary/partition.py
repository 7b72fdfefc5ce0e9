"""A part of a table as bytes, which workers and the machines of a cluster send one another; and parts that are merged."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import pyarrow as pa

from supersample.errors import InputError
from supersample.summary import state as states
from supersample.summary.state import Running, State, WarmUp
from supersample.summary.state_file import restore, store

__all__ = ["empty_of", "merged", "merged_frames", "packed", "running_of", "summarized_frames", "tree", "written"]

T = TypeVar("T")


def packed(state: State) -> bytes:
    """Return a state as the bytes that are sent between processes."""
    return store(state, kind="partition", source="")


def empty_of(data: bytes) -> WarmUp:
    """Return the empty state that all parts start from."""
    state = _unpacked(data)
    if not isinstance(state, WarmUp) or state.maps is None:
        raise InputError("the state that partitions start from must have its features fixed and no rows; run again")
    return state


def running_of(data: bytes) -> Running:
    """Return the state of a part with rows."""
    state = _unpacked(data)
    if not isinstance(state, Running) or state.stream.plan is None:
        raise InputError("the state of a partition must have its features fixed, got one without; run again")
    return state


def merged(left: bytes, right: bytes) -> bytes:
    """Return the state of two neighbours, the rows of `right` after those of `left`.

    At worst O(M^2 D), whatever the number of rows.
    """
    return packed(states.merge(running_of(left), running_of(right)))


def tree(leaves: Sequence[T], merge: Callable[[T, T], T]) -> T:
    """Merge pairs of neighbours until one is left; the last of an odd number is kept for the next round.

    >>> tree(["a", "b", "c", "d", "e"], lambda left, right: f"({left} {right})")
    '(((a b) (c d)) e)'
    """
    level = list(leaves)
    while len(level) > 1:
        pairs = [merge(left, right) for left, right in zip(level[::2], level[1::2], strict=False)]
        level = pairs + level[len(pairs) * 2 :]
    return level[0]


def written(batch: pa.RecordBatch) -> pa.Buffer:
    """Return a batch as an Arrow stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue()


def summarized_frames(frames: Iterator[bytes], index: int) -> bytes:
    """Return the state of a part; the frames are the empty state that all parts start from, then batches of rows.

    Time O(n (d D + M)), and the memory of a batch and of the state.
    """
    state: State = states.part(empty_of(next(frames)), index)
    for frame in frames:
        for batch in pa.ipc.open_stream(frame):
            state = states.update(state, batch)
    pa.default_memory_pool().release_unused()  # else a worker's memory grows with the number of parts
    return packed(state)


def merged_frames(frames: Iterator[bytes]) -> bytes:
    """Return the state of two neighbours, which are the frames."""
    return merged(next(frames), next(frames))


def _unpacked(data: bytes) -> State:
    restored = restore(data, "the state of a partition")
    if restored.kind != "partition":
        raise InputError(f"the state of a partition must be one that a worker made, got a {restored.kind}; run again")
    return restored.state
