"""Comparison of summaries of which neither was made like the other."""

import json

import numpy as np
import pyarrow as pa
import pytest

import supersample as ss
import web_log
from supersample.errors import MismatchError
from supersample.report import write_comparison

WORDS = ["late", "parcel", "broken", "screen", "thanks", "refund", "again"]


def table(seed, rows=1_500, **columns):
    """Numbers, categories, numbers as text, truth values, vectors and texts; some columns can be replaced."""
    rng = np.random.default_rng([seed, 91])
    made = {
        "x": rng.normal(size=rows),
        "n": rng.integers(0, 900, rows),
        "kind": pa.array(rng.choice(list("abc"), rows).tolist()),
        "price": [f"{value:.2f}" for value in rng.lognormal(size=rows)],
        "flag": rng.random(rows) < 0.3,
        "vector": rng.normal(size=(rows, 3)).tolist(),
        "note": [f"{' '.join(rng.choice(WORDS, 5))} {place}" for place in range(rows)],
    }
    return pa.table(made | columns)


def sides(left, right, **options):
    """Summarise two tables, each by itself."""
    return ss.summarize(left, 20, 3, random_state=0, **options), ss.summarize(right, 20, 3, random_state=1, **options)


def both_ways(left, right):
    """Compare two summaries, and check that it does not matter which is called left."""
    found, turned = left.compare(right), right.compare(left)
    assert (found.pvalue, found.statistic, found.joint.pvalue) == (turned.pvalue, turned.statistic, turned.joint.pvalue)
    assert [(each.name, each.pvalue, each.mmd) for each in found.columns] == [
        (each.name, each.pvalue, each.mmd) for each in turned.columns
    ]
    assert [each.pvalue for each in found.pairs] == [each.pvalue for each in turned.pairs]
    assert found.left_rows.equals(turned.right_rows)
    assert found.right_rows.equals(turned.left_rows)
    return found


def told(found):
    return [(note.kind, note.column) for note in found.notes]


def test_what_changed_is_found_as_among_summaries_made_alike():
    tables = web_log.day(41), web_log.day(41, bad=True, date="2024-05-02")
    left, right = sides(*tables)
    found = both_ways(left, right)
    alike = left.compare(ss.summarize(tables[1], like=left, random_state=1))
    assert "status" in found.changed
    assert set(found.changed) == set(alike.changed)
    assert web_log.broken(found.right_rows).sum() >= 5
    assert found.right_rows.select(tables[1].column_names).equals(tables[1].take(found.right_rows["_row"]))
    assert {each.name: each.what for each in found.columns}["status"].startswith("500 ")
    # Both keep all their rows, so the profiles of samples are those of all rows.
    pvalues = [{each.name: each.pvalue for each in result.columns} for result in (found, alike)]
    for name in alike.changed:
        assert np.log(pvalues[0][name]) == pytest.approx(np.log(pvalues[1][name]), rel=0.2)
    (note,) = found.notes
    assert (note.kind, note.column) == ("made apart", None)
    assert note.text == "the two were not made like each other; nothing is lost, since both keep all their rows"
    assert alike.notes == ()


def test_large_tables_are_compared_by_samples_and_counted_in_all_rows():
    rng = np.random.default_rng(3)

    def day(new, gap):
        kind = rng.choice(list("ab"), 30_000).astype(object)
        kind[rng.random(30_000) < new] = "new"
        x = np.where(rng.random(30_000) < gap, np.nan, rng.normal(size=30_000))
        return pa.table({"x": pa.array(x, from_pandas=True), "kind": pa.array(kind.tolist()), "y": rng.normal(size=30_000)})

    tables = day(0.001, 0.004), day(0.002, 0.007)
    left, right = sides(*tables)
    found = both_ways(left, right)
    # Of 5,000 + 5,000 rows, changes as small as these would hardly ever be found.
    assert set(found.changed) == {"x", "kind"}
    assert "random samples of 5,000 and 5,000 rows, and smaller changes may go unseen" in found.notes[0].text
    assert f"missing {tables[0]['x'].null_count / 30_000:.1%} -> " in {each.name: each.what for each in found.columns}["x"]
    row = next(row for row in found.right_rows.to_pylist() if row["_like"] == "kind 'new'")
    assert row["_count"] == tables[1]["kind"].to_pylist().count("new")


