"""What a source is: something that gives batches with ids, from a position on."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

from supersample.live.batch import Batch, Unread
from supersample.live.decoding import Decoders
from supersample.live.settings import Limits

__all__ = ["Context", "Source", "SourceError", "Step"]

#: What a source gives: a batch, a batch that cannot be read, or None if there is nothing at the moment.
Step = Batch | Unread | None


class SourceError(Exception):
    """A source does not answer: it is opened again after a pause, from the last position that is durable."""


@dataclass(frozen=True)
class Context:
    """What a source may use.

    name: its own, for `Batch.source`. schema: the columns of the stream, None before its first rows.
    told: takes a sentence that someone may want to read.
    """

    name: str
    decoders: Decoders
    limits: Limits
    schema: Callable[[], pa.Schema | None]
    told: Callable[[str], None] = lambda _: None


class Source(Protocol):
    """A source of one stream, made from its options by a line of the registry.

    `steps(position)` yields what there is after a position, which is that of the last batch that became durable, or None at
    the start. Each batch carries the position after it, as values of JSON, and an id that is the same whenever the same rows
    are read again. A batch without a position, of a source that cannot go back, is put again if the stream could not keep it.
    Where there is nothing, it yields None, and is asked again after a pause. It may raise SourceError or OSError: then it is
    said, and `steps` is called again after a pause that grows. So it is after any other error, which is a fault of the program.
    It ends when it has no more rows, ever.
    `wants_end`: whether the service is to end when it has ended.
    """

    wants_end: bool

    def steps(self, position: Any) -> Iterator[Step]:
        """Yield what there is after a position."""
        ...

    def close(self) -> None:
        """Let go of what is open; from any thread, while `steps` may wait."""
        ...


#: What a line of the registry is: it makes a source of options, and refuses those that it cannot use with an InputError.
Maker = Callable[[Mapping[str, Any], Context], Source]
