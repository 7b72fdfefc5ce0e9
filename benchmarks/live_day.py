"""A day of rows replayed into the service, once as it is and once with a kill and a restart: are the results the same?

`python -m benchmarks.live_day --pace 100 --out live-day.json` sends 1,440 batches of a minute each to two streams, 100 times as
fast as the rows happened; `--pace 0` sends as fast as answers come. In one stream the content changes at 14:00 and at 19:00;
the other has the same cycle and no change. In the second run the service is killed by SIGKILL at 14:10 of the day, after the
first change and before its alarm, and started again on the same folder. The last batches are then repeated with their ids. It
ends with an error unless both runs say the same, alarms are where changes were planted, and there are none elsewhere.

Both runs have a service of their own and take place at the same time, so that at pace 0 nothing waits for a clock.
"""

import argparse
import json
import tempfile
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.live_service import Served, table
from supersample.live import Client
from supersample.live.client import ServiceError

__all__ = ["PLANTED", "check", "replayed"]

MINUTES = 1_440
#: The minutes at which the content of the stream `shop` changes, and that at which the service is killed.
PLANTED, KILLED = (14 * 60, 19 * 60), 14 * 60 + 10
#: Rows of a minute on average, and batches that are sent again after a restart.
_ROWS, _AGAIN = 40, 5
_START = np.datetime64("2026-03-02T00:00:00", "us")
_STREAMS = {name: {"time": "when", "every": "5m", "random_state": 0} for name in ("shop", "still")}
#: What depends on when a batch came, and not on what is in it.
_WHEN = ("noticed", "updated", "last_received", "closed", "logged_batches", "waiting_rows")


def minute(stream: str, number: int) -> pa.Table:
    """Return the rows of a minute of the day; now and then one of them is 20 minutes late."""
    rng = np.random.default_rng((number, list(_STREAMS).index(stream)))
    changes = sum(number >= each for each in PLANTED) if stream == "shop" else 0
    n = int(rng.poisson(_ROWS))
    when = _START + np.timedelta64(number, "m") + np.sort(rng.integers(0, 60_000_000, n)).astype("timedelta64[us]")
    if number % 50 == 49 and n:
        when[-1] -= np.timedelta64(20, "m")
    status = rng.random(n) < (0.02 if changes < 1 else 0.2)
    price = rng.gamma(3.0, 4.0, n) + (0.0 if changes < 2 else 8.0)
    hour = np.full(n, np.sin(2.0 * np.pi * number / 60.0))  # a cycle of an hour, which no season is told of
    columns = {"when": when, "status": np.where(status, "error", "ok"), "price": price, "load": rng.normal(0.3 * hour, 1.0)}
    return pa.table(columns)


class _Run:
    """One day of both streams through one service. killed: whether it is killed in the middle, and started again."""

    def __init__(self, folder: Path, pace: float, *, killed: bool) -> None:
        self._service, self._pace, self._kills = Served(folder, _STREAMS), pace, killed
        self._up, self._reached = threading.Event(), threading.Event()
        self._next = dict.fromkeys(_STREAMS, 0)
        self._acknowledged = dict.fromkeys(_STREAMS, 0)
        self.rows, self.repeated = dict.fromkeys(_STREAMS, 0), dict.fromkeys(_STREAMS, 0)

    def results(self) -> dict[str, Any]:
        """Replay the day, and return what the service says of it."""
        with self._service as service, ThreadPoolExecutor(len(_STREAMS) + 1) as pool:
            self._up.set()
            start = time.monotonic()
            tasks = [pool.submit(self._send, name, start) for name in _STREAMS]
            if self._kills:
                tasks.append(pool.submit(self._kill))
            for each in tasks:
                each.result()
            seconds = round(time.monotonic() - start, 1)
            said = {name: _said(service.url, name) for name in _STREAMS}
        return {"seconds": seconds, "sent": self.rows, "repeated": self.repeated, "said": said}

    def _kill(self) -> None:
        self._reached.wait()
        self._up.clear()
        self._service.kill()
        self._service.start()
        self._up.set()

    def _send(self, stream: str, start: float) -> None:
        """Send the day; go back some batches where the service has gone."""
        while self._next[stream] < MINUTES:
            self._up.wait()
            try:
                with Client(self._service.url, patience=0.0, timeout=300.0) as client:
                    self._go_on(client, stream, start)
            except ServiceError as error:
                if error.status in (429, 503):  # the machine is busy: the same batch again, under the same id
                    time.sleep(1.0)
                elif error.status or not self._kills:
                    self._reached.set()  # nobody must wait for what will not happen
                    raise
                else:
                    self._next[stream] = max(0, self._next[stream] - _AGAIN)

    def _go_on(self, client: Client, stream: str, start: float) -> None:
        while (number := self._next[stream]) < MINUTES:
            if self._pace:
                time.sleep(max(0.0, start + 60.0 * number / self._pace - time.monotonic()))
            if number >= KILLED:
                self._reached.set()
            rows = minute(stream, number)
            answer = client.send(stream, rows, batch_id=f"minute-{number}")
            if number < self._acknowledged[stream]:
                if not answer["repeated"]:
                    raise SystemExit(f"{stream}: minute {number} was acknowledged, and is not known after the restart")
                self.repeated[stream] += 1
            else:
                self.rows[stream] += rows.num_rows
                self._acknowledged[stream] = number + 1
            self._next[stream] = number + 1


