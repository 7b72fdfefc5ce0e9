"""Summaries of tables: what they hold, how they go on, merge and refuse."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import supersample as ss
from supersample.errors import InputError, InputTypeError, MismatchError
from supersample.summary import comparing


def _table(n=6000, seed=0, shift=0.0):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "x": rng.normal(shift, 1.0, n),
            "size": rng.choice(["small", "large"], n, p=[0.8, 0.2]),
            "ok": rng.random(n) < 0.5,
            "name": [f"row {i} of {seed}" for i in range(n)],
            "weight": rng.random(n),
        }
    )


@pytest.fixture(scope="module")
def summary():
    return ss.summarize(_table(), prototypes=40, criticisms=5, weight="weight", random_state=1)


def test_rows_come_back_as_they_went_in(summary):
    table = _table()
    for rows in (summary.prototypes, summary.criticisms, summary.background):
        assert rows.select(table.column_names).equals(table.take(rows.column("_row")))
        assert rows.schema.names[:5] == table.column_names


def test_the_numbers_fit_together(summary):
    assert summary.n_seen == 6000
    assert summary.prototypes.num_rows == 40
    assert np.all(np.diff(summary.prototypes.column("_row").to_numpy()) > 0)
    assert abs(sum(summary.prototypes.column("_weight").to_pylist()) - 1.0) < 1e-9
    assert summary.criticisms.num_rows == 5
    assert set(summary.criticisms.column("_kind").to_pylist()) <= {"missed", "rare"}
    assert 0 < summary.mmd < summary.uniform_mmd < summary.random_mmd
    assert summary.mmd < summary.bound(0.05)
    assert [note.kind for note in summary.columns] == ["number", "category", "boolean", "id", "weight"]


def test_it_is_what_the_sampler_chooses_from_the_encoded_rows():
    table = _table()
    summary = ss.summarize(iter([table]), prototypes=40, criticisms=5, weight="weight", random_state=1)
    points = summary.encode(table)
    sampler = ss.SuperSampler(40, 5, random_state=1).fit(points, sample_weight=table.column("weight").to_numpy())
    np.testing.assert_array_equal(sampler.prototype_indices_, summary.prototypes.column("_row").to_numpy())
    np.testing.assert_array_equal(sampler.criticism_indices_, summary.criticisms.column("_row").to_numpy())
    assert sampler.mmd_ == summary.mmd


def test_shares_are_those_of_the_nearest_prototype(summary):
    chosen, sample = summary.encode(summary.prototypes.drop_columns(["_row", "_weight", "_share"])), summary.background
    points = summary.encode(sample.drop_columns(["_row", "_weight"]))
    nearest = ((points[:, None] - chosen[None]) ** 2).sum(axis=2).argmin(axis=1)
    shares = np.bincount(nearest, weights=sample.column("_weight").to_numpy(), minlength=40)
    np.testing.assert_allclose(summary.prototypes.column("_share").to_numpy(), shares, atol=1e-12)


def test_expectations_are_near_those_of_the_data(summary):
    table = _table()
    weights = table.column("weight").to_numpy() / table.column("weight").to_numpy().sum()
    truth = float(weights @ table.column("x").to_numpy())
    assert abs(summary.expect("x") - truth) < 0.05
    assert abs(summary.expect("x", weighting="uniform") - truth) < 0.05
    large = summary.expect(lambda rows: np.array(rows.column("size").to_pylist()) == "large")
    assert abs(large - float(weights @ (np.array(table.column("size").to_pylist()) == "large"))) < 0.06
    both = summary.expect(lambda rows: np.stack([rows.column("x").to_numpy(), rows.column("x").to_numpy() ** 2], axis=1))
    assert both.shape == (2,)
    for kind in ("simplex", "uniform"):
        assert abs(summary.weights(kind).sum() - 1.0) < 1e-9


@pytest.mark.parametrize(
    ("f", "message"),
    [
        ("nothing", "f must name a column"),
        ("size", "f must name a column of numbers"),
        (3, "f must be the name of a column or a function"),
        (lambda rows: 1.0, r"one value for each of the 40 prototypes, got shape \(\)"),
        (lambda rows: [1.0, 2.0], r"one value for each of the 40 prototypes, got shape \(2,\)"),
    ],
)
def test_expect_says_what_is_wrong_with_f(summary, f, message):
    with pytest.raises((InputError, InputTypeError), match=message):
        summary.expect(f)


def test_updating_is_as_if_all_rows_had_come_at_once():
    table = _table(9000)
    whole = ss.summarize(iter([table]), prototypes=30, criticisms=4, random_state=3)
    parts = ss.summarize(table.slice(0, 100), prototypes=30, criticisms=4, random_state=3)
    assert parts.update(table.slice(100, 5000)).update(table.slice(5100)) is parts
    parts.source = whole.source
    assert parts.to_bytes() == whole.to_bytes()


def test_reading_and_saving_change_nothing(tmp_path):
    table = _table(7000)
    whole = ss.summarize(iter([table]), prototypes=30, criticisms=4, random_state=3)
    looked = ss.summarize(table.slice(0, 200), prototypes=30, criticisms=4, random_state=3)
    str(looked), looked.prototypes, looked.mmd
    looked.save(tmp_path / "early.ss")
    looked = ss.load(tmp_path / "early.ss").update(table.slice(200))
    looked.source = whole.source
    assert looked.to_bytes() == whole.to_bytes()


def test_an_update_that_fails_leaves_the_summary_as_it_was(summary):
    table = _table(6000)
    held = ss.summarize(table, prototypes=10, criticisms=2, random_state=0)
    before = held.to_bytes()

    def failing():
        yield table.slice(0, 500)
        raise OSError("the line went dead")

    with pytest.raises(InputError, match="the line went dead"):
        held.update(failing())
    with pytest.raises(MismatchError, match=r"missing: \['x'"):
        held.update(pa.table({"other": [1.0]}))
    bad = table.slice(0, 3).set_column(4, "weight", pa.array([1.0, -1.0, 1.0]))
    with pytest.raises(InputError, match=r"column 'weight' must not be negative, got -1.0 in row 6001"):
        summary.update(bad)
    assert held.to_bytes() == before
    assert summary.n_seen == 6000


def test_like_makes_summaries_that_merge_and_compare():
    first = ss.summarize(_table(7000, 1), prototypes=50, criticisms=5, random_state=0)
    second = ss.summarize(_table(5000, 2), like=first, random_state=0)
    before = first.to_bytes(), second.to_bytes()
    merged = first.merge(second)
    assert (first.to_bytes(), second.to_bytes()) == before
    assert merged.n_seen == 12_000
    joined = pa.concat_tables([_table(7000, 1), _table(5000, 2)])
    rows = merged.prototypes
    assert rows.select(joined.column_names).equals(joined.take(rows.column("_row")))
    one = ss.summarize(joined, prototypes=50, criticisms=5, random_state=0)
    assert merged.mmd < 2.0 * one.mmd
    same = first.compare(second)
    assert same.pvalue > 0.001
    other = first.compare(ss.summarize(_table(5000, 3, shift=0.5), like=first, random_state=0))
    assert other.pvalue < 1e-6
    assert other.changed == ("x",)
    assert np.mean(other.left_rows.column("x").to_numpy()) < 0.0 < np.mean(other.right_rows.column("x").to_numpy())
    assert "differ" in str(other)


def test_a_small_table_can_be_liked_merged_and_compared_too():
    first = ss.summarize(_table(300, 1), prototypes=20, criticisms=3, random_state=0)
    second = ss.summarize(_table(200, 2), like=first, random_state=0)
    assert first.merge(second).n_seen == 500
    assert 0 < first.compare(second).pvalue <= 1


def test_parts_with_one_random_state_draw_different_backgrounds():
    first = ss.summarize(_table(20_000, 1), prototypes=10, criticisms=0, random_state=0)
    parts = [ss.summarize(_table(20_000, seed), like=first, random_state=0) for seed in (2, 3)]
    drawn = [set(part.background.column("_row").to_pylist()) for part in parts]
    assert len(drawn[0] & drawn[1]) < 2000  # two independent draws of 5,000 share 1,250 on average


def test_what_does_not_fit_together_is_refused(summary):
    other = ss.summarize(_table(), prototypes=40, criticisms=5, weight="weight", random_state=2)
    with pytest.raises(MismatchError, match="like=first"):
        summary.merge(other)
    with pytest.raises(InputTypeError, match="other must be a Summary"):
        summary.merge(3)
    with pytest.raises(InputTypeError, match="like must be a Summary"):
        ss.summarize(_table(), like="file.ss")
    with pytest.raises(InputError, match="bandwidth must be left out with like="):
        ss.summarize(_table(), like=summary, bandwidth=2.0)
    with pytest.raises(InputError, match="prototypes must be left out with like="):
        ss.summarize(_table(), like=summary, prototypes=3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prototypes": 0}, "prototypes must be at least 1, got 0"),
        ({"criticisms": -1}, "criticisms must be at least 0, got -1"),
        ({"kernel": "cubic"}, "kernel must be one of"),
        ({"weight": "nothing"}, "weight must name a column"),
        ({"columns": ["nothing"]}, "columns must name columns"),
        ({"features": "magic"}, "features must be one of"),
        ({"progress": 3}, "progress must be True, False or a function"),
        ({"checkpoint": 3}, "checkpoint must be a path"),
        ({"checkpoint": "x", "checkpoint_seconds": -1}, "checkpoint_seconds must be"),
        ({"checkpoint": "x", "checkpoint_rows": 0}, "checkpoint_rows must be at least 1"),
    ],
)
def test_bad_arguments_are_refused(options, message):
    with pytest.raises((InputError, InputTypeError), match=message):
        ss.summarize(_table(50), **options)


def test_no_rows_one_row_and_fewer_rows_than_prototypes():
    with pytest.raises(InputError, match="at least one row, got none"):
        ss.summarize(_table(10).slice(0, 0))
    one = ss.summarize(pa.table({"x": [3.0]}), random_state=0)
    assert one.prototypes.num_rows == 1
    assert one.mmd < 1e-6
    few = ss.summarize(_table(30), prototypes=100, random_state=0)
    assert few.prototypes.num_rows == 30


def test_rows_without_weight_cannot_be_summarised():
    table = pa.table({"x": [1.0, 2.0], "w": [0.0, 0.0]})
    with pytest.raises(InputError, match="none of the 2 rows has a positive weight in column 'w'"):
        ss.summarize(table, weight="w")


def test_progress_is_told_after_each_batch():
    told = []
    ss.summarize([_table(6000).slice(0, 3000), _table(6000).slice(3000)], random_state=0, progress=told.append)
    assert [each.rows for each in told] == [3000, 6000, 6000]
    assert [each.done for each in told] == [False, False, True]
    assert told[0].mmd is None
    assert told[-1].mmd > 0


def test_history_is_read_at_doublings_whatever_the_batches():
    table = _table(40_000)
    whole = ss.summarize(iter([table]), prototypes=10, criticisms=0, random_state=0)
    parts = ss.summarize((table.slice(i, 777) for i in range(0, 40_000, 777)), prototypes=10, criticisms=0, random_state=0)
    assert [each.rows for each in whole.mmd_path] == [8192, 16_384, 32_768]
    assert whole.mmd_path == parts.mmd_path


def test_values_that_go_missing_on_one_side_name_their_column():
    rng = np.random.default_rng(0)
    first = ss.summarize({"flag": np.zeros(6000, bool), "x": rng.normal(size=6000)}, 10, 2, random_state=0)
    second = ss.summarize({"flag": pa.nulls(6000, pa.bool_()), "x": rng.normal(size=6000)}, like=first, random_state=1)
    assert first.compare(second).changed == ("flag",)


def test_a_column_that_never_changes_carries_no_part_of_a_difference():
    for seed in range(6):
        rng = np.random.default_rng(seed)
        first = ss.summarize({"ok": np.ones(2000), "x": rng.normal(size=2000)}, 5, 0, random_state=0)
        second = ss.summarize({"ok": np.ones(2000), "x": rng.normal(size=2000)}, like=first, random_state=1)
        change = next(each for each in first.compare(second).columns if each.name == "ok")
        assert (change.mmd, change.pvalue, change.share) == (0.0, 1.0, 0.0)


def test_ids_with_gaps_are_ids_whatever_library_they_came_through():
    rng = np.random.default_rng(0)
    ids = pa.array(rng.permutation(30_000)[:3000], mask=np.arange(3000) == 7)
    table = pa.table({"user_id": ids, "x": rng.normal(size=3000)})
    kinds = [[note.kind for note in ss.summarize(source, 5, 0).columns] for source in (table, table.to_pandas())]
    assert kinds == [["id", "number"]] * 2


def test_rows_that_would_lose_digits_are_refused():
    rng = np.random.default_rng(0)
    first = ss.summarize({"x": rng.normal(size=500).astype(np.float32)}, 5, 0, random_state=0)
    with pytest.raises(MismatchError, match=r"column 'x' must be of type float, .* got double.*digits would be lost"):
        ss.summarize({"x": rng.normal(size=500)}, like=first)
    with pytest.raises(MismatchError, match="got string"):
        first.update({"x": ["5"]})
    whole = ss.summarize({"x": rng.normal(size=500), "n": np.arange(500) % 7}, 5, 0, random_state=0)
    more = pa.table({"n": pa.array([1, 2], pa.int8()), "x": pa.array([1.5, 2.5], pa.float32())})
    assert whole.update(more).n_seen == 502  # nothing is lost, and the order of columns is free


def test_tensors_are_vectors_and_come_back_as_tensors():
    pixels = np.random.default_rng(0).integers(0, 255, (300, 4, 4)).astype(np.uint8)
    table = pa.table({"image": pa.FixedShapeTensorArray.from_numpy_ndarray(pixels)})
    made = ss.summarize(table, 5, 2, random_state=0)
    assert [(note.kind, note.width) for note in made.columns] == [("vector", 16)]
    assert made.prototypes.schema.field("image").type == table.schema.field("image").type
    assert made.prototypes.column("image").to_pylist() == table.take(made.prototypes.column("_row")).column("image").to_pylist()


def test_unions_and_text_that_is_none_are_refused():
    x = pa.array(np.arange(5.0) ** 2)
    union = pa.UnionArray.from_sparse(pa.array(np.zeros(5), pa.int8()), [x])
    with pytest.raises(InputError, match="column 'u' must hold values of one type"):
        ss.summarize(pa.table({"x": x, "u": union}))
    broken = pa.StringArray.from_buffers(1, pa.py_buffer(np.array([0, 1], np.int32)), pa.py_buffer(b"\xff"))
    with pytest.raises(InputError, match=r"UTF8|UTF-8"):
        ss.summarize(pa.table({"s": broken}))


def test_what_cannot_be_summarised_says_so_at_once():
    with pytest.raises(InputError, match="none of the 2 rows has a positive weight"):
        ss.summarize({"x": [1.0, 2.0], "w": [0.0, 0.0]}, weight="w")
    held = ss.summarize({"x": [1.0, 2.0, 4.0], "w": [1.0, 1.0, 1.0]}, weight="w")
    with pytest.raises(InputError, match=r"column 'w' must not be negative, got -1\.0 in row 3"):
        held.update({"x": [1.0], "w": [-1.0]})
    assert held.n_seen == 3
    assert "nearer" not in str(held)  # all rows are kept: there is nothing to be nearer than


def test_expectations_of_columns_leave_out_missing_values():
    values = np.random.default_rng(0).normal(3.0, 1.0, 600)
    holes = np.arange(600) % 4 == 0
    table = pa.table({"x": pa.array(values, mask=holes), "when": pa.array(np.arange(600), pa.timestamp("s"))})
    summary = ss.summarize(table, prototypes=60, columns=["x"], random_state=0)
    assert abs(summary.expect("x") - values[~holes].mean()) < 0.2
    kept = summary.prototypes.column("x").to_pylist()
    there = np.array([value is not None for value in kept])
    assert there.sum() < len(kept)
    weights = summary.weights()[there]
    assert summary.expect("x") == pytest.approx(weights @ np.array(kept)[there].astype(float) / weights.sum())
    spans = pa.table({"span": pa.array(np.arange(60), pa.duration("s")), "x": np.arange(60.0)})
    assert ss.summarize(spans, prototypes=60).expect("span") == pytest.approx(29.5)
    with pytest.raises(InputTypeError, match=r"column of numbers, got 'when' of type timestamp\[s\].*to_pandas"):
        summary.expect("when")
    with pytest.raises(InputError, match="weighting must be one of 'simplex', 'uniform', 'profile', got ndarray"):
        summary.expect("x", weighting=np.ones(60))


def test_the_column_of_weights_is_named():
    for options in ({}, {"like": ss.summarize(_table(60), prototypes=4, random_state=0)}):
        with pytest.raises(InputTypeError, match=r"weight must be the name of a column, got ndarray; add the weights"):
            ss.summarize(_table(60), weight=np.ones(60), **options)


def test_columns_may_be_named_by_any_list():
    by_list = ss.summarize(_table(60), prototypes=4, columns=["x", "size"], random_state=0)
    for columns in (np.array(["x", "size"]), pd.Index(["x", "size"]), pd.Series(["x", "size"]), pl.Series(["x", "size"])):
        assert ss.summarize(_table(60), prototypes=4, columns=columns, random_state=0).to_bytes() == by_list.to_bytes()
    weights = {"x": 4.0, "size": 1.0}
    by_dict = ss.summarize(_table(60), prototypes=4, columns=weights, random_state=0)
    assert ss.summarize(_table(60), prototypes=4, columns=pd.Series(weights), random_state=0).to_bytes() == by_dict.to_bytes()


def test_levels_are_shares():
    first = ss.summarize(_table(60), prototypes=4, random_state=0)
    found = first.compare(ss.summarize(_table(60), like=first, random_state=1))
    assert not found.rejects(0.05)
    assert not found.rejects(np.array(0.05))
    for level in (5, -0.1, np.nan):
        with pytest.raises(InputError, match=r"level must lie between 0 and 1, got .*; 5% is 0.05"):
            found.rejects(level)
    for level in (True, "0.05", [0.05], None):
        with pytest.raises(InputTypeError, match=r"level must be a number, got .*; 5% is 0.05"):
            found.rejects(level)


def test_later_rows_may_be_empty_or_of_days():
    days = pa.array([dt.datetime(2024, 1, 1) + dt.timedelta(hours=7 * hour) for hour in range(60)], pa.timestamp("s"))
    first = pa.table({"x": np.arange(60.0), "when": days})
    summary = ss.summarize(first, prototypes=4, random_state=0)
    later = pa.table({"x": pa.nulls(10), "when": pa.array([dt.date(2024, 1, 2)] * 10)})
    assert summary.update(later).n_seen == 70
    zoned = ss.summarize(first.set_column(1, "when", days.cast(pa.timestamp("s", "Europe/Berlin"))), prototypes=4)
    with pytest.raises(MismatchError, match=r"column 'when' must be of type timestamp\[s, tz=Europe/Berlin\].*got date32"):
        zoned.update(later)
    with pytest.raises(MismatchError, match=r"column 'x' must be of type double.*got string"):
        summary.update(pa.table({"x": ["a"], "when": days[:1]}))
    empty = ss.summarize(pa.table({"x": pa.nulls(60), "y": np.arange(60.0)}), prototypes=4, random_state=0)
    with pytest.raises(MismatchError, match=r"column 'x' held nothing but missing values in the rows seen before, and now"):
        empty.update(pa.table({"x": [1.0], "y": [1.0]}))


@pytest.mark.parametrize("n", [5, 10, 50])
def test_the_share_of_a_column_counts_from_the_mean_under_the_null(n):
    """Of n rows at one value and n at another the pooled covariance has the trace MMD^2 n / (2 (2 n - 1))."""
    shares = np.full(n, 1.0 / n)
    mmd, _, beyond = comparing._column_test([np.zeros((n, 1)), np.ones((n, 1))], [shares, shares], [1.0, 1.0])
    assert beyond == pytest.approx(mmd**2 * (1.0 - 1.0 / (2 * n - 1)))
