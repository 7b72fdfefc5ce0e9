"""A process that takes batches into a stream until it is killed, and tells which it has acknowledged."""

from pathlib import Path

from live_rows import rows
from supersample.live.batch import Batch
from supersample.live.settings import Limits, StreamSettings
from supersample.live.stream import Stream

__all__ = ["run"]

#: Batches that wait for their acknowledgement at a time.
_ON_THEIR_WAY = 3


def run(folder, first, last, save_seconds, told):
    """Take batches in, from a number on; tell each number once it is acknowledged, then whether it was known before."""
    settings = StreamSettings("rides", {"time": "when", "every": "10s"}, save_seconds=save_seconds)
    stream = Stream(settings, Path(folder) / "rides", Limits())
    stream.start()
    waiting = []
    for number in range(first, last):
        waiting.append((number, stream.take(Batch(f"batch-{number}", rows(number), "log", number + 1))))
        while len(waiting) > _ON_THEIR_WAY or (waiting and number + 1 == last):
            done, future = waiting.pop(0)
            told.send((done, future.result().repeated))
    stream.stop()
    stream.close()
    told.send(None)
