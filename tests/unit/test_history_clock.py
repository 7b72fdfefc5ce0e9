"""A clock that wrong times led astray goes back once rows agree; what cannot be put right is said; batches do not matter."""

from datetime import datetime, timedelta
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

import supersample as ss
from supersample.history.history import state_of

START = np.datetime64("2026-03-02T00:00:00", "s")
DECADE = np.timedelta64(3_650, "D")


def rows(n, *, first=0, change=None, seed=0):
    """Return a row every minute; from a row on, values are larger."""
    values = np.random.default_rng(seed).normal(size=n) + 3.0 * (np.arange(n) >= (n if change is None else change))
    return pa.table({"when": START + np.arange(first, first + n) * np.timedelta64(60, "s"), "value": values})


def with_times(table, when):
    return table.set_column(0, "when", pa.array(when))


def ahead(table, first, last):
    """Return rows of which some, in a row, are ten years ahead."""
    when = table["when"].to_numpy().copy()
    when[first:last] += DECADE
    return with_times(table, when)


@pytest.fixture(scope="module")
def like():
    return ss.summarize(rows(2_000), 10, 2, n_features=32, random_state=0)


def new(like, **options):
    return ss.History("when", "1h", like=like, random_state=0, **options)


def test_ten_rows_that_are_ten_years_ahead_do_not_end_the_watch(like):
    history = new(like).update(ahead(rows(3_000, change=2_400), 1_500, 1_510))
    (alarm,) = history.alarms
    assert alarm.change == datetime(2026, 3, 3, 16)
    assert alarm.at - alarm.change <= timedelta(hours=2)
    assert state_of(history).now == (START + np.timedelta64(2_999, "m")).astype(float)
    assert history.n_late == 0
    expected = new(like).update(rows(3_000, change=2_400)).blocks.to_pylist()
    assert [each["end"] for each in history.blocks.to_pylist()[:-1]] == [each["end"] for each in expected]
    assert "clock ahead" not in {note.kind for note in history.notes}
    (far,) = (each for each in history.blocks.to_pylist() if each["start"].year == 2036)
    assert far["rows"] == 10
    assert history.between("2026-01-01", "2027-01-01").n_seen == 2_990


def test_a_clock_that_more_rows_led_astray_is_said(like):
    history = new(like).update(ahead(rows(3_000, change=2_400), 1_500, 1_600))
    assert history.alarms == ()
    note = history.notes[0]
    assert note.kind == "clock ahead"
    assert "the latest 1,400 rows all came after their block was closed: the clock stands at 2036-02-29 02:39" in str(note)


def test_a_gap_of_many_blocks_is_dated_by_its_beginning(like):
    """More than are counted."""
    history = new(like).update(rows(9_000)).update(rows(1_000, first=9_000 + 1_500 * 60, seed=1))
    assert [(each.in_words(), each.change) for each in history.alarms] == [
        ("no rows any more", datetime(2026, 3, 8, 6)),
        ("rows again, after none", datetime(2026, 5, 9, 18)),
    ]


@pytest.mark.parametrize("gap", [0, 60 * 1_440])
def test_old_rows_that_are_read_later_do_not_put_the_clock_back(like, gap):
    """Neither where the clock never jumped, nor right after a jump over a gap."""
    recent = rows(100, first=2_000 + gap, seed=1)
    history = new(like, volume=False).update(rows(2_000, first=0)).update(recent.slice(0, 10))
    history.update(rows(500, first=-9_000, seed=2))
    assert history.n_late == 500
    assert history.notes[0].kind == "clock ahead"
    history.update(recent.slice(10))
    assert state_of(history).now == recent["when"].to_numpy()[-1].astype(float)
    assert history.n_late == 500
    assert "clock ahead" not in {note.kind for note in history.notes}


def awkward(n):
    """Return rows that are late, have no time, or are far ahead, alone and ten in a row; and a change."""
    rng, table = np.random.default_rng(7), ahead(rows(n, change=2 * n // 3), n // 2, n // 2 + 10)
    when = table["when"].to_numpy() - (rng.exponential(6_000, n) * (rng.random(n) < 0.05)).astype("m8[s]")
    when[n // 4] = np.datetime64("2099-01-01")
    when[rng.integers(0, n, 20)] = np.datetime64("NaT", "s")
    return with_times(table, when)


@pytest.mark.parametrize("season", [None, "2h"])
def test_the_bytes_of_a_history_do_not_depend_on_batches(like, season, tmp_path):
    n = 1_500
    table, saved = awkward(n), []
    for place, cuts in enumerate(([], [1, 2, 3, 760, 812], range(37, n, 97))):
        history = new(like, season=season)
        edges = [0, *cuts, n]
        for first, last in pairwise(edges):
            history.update(table.slice(first, last - first))
        history.save(tmp_path / str(place))
        folder = tmp_path / str(place)
        saved.append({path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.ss")})
    assert history.n_late > 10
    assert state_of(history).n_untimed == 20
    assert state_of(history).n_ahead > 8
    assert len(history.alarms) == 1
    for other in saved[1:]:
        assert other.keys() == saved[0].keys()
        assert [str(name) for name in other if other[name] != saved[0][name]] == []
