"""Two histories as one, and blocks that were read elsewhere: clocks, rows without a time, and the number of rows."""

from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest

import supersample as ss
from supersample.history.history import state_of
from supersample.history.merging import absorbed
from supersample.history.timeline import UNTIMED, blocks_of, init

START = np.datetime64("2026-03-02T00:00:00", "s")
HOUR = 3_600.0


def rows(first, last, seed=0, rate=20):
    """Return about so many rows an hour, from one hour to another."""
    rng = np.random.default_rng([seed, 7])
    hours = np.repeat(np.arange(first, last), rng.poisson(rate, last - first))
    when = START + np.sort(hours * 3_600 + rng.integers(0, 3_600, hours.size)).astype("m8[s]")
    return pa.table({"when": when, "value": rng.normal(size=hours.size)})


@pytest.fixture(scope="module")
def like():
    return ss.summarize(rows(0, 50), types={"when": "ignore"}, random_state=0)


def new(like, **options):
    return ss.History("when", "1h", like=like, random_state=0, **options)


def read_elsewhere(state, *tables):
    """Return the history with rows of a partition that was read in batches."""
    return absorbed(state, blocks_of(state, [each.combine_chunks().to_batches()[0] for each in tables]))


@pytest.fixture(scope="module")
def merged(like):
    """A history of 220 hours, the first of which are joined to days, and one of the next 40."""
    left, right = new(like).update(rows(0, 220)), new(like).update(rows(220, 260, 1))
    return left, right, left.merge(right)


def test_the_number_of_rows_is_watched_on_by_blocks_as_they_were_closed(merged):
    left, right, both = merged
    assert left.alarms == right.alarms == both.alarms == ()
    state, sides = state_of(both), [state_of(each) for each in (left, right)]
    assert state.ticks.starts.tolist() == (START.astype(float) + HOUR * np.arange(258)).tolist()
    assert state.ticks.sizes[:218].tolist() == sides[0].ticks.sizes.tolist()
    assert state.ticks.sizes[220:].tolist() == sides[1].ticks.sizes.tolist()
    watched = state.lookout.volume
    assert int(watched.ticks.sum()) == state.lookout.n_ticks == 258
    assert float(watched.sums.sum()) == pytest.approx(np.sqrt(state.ticks.sizes).sum())
    assert watched.limits.size


def test_after_a_merge_as_many_rows_are_no_alarm_and_fewer_are(merged):
    both = merged[2]
    assert both.update(rows(260, 280, 2)).alarms == ()
    (alarm,) = both.update(rows(280, 310, 3, rate=4)).alarms
    assert alarm.kind == "volume"
    assert abs((alarm.change - datetime(2026, 3, 13, 16)).total_seconds()) <= 2 * HOUR


