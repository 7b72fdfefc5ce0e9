"""Writes the golden files of a format version: `python -m golden.make FOLDER`, run in the tests' folder.

A file is written once and never again: every later release must load it. Files of what was added since a version came stand
beside the others.
"""

import contextlib
import sys
import tempfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

import supersample as ss
from supersample.engines import partition_tasks as parts
from supersample.summary import Summary
from supersample.summary import state as states
from supersample.summary.snapshot import Snapshot
from supersample.summary.summarizing import Options

ASKED = Options(prototypes=6, criticisms=3, weight="mass", n_features=24)


def mixed(n_rows):
    """Return a table with a column of every kind that the format knows; the same on every machine."""
    steps = np.arange(n_rows)
    start = datetime(2024, 2, 28, tzinfo=UTC)
    return pa.table(
        {
            "size": pa.array((steps * 37 % 101) / 8.0),
            "count": pa.array(steps % 7, type=pa.int32()),
            "state": pa.array([None if i % 11 == 0 else ("idle", "busy", "off")[i % 3] for i in range(n_rows)]),
            "fresh": pa.array([i % 5 == 0 for i in range(n_rows)]),
            "when": pa.array([start + timedelta(minutes=17 * i) for i in range(n_rows)]),
            "place": pa.array([[i % 9 / 3.0, i % 4 / 2.0] for i in range(n_rows)], type=pa.list_(pa.float32(), 2)),
            "id": pa.array([f"row {i}" for i in range(n_rows)]),
            "mass": pa.array(1.0 + steps % 3),
        }
    )


def typed_texts(n_rows):
    """Return a table with columns of text that hold something else; the same on every machine."""
    steps = np.arange(n_rows)
    start = datetime(2024, 2, 28, tzinfo=UTC)
    words = [
        "the",
        "parcel",
        "came",
        "late",
        "and",
        "was",
        "torn",
        "so",
        "I",
        "want",
        "my",
        "money",
        "back",
        "for",
        "these",
        "red",
        "shoes",
    ]
    return pa.table(
        {
            "price": pa.array([f"${i * 37 % 1999:,}.50" for i in range(n_rows)]),
            "day": pa.array([(start + timedelta(days=i % 90)).strftime("%m/%d/%Y") for i in range(n_rows)]),
            "paid": pa.array(["yes" if i % 3 else "no" for i in range(n_rows)]),
            "note": pa.array([" ".join(words[(i * k) % 16] for k in range(3, 11)) + f" {words[i % 7]}" for i in range(n_rows)]),
            "town": pa.array([f"town {i % 13}" for i in range(n_rows)]),
            "when": pa.array([start + timedelta(minutes=17 * i) for i in range(n_rows)]),
            "name": pa.array([f"name-{i}" for i in range(n_rows)]),
            "churned": pa.array(steps % 4 == 0),
        }
    )


def plain(n_rows):
    """Return one column of numbers; the same on every machine."""
    return pa.table({"x": pa.array((np.arange(n_rows) * 7919 % 10007 / 1250.0).astype(np.float32))})


def summary(**options):
    options = {"n_features": 24, **options}
    return ss.summarize(mixed(240), prototypes=6, criticisms=3, weight="mass", random_state=5, **options).to_bytes()


def roles(**options):
    """Return a summary of columns that are read, hashed, set aside or redacted."""
    options = {"prototypes": 6, "criticisms": 3, "n_features": 24, "label": "churned", "redact": ["name"], **options}
    return ss.summarize(typed_texts(240), random_state=5, **options).to_bytes()


def running(search="tree", n_rows=5_600):
    """Return a stream whose warm-up is over, with a background sample, and a reservoir that a tree searches."""
    rows = plain(n_rows)
    request = replace(ASKED, prototypes=16, n_features=8, weight=None).request(5)
    state = states.init(replace(request, settings=replace(request.settings, search=search)), rows.schema)
    for batch in rows.to_batches():
        state = states.update(state, batch)
    return Summary(Snapshot(state), "a stream").to_bytes()


def long():
    """Return a summary with a path of MMD, of one named column, with a bandwidth for each coordinate."""
    options = {"prototypes": 16, "criticisms": 2, "n_features": 8, "random_state": 5}
    return ss.summarize(plain(8_300), columns=["x"], kernel=ss.kernels.Gaussian((1.0, 2.0)), **options).to_bytes()


def alike():
    """Return a summary with the maps of another."""
    first = ss.summarize(mixed(240), prototypes=6, criticisms=3, weight="mass", random_state=5, n_features=24)
    return ss.summarize(mixed(60), like=first, random_state=6).to_bytes()


def waves(make, **options):
    """Return a summary with random features of one form and kind of frequencies, with weights for some columns."""
    features = make(ss.kernels.Gaussian(1.5), 16, random_state=2, **options)
    columns = {"size": 2.0, "count": 1.0, "state": 1.0}
    return ss.summarize(mixed(240), prototypes=6, criticisms=3, columns=columns, features=features, random_state=5).to_bytes()


def timed(n_rows, change):
    """Return numbers every six minutes, larger from a row on; the same on every machine."""
    steps = np.arange(n_rows)
    numbers = plain(n_rows)["x"].to_numpy() + 6.0 * (steps >= change)
    when = np.datetime64("2024-02-28", "s") + steps * np.timedelta64(6, "m")
    return pa.table({"when": when, "x": numbers.astype(np.float32)})


