"""Lines of text, cut into batches of whole rows."""

from typing import Any

from supersample.live.batch import Batch, Unread
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

    def taken(self, batch_id: str, **more: Any) -> Batch | Unread:
        """Return the next batch, and forget its lines; if it cannot be decoded at the moment, it stays the next one."""
        end = self._held.rfind(b"\n", 0, _BATCH) + 1 or self._held.find(b"\n") + 1 or len(self._held)
        body, name = bytes(self._held[:end]), self._context.name
        table, reason = None, "the lines are empty"
        if body.strip():
            try:
                table = self._context.decoders.decode(self.header + body, self._form, "", self._context.schema())
            except DecodingError as error:
                reason = str(error)
        del self._held[:end]
        self.done += end
        position = {"position": more["position"](self.done)} if "position" in more else {}
        if table is None:
            return Unread(batch_id, reason, body if body.strip() else b"", name, **position)
        return Batch(batch_id, table, name, filled=True, **position)
