"""Alarms are posted to addresses of the configuration, signed, and again with growing pauses until somebody answers.

Deliveries are written with the batch that raised the alarm, so that none is lost when the process is killed. A target may get
one twice; `Delivery-Id` says so. Each target has a thread, so that none waits for another one that is slow.
"""

import asyncio
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from supersample._plain import plain
from supersample.history import Alarm
from supersample.live.pauses import Pauses
from supersample.live.settings import WebhookSettings
from supersample.live.stream import Stream
from supersample.live.verdict import shown_text

__all__ = ["SIGNATURE", "Webhooks", "signature"]

SIGNATURE = "Supersample-Signature"
#: Attempts until a delivery is given up; with pauses up to an hour they take some two days.
_ATTEMPTS, _LONGEST = 60, 3600.0
#: Seconds until a target has answered, from the first look at its name to the last of its headers.
_SECONDS = 10.0


def signature(secret: str, stamp: str, body: bytes) -> str:
    """Return what proves that a body comes from someone who knows the secret: `t=` when, `v1=` HMAC-SHA256 of when and body."""
    mac = hmac.new(secret.encode(), stamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    return f"t={stamp},v1={mac}"


class _Counts:
    """Counts by the names of streams, which several threads add to."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.failures: dict[str, int] = {}
        self.given_up: dict[str, int] = {}
        self.errors: dict[str, int] = {}

    def watch(self, name: str) -> None:
        self.failures[name] = self.given_up[name] = self.errors[name] = 0

    def add(self, counts: dict[str, int], name: str, times: int = 1) -> None:
        with self._lock:
            counts[name] += times


@dataclass
class _Watched:
    """A stream whose deliveries are posted. resume: when to look again after an error, on the clock of `time.monotonic`."""

    stream: Stream
    pauses: Pauses = field(default_factory=Pauses)
    resume: float = 0.0


class _Courier:
    """Posts what is due for one target, in a thread of its own."""

    def __init__(
        self, target: WebhookSettings, streams: Sequence[Stream], counts: _Counts, told: Callable[..., None]
    ) -> None:  # fmt: skip
        import httpx

        self._target, self._name, self._told, self._counts = target, _name(target), told, counts
        # No limit of httpx, which holds for each read alone: `_posted` has one for all of it.
        self._client = httpx.AsyncClient(timeout=None, follow_redirects=False, trust_env=False)  # noqa: S113
        self._watched = [_Watched(each) for each in streams]
        self._wake, self._stopping = threading.Event(), False
        self._thread = threading.Thread(target=self._run, name=f"webhook {self._name}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        self._wake.set()

    def stop(self) -> None:
        """Post nothing more; what is under way may end."""
        self._stopping = True
        self._wake.set()

    def join(self, seconds: float) -> None:
        self._thread.join(seconds)

    def _run(self) -> None:
        with asyncio.Runner() as runner:
            while not self._stopping:
                self._wake.wait(1.0)
                self._wake.clear()
                for each in self._watched:
                    if time.monotonic() >= each.resume:
                        self._deliver(each, runner)
            runner.run(self._client.aclose())

    def _deliver(self, watched: _Watched, runner: asyncio.Runner) -> None:
        """Post what is due for a stream; after an error of any kind, such as a full disk, leave it alone for a while."""
        stream = watched.stream
        try:
            for number, body, attempts in stream.alarms.due(time.time(), self._name):
                if self._stopping:
                    return
                reason = runner.run(self._posted(body, f"{stream.name}-{number}"))
                self._tried(stream, number, attempts, reason)
        except Exception as error:  # the thread must not end, and other streams are not concerned
            pause = watched.pauses.next()
            watched.resume = time.monotonic() + pause
            self._counts.add(self._counts.errors, stream.name)
            _say_error(self._told, stream, error, pause)
        else:
            watched.pauses.reset()

    def _tried(self, stream: Stream, number: int, attempts: int, reason: str) -> None:
        """Write what became of an attempt. reason: why it failed; empty if it did not."""
        if not reason:
            stream.alarms.delivered(number)
            return
        self._counts.add(self._counts.failures, stream.name)
        if attempts + 1 >= _ATTEMPTS:
            stream.alarms.delivered(number, given_up=reason)
            self._counts.add(self._counts.given_up, stream.name)
            again = None
        else:
            again = min(2.0**attempts, _LONGEST)
            stream.alarms.postponed(number, time.time() + again, reason)
        self._told("webhook failed", stream=stream.name, target=self._name, reason=reason, again_in=again)

    async def _posted(self, body: bytes, delivery: str) -> str:
        """Post, and return why it failed; empty if it did not. What stands below the headers of an answer is not read."""
        target, headers = self._target, {"Content-Type": "application/json", "Delivery-Id": delivery}
        try:
            if target.secret:
                headers[SIGNATURE] = signature(target.secret, str(int(time.time())), body)
            sent = self._client.stream("POST", target.url, content=body, headers=headers)
            async with asyncio.timeout(_SECONDS), sent as answer:
                return "" if answer.is_success else f"the target answered {answer.status_code}"
        except Exception as error:  # whatever it is, only this delivery has failed
            return type(error).__name__  # its text may hold the address


class Webhooks:
    """Posts what is due, each target in a thread. told: takes what happens, without secrets and without parts of an address.

    By the name of a stream: failures: attempts that failed, because of the target or of its settings. given_up: deliveries that
    will not be tried again. errors: how often deliveries ended in another error.
    """

    def __init__(self, settings: Sequence[WebhookSettings], told: Callable[..., None]) -> None:
        self._targets = {_name(each): each for each in settings}
        self._told = told
        self._streams: list[Stream] = []
        self._couriers: list[_Courier] = []
        self._counts = _Counts()
        self.failures, self.given_up, self.errors = self._counts.failures, self._counts.given_up, self._counts.errors

    def outgoing(self, stream: str, number: int, alarm: Alarm) -> Iterator[tuple[str, bytes]]:
        """Yield targets and bodies for an alarm; no value of a row is in them but what its words say."""
        values = {
            "stream": stream, "number": number, "kind": alarm.kind, "change": shown_text(alarm.change),
            "between": [shown_text(each) for each in alarm.between], "at": shown_text(alarm.at),
            "evidence": alarm.evidence, "mmd": alarm.mmd, "changed": alarm.changed, "what": alarm.in_words(),
        }  # fmt: skip
        body = json.dumps(plain(values), ensure_ascii=False).encode()
        for name, target in self._targets.items():
            if not target.streams or stream in target.streams:
                yield name, body

    def watch(self, stream: Stream) -> None:
        """Post what is due for a stream, too; before `start`."""
        self._streams.append(stream)
        self._counts.watch(stream.name)

    def start(self) -> None:
        """Begin, if there is any target."""
        if not self._targets:
            return
        for each in self._streams:
            self._give_up_others(each)
        self._couriers = [_Courier(each, self._streams, self._counts, self._told) for each in self._targets.values()]
        for courier in self._couriers:
            courier.start()

    def wake(self) -> None:
        """Look now whether anything is due."""
        for each in self._couriers:
            each.wake()

    def stop(self) -> None:
        """End; what is due stays due."""
        end = time.monotonic() + _SECONDS + 1.0
        for each in self._couriers:
            each.stop()
        for each in self._couriers:
            each.join(max(end - time.monotonic(), 0.0))

    def _give_up_others(self, stream: Stream) -> None:
        """Give up what is due for targets that are no longer in the configuration; if that fails, at the next start."""
        try:
            given_up = stream.alarms.give_up_others(list(self._targets), "the configuration has no such target any more")
            self._counts.add(self.given_up, stream.name, given_up)
        except Exception as error:  # a disk that is full, for example, is no reason not to start
            self._counts.add(self.errors, stream.name)
            _say_error(self._told, stream, error, None)


def _say_error(told: Callable[..., None], stream: Stream, error: Exception, pause: float | None) -> None:
    again = None if pause is None else round(pause, 1)
    with suppress(Exception):  # what takes the news may be what failed
        told("webhook error", stream=stream.name, reason=f"{type(error).__name__}: {error}", again_in=again)


def _name(target: WebhookSettings) -> str:
    """Return a name of a target that says nothing of its address."""
    return hashlib.sha256(target.url.encode()).hexdigest()[:12]
