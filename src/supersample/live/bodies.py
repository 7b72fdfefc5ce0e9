"""How many bytes of bodies are held in memory, of all requests together."""

from supersample.live.batch import FullError

__all__ = ["Bodies"]


class Bodies:
    """A count with a bound; used by the event loop alone."""

    def __init__(self, most: int) -> None:
        self._most, self._held = most, 0

    def came(self, size: int) -> None:
        """Count bytes that came, or raise FullError if there are too many."""
        if self._held + size > self._most:
            raise FullError("too many batches are on their way; send this one again later", 1.0)
        self._held += size

    def left(self, size: int) -> None:
        """Count bytes that are no longer held."""
        self._held -= size