def test_rows_of_both_in_the_same_hours_are_added(like):
    left, right = new(like).update(rows(0, 40)), new(like).update(rows(20, 50, 1))
    ticks = state_of(left.merge(right)).ticks
    when = pa.concat_tables([rows(0, 40), rows(20, 50, 1)])["when"].to_numpy()
    assert ticks.sizes.tolist() == np.bincount((when - START).astype(int) // 3_600)[:48].tolist()


def test_one_row_far_ahead_of_a_partition_does_not_move_the_clock(like):
    table = rows(0, 50)
    odd = pa.table({"when": pa.array([np.datetime64("2099-01-01", "s")]), "value": [0.0]})
    state = read_elsewhere(state_of(new(like).update(table)), rows(50, 60, 1), odd)
    assert state.now == START.astype(float) + 59 * HOUR
    assert state.n_ahead == 1
    assert state.ticks.starts[-1] == START.astype(float) + 57 * HOUR
    assert sum(each.n_seen for each in (*state.blocks, *(held.block for held in state.open.values()))) == state.n_seen
    agreed = read_elsewhere(state, pa.concat_tables([odd] * 8))
    assert agreed.now == np.datetime64("2099-01-01", "s").astype(float)


def test_a_jump_of_the_clock_that_is_in_doubt_does_not_outlive_a_merge(like):
    """Its rows wait in open blocks."""
    ahead = rows(50, 51).slice(0, 10)
    ahead = ahead.set_column(0, "when", pa.array(ahead["when"].to_numpy() + np.timedelta64(3_650, "D")))
    led = new(like).update(rows(0, 50)).update(ahead)
    assert state_of(led).counts[5]
    second = rows(50, 60, 1)
    state = state_of(led.merge(new(like).update(second)))
    assert state.now // HOUR == START.astype(float) // HOUR + 59
    assert state.n_late == 0
    assert state.n_seen == rows(0, 50).num_rows + second.num_rows + 10
    assert state.ticks.starts[-1] == START.astype(float) + 57 * HOUR


def daily(first, last):
    """Return a row a day."""
    return pa.table({"when": START + np.arange(first, last) * np.timedelta64(1, "D"), "value": np.arange(first, last) * 0.1})


def test_small_frames_move_the_clock_together(like):
    days = 30
    first = state_of(new(like).update(daily(0, 1)))
    state = init(first.rules, first.request, first.schema, first.maps)
    for day in range(days):  # five rows a day, which alone are too few to move it
        state = read_elsewhere(state, pa.concat_tables([daily(day, day + 1)] * 5))
    assert state.now >= (START + np.timedelta64(days - 3, "D")).astype(float)
    assert len(state.open) <= 3
    assert state.n_seen == 5 * days


def test_rows_of_a_frame_that_are_far_apart_are_not_far_ahead(like):
    first = state_of(new(like).update(daily(0, 1)))
    state = read_elsewhere(init(first.rules, first.request, first.schema, first.maps), daily(0, 100))
    assert state.now == (START + np.timedelta64(99, "D")).astype(float)
    assert state.n_ahead == 0
    assert read_elsewhere(state, daily(100, 101)).now == (START + np.timedelta64(100, "D")).astype(float)


def test_rows_without_a_time_go_to_the_block_of_the_clock(like):
    table = rows(0, 50)
    bare = table.slice(0, 30).set_column(0, "when", pa.nulls(30, pa.timestamp("s")))
    one = state_of(new(like).update(table.slice(0, 1)))
    empty = init(one.rules, one.request, one.schema, one.maps)
    for parts in ((bare, table), (table, bare)):
        state = read_elsewhere(empty, *parts)
        assert state.n_untimed == 30
        assert state.n_seen == table.num_rows + 30
        assert min(each.start for each in (*state.blocks, *(held.block for held in state.open.values()))) == START.astype(float)
        assert state.open[int(state.now // HOUR)].block.n_seen >= 30
    waiting = read_elsewhere(empty, bare)
    assert UNTIMED not in waiting.open
    state = read_elsewhere(waiting, table)
    assert state.open[int(state.now // HOUR)].block.n_seen >= 30
    assert not state.n_late


def shifted(table, by):
    """Return rows with larger values."""
    return table.set_column(1, "value", pa.array(table["value"].to_numpy() + by))


def told(history):
    return [(each.kind, each.change, each.at) for each in history.alarms]


def test_a_change_where_two_histories_meet_is_found_as_in_one(like):
    """Within an hour to which blocks of 15 minutes would be joined, old as they are."""
    rng = np.random.default_rng(0)
    blocks = np.repeat(np.arange(175), np.where(np.arange(175) < 141, 10, 40))
    when = START + blocks * np.timedelta64(900, "s") + rng.integers(0, 900, blocks.size).astype("m8[s]")
    value = rng.normal(size=blocks.size) + 3.0 * (blocks >= 141)
    table = pa.table({"when": np.sort(when), "value": value})
    half = 1_410
    left, right, whole = (
        ss.History("when", "15m", like=like, random_state=0).update(each)
        for each in (table.slice(0, half), table.slice(half), table)
    )
    assert left.alarms == right.alarms == ()
    found, block = left.merge(right), timedelta(minutes=15)
    assert sorted(each.kind for each in whole.alarms) == ["content", "volume"]
    assert [each.kind for each in found.alarms] == [each.kind for each in whole.alarms]
    for mine, other in zip(found.alarms, whole.alarms, strict=True):
        assert abs(mine.change - other.change) <= block
        assert abs(mine.at - other.at) <= block
    content = next(each for each in found.alarms if each.kind == "content")
    assert content.changed == ("value",)
    assert content.change in found.blocks["start"].to_pylist()  # no block is joined across it
    assert max(state_of(found).ticks.evidence) == content.evidence
    assert told(right.merge(left)) == told(found)


def test_a_change_between_two_that_are_known_is_found(like):
    first = pa.concat_tables([rows(0, 60), shifted(rows(60, 100, 1), 3.0)])
    second = pa.concat_tables([shifted(rows(100, 140, 2), 6.0), shifted(rows(140, 170, 3), 9.0)])
    left, right = (new(like, volume=False).update(each) for each in (first, second))
    assert [len(each.alarms) for each in (left, right)] == [1, 1]
    changes = [each.change for each in left.merge(right).alarms]
    assert changes == [START.astype(object) + timedelta(hours=each) for each in (60, 100, 140)]


def test_a_change_that_both_saw_is_one_alarm(like):
    """Two changes one after the other stay two, though each may have been at the moment of the other."""
    sides = [
        pa.concat_tables([rows(0, 60, seed), shifted(rows(60, 100, seed), 3.0), shifted(rows(100, 130, seed), 6.0)])
        for seed in (4, 5)
    ]
    left, right = (new(like, volume=False).update(each) for each in sides)
    assert len(left.alarms) == len(right.alarms) == len(left.merge(right).alarms) == 2
