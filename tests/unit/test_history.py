"""Histories: ranges, late rows, clocks that jump, seasons, volume, merging, and what is refused."""

import threading
from datetime import date, datetime, timedelta

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import supersample as ss
import web_log
from supersample.errors import MismatchError
from supersample.history.history import state_of

START = np.datetime64("2026-03-02T00:00:00", "s")


def rows(n=6_000, *, change=None, seconds=60, seed=0, start=START):
    """Return a row every minute; from a row on, values are larger and 'b' is rarer."""
    rng = np.random.default_rng(seed)
    late = np.arange(n) >= (n if change is None else change)
    return pa.table(
        {
            "when": start + np.arange(n) * np.timedelta64(seconds, "s"),
            "value": rng.normal(size=n) + 2.0 * late,
            "kind": np.where(rng.random(n) < np.where(late, 0.1, 0.5), "b", "a"),
        }
    )


def same_moments(summary, table):
    """Check that the mean features of a range are those of some rows, computed at once."""
    state = summary._snapshot.state
    points = np.concatenate([state.encoding.points(each) for each in table.combine_chunks().to_batches()])
    assert summary.n_seen == len(points)
    expected = state.stream.plan.feature_map.transform(points).astype(np.float64).mean(axis=0)
    np.testing.assert_allclose(state.stream.moments.mean(), expected, rtol=0, atol=1e-12)


@pytest.fixture(scope="module")
def like():
    return ss.summarize(rows(), random_state=0)


@pytest.fixture(scope="module")
def changed(like):
    return ss.History("when", "1h", like=like, random_state=0).update(rows(change=3_600))


def new(like, every="1h", **options):
    return ss.History("when", every, like=like, random_state=0, **options)


def test_a_change_is_one_alarm_that_says_when_and_what(changed):
    (alarm,) = changed.alarms
    assert alarm.kind == "content"
    assert alarm.change == datetime(2026, 3, 4, 12)
    assert alarm.between[0] <= alarm.change <= alarm.between[1]
    assert timedelta(0) < alarm.at - alarm.change <= timedelta(hours=3)
    assert set(alarm.changed) == {"value", "kind"}
    assert "value" in str(alarm)
    assert {"when", "value", "kind"} <= set(alarm.after.column_names)
    assert alarm.after.num_rows
    assert changed.changes() == changed.alarms
    assert "1 alarm" in repr(changed)


def test_a_range_is_the_summary_of_its_rows(changed, like):
    table = rows(change=3_600)
    day = changed.between("2026-03-03", "2026-03-04")
    assert (day.start, day.end) == (datetime(2026, 3, 3), datetime(2026, 3, 4))
    same_moments(day, table.slice(1_440, 1_440))
    direct = ss.summarize(table.slice(1_440, 1_440), like=like, random_state=0).profile
    for name in ("name", "missing", "distinct", "min", "max", "median", "q95"):
        assert day.profile[name].equals(direct[name])
    same_moments(changed.between(), table)
    assert len(day.prototypes) == like.prototypes.num_rows
    assert "2026-03-03 00:00 to 2026-03-04 00:00" in day.source


def test_bounds_may_be_dates_texts_and_timestamps(changed):
    expected = changed.between("2026-03-03", "2026-03-04").n_seen
    for start, end in (
        (date(2026, 3, 3), date(2026, 3, 4)),
        (datetime(2026, 3, 3), pd.Timestamp("2026-03-04")),
        (np.datetime64("2026-03-03"), "2026-03-04T00:00"),
        ("2026-03-03T01:00+01:00", "2026-03-04T00:00Z"),
    ):
        assert changed.between(start, end).n_seen == expected == 1_440


def test_a_range_has_the_blocks_that_lie_half_in_it(changed):
    assert changed.between("2026-03-03 00:20", "2026-03-03 01:40").n_seen == 120
    assert changed.between("2026-03-03 00:40", "2026-03-03 02:20").n_seen == 60


def test_two_ranges_are_compared(changed):
    quiet = changed.compare(("2026-03-02", "2026-03-03"), ("2026-03-03", "2026-03-04"))
    found = changed.compare(("2026-03-03", "2026-03-04"), ("2026-03-05", "2026-03-06"))
    assert not quiet.rejects()
    assert set(found.changed) == {"value", "kind"}


