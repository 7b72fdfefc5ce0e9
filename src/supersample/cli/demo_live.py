"""supersample demo --live: nine days of a web shop, played into a service on this computer, with what to look at."""

import tempfile
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from supersample.cli.installed import check_live
from supersample.cli.output import say, tell
from supersample.cli.shop import BREAK, DAYS, DRIFT, SETTLED, START, hours

if TYPE_CHECKING:
    from supersample.live.running import Running

__all__ = ["play"]


def play(pace: float, stay: float) -> None:
    """Start the service, send it the stream hour by hour, and end after a while. pace: seconds for each hour."""
    check_live()
    from supersample.live.running import Running
    from supersample.live.settings import ServerSettings, ServiceSettings, StreamSettings

    history = {"time": "when", "every": "1h", "season": "1d", "types": {"status": "category"}, "random_state": 0}
    stream = StreamSettings("shop", history, title="A web shop")
    with tempfile.TemporaryDirectory() as folder:
        # No tokens: the environment may hold those of another service, and this one is on loopback and has nothing to guard.
        running = Running(ServiceSettings(Path(folder), (stream,), ServerSettings(port=0)), _print_alarm)
        running.start()
        try:
            _introduce(running, pace)
            _send(running, pace)
            say("\nThat was all." + (f" The page stays for {stay:g} seconds; Ctrl-C ends it now." if stay else ""))
            running.ending.wait(stay)
        finally:
            running.stop()


def _introduce(running: "Running", pace: float) -> None:
    tell(running.url)
    lasts = 24 * DAYS * pace
    say(f"Open it in a browser. {DAYS} days of a web shop follow" + (f" in about {lasts:.0f} seconds" if lasts else "") + ":")
    say("  at first it learns; every day has its busy hours, and they raise no alarm")
    for moment, what in _planted():
        say(f"  {moment} {what}")
    say("On the page: the verdict, each alarm with rows of before and after, any two ranges compared,")
    say("and for each alarm what you decide: acknowledge it, call it the new normal, or leave it for later. Ctrl-C ends it.\n")


def _planted() -> Iterator[tuple[str, str]]:
    """Yield what happens in the stream, and when."""
    for hour, what in (
        (BREAK, "the checkout breaks"), (DRIFT, "answers begin to get slower, little by little"),
        (SETTLED, "they do not get any slower"),
    ):  # fmt: skip
        yield f"{datetime.fromtimestamp(START + 3_600 * hour, UTC):%Y-%m-%d %H:%M}", what


def _send(running: "Running", pace: float) -> None:
    from supersample.live.client import Client

    clock = threading.Event()
    with Client(running.url, token="") as client:
        for hour in hours():
            client.send("shop", hour.rows, batch_id=f"hour-{hour.number}")
            clock.wait(pace)


def _print_alarm(event: str, **values: Any) -> None:
    """Print alarms as they come."""
    if event == "alarm":
        tell(f"alarm {values['number']}: {values['text']}")
