"""Repeat an experiment on all cores: independent trials in processes of one thread each."""

import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context

__all__ = ["one_thread_workers"]


@contextmanager
def one_thread_workers() -> Iterator[ProcessPoolExecutor]:
    """Give a pool of one process for each core, where BLAS and the package itself keep to one thread.

    Many short trials side by side finish sooner than one after the other with their threads waiting for each other, and a
    trial's numbers do not depend on the load.
    """
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    before = os.environ.get("OMP_NUM_THREADS")
    with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:
        os.environ["OMP_NUM_THREADS"] = "1"
        try:
            pool.submit(os.getpid).result()  # starts all processes, which read the limit once
        finally:
            if before is None:
                del os.environ["OMP_NUM_THREADS"]
            else:
                os.environ["OMP_NUM_THREADS"] = before
        yield pool
