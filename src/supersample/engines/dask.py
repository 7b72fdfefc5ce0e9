"""Summaries of Dask frames and arrays: a task for each partition, a tree of merges, and one small result.

Uses a `distributed` client if there is one, otherwise the scheduler that Dask is configured with.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

import dask
from dask.base import get_scheduler
from dask.optimization import cull

from supersample._text import one_line
from supersample.engines.job import Job
from supersample.engines.partition_tasks import (
    finish,
    head,
    label_of,
    merge_parts,
    stopped,
    summarize_part,
    tree,
    unreadable,
)
from supersample.errors import InputError, InputTypeError, SupersampleError
from supersample.records.sources.frames import name_of
from supersample.summary import Summary

__all__ = ["cluster", "partitions", "run"]

#: How often a failed task is retried on a cluster, as Spark does by default; its result is the same each time.
_RETRIES = 3
#: Seconds to wait for the other tasks after one has lost its workers.
_PATIENCE = 60


def run(frame: Any, job: Job) -> Summary:
    """Summarise a Dask DataFrame or Array on its workers.

    Up to 8 partitions, spread over all, are read once more than the others, and more of them if these have fewer than 5,000
    rows. A worker holds a partition and the states that it is merging; the caller receives the state of the whole.
    """
    parts = partitions(frame)
    label = label_of(len(parts))
    empty = dask.delayed(job.begin(_Cluster(parts), label))
    leaves = [dask.delayed(summarize_part)(empty, index, part) for index, part in enumerate(parts)]
    (data,) = _computed([tree(leaves, dask.delayed(merge_parts))], dict(enumerate(parts)), progress=job.progress)
    return finish(data, label)


def partitions(frame: Any) -> list[Any]:
    """Return the partitions of a frame, or the blocks of rows of an array, each as one lazy value, in order."""
    kind = type(frame).__name__  # not by attributes: a Delayed has every one
    if kind == "Array":
        if not 1 <= frame.ndim <= 2:
            raise InputError(
                f"source must have one or two dimensions (rows, columns), got a Dask array with {frame.ndim}; reshape it first"
            )
        parts = (frame.rechunk({1: -1}) if frame.ndim == 2 and len(frame.chunks[1]) > 1 else frame).to_delayed().ravel()
    elif kind in ("DataFrame", "Series"):
        parts = (frame if kind == "DataFrame" else frame.to_frame()).to_delayed()
    else:
        raise InputTypeError(f"source must be a Dask DataFrame or Array, got {name_of(frame)}; convert it first")
    if len(parts) == 0:
        raise InputError(f"source must have at least one partition, got none in {name_of(frame)}")
    return list(parts)


class _Cluster:
    """The partitions of a frame."""

    def __init__(self, parts: list[Any]) -> None:
        self.parts = parts

    @property
    def count(self) -> int:
        return len(self.parts)

    def heads(self, indices: Sequence[int], most: int, weight: str | None = None) -> list[bytes]:
        lazy = [dask.delayed(head)(index, most, weight, self.parts[index]) for index in indices]
        return _computed(lazy, {index: self.parts[index] for index in indices})

    def each(self, work: Callable[[int, Any], bytes]) -> list[bytes]:
        shared = dask.delayed(work)
        lazy = [dask.delayed(_call)(shared, index, part) for index, part in enumerate(self.parts)]
        return _computed(lazy, dict(enumerate(self.parts)))

    def grouped(self, split: Callable[[int, Any], list[bytes]], work: Callable[[list[bytes]], bytes]) -> list[bytes]:
        count = self.count
        cutting, working = dask.delayed(split), dask.delayed(work)
        dealt = [dask.delayed(_call, nout=count)(cutting, index, part) for index, part in enumerate(self.parts)]
        chosen = [dask.delayed(_call)(working, [each[group] for each in dealt]) for group in range(count)]
        return _computed(chosen, dict(enumerate(self.parts)))


def _call(work: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function that is sent once to each worker, with the maps it holds, not with each task."""
    return work(*arguments)


def cluster(frame: Any) -> _Cluster:
    """Return the partitions of a frame for distributed herding."""
    return _Cluster(partitions(frame))


