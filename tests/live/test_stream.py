"""A stream: what is acknowledged is counted once, whatever is restarted, repeated or refused."""

import re
import sqlite3

import pyarrow as pa
import pytest

import supersample as ss
from live_rows import close, is_history_of, rows
from live_services import client_of, running, settings_of
from supersample import History
from supersample.errors import InputError
from supersample.history.keeping import timeline_of
from supersample.live import alarm_book
from supersample.live.batch import Batch, FullError, RefusedError, Unread
from supersample.live.settings import Limits, StreamSettings


def take(stream, number, **more):
    return stream.take(Batch(f"batch-{number}", rows(number), **more))


def files_with(text, folder):
    """Return the names of files that hold a text."""
    return [path.name for path in folder.rglob("*") if path.is_file() and text in path.read_bytes()]


def test_acknowledged_rows_are_the_history_of_the_batches_in_their_order(opened):
    stream = opened()
    stream.start()
    found = [each.result(60) for each in [take(stream, number) for number in range(14)]]
    assert [each.rows for each in found] == [500] * 14
    assert is_history_of(stream, 14)


def test_a_repeated_batch_is_acknowledged_and_not_counted(opened):
    stream = opened()
    stream.start()
    assert not take(stream, 0).result(60).repeated
    first, second = take(stream, 0), take(stream, 0)
    assert first.result(60).repeated
    assert second.result(60).repeated
    assert take(stream, 0, source="elsewhere").result(60).rows == 500  # an id is one of its source
    assert stream.history.n_seen == 1_000


def test_what_the_saved_history_does_not_hold_is_replayed(opened, tmp_path, monkeypatch):
    stream = opened(save_seconds=1e9)
    stream.start()
    for each in [take(stream, number) for number in range(12)]:
        each.result(60)
    monkeypatch.setattr(stream, "_save", lambda: True)  # as if it had been killed: nothing is saved at the end
    close(stream)
    again = opened(save_seconds=1e9)
    assert again.history.n_seen == 6_000
    again.start()
    assert take(again, 3).result(60).repeated
    for number in (12, 13):
        take(again, number).result(60)
    assert is_history_of(again, 14)


def test_what_is_saved_is_not_replayed(opened):
    stream = opened()
    stream.start()
    for each in [take(stream, number) for number in range(12)]:
        each.result(60)
    close(stream)
    again = opened()
    assert again.history.n_seen == 6_000
    assert again.ledger.counts()["logged_batches"] == 0
    again.start()
    assert take(again, 5).result(60).repeated


def test_rows_that_do_not_fit_are_set_aside_and_the_rest_goes_on(opened):
    stream = opened()
    stream.start()
    take(stream, 0).result(60)
    with pytest.raises(RefusedError, match="the rows must have the columns seen before"):
        stream.take(Batch("odd", pa.table({"z": [1]}))).result(60)
    with pytest.raises(RefusedError, match="no rows at all"):
        stream.take(Unread("torn", "no rows at all", b"\0\1")).result(60)
    assert take(stream, 1).result(60).rows == 500
    assert stream.history.n_seen == 1_000
    torn, odd = stream.ledger.aside()
    assert (torn["id"], torn["reason"], torn["size"]) == ("torn", "no rows at all", 2)
    assert odd["id"] == "odd"
    assert stream.ledger.aside(torn["number"])[0]["content"] == b"\0\1"


def test_a_batch_that_was_set_aside_may_come_again_whole(opened):
    stream = opened()
    stream.start()
    take(stream, 0).result(60)
    for _ in range(2):
        with pytest.raises(RefusedError):
            stream.take(Batch("batch-1", pa.table({"z": [1]}))).result(60)
    assert stream.ledger.aside()[0]["times"] == 2
    assert take(stream, 1).result(60).rows == 500


def test_the_name_of_a_file_may_be_no_utf_8(opened):
    """Python reads such bytes of a name as halves of surrogate pairs, which no database takes."""
    stream = opened()
    stream.start()
    with pytest.raises(RefusedError):
        stream.take(Unread("a\udcff.csv:1", "a\udcff.csv is damaged", b"x", "log", {"a\udcff.csv": 1})).result(60)
    assert take(stream, 1).result(60).rows == 500
    (aside,) = stream.ledger.aside()
    assert (aside["id"], aside["reason"]) == ("a\\udcff.csv:1", "a\\udcff.csv is damaged")
    assert stream.ledger.positions() == {"log": {"a\udcff.csv": 1}}


def test_the_position_of_a_source_goes_on_with_its_batches_even_those_set_aside(opened):
    stream = opened()
    stream.start()
    take(stream, 0, source="log", position={"line": 500}).result(60)
    take(stream, 1, source="other", position=7).result(60)
    with pytest.raises(RefusedError):
        stream.take(Unread("torn", "no rows", b"x", "log", {"line": 501})).result(60)
    assert stream.ledger.positions() == {"log": {"line": 501}, "other": 7}
    close(stream)
    assert opened().ledger.positions() == {"log": {"line": 501}, "other": 7}


