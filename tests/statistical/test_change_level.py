"""False alarms where nothing changes, and how soon a change is noticed.

Default run: a few streams, with so many alarms allowed that a detector which keeps its promise exceeds them with a chance
below 1e-6. The whole study has 200 streams of 50,000 rows of each kind, as many as it takes to tell one alarm in 10,000 rows.
"""

from datetime import datetime, timedelta

import numpy as np
import pytest
from scipy import signal, stats

import supersample as ss
import web_log

WIDTH, WARM = 5, 2_000


def gaussian(rng, n):
    return rng.normal(size=(n, WIDTH))


def cauchy(rng, n):
    return rng.standard_cauchy(size=(n, WIDTH))


def tied(rng, n):
    return rng.choice([0.0, 1.0, 2.0], p=[0.6, 0.3, 0.1], size=(n, WIDTH))


def mixed(rng, n):
    rows = rng.normal(size=(n, WIDTH))
    rows[:, 0] = rng.random(n) < 0.05
    rows[:, 1] = rng.exponential(size=n) ** 2
    rows[:, 2] = rng.poisson(0.3, size=n)
    return rows


def series(by):
    def drawn(rng, n):
        return signal.lfilter([np.sqrt(1 - by * by)], [1.0, -by], rng.normal(size=(n + 500, WIDTH)), axis=0)[500:]

    return drawn


INDEPENDENT = {"gaussian": gaussian, "cauchy": cauchy, "tied": tied, "mixed": mixed}
DEPENDENT = {"series 0.5": series(0.5), "series 0.9": series(0.9)}
#: Alarms for 10,000 rows, at most, at a run length of 10,000.
MOST = {"series 0.9": 1.5}


def alarms(kind, streams, rows, *, exact):
    """Return the number of alarms of all streams."""
    draw, count = (INDEPENDENT | DEPENDENT)[kind], 0
    for seed in range(streams):
        rng = np.random.default_rng([seed, len(kind)])
        options = {"reference": draw(rng, 10_000), "guarantee": "exact"} if exact else {}
        detector = ss.ChangeDetector(**options, random_state=seed)
        detector.update(draw(rng, rows))
        count += len(detector.alarms_)
    return count


@pytest.mark.parametrize("exact", [False, True], ids=["asymptotic", "exact"])
@pytest.mark.parametrize("kind", INDEPENDENT)
def test_there_are_hardly_any_alarms_without_a_change(kind, exact):
    assert alarms(kind, 2, 5_000, exact=exact) <= stats.poisson.isf(1e-6, 1.0)


@pytest.mark.parametrize("kind", DEPENDENT)
def test_dependent_rows_raise_hardly_more(kind):
    assert alarms(kind, 2, 5_000, exact=False) <= stats.poisson.isf(1e-6, MOST.get(kind, 1.0))


def delays(quiet, seeds, *, exact):
    """Return after how many rows a shift of half a standard deviation in each of ten columns is noticed."""
    found = []
    for seed in range(seeds):
        rng = np.random.default_rng([seed, 7])
        rows = rng.normal(size=(quiet + 500, 10))
        rows[quiet:] += 0.5
        options = {"reference": rng.normal(size=(10_000, 10)), "guarantee": "exact"} if exact else {}
        detector = ss.ChangeDetector(**options, random_state=seed)
        after = [alarm.at - quiet + 1 for alarm in detector.update(rows) if alarm.at >= quiet]
        found.append(after[0] if after else np.inf)
    return float(np.median(found))


@pytest.mark.parametrize(("exact", "most"), [(False, 40), (True, 110)], ids=["asymptotic", "exact"])
def test_a_shift_is_noticed_soon(exact, most):
    assert delays(400, 7, exact=exact) <= most


@pytest.mark.level
@pytest.mark.parametrize("exact", [False, True], ids=["asymptotic", "exact"])
@pytest.mark.parametrize("kind", [*INDEPENDENT, *DEPENDENT])
def test_run_length(kind, exact, capsys):
    rate = alarms(kind, 200, 50_000, exact=exact) / 1_000
    with capsys.disabled():
        print(f"{kind}, {'exact' if exact else 'asymptotic'}: {rate:.2f} alarms for 10,000 rows")  # noqa: T201
    assert exact or rate <= MOST.get(kind, 1.0)
    assert rate <= 1.0 or kind in DEPENDENT


@pytest.mark.level
@pytest.mark.parametrize("season", [True, False], ids=["season", "no season"])
def test_run_length_of_a_daily_cycle(season, capsys):
    count, streams, rows, day = 0, 50, 50_000, 1_440
    angle = 2.0 * np.pi * np.arange(rows) / day
    for seed in range(streams):
        drawn = np.random.default_rng([seed, 11]).normal(size=(rows, WIDTH))
        drawn[:, 0] += 1.5 * np.sin(angle)
        drawn[:, 1] *= 1.0 + 0.5 * np.cos(angle)
        count += len(ss.ChangeDetector(season=day if season else None, random_state=seed).update(drawn))
    rate = count / (streams * rows / 10_000)
    with capsys.disabled():
        print(f"a daily cycle, {'with' if season else 'without'} its season: {rate:.2f} alarms for 10,000 rows")  # noqa: T201
    assert not season or rate <= 1.0


@pytest.mark.level
@pytest.mark.parametrize(("exact", "most"), [(False, 30), (True, 90)], ids=["asymptotic", "exact"])
def test_delay(exact, most, capsys):
    early, late = (delays(quiet, 100, exact=exact) for quiet in (400, 10_000))
    with capsys.disabled():
        print(f"{'exact' if exact else 'asymptotic'}: median delay {early:g} rows, {late:g} after 10,000 quiet rows")  # noqa: T201
    assert early <= most
    assert late <= 1.5 * most


@pytest.mark.level
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_broken_checkout_is_found_within_a_quarter_of_an_hour(seed):
    noon = datetime(2024, 5, 3, 12)
    log = web_log.days(seed, 4, 50_000, broken_at="2024-05-03T12:00")
    (alarm,) = ss.History("timestamp", "5m", season="1d", random_state=0).update(log).alarms
    assert abs(alarm.change - noon) <= timedelta(minutes=15)
    assert alarm.at - noon <= timedelta(minutes=15)
    assert {"status", "path"} <= set(alarm.changed) | {
        name for pair in alarm.pairs if pair.pvalue < 0.01 for name in pair.columns
    }
    assert ss.History("timestamp", "5m", season="1d", random_state=0).update(web_log.days(seed, 4, 50_000)).alarms == ()
