"""Processes that send rows to the service: batches of 1,000 rows of ten columns, at a rate or as fast as answers come."""

import threading
import time
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

__all__ = ["ROWS", "Sent", "batch", "body_of", "send"]

#: Rows of a batch, and batches that are made before the first is sent: the rest is made on the way.
ROWS, _MADE = 1_000, 40
_START = np.datetime64("2026-03-02T00:00:00", "us")


class Sent(NamedTuple):
    """What a sender knows at its end.

    rows: acknowledged. times: seconds of each POST that was acknowledged. refused: statuses of answers that asked to
    come again, and how often. unknown: batches that got no answer that says what became of them.
    """

    rows: int
    times: list[float]
    refused: dict[int, int]
    unknown: int


def batch(number: int) -> pa.Table:
    """Return a batch of ten columns; a row is a millisecond after the one before."""
    rng = np.random.default_rng(number)
    when = _START + np.arange(number * ROWS, (number + 1) * ROWS).astype("timedelta64[ms]")
    columns: dict[str, Any] = {"when": when, "status": np.where(rng.random(ROWS) < 0.05, "error", "ok")}
    columns |= {f"x{place}": rng.normal(size=ROWS) for place in range(8)}
    return pa.table(columns)


def body_of(table: pa.Table) -> bytes:
    """Return a table as an Arrow stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


class _Sender:
    """Takes the next number of all senders, sends its batch until it is acknowledged, and so on until the time is over."""

    def __init__(self, url: str, rate: float, end: float, next_number: Any, first: int) -> None:
        self._url, self._rate, self._end, self._next, self._first = url, rate, end, next_number, first
        self._made = {number: body_of(batch(number)) for number in range(first, first + _MADE)}
        self._lock = threading.Lock()
        self.rows = self.unknown = 0
        self.times: list[float] = []
        self.refused: dict[int, int] = {}

    def run(self, start: float) -> None:
        """Send; several threads of a process may."""
        import httpx

        with httpx.Client(base_url=self._url, timeout=120.0, trust_env=False) as client:
            while time.time() < self._end:
                with self._next.get_lock():
                    number = self._next.value
                    self._next.value += 1
                if self._rate:
                    time.sleep(max(0.0, start + (number - self._first) * ROWS / self._rate - time.time()))
                self._batch(client, number)

    def _batch(self, client: Any, number: int) -> None:
        import httpx

        body = self._made.get(number) or body_of(batch(number))
        headers = {"Content-Type": "application/vnd.apache.arrow.stream", "Batch-Id": str(number)}
        while True:
            sent = time.monotonic()
            try:
                answer = client.post("/streams/load/rows", content=body, headers=headers)
            except httpx.TransportError:
                with self._lock:
                    self.unknown += 1
                return
            took = time.monotonic() - sent
            with self._lock:
                if answer.is_success:
                    self.rows += answer.json()["rows"]
                    self.times.append(took)
                    return
                if answer.status_code not in (429, 503):
                    raise RuntimeError(f"the service answered {answer.status_code}: {answer.text[:200]}")
                self.refused[answer.status_code] = self.refused.get(answer.status_code, 0) + 1
                if time.time() >= self._end:  # refused for good, so nothing of it may be there
                    return
            time.sleep(min(float(answer.headers.get("Retry-After", 1)), max(0.0, self._end - time.time())))


def send(url: str, seconds: float, rate: float, connections: int, next_number: Any, told: Any) -> None:
    """Send for some time from this process, over so many connections; tell what was sent as a `Sent`.

    rate: rows a second of all senders together; 0 means as fast as answers come. next_number: shared by all of them.
    """
    first = next_number.value
    told.send("ready")
    start = told.recv()
    sender = _Sender(url, rate, start + seconds, next_number, first)
    threads = [threading.Thread(target=sender.run, args=(start,)) for _ in range(connections)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    told.send(Sent(sender.rows, sender.times, sender.refused, sender.unknown))
