"""Killed at random moments and started again, a run ends in the same bytes as one that was left alone."""

import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import supersample as ss

RUN = """
import os
import signal
import sys
from supersample import summarize
source, checkpoint, out, last = sys.argv[1:]

def stop(progress):
    if progress.rows >= float(last):
        os.kill(os.getpid(), signal.SIGKILL)

print("ready", flush=True)
summary = summarize(source, 50, 10, random_state=0, checkpoint=checkpoint, checkpoint_seconds=0.2, progress=stop)
summary.save(out)
"""


def write_rows(path, rows):
    rng = np.random.default_rng(0)
    schema = pa.schema([("x", pa.float32()), ("y", pa.float32()), ("kind", pa.string())])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, 100_000):
            n = min(100_000, rows - start)
            kind = rng.choice(3, n)
            columns = [
                rng.normal(kind, 1.0).astype(np.float32),
                rng.normal(size=n).astype(np.float32),
                np.array(["a", "b", "c"])[kind],
            ]
            writer.write_table(pa.table(columns, schema=schema))


def start(*paths, last=np.inf):
    """Start a run, which kills itself once it has read `last` rows."""
    command = [sys.executable, "-c", RUN, *map(str, paths), str(last)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    with process.stdout:
        assert process.stdout.readline() == "ready\n"
    return process


def killed_runs(tmp_path, rows, kills):
    """Kill a run `kills` times, half way and then each after a random time, and let it end; return how often it was hit."""
    source, checkpoint, out = tmp_path / "rows.parquet", tmp_path / "run.checkpoint", tmp_path / "out.ss"
    write_rows(source, rows)
    process = start(source, tmp_path / "other.checkpoint", tmp_path / "whole.ss")
    started = time.monotonic()  # imports are over: only the run itself counts
    assert process.wait() == 0
    whole = time.monotonic() - started
    rng = np.random.default_rng(0)
    hits = 0
    for kill in range(kills):
        process = start(source, checkpoint, out, last=np.inf if kill else rows // 2)
        if kill:  # a machine at other work may be done by then
            time.sleep(rng.uniform(0.0, min(1.0, 3.0 / kills) * whole))
            process.send_signal(signal.SIGKILL)
        hits += process.wait() == -signal.SIGKILL
        if out.exists():
            assert out.read_bytes() == (tmp_path / "whole.ss").read_bytes()  # never a part under the final name
        if checkpoint.exists():
            with pytest.raises(ss.errors.InputError, match="which is a checkpoint"):
                ss.load(checkpoint)  # whole: a damaged one would say so
    assert start(source, checkpoint, out).wait() == 0
    assert out.read_bytes() == (tmp_path / "whole.ss").read_bytes()
    return hits


def test_killed_three_times(tmp_path):
    assert killed_runs(tmp_path, 200_000, 3) >= 1


HISTORY = """
import os
import signal
import sys
import numpy as np
import supersample as ss

source, folder, last = sys.argv[1:]
rng = np.random.default_rng(0)
like = ss.summarize(source, types={"when": "ignore"}, random_state=0)


def taken(into, kill_at=0):
    # Return how many functions a run calls; at one of these calls it kills itself.
    calls = [0]

    def called(*_):
        calls[0] += 1
        if calls[0] == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    history = ss.History("when", "1h", like=like, random_state=0)
    sys.setprofile(called)
    history.update(source, save_to=into, save_seconds=0.0)
    sys.setprofile(None)
    return calls[0]


ss.History("when", "1h", like=like, random_state=0).update(source)  # code is compiled before calls are counted
whole = taken(last)
for kill in range(20):
    child = os.fork()
    if not child:
        taken(folder, int(rng.integers(1, whole // 8)))
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
taken(folder)
"""


def test_a_history_killed_at_twenty_random_moments_ends_in_the_same_bytes(tmp_path):
    """A child at a time, killed at a random one of its calls: within a save or between, each run in its first eighth."""
    rng = np.random.default_rng(1)
    when = np.datetime64("2026-03-02T00:00:00", "s") + np.arange(1_600) * np.timedelta64(45, "s")
    table = pa.table({"when": when, "value": rng.normal(size=1_600)})
    for place in range(8):
        pq.write_table(table.slice(200 * place, 200), tmp_path / f"{place:02}.parquet")
    folders = [tmp_path / name for name in ("killed", "whole")]
    command = [sys.executable, "-c", HISTORY, str(tmp_path / "*.parquet"), *map(str, folders)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    codes = [int(each) for each in done.stdout.split()]
    assert len(codes) == 20
    assert set(codes) <= {0, -signal.SIGKILL}
    assert codes.count(-signal.SIGKILL) >= 10
    held = [{path.relative_to(each): path.read_bytes() for path in each.rglob("*.ss")} for each in folders]
    assert held[0] == held[1]
    assert ss.History.load(folders[0]).n_seen == 1_600


@pytest.mark.level
def test_killed_twenty_times_over_five_million_rows(tmp_path, capsys):
    hits = killed_runs(tmp_path, 5_000_000, 20)
    with capsys.disabled():
        print(f"killed {hits} of 20 times before the end; the same bytes")  # noqa: T201
    assert hits >= 10
