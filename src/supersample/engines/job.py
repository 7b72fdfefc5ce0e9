"""The arguments of a run over partitions, checked before anything is read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from supersample.engines.partition_tasks import gathered_rows, packed, spread_rows, warm_up
from supersample.errors import InputError, InputTypeError
from supersample.summary.state import Request, WarmUp
from supersample.summary.summarizing import Options

__all__ = ["Job", "Parts", "job_of"]


class Parts(Protocol):
    """Partitions whose first rows can be looked at."""

    @property
    def count(self) -> int:
        """How many partitions there are."""

    def heads(self, indices: Sequence[int], most: int, weight: str | None = None) -> list[bytes]:
        """Return the first rows of these partitions, at most so many of each, as `partition_tasks.head` does."""


@dataclass(frozen=True)
class Job:
    """A request, and with like= the empty state that partitions start from; without like=, it comes from some of the rows."""

    request: Request
    like: WarmUp | None
    progress: bool
    asked: Options

    def begin(self, parts: Parts, label: str) -> bytes:
        """Return the empty state that every partition starts from; with like=, no row is read for it."""
        if self.like is not None:
            return packed(self.like)
        weight = self.request.weight
        tables = spread_rows(parts.count, lambda indices, most: parts.heads(indices, most, weight))
        if self.asked.target is None:
            return warm_up(tables, self.request, label)
        return packed(self.asked.aimed(gathered_rows(tables, self.request, label), self.request))


def job_of(options: Mapping[str, Any]) -> Job:
    """Turn the arguments of `summarize` into a job; refuse those that have no meaning on a cluster."""
    if options["checkpoint"] is not None:
        raise InputError(
            "checkpoint must be left out for partitions of a cluster, whose engine repeats by itself what was lost; to keep "
            "what is done between runs, summarise parts with like= and merge them"
        )
    if options["n_jobs"] is not None:
        raise InputError(
            f"n_jobs must be left out for partitions of a cluster, whose engine decides how many workers there are, got "
            f"{options['n_jobs']!r}; leave it out"
        )
    if not isinstance(options["progress"], bool):
        raise InputTypeError(
            f"progress must be True or False for partitions of a cluster, whose own display is used, got "
            f"{type(options['progress']).__name__}"
        )
    asked = Options.of(options)
    if options["like"] is not None:
        state = asked.empty_like(options["like"], options["random_state"])
        return Job(state.request, state, options["progress"], asked)
    return Job(asked.request(options["random_state"]), None, options["progress"], asked)
