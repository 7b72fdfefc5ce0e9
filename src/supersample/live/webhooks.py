"""Alarms are posted to addresses of the configuration, signed, and again with growing pauses until somebody answers.

Deliveries are written with the batch that raised the alarm, so that none is lost when the process is killed. A target may get
one twice; `Delivery-Id` says so.
"""

import hashlib
import hmac
import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

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
_SECONDS = 10.0


def signature(secret: str, stamp: str, body: bytes) -> str:
    """Return what proves that a body comes from someone who knows the secret: `t=` when, `v1=` HMAC-SHA256 of when and body."""
    mac = hmac.new(secret.encode(), stamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    return f"t={stamp},v1={mac}"


@dataclass
class _Watched:
    """A stream whose deliveries are posted. resume: when to look again after an error, on the clock of `time.monotonic`."""

    stream: Stream
    pauses: Pauses = field(default_factory=Pauses)
    resume: float = 0.0


class Webhooks:
    """Posts what is due, in a thread of its own. told: takes what happens, without secrets and without parts of an address.

    By the name of a stream: failures: attempts that failed, because of the target or of its settings. given_up: deliveries that
    will not be tried again. errors: how often deliveries ended in another error.
    """

    def __init__(self, settings: Sequence[WebhookSettings], told: Callable[..., None]) -> None:
        self._targets = {_name(each): each for each in settings}
        self._told = told
        self._watched: list[_Watched] = []
        self.failures: dict[str, int] = {}
        self.given_up: dict[str, int] = {}
        self.errors: dict[str, int] = {}
        self._wake, self._stopping = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None

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
        """Post what is due for a stream, too."""
        self._watched.append(_Watched(stream))
        self.failures[stream.name] = self.given_up[stream.name] = self.errors[stream.name] = 0

    def start(self) -> None:
        """Begin, if there is any target."""
        if self._targets:
            import httpx

            client = httpx.Client(timeout=_SECONDS, follow_redirects=False, trust_env=False)
            self._thread = threading.Thread(target=self._run, args=(client,), name="webhooks", daemon=True)
            self._thread.start()

    def wake(self) -> None:
        """Look now whether anything is due."""
        self._wake.set()

    def stop(self) -> None:
        """End; what is due stays due."""
        self._stopping.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(_SECONDS + 1.0)

    def _run(self, client: Any) -> None:
        with client:
            while not self._stopping.is_set():
                self._wake.wait(1.0)
                self._wake.clear()
                for each in self._watched:
                    if time.monotonic() >= each.resume:
                        self._deliver(client, each)

    def _deliver(self, client: Any, watched: _Watched) -> None:
        """Post what is due for a stream; after an error of any kind, such as a full disk, leave it alone for a while."""
        stream = watched.stream
        try:
            for due in stream.alarms.due(time.time()):
                if self._stopping.is_set():
                    return
                self._post(client, stream, *due)
        except Exception as error:  # the thread must not end, and other streams are not concerned
            pause = watched.pauses.next()
            watched.resume = time.monotonic() + pause
            self.errors[stream.name] += 1
            reason = f"{type(error).__name__}: {error}"
            with suppress(Exception):  # what takes the news may be what failed
                self._told("webhook error", stream=stream.name, reason=reason, again_in=round(pause, 1))
        else:
            watched.pauses.reset()

    def _post(self, client: Any, stream: Stream, number: int, name: str, body: bytes, attempts: int) -> None:
        target = self._targets.get(name)
        if target is None:  # it is no longer in the configuration
            stream.alarms.delivered(number, given_up="the configuration has no such target any more")
            self.given_up[stream.name] += 1
            return
        reason = self._posted(client, target, body, f"{stream.name}-{number}")
        if not reason:
            stream.alarms.delivered(number)
            return
        self.failures[stream.name] += 1
        if attempts + 1 >= _ATTEMPTS:
            stream.alarms.delivered(number, given_up=reason)
            self.given_up[stream.name] += 1
            again = None
        else:
            again = min(2.0**attempts, _LONGEST)
            stream.alarms.postponed(number, time.time() + again, reason)
        self._told("webhook failed", stream=stream.name, target=name, reason=reason, again_in=again)

    @staticmethod
    def _posted(client: Any, target: WebhookSettings, body: bytes, delivery_id: str) -> str:
        """Post, and return why it failed; empty if it did not."""
        headers, stamp = {"Content-Type": "application/json", "Delivery-Id": delivery_id}, str(int(time.time()))
        try:
            if target.secret:
                headers[SIGNATURE] = signature(target.secret, stamp, body)
            answer = client.post(target.url, content=body, headers=headers)
        except Exception as error:  # whatever it is, only this delivery has failed
            return type(error).__name__  # its text may hold the address
        return "" if answer.is_success else f"the target answered {answer.status_code}"


def _name(target: WebhookSettings) -> str:
    """Return a name of a target that says nothing of its address."""
    return hashlib.sha256(target.url.encode()).hexdigest()[:12]