def test_columns_of_one_side_are_named_and_the_others_compared():
    found = both_ways(*sides(table(1).drop_columns(["x"]), table(2, extra=np.arange(1_500.0) % 7)))
    assert told(found) == [("made apart", None), ("only on the right", "x"), ("only on the right", "extra")]
    assert {each.name for each in found.columns} == {"n", "kind", "price", "flag", "vector", "note"}
    assert not found.rejects()
    words = str(found)
    assert "note     x: on the right only, so it is not compared" in words
    assert json.loads(json.dumps(found.to_dict()))["notes"][1] == {
        "kind": "only on the right",
        "column": "x",
        "text": "on the right only, so it is not compared",
    }


def test_many_columns_of_one_side_are_named_together():
    more = {f"more_{place}": np.arange(1_500.0) % 11 for place in range(5)}
    found = both_ways(*sides(table(1, **more), table(2)))
    assert "note     5 columns only on the left: more_0, more_1, more_2 and 2 more" in str(found)


def test_columns_that_the_sides_take_for_different_things_are_not_compared():
    rng = np.random.default_rng(5)
    other = table(
        2,
        x=pa.array(rng.choice(list("abc"), 1_500).tolist()),
        kind=rng.integers(0, 3, 1_500) + 5,
        vector=rng.normal(size=(1_500, 4)).tolist(),
        n=np.arange(1_500),
    )
    found = both_ways(*sides(table(1), other))
    notes = {note.column: note.text for note in found.notes}
    assert notes["x"] == "a number on the left and a category on the right, so it is not compared"
    assert notes["kind"] == "a category on the left and a number on the right, so it is not compared"
    assert notes["vector"] == "its lists differ in length, so it is not compared"
    assert notes["n"].startswith("left out on the right (looks like an id")
    assert {each.name for each in found.columns} == {"price", "flag", "note"}


def test_types_that_hold_the_same_values_are_compared():
    rng = np.random.default_rng(6)
    other = table(
        3,
        x=rng.normal(size=1_500).astype(np.float32),
        n=rng.integers(0, 900, 1_500).astype(float),
        price=rng.lognormal(size=1_500),
        flag=(rng.random(1_500) < 0.3).astype(int),
    )
    found = both_ways(*sides(table(1), other))
    assert told(found) == [("made apart", None)]
    assert len(found.columns) == 7
    assert not found.rejects()
    moved = both_ways(*sides(table(1), other.set_column(3, "price", pa.array(2.0 * rng.lognormal(size=1_500)))))
    assert moved.changed == ("price",)


def test_categories_of_different_types_are_not_compared():
    codes = np.random.default_rng(7).integers(0, 3, 1_500)
    left = ss.summarize(table(1, kind=codes), 20, 3, random_state=0, types={"kind": "category"})
    found = both_ways(left, ss.summarize(table(2), 20, 3, random_state=1))
    assert [str(note) for note in found.notes[1:]] == ["kind: int64 on the left and string on the right, so it is not compared"]


@pytest.mark.parametrize("empty", [pa.nulls(1_500), pa.nulls(1_500, pa.float64())])
def test_a_column_that_became_empty_is_found(empty):
    found = both_ways(*sides(table(1), table(2, x=empty, kind=pa.nulls(1_500, pa.string()))))
    assert set(found.changed) == {"kind", "x"}
    assert {each.name: each.what for each in found.columns}["x"] == "missing 0.0% -> 100.0%"
    assert all("missing" in each for each in found.right_rows["_like"].to_pylist())


def test_a_column_that_was_constant_is_compared():
    found = both_ways(*sides(table(1, kind=pa.array(["a"] * 1_500), n=np.full(1_500, 7)), table(2)))
    assert set(found.changed) == {"kind", "n"}


def test_weights_labels_times_and_kernels():
    rng = np.random.default_rng(8)
    moment = np.datetime64("2024-03-01", "s") + rng.integers(0, 10**6, 1_500).astype("timedelta64[s]")
    weights = {"w": rng.gamma(2.0, size=1_500)}
    left = ss.summarize(table(1, **weights), 20, 3, random_state=0, weight="w")
    right = ss.summarize(table(2, **weights), 20, 3, random_state=1, weight="w", kernel="laplacian")
    found = both_ways(left, right)
    assert not found.rejects()
    assert isinstance(found.kernel, ss.kernels.Gaussian)
    moved = ss.summarize(table(3, x=rng.normal(0.5, 1.0, 1_500)), 20, 3, random_state=2)
    assert told(both_ways(left, moved)) == [("made apart", None), ("only on the left", "w")]
    assert left.compare(moved).changed == ("x",)
    labelled = both_ways(
        ss.summarize(table(1), 20, 3, random_state=0, label="kind", kernel="laplacian"),
        ss.summarize(table(2), 20, 3, random_state=1, kernel="laplacian"),
    )
    assert "kind" in {each.name for each in labelled.columns}
    assert isinstance(labelled.kernel, ss.kernels.Laplacian)
    timed = [ss.summarize(table(1, t=moment), 20, 3, random_state=0, times=each) for each in ("level", "cycle", "ignore")]
    assert "t" in {each.name for each in both_ways(timed[0], ss.summarize(table(2, t=moment), 20, 3, times="level")).columns}
    assert told(both_ways(timed[0], timed[1]))[1:] == [("another type", "t")]
    assert told(both_ways(timed[0], timed[2]))[1:] == [("left out on one side", "t")]


