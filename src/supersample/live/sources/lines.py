"""Lines of text, cut into batches of whole rows; those that cannot be read are found by halves, and the others go on."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from supersample.live.batch import Batch, Halving, Unread
from supersample.live.decoding import DecodingError
from supersample.live.sources.protocol import Context

__all__ = ["Lines"]

#: Bytes of a batch, about; and of one line, at most.
_BATCH, _LONGEST = 1 << 20, 16 << 20


class Lines:
    """Bytes that come piece by piece, and leave as batches of whole lines.

    done: bytes that have left. header: the first line of CSV, which stands before each batch.
    """

    def __init__(self, form: str, context: Context, *, done: int = 0, header: bytes = b"") -> None:
        self._form, self._context = form, context
        self._held = bytearray()
        self._ended = False
        self.done, self.header = done, header

    def add(self, piece: bytes) -> None:
        """Add what came."""
        self._held += piece
        if self._form == "csv" and not self.header and b"\n" in self._held:
            end = self._held.index(b"\n") + 1
            self.header = bytes(self._held[:end])
            del self._held[:end]
            self.done += end

    def end(self) -> None:
        """Say that nothing will come any more, so that the last line is whole."""
        self._ended = True

    @property
    def is_full(self) -> bool:
        """Whether there is enough for a batch."""
        return len(self._held) >= _BATCH and (b"\n" in self._held or len(self._held) >= _LONGEST)

    @property
    def has_rows(self) -> bool:
        """Whether there is a whole line, or a last one."""
        return b"\n" in self._held or (self._ended and bool(self._held))

    def batches(
        self, id_of: Callable[[int], str], position_of: Callable[[int], Any] = lambda _: None
    ) -> Iterator[Batch | Unread]:  # fmt: skip
        """Yield the next batch, and forget its lines; what cannot be decoded at the moment stays.

        id_of: names what comes after so many bytes. position_of: takes the bytes that have left. Both are also called later,
        from another thread.
        """
        end = self._held.rfind(b"\n", 0, _BATCH) + 1 or self._held.find(b"\n") + 1 or len(self._held)
        cut = _Cut(self._form, self._context, self.header, id_of, position_of)
        for done, step in cut.steps(bytes(self._held[:end]), self.done):
            del self._held[: done - self.done]
            self.done = done
            yield step


@dataclass
class _Cut:
    """How the lines of one batch are read, all together or by halves."""

    form: str
    context: Context
    header: bytes
    id_of: Callable[[int], str]
    position_of: Callable[[int], Any]
    halving: Halving = field(default_factory=Halving)

    def steps(self, body: bytes, start: int) -> Iterator[tuple[int, Batch | Unread]]:
        """Yield what lines become that stand at a byte, each with the byte after it."""
        end, middle = start + len(body), _middle(body)
        batch_id, name, position = self.id_of(start), self.context.name, self.position_of(end)
        if not body.strip():
            yield end, Unread(batch_id, "the lines are empty", b"", name, position, plain=True)
            return
        self.halving.tried()
        try:
            table = self.context.decoders.decode(self.header + body, self.form, "", self.context.schema())
        except DecodingError as error:
            if middle and self.halving.goes_on:
                yield from self._halves(body, start, middle)
            else:
                yield end, Unread(batch_id, str(error), body, name, position, plain=error.plain)
            return

        def parts() -> Iterator[Batch | Unread]:
            return (step for _, step in self._halves(body, start, middle))

        self.halving.found()
        yield end, Batch(batch_id, table, name, position, filled=True, parts=parts if middle else None)

    def _halves(self, body: bytes, start: int, middle: int) -> Iterator[tuple[int, Batch | Unread]]:
        yield from self.steps(body[:middle], start)
        yield from self.steps(body[middle:], start + middle)


def _middle(body: bytes) -> int:
    """Return where the second half of lines begins; 0 if there is only one."""
    half = len(body) // 2
    after, before = body.find(b"\n", half) + 1, body.rfind(b"\n", 0, half) + 1
    return after if after < len(body) and after else before
