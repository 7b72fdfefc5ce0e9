"""How mixed columns become points."""

import datetime as dt
import json
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from supersample.errors import InputError, InputTypeError, MismatchError
from supersample.records.encoding import ColumnOptions, Encoding, learn, require_same

#: Nothing is asked of the columns.
PLAIN = ColumnOptions()


def _learned(options=PLAIN, /, **data):
    table = pa.table(data)
    encoding = learn(table, options)
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


def test_wild_numbers_are_compressed_keep_their_order_and_do_not_move_the_others():
    values = np.random.default_rng(0).normal(size=10_000)
    calm = _learned(x=values)[1]
    values[3:7] = 1e3, 1e6, 1e300, -np.inf
    points = _learned(x=values)[1][:, 0]
    assert 5.0 < points[3] < points[4] < points[5] == -points[6] == 40.0
    finite = values[np.isfinite(values)]
    scaled = (values[3:5] - np.median(finite)) / np.diff(np.quantile(finite, [0.25, 0.75])) * 1.349
    np.testing.assert_allclose(points[3:5], 5.0 + np.arcsinh(scaled - 5.0))
    np.testing.assert_allclose(np.delete(points, range(3, 7)), np.delete(calm[:, 0], range(3, 7)), atol=0.02)


def test_two_unlike_values_of_a_boolean_are_at_squared_distance_two_and_of_a_category_about_two():
    _, points = _learned(b=[True, True, False])
    gaps = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(gaps, [[0, 0, 2], [0, 0, 2], [2, 2, 0]])
    _, points = _learned(c=[f"value {i}" for i in range(300)] * 2)
    gaps = ((points[:300, None] - points[None, :300]) ** 2).sum(axis=2)[~np.eye(300, dtype=bool)]
    assert abs(gaps.mean() - 2.0) < 0.01
    assert abs(gaps.std() - 2.0 / np.sqrt(32)) < 0.02
    np.testing.assert_array_equal(points[:300], points[300:])


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
    encoding = learn(table, ColumnOptions())
    later = pa.record_batch({"x": pa.array([None, 4.0], pa.float64()), "c": pa.array([None, "a"])})
    np.testing.assert_allclose(encoding.points(later)[:, -1], [np.sqrt(2.0), 0.0])


def test_a_value_not_seen_before_has_a_place_of_its_own_whatever_was_learned_from():
    encoding = learn(pa.table({"c": ["a", "b", "a"]}), ColumnOptions())
    other = learn(pa.table({"c": ["p", "q", "p"]}), ColumnOptions())
    rows = pa.record_batch({"c": ["a", "b", "new", "newer", None]})
    points = encoding.points(rows)
    np.testing.assert_array_equal(points, other.points(rows))
    gaps = ((points[:, None] - points[None]) ** 2).sum(axis=2)[~np.eye(5, dtype=bool)]
    assert gaps.min() > 0.9
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1.0)


def test_the_same_value_has_another_place_in_another_column():
    _, points = _learned(a=["x", "y"], b=["x", "y"])
    assert not np.allclose(points[:, :32], points[:, 32:64])


def test_a_column_that_does_not_vary_tells_only_larger_from_smaller():
    encoding = learn(pa.table({"x": [3.5] * 30}), ColumnOptions())
    points = encoding.points(pa.record_batch({"x": [3.5, 3.6, -1e9]}))
    np.testing.assert_allclose(points[:, 0], [0.0, np.sqrt(2), -np.sqrt(2)])


def _times():
    days = [dt.date(2020, 1, 1) + dt.timedelta(days=i) for i in range(40)]
    return {
        "day": pa.array(days),
        "stamp": pa.array([dt.datetime(2020, 1, 1) + dt.timedelta(hours=i) for i in range(40)]),
        "clock": pa.array([dt.time(i % 24, 5) for i in range(40)]),
        "lasted": pa.array([dt.timedelta(seconds=i) for i in range(40)]),
        "price": pa.array([Decimal("1.25") * i for i in range(40)]),
    }


