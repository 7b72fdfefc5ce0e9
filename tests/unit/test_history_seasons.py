"""A fault that is over before a season is: two changes, and not a third where nothing changed; outages, too."""

import numpy as np

import supersample as ss

DAY = 86_400


def table(seconds, fault=(0, 0), seed=0):
    """Return rows with a daily cycle; from one second to another, values are larger."""
    value = np.random.default_rng(seed).normal(5.0 + 1.5 * np.sin(seconds / DAY * 2.0 * np.pi))
    value += 3.0 * ((seconds >= fault[0]) & (seconds < fault[1]))
    return {"when": np.datetime64("2026-03-02T00:00:00") + seconds.astype("m8[s]"), "value": value}


def test_a_fault_of_hours_is_two_changes_and_not_three():
    hour = 3_600
    rows = table(np.arange(0, 7 * DAY, 300), (108 * hour, 114 * hour))
    start, end = ss.History("when", "1h", season="1d", volume=False, random_state=0).update(rows).alarms
    assert str(start.change) == "2026-03-06 12:00:00"
    assert end.between[0] <= np.datetime64("2026-03-06T18:00:00").astype(object) <= end.between[1]


def test_of_an_array_too():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(2_200, 3))
    rows[:, 0] += 2.0 * np.sin(np.arange(2_200) / 400 * 2.0 * np.pi)
    rows[1_500:1_600] += 2.0
    start, end = ss.ChangeDetector(season=400, tick=10, random_state=0).update(rows)
    assert start.change == 1_500
    assert end.between[0] <= 1_600 <= end.between[1]


def test_an_outage_of_half_a_season_is_two_changes_at_the_right_hours():
    """Rows of other hours than those at which it began come again first."""
    hours = np.arange(24 * 16)
    rates = np.where((hours >= 24 * 13) & (hours < 24 * 13 + 12), 0, 30)
    rng = np.random.default_rng(0)
    hours = np.repeat(hours, rng.poisson(rates))
    rows = table(np.sort(hours * 3_600 + rng.integers(0, 3_600, hours.size)))
    found = ss.History("when", "1h", season="1d", random_state=0).update(rows).alarms
    assert [(each.in_words(), str(each.change)) for each in found] == [
        ("no rows any more", "2026-03-15 00:00:00"),
        ("rows again, after none", "2026-03-15 12:00:00"),
    ]
