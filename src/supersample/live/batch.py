"""What comes in: a batch of rows with its id, and what became of it."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from supersample.errors import SupersampleError

__all__ = ["HTTP", "Batch", "FullError", "Halving", "RefusedError", "Taken", "UnavailableError", "Unread"]

#: The source of rows that come by POST.
HTTP = "http"
#: Attempts to find the rows of a batch that cannot be used: those without success one after the other, and all.
_IN_VAIN, _ATTEMPTS = 64, 4_000


@dataclass(frozen=True)
class Batch:
    """Rows that are counted together or not at all.

    id: names the batch within its source; one that was acknowledged before is acknowledged again and not counted.
    source: who it comes from: `HTTP`, or the name of a source of the configuration.
    position: where the source goes on after this batch, as plain values of JSON; it becomes durable with the batch.
    filled: whether columns that the rows lack are missing values, as in NDJSON.
    parts: yields the same rows as smaller batches, each with an id and a position of its own; taken in instead if some of the
    rows cannot be used, so that the others are counted. None: all of them or none.
    """

    id: str
    table: pa.Table
    source: str = HTTP
    position: Any = None
    filled: bool = False
    parts: "Callable[[], Iterable[Batch | Unread]] | None" = None
    received: float = field(default_factory=time.time)


@dataclass(frozen=True)
class Unread:
    """A batch that could not be read: it is set aside with the reason.

    content: its first bytes, as they came. position: as of `Batch`; the source goes on after it. plain: whether the reason
    holds nothing of the batch, so that it may be kept where columns are dropped or redacted.
    """

    id: str
    reason: str
    content: bytes = b""
    source: str = HTTP
    position: Any = None
    received: float = field(default_factory=time.time)
    plain: bool = False


@dataclass
class Halving:
    """Whether rows of one batch that cannot be used are still looked for, by halves: as long as others are found that can be.

    attempts: how often rows were tried, together or alone. in_vain: how often since some could be used.
    """

    attempts: int = 0
    in_vain: int = 0

    @property
    def goes_on(self) -> bool:
        """Whether rows that cannot be used together are worth more attempts."""
        return self.in_vain < _IN_VAIN and self.attempts < _ATTEMPTS

    def tried(self) -> None:
        """Count an attempt."""
        self.attempts, self.in_vain = self.attempts + 1, self.in_vain + 1

    def found(self) -> None:
        """Say that the attempt gave rows that can be used."""
        self.in_vain = 0


@dataclass(frozen=True)
class Taken:
    """What became of a batch that is durable: its rows are counted, or they were before."""

    rows: int
    repeated: bool


class RefusedError(SupersampleError, ValueError):
    """The rows of a batch cannot be used; it was set aside, and sending it again will not help.

    kept: the reason as it is kept and told to others than the sender; it lacks what dropped or redacted columns may hold.
    """

    def __init__(self, message: str, kept: str | None = None) -> None:
        """Keep both reasons."""
        super().__init__(message)
        self.kept = message if kept is None else kept


class FullError(SupersampleError, RuntimeError):
    """The stream cannot keep up; nothing of the batch was kept, and it can be sent again after `retry_after` seconds."""

    def __init__(self, message: str, retry_after: float) -> None:
        """Keep when to come back."""
        super().__init__(message)
        self.retry_after = retry_after


class UnavailableError(SupersampleError, RuntimeError):
    """The stream cannot take rows at the moment, because its disk is full for example; nothing of the batch was kept."""
