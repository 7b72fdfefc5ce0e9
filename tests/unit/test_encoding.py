"""How mixed columns become points."""

import datetime as dt
import json
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from supersample.errors import InputError, InputTypeError, MismatchError
from supersample.records.encoding import Encoding, learn, require_same


def _learned(columns=None, weight=None, /, **data):
    table = pa.table(data)
    encoding = learn(table, columns, weight)
    (batch,) = table.combine_chunks().to_batches()
    return encoding, encoding.points(batch)


def _note(encoding, name):
    return next(note for note in encoding.notes if note.name == name)


def test_numbers_are_centred_at_the_median_and_scaled_by_the_quartiles():
    values = np.random.default_rng(0).normal(50.0, 7.0, 5000)
    encoding, points = _learned(x=values)
    assert encoding.width == 2
    np.testing.assert_allclose(
        points[:, 0], (values - np.median(values)) / (np.subtract(*np.quantile(values, [0.75, 0.25])) / 1.349)
    )
    assert np.all(points[:, 1] == 0.0)


def test_wild_numbers_are_kept_within_ten_scales_and_do_not_move_the_others():
    values = np.random.default_rng(0).normal(size=1000)
    calm = _learned(x=values)[1]
    values[3], values[4] = 1e300, -np.inf
    points = _learned(x=values)[1]
    assert points[3, 0] == 10.0
    assert points[4, 0] == -10.0
    np.testing.assert_allclose(np.delete(points, [3, 4], axis=0), np.delete(calm, [3, 4], axis=0), atol=0.02)


def test_two_unlike_values_of_a_category_or_a_boolean_are_at_squared_distance_two():
    _, points = _learned(a=["x", "y", "x"], b=[True, True, False])
    gaps = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(gaps, [[0, 2, 2], [2, 0, 4], [2, 4, 0]])


def test_zeros_and_ones_are_booleans():
    encoding, points = _learned(x=pa.array([0, 1, 1], pa.uint8()))
    assert _note(encoding, "x").kind == "boolean"
    np.testing.assert_allclose(points[:, 0], [0.0, np.sqrt(2), np.sqrt(2)])


def test_a_missing_value_has_a_coordinate_of_its_own():
    encoding, points = _learned(x=[1.0, 2.0, None, float("nan"), 9.0])
    assert encoding.width == 3
    np.testing.assert_array_equal(points[:, 1], [0, 0, 1, 1, 0])
    assert np.all(points[2:4, 0] == 0.0)


def test_values_that_go_missing_after_the_warm_up_are_seen():
    table = pa.table({"x": np.arange(50.0) ** 2, "c": ["a", "b"] * 25})
    encoding = learn(table, None, None)
    later = pa.record_batch({"x": pa.array([None, 4.0], pa.float64()), "c": pa.array([None, "a"])})
    np.testing.assert_allclose(encoding.points(later)[:, -1], [np.sqrt(2.0), 0.0])


def test_a_value_not_seen_before_has_a_place_of_its_own():
    encoding = learn(pa.table({"c": ["a", "b", "a"]}), None, None)
    points = encoding.points(pa.record_batch({"c": ["a", "b", "new", "newer"]}))
    np.testing.assert_array_equal(points[:, :3], [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]])


def test_only_the_fifty_most_frequent_values_have_a_coordinate():
    values = [f"v{i:03d}" for i in range(60)] + [f"v{i:03d}" for i in range(50)]
    encoding, _ = _learned(c=values)
    assert encoding.blocks[0].values == tuple(f"v{i:03d}" for i in range(50))


def test_a_column_that_does_not_vary_tells_only_larger_from_smaller():
    encoding = learn(pa.table({"x": [3.5] * 30}), None, None)
    points = encoding.points(pa.record_batch({"x": [3.5, 3.6, -1e9]}))
    np.testing.assert_allclose(points[:, 0], [0.0, np.sqrt(2), -np.sqrt(2)])


def test_dates_times_durations_and_decimals_are_numbers():
    days = [dt.date(2020, 1, 1) + dt.timedelta(days=i) for i in range(40)]
    data = {
        "day": pa.array(days),
        "stamp": pa.array([dt.datetime(2020, 1, 1) + dt.timedelta(hours=i) for i in range(40)]),
        "clock": pa.array([dt.time(i % 24, 5) for i in range(40)]),
        "lasted": pa.array([dt.timedelta(seconds=i) for i in range(40)]),
        "price": pa.array([Decimal("1.25") * i for i in range(40)]),
    }
    encoding, points = _learned(**data)
    assert [note.kind for note in encoding.notes] == ["time"] * 4 + ["number"]
    assert np.all(np.diff(points[:, 0]) > 0)
    np.testing.assert_allclose(points[:, 0], points[:, 1])
    np.testing.assert_allclose(points[:, 0], points[:, 4])


def test_vectors_are_one_block_with_one_scale():
    rows = np.random.default_rng(0).normal(3.0, 5.0, size=(400, 4))
    fixed = pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), 4)
    encoding, points = _learned(v=fixed)
    assert _note(encoding, "v").kind == "vector"
    np.testing.assert_allclose(points[:, :4] * encoding.blocks[0].scale + rows.mean(axis=0), rows)
    np.testing.assert_allclose(points[:, :4].var(axis=0).sum(), 1.0)
    np.testing.assert_array_equal(_learned(v=pa.array(rows.tolist()))[1], points)


