"""Killed at any moment, a stream has every acknowledged row once: in number, and in the bytes of every block."""

import multiprocessing
import time

import numpy as np
import pytest

from live_killed import run
from live_rows import is_history_of

KILLS = 20


@pytest.fixture(scope="module")
def processes():
    """Processes that begin with everything imported, so that what is killed is the stream and not an import."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["live_killed", "supersample.live.stream", "supersample.summary.comparing"])
    return context


def started(processes, *arguments):
    told, theirs = processes.Pipe(duplex=False)
    process = processes.Process(target=run, args=(*arguments, theirs), daemon=True)
    process.start()
    theirs.close()
    return process, told


def heard(told):
    """Yield what a process tells, until it ends."""
    try:
        while (each := told.recv()) is not None:
            yield each
    except EOFError:
        pass


@pytest.mark.once
def test_twenty_kills_lose_and_double_nothing(processes, opened, tmp_path):
    rng = np.random.default_rng(0)
    acknowledged, hits = -1, 0
    for _ in range(KILLS):
        first = max(0, acknowledged - int(rng.integers(0, 3)))  # some that are known, and those that nobody has heard of
        process, told = started(processes, str(tmp_path), first, first + 1_000, float(rng.choice([0.0, 0.02, 60.0])))
        wanted = acknowledged + int(rng.integers(1, 7))
        for number, repeated in heard(told):
            assert not (number <= acknowledged and not repeated)  # what was acknowledged is still known
            if number >= wanted:
                break
        time.sleep(rng.uniform(0.0, 0.04))
        process.kill()
        for number, _ in heard(told):
            wanted = max(wanted, number)
        process.join()
        hits += process.exitcode == -9
        acknowledged = max(acknowledged, wanted)
    assert hits == KILLS
    stream = opened()
    count = stream.history.n_seen // 500
    assert stream.history.n_seen == 500 * count  # whole batches only
    assert acknowledged < count <= acknowledged + 8  # all that was acknowledged, and what was on its way
    assert stream.ledger.positions() == {"log": count}
    assert is_history_of(stream, count)
    assert len(stream.alarms.ticks(None, None, 10_000)) == stream.timeline.lookout.n_ticks
