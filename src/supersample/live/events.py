"""Events for listeners: the streams that changed since the last event. A slow listener makes no queue grow."""

import asyncio
import threading
from collections.abc import AsyncGenerator

from supersample.live.batch import FullError

__all__ = ["Hub"]

#: Seconds between two pieces of news to one listener, at least, and until a sign of life.
_APART, _SILENCE = 0.5, 15.0


class Hub:
    """Tells listeners of an event loop what threads announce."""

    def __init__(self, listeners: int) -> None:
        self._most = listeners
        self._lock = threading.Lock()
        self._listeners: dict[asyncio.Event, tuple[asyncio.AbstractEventLoop, set[str]]] = {}
        self._closed = False

    def announce(self, name: str) -> None:
        """Say that a stream has changed; from any thread."""
        with self._lock:
            for event, (loop, news) in self._listeners.items():
                news.add(name)
                if not loop.is_closed():
                    loop.call_soon_threadsafe(event.set)

    def close(self) -> None:
        """Let every listener go."""
        with self._lock:
            self._closed = True
            for event, (loop, _) in self._listeners.items():
                if not loop.is_closed():
                    loop.call_soon_threadsafe(event.set)

    def listen(self, names: set[str]) -> AsyncGenerator[set[str], None]:
        """Return names of streams that have changed, again and again; an empty set after a silence. The first are all `names`.

        Raises FullError if there are too many listeners.
        """
        event = asyncio.Event()
        with self._lock:
            if len(self._listeners) >= self._most:
                raise FullError("too many listeners; close a page, or come back later", 10.0)
            self._listeners[event] = (asyncio.get_running_loop(), set(names))
        event.set()
        return self._news(event)

    async def _news(self, event: asyncio.Event) -> AsyncGenerator[set[str], None]:
        try:
            while not self._closed:
                try:
                    await asyncio.wait_for(event.wait(), _SILENCE)
                except TimeoutError:
                    yield set()
                    continue
                with self._lock:
                    event.clear()
                    loop, news = self._listeners[event]
                    self._listeners[event] = (loop, set())
                yield news
                await asyncio.sleep(_APART)
        finally:
            with self._lock:
                self._listeners.pop(event, None)