def history():
    """Return a history with a season and an alarm, whose oldest blocks were dropped."""
    rows = timed(970, 900)
    like = ss.summarize(rows.slice(0, 900), prototypes=6, criticisms=3, random_state=5, n_features=8)
    asked = ss.History("when", "2h", season="4h", keep="14h", like=like, run_length=100, random_state=5)
    return asked.update(rows)


def running_checkpoint():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.checkpoint"
        ss.summarize(iter([plain(5_600)]), prototypes=6, criticisms=2, random_state=5, n_features=8, checkpoint=path)
        return path.read_bytes()


def checkpoint():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.checkpoint"
        ss.summarize(iter([mixed(240)]), prototypes=6, criticisms=3, random_state=5, n_features=24, checkpoint=path)
        return path.read_bytes()


def partition(*, part):
    empty = parts.warm_up({0: parts.rows_of(parts.head(0, 5_000, "mass", mixed(240)))}, ASKED.request(5), "a table")
    return parts.summarize_part(empty, 0, mixed(240)) if part else empty


def to_a_target(**options):
    """Return a summary whose rows match others."""
    asked = {"prototypes": 6, "weight": "mass", "n_features": 24, "random_state": 5, **options}
    return ss.summarize(mixed(240), target=mixed(240).slice(100, 60), **asked).to_bytes()


def partition_to_a_target():
    rows = {0: parts.rows_of(parts.head(0, 5_000, "mass", mixed(240)))}
    asked = replace(ASKED, criticisms=0, target=mixed(240).slice(100, 60))
    request = asked.request(5)
    return parts.packed(asked.aimed(parts.gathered_rows(rows, request, "a table"), request))


def quadratic(x):
    return float(x[0] * (1.0 - x[1]))


def integral(path):
    """Write the file of a run with nine values, and two points that wait for theirs."""
    square = ss.measures.Uniform([0.0, 0.0], [1.0, 1.0])
    ss.integrate(quadratic, square, 9, checkpoint=path, random_state=5)
    ss.Integration(square, checkpoint=path).ask(2)


#: What the stream was opened with, and must be again, beside the summary in its folder.
WATCHED = {"time": "when", "every": "2h", "keep": "14h", "run_length": 100, "random_state": 5}


def stream(folder):
    """Write the state of a stream of the service, killed with rows in its database that the history does not hold."""
    # pass_on imports this module in environments that may lack what the service needs.
    from supersample.live.batch import Batch, RefusedError, Unread
    from supersample.live.settings import Limits, StreamSettings
    from supersample.live.stream import Stream

    table = timed(970, 900)
    like = ss.summarize(table.slice(0, 200), prototypes=4, criticisms=2, random_state=5, n_features=8)
    settings = StreamSettings("rides", WATCHED | {"like": like}, save_seconds=1e9)
    made = Stream(settings, folder, Limits(), outgoing=lambda *_: [("target", b"{}")])
    like.save(folder / "like.ss")
    made.start()
    made.take(Batch("first", table.slice(0, 960))).result()
    made._save_through(made._intake.last)
    made.take(Batch("second", table.slice(960), "log", {"line": 12})).result()
    with contextlib.suppress(RefusedError):
        made.take(Unread("torn", "no rows", b"\0\1", "log", {"line": 13})).result()
    made.alarms.decide(1, "normal", by="Ada", note="new tariff")
    made._save = lambda: True
    made.stop()
    made.close()


MADE = {
    "summary": summary,
    "summary-laplacian": partial(summary, kernel="laplacian", bandwidth=2.0),
    "summary-reach": partial(summary, kernel="laplacian"),
    "summary-matern-fourier": partial(summary, kernel=ss.kernels.Matern(2.5, 1.5), features="fourier"),
    "summary-sum-nystroem": partial(
        summary, kernel=ss.kernels.Gaussian(1.0) + 0.5 * ss.kernels.Cauchy(3.0), features="nystroem"
    ),
    "summary-normalized": partial(summary, kernel=ss.kernels.Normalized(2.0 * ss.kernels.Gaussian(1.5))),
    "summary-fastfood": partial(
        summary, features=ss.features.Fastfood(ss.kernels.Gaussian(1.0), 16, random_state=1), n_features=None
    ),
    "summary-running": running,
    "summary-roles": roles,
    "summary-cycle": partial(roles, times="cycle", types={"note": "text", "town": "id"}, redact=()),
    "summary-long": long,
    "summary-like": alike,
    "summary-phase-sobol": partial(waves, ss.features.Fourier, form="phase", frequencies="sobol"),
    "summary-orthogonal": partial(waves, ss.features.Fourier, frequencies="orthogonal"),
    "summary-fastfood-phase": partial(waves, ss.features.Fastfood, form="phase"),
    "summary-decay": partial(summary, time="when", half_life="1d"),
    "summary-exact-search": partial(running, search="exact", n_rows=300),
    "summary-target": to_a_target,
    "checkpoint-running": running_checkpoint,
    "checkpoint": checkpoint,
    "partition-target": partition_to_a_target,
    "partition-empty": partial(partition, part=False),
    "partition": partial(partition, part=True),
}


def write(folder):
    """Write all files that are not there yet."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in MADE.items():
        path = folder / f"{name}.ss"
        if not path.exists():
            path.write_bytes(make())
    if not (folder / "history").exists():
        history().save(folder / "history")
    if not (folder / "integral.checkpoint").exists():
        integral(folder / "integral.checkpoint")
    if not (folder / "stream").exists():
        stream(folder / "stream")


if __name__ == "__main__":
    write(sys.argv[1])
