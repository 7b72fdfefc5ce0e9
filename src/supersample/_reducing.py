"""Parts worked on by several workers, and merged in the order of one fixed tree, whichever part is ready first."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from supersample._processes import Inline, Task, Workers

__all__ = ["part_rows", "reduced"]

#: Rows of a part, at least: of narrow rows, and of wide ones, if it has so many coordinates.
_NARROW_ROWS, _WIDE_ROWS, _WIDE_CELLS = 1 << 18, 1 << 16, 1 << 25
#: Rows of a part for each point, at least; and parts at most.
_FOR_EACH_POINT, _MOST_PARTS = 32, 64


def part_rows(n_rows: int, width: int, n_points: int) -> int:
    """Return how many rows a part has, the last one fewer: a power of two that depends on the data and what is asked alone.

    >>> part_rows(20_000_000, 10, 100), part_rows(1_000_000, 768, 1_000)
    (524288, 65536)
    """
    rows = _WIDE_ROWS
    while rows < _NARROW_ROWS and rows * width < _WIDE_CELLS:
        rows *= 2
    while rows < _FOR_EACH_POINT * n_points or rows * _MOST_PARTS < n_rows:
        rows *= 2
    return rows


def reduced(
    pool: Workers | Inline, parts: Sequence[Task], merge: Callable[[Any, bytes, bytes], Task], on_rows: Callable[[int], None]
) -> bytes:
    """Return the parts' results merged in the shape of `tree`: pairs of neighbours, then pairs of these, and so on.

    parts: their keys are (0, place). merge: returns the task, of the given key, that merges two neighbours. A merge begins as
    soon as both of its halves are there, before further parts, so that few results wait. on_rows: called with rows taken in.
    """
    sizes = [len(parts)]
    while sizes[-1] > 1:
        sizes.append((sizes[-1] + 1) // 2)
    waiting, merges, held, given = deque(parts), deque[Task](), dict[tuple[int, int], bytes](), 0
    while True:
        while given < pool.room and (merges or waiting):
            pool.give((merges or waiting).popleft(), on_rows)
            given += 1
        (level, place), data = pool.result()
        given -= 1
        while sizes[level] > 1 and place ^ 1 >= sizes[level]:
            level, place = level + 1, place // 2  # the last of an odd number
        if sizes[level] == 1:
            return data
        other = held.pop((level, place ^ 1), None)
        if other is None:
            held[level, place] = data
        else:
            merges.append(merge((level + 1, place // 2), *((other, data) if place % 2 else (data, other))))