def test_what_nobody_asks_for_again_is_removed(opened, monkeypatch):
    """All positions but the last one of each source, all ticks but the latest, and deliveries that were done long ago."""
    monkeypatch.setattr(alarm_book, "_MOST_TICKS", 3)
    stream = opened(like=ss.summarize(rows(0), prototypes=2, criticisms=0, n_features=8, random_state=0))
    stream.start()
    for number in range(2):
        take(stream, number, source="log", position=number).result(60)
        take(stream, 2 + number, source="other", position=number).result(60)
    count = timeline_of(stream.history).lookout.n_ticks
    assert count > 3
    assert stream.database.rows("SELECT MIN(number), MAX(number) FROM ticks") == [(count - 2, count)]
    with stream.database.transaction() as run:
        run.executemany("INSERT INTO deliveries (alarm, target, body, due) VALUES (?, '', x'', 0)", [(1,), (2,), (3,)])
    stream.alarms.delivered(1)
    monkeypatch.setattr(alarm_book, "_DONE", -1.0)
    stream.alarms.delivered(2)
    assert [each[0] for each in stream.alarms.due(1.0, "")] == [3]
    assert stream.database.rows("SELECT id FROM deliveries") == [(3,)]
    close(stream)
    again = opened(like=stream.settings.history["like"])
    assert again.ledger.positions() == {"log": 1, "other": 1}
    assert again.database.rows("SELECT source, position FROM batches WHERE position IS NOT NULL ORDER BY source") == [
        ("log", "1"), ("other", "1"),
    ]  # fmt: skip
    assert again.database.rows("SELECT COUNT(*) FROM batches") == [(4,)]


def test_a_full_queue_says_so_and_keeps_nothing(opened):
    stream = opened(limits=Limits(queue_rows=1_200))
    first, second = take(stream, 0), take(stream, 1)  # its thread does not run yet
    with pytest.raises(FullError, match="cannot keep up, 1,000 rows wait"):
        take(stream, 2)
    stream.start()
    assert first.result(60).rows == second.result(60).rows == 500
    assert take(stream, 2).result(60).rows == 500


def test_if_the_ledger_cannot_be_written_nothing_has_happened(opened, monkeypatch):
    stream = opened()
    stream.start()
    take(stream, 0).result(60)
    add, full = stream.ledger.add, [True]

    def failing(run, entries):
        add(run, entries)
        if full:
            raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(stream.ledger, "add", failing)
    with pytest.raises(RuntimeError, match="database or disk is full"):
        take(stream, 1).result(60)
    assert "disk is full" in stream.trouble
    assert stream.history.n_seen == 500
    full.clear()
    assert not take(stream, 1).result(60).repeated
    assert stream.trouble == ""
    assert stream.history.n_seen == 1_000


def test_a_history_that_is_older_than_its_database_is_refused(opened, tmp_path):
    stream = opened()
    stream.start()
    take(stream, 0).result(60)
    close(stream)
    for path in (tmp_path / "rides" / "history").rglob("*.ss"):
        path.unlink()
    with pytest.raises(InputError, match="restore both from the same backup"):
        opened()


def test_what_cannot_be_opened_is_closed(opened, tmp_path, monkeypatch):
    """Python 3.13 warns about connections that nobody has closed; earlier ones keep the file open."""
    connect, connections = sqlite3.connect, []

    def connected(*arguments, **settings):
        connections.append(connect(*arguments, **settings))
        return connections[-1]

    monkeypatch.setattr(sqlite3, "connect", connected)
    with pytest.raises(InputError, match="every must be"):
        opened(every="soon")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "stream.sqlite").write_bytes(b"no database" * 100)
    with pytest.raises(InputError, match="not a database"):
        opened("other")
    assert len(connections) == 6
    for each in connections:
        with pytest.raises(sqlite3.ProgrammingError, match="closed database"):
            each.execute("SELECT 1")


def test_two_processes_do_not_share_a_stream(opened):
    opened()
    with pytest.raises(InputError, match="in use by another run"):
        opened()


def test_redacted_columns_are_saved_before_they_are_acknowledged_and_never_logged(opened, tmp_path):
    def secret(number):
        return rows(number).append_column("who", pa.array([f"person {each}" for each in range(500)]))

    like = ss.summarize(secret(0), redact=["who"], prototypes=5, types={"when": "time"}, random_state=0)
    with pytest.raises(InputError, match="must have like= where it has redact="):
        opened(redact=["who"])
    stream = opened("private", redact=["who"], like=like)
    stream.start()
    for number in range(3):
        stream.take(Batch(f"batch-{number}", secret(number))).result(60)
        assert stream.ledger.counts()["logged_batches"] == 0
        assert History.load(tmp_path / "private" / "history").n_seen == 500 * (number + 1)
    close(stream)
    assert files_with(b"person 7", tmp_path) == []