def test_times_are_ignored_unless_asked_for_and_durations_and_decimals_are_numbers():
    encoding, points = _learned(**_times())
    assert [(note.kind, note.used) for note in encoding.notes] == [("time", False)] * 3 + [("number", True)] * 2
    assert points.shape == (40, 3)
    np.testing.assert_allclose(points[:, 0], points[:, 1])


def test_times_as_levels_are_numbers():
    encoding, points = _learned(ColumnOptions(times="level"), **_times())
    assert all(note.used for note in encoding.notes)
    assert np.all(np.diff(points[:, 0]) > 0)
    np.testing.assert_allclose(points[:, 0], points[:, 1])
    np.testing.assert_allclose(points[:, 0], points[:, 4])
    named, _ = _learned(ColumnOptions(["stamp"]), **_times())
    assert [(note.name, note.width) for note in named.notes if note.used] == [("stamp", 1)]


def test_times_as_cycles_are_places_in_day_and_week():
    stamps = [dt.datetime(2024, 1, 1, 6) + dt.timedelta(days=7 * i) for i in range(30)]  # Mondays at six
    _, points = _learned(ColumnOptions(times="cycle"), at=pa.array(stamps))
    quarter = np.array([0.0, 1.0, 1.0, 0.0]) * np.sqrt(0.5)  # a quarter of the day, the start of the week
    np.testing.assert_allclose(points, np.tile([*quarter, 0.0], (30, 1)), atol=1e-12)
    zoned = pa.array(stamps, pa.timestamp("us", "America/New_York"))  # the same moments, five or four hours earlier there
    _, local = _learned(ColumnOptions(times="cycle"), at=zoned)
    angles = np.arctan2(local[:, 1], local[:, 0]) / (2 * np.pi) * 24
    np.testing.assert_allclose(np.unique(angles.round(6)), [1.0, 2.0])
    encoding, points = _learned(ColumnOptions(times="cycle"), **_times())
    assert [note.width for note in encoding.notes] == [2, 4, 2, 1, 1]
    whole = np.arange(0, 24 * 7, dtype=float) * 3600
    _, week = _learned(ColumnOptions(times="cycle"), at=pa.array(whole.astype("datetime64[s]")))
    gaps = ((week[:, None] - week[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(gaps.mean(), 2.0)


def test_vectors_are_one_block_with_one_scale():
    rows = np.random.default_rng(0).normal(3.0, 5.0, size=(400, 4))
    fixed = pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), 4)
    encoding, points = _learned(v=fixed)
    assert _note(encoding, "v").kind == "vector"
    np.testing.assert_allclose(points[:, :4] * encoding.blocks[0].scale + rows.mean(axis=0), rows)
    np.testing.assert_allclose(points[:, :4].var(axis=0).sum(), 1.0)
    np.testing.assert_array_equal(_learned(v=pa.array(rows.tolist()))[1], points)


def test_a_list_of_another_length_is_refused_with_its_column():
    encoding = learn(pa.table({"v": [[1.0, 2.0], [3.0, 4.0]]}), ColumnOptions())
    with pytest.raises(InputError, match=r"column 'v' must hold lists of 2 numbers, as in the rows learned from, got one of 3"):
        encoding.points(pa.record_batch({"v": [[1.0, 2.0, 3.0]]}))


@pytest.mark.parametrize(
    ("name", "values", "why"),
    [
        ("id", list(range(100, 0, -3)), "looks like an id"),
        ("row", list(range(40)), "looks like an id"),
        ("code", [f"{i:08x}" for i in range(40)], "looks like an id"),
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
    assert not _note(encoding, name).used
    assert why in _note(encoding, name).note
    assert encoding.width == 2


def test_columns_that_are_named_are_taken_even_where_they_look_like_ids():
    encoding, _ = _learned(ColumnOptions(["id"]), id=list(range(100)), x=np.zeros(100))
    assert [block.name for block in encoding.blocks] == ["id"]
    assert _note(encoding, "x").note == "not asked for"


def test_a_column_of_weight_four_is_twice_as_far_apart():
    plain = _learned(x=[1.0, 2.0, 4.0], y=[1.0, 5.0, 2.0])[1]
    heavy = _learned(ColumnOptions({"x": 4.0, "y": 1}), x=[1.0, 2.0, 4.0], y=[1.0, 5.0, 2.0])[1]
    np.testing.assert_allclose(heavy, plain * [2.0, 1.0, 1.0])
    assert _learned(ColumnOptions({"x": 1.0, "y": 0.0}), x=[1.0, 2.0, 4.0], y=[1.0, 5.0, 2.0])[1].shape == (3, 2)


def test_an_encoding_survives_as_plain_values():
    encoding, points = _learned(
        ColumnOptions({"x": 2.0, "c": 1.0, "v": 1.0}), x=[1.0, None, 4.0], c=["a", "b", None], v=[[1.0, 2.0], [2.0, 3.0], None]
    )
    again = Encoding.of(json.loads(json.dumps(encoding.to_plain())))
    assert again == encoding
    batch = pa.record_batch({"x": [1.0, None, 4.0], "c": ["a", "b", None], "v": [[1.0, 2.0], [2.0, 3.0], None]})
    np.testing.assert_array_equal(again.points(batch), points)


def test_encodings_of_other_scales_or_columns_do_not_mix():
    first = learn(pa.table({"x": [1.0, 2.0, 4.0]}), ColumnOptions())
    with pytest.raises(MismatchError, match="the same columns, scaled differently"):
        require_same(first, learn(pa.table({"x": [1.0, 2.0, 5.0]}), ColumnOptions()))
    with pytest.raises(MismatchError, match=r"columns \['x'\] and \['y'\].*like=first"):
        require_same(first, learn(pa.table({"y": [1.0, 2.0, 4.0]}), ColumnOptions()))


@pytest.mark.parametrize(
    "options", [{"columns": ["prise"]}, {"weight": "prise"}, {"types": {"prise": "number"}}, {"label": "PRICE"}]
)
def test_names_that_are_nearly_right_are_told(options):
    with pytest.raises(InputError, match=r"got '(PRICE|prise)'; did you mean 'price'\?$"):
        learn(pa.table({"price": [1.0, 2.0], "kind": ["a", "b"]}), ColumnOptions(**options))


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
        learn(pa.table({"x": ["a", "b"], "w": [1.0, 2.0]}), ColumnOptions(columns, weight))


def test_a_table_without_a_usable_column_is_refused_with_the_reasons():
    with pytest.raises(InputError, match=r"at least one column that can enter the kernel.*id: looks like an id"):
        learn(pa.table({"id": list(range(100))}), ColumnOptions())


def test_huge_and_tiny_numbers_do_not_overflow():
    for values in ([1.7e308, -1.7e308, 1.6e308], [5e-324, 1e-323, 0.0], [1e308, 1e308, 1.0]):
        _, points = _learned(x=values)
        assert np.isfinite(points).all()
        assert np.abs(points).max() <= 40.0


def _roles(options=PLAIN, /, **data):
    return {note.name: note.kind for note in _learned(options, x=np.random.default_rng(1).normal(size=60), **data)[0].notes}


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("id", [7, 3, 9] * 20, "id"),
        ("store_id", [7, 3, 9] * 20, "id"),
        ("customerId", [7, 3, 9] * 20, "id"),
        ("paid", [7, 3, 9] * 20, "number"),
        ("order", np.cumsum(np.random.default_rng(0).integers(1, 9, 60)), "id"),
        ("countdown", np.arange(60)[::-1], "id"),
        ("income", np.random.default_rng(0).permutation(10**6)[:60], "number"),
        ("cents", np.random.default_rng(0).integers(1, 500, 60), "number"),
        ("flag", [0, 1] * 30, "boolean"),
        ("one", [5] * 60, "constant"),
        ("web", ["web"] * 60, "constant"),
        ("yes", [True] * 60, "constant"),
        ("colour", ["red", "blue"] * 30, "category"),
        ("nothing", pa.nulls(60, pa.string()), "constant"),
    ],
)
def test_the_role_of_a_column_is_recognised(name, values, role):
    assert _roles(**{name: values})[name] == role


def test_a_constant_column_enters_so_that_later_changes_show():
    encoding = learn(pa.table({"x": np.arange(30.0) ** 2, "c": ["web"] * 30}), ColumnOptions())
    points = encoding.points(pa.record_batch({"x": [1.0, 1.0], "c": ["web", "shop"]}))
    assert ((points[0] - points[1]) ** 2).sum() > 0.9


def test_types_override_what_was_recognised():
    data = {"code": list(range(60)), "name": ["a", "b"] * 30, "at": pa.array(np.arange(60), pa.timestamp("s"))}
    assert _roles(**data) == {"x": "number", "code": "id", "name": "category", "at": "time"}
    forced = ColumnOptions(types={"code": "category", "name": "id", "at": "ignore"})
    encoding, _ = _learned(forced, **data)
    assert [(note.name, note.kind, note.used) for note in encoding.notes] == [
        ("code", "category", True), ("name", "id", False), ("at", "time", False),
    ]  # fmt: skip
    assert _note(encoding, "at").note == "ignored, as types= says"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (ColumnOptions(types={"z": "number"}), r"types must name a column of the source \('x', 'c', 'w'\), got 'z'"),
        (ColumnOptions(types={"x": "colour"}), r"types: column 'x' must be one of number, boolean.*, got 'colour'"),
        (ColumnOptions(types=["x"]), r"types must be a dict of names of columns and what they are, got \['x'\]"),
        (ColumnOptions(types={"c": "number"}), r"types: column 'c' of type string cannot be a number.*choose another type"),
        (
            ColumnOptions(types={"x": "vector"}),
            r"types: column 'x' of type double cannot be a vector: it was recognised as number",
        ),
        (ColumnOptions(types={"w": "text"}, weight="w"), r"column 'w' weighs the rows and cannot be a text"),
        (ColumnOptions(label="z"), r"label must name a column of the source"),
        (ColumnOptions(label="w", weight="w"), r"label must name another column than weight, got 'w' for both"),
        (ColumnOptions(["x", "c"], label="c"), r"columns must not name the label, got 'c' for both"),
        (ColumnOptions(["x"], types={"x": "ignore"}), r"columns names 'x', which types says to ignore"),
        (ColumnOptions(times="hour"), r"times must be"),
    ],
)
def test_impossible_options_of_columns_are_refused(options, message):
    with pytest.raises((InputError, InputTypeError), match=message):
        learn(pa.table({"x": [1.5, 2.5, 9.0], "c": ["a", "b", "a"], "w": [1.0, 2.0, 1.0]}), options)


def test_a_label_is_kept_aside():
    encoding, points = _learned(ColumnOptions(label="y"), x=[1.5, 2.5, 9.0], y=["a", "b", "a"])
    assert points.shape == (3, 2)
    assert [block.name for block in encoding.aside] == ["y"]
    assert Encoding.of(json.loads(json.dumps(encoding.to_plain()))) == encoding
    with pytest.raises(MismatchError):
        require_same(encoding, learn(pa.table({"x": [1.5, 2.5, 9.0], "y": ["a", "b", "a"]}), ColumnOptions(["x"])))


def test_codes_with_decimals_are_told_how_to_become_whole():
    with pytest.raises(InputError, match=r"cannot be a category: its numbers are stored with decimals.*astype\('Int64'\)"):
        learn(pa.table({"zip": [10001.0, None, 20002.0]}), ColumnOptions(types={"zip": "category"}))
