"""The number of rows of a block is watched from the first block on, through outages, and without a cry of wolf."""

from dataclasses import replace

import numpy as np
import pytest

import supersample as ss
from supersample.history.history import state_of

#: The first hour, in seconds since 1970.
START = np.datetime64("2026-01-01T00:00:00", "s").astype(float)


def history(rates, seed=0, every="1h"):
    """Return the history of so many rows an hour, on average, for each hour."""
    rng = np.random.default_rng(seed)
    hours = np.repeat(np.arange(len(rates)), rng.poisson(rates))
    seconds = np.sort(hours * 3600 + rng.integers(0, 3600, len(hours)))
    rows = {"when": np.datetime64("2026-01-01T00:00:00") + seconds.astype("timedelta64[s]"), "x": rng.normal(size=len(hours))}
    return ss.History(time="when", every=every, random_state=0).update(rows)


def test_there_is_no_block_before_the_first_row():
    found = history([20.0] * 300)
    ticks = state_of(found).ticks
    assert ticks.starts[0] == np.datetime64("2026-01-01T00:00:00").astype("datetime64[s]").astype(float)
    assert ticks.sizes[0] > 0
    assert found.alarms == ()


@pytest.mark.parametrize("after", [60.0, 5.0])
def test_more_or_fewer_rows_are_noticed(after):
    (alarm,) = history([20.0] * 250 + [after] * 60).alarms
    assert alarm.kind == "volume"
    assert abs((alarm.change - np.datetime64("2026-01-11T10:00:00").astype(object)).total_seconds()) <= 2 * 3600
    assert abs(alarm.mmd / (after / 20.0) - 1) < 0.3


def test_an_outage_is_two_changes_and_not_more():
    """Of an outage alone, counts do not vary at all; the hours after it are not compared with such a limit."""
    found = [each for each in history([20.0] * 250 + [0.0] * 60 + [20.0] * 150).alarms if each.kind == "volume"]
    assert [each.in_words() for each in found] == ["no rows any more", "rows again, after none"]
    assert [str(each.change) for each in found] == ["2026-01-11 10:00:00", "2026-01-13 22:00:00"]


def test_a_watch_remembers_one_start_for_each_segment_however_long_nothing_changes():
    found = state_of(history([20.0] * 300)).lookout
    every = START + 3600.0 * np.arange(298)
    assert found.volume.ticks.sum() == every.size
    for held, starts in ((found.content, found.starts), (found.volume, found.volume_starts)):
        assert starts.size == held.ticks.size < 40
        assert starts.tolist() == every[-held.ticks_since()].tolist()
    older = replace(found, starts=every, volume_starts=every)  # as the first histories saved it
    for name in ("starts", "volume_starts"):
        assert getattr(older.by_segments(), name).tolist() == getattr(found, name).tolist()
