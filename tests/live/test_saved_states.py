"""States of earlier versions are read, those of later ones refused: the golden stream, and databases of other layouts."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import supersample as ss
from golden.make import WATCHED, timed
from live_rows import close
from supersample.errors import InputError
from supersample.live import database
from supersample.live.batch import Batch
from supersample.live.database import Database
from supersample.live.settings import Limits, StreamSettings
from supersample.live.stream import Stream

STREAMS = sorted((Path(__file__).parents[1] / "golden").glob("format-*/stream"))


@pytest.mark.parametrize("folder", STREAMS, ids=lambda path: path.parent.name)
def test_a_golden_stream_goes_on(folder, tmp_path):
    """What was saved, what was only acknowledged, what was set aside, what was decided, and what is still to be sent."""
    shutil.copytree(folder, tmp_path / "rides")
    history = WATCHED | {"like": ss.load(tmp_path / "rides" / "like.ss")}
    stream = Stream(StreamSettings("rides", history, save_seconds=1e9), tmp_path / "rides", Limits())
    try:
        assert stream.history.n_seen == 970
        assert stream.ledger.counts() == {"logged_batches": 1, "aside": 1}
        assert stream.ledger.positions() == {"log": {"line": 13}}
        (aside,) = stream.ledger.aside(1)
        assert (aside["id"], aside["source"], aside["reason"], aside["content"]) == ("torn", "log", "no rows", b"\0\1")
        (decision,) = stream.alarms.decisions()
        assert (decision.state, decision.by, decision.note) == ("normal", "Ada", "new tariff")
        assert [str(each.change) for each in stream.history.alarms] == ["2024-03-02 18:00:00"]
        assert [body for _, body, _ in stream.alarms.due(2e9, "target")] == [b"{}"]
        assert [each[1] for each in stream.alarms.ticks(None, None, 3)] == [20.0] * 3
        stream.start()
        assert stream.take(Batch("first", timed(970, 900).slice(0, 960))).result(60).repeated
        assert stream.take(Batch("third", timed(1_000, 900).slice(970))).result(60).rows == 30
    finally:
        close(stream)
    assert ss.History.load(tmp_path / "rides" / "history").n_seen == 1_000


def test_there_is_a_golden_stream():
    assert [path.parent.name for path in STREAMS] == ["format-3"]


@pytest.mark.parametrize(
    ("layout", "told"),
    [
        (database._VERSION + 1, "a later version of supersample: its tables have layout 2, and this version reads layout 1"),
        (0, "something else than supersample: its tables have layout 0"),
        (-1, "something else than supersample: its tables have layout -1"),
    ],
)
def test_a_database_of_another_layout_is_refused_and_left_alone(tmp_path, layout, told):
    path = tmp_path / "stream.sqlite"
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE facts (name)")
        other.execute(f"PRAGMA user_version = {layout}")
    before = path.read_bytes()
    with pytest.raises(InputError, match=told):
        Database(path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["stream.sqlite"]


def test_an_earlier_layout_that_nothing_moves_on_is_refused(tmp_path, monkeypatch):
    Database(tmp_path / "stream.sqlite").close()
    monkeypatch.setattr(database, "_VERSION", database._VERSION + 1)
    with pytest.raises(InputError, match="its tables have layout 1, and this version reads layout 2"):
        Database(tmp_path / "stream.sqlite")
