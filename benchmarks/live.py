"""The service under load: rows a second by HTTP from another process, the time of a POST, memory along time.

`python -m benchmarks.live --minutes 10 --rate 20000` sends batches of 1,000 rows of ten columns at a rate, with one listener of
events as an open page is, and prints one line of JSON. `--rate 0` sends as fast as answers come.
"""

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

__all__ = ["main"]

_ROWS = 1_000
_START = np.datetime64("2026-03-02T00:00:00", "us")


def batch(number: int, rng: np.random.Generator) -> bytes:
    """Return a batch of ten columns as an Arrow stream; a row is a millisecond after the one before."""
    when = _START + np.arange(number * _ROWS, (number + 1) * _ROWS).astype("timedelta64[ms]")
    columns: dict[str, Any] = {"when": when, "status": np.where(rng.random(_ROWS) < 0.05, "error", "ok")}
    columns |= {f"x{place}": rng.normal(size=_ROWS) for place in range(8)}
    table = pa.table(columns)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def send(url: str, seconds: float, rate: float, told: Any) -> None:
    """Send batches for some time; tell how many rows were acknowledged, how long each took, and how often to come again."""
    import httpx

    rng, times, again = np.random.default_rng(0), [], 0
    bodies = [batch(number, rng) for number in range(40)]  # past what is learned from; the rest is made on the way
    headers = {"Content-Type": "application/vnd.apache.arrow.stream"}
    with httpx.Client(base_url=url, timeout=120.0, trust_env=False) as client:
        start, number = time.monotonic(), 0
        while time.monotonic() - start < seconds:
            body = bodies[number] if number < len(bodies) else batch(number, rng)
            sent = time.monotonic()
            answer = client.post("/streams/load/rows", content=body, headers={**headers, "Batch-Id": str(number)})
            if answer.status_code in (429, 503):
                again += 1
                time.sleep(float(answer.headers["Retry-After"]))
                continue
            answer.raise_for_status()
            times.append(time.monotonic() - sent)
            number += 1
            if rate:
                time.sleep(max(0.0, start + number * _ROWS / rate - time.monotonic()))
        told.send((number * _ROWS, time.monotonic() - start, times, again))


def listen(url: str, events: list[float], ended: threading.Event) -> None:
    """Listen to events, as a page does."""
    import httpx

    with httpx.Client(base_url=url, timeout=None, trust_env=False) as client, client.stream("GET", "/events") as answer:
        for line in answer.iter_lines():
            if line.startswith("data:"):
                events.append(time.monotonic())
            if ended.is_set():
                return


def megabytes(process: int) -> float:
    """Return the memory that a process holds, as Linux counts it."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def main() -> None:
    """Run the service and the load, and print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--rate", type=float, default=20_000.0, help="rows a second to send; 0 means as many as go")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "supersample", "watch", "--name", "load", "--time", "when", "--every", "1m"]
        service = subprocess.Popen([*command, "-o", folder, "--port", "0", "--json"], stdout=subprocess.PIPE, text=True)
        try:
            assert service.stdout is not None
            url = json.loads(service.stdout.readline())["url"]
            print(json.dumps(measured(url, service.pid, asked.minutes * 60.0, asked.rate)))
        finally:
            service.terminate()
            service.wait(120)


def measured(url: str, process: int, seconds: float, rate: float) -> dict[str, Any]:
    """Return rows a second, times of a POST in milliseconds, and memory at ten moments."""
    context = multiprocessing.get_context("spawn")
    mine, theirs = context.Pipe(duplex=False)
    events: list[float] = []
    ended = threading.Event()
    threading.Thread(target=listen, args=(url, events, ended), daemon=True).start()
    sender = context.Process(target=send, args=(url, seconds, rate, theirs))
    sender.start()
    memory = []
    while not mine.poll(seconds / 10.0):
        memory.append(round(megabytes(process)))
    rows, took, times, again = mine.recv()
    ended.set()
    sender.join()
    late = times[50:] or times  # the first ones learn and compile
    return {
        "minutes": round(took / 60.0, 2), "rows_a_second": round(rows / took), "asked_rate": rate, "come_again": again,
        **{f"post_ms_p{share}": round(1e3 * float(np.percentile(late, share)), 1) for share in (50, 95, 99)},
        "post_ms_max": round(1e3 * max(late), 1), "events": len(events), "memory_mb": memory,
    }  # fmt: skip


if __name__ == "__main__":
    main()
