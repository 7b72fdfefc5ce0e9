"""Alarms on streams of rows: where they are raised, what they say, and that batches do not matter."""

import numpy as np
import pandas as pd
import pytest

import supersample as ss
from supersample._random import as_seed
from supersample.history import bets, thresholds, watch
from supersample.history.watch import Sample


def stream(n=3_000, change=2_000, *, width=4, seed=0, shift=1.0):
    rows = np.random.default_rng(seed).normal(size=(n, width))
    rows[change:, 1] += shift
    return rows


def told(alarms):
    return [(alarm.at, alarm.change, alarm.between, alarm.evidence, alarm.mmd) for alarm in alarms]


REFERENCE = np.random.default_rng(99).normal(size=(4_000, 4))
MODES = {
    "asymptotic": {},
    "asymptotic, reference": {"reference": REFERENCE},
    "exact, reference": {"reference": REFERENCE, "guarantee": "exact"},
    "exact": {"guarantee": "exact"},
}


@pytest.mark.parametrize("mode", MODES)
def test_one_change_is_one_alarm_with_its_moment_and_column(mode):
    detector = ss.ChangeDetector(**MODES[mode], random_state=0)
    assert detector.update(stream(2_000, 2_000)) == []
    alarms = detector.update(stream(4_000, 0, seed=1))
    assert len(alarms) == 1
    alarm = alarms[0]
    assert alarm == detector.alarms_[0]
    assert alarm.between[0] <= 2_000 <= alarm.between[1]
    assert abs(alarm.change - 2_000) <= {"exact": 80}.get(mode, 15)  # seen later, so in longer segments
    assert 2_000 < alarm.at < {"exact": 3_500}.get(mode, 2_200)
    assert alarm.columns[0].name == "x1"
    assert alarm.evidence >= 1.0
    assert alarm.after["x1"].to_numpy().mean() > alarm.before["x1"].to_numpy().mean()
    assert detector.n_seen_ == 6_000


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("cuts", [[1, 2, 3, 2_003], [199, 200, 201], list(range(7, 3_000, 13))])
def test_batches_do_not_matter(mode, cuts):
    rows = stream(3_000, 1_500, shift=2.0)
    whole, parts = (ss.ChangeDetector(**MODES[mode], random_state=0) for _ in range(2))
    whole.update(rows)
    for part in np.split(rows, cuts):
        parts.update(part)
    assert told(parts.alarms_) == told(whole.alarms_)
    assert parts.evidence_ == whole.evidence_


def test_two_changes_are_two_alarms_and_a_way_back_is_one():
    rows = stream(6_000, 2_000, shift=1.5)
    rows[4_000:, 1] -= 1.5
    found = ss.ChangeDetector(random_state=0).update(rows)
    assert [round(alarm.change, -2) for alarm in found] == [2_000, 4_000]


def test_a_change_of_how_columns_go_together_is_found_and_told():
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(4_000, 3))
    rows[2_000:, 2] = 0.7 * rows[2_000:, 0] + np.sqrt(1 - 0.49) * rng.normal(size=2_000)
    (alarm,) = ss.ChangeDetector(random_state=0).update(rows)
    assert abs(alarm.change - 2_000) <= 40
    assert alarm.pairs[0].columns == ("x0", "x2")
    assert alarm.pairs[0].after > 0.5
    assert alarm.changed == ()


def test_scales_of_columns_do_not_matter_unless_they_are_to():
    rows = stream(3_000, 2_000) * np.array([1e6, 1e-6, 1.0, 1.0])
    (alarm,) = ss.ChangeDetector(random_state=0).update(rows)
    assert alarm.changed == ("x1",)
    assert ss.ChangeDetector(standardize=False, random_state=0).update(rows) == []


def test_a_small_change_does_not_matter_where_it_is_not_to():
    rows = stream(6_000, 2_000, shift=0.5)
    assert len(ss.ChangeDetector(random_state=0).update(rows)) == 1
    assert ss.ChangeDetector(at_least=0.4, random_state=0).update(rows) == []
    assert ss.ChangeDetector(REFERENCE, guarantee="exact", at_least=0.4, random_state=0).update(rows) == []


