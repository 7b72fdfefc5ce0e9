"""A stand-in for an open page: the same questions in the same order, without drawing anything.

As the scripts of the page do (`src/supersample/live/page`): on each event it asks for new blocks and for alarms, one question
at a time however fast events come; profile and prototypes are asked for when there are new blocks, at most every 30 s, and at
once when the verdict or an alarm is new. A reader who has all of the page in sight asks for no more than that.
"""

import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import quote

import numpy as np

__all__ = ["Page", "look"]

#: Blocks that the page shows, and seconds between two profiles.
_BLOCKS, _FRESH = 1_000, 30.0
#: Seconds without an event until it asks for a sign of life, and between two looks at that.
_SILENCE, _LOOK = 20.0, 5.0
#: What a change of makes the page ask for profile and prototypes at once.
_CHANGES = ("alarms", "alarm", "since", "verdict")


class _Later:
    """A section that is asked for at most every 30 s: profile or prototypes."""

    def __init__(self, load: Callable[[], object], pool: ThreadPoolExecutor) -> None:
        self._load, self._pool = load, pool
        self._lock = threading.Lock()
        self._asked, self._wanted, self._busy = -_FRESH, True, False

    def refresh(self, *, soon: bool) -> None:
        """Say that there is something new; soon: whether it must be asked for now."""
        with self._lock:
            self._wanted = True
            if soon:
                self._asked = -_FRESH
            if self._busy or time.monotonic() - self._asked < _FRESH:
                return
            self._busy, self._wanted, self._asked = True, False, time.monotonic()
        self._pool.submit(self._run)

    def _run(self) -> None:
        try:
            self._load()
        finally:
            self._busy = False


class Page:
    """One open page that looks at a stream. events: when each came. took: by question, the seconds of each answer."""

    def __init__(self, url: str, name: str) -> None:
        import httpx

        self._path = f"/streams/{quote(name, safe='')}"
        self._client = httpx.Client(base_url=url, timeout=60.0, trust_env=False)
        self._stream = httpx.Client(base_url=url, timeout=60.0, trust_env=False)
        self._pool = ThreadPoolExecutor(4)
        self._lock = threading.Lock()
        self._status: dict[str, Any] | None = None
        self._last: str | None = None
        self._heard = time.monotonic()
        self._busy = self._again = False
        self._later = [
            _Later(lambda: self._ask("prototypes", "/prototypes"), self._pool),
            _Later(lambda: self._ask("profile", self._profile()), self._pool),
        ]
        self.closed = threading.Event()
        self.events: list[float] = []
        self.took: dict[str, list[float]] = {}
        self.troubles: list[str] = []

    def run(self) -> None:
        """Load the page, and listen until the page is closed, or the service ends."""
        import httpx

        try:
            for path in ("/", "/page/main.js", "/page/style.css", "/session"):
                self._client.get(path).raise_for_status()
            with self._stream.stream("GET", "/events") as answer:
                answer.raise_for_status()
                for line in answer.iter_lines():
                    if self.closed.is_set():
                        return
                    if line.startswith("data:"):
                        self.events.append(time.monotonic())
                        self._take(json.loads(line.removeprefix("data:")))
        except httpx.HTTPError as error:
            self.troubles.append(f"events: {type(error).__name__}")

    def _take(self, status: dict[str, Any]) -> None:
        before, self._status = self._status, status
        if status["verdict"] == "learning":
            return
        if before is None or before["ticks"] != status["ticks"]:
            soon = before is None or any(before[each] != status[each] for each in _CHANGES)
            for each in self._later:
                each.refresh(soon=soon)
        with self._lock:
            self._again = self._busy
            if self._busy:
                return
            self._busy = True
        self._pool.submit(self._refresh)

    def _profile(self) -> str:
        since = (self._status or {}).get("since")
        return "/profile" if since is None else f"/profile?start={quote(str(since), safe='')}"

    def _refresh(self) -> None:
        while True:
            alarms = self._pool.submit(self._ask, "alarms", "/alarms")
            since = "" if self._last is None else f"&start={quote(self._last, safe='')}"
            ticks = self._ask("ticks", f"/ticks?limit={_BLOCKS}{since}")
            alarms.result()
            if ticks and ticks["start"]:
                self._last = ticks["start"][-1]
            with self._lock:
                if not self._again:
                    self._busy = False
                    return
                self._again = False

    def _ask(self, name: str, rest: str, *, whole: bool = False) -> dict[str, Any] | None:
        import httpx

        start = time.monotonic()
        try:
            answer = self._client.get(rest if whole else self._path + rest, headers={"Accept": "application/json"})
        except httpx.HTTPError as error:
            self.troubles.append(f"{name}: {type(error).__name__}")
            return None
        if not answer.is_success:
            self.troubles.append(f"{name}: {answer.status_code}")
            return None
        self.took.setdefault(name, []).append(time.monotonic() - start)
        found: dict[str, Any] = answer.json()
        return found

    def breathe(self) -> None:
        """Ask for a sign of life if there was no event for a while."""
        now = time.monotonic()
        if now - max([self._heard, *self.events[-1:]]) >= _SILENCE:
            self._heard = now
            self._ask("health", "/health", whole=True)

    def found(self) -> dict[str, Any]:
        """Return how much was asked and how long answers took."""
        apart = np.diff(self.events) if len(self.events) > 1 else np.zeros(1)
        return {
            "events": len(self.events), "longest_without_event_s": round(float(apart.max()), 2),
            "asked": {name: len(each) for name, each in sorted(self.took.items())},
            "ms_p95": {name: round(1e3 * float(np.percentile(each, 95)), 1) for name, each in sorted(self.took.items())},
            "failed": {each: self.troubles.count(each) for each in sorted(set(self.troubles))},
        }  # fmt: skip


def look(url: str, name: str, told: Any) -> None:
    """Be an open page in a process of its own until a message comes; then tell what was found."""
    page = Page(url, name)
    listening = threading.Thread(target=page.run)
    listening.start()
    while not told.poll(_LOOK):
        page.breathe()
    page.closed.set()
    told.send(page.found())
    listening.join()
