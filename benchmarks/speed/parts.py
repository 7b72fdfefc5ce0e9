"""n_jobs: a long table of mixed columns by one stream, and in parts by one, two and all processes."""

import os
import resource
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import supersample as ss
from benchmarks.speed.report import Benchmark, Context, Result, Row, Target
from benchmarks.speed.timing import in_child
from supersample._threads import n_workers

__all__ = ["BENCHMARK"]

_GROUP = 1 << 20
_KINDS = np.array(list("abcdefghijkl"))
#: Every so many rows, and so many features, measure the MMD of the chosen rows.
_STEP, _JUDGES = 20, 4096


def write_table(path: Path, n: int) -> None:
    """Write n rows of eight numbers (a mixture), a category (which part of it) and a flag."""
    rng = np.random.default_rng(7)
    shares = rng.dirichlet(np.full(len(_KINDS), 2.0))
    centres, scales = 3.0 * rng.standard_normal((len(_KINDS), 8)), rng.uniform(0.3, 1.5, (len(_KINDS), 8))
    schema = pa.schema([*((f"v{place}", pa.float32()) for place in range(8)), ("kind", pa.string()), ("flag", pa.bool_())])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, n, _GROUP):
            count = min(_GROUP, n - start)
            kinds = rng.choice(len(_KINDS), count, p=shares)
            values = centres[kinds] + scales[kinds] * rng.standard_normal((count, 8))
            columns = [*values.astype(np.float32).T, _KINDS[kinds], rng.random(count) < 0.1 + 0.05 * kinds]
            writer.write_table(pa.table(columns, schema=schema))


def run(path: str, out: str, n_jobs: int | None) -> dict[str, Any]:
    """Summarise the file and save the result, with the private memory of the workers at their largest."""
    ss.summarize(np.random.default_rng(0).normal(size=(6_000, 3)), random_state=0).to_bytes()
    largest: dict[str, float] = {}
    threading.Thread(target=_watch, args=(largest,), daemon=True).start()
    before, start = _processor_time(), time.perf_counter()
    summary = ss.summarize(path, random_state=0, n_jobs=n_jobs)
    seconds, used = time.perf_counter() - start, _processor_time() - before
    summary.save(out)
    return {"seconds": seconds, "processor": used, "worker_mb": max(largest.values(), default=None), "mmd": summary.mmd}


def judge(path: str, outs: list[str]) -> dict[str, Any]:
    """Return the MMD of each summary by features that no selection used, to every twentieth row."""
    summaries = [ss.load(out) for out in outs]
    encoding, kernel = summaries[0]._fixed().encoding, summaries[0].kernel
    features = ss.MeanEmbedding(ss.features.Fourier(kernel, _JUDGES, random_state=1))
    for batch in pq.ParquetFile(path).iter_batches(batch_size=_STEP * 16_384):
        features.update(encoding.points(batch.take(pa.array(np.arange(0, batch.num_rows, _STEP)))))
    found = []
    for summary in summaries:
        rows = summary.prototypes.select(pq.read_schema(path).names).combine_chunks().to_batches()[0]
        phi = features.feature_map.transform(encoding.points(rows)).mean(axis=0)
        found.append(float(np.linalg.norm(phi - features.mean)))
    return {"mmd": found}


def _processor_time() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def _watch(largest: dict[str, float]) -> None:
    """Keep the most private memory of each child of this process, in MB."""
    while True:
        for listed in Path("/proc/self/task").glob("*/children"):
            for child in listed.read_text().split():
                try:
                    lines = Path(f"/proc/{child}/smaps_rollup").read_text().splitlines()
                except OSError:
                    continue
                private = sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) * 1024 / 1e6
                largest[child] = max(private, largest.get(child, 0.0))
        time.sleep(0.1)


def _run(context: Context) -> Result:
    n = int(os.environ.get("PARTS_ROWS", 600_000 if context.quick else 20_000_000))
    jobs = [None, *sorted({1, 2, n_workers()})]
    with tempfile.TemporaryDirectory(dir=os.environ.get("PARTS_FOLDER")) as folder:
        path, outs = Path(folder) / "rows.parquet", [str(Path(folder) / f"{each}.ss") for each in jobs]
        write_table(path, n)
        size = path.stat().st_size / 1e9
        taken = [in_child(run, path=str(path), out=out, n_jobs=each) for each, out in zip(jobs, outs, strict=True)]
        true = in_child(judge, path=str(path), outs=outs)["mmd"]
        same = len({Path(out).read_bytes() for out in outs[1:]}) == 1
    rows: list[Row] = [
        {
            "n_jobs": "None" if count is None else count,
            "seconds": each["seconds"],
            "rows/s": n / each["seconds"],
            "processor s": each["processor"],
            "peak MB": each["peak_mb"],
            "MB a worker": each["worker_mb"],
            "MMD": mmd,
            "held-out MMD": each["mmd"],
        }
        for count, each, mmd in zip(jobs, taken, true, strict=True)
    ]
    found = dict(zip(jobs, taken, strict=True))
    targets = [
        Target("MMD in parts / MMD of one stream", true[1] / true[0], "at most", 1.2),
        Target("different files of n_jobs = 1, 2 and all cores", float(not same), "at most", 0.0),
    ]
    if not context.quick:
        targets.append(
            Target("seconds with two processes, for 20 million rows", found[2]["seconds"] * 2e7 / n, "at most", 28.0)
        )
        targets.append(Target("private MB a worker", found[2]["worker_mb"] or 0.0, "at most", 150.0))
    if n_workers() >= 16:
        ratio = found[1]["seconds"] / found[n_workers()]["seconds"]
        targets.append(Target("one process / all, seconds", ratio, "at least", 8.0))
    return Result(rows, targets, [f"{n:,} rows of 10 columns, Parquet of {size:.2f} GB, row groups of {_GROUP:,}"])


BENCHMARK = Benchmark(
    "summarize with n_jobs: eight numbers, a category and a flag, in Parquet",
    [
        "MMD is by 4,096 Fourier features that no selection used, to every twentieth row.",
        "A worker's memory is what it alone holds (private pages), not the libraries that processes share; on Linux only.",
        "PARTS_ROWS sets another number of rows, PARTS_FOLDER where the file is written.",
    ],
    _run,
)
