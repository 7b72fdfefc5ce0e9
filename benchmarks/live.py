"""The service under load: rows a second by HTTP from other processes, the time of a POST, memory along time.

`python -m benchmarks.live --minutes 10 --rate 20000 --senders 2 --out live.json` sends batches of 1,000 rows of ten columns at
a rate, with a stand-in for an open page (`live_page`), and says how many were acknowledged and how many the service counts.
`--rate 0` sends as fast as answers come. `--overload` sends more than fits into a queue that is made small, so that the service
answers 429; then the service is killed and started again, and counts the rows that it has.

Caveats first. Senders, page and service share the cores of one machine, so the service has less than all of them. Times are
those that a sender sees, its own waiting for a core among them. The clock starts after 130 batches, from which columns are
learned, and at which functions are loaded or compiled.
"""

import argparse
import json
import multiprocessing
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.live_page import look
from benchmarks.live_senders import ROWS, Sent, batch, send
from benchmarks.live_service import Served, table
from supersample.live import Client

__all__ = ["main"]

#: Batches that are sent before the clock starts, more than two blocks; and moments at which memory is looked at.
_FIRST, _LOOKS = 130, 60
#: Rows that may wait in an overload, and connections of each sender: all of them together send more than that.
_QUEUE, _CONNECTIONS = 3_000, 8


def main() -> None:
    """Run the service and the load, and print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--rate", type=float, default=20_000.0, help="rows a second of all senders; 0 means as many as go")
    parser.add_argument("--senders", type=int, default=1, help="processes that send")
    parser.add_argument("--overload", action="store_true", help="send more than the queue holds; then kill, start again, count")
    parser.add_argument("--out", type=Path, help="a file for the results as JSON")
    asked = parser.parse_args()
    limits = {"queue_rows": _QUEUE} if asked.overload else {}
    connections, rate = (_CONNECTIONS, 0.0) if asked.overload else (1, asked.rate)
    with tempfile.TemporaryDirectory() as folder:
        service = Served(Path(folder), {"load": {"time": "when", "every": "1m", "random_state": 0}}, limits)
        with service:
            print(f"the page: {service.url}", flush=True)
            found = measured(service, asked.minutes * 60.0, rate, asked.senders, connections)
            if asked.overload:
                service.kill()
                service.start()
                found["counted_after_kill"] = counted(service.url)
    print(shown(found))
    if asked.out:
        asked.out.parent.mkdir(parents=True, exist_ok=True)
        asked.out.write_text(json.dumps(found, indent=1) + "\n")
    check(found, overload=asked.overload)


def measured(service: Served, seconds: float, rate: float, senders: int, connections: int) -> dict[str, Any]:
    """Return what was sent, acknowledged and counted, how long a POST took, and memory along time."""
    context = multiprocessing.get_context("spawn")
    next_number = context.Value("q", _FIRST)
    mine, theirs = context.Pipe()
    page = context.Process(target=look, args=(service.url, "load", theirs), daemon=True)
    page.start()
    pipes, processes = [], []
    for _ in range(senders):
        own, others = context.Pipe()
        arguments = service.url, seconds, rate, connections, next_number, others
        processes.append(context.Process(target=send, args=arguments, daemon=True))
        processes[-1].start()
        pipes.append(own)
    for each in pipes:
        each.recv()  # it has imported what it needs
    warm = warmed(service.url)
    started = time.time()
    for each in pipes:
        each.send(started)
    memory: list[tuple[float, ...]] = []
    while not all(each.poll() for each in pipes):
        memory.append((round(time.time() - started, 1), *(round(each, 1) for each in service.memory())))
        if not all(each.is_alive() for each in processes):
            raise SystemExit("a sender ended without a result; what it printed says why")
        time.sleep(max(0.2, seconds / _LOOKS))
    took = time.time() - started
    sent: list[Sent] = [each.recv() for each in pipes]
    mine.send("end")
    seen = mine.recv()
    status = counted(service.url)
    times = np.array([each for one in sent for each in one.times])
    if not times.size:
        raise SystemExit("no batch was acknowledged in that time; ask for more minutes")
    refused: dict[int, int] = {}
    for one in sent:
        for code, times_of in one.refused.items():
            refused[code] = refused.get(code, 0) + times_of
    acknowledged = sum(each.rows for each in sent)
    return {
        "cores": os.cpu_count(), "minutes": round(took / 60.0, 2), "senders": senders, "connections": senders * connections,
        "asked_rows_a_second": rate, "rows_a_second": round(acknowledged / took), "acknowledged": warm + acknowledged,
        "counted": status, "without_an_answer": sum(each.unknown for each in sent), "refused": refused,
        **{f"post_ms_p{share}": round(1e3 * float(np.percentile(times, share)), 1) for share in (50, 95, 99)},
        "post_ms_max": round(1e3 * float(times.max()), 1), "page": seen, "memory_mb": memory,
    }  # fmt: skip


def warmed(url: str) -> int:
    """Send the first batches, and return their rows."""
    with Client(url, patience=300.0, timeout=300.0) as client:
        return sum(int(client.send("load", batch(number), batch_id=str(number))["rows"]) for number in range(_FIRST))


def counted(url: str) -> int:
    """Return the rows that the service has, once nothing waits."""
    import httpx

    with httpx.Client(base_url=url, timeout=60.0, trust_env=False) as client:
        while True:
            status = client.get("/streams/load").json()
            if not status["waiting_rows"]:
                return int(status["rows"])
            time.sleep(0.2)


def shown(found: dict[str, Any]) -> str:
    """Return the results as a short table."""
    memory, page = found["memory_mb"], found["page"]
    moments = [memory[round(share * (len(memory) - 1))] for share in (0.1, 0.5, 1.0)]
    rows: list[tuple[str, Any]] = [
        ("rows a second, acknowledged", found["rows_a_second"]),
        ("rows acknowledged", found["acknowledged"]),
        ("rows that the service counts", found["counted"]),
    ]
    if "counted_after_kill" in found:
        rows.append(("the same after SIGKILL and a restart", found["counted_after_kill"]))
    rows += [
        ("batches without an answer", found["without_an_answer"]),
        ("answers that ask to come again", ", ".join(f"{code}: {each:,}" for code, each in found["refused"].items()) or "none"),
        (f"POST of {ROWS:,} rows, ms", ", ".join(f"p{each} {found[f'post_ms_p{each}']}" for each in (50, 95, 99))),
        ("MB at 10%, 50% and the end", ", ".join(f"{own:.0f} + {others:.0f}" for _, own, others in moments)),
        ("", "(the service + its processes that decode)"),
        ("events of the page", page["events"]),
        ("what the page asked", ", ".join(f"{name} {count:,}" for name, count in page["asked"].items()) or "nothing"),
        ("what failed there", ", ".join(f"{name} {count}" for name, count in page["failed"].items()) or "nothing"),
    ]  # fmt: skip
    return table(rows)


def check(found: dict[str, Any], *, overload: bool) -> None:
    """End with an error if acknowledged rows are missing, or rows are there that nobody was told of."""
    most = found["acknowledged"] + ROWS * found["without_an_answer"]
    for name in ("counted", "counted_after_kill"):
        if not found["acknowledged"] <= found.get(name, found["acknowledged"]) <= most:
            raise SystemExit(f"{name}: {found[name]:,} rows, while {found['acknowledged']:,} were acknowledged")
    if overload and 429 not in found["refused"]:
        raise SystemExit("nothing was refused with 429, so this was no overload; ask for more --senders")


if __name__ == "__main__":
    main()
