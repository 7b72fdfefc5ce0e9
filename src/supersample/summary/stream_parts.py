"""Rows of an array that are taken in part by part by several workers, and merged; the parts follow from the rows alone."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from supersample._processes import Frame, Task, workers
from supersample._reducing import part_rows, reduced
from supersample._typing import Floats, Points
from supersample.embedding.moments import ScaledWeights
from supersample.errors import InputError
from supersample.selection import stream
from supersample.selection.stream import merging
from supersample.selection.stream.lifecycle import Stream
from supersample.selection.stream.plan import WARM_UP
from supersample.selection.stream.rows import Rows
from supersample.storage.codec import pack, unpack
from supersample.storage.container import Contents, from_bytes, to_bytes
from supersample.summary.row_store import held_points, held_positions

__all__ = ["merged_frames", "streamed_frames", "take_in_parts"]

_HERE = "supersample.summary.stream_parts"
#: Coordinates that are sent to a worker at a time.
_SENT = 1 << 20


def take_in_parts(start: Stream, points: Points, weights: ScaledWeights, times: Floats | None, n_jobs: int) -> Stream | None:
    """Return the stream of all rows after an empty one, by parts that are merged in order; None if there is one part only.

    Bandwidth and features are fixed by the first rows, as in one stream, unless the stream has them already.
    """
    settings = start.settings
    size = part_rows(len(points), points.shape[1], settings.n_prototypes)
    starts = range(0, len(points), size)
    planned = _with_plan(start, points, weights, times) if len(starts) > 1 else None
    if planned is None:
        return None
    arguments = {"regularizer": settings.regularizer, "n_held_out": settings.n_held_out}
    empty = _packed_empty(planned)

    def part(place: int) -> Task:
        return Task((0, place), f"{_HERE}:streamed_frames", {"place": place, **arguments}, lambda: frames(starts[place]))

    def frames(start: int) -> Iterator[tuple[int, Frame]]:
        yield 0, empty
        step = max(1, _SENT // points.shape[1])
        for first in range(start, min(len(points), start + size), step):
            some = slice(first, min(len(points), start + size, first + step))
            arrays = [points[some], weights.mantissas[some], weights.exponents[some]]
            yield 0, _sent({}, arrays if times is None else [*arrays, times[some]])

    def merge(key: Any, left: bytes, right: bytes) -> Task:
        return Task(key, f"{_HERE}:merged_frames", arguments, lambda: iter([(0, left), (0, right)]))

    with workers(min(n_jobs, len(starts))) as pool:
        data = reduced(pool, [part(place) for place in range(len(starts))], merge, lambda _: None)
    return replace(_unpacked(data, settings.regularizer, settings.n_held_out), settings=settings)


def streamed_frames(frames: Iterator[bytes], place: int, regularizer: Any, n_held_out: int) -> bytes:
    """Return the stream of a part; the frames are an empty stream with features, then points with their weights and times."""
    state = _unpacked(next(frames), regularizer, n_held_out)
    own = replace(state.settings, seed=state.settings.seed.child("part").child(place))
    state = stream.init(own, state.width, state.plan, aim=state.aim)
    for frame in frames:
        points, mantissas, exponents, *times = from_bytes(frame, "rows of a part").arrays
        positions = np.arange(len(points), dtype=np.int64)
        rows = Rows(points.astype(np.float64, copy=False), positions, mantissas, exponents)
        state = stream.update(state, rows, times[0] if times else None)
    return _packed(state)


def merged_frames(frames: Iterator[bytes], regularizer: Any, n_held_out: int) -> bytes:
    """Return the stream of two neighbours, which are the frames."""
    left, right = (_unpacked(next(frames), regularizer, n_held_out) for _ in range(2))
    return _packed(merging.merge(left, right))


def _with_plan(state: Stream, points: Points, weights: ScaledWeights, times: Floats | None) -> Stream | None:
    """Return an empty stream whose features the first rows of positive weight have fixed; None if there are too few."""
    if state.plan is not None:
        return state
    settings = state.settings
    for start in range(0, len(points), WARM_UP):
        some = slice(start, start + WARM_UP)
        rows = points[some].astype(np.float64, copy=False)
        taken = Rows(rows, np.arange(len(rows), dtype=np.int64), weights.mantissas[some], weights.exponents[some])
        state = stream.update(state, taken, None if times is None else times[some])
        if state.plan is not None:
            return stream.init(settings, state.width, state.plan)
    return None


def _packed_empty(state: Stream) -> bytes:
    try:
        return _packed(state)
    except InputError as error:
        raise InputError(f"n_jobs must be left out here, since workers get what can be stored: {error}") from error


def _packed(state: Stream) -> bytes:
    arrays: list[np.ndarray[Any, Any]] = []
    positions = held_positions(state)
    held = [held_points(state, positions), positions]
    return _sent({"stream": pack(state, arrays)}, [*held, *arrays])


def _unpacked(data: bytes, regularizer: Any, n_held_out: int) -> Stream:
    contents = from_bytes(data, "the stream of a part")
    points, positions, *arrays = contents.arrays

    def points_at(wanted: Any) -> Floats:
        return np.asarray(points[np.searchsorted(positions, wanted)], dtype=np.float64)

    state: Stream = unpack(contents.header["stream"], arrays, points_at)
    settings = replace(state.settings, regularizer=regularizer, n_held_out=n_held_out)  # neither is stored
    state = replace(state, settings=settings)
    state.check(positions)
    return state


def _sent(header: dict[str, Any], arrays: list[Any]) -> bytes:
    return to_bytes(Contents(header, arrays, pa.table({})))