def test_small_tables_and_equal_ones():
    small = both_ways(*sides(table(1, 30), table(2, 12)))
    assert 0.0 < small.pvalue <= 1.0
    same = sides(table(1), table(1))
    assert both_ways(*same).pvalue > 0.5


def test_without_a_column_in_common_there_is_an_error():
    left, right = sides(table(1).select(["x", "n"]), table(2).select(["kind", "flag"]))
    with pytest.raises(MismatchError, match=r"no column that can be compared \(x: on the left only.*like=first"):
        left.compare(right)
    with pytest.raises(MismatchError, match="like=first"):
        left.merge(right)


def test_the_page_shows_what_both_have_and_says_what_not(tmp_path):
    left, right = sides(
        table(1).drop_columns(["n"]), table(2, x=np.random.default_rng(9).normal(1.0, 1.0, 1_500), extra=WORDS[:1] * 1_500)
    )
    for one, other in ((left, right), (right, left)):
        page = write_comparison(one, other, tmp_path / "page.html").read_text()
        assert "the two were not made like each other" in page
        assert "only, so it is not compared" in page
        assert "The two differ" in page
        assert "times as common: x from" in page


def test_summaries_that_differ_only_in_columns_that_do_not_count_are_made_apart(tmp_path):
    same = pa.table({"x": np.arange(40.0) % 7})
    left, right = sides(same, same.append_column("gone", pa.nulls(40, pa.string())))
    assert told(both_ways(left, right)) == [("made apart", None), ("only on the right", "gone")]
    assert "gone" in write_comparison(left, right, tmp_path / "page.html").read_text()


def test_loaded_summaries_are_compared_as_those_they_were_saved_from(tmp_path):
    left, right = sides(table(1), table(2))
    left.save(tmp_path / "left.ss")
    right.save(tmp_path / "right.ss")
    loaded = ss.load(tmp_path / "left.ss").compare(ss.load(tmp_path / "right.ss"))
    assert loaded.to_dict() == left.compare(right).to_dict()


def test_one_value_among_many_is_counted_in_the_samples():
    rng = np.random.default_rng(0)
    tables = [pa.table({"x": np.where(rng.random(20_000) < share, 0.25, rng.random(20_000))}) for share in (0.7, 0.02)]
    first, second = (ss.summarize(each, 10, 0, random_state=place) for place, each in enumerate(tables))
    (change,) = first.compare(second).columns
    gap = float((tables[0]["x"].to_numpy() == 0.25).mean() - (tables[1]["x"].to_numpy() == 0.25).mean())
    assert change.difference == pytest.approx(gap, abs=0.03)
    assert "0.25 " in change.what
    assert change.effective_rows == (5_000.0, 5_000.0)


def test_means_and_spreads_are_those_of_all_rows():
    """Those of the samples differ from them, since the tail is heavy."""
    rng = np.random.default_rng(0)
    left, right = (
        pa.table({"price": rng.lognormal(middle, 1.5, 30_000), "z": rng.normal(size=30_000)}) for middle in (3.0, 3.2)
    )
    found = both_ways(*sides(left, right))
    means = [float(np.mean(side["price"].to_numpy())) for side in (left, right)]
    told = {each.name: each.what for each in found.columns}["price"]
    assert told.startswith(f"mean {means[0]:.3g} -> {means[1]:.3g}")


def test_made_apart_with_old_rows_that_count_less_nothing_is_said_to_be_counted_in_all_rows():
    rng = np.random.default_rng(0)
    sides = [ss.summarize(rng.normal(size=(9_000, 2)), 10, 0, half_life=2_000, random_state=seed) for seed in (1, 2)]
    (note,) = [each for each in sides[0].compare(sides[1]).notes if each.kind == "made apart"]
    assert "everything is compared by random samples" in note.text
    assert "counted in all rows" not in note.text
