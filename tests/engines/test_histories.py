"""A history of a frame on a cluster has the blocks of one that read the rows in order."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import supersample as ss

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]

CHANGE = 5_000


def timed(tables):
    """Return rows with a time in `b`, in minutes of all partitions one after the other, and a change in `count`."""
    out, start = [], 0
    for table in tables:
        place = np.arange(start, start + table.num_rows)
        table = table.set_column(1, "b", pa.array(place.astype(np.float64)))
        count = table["count"].to_numpy() + 6 * (place >= CHANGE)
        out.append(table.set_column(4, "count", pa.array(count)))
        start += table.num_rows
    return out


def reader(folder):
    """Return a function that reads a partition; a closure, since workers cannot import the tests."""
    folder = str(folder)

    def read(index):
        return parquet.read_table(f"{folder}/{index}.parquet")

    return read


def test_blocks_and_alarms_are_those_of_one_process(engine, tables, tmp_path):
    parts = timed(tables)
    for index, part in enumerate(parts):
        parquet.write_table(part, tmp_path / f"{index}.parquet")
    whole = pa.concat_tables(parts)
    like = ss.summarize(whole, types={"b": "ignore"}, random_state=0)
    here, there = (ss.History("b", 100, like=like, random_state=0) for _ in range(2))
    here.update(whole)
    there.update(engine.frame(reader(tmp_path), len(parts)))
    assert there.blocks.equals(here.blocks)
    mean = [each.between()._snapshot.state.stream.moments.mean() for each in (here, there)]
    np.testing.assert_allclose(mean[1], mean[0], rtol=0, atol=1e-12)
    assert [alarm.change for alarm in there.alarms] == [alarm.change for alarm in here.alarms]
    assert [alarm.change for alarm in here.alarms] == [CHANGE]
    with pytest.raises(ss.errors.InputError, match="save_to must be left out for frames of a cluster"):
        there.update(engine.frame(reader(tmp_path), len(parts)), save_to="folder")