def test_a_season_is_no_change_and_changes_within_it_are():
    angle = 2.0 * np.pi * np.arange(6_000) / 600
    rows = np.random.default_rng(5).normal(size=(6_000, 3))
    rows[:, 0] += 2.0 * np.sin(angle)
    assert ss.ChangeDetector(season=600, random_state=0).update(rows) == []
    rows[4_000:, 2] += 1.5
    (alarm,) = ss.ChangeDetector(season=600, random_state=0).update(rows)
    assert abs(alarm.change - 4_000) <= 20
    assert "x2" in alarm.changed


def test_bets_are_against_the_mean_of_the_same_phase():
    """A cycle is no change with its season, and one without it; a change beside the cycle is found."""
    rng, period = np.random.default_rng(0), 200
    rows = rng.normal(size=(12_000, 2))
    rows[:, 0] += 3.0 * np.sin(np.arange(12_000) / period * 2.0 * np.pi)

    def alarms(given, season):
        options = {"guarantee": "exact", "season": season, "tick": 10, "random_state": 0}
        return ss.ChangeDetector(given[:6_000], **options).update(given[6_000:])

    assert alarms(rows, period) == []
    assert alarms(rows, None)
    rows[9_000:, 1] += 3.0
    (alarm,) = alarms(rows, period)
    assert alarm.between[0] <= 3_000 <= alarm.between[1]
    assert 3_000 <= alarm.at < 3_100
    with pytest.raises(ss.errors.InputError, match="at least 23 rows in each of the 20 phases of the season"):
        ss.ChangeDetector(rows[:400], guarantee="exact", season=period, tick=10)


def test_an_alarm_has_the_evidence_that_raised_it():
    """Also where limits are wider for few rows, and where a difference must be large to matter."""
    rows = np.random.default_rng(0).lognormal(sigma=2.0, size=(1_200, 2))
    rows[1_000:] *= 50.0
    for least in (0.0, 0.5):
        detector = ss.ChangeDetector(at_least=least, random_state=0)
        raised = []
        for tick in np.split(rows, 240):
            for alarm in detector.update(tick):
                raised.append(alarm)
                assert alarm.evidence == detector.evidence_ > 1.0
                assert alarm.mmd >= least
        assert len(raised) == 1


def test_dependent_rows_are_noticed():
    noise = np.random.default_rng(2).normal(size=(6_000, 3))
    rows = np.zeros_like(noise)
    for place in range(1, len(rows)):
        rows[place] = 0.8 * rows[place - 1] + noise[place]
    detector = ss.ChangeDetector(random_state=0)
    detector.update(rows)
    assert 5.0 < detector.dependence_ < 15.0  # (1 + 0.8) / (1 - 0.8) = 9
    independent = ss.ChangeDetector(random_state=0)
    independent.update(noise)
    assert independent.dependence_ == 1.0


@pytest.mark.parametrize("width", [1, 3])
def test_a_sensor_that_freezes_and_recovers_is_two_changes(width):
    rows = np.random.default_rng(0).normal(size=(3_000, width))
    rows[1_000:2_000] = rows[999]
    assert [alarm.change for alarm in ss.ChangeDetector(random_state=0).update(rows)] == [1_000, 2_000]


@pytest.mark.parametrize("change", [100, 150])
def test_a_change_within_the_first_rows_is_found_in_the_end(change):
    """It looks like dependence at first, and limits are not known until that is forgotten."""
    (alarm,) = ss.ChangeDetector(random_state=0).update(stream(4_000, change, shift=3.0))
    assert alarm.between[0] <= change <= alarm.between[1]


