"""A source that is summarised part by part by several workers; the parts follow from its rows, never from their number."""

import time
from collections.abc import Callable, Iterator
from typing import Any

from supersample._processes import Frame, Task, workers
from supersample._reducing import part_rows, reduced
from supersample.errors import InputError
from supersample.records.sources import Source
from supersample.records.sources.base import Numbered
from supersample.summary.outcome import measure
from supersample.summary.partition import packed, running_of, written
from supersample.summary.progress import Progress
from supersample.summary.state import Running, WarmUp

__all__ = ["numbered", "summarize_in_parts"]

_TASKS = "supersample.summary.partition"


def numbered(given: Source) -> Numbered:
    """Return the rows of a source by number; refuse one that can only be read in order."""
    if given.numbered is None:
        raise InputError(
            f"n_jobs must be left out for {given.label}, whose rows can only be read in order, so that workers would wait for "
            f"one another; write it to Parquet first, or leave n_jobs out"
        )
    return given.numbered()


def summarize_in_parts(rows: Numbered, empty: WarmUp, n_jobs: int, tell: Callable[[Progress], None] | None) -> Running | None:
    """Return the state of all rows, by parts of them that are merged in order; None if there is one part only.

    This process reads and the workers do the rest; the bytes of the result are the same for any number of workers.
    """
    if empty.maps is None:
        return None
    size = part_rows(rows.n_rows, empty.maps.encoding.width, empty.request.settings.n_prototypes)
    starts = range(0, rows.n_rows, size)
    if len(starts) < 2:
        return None
    began, start, seen = time.monotonic(), _packed_empty(empty), 0

    def add_rows(some: int) -> None:
        nonlocal seen
        seen += some
        if tell is not None and some:
            tell(Progress(seen, rows.n_rows, None, time.monotonic() - began, done=False))

    def part(place: int) -> Task:
        first, last = starts[place], min(rows.n_rows, starts[place] + size)

        def frames() -> Iterator[tuple[int, Frame]]:
            yield 0, start
            for batch in rows.between(first, last):
                yield batch.num_rows, written(batch)

        return Task((0, place), f"{_TASKS}:summarized_frames", {"index": place}, frames)

    def merge(key: Any, left: bytes, right: bytes) -> Task:
        return Task(key, f"{_TASKS}:merged_frames", {}, lambda: iter([(0, left), (0, right)]))

    with workers(min(n_jobs, len(starts))) as pool:
        state = running_of(reduced(pool, [part(place) for place in range(len(starts))], merge, add_rows))
    if tell is not None:
        point = measure(state.stream)
        seconds = time.monotonic() - began
        tell(Progress(state.n_seen, rows.n_rows, None if point is None else point.mmd, seconds, done=True))
    return state


def _packed_empty(empty: WarmUp) -> bytes:
    try:
        return packed(empty)
    except InputError as error:
        raise InputError(f"n_jobs must be left out here, since workers get what can be stored: {error}") from error
