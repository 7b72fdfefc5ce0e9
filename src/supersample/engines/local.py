"""The reference engine: one partition after the other in this process. The other engines must give the same bytes."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from supersample.engines.job import Job, job_of
from supersample.engines.partition_tasks import finish, head, label_of, merge_parts, summarize_part, tree
from supersample.errors import InputError
from supersample.summary import Summary
from supersample.summary import summarize as summarize_whole

__all__ = ["cluster", "run", "summarize"]


def summarize(parts: Sequence[Any], **options: Any) -> Summary:
    """Summarise partitions, each a source of its own that can be read twice; options as for `supersample.summarize`.

    Gives the same summary as a cluster with the same partitions.

    >>> import numpy as np
    >>> data = np.random.default_rng(0).normal(size=(6_000, 2))
    >>> summarize([data[:4_000], data[4_000:]], prototypes=20, random_state=0).n_seen
    6000
    """
    bound = inspect.signature(summarize_whole).bind(parts, **options)
    bound.apply_defaults()
    return run(parts, job_of(bound.arguments))


class _Cluster:
    """Partitions in this process."""

    def __init__(self, parts: Sequence[Any]) -> None:
        self.parts = parts

    @property
    def count(self) -> int:
        return len(self.parts)

    def heads(self, indices: Sequence[int], most: int, weight: str | None = None) -> list[bytes]:
        return [head(index, most, weight, self.parts[index]) for index in indices]

    def each(self, work: Callable[[int, Any], bytes]) -> list[bytes]:
        return [work(index, source) for index, source in enumerate(self.parts)]

    def grouped(self, split: Callable[[int, Any], list[bytes]], work: Callable[[list[bytes]], bytes]) -> list[bytes]:
        dealt = [split(index, source) for index, source in enumerate(self.parts)]
        return [work([each[group] for each in dealt]) for group in range(len(self.parts))]


def cluster(parts: Sequence[Any]) -> _Cluster:
    """Return the partitions for distributed herding."""
    return _Cluster(parts)


def run(parts: Sequence[Any], job: Job) -> Summary:
    """Summarise partitions as a job requests. Time and memory of one stream, and one merge for each partition."""
    if len(parts) == 0:
        raise InputError("source must have at least one partition, got none")
    label = label_of(len(parts))
    empty = job.begin(_Cluster(parts), label)
    return finish(tree([summarize_part(empty, index, source) for index, source in enumerate(parts)], merge_parts), label)
