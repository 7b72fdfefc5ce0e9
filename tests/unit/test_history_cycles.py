"""Notes on cycles of a day or a week that a history was not told of."""

import numpy as np
import pyarrow as pa
import pytest

import supersample as ss

START = np.datetime64("2026-03-02T00:00:00", "s")  # a Monday
DAY = 86_400


def noted(value, seconds, **options):
    """Return what a history of hourly blocks notes of cycles."""
    table = pa.table({"when": START + np.asarray(seconds).astype("m8[s]"), "value": value})
    history = ss.History("when", "1h", random_state=0, **options).update(table)
    return [each for each in history.notes if each.kind == "cycle"]


def steady(days, each=300):
    """Return the moments of rows that come every so many seconds, and normal numbers."""
    seconds = np.arange(0, days * DAY, each)
    return seconds, np.random.default_rng(round(10 * days)).normal(size=seconds.size)


def test_a_daily_cycle_of_values_is_noted_unless_it_is_known():
    seconds, values = steady(5)
    values = values + 1.5 * np.sin(seconds / DAY * 2 * np.pi)
    (note,) = noted(values, seconds)
    assert note.column == "when"
    assert "what rows hold follows a daily cycle" in note.text
    assert "season='1d'" in note.text
    assert noted(values, seconds, season="1d") == []
    assert noted(values, seconds, season="7d") == []


def test_a_daily_cycle_of_the_number_of_rows_is_noted():
    rng = np.random.default_rng(3)
    hours = np.arange(6 * 24)
    counts = rng.poisson(40 * (1 + 0.8 * np.sin(hours / 24 * 2 * np.pi)))
    seconds = np.sort(np.repeat(hours * 3_600, counts) + rng.integers(0, 3_600, counts.sum()))
    (note,) = noted(rng.normal(size=seconds.size), seconds)
    assert "how many rows there are follows a daily cycle" in note.text
    assert noted(rng.normal(size=seconds.size), seconds, volume=False) == []


@pytest.mark.parametrize("season", [None, "1d"])
def test_a_weekly_cycle_is_noted_also_beside_a_daily_season(season):
    seconds, values = steady(28, each=900)
    weekend = seconds // DAY % 7 >= 5
    (note,) = noted(values + 2.0 * weekend + np.sin(seconds / DAY * 2 * np.pi), seconds, season=season)
    assert "weekly cycle" in note.text
    assert "season='7d'" in note.text


@pytest.mark.parametrize("kind", ["nothing", "drift", "one change", "half a day", "walk"])
def test_what_is_no_cycle_is_not_noted(kind):
    seconds, values = steady(8)
    hours = seconds // 3_600
    added = {
        "nothing": 0.0,
        "drift": 2.0 * seconds / seconds.max(),
        "one change": 2.0 * (seconds > 3 * DAY),
        "half a day": 2.0 * ((seconds > 3 * DAY) & (seconds < 3.5 * DAY)),
        "walk": np.cumsum(np.random.default_rng(0).normal(size=hours.max() + 1))[hours] * 0.2,
    }[kind]
    assert noted(values + added, seconds) == []


def test_a_day_and_a_half_shows_no_cycle_yet():
    seconds, values = steady(1.5)
    assert noted(values + 1.5 * np.sin(seconds / DAY * 2 * np.pi), seconds) == []


def test_times_that_are_numbers_have_no_days():
    seconds, values = steady(5)
    table = {"when": seconds, "value": values + 1.5 * np.sin(seconds / DAY * 2 * np.pi)}
    assert ss.History("when", 3_600, random_state=0).update(table).notes == ()
