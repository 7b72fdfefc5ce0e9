"""Dask and Spark on CovType in 16 partitions: the local engine's bytes, one stream's quality, speed and memory of workers."""

import hashlib
import os
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import supersample as ss
from benchmarks.speed.report import Benchmark, Context, Result, Row, Target
from benchmarks.speed.timing import in_child, peak_mb
from benchmarks.speed.truth import Truth
from supersample.engines import local

__all__ = ["BENCHMARK"]

_PARTS = 16


def with_dask(folder: str, workers: int, cores: int, copies: int) -> dict[str, Any]:
    """Summarise the files of a folder, `copies` times over, with some workers of one thread each."""
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    _keep_to(cores)
    paths = _paths(folder)

    def read(path: str) -> Any:
        return pq.read_table(path).to_pandas()

    with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster) as client:
        meta = read(paths[0]).iloc[:0]
        _timed(dd.from_map(read, paths[:workers], meta=meta))  # workers import and load what was compiled
        found = _timed(dd.from_map(read, paths * copies, meta=meta))
        return {**found, "worker_mb": max(client.run(peak_mb).values())}


def with_spark(folder: str, workers: int, cores: int, copies: int) -> dict[str, Any]:
    """Do the same with Spark in local mode, with as many task slots."""
    from pyspark.sql import SparkSession

    _keep_to(cores)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(f"local[{workers}]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.log.level", "OFF")
    session = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    paths = _paths(folder)
    schema = session.read.parquet(paths[0]).schema

    def frame(chosen: list[str]) -> Any:
        def read(batches: Any) -> Any:
            for batch in batches:
                for place in batch.column(0).to_pylist():
                    yield from pq.ParquetFile(chosen[place]).iter_batches(batch_size=16_384)

        return session.range(0, len(chosen), 1, len(chosen)).mapInArrow(read, schema)

    python, jvm = _Watch("pyspark.daemon"), _Watch("org.apache.spark.deploy.SparkSubmit")
    try:
        _timed(frame(paths[:workers]))
        return {**_timed(frame(paths * copies)), "worker_mb": python.stop(), "jvm_mb": jvm.stop()}
    finally:
        session.stop()


