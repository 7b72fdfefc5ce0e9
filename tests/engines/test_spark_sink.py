"""A stream of a real local Spark, whose files appear in a folder: each row is counted once, whatever is delivered again."""

import os
import shutil
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import supersample as ss

pytestmark = [
    pytest.mark.once,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]

ROWS, CHANGE = 2_000, 12_000
OPTIONS = {"time": "at", "every": 100, "random_state": 0}

#: When the first file was written, in seconds.
_WRITTEN = int(time.time()) - 1_000


def rows(number):
    at = np.arange(number * ROWS, (number + 1) * ROWS, dtype=np.float64)
    return pa.table({"at": at, "x": np.random.default_rng(number).normal(size=ROWS) + 4.0 * (at >= CHANGE)})


class Folder:
    """A folder in which files appear, the query that reads it, and the history that it keeps."""

    def __init__(self, session, base, **options):
        self.session, self.base, self.options = session, base, OPTIONS | options
        (base / "in").mkdir(parents=True)
        self.made, self.epochs = 0, []

    def add(self, count):
        for _ in range(count):
            path = self.base / "in" / f"part-{self.made:04d}.parquet"
            parquet.write_table(rows(self.made), path.with_suffix(".tmp"))
            # Spark reads files in the order of their times, and two may be written within one millisecond.
            os.utime(path.with_suffix(".tmp"), (_WRITTEN + self.made, _WRITTEN + self.made))
            path.with_suffix(".tmp").rename(path)
            self.made += 1

    def run(self, effect=None, **options):
        """Run a query from the checkpoint until there is nothing new, as another process would: with a sink of its own."""
        sink = ss.spark_sink(self.base / "history", **self.options, **options)

        def each(frame, epoch):
            self.epochs.append(epoch)
            sink(frame, epoch)
            if effect is not None:
                effect(epoch)

        stream = self.session.readStream.schema("at double, x double").option("maxFilesPerTrigger", 1)
        query = (
            stream.parquet(str(self.base / "in")).writeStream.foreachBatch(each)
            .option("checkpointLocation", str(self.base / "checkpoint")).trigger(availableNow=True).start()
        )  # fmt: skip
        query.awaitTermination()
        return sink

    def uncommit(self):
        """Take back what Spark noted last, as if it had died between the effect of an epoch and this note."""
        commits = [each for each in (self.base / "checkpoint" / "commits").iterdir() if each.name.isdigit()]
        last = max(commits, key=lambda each: int(each.name))
        last.unlink()
        last.with_name(f".{last.name}.crc").unlink(missing_ok=True)


def check(found, count):
    """A history counts each row of the first files once: it has the blocks of one that read them in order."""
    oracle = ss.History(**OPTIONS)
    for number in range(count):
        oracle.update(rows(number))
    assert found.n_seen == oracle.n_seen == count * ROWS
    assert found.blocks.equals(oracle.blocks)
    assert [each.change for each in found.alarms] == [each.change for each in oracle.alarms]


def test_a_repeated_epoch_is_not_counted_again(session, tmp_path):
    stream, told = Folder(session, tmp_path), []

    def stops(epoch):
        if epoch == 4 and 4 not in stopped:
            stopped.append(4)
            raise RuntimeError("the driver is gone")

    stopped = []
    stream.add(6)
    with pytest.raises(Exception, match="the driver is gone"):
        stream.run(stops)
    stream.add(2)
    stream.run(stops, on_alarm=told.append)  # epoch 4 is delivered again, since Spark has not noted that it is done
    assert stream.epochs == [0, 1, 2, 3, 4, 4, 5, 6, 7]
    check(ss.History.load(tmp_path / "history"), 8)
    assert [each.change for each in told] == [CHANGE]
    told.clear()
    stream.uncommit()
    stream.add(1)
    sink = stream.run(on_alarm=told.append)
    assert stream.epochs[-2:] == [7, 8]
    check(sink.history, 9)

    shutil.rmtree(tmp_path / "checkpoint")  # a new one begins with epoch 0, and with the first file
    with pytest.raises(Exception, match="holds a history that this checkpoint does not belong to"):
        stream.run()
    assert ss.History.load(tmp_path / "history").n_seen == 9 * ROWS


def test_large_epochs_become_blocks_on_the_workers(session, tmp_path):
    like = ss.summarize(rows(0), types={"at": "ignore"}, random_state=0)
    here = Folder(session, tmp_path / "here", like=like)
    there = Folder(session, tmp_path / "there", like=like)
    for each in (here, there):
        each.add(3)
    found = [here.run().history, there.run(collect_rows=100).history]
    assert found[0].n_seen == found[1].n_seen == 3 * ROWS
    assert found[0].blocks.equals(found[1].blocks)


def test_epochs_that_do_not_fit_are_refused(session, tmp_path):
    frame = session.createDataFrame([(float(each), 1.0) for each in range(3)], "at double, x double")
    context = session.sparkContext
    context.setLocalProperty("sql.streaming.queryId", "one")
    try:
        sink = ss.spark_sink(tmp_path / "history", **OPTIONS)
        sink(frame.limit(0), 0)
        sink(frame, 1)  # the first rows come in the second epoch
        sink(frame, 1)
        sink(frame.limit(0), 2)
        assert sink.history.n_seen == 3
        with pytest.raises(ss.errors.MismatchError, match=r"up to epoch 2, and Spark goes on with epoch 1, .* counted twice"):
            sink(frame, 1)
        with pytest.raises(ss.errors.MismatchError, match="goes on with epoch 4, so that rows would be counted never"):
            sink(frame, 4)
        ss.History.load(tmp_path / "history").update({"at": [5.0], "x": [1.0]}).save(tmp_path / "history")
        sink(frame, 3)  # read again, since someone else has written it
        assert sink.history.n_seen == 7
        context.setLocalProperty("sql.streaming.queryId", "two")
        with pytest.raises(ss.errors.MismatchError, match="new_checkpoint=True"):
            sink(frame, 0)
        again = ss.spark_sink(tmp_path / "history", new_checkpoint=True, **OPTIONS)
        for epoch in (0, 0, 1):
            again(frame, epoch)
        assert again.history.n_seen == 13
    finally:
        context.setLocalProperty("sql.streaming.queryId", None)
