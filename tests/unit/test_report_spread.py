"""Distributions, the map and what is unusual: worked by hand."""

import numpy as np
import pyarrow as pa
import pytest

from report_fakes import note
from supersample.report.distributions import distribution_of
from supersample.report.numbers import as_labels, as_numbers
from supersample.report.projection import evenly, fit_plane
from supersample.report.ranking import added_by, rank_columns, unusual, usual_of


def spread(first, second, kind, shares=None):
    tables = pa.table({"x": first}), pa.table({"x": second})
    shares = shares or tuple(np.full(len(table), 1 / len(table)) for table in tables)
    return distribution_of("x", kind, tables, shares, ("in A", "in B"))


def test_labels_count_by_their_shares():
    found = spread(["a", "a", "b", None], ["a", "b"], "category", (np.array([0.4, 0.2, 0.3, 0.1]), np.array([0.9, 0.1])))
    assert found.labels == ("a", "b", "missing")
    np.testing.assert_allclose(found.first, [0.6, 0.3, 0.1])
    np.testing.assert_allclose(found.second, [0.9, 0.1, 0.0])
    assert found.gap == pytest.approx(0.3)
    assert found.words == "Most unlike at a: 60.0% in A, 90.0% in B."


def test_many_labels_are_gathered():
    found = spread([f"k{i:02}" for i in range(30)], ["k00"], "category")
    assert len(found.labels) == 8
    assert found.labels[-1] == "23 others"
    assert sum(found.first) == pytest.approx(1.0)


def test_a_label_cannot_take_the_name_of_the_others():
    found = spread(["23 others"] * 10 + [f"k{i:02}" for i in range(30)], ["k00"], "category")
    assert sum(found.first) == pytest.approx(1.0)


def test_few_numbers_are_shown_value_by_value_in_their_order():
    found = spread([10, 2, 2, 1], [10, 1], "number")
    assert found.labels == ("1", "2", "10")
    assert found.edges == ()


def test_missing_stands_after_few_numbers():
    assert spread(pa.array([2, None, 10, 1]), [1], "number").labels == ("1", "2", "10", "missing")


def test_numbers_are_cut_into_classes_that_hold_everything():
    rng = np.random.default_rng(0)
    values = np.append(rng.normal(size=999), 1e6)
    found = spread(values, values[:50], "number")
    assert sum(found.first) == pytest.approx(1.0)
    assert sum(found.second) == pytest.approx(1.0)
    assert found.edges[-1] < 100  # one far value does not flatten the others


def test_missing_numbers_are_said_and_do_not_count():
    found = spread(pa.array([1.0, None] * 20 + list(range(20))), list(range(20)), "number")
    assert sum(found.first) == pytest.approx(40 / 60)
    assert found.words.endswith("Missing: 33.3% in A, 0% in B.")


def test_days_are_moments():
    days = np.datetime64("2024-01-01") + np.arange(100)
    found = spread(days, days[:10], "time")
    assert found.scale == "day"
    assert found.words.startswith("Mean 2024-02-20 in A, 2024-01-0")


def test_times_of_day_are_written_as_such():
    times = pa.array(np.arange(0, 86_400, 600, dtype=np.int32), pa.int32()).cast(pa.time32("s"))
    found = spread(times, times[:13], "time")
    assert found.scale == "clock"
    assert found.words == "Mean 11:55:00 in A, 01:00:00 in B."


@pytest.mark.parametrize("kind", ["vector", "weight"])
def test_nothing_is_drawn_of_vectors(kind):
    assert spread([1, 2], [1], kind) is None


def test_a_column_left_out_is_charted_if_it_has_few_values():
    found = spread([1, 2, 2, 1], [1, 2], "left out")
    assert found.labels == ("1", "2")
    assert found.words.endswith("Not in the kernel.")
    assert spread([f"id {place}" for place in range(50)], ["id 1"], "left out") is None
    assert spread([[1, 2], [3, 4]], [[1, 2]], "left out") is None


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([None, None], ("missing",)),
        ([], ()),
        ([float("nan")] * 3, ("missing",)),
        ([float("inf"), -float("inf"), 1.0], ("-inf", "1", "inf")),
    ],
)
def test_columns_without_numbers_are_survived(values, labels):
    column = pa.array(values, pa.float64())
    found = distribution_of("x", "number", (pa.table({"x": column}),) * 2, (np.full(len(column), 0.5),) * 2, ("in A", "in B"))
    assert found.labels == labels
    assert found.first == found.second
    assert found.gap == 0.0


