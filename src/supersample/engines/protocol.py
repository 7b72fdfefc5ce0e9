"""What an engine is: a module with two functions, over partitions that stay where they are.

The work itself is in `partition_tasks` and `herding_tasks`, as functions from bytes to bytes; an engine brings them to the
partitions and the results back. `local` is the shortest one, and all others must give its bytes.
"""

from collections.abc import Callable
from typing import Any, Protocol

from supersample.engines.job import Job, Parts
from supersample.summary import Summary

__all__ = ["Cluster", "Engine"]


class Cluster(Parts, Protocol):
    """The partitions of a frame: work on each in order, and on groups of rows from all of them."""

    def each(self, work: Callable[[int, Any], bytes]) -> list[bytes]:
        """Return work(index, rows) for each partition."""

    def grouped(self, split: Callable[[int, Any], list[bytes]], work: Callable[[list[bytes]], bytes]) -> list[bytes]:
        """Return work(pieces) for each group, with the pieces that `split` cut for it from each partition."""


class Engine(Protocol):
    """A module that runs jobs over the partitions of a frame."""

    def run(self, frame: Any, job: Job) -> Summary:
        """Summarise the partitions of a frame; the bytes are those of the local engine."""

    def cluster(self, frame: Any) -> Cluster:
        """Return the partitions of a frame, for distributed herding."""
