"""Lines of text, cut into batches of whole rows; those that cannot be read are found by halves, and the others go on."""

from collections.abc import Callable, Iterator
from typing import Any

from supersample.live.batch import Batch, Unread
from supersample.live.decoding import DecodingError
from supersample.live.sources.protocol import Context

__all__ = ["Lines"]

#: Bytes of a batch, about; and of one line, at most.
_BATCH, _LONGEST = 1 << 20, 16 << 20
#: Lines of a batch that are set aside one by one; of more than that, which are hardly lines of the format, many at a time.
_ASIDE = 20


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
        self, id_of: Callable[[], str], position_of: Callable[[int], Any] = lambda _: None
    ) -> Iterator[Batch | Unread]:  # fmt: skip
        """Yield the next batch, and forget its lines; what cannot be decoded at the moment stays.

        id_of: names what comes next. position_of: takes the bytes that have left.
        """
        end = self._held.rfind(b"\n", 0, _BATCH) + 1 or self._held.find(b"\n") + 1 or len(self._held)
        aside = 0
        ends = [end]
        while ends:
            body, batch_id = bytes(self._held[: ends[-1]]), id_of()
            reason, plain, table = "the lines are empty", True, None
            if body.strip():
                try:
                    table = self._context.decoders.decode(self.header + body, self._form, "", self._context.schema())
                except DecodingError as error:
                    middle = _middle(body) if aside < _ASIDE else 0
                    if middle:
                        ends[-1:] = [len(body) - middle, middle]
                        continue
                    reason, plain = str(error), error.plain
            ends.pop()
            del self._held[: len(body)]
            self.done += len(body)
            position, name = position_of(self.done), self._context.name
            if table is None:
                aside += 1
                yield Unread(batch_id, reason, body if body.strip() else b"", name, position, plain=plain)
            else:
                yield Batch(batch_id, table, name, position, filled=True)


def _middle(body: bytes) -> int:
    """Return where the second half of lines begins; 0 if there is only one."""
    half = len(body) // 2
    after, before = body.find(b"\n", half) + 1, body.rfind(b"\n", 0, half) + 1
    return after if after < len(body) and after else before