def test_names_are_those_of_the_frame():
    frame = pd.DataFrame(stream(), columns=["load", "heat", "wind", "rain"])
    (alarm,) = ss.ChangeDetector(random_state=0).update(frame)
    assert alarm.changed == ("heat",)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ss.ChangeDetector(run_length=1), "run_length must be at least 2"),
        (lambda: ss.ChangeDetector(guarantee="sure"), "guarantee must be one of"),
        (lambda: ss.ChangeDetector(at_least=-1), "at_least must lie between 0 and 2, got -1"),
        (lambda: ss.ChangeDetector(at_least="x"), "at_least must be a number, got str"),
        (lambda: ss.ChangeDetector(delta=0), "delta must lie between 1e-12 and 0.5"),
        (lambda: ss.ChangeDetector(season=3), "season must be at least 10"),
        (lambda: ss.ChangeDetector(n_features=3), "n_features must be even"),
        (lambda: ss.ChangeDetector(kernel=lambda x, y: x @ y.T), "kernel must be shift-invariant"),
        (lambda: ss.ChangeDetector([[1.0, 2.0]]), "reference must have at least 10 rows"),
        (lambda: ss.ChangeDetector(REFERENCE).update(np.zeros((3, 5))), "X must have 4 columns"),
        (lambda: ss.ChangeDetector().update([[np.nan]]), "X contains NaN"),
    ],
)
def test_bad_input_is_refused(make, message):
    with pytest.raises(ss.errors.SupersampleError) as caught:
        make()
    assert message in str(caught.value)


def test_a_bad_batch_leaves_nothing_behind():
    detector = ss.ChangeDetector(random_state=0)
    detector.update(stream(500, 500))
    with pytest.raises(ss.errors.InputError):
        detector.update(np.full((3, 4), np.inf))
    assert detector.n_seen_ == 500


def test_rows_that_never_vary_raise_no_alarm_and_a_change_of_them_does():
    rows = np.zeros((1_000, 2))
    rows[600:] = 3.0
    detector = ss.ChangeDetector(random_state=0)
    assert [alarm.change for alarm in detector.update(rows)] == [600]


# The parts that alarms are made of.


def segments_of(ticks, most=watch.MOST_OF_A_LENGTH):
    """The slow way: join the two oldest of a length while there are more than `most` of it."""
    held = []
    for tick in range(ticks):
        held.append([tick])
        length = 1
        while sum(len(each) == length for each in held) > most:
            first = next(place for place, each in enumerate(held) if len(each) == length)
            held[first : first + 2] = [held[first] + held[first + 1]]
            length *= 2
    return held


@pytest.mark.parametrize("n_phases", [1, 3])
def test_the_scan_finds_what_all_rows_show(n_phases):
    """Evidence after each tick is the largest T^2 over its limit, of all boundaries, groups and phases."""
    rng = np.random.default_rng(1)
    n, size, dimensions = 60, 7, 6
    rows = rng.normal(size=(n, size, dimensions))
    phases = np.arange(n) % n_phases
    limits = np.full((2, thresholds.LEVELS), 1e9)
    limits[1] *= 2.0
    state = watch.init(dimensions, 100.0, groups=2, n_phases=n_phases, exact=True)
    state = watch.replace(state, limits=limits)
    state, evidence, found = watch.advance(state, rows.sum(axis=1), np.full(n, float(size)), phases, None, as_seed(0))
    assert found is None
    for tick in range(n):
        held = segments_of(tick + 1)
        best = 0.0
        for edge in range(1, len(held)):
            newer = {each for segment in held[edge:] for each in segment}
            gap, whole = np.zeros(dimensions), 0.0
            for phase in range(n_phases):
                sides = [[t for t in range(tick + 1) if phases[t] == phase and (t in newer) == new] for new in (True, False)]
                if all(sides):
                    after, before = (rows[side].reshape(-1, dimensions) for side in sides)
                    h = len(after) * len(before) / (len(after) + len(before))
                    gap += h * (after.mean(axis=0) - before.mean(axis=0))
                    whole += h
            for group in range(2 if whole else 0):
                part = gap[3 * group : 3 * group + 3] / whole
                best = max(best, whole * part @ part / limits[group, 0])
        assert evidence[tick] == pytest.approx(best, rel=1e-9, abs=1e-18)
    assert state.ticks.tolist() == [len(each) for each in segments_of(n)]