def test_a_source_goes_back_before_redacted_rows_that_were_not_saved(opened, monkeypatch):
    """A batch that is set aside after them has a later position, which must not count without them."""
    like = ss.summarize(rows(0), redact=["y"], prototypes=5, types={"when": "time"}, random_state=0)
    stream = opened("private", like=like)
    stream.start()
    take(stream, 0, source="log", position=500).result(60)
    take(stream, 1, source="other", position=7).result(60)
    with pytest.raises(RefusedError):
        stream.take(Unread("torn", "no rows", b"x", "other", 8)).result(60)
    monkeypatch.setattr(stream, "_save", lambda: True)  # as if it had been killed between commit and save
    take(stream, 2, source="log", position=1_000)
    with pytest.raises(RefusedError):
        stream.take(Unread("torn", "no rows", b"x", "log", 1_001)).result(60)
    close(stream)
    again = opened("private", like=like)
    assert again.history.n_seen == 1_000
    assert again.ledger.positions() == {"log": 500, "other": 8}
    again.start()
    assert not take(again, 2, source="log", position=1_000).result(60).repeated
    assert again.history.n_seen == 1_500


def test_a_field_that_is_dropped_is_no_unknown_column(opened):
    stream = opened(drop=["user.ssn"])
    stream.start()
    good = rows(0, n=10).append_column("user", pa.array([{"ssn": "s", "name": "a"}] * 10))
    stream.take(Batch("1", good)).result(60)
    with pytest.raises(RefusedError) as refused:
        stream.take(Batch("2", good.set_column(1, "x", pa.array(["far"] * 10)))).result(60)
    assert refused.value.kept.startswith("columns of another type than before: x (double); values")


@pytest.mark.parametrize("hidden", ["redact", "drop"])
def test_what_a_summary_hides_is_hidden_by_the_stream_that_is_like_it(opened, tmp_path, hidden):
    """Neither rows, nor bodies that are set aside, nor reasons quote a hidden column; only the sender sees the whole reason."""

    def secret(number):
        return rows(number).append_column("who", pa.array([f"person {each}" for each in range(500)]))

    like = ss.summarize(secret(0), prototypes=5, types={"when": "time"}, random_state=0, **{hidden: ["who"]})
    stream = opened("private", like=like, save_seconds=1e9)
    stream.start()
    assert stream.take(Batch("0", secret(0))).result(60).rows == 500
    unread = Unread("1", "invalid value 'person 7'", b"person 7")
    misfit = pa.table({"person 7": [1]})  # without a header, values stand where names should
    odd = secret(2).set_column(1, "x", pa.array(["person 7"] * 500))
    for given, said, kept in [
        (unread, "invalid value 'person 7'", "why is not kept"),
        (Unread("2", "all of it is empty", b"", plain=True), "all of it is empty", "all of it is empty"),
        (Batch("3", misfit), "person 7", "missing columns: when, x, y.*; columns not seen before: 1"),
        (Batch("4", odd), "'x' must be of type double", r"columns of another type than before: x \(double\)"),
    ]:
        with pytest.raises(RefusedError, match=said) as caught:
            stream.take(given).result(60)
        assert re.match(f".*{kept}", caught.value.kept)
        assert stream.ledger.aside()[0]["reason"] == caught.value.kept
    assert stream.ledger.counts()["logged_batches"] == (hidden == "drop")
    assert files_with(b"person", tmp_path) == []  # while it is open, and what is committed stands in the log
    close(stream)
    assert files_with(b"person", tmp_path) == []


def test_a_body_that_cannot_be_read_is_not_quoted_where_columns_are_hidden(tmp_path):
    stream = StreamSettings("rides", {"time": "when", "every": "10s", "drop": ["who"]})
    with running(settings_of(tmp_path, stream)) as service, client_of(service) as client:
        for body, status in [
            (b"when,x,who\n2026-03-02 00:00:00,1,2\n", 200),
            (b"when,x,who\n2026-03-02 00:00:01,person,3\n", 422),
        ]:
            answer = client.post("/streams/rides/rows", content=body, headers={"Content-Type": "text/csv"})
            assert answer.status_code == status
        assert "person" in answer.json()["error"]
        client.post("/streams/rides/rows", content=b"[{}]", headers={"Content-Type": "application/x-ndjson"})
        assert [each["reason"] for each in service.service.streams["rides"].ledger.aside()] == [
            "the body must be one JSON object a line, got a JSON array; send one object a line",
            "it cannot be read; why is not kept, since that may quote columns that the stream drops or redacts",
        ]
        assert files_with(b"person", tmp_path) == []


def test_a_column_may_be_dropped_later(opened):
    """Its values are missing from then on, in rows of any format."""
    stream = opened()
    stream.start()
    take(stream, 0).result(60)
    close(stream)
    again = opened(drop=["y"])
    again.start()
    assert take(again, 1).result(60).rows == 500
    assert again.schema().names == ["when", "x", "y"]
    assert again.history.n_seen == 1_000


def test_dropped_columns_are_kept_nowhere(opened, tmp_path):
    stream = opened("private", drop=["y"])
    stream.start()
    stream.take(Batch("0", rows(0).set_column(2, "y", pa.array(["hush hush"] * 500)))).result(60)
    with pytest.raises(RefusedError):
        stream.take(Batch("1", pa.table({"y": ["hush hush"]}))).result(60)
    assert stream.schema().names == ["when", "x"]
    close(stream)
    assert files_with(b"hush", tmp_path) == []