def _computed(wanted: list[Any], parts: Mapping[int, Any], *, progress: bool = False) -> list[bytes]:
    """Compute lazy values; if that fails, raise an error that names the partition.

    parts: the partitions that the values come from, by index. Errors of our own functions name their partition. If a partition
    could not be read, the scheduler of a cluster is asked for it; without a cluster, the partitions are read once more to find
    it.
    """
    client = _client()
    return _here(wanted, parts, progress=progress) if client is None else _by_client(client, wanted, parts, progress=progress)


def _here(wanted: list[Any], parts: Mapping[int, Any], *, progress: bool) -> list[bytes]:
    try:
        with _bar() if progress else nullcontext():
            return list(dask.compute(*wanted))
    except SupersampleError:
        raise
    except Exception as error:
        for index, part in parts.items():
            try:
                part.compute()
            except Exception as cause:
                raise unreadable(index, cause) from error
        raise _stopped(error) from error


def _by_client(client: Any, wanted: list[Any], parts: Mapping[int, Any], *, progress: bool) -> list[bytes]:
    futures: list[Any] = []
    try:
        futures = client.compute(wanted, retries=_RETRIES)
        with _aside():
            if progress:
                sys.modules["distributed"].progress(futures, notebook=False)  # the bar of a notebook would have to be displayed
            return list(client.gather(futures))
    except SupersampleError:
        raise
    except Exception as error:
        task = None
        if type(error).__name__ == "KilledWorker":
            task = error.task  # type: ignore[attr-defined]  # Dask's own exception, which is not imported for its class
            # A healthy partition may be blamed before the one that kills its workers: wait until that is blamed as well.
            with suppress(TimeoutError):
                sys.modules["distributed"].wait(futures, timeout=_PATIENCE)
        blamed = _blamed(client, futures, parts, task)
        raise (unreadable(" or ".join(map(str, blamed)), error) if blamed else _stopped(error)) from error
    finally:
        client.cancel(futures)  # after a failure, the remaining tasks are of no use


def _stopped(error: Exception) -> InputError:
    return stopped("Dask", type(error).__name__, one_line(error))


def _blamed(client: Any, futures: list[Any], parts: Mapping[int, Any], task: Any) -> list[int]:
    """Return the partitions that need the tasks blamed by the scheduler; none if it blames a task that several need.

    If a worker dies, Dask counts that against every task that it had, so that a healthy partition may be blamed with the one
    that killed its worker. task: the key of the task that the error itself names, which the scheduler may have dropped since.
    """

    def blamed_for(dask_scheduler: Any, keys: list[Any]) -> list[Any]:  # pickled by value: a scheduler may lack supersample
        blamed = [dask_scheduler.tasks[key].exception_blame for key in keys if key in dask_scheduler.tasks]
        first = next((task for task in blamed if task is not None), None)
        if first is None or "KilledWorker" not in str(first.exception_text):
            return [] if first is None else [first.key]
        return [key for key, task in dask_scheduler.tasks.items() if task.state == "erred" and task.exception_blame is task]

    failed = [future.key for future in futures if future.status == "error"]
    try:
        keys = client.run_on_scheduler(blamed_for, keys=failed) if failed else []
    except Exception:
        return []  # the scheduler does not answer: an error without the number is better than none
    keys = [*keys, *([] if task is None or task in keys else [task])]
    needed = {index: set(cull(dict(part.dask), [part.key])[0]) for index, part in parts.items()}
    needing = [[index for index, tasks in needed.items() if key in tasks] for key in keys]
    return sorted({each[0] for each in needing if len(each) == 1})


@contextmanager
def _aside() -> Iterator[None]:
    """Inside a worker's task, free its slot for the tasks it waits for, as Dask itself does."""
    distributed = sys.modules["distributed"]
    try:
        distributed.secede()
    except ValueError:  # not in a task
        yield
        return
    try:
        yield
    finally:
        distributed.rejoin()


def _client() -> Any:
    """Return the client that Dask would compute with, or None for the schedulers of this process."""
    owner = getattr(get_scheduler(), "__self__", None)
    return owner if hasattr(owner, "gather") else None


def _bar() -> Any:
    from dask.diagnostics import ProgressBar

    return ProgressBar()