def test_a_list_of_another_length_is_refused_with_its_column():
    encoding = learn(pa.table({"v": [[1.0, 2.0], [3.0, 4.0]]}), None, None)
    with pytest.raises(InputError, match=r"column 'v' must hold lists of 2 numbers, as in the first rows, got one of 3"):
        encoding.points(pa.record_batch({"v": [[1.0, 2.0, 3.0]]}))


@pytest.mark.parametrize(
    ("name", "values", "why"),
    [
        ("id", list(range(100, 0, -3)), "looks like an id"),
        ("row", list(range(40)), "looks like an id"),
        ("code", [f"{i:08x}" for i in range(40)], "looks like an id: 40 different values in 40 rows"),
        ("body", ["word " * 30] * 3 + ["other " * 30] * 3, "looks like text"),
        ("nested", [{"a": 1}] * 3, "have no place in a kernel"),
        ("raw", [b"abc"] * 3, "have no place in a kernel"),
        ("ragged", [[1.0], [1.0, 2.0]], "its lists differ in length"),
        ("empty", pa.nulls(3), "holds nothing but missing values"),
        ("nans", [float("nan")] * 3, "holds no finite number"),
        ("long", [[0.0] * 5000] * 2, "its lists are long"),
        ("words", [["a"], ["b"]], "lists of string have no place"),
    ],
)
def test_what_says_nothing_is_left_out_with_a_note(name, values, why):
    size = len(values)
    encoding, _ = _learned(**{name: values, "x": np.random.default_rng(0).normal(size=size)})
    assert _note(encoding, name).kind == "left out"
    assert why in _note(encoding, name).note
    assert encoding.width == 2


def test_columns_that_are_named_are_taken_even_where_they_look_like_ids():
    encoding, _ = _learned(["id"], id=list(range(100)), x=np.zeros(100))
    assert [block.name for block in encoding.blocks] == ["id"]
    assert _note(encoding, "x").note == "not asked for"


def test_a_column_of_weight_four_is_twice_as_far_apart():
    plain = _learned(x=[1.0, 2.0, 4.0], y=[1.0, 5.0, 2.0])[1]
    heavy = _learned({"x": 4.0, "y": 1}, x=[1.0, 2.0, 4.0], y=[1.0, 5.0, 2.0])[1]
    np.testing.assert_allclose(heavy, plain * [2.0, 1.0, 1.0])
    assert _learned({"x": 1.0, "y": 0.0}, x=[1.0, 2.0, 4.0], y=[1.0, 5.0, 2.0])[1].shape == (3, 2)


def test_an_encoding_survives_as_plain_values():
    encoding, points = _learned(
        {"x": 2.0, "c": 1.0, "v": 1.0}, x=[1.0, None, 4.0], c=["a", "b", None], v=[[1.0, 2.0], [2.0, 3.0], None]
    )
    again = Encoding.of(json.loads(json.dumps(encoding.to_plain())))
    assert again == encoding
    batch = pa.record_batch({"x": [1.0, None, 4.0], "c": ["a", "b", None], "v": [[1.0, 2.0], [2.0, 3.0], None]})
    np.testing.assert_array_equal(again.points(batch), points)


def test_encodings_of_other_scales_or_columns_do_not_mix():
    first = learn(pa.table({"x": [1.0, 2.0, 4.0]}), None, None)
    with pytest.raises(MismatchError, match="the same columns, scaled differently"):
        require_same(first, learn(pa.table({"x": [1.0, 2.0, 5.0]}), None, None))
    with pytest.raises(MismatchError, match=r"columns \['x'\] and \['y'\].*like=first"):
        require_same(first, learn(pa.table({"y": [1.0, 2.0, 4.0]}), None, None))


@pytest.mark.parametrize(
    ("columns", "weight", "message"),
    [
        (["z"], None, r"columns must name columns of the source \('x', 'w'\), got 'z'"),
        ("x", None, "columns must be a list of names"),
        ({"x": -1.0}, None, "the weight of 'x' must be a finite number of 0 or more, got -1.0"),
        ({"x": float("nan")}, None, "the weight of 'x' must be"),
        ({"x": 0}, None, "columns must give at least one column a positive weight"),
        (["w"], "w", "columns must not name the column of weights"),
        (None, "z", "weight must name a column of the source"),
        (None, "x", "weight must name a column of numbers, got 'x' of type string"),
    ],
)
def test_bad_choices_of_columns_are_refused(columns, weight, message):
    with pytest.raises((InputError, InputTypeError), match=message):
        learn(pa.table({"x": ["a", "b"], "w": [1.0, 2.0]}), columns, weight)


def test_a_table_without_a_usable_column_is_refused_with_the_reasons():
    with pytest.raises(InputError, match=r"at least one column that can enter the kernel.*id: looks like an id"):
        learn(pa.table({"id": list(range(100))}), None, None)


def test_huge_and_tiny_numbers_do_not_overflow():
    for values in ([1.7e308, -1.7e308, 1.6e308], [5e-324, 1e-323, 0.0], [1e308, 1e308, 1.0]):
        _, points = _learned(x=values)
        assert np.isfinite(points).all()
        assert np.abs(points).max() <= 10.0