def _said(url: str, stream: str) -> dict[str, Any]:
    """Return all that a service says of a stream, without what depends on when a batch came."""
    import httpx

    with httpx.Client(base_url=url, timeout=300.0, trust_env=False) as client:

        def asked(rest: str) -> Any:
            answer = client.get(f"/streams/{stream}{rest}")
            answer.raise_for_status()
            return {name: each for name, each in answer.json().items() if name not in _WHEN}

        alarms = [asked(f"/alarms/{each['number']}") for each in asked("/alarms")["alarms"]]
        ticks = asked(f"/ticks?limit={MINUTES}")
        return {"status": asked(""), "alarms": alarms, "ticks": ticks, "profile": asked("/profile")}


def replayed(folder: Path, pace: float) -> tuple[dict[str, Any], dict[str, Any]]:
    """Replay the day twice, at the same time; return what was said of it without and with a kill."""
    runs = [_Run(folder / name, pace, killed=name == "killed") for name in ("whole", "killed")]
    with ThreadPoolExecutor(2) as pool:
        whole, killed = pool.map(_Run.results, runs)
    return whole, killed


def check(whole: Mapping[str, Any], killed: Mapping[str, Any]) -> None:
    """End with an error unless both runs say the same, and the changes are found where they were planted."""
    planted = [str(_START + np.timedelta64(each, "m"))[:19] + "Z" for each in PLANTED]
    for stream in _STREAMS:
        one, other = whole["said"][stream], killed["said"][stream]
        for part in one:
            if one[part] != other[part]:
                raise SystemExit(f"{stream}: {part} is another after a kill: {one[part]} and {other[part]}"[:2_000])
        found = [each["change"] for each in one["alarms"]]
        if found != (planted if stream == "shop" else []):
            raise SystemExit(f"{stream}: alarms say changes at {found}, planted were {planted if stream == 'shop' else 'none'}")
        if one["status"]["rows"] != whole["sent"][stream]:
            raise SystemExit(f"{stream}: {whole['sent'][stream]:,} rows were sent, {one['status']['rows']:,} are counted")
    if not all(killed["repeated"].values()):
        raise SystemExit("no batch was repeated after the kill, so it was none")


def main() -> None:
    """Replay the day twice, check, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pace", type=float, default=100.0, help="how much faster than the clock; 0 as fast as answers come")
    parser.add_argument("--out", type=Path, help="a file for the results as JSON")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        whole, killed = replayed(Path(folder), asked.pace)
    if asked.out:
        asked.out.parent.mkdir(parents=True, exist_ok=True)
        asked.out.write_text(json.dumps({"pace": asked.pace, "whole": whole, "killed": killed}, indent=1) + "\n")
    check(whole, killed)
    rows: list[tuple[str, Any]] = [("seconds, without and with a kill", f"{whole['seconds']} and {killed['seconds']}")]
    for stream in _STREAMS:
        said = whole["said"][stream]
        found = "; ".join(f"{each['change']} ({each['what']}), raised at {each['at']}" for each in said["alarms"])
        rows += [(f"{stream}: rows", said["status"]["rows"]), (f"{stream}: alarms", found or "none")]
        rows += [(f"{stream}: batches repeated", killed["repeated"][stream])]
    print(table([*rows, ("after a kill", "status, alarms, their rows, blocks and profile are the same")]))


if __name__ == "__main__":
    main()
