"""summarize on a real table: time beside reading it and computing its features, and memory for ten times as many rows."""

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import supersample as ss
from benchmarks.speed.report import Benchmark, Context, Result, Row, Target
from benchmarks.speed.timing import in_child, race

__all__ = ["BENCHMARK"]

_COPIES = 10
_TEXT = "a number and a free text"
#: Rows of the table with free text, their words, and how many different words there are.
_TEXT_ROWS, _WORDS, _VOCABULARY = 200_000, (5, 31), 4_000


def ours(path: str, out: str) -> dict[str, Any]:
    """Summarise a file, read the result and save it, in a fresh process; the first call compiles nothing that is cached."""
    ss.summarize(np.random.default_rng(0).normal(size=(6_000, 3)), random_state=0).to_bytes()
    start = time.perf_counter()
    summary = ss.summarize(path, random_state=0)
    run = time.perf_counter() - start
    summary.save(out)
    seconds = time.perf_counter() - start
    numbers = {"mmd": summary.mmd, "error": summary.mmd_error, "random": summary.random_mmd}
    return {"seconds": seconds, "run": run, "rows": summary.n_seen, **numbers}


def race_with_floor(path: str, out: str, rounds: int) -> dict[str, Any]:
    """Time a whole summary, and reading the same columns, standardising them and computing their features, in turns."""
    held = ss.summarize(path, random_state=0)
    held.save(out)
    feature_map = held.feature_map
    table = pq.read_table(path).slice(0, 5_000)
    matrix = np.column_stack([column.to_numpy().astype(np.float64) for column in table.columns])
    means, scales = matrix.mean(axis=0), np.maximum(matrix.std(axis=0), 1e-12)

    def floor() -> Any:
        total = np.zeros(feature_map.n_features)
        for batch in pq.ParquetFile(path).iter_batches(batch_size=16_384):
            points = np.empty((batch.num_rows, batch.num_columns + 1))
            points[:, -1] = 0.0  # the place of missing values
            for place, column in enumerate(batch.columns):
                np.subtract(column.to_numpy(), means[place], out=points[:, place])
                points[:, place] /= scales[place]
            total += feature_map.transform(points).sum(axis=0, dtype=np.float64)
        return total

    def reading() -> None:
        for _ in pq.ParquetFile(path).iter_batches(batch_size=16_384):
            pass

    def whole() -> Any:
        summary = ss.summarize(path, random_state=0)
        summary.save(out)
        return summary

    return race(rounds, {"whole": whole, "floor": floor, "reading": reading})


def _longer(path: Path, out: Path, copies: int) -> None:
    """Write a file with the rows of another, several times over, whole numbers of many values jittered by one."""
    table = pq.read_table(path)
    rng = np.random.default_rng(0)
    with pq.ParquetWriter(out, table.schema) as writer:
        for _ in range(copies):
            columns = []
            for column in table.columns:
                values = column.to_numpy()
                wide = values.max() > 10
                jitter = rng.integers(-1, 2, values.size) if wide else 0
                columns.append(pa.array((values + jitter).astype(values.dtype)))
            writer.write_table(pa.table(columns, schema=table.schema))


def write_text(path: Path, n_rows: int) -> None:
    """Write a table of an amount and a free text of 5 to 30 words, of which some are much more frequent than others."""
    rng = np.random.default_rng(0)
    letters = np.array(list("etaoinshrdlucmfwypvbgkjqxz"))
    words = np.array(["".join(rng.choice(letters, size)) for size in rng.integers(2, 11, _VOCABULARY)])
    chances = 1.0 / np.arange(2, _VOCABULARY + 2)
    lengths = rng.integers(*_WORDS, n_rows)
    drawn = rng.choice(words, int(lengths.sum()), p=chances / chances.sum())
    texts = [" ".join(each) for each in np.split(drawn, np.cumsum(lengths)[:-1])]
    pq.write_table(pa.table({"amount": rng.normal(size=n_rows), "note": texts}), path)


def _run(context: Context) -> Result:
    path = context.data / "covtype.parquet"
    copies, rounds = (2, 1) if context.quick else (_COPIES, 3)
    with tempfile.TemporaryDirectory() as folder:
        out, long = str(Path(folder) / "out.ss"), Path(folder) / "long.parquet"
        raced = in_child(race_with_floor, path=str(path), out=out, rounds=rounds)
        one = in_child(ours, path=str(path), out=out)
        _longer(path, long, copies)
        many = in_child(ours, path=str(long), out=out)
        write_text(long, _TEXT_ROWS // 10 if context.quick else _TEXT_ROWS)
        text = in_child(ours, path=str(long), out=out)
    rows: list[Row] = [
        {"what": "summarize, read and save", "seconds": raced["whole"], "rows/s": one["rows"] / raced["whole"]},
        {"what": "read, standardise, features", "seconds": raced["floor"], "rows/s": one["rows"] / raced["floor"]},
        {"what": "read alone", "seconds": raced["reading"], "rows/s": one["rows"] / raced["reading"]},
    ]
    for name, taken in (("a process of its own", one), (f"{copies} times the rows", many), (_TEXT, text)):
        rows.append(
            {
                "what": name,
                "seconds": taken["seconds"],
                "rows/s": taken["rows"] / taken["seconds"],
                "peak MB": taken["peak_mb"],
                "held-out MMD": taken["mmd"],
                "+-": taken["error"],
                "random MMD": taken["random"],
            }
        )
    ratio = many["seconds"] / one["seconds"] / (many["rows"] / one["rows"])
    return Result(
        rows,
        [
            Target("summarize / (read + standardise + features)", raced["whole"] / raced["floor"], "at most", 3.3),
            Target("peak MB of a process that summarises covtype", one["peak_mb"], "at most", 500.0),
            Target(f"time for {copies} times the rows / {copies} times the time", ratio, "at most", 1.05),
            Target(f"peak MB for {copies} times the rows, over that of one", many["peak_mb"] - one["peak_mb"], "at most", 25.0),
        ],
        [
            f"covtype.parquet: {one['rows']:,} rows, 55 columns; the long file has {many['rows']:,}; best of {rounds} in turns",
            f"the free text: {text['rows']:,} rows of an amount and of texts of 5 to 30 words, nearly all different",
        ],
    )


BENCHMARK = Benchmark(
    "summarize on covtype.parquet: against reading and computing features; memory against the number of rows",
    [
        "The floor reads with PyArrow in batches, standardises, and computes the selection's own features, on both cores; "
        "the summary computes 128 held-out features as well, searches, keeps rows, takes its second look, and writes its file.",
        "Peak memory is that of the whole process, Python and libraries included.",
        "Free text is hashed word by word: its line is a table of its own, in no ratio to the others.",
        "The long file repeats the rows, whole numbers jittered by one; 25 MB are allowed for what allocators keep.",
    ],
    _run,
)
