"""What the ledger counts and forgets, where there are many batches."""

import sqlite3
import time

import pytest

from supersample.live import ledger as ledgers
from supersample.live.batch import Unread
from supersample.live.database import Database
from supersample.live.ledger import Ledger

WEEK = 7 * 86_400.0


@pytest.fixture
def ledger(tmp_path):
    database = Database(tmp_path / "stream.sqlite")
    yield Ledger(database, logged=True)
    database.close()


def add(ledger, numbers, source="http", taken=0.0, position=None):
    """Write acknowledged batches whose rows the saved history holds."""
    entries = [(each, f"{source} {each}".encode(), source, position and f"{position}", taken) for each in numbers]
    with ledger.transaction() as run:
        run.executemany(
            "INSERT INTO batches (seq, key, source, position, rows, taken, kind) VALUES (?, ?, ?, ?, 1, ?, 'logged')", entries
        )


def numbers(ledger):
    return [seq for (seq,) in ledger._database.rows("SELECT seq FROM batches ORDER BY seq")]


def set_aside(ledger, batch_id, seq=1):
    with ledger.transaction() as run:
        ledger.add_aside(run, seq, Unread(batch_id, "no rows"), kept=True)


def test_batches_that_are_not_kept_any_more_were_set_aside_too(ledger, monkeypatch):
    monkeypatch.setattr(ledgers, "_KEPT_BATCHES", 3)
    assert ledger.counts()["aside"] == 0
    for number in range(7):
        set_aside(ledger, f"batch-{number}")
    set_aside(ledger, "batch-6")
    assert [(each["id"], each["times"]) for each in ledger.aside()] == [("batch-6", 2), ("batch-5", 1), ("batch-4", 1)]
    assert ledger.counts()["aside"] == 8


def test_what_was_set_aside_before_it_was_counted_apart_is_counted(ledger):
    for number in (0, 1, 1):
        set_aside(ledger, f"batch-{number}")
    with ledger.transaction() as run:  # as an earlier version left it
        run.execute("DELETE FROM facts WHERE name = 'aside'")
    assert ledger.counts()["aside"] == 3
    set_aside(ledger, "batch-2")
    assert ledger.counts()["aside"] == 4


def test_a_batch_is_counted_in_the_commit_that_sets_it_aside(ledger):
    def fail():
        with ledger.transaction() as run:
            ledger.add_aside(run, 1, Unread("torn", "no rows"), kept=True)
            raise sqlite3.OperationalError("database or disk is full")

    with pytest.raises(sqlite3.OperationalError):
        fail()
    assert ledger.counts()["aside"] == 0


def test_old_ids_are_forgotten_and_positions_are_not(ledger):
    """The last position of each source stays, and the last batch, which says when rows came."""
    now = time.time()
    add(ledger, range(1, 4), "quiet", position=5)
    add(ledger, range(4, 8))
    add(ledger, range(8, 10), taken=now)
    add(ledger, range(10, 13), "log", position=7)
    add(ledger, range(13, 15))
    assert ledger.positions() == {"quiet": 5, "log": 7}
    ledger.saved(11, WEEK)
    assert numbers(ledger) == [3, 8, 9, 11, 12, 13, 14]  # from 12 on, the saved history does not hold them
    assert ledger.positions() == {"quiet": 5, "log": 7}
    ledger.saved(14, WEEK)
    assert numbers(ledger) == [3, 8, 9, 12, 14]
    assert ledger.positions() == {"quiet": 5, "log": 7}
    assert ledger.last_taken() == now


def test_ids_are_forgotten_some_at_a_time(ledger, monkeypatch):
    monkeypatch.setattr(ledgers, "_FORGOTTEN", 10)
    add(ledger, range(1, 26))
    for left in (15, 5, 1, 1):
        ledger.saved(25, WEEK)
        assert len(numbers(ledger)) == left


def test_a_save_does_not_look_at_every_id(ledger, monkeypatch):
    """Counted in steps of SQLite, which no clock and no load changes."""
    monkeypatch.setattr(ledgers, "_FORGOTTEN", 100)
    now, steps = time.time(), []

    def looked():
        steps[-1] += 1

    for some in (range(1, 1_001), range(1_001, 20_001)):
        add(ledger, some, taken=now)
        steps.append(0)
        ledger._database._connection.set_progress_handler(looked, 10)
        ledger.saved(some[-1], WEEK)
        ledger._database._connection.set_progress_handler(None, 0)
    assert 10 < steps[1] < 2 * steps[0]
