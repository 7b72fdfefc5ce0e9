"""Work on blocks of rows with all cores; the result does not depend on the number of cores.

The blocks depend on the data only, not on the number of workers, and BLAS uses one thread inside them. So a block's result does
not depend on which worker computed it, nor on their number.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from supersample._typing import Reals

__all__ = ["BLOCK_ROWS", "ahead", "cut", "map_blocks", "n_workers", "one_blas_thread", "pad"]

#: Rows of a block. A matrix product may round a row differently at the edge of a BLAS tile. So all blocks have one shape, with
#: a number of rows that is a multiple of every tile height in use (4 to 48): a row's result does not depend on its place.
BLOCK_ROWS = 384

_WORKER = "supersample-worker"

T = TypeVar("T")
R = TypeVar("R")


@cache
def n_workers() -> int:
    """Count the cores that this process may use; OMP_NUM_THREADS, if set, is an upper limit."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    limit = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, min(available, int(limit))) if limit.isdigit() else max(1, available)


@cache
def _blas() -> list[Any]:
    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=n_workers(), thread_name_prefix=_WORKER)


class _BlasLimit:
    """The process-wide limit on BLAS threads: the first user sets it, the last user to leave lifts it.

    An interrupt may stop either half way. So each user has a token and may leave twice, or without having entered, and the
    previous numbers of threads are saved before the first change and cleared after the last.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users: set[object] = set()
        self.held = False
        self.before: list[tuple[Any, int]] = []

    def enter(self, user: object) -> None:
        with self.lock:
            self.users.add(user)
            if not self.held:
                self.before = self.before or [(library, library.get_num_threads()) for library in _blas()]
                for library, _ in self.before:
                    library.set_num_threads(1)
                self.held = True

    def leave(self, user: object) -> None:
        with self.lock:
            self.users.discard(user)
            if not self.users:
                self.held = False
                for library, threads in self.before:
                    library.set_num_threads(threads)
                self.before = []


_LIMIT = _BlasLimit()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread: blocks run in parallel anyway, and the number of threads would change the last digits.

    Can also be used as a decorator.
    """
    user = object()
    try:
        _LIMIT.enter(user)
        yield
    finally:
        try:
            _LIMIT.leave(user)
        except BaseException:
            _LIMIT.leave(user)  # an interrupt must not keep BLAS at one thread for the rest of the process
            raise


def cut(n: int, size: int) -> list[slice]:
    """Cut range(n) into slices of `size`, the last one shorter."""
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def pad(rows: Reals) -> Reals:
    """Return a block of BLOCK_ROWS rows, padded with copies of the last row, so that all are valid input."""
    if rows.shape[0] == BLOCK_ROWS:
        return np.ascontiguousarray(rows)
    block = np.empty((BLOCK_ROWS, rows.shape[1]), dtype=rows.dtype)
    block[: rows.shape[0]] = rows
    block[rows.shape[0] :] = rows[-1]
    return block


def map_blocks(work: Callable[[T], R], blocks: list[T]) -> list[R]:
    """Apply `work` to each block on all cores and return the results in the order of the blocks."""
    if _in_worker():
        return [work(block) for block in blocks]  # a worker that waits for its own pool could deadlock
    with one_blas_thread():
        if len(blocks) < 2 or n_workers() < 2:
            return [work(block) for block in blocks]
        return list(_pool().map(work, blocks))


def ahead(work: Callable[[T], R], items: list[T]) -> Iterator[R]:
    """Yield work(item) in order, computing the next ones on the other cores while the caller uses this one."""
    if len(items) < 2 or n_workers() < 2 or _in_worker():
        yield from map(work, items)
        return
    waiting = deque(_pool().submit(work, item) for item in items[: n_workers()])
    for item in items[n_workers() :]:
        done = waiting.popleft().result()
        waiting.append(_pool().submit(work, item))
        yield done
    while waiting:
        yield waiting.popleft().result()


def _after_fork() -> None:
    """Drop the pool in a forked child: its threads do not exist there, so submitted work would not run."""
    _pool.cache_clear()
    _LIMIT.lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _in_worker() -> bool:
    return threading.current_thread().name.startswith(_WORKER)