@pytest.mark.parametrize(
    ("column", "numbers"),
    [
        (pa.array([1, None], pa.date32()), [1.0, np.nan]),
        (pa.array([86_400, 0], pa.timestamp("s", "UTC")), [1.0, 0.0]),
        (pa.array([1_500], pa.duration("ms")), [1.5]),
        (pa.array([90], pa.time32("s")), [90.0]),
        (pa.array([True, False]), [1.0, 0.0]),
        (pa.array([3, 1, 3]).dictionary_encode(), [3.0, 1.0, 3.0]),
        (pa.array([2**63], pa.uint64()), [2.0**63]),
    ],
)
def test_every_simple_type_becomes_numbers(column, numbers):
    np.testing.assert_array_equal(as_numbers(pa.chunked_array([column])), numbers)


def test_labels_of_dictionaries_with_different_words():
    parts = [pa.array(["a", None]).dictionary_encode(), pa.array(["b"]).dictionary_encode()]
    assert list(as_labels(pa.chunked_array(parts))) == ["a", None, "b"]


def test_the_map_lies_along_the_widest_directions_and_says_what_it_shows():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(4_000, 4)) * [3.0, 0.1, 2.0, 0.5]
    plane = fit_plane(rows, np.full(4_000, 1 / 4_000))
    np.testing.assert_allclose(np.abs(plane.axes), [[1, 0, 0, 0], [0, 0, 1, 0]], atol=0.05)
    assert plane.shown == pytest.approx(13 / 13.26, abs=0.01)


def test_rows_count_by_their_shares_on_the_map():
    rows = np.array([[0.0, 0, 9], [0, 0, -9], [3, 0, 0], [-3, 0, 0], [0, 2, 0], [0, -2, 0]])
    plane = fit_plane(rows, np.array([0.001, 0.001, 0.25, 0.25, 0.249, 0.249]))
    np.testing.assert_allclose(plane.axes, [[1, 0, 0], [0, 1, 0]], atol=1e-12)
    assert plane.shown == pytest.approx((4.5 + 1.992) / (4.5 + 1.992 + 0.162))


def test_wide_and_tall_rows_give_the_same_map():
    rows = np.random.default_rng(0).normal(size=(30, 20))
    tall, wide = fit_plane(rows, np.full(30, 1 / 30)), fit_plane(np.pad(rows, ((0, 0), (0, 40))), np.full(30, 1 / 30))
    np.testing.assert_allclose(wide.axes[:, :20], tall.axes, atol=1e-9)
    assert wide.shown == pytest.approx(tall.shown)


@pytest.mark.parametrize("shape", [(1, 3), (5, 1), (2, 2), (1, 1)])
def test_the_map_of_almost_nothing(shape):
    plane = fit_plane(np.ones(shape), np.full(shape[0], 1 / shape[0]))
    assert plane.axes.shape == (2, shape[1])
    assert np.isfinite(plane.place(np.ones(shape))).all()


def test_places_are_spread_evenly():
    assert list(evenly(10, 3)) == [0, 4, 9]
    assert list(evenly(2, 5)) == [0, 1]
    assert list(evenly(0, 5)) == []


def test_telling_columns_come_first():
    rng = np.random.default_rng(0)
    side = rng.integers(0, 2, 500)
    table = pa.table({"noise": rng.normal(size=500), "same": np.ones(500), "side": side.astype(str), "near": side + 0.1})
    kinds = {"noise": "number", "same": "number", "side": "category", "near": "number"}
    coordinates = np.column_stack([side * 10.0, rng.normal(size=500)])
    order = rank_columns(table, kinds, coordinates, np.full(500, 1 / 500))
    assert set(order[:2]) == {"side", "near"}


