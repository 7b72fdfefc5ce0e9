"""A thread that takes batches out of a source and puts them into a stream, and says so when the source goes away."""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import suppress
from typing import Any

from supersample.live.batch import Batch, FullError, RefusedError, Taken, UnavailableError, Unread
from supersample.live.pauses import Pauses
from supersample.live.sources import Source, SourceError, Step
from supersample.live.stream import Stream

__all__ = ["Feed"]

#: Seconds until a source that has nothing is asked again; batches on their way at a time.
_ASKED_AGAIN, _MOST_ON_THEIR_WAY = 0.2, 8
#: Errors whose text says enough; of any other one, a fault of the program, the kind is said too.
_AWAY = (SourceError, OSError, UnavailableError)

#: A batch, and what becomes of it.
_OnItsWay = tuple[Batch | Unread, "Future[Taken]"]


class Feed:
    """One source of one stream. ended: whether the source has no more rows, ever. told: takes what happens."""

    def __init__(
        self, stream: Stream, name: str, source: Source, told: Callable[..., None], ended: Callable[[], None]
    ) -> None:  # fmt: skip
        self._stream, self.name, self._source, self._told, self._ended = stream, name, source, told, ended
        self.ends_service = source.wants_end
        self.ended = False
        #: Why the source gives nothing at the moment; empty if all is well.
        self.trouble = ""
        #: Batches that the stream did not keep, of a source without positions, which cannot give them again.
        self._again: deque[Batch | Unread] = deque()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"source {name}", daemon=True)

    @property
    def stream(self) -> str:
        """The name of the stream that is fed."""
        return self._stream.name

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End after the batch at hand; what the source gave and the stream has not taken will be read again."""
        self._stopping.set()
        self._source.close()
        if self._thread.is_alive():
            self._thread.join(5.0)

    def _run(self) -> None:
        pauses = Pauses()
        while not self._stopping.is_set():
            try:
                self._fed(self._steps(), pauses)
            except Exception as error:  # whatever it is, the thread must not end: the source is opened again
                if self._stopping.is_set():
                    return
                pause = pauses.next()
                self.trouble = f"{error}" if isinstance(error, _AWAY) else f"{type(error).__name__}: {error}"
                with suppress(Exception):  # what takes the news may be what failed
                    again = round(pause, 1)
                    self._told("source away", stream=self.stream, source=self.name, reason=self.trouble, again_in=again)
                self._stopping.wait(pause)
            else:
                if not self._stopping.is_set():
                    self.ended = True
                    self._ended()
                return

    def _steps(self) -> Iterator[Step]:
        """Yield what the stream did not keep and the source cannot give again, then what the source has."""
        position = self._stream.resumed(self.name)
        while self._again:
            yield self._again.popleft()
        yield from self._source.steps(position)

    def _fed(self, steps: Iterator[Step], pauses: Pauses) -> None:
        """Put in what there is; a few batches are on their way at a time, in their order.

        None is while the stream has no columns: the batch after it would be read without their types.
        """
        on_their_way: deque[_OnItsWay] = deque()
        try:
            for step in steps:
                if self._stopping.is_set():
                    return
                if step is not None:
                    on_their_way.append((step, self._put(step)))
                alone = step is None or self._stream.schema() is None
                self._arrived(on_their_way, 0 if alone else _MOST_ON_THEIR_WAY)
                self.trouble = ""
                if step is None:
                    self._stopping.wait(_ASKED_AGAIN)
                else:
                    pauses.reset()
            self._arrived(on_their_way, 0)
        finally:
            wait([done for _, done in on_their_way])  # the source must not go back while later batches may still be kept
            self._again.extendleft(reversed([step for step, done in on_their_way if _is_lost(step, done)]))

    def _put(self, step: Any) -> "Future[Taken]":
        while True:
            try:
                return self._stream.take(step)
            except FullError:
                if self._stopping.wait(_ASKED_AGAIN):
                    raise UnavailableError("the service is being closed") from None

    def _arrived(self, on_their_way: "deque[_OnItsWay]", most: int) -> None:
        while len(on_their_way) > most:
            try:
                on_their_way[0][1].result()
            except RefusedError as error:  # it was set aside, and the rest goes on
                self._told("set aside", stream=self.stream, source=self.name, reason=error.kept)
            on_their_way.popleft()


def _is_lost(step: Batch | Unread, done: "Future[Taken]") -> bool:
    """Return whether a batch was not kept, and its source cannot go back to it."""
    return step.position is None and done.exception() is not None and not isinstance(done.exception(), RefusedError)