def test_the_chances_of_all_boundaries_sum_to_less_than_a_half():
    """Of twice the run length; so an alarm by then has at most that probability."""
    ticks = 150
    probability = thresholds.chance(ticks, watch.MOST_OF_A_LENGTH)
    boundaries = sum(len(segments_of(tick)) - 1 for tick in range(1, 2 * ticks + 1))
    assert 0.2 <= probability * boundaries <= 0.5


def test_exact_limits_hold_for_rows_as_skew_as_can_be():
    """|phi| <= 1: rows that are 1 with probability 0.02, else 0, 10 against 1,000 of them; the bound is 1%."""
    limit = thresholds.exact_limits(0.01, 1)[0, 0]
    rng = np.random.default_rng(0)
    after, before = (rng.binomial(n, 0.02, size=20_000) / n for n in (10, 1_000))
    assert (10 * 1_000 / 1_010 * (after - before) ** 2 > limit).mean() <= 0.01


def test_limits_of_few_skew_rows_are_wider():
    rng = np.random.default_rng(0)
    skew = (rng.random((512, 2)) < 0.05).astype(np.float64)
    skew -= skew.mean(axis=0)
    spread = thresholds.Spread(np.ones((24, 2)), np.zeros(24), 5.0)
    found = thresholds.dependence_of(spread, skew, float(np.square(skew).mean(axis=0).sum()))
    limits = thresholds.asymptotic_limits(skew, found, 1e-5, as_seed(0))
    assert limits[:4].min() > 1.5 * limits[-1]
    assert (limits[7:] == limits[-1]).all()
    normal = rng.normal(size=(512, 2))
    flat = thresholds.asymptotic_limits(normal - normal.mean(axis=0), found._replace(variances=np.ones(2)), 1e-5, as_seed(0))
    assert flat.max() < 1.3 * flat.min()


def test_wealth_grows_by_no_more_than_a_row_a_row_where_nothing_changed():
    """W_t - t is a supermartingale; mean of 300 games, whose error is known."""
    rng, ends = np.random.default_rng(4), []
    for _ in range(300):
        angles = rng.uniform(0, 2 * np.pi, size=(400, 2))
        features = np.concatenate([np.cos(angles), np.sin(angles)], axis=1)[:, [0, 2, 1, 3]]  # of mean 0, of length 1 by pairs
        state, evidence = bets.play(bets.init(np.zeros((1, 4)), np.zeros(1), 1e12, 2), features, np.zeros(400, dtype=np.int64))
        ends.append(evidence[-1] * 1e12)
    mean, error = np.mean(ends), np.std(ends) / np.sqrt(300)
    assert mean <= 400 + 4 * error
    assert state.wealth.min() >= 0


def test_the_slack_covers_the_mean_of_a_reference():
    """At least 95 of 100 references lie within it; it is far from sharp, so that all of these do."""
    rng = np.random.default_rng(0)
    off = [np.linalg.norm(rng.choice([-1.0, 1.0], size=500).mean()) for _ in range(200)]
    assert np.mean(np.array(off) <= bets.slack_of(500, 0.05)) >= 0.95


def test_moments_of_change_lie_between_boundaries_of_nearly_the_same_evidence():
    state = watch.init(1, 100.0, exact=True)
    sums = np.array([0.0] * 8 + [5.0] * 8)[:, None]
    sample = Sample(np.random.default_rng(0).normal(size=(400, 1)), np.ones(1))
    state = watch.replace(state, limits=thresholds.NO_LIMITS)
    state, _, _ = watch.advance(state, sums, np.full(16, 5.0), np.zeros(16, dtype=np.int64), lambda *_: sample, as_seed(0))
    found = watch.located(state, 1.5, sample)
    assert found.evidence == 1.5
    assert found.ticks_after == 8
    assert found.between[0] <= 8 <= found.between[1]
    assert found.gap == pytest.approx(1.0)
    after = watch.restarted(state, found)
    assert after.ticks.sum() == 8
    assert after.n_rows == 40.0
