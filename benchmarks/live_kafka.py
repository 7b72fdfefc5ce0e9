"""Rows a second from Kafka's client code to rows that are durable, in a service of this process.

`python -m benchmarks.live_kafka --rows 240000 --partitions 12 --columns 10 --out live-kafka.json`

The brokers are librdkafka's mock cluster, in this process too, so they take a share of the same cores. All messages are
written before the service starts, and stay below the five megabytes of a partition that the mock keeps. The time is that from
the first row that is durable to the last, so the start of the service and of the processes that decode is not part of it.
Processor time is that of this process: the brokers and the service, without the processes that decode.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.live_service import table
from supersample.live.service import Service
from supersample.live.settings import ServiceSettings, SourceSettings, StreamSettings

#: Bytes that are written to a partition at most.
MOST = 4_500_000


def write(cluster: Any, rows: int, partitions: int, columns: int) -> int:
    """Write messages of one row each, a second apart, and return their bytes."""
    cluster.create("rows", partitions)
    start, rng, size = np.datetime64("2026-03-02T00:00:00"), np.random.default_rng(0), 0
    for number, values in enumerate(rng.normal(size=(rows, columns - 1)).round(4).tolist()):
        row = {"when": str(start + np.timedelta64(number, "s")), **{f"x{place}": value for place, value in enumerate(values)}}
        body = json.dumps(row).encode()
        size += len(body)
        cluster.producer.produce("rows", body, partition=number % partitions)
        if number % 10_000 == 0:
            cluster.producer.flush()
    cluster.producer.flush()
    if size > MOST * partitions:
        raise SystemExit(f"{size:,} bytes are more than the mock keeps in {partitions} partitions; ask for fewer rows")
    return size


def main() -> None:
    """Measure once, and print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, value in (("rows", 240_000), ("partitions", 12), ("columns", 10)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--out", type=Path, help="a file for the results as JSON")
    asked = parser.parse_args()
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "helpers"))
    cluster = import_module("kafka_cluster").Cluster()
    size = write(cluster, asked.rows, asked.partitions, asked.columns)
    source = SourceSettings("log", "kafka", {"servers": cluster.servers, "topics": "rows"})
    with tempfile.TemporaryDirectory() as folder:
        history = {"time": "when", "every": "1h", "random_state": 0}
        service = Service(ServiceSettings(Path(folder), (StreamSettings("rows", history, (source,)),)))
        service.start()
        first = last = 0
        began = ended = cpu = 0.0
        while last < asked.rows:
            time.sleep(0.005)
            now = service.streams["rows"].history.n_seen
            if now != last:
                last, ended = now, time.perf_counter()
                if not first:
                    first, began, cpu = now, ended, time.process_time()
        cpu = time.process_time() - cpu
        service.stop()
    cluster.close()
    done, seconds = asked.rows - first, ended - began
    found = {
        "fed_from": "librdkafka's mock cluster in the same process", "rows": done, "columns": asked.columns, "bytes": size,
        "seconds": round(seconds, 2), "rows_a_second": round(done / seconds), "processor_seconds": round(cpu, 2),
        "rows_a_second_of_processor_time": round(done / cpu), "cores": os.cpu_count(),
    }  # fmt: skip
    print(table([(name.replace("_", " "), value) for name, value in found.items()]))
    if asked.out:
        asked.out.parent.mkdir(parents=True, exist_ok=True)
        asked.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