def _keep_to(cores: int) -> None:
    """Keep this process and all that it starts to some cores."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])


class _Watch:
    """Looks twice a second at the most memory that any process of a kind has held."""

    def __init__(self, kind: str) -> None:
        self.kind, self.most, self.over = kind.encode(), 0.0, threading.Event()
        self.thread = threading.Thread(target=self._look, daemon=True)
        self.thread.start()

    def _look(self) -> None:
        while not self.over.wait(0.5):
            for process in Path("/proc").glob("[0-9]*"):
                try:
                    if self.kind in (process / "cmdline").read_bytes():
                        lines = (process / "status").read_text().splitlines()
                        held = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
                        self.most = max(self.most, held * 1024 / 1e6)
                except (OSError, StopIteration):
                    continue  # it has ended meanwhile

    def stop(self) -> float:
        self.over.set()
        self.thread.join()
        return self.most


def _timed(frame: Any) -> dict[str, Any]:
    start = time.perf_counter()
    summary = ss.summarize(frame, random_state=0)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "rows": summary.n_seen, "bytes": hashlib.sha256(summary.to_bytes()).hexdigest()}


def _paths(folder: str) -> list[str]:
    return [str(Path(folder) / f"{index:02}.parquet") for index in range(_PARTS)]


def _written(table: pa.Table, folder: Path) -> list[str]:
    size = -(-table.num_rows // _PARTS)
    for index, path in enumerate(_paths(str(folder))):
        pq.write_table(table.slice(index * size, size), path)
    return _paths(str(folder))


def _signed(table: pa.Table) -> pa.Table:
    """Return the table with unsigned whole numbers, which Spark has not, as signed ones."""
    wider = {pa.uint8(): pa.int16(), pa.uint16(): pa.int32(), pa.uint32(): pa.int64()}
    return table.cast(pa.schema([pa.field(each.name, wider.get(each.type, each.type)) for each in table.schema]))


def _run(context: Context) -> Result:
    table = _signed(pq.read_table(context.data / "covtype.parquet"))
    if context.quick:
        table = table.take(pa.array(range(0, table.num_rows, 12)))
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        paths = _written(table, Path(name))
        start = time.perf_counter()
        one = ss.summarize(paths, random_state=0)
        alone = time.perf_counter() - start
        start = time.perf_counter()
        parts = local.summarize(paths, random_state=0)
        in_turn = time.perf_counter() - start
        expected = hashlib.sha256(parts.to_bytes()).hexdigest()
        truth = Truth(one.encode(table.take(pa.array(range(0, table.num_rows, 10)))), one.kernel)  # type: ignore[arg-type]
        chosen = [one.encode(each.prototypes.select(table.column_names)) for each in (parts, one)]
        ratio = truth.mmd(chosen[0]) / truth.mmd(chosen[1])
        rows.append({"engine": "one stream, all cores", "rows": one.n_seen, "seconds": alone, "rows/s": one.n_seen / alone})
        rows.append({"engine": "local, all cores", "rows": one.n_seen, "seconds": in_turn, "rows/s": one.n_seen / in_turn})
        targets = [Target("true MMD, 16 partitions merged / one stream", ratio, "at most", 1.3)]
        for label, work in (("Dask", with_dask), ("Spark", with_spark)):
            targets += _engine(label, work, name, expected, rows, 2 if context.quick else 10)
    return Result(rows, targets, ["true MMD: exact kernel of the one stream's encoding, to every tenth row"])


def _engine(label: str, work: Any, folder: str, expected: str, rows: list[Row], copies: int) -> list[Target]:
    speeds, memory = {}, {}
    every = len(os.sched_getaffinity(0))
    for workers, cores, times in ((1, 1, 1), (1, every, 1), (2, 2, 1), (2, 2, copies)):
        found = in_child(work, threads=1, folder=folder, workers=workers, cores=cores, copies=times)
        speed = found["rows"] / found["seconds"]
        same = found["bytes"] == expected
        rows.append(
            {
                "engine": label, "workers": workers, "cores": cores, "rows": found["rows"], "seconds": found["seconds"],
                "rows/s": speed, "peak MB of a worker": found["worker_mb"], "of the JVM": found.get("jvm_mb", ""),
                "bytes": "the local engine's" if same else "others" if times == 1 else "",
            }
        )  # fmt: skip
        if times == 1:
            speeds[workers, cores] = speed
        memory[workers, times] = found["worker_mb"]
    told = [row["bytes"] for row in rows if row["engine"] == label and row["bytes"]]
    return [
        Target(f"{label}: bytes are the local engine's (1: yes)", float(set(told) == {"the local engine's"}), "at least", 1.0),
        Target(f"{label}: rows/s, two workers with two cores / one with one", speeds[2, 2] / speeds[1, 1], "at least", 1.7),
        Target(f"{label}: peak memory of a worker, rows x{copies} / x1", memory[2, copies] / memory[2, 1], "at most", 1.1),
    ]


BENCHMARK = Benchmark(
    "summaries of CovType in 16 partitions by Dask and by Spark",
    [
        "Partitions are files in the order of the table, which is sorted by region; each worker has one thread.",
        "Rows are taken times ten by reading the files again: another random stream for each partition, the same rows.",
        "A first small run, untimed, lets workers import and load what is compiled.",
        "A worker brings a core: with one, all of the engine (scheduler, JVM, caller, Python) has one core, with two two.",
        "Memory of a worker is that of a Python process. The JVM, caller and executor in one here, has 1 GB of heap to fill.",
        "The row of one worker with all cores shows how much of the other one the rest of the engine takes; not a target.",
    ],
    _run,
)