def test_what_is_rare_says_where():
    times = pa.array([3_600 * hour for hour in range(24)], pa.int32()).cast(pa.time32("s"))
    background = pa.table({"at": times, "k": ["a"] * 24})
    usual = usual_of(background, {"at": "time", "k": "category"}, np.full(24, 1 / 24), "the right")
    row = pa.table({"at": pa.array([86_399], pa.int32()).cast(pa.time32("s")), "k": ["b"]})
    assert unusual(row, usual) == (
        "at is 23:59:59, later than nearly all of the right",
        "k is b, as in hardly any of the right",
    )


def test_what_is_rare_is_named_and_common_ends_are_not():
    background = pa.table({"n": list(range(1, 101)), "zeros": [0] * 90 + [1] * 10, "k": ["a"] * 99 + ["b"]})
    kinds = {"n": "number", "zeros": "number", "k": "category"}
    usual = usual_of(background, kinds, np.full(100, 0.01))
    row = pa.table({"n": [500], "zeros": [0], "k": ["b"]})
    assert unusual(row, usual) == ("n is 500, higher than nearly all of the data", "k is b, as in 1.0% of the data")
    assert unusual(pa.table({"n": [50], "zeros": [1], "k": ["a"]}), usual) == ()
    gap = pa.table({"n": pa.array([None], pa.int64()), "zeros": [0], "k": ["a"]})
    assert unusual(gap, usual) == ("n has no readable value, as in hardly any of the data",)


def test_far_and_infinite_values_are_named_however_many_there_are():
    ages = np.where(np.arange(1_000) % 20 == 0, -999, 20 + np.arange(1_000) % 60)
    ratios = np.where(np.arange(1_000) % 25 == 0, np.inf, np.arange(1_000) % 10)
    background = pa.table({"age": ages, "ratio": ratios})
    usual = usual_of(background, {"age": "number", "ratio": "number"}, np.full(1_000, 0.001))
    assert unusual(background.slice(0, 1), usual) == (
        "ratio is infinite, higher than 96.0% of the data",
        "age is -999, lower than 95.0% of the data",
    )
    assert unusual(background.slice(0, 1), usual, {"age": 90.0, "ratio": 12.0})[0].startswith("age is -999")
    assert unusual(background.slice(1, 1), usual) == ()
    zeros = pa.table({"x": [0.0] * 19 + [np.inf]})
    assert unusual(zeros.slice(19), usual_of(zeros, {"x": "number"}, np.full(20, 0.05))) == (
        "x is infinite, higher than 95.0% of the data",
    )


def test_a_share_of_a_column_with_gaps_is_one_of_its_values():
    heights = pa.array([None if place % 4 == 0 else float(place) for place in range(400)])
    shares = np.full(400, 1 / 400)
    row = pa.table({"h": [399.0]})
    table = pa.table({"h": heights})
    assert unusual(row, usual_of(table, {"h": "number"}, shares)) == ("h is 399, higher than 99.7% of its values",)
    assert unusual(row, usual_of(table, {"h": "number"}, shares, "the left")) == (
        "h is 399, higher than 99.7% of its values on the left",
    )


def test_rare_values_are_named_only_where_most_are_frequent():
    clock = np.random.default_rng(0).integers(0, 1_440, 5_000)
    background = pa.table({"t": [f"{each // 60:02}:{each % 60:02}" for each in clock], "k": ["a", "b", "c", "d"] * 1_250})
    usual = usual_of(background, {"t": "category", "k": "category"}, np.full(5_000, 1 / 5_000))
    assert {unusual(background.slice(place, 1), usual) for place in range(200)} == {()}
    assert unusual(pa.table({"t": ["never"], "k": ["z"]}), usual) == ("k is z, as in hardly any of the data",)


def test_columns_add_what_is_beyond_the_usual():
    sample = np.column_stack([np.arange(-2.0, 3.0), [0, 0, 0, 0, 100.0], np.ones(5)])
    columns = [note("a", "double", "number"), note("out", "string", "left out", 0), note("b", "double", "number")]
    assert added_by(columns, np.array([[4.0, 3.0, 9.0]]), sample) == [{"a": 15.0, "b": 9.0}]