def test_blocks_are_joined_as_they_age_and_never_across_a_change(like):
    history = new(like, "15m").update(rows(30_000, change=9_000))
    (alarm,) = (each for each in history.alarms if each.kind == "content")
    spans = history.blocks
    starts, ends = (spans[name].to_pylist() for name in ("start", "end"))
    lengths = [end - start for start, end in zip(starts, ends, strict=True)]
    assert {timedelta(days=1), timedelta(hours=1), timedelta(minutes=15)} <= set(lengths)
    assert ends[:-1] == starts[1:]
    assert alarm.change in starts
    assert len(lengths) < 250
    assert sum(spans["rows"].to_pylist()) == 30_000
    same_moments(history.between(), rows(30_000, change=9_000))


def test_blocks_of_rows_are_joined_in_pairs():
    values = rows(20_000).drop_columns(["when"])
    history = ss.History(None, 100, random_state=0).update(values)
    lengths = np.diff([*history.blocks["start"].to_pylist(), 20_000])
    assert max(np.unique(lengths, return_counts=True)[1]) <= 9
    assert len(lengths) < 50
    assert history.between(0, 20_000).n_seen == 20_000
    same_moments(history.between(19_900, 20_000), values.slice(19_900))


def test_old_blocks_are_dropped(like):
    history = new(like, keep="1d").update(rows())
    assert history.n_seen == 6_000
    assert history.blocks["start"][0].as_py() >= datetime(2026, 3, 5, 2)  # the clock is an hour of lateness behind
    with pytest.raises(ss.errors.InputError, match=r"there are no rows from '2026-03-02'.*the history holds 2026-03-05"):
        history.between("2026-03-02", "2026-03-03")


def test_late_rows_go_to_their_block_and_are_counted(like):
    table = rows()
    early, late = table.slice(0, 6_000 - 30), table.slice(100, 50)
    history = new(like).update(early)
    alarms, before = history.alarms, history.between("2026-03-02 01:00", "2026-03-02 03:00").n_seen
    history.update(late)
    assert history.n_late == 50
    assert history.alarms == alarms
    assert history.between("2026-03-02 01:00", "2026-03-02 03:00").n_seen == before + 50
    assert sum(history.blocks["late"].to_pylist()) == 50
    same_moments(history.between(), pa.concat_tables([early, late]))
    assert [note.kind for note in history.notes] == ["late rows"]
    assert "50 rows came after their block was closed" in str(history.notes[0])


def test_another_order_within_the_lateness_is_the_same_history(like):
    table = rows(change=3_600)
    order = np.argsort(np.arange(6_000) + np.random.default_rng(1).uniform(0, 100, 6_000))  # rows up to 100 minutes late
    shuffled = new(like, lateness="2h").update(table.take(order))
    straight = new(like, lateness="2h").update(table)
    assert shuffled.n_late == straight.n_late == 0
    same_moments(shuffled.between(), table)
    same_moments(straight.between(), table)
    assert shuffled.blocks.equals(straight.blocks)
    for left, right in zip(shuffled.alarms, straight.alarms, strict=True):
        assert abs(left.change - right.change) <= timedelta(hours=1)
        assert abs(left.at - right.at) <= timedelta(hours=1)


def test_one_row_from_the_far_future_does_not_move_the_clock(like):
    table = rows()
    when = table["when"].to_numpy().copy()
    when[3_000] = np.datetime64("2099-01-01")
    odd = table.set_column(0, "when", pa.array(when))
    history = new(like).update(odd)
    assert history.alarms == ()
    assert history.n_late == 0
    assert [note.kind for note in history.notes] == ["times ahead"]
    assert history.between("2026-03-02", "2026-03-07").n_seen == 5_999
    assert history.between().n_seen == 6_000


def test_a_clock_that_jumps_is_followed_once_rows_agree(like):
    table = pa.concat_tables([rows(3_000), rows(3_000, start=START + np.timedelta64(60, "D"), seed=1)])
    history = new(like, volume=False).update(table)
    assert history.between("2026-05-01", "2026-06-01").n_seen == 3_000
    assert history.alarms == ()
    assert "times ahead" in {note.kind for note in history.notes}


def test_rows_without_a_time_are_said(like):
    table = rows()
    when = table["when"].to_pylist()
    when[500:520] = [None] * 20
    history = new(like).update(table.set_column(0, "when", pa.array(when, type=pa.timestamp("s"))))
    assert history.between().n_seen == 6_000
    assert "20 rows had no time" in str(history.notes[0])


def without_times(table, places):
    """Return rows of which some have no time."""
    when = table["when"].to_pylist()
    for place in places:
        when[place] = None
    return table.set_column(0, "when", pa.array(when, type=pa.timestamp("s")))


