"""The service: its streams, what feeds them, what listens to them, and how it starts and ends."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from traceback import walk_tb

from supersample.errors import InputError
from supersample.history.times import shown_alarm
from supersample.live.bodies import Bodies
from supersample.live.decoding import Decoders
from supersample.live.events import Hub
from supersample.live.feeding import Feed
from supersample.live.metrics import Metrics
from supersample.live.settings import ServiceSettings
from supersample.live.sources import Context, source_of
from supersample.live.stream import Stream
from supersample.live.webhooks import Webhooks

__all__ = ["Service"]

#: Comparisons, profiles and prototypes that are computed or wait for it, at most.
_COMPUTATIONS = 16


class Service:
    """Everything that runs beside the web server. told: takes what happens, as the kind of event and its values.

    `start` before the first request, `stop` after the last one.
    """

    def __init__(self, settings: ServiceSettings, told: Callable[..., None] = lambda *_, **__: None) -> None:
        self.settings, self._told = settings, told
        if not settings.streams:
            raise InputError(
                "streams must have at least one stream; give --time and --every, or a configuration that names some"
            )
        if len({each.name for each in settings.streams}) < len(settings.streams):
            raise InputError("streams must have different names")
        self.hub = Hub(settings.limits.listeners)
        self.decoders = Decoders(settings.limits)
        self.metrics = Metrics(self)
        self.webhooks = Webhooks(settings.webhooks, told)
        self.bodies = Bodies(settings.limits.queue_bytes)
        #: Threads that wait for decoding, and one for what takes a while, so that rows come first.
        self.decoding = ThreadPoolExecutor(2 * settings.limits.decoders, "decoding")
        self.computing = ThreadPoolExecutor(1, "computing")
        self.computations = asyncio.Semaphore(_COMPUTATIONS)
        #: One for what is long, but only looked up, so that it waits for none of these.
        self.reading = ThreadPoolExecutor(1, "reading")
        self.streams: dict[str, Stream] = {}
        self._told_alarms: dict[str, int] = {}
        self.feeds: list[Feed] = []
        #: Set when all sources that say so have ended.
        self.done = threading.Event()

    def start(self) -> None:
        """Open the streams, replay what their histories do not hold yet, and let rows in."""
        try:
            for each in self.settings.streams:
                outgoing = partial(self.webhooks.outgoing, each.name)
                folder = self.settings.folder / each.name
                self.streams[each.name] = stream = Stream(each, folder, self.settings.limits, self._changed, outgoing)
                self.webhooks.watch(stream)
                for one in each.sources:
                    noticed = partial(self._noticed, each.name, one.name)
                    context = Context(one.name, self.decoders, self.settings.limits, stream.schema, noticed)
                    self.feeds.append(Feed(stream, one.name, source_of(one, context), self._told, self._ended))
        except BaseException:
            self._close()
            raise
        for name, stream in self.streams.items():
            self._told_alarms[name] = len(stream.timeline.alarms) if stream.timeline is not None else 0
            stream.start()
        self.webhooks.start()
        for feed in self.feeds:
            feed.start()

    def stop(self) -> None:
        """Let no more rows in, take in those that wait, save, and end."""
        for feed in self.feeds:
            feed.stop()
        self._close()

    def _close(self) -> None:
        self.hub.close()
        for stream in self.streams.values():
            stream.stop()
        self.webhooks.stop()
        for stream in self.streams.values():
            stream.close()
        self.decoders.close()
        self.decoding.shutdown(wait=False, cancel_futures=True)
        self.computing.shutdown(wait=False, cancel_futures=True)
        self.reading.shutdown(wait=False, cancel_futures=True)

    def ready(self) -> dict[str, str]:
        """Return what keeps streams from taking rows, by name; empty if all do."""
        found = {name: each.trouble or ("" if each.alive else "it has ended") for name, each in self.streams.items()}
        return {name: reason for name, reason in found.items() if reason}

    def fault(self, endpoint: str, error: Exception) -> None:
        """Say that an end point failed, and where; not the text of the error, which may quote rows."""
        where = [f"{frame.f_code.co_filename}:{line}" for frame, line in walk_tb(error.__traceback__)]
        with suppress(Exception):  # what takes the news may be what failed
            self._told("fault", endpoint=endpoint, reason=type(error).__name__, where=where)

    def _changed(self, name: str) -> None:
        self.hub.announce(name)
        self.webhooks.wake()
        stream = self.streams.get(name)
        state = None if stream is None else stream.timeline
        if state is None:
            return
        for number in range(self._told_alarms.get(name, 0) + 1, len(state.alarms) + 1):
            alarm = shown_alarm(state.alarms[number - 1], state.rules)
            self._told("alarm", stream=name, number=number, text=str(alarm), change=alarm.change, what=alarm.in_words())
        self._told_alarms[name] = len(state.alarms)

    def _noticed(self, stream: str, source: str, text: str) -> None:
        self._told("noticed", stream=stream, source=source, text=text)

    def _ended(self) -> None:
        if all(feed.ended for feed in self.feeds if feed.ends_service):
            self.done.set()
