"""Rows with a time, as a service takes them in, and the history that they must become."""

import numpy as np
import pyarrow as pa

from supersample import History
from supersample.history.folder import block_bytes
from supersample.history.keeping import timeline_of
from supersample.history.timeline import all_blocks

START = np.datetime64("2026-03-02T00:00:00", "us")


def rows(number, n=500, shift=0.0):
    """Return rows that follow those of the number before, one every 50 ms."""
    rng = np.random.default_rng(number)
    when = START + (np.arange(number * n, (number + 1) * n) * 50_000).astype("timedelta64[us]")
    return pa.table({"when": when, "x": rng.normal(shift, 1.0, n), "y": rng.normal(size=n)})


def close(stream):
    """Close a stream, if it is open."""
    stream.stop()
    stream.close()


def is_history_of(stream, count):
    """Return whether a stream is, byte for byte, the history of the first batches, each taken in once."""
    oracle = History(time="when", every="10s", random_state=int(stream.database.fact("seed")))
    for number in range(count):
        oracle.update(rows(number))
    found, expected = (timeline_of(each) for each in (stream.history, oracle))
    assert found.n_seen == expected.n_seen
    assert found.ticks.evidence.tobytes() == expected.ticks.evidence.tobytes()
    return [block_bytes(each) for each in all_blocks(found)] == [block_bytes(each) for each in all_blocks(expected)]