def test_rows_before_the_first_time_go_to_its_block(like):
    table = without_times(rows(600), [0, 1, 2, 120])
    whole = new(like).update(table)
    assert whole.blocks["start"][0].as_py() == datetime(2026, 3, 2)
    assert whole.blocks["rows"].to_pylist() == [60, 61, 59, *[60] * 7]
    assert state_of(whole).ticks.starts[0] == START.astype(float)
    parts = new(like)
    for first, last in ((0, 1), (1, 2), (2, 300), (300, 600)):
        parts.update(table.slice(first, last - first))
    assert parts.blocks.equals(whole.blocks)
    assert parts.between().to_bytes() == whole.between().to_bytes()
    later = new(like).update(table.slice(0, 3))
    assert later.update(rows(120)).blocks["rows"].to_pylist() == [63, 60]


def test_times_that_no_calendar_has_count_as_missing(like):
    table = rows(600)
    when = table["when"].to_numpy().astype(np.int64)
    when[[5, 300]] = 10**12, -(10**12)  # the years 33658 and -29719
    history = new(like).update(table.set_column(0, "when", pa.array(when).cast(pa.timestamp("s"))))
    assert "2 rows had no time" in str(history.notes[0])
    assert len(history.blocks) == 10


def test_as_many_blocks_are_open_as_the_lateness_has(like):
    history = new(like, "1m", lateness="2d").update(rows(1_100))
    assert sorted(state_of(history).open) == [START.astype(int) // 60 + place for place in range(1_100)]


def test_rows_that_are_far_apart_move_the_clock(like):
    """A row about every ten blocks: not even the first ones wait for others that agree, but for the first eight."""
    minutes = np.cumsum(np.random.default_rng(3).exponential(10.0, 300)).astype("m8[m]")
    table = rows(300).set_column(0, "when", pa.array(START + minutes))
    history = new(like, "1m", volume=False).update(table)
    state = state_of(history)
    assert state.n_ahead == 8
    assert state.now == (START + minutes[-1]).astype(float)
    assert len(state.open) == 1
    odd = rows(1, start=np.datetime64("2099-01-01", "s"))
    assert state_of(history.update(odd)).now == state.now


@pytest.mark.parametrize(("unit", "first"), [(1, 0), (10**6, 17 * 10**14), (10**9, -(10**13))])
def test_blocks_of_numbers_are_joined_in_pairs_whatever_their_unit(unit, first):
    """Seconds, microseconds since 1970, nanoseconds: none of them has a calendar, and each block lies in one twice as long."""
    table = rows(7_000).set_column(0, "when", pa.array(first + np.arange(7_000.0) * unit))
    history = ss.History("when", 100 * unit, random_state=0).update(table)
    lengths = np.diff([*history.blocks["start"].to_pylist(), history.blocks["end"][-1].as_py()]) / (100 * unit)
    assert set(lengths) >= {1.0, 2.0, 4.0, 8.0}
    assert len(lengths) < 30
    assert history.between().n_seen == 7_000
    same_moments(history.between(first + 6_900 * unit), table.slice(6_900))


def test_blocks_of_rows_are_kept_for_two_seasons():
    history = ss.History(None, 100, season=1_000, random_state=0).update(rows(7_000).drop_columns(["when"]))
    starts = history.blocks["start"].to_pylist()
    assert starts[-20:] == [7_000.0 - 100.0 * place for place in range(20, 0, -1)]


@pytest.mark.parametrize("kind", ["text", "numbers", "zone"])
def test_times_may_be_texts_numbers_and_of_a_zone(kind):
    table = rows(change=3_600)
    when = table["when"].to_numpy()
    if kind == "text":
        column = pa.array(np.datetime_as_string(when).tolist())
    elif kind == "zone":
        column = pa.array(when.astype("datetime64[us]"), type=pa.timestamp("us", tz="Europe/Berlin"))
    else:
        column = pa.array(when.astype(np.int64).astype(np.float64))
    every = 3_600 if kind == "numbers" else "1h"
    history = ss.History("when", every, random_state=0).update(table.set_column(0, "when", column))
    change = history.alarms[0].change
    assert len(history.alarms) == 1
    expected = datetime(2026, 3, 4, 12)
    assert change == (np.datetime64(expected, "s").astype(np.int64) if kind == "numbers" else expected)


def test_a_time_of_numbers_does_not_count():
    table = rows()
    numbers = table.set_column(0, "when", pa.array(np.arange(6_000.0)))
    history = ss.History("when", 60, random_state=0).update(numbers)
    assert history.alarms == ()
    assert next(each.width for each in history.between().columns if each.name == "when") == 0
    with pytest.raises(ss.errors.InputError, match="like must not have the time 'when' in its kernel"):
        ss.History("when", 60, like=ss.summarize(numbers, random_state=0))


def test_a_daily_cycle_is_no_change_with_a_season():
    n = 14_400
    table = rows(n)
    angle = 2.0 * np.pi * np.arange(n) / 1_440
    table = table.set_column(1, "value", pa.array(table["value"].to_numpy() + 3.0 * np.sin(angle)))
    seasonal = ss.History("when", "30m", season="1d", random_state=0).update(table)
    assert seasonal.alarms == ()
    morning, evening = ("2026-03-08 03:00", "2026-03-08 09:00"), ("2026-03-08 15:00", "2026-03-08 21:00")
    with pytest.raises(ss.errors.InputError, match="must have a phase of the season in common"):
        seasonal.compare(morning, evening)
    assert not seasonal.compare(("2026-03-09", "2026-03-10"), ("2026-03-10", "2026-03-11")).rejects()
    without = ss.History("when", "30m", random_state=0).update(table)
    assert without.compare(morning, evening).rejects()


def test_fewer_rows_than_before_are_an_alarm_of_volume():
    rng, hours = np.random.default_rng(5), 200
    counts = np.concatenate([rng.poisson(60, 150), rng.poisson(20, hours - 150)])
    when = np.repeat(START + np.arange(hours) * np.timedelta64(1, "h"), counts) + rng.integers(0, 3600, counts.sum()).astype(
        "m8[s]"
    )
    table = pa.table({"when": when, "value": rng.normal(size=counts.sum())})
    history = ss.History("when", "1h", random_state=0).update(table)
    (alarm,) = history.alarms
    assert alarm.kind == "volume"
    assert alarm.mmd == pytest.approx(1 / 3, abs=0.1)
    assert "times as many rows" in str(alarm)
    assert alarm.change == datetime(2026, 3, 8, 6)
    assert ss.History("when", "1h", volume=False, random_state=0).update(table).alarms == ()


def test_one_row_less_is_no_change_of_volume_however_regular_rows_come(like):
    table = rows(12_000)
    assert new(like).update(pa.concat_tables([table.slice(0, 11_000), table.slice(11_001)])).alarms == ()


def test_a_broken_checkout_is_found_at_noon():
    """Every quarter of an hour here; tests/statistical has the whole log, every five minutes."""
    log = web_log.days(1, 3, 12_000, broken_at="2024-05-03T12:00")
    history = ss.History("timestamp", "15m", season="1d", random_state=0).update(log)
    (alarm,) = history.alarms
    assert alarm.change == datetime(2024, 5, 3, 12)
    assert alarm.at <= datetime(2024, 5, 3, 12, 30)
    assert "status" in alarm.changed
    assert "'/checkout'" in " ".join(alarm.after["_like"].to_pylist()) + str(alarm)


def test_alarms_can_be_looked_for_again_with_another_run_length(changed):
    assert [alarm.change for alarm in changed.changes(run_length=100)] == [alarm.change for alarm in changed.alarms]
    small = ss.History("when", "1h", random_state=0).update(rows(change=5_990))
    assert small.changes(run_length="365d") == ()


def test_two_histories_are_one(like):
    table = rows(change=3_600)
    odd = np.arange(6_000) % 2 == 1
    left, right = (new(like).update(table.filter(pa.array(each))) for each in (odd, ~odd))
    both, whole = left.merge(right), new(like).update(table)
    assert both.n_seen == 6_000
    same_moments(both.between(), table)
    assert both.blocks.equals(whole.blocks)
    assert len(both.alarms) == len(left.alarms) == len(right.alarms) == 1  # the change that both saw
    assert left.n_seen == 3_000
    assert both.update(rows(500, start=START + np.timedelta64(6_000, "m"), seed=9)).n_seen == 6_500


def test_histories_that_do_not_fit_are_not_merged(like):
    first = new(like).update(rows(500))
    with pytest.raises(ss.errors.MismatchError, match="different rules or columns"):
        first.merge(new(like, "2h").update(rows(500)))
    other = ss.History("when", "1h", random_state=1).update(rows(6_000, seed=4))
    with pytest.raises(ss.errors.MismatchError):
        first.merge(other)
    with pytest.raises(ss.errors.InputTypeError, match="other must be a History, got dict"):
        first.merge({})


def test_few_rows_can_be_asked_about():
    history = ss.History("when", "1h", random_state=0).update(rows(200))
    assert history.between().n_seen == 200
    assert history.evidence == 0.0
    assert repr(history) == "History(200 rows)"
    history.update(rows(6_000, start=START + np.timedelta64(200, "m")))
    assert history.between().n_seen == 6_200


def test_columns_that_are_dropped_or_redacted_are_nowhere(tmp_path):
    table = rows().append_column("name", pa.array([f"person {i}" for i in range(6_000)]))
    history = ss.History("when", "1h", drop=["kind"], redact=["name"], random_state=0).update(table)
    assert "kind" not in history.between().prototypes.column_names
    history.save(tmp_path / "folder")
    for path in (tmp_path / "folder").rglob("*.ss"):
        assert b"person 17" not in path.read_bytes()
    assert history.between().profile["name"].to_pylist() == ["when", "value", "name"]


def test_readings_beside_updates_are_of_one_moment(like):
    history, stop, seen = new(like), threading.Event(), []

    def read():
        while not stop.is_set():
            if history.n_seen:
                seen.append((history.between().n_seen, len(history.alarms)))

    reader = threading.Thread(target=read)
    reader.start()
    for start in range(0, 6_000, 500):
        history.update(rows(change=3_600).slice(start, 500))
    stop.set()
    reader.join()
    assert all(n % 500 == 0 for n, _ in seen)
    assert history.between().n_seen == 6_000


BAD = [
    (lambda: ss.History("when", "1 hour"), "every must be"),
    (lambda: ss.History("when", 0), "every must be"),
    (lambda: ss.History("when", "1h", season="90m"), "season must be"),
    (lambda: ss.History("when", "1h", keep="1m"), "keep must be"),
    (lambda: ss.History("when", "1h", guarantee="sure"), "guarantee must be one of"),
    (lambda: ss.History("when", "1h", at_least=3.0), "at_least must"),
    (lambda: ss.History("when", "1h", lateness="-1h"), "lateness must be"),
    (lambda: ss.History("when", "1h", half_life="1d"), "cannot use 'half_life'"),
    (lambda: ss.History("when", "1h", prototype=3), "prototypes"),
    (lambda: ss.History("wen", "1h").update(rows(10)), "did you mean 'when'"),
    (lambda: ss.History("value", "1h").update(rows(10)), "every must be a number where time names a column of type double"),
    (lambda: ss.History("when", 10).update(rows(10)), "every must be a duration"),
    (lambda: ss.History("when", "1h").between(), "the history has seen no rows"),
    (lambda: ss.History("when", "1h").update(rows(10)).between("x"), "start must be a date, a time or a text"),
    (lambda: ss.History("when", "1h").update(rows(10)).between("2027", "2026-01-01"), "start must"),
    (lambda: ss.History("when", "1h").update(rows(10)).compare("2026", "2027"), "first must be a pair of start and end"),
]


@pytest.mark.parametrize(("make", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_input_is_refused(make, message):
    with pytest.raises(ss.errors.SupersampleError) as caught:
        make()
    assert message in str(caught.value)


def test_a_batch_that_cannot_be_used_changes_nothing(like):
    history = new(like).update(rows(500))
    before = history.between().to_bytes()
    with pytest.raises(ss.errors.SupersampleError):
        history.update(iter([rows(100), {"when": ["x"], "other": [1]}]))
    assert history.n_seen == 500
    assert history.between().to_bytes() == before


def test_a_column_without_values_gets_the_type_of_the_first_ones(tmp_path):
    """While the first rows wait; columns that still have none when the encoding is fixed keep out values."""
    whole, small = rows(5_100), {"prototypes": 4, "criticisms": 2, "n_features": 8}
    found = ss.History("when", "1d", random_state=0, **small)
    found.update(whole.slice(0, 100).set_column(1, "value", pa.nulls(100)).set_column(2, "kind", pa.nulls(100)))
    found.save(tmp_path / "history")
    found = ss.History.load(tmp_path / "history").update(whole.slice(100))
    expected = ss.History("when", "1d", random_state=0, **small)
    missing = {name: pa.nulls(100, whole.schema.field(name).type) for name in ("value", "kind")}
    first = whole.slice(0, 100).to_batches()[0].to_struct_array().flatten()[0]
    expected.update(pa.table({"when": first, **missing})).update(whole.slice(100))
    assert found.between().prototypes.equals(expected.between().prototypes)
    nested = ss.History(None, 100, random_state=0, **small).update(pa.table({"x": [1.0], "y": pa.nulls(1)}))
    assert nested.update(pa.table({"x": [2.0], "y": [{"z": 3.0}]})).between().n_seen == 2
    with pytest.raises(MismatchError, match="'value' held nothing but missing values in the rows seen before"):
        ss.History("when", "1d", random_state=0, **small).update(whole.set_column(1, "value", pa.nulls(5_100))).update(whole)
