"""Notes on a table: what is said, and that it is so."""

import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from sklearn.datasets import load_digits

import supersample as ss
from supersample.cli.describing import columns_text

RNG = np.random.default_rng(0)
X = RNG.normal(size=600)


def said(column, **options):
    summary = ss.summarize({"c": column, "x": X[: len(column)]}, 5, 0, random_state=0, **options)
    return {note.kind: note.text for note in summary.notes if note.column == "c"}


@pytest.mark.parametrize(
    ("column", "kind", "text"),
    [
        (np.full(600, 7.5), "constant", "every value is 7.5"),
        (pa.array(["web"] * 500 + [None] * 100), "constant", "every value is 'web', where there is one"),
        (["web"] * 599 + ["app"], "nearly constant", "99.83% of the rows have the value 'web'"),
        (pa.nulls(600, pa.string()), "empty", "holds no value at all"),
        (pa.array([None] * 90 + [*X[:510]]), "many missing", "15% of the rows have no value"),
        (pa.array([None] * 599 + [1.0]), "many missing", "99.83% of the rows have no value"),
        (["US", "us", " US", "DE"] * 150, "mixed case",
         "values differ only in case or spaces, and count as different: ' US', 'US', 'us'"),
        (np.where(np.arange(600) % 9 == 0, -999.0, X), "far value",
         "at least 65 rows have the value -999.0, far from the others: does it stand for a missing one?"),
        (np.where(np.arange(600) % 50 == 0, np.inf, X), "infinite values",
         "12 of 600 rows have an infinite value; mean and standard deviation are those of the finite ones"),
        (np.where(np.arange(600) == 7, -np.inf, np.arange(600) % 9), "infinite values",
         "1 of 600 rows has an infinite value; mean and standard deviation are those of the finite ones"),
        (list(range(600)), "id",
         "looks like an id: nearly every value differs, and they run upwards; it takes no part in the choice of rows"),
    ],
)  # fmt: skip
def test_what_is_said(column, kind, text):
    assert said(column)[kind] == text


def test_a_lump_far_away_is_no_heavy_tail_and_a_tail_is():
    assert "heavy tail" not in said(np.where(np.arange(600) % 9 == 0, -999.0, X))
    assert "heavy tail" in said(RNG.pareto(1.1, 600))
    values = np.exp(1.5 * RNG.normal(size=600))
    found = said(values)["heavy tail"]
    end = float(found.split(" are at ")[1].split(" or above")[0])
    assert (values >= end * 0.99).mean() == pytest.approx(0.01, abs=0.004)
    assert not said(X)
    waits = pa.array(np.where(np.arange(600) % 9 == 0, 10**9, (1000 * X).astype(np.int64)), pa.duration("ms"))
    assert not {"heavy tail", "far value"} <= said(waits).keys()  # durations have notes, too


def test_a_mark_in_one_row_of_75_is_found_among_many_values():
    """Its exact count is not known: 30,000 rows have more values than are counted."""
    column = RNG.gamma(2.0, 3.0, size=30_000)
    column[RNG.choice(30_000, 400, replace=False)] = -999.0
    found = {note.kind: note.text for note in ss.summarize({"c": column}, 5, 0, random_state=0).notes}
    count = int(found["far value"].split()[2])
    assert found["far value"].startswith("at least ")
    assert 100 < count <= 400
    assert "heavy tail" not in found


def test_the_end_of_a_scale_is_no_far_value():
    pixels = load_digits().data[:, 14]  # mostly 0; 23 of 1,797 are 16, and others lie between
    assert "far value" not in said(pixels[:600])
    assert "far value" not in said(pixels[600:1_200] / 16.0)
    both = np.where(np.arange(600) % 9 == 0, -999.0, np.where(np.arange(600) % 9 == 1, 9999.0, X))
    assert "far value" in said(both)


def test_infinite_values_are_not_called_far_ones():
    few = np.where(np.arange(600) % 20 == 0, np.inf, np.arange(600) % 7)
    assert "far value" not in said(few)
    assert said(np.where(np.arange(600) % 20 == 1, 9999, few))["far value"].startswith("30 rows have the value 9999.0")


def test_unreadable_text_is_not_called_missing():
    cells = np.where(np.arange(600) % 33 == 0, "bad", [f"{each:.2f}" for each in 100 + X]).astype(object)
    cells[:50] = None  # 8.3%, and 2.8% that cannot be read
    summary = ss.summarize({"c": pa.array(cells.tolist(), pa.string()), "x": X}, 5, 0, random_state=0)
    found = {note.kind: note.text for note in summary.notes}
    assert "many missing" not in found
    assert re.search(r"\nc +number +533 +50 +", columns_text(summary))
    assert found["read in part"].endswith("17 values could not be, and count as missing in the kernel")
    cells[:70] = None
    assert said(pa.array(cells.tolist(), pa.string()))["many missing"] == "11.7% of the rows have no value"


def test_a_label_in_the_kernel_is_pointed_out_once():
    table = {"x": X, "target": RNG.choice(["a", "b"], 600)}
    kinds = [note.kind for note in ss.summarize(table, 5, 0, random_state=0).notes]
    assert kinds == ["label in the kernel"]
    assert [note.kind for note in ss.summarize(table, 5, 0, label="target", random_state=0).notes] == ["left out"]


def test_copies_and_vectors_are_pointed_out():
    vectors = pa.array(RNG.normal(size=(600, 8)).tolist())
    table = {"v": vectors, "x": X, "a": X**2, "b": np.abs(X)}
    (note,) = ss.summarize(table, 5, 0, random_state=0).notes
    assert (note.kind, note.column) == ("vector outweighed", "v")
    twice = {"x": np.repeat(X[:300], 2)}
    dependent, note = ss.summarize(twice, 5, 0, random_state=0).notes
    assert (dependent.kind, note.kind) == ("dependent rows", "copies")
    assert note.text.startswith("100% of all 600 rows have a twin among them")


def test_a_label_that_changed_is_part_of_the_verdict():
    rows = RNG.normal(size=2_000)
    first = ss.summarize({"x": rows, "y": RNG.random(2_000) < 0.15}, 10, 0, label="y", random_state=0)
    same = ss.summarize({"x": rows[::-1], "y": RNG.random(2_000) < 0.15}, like=first, random_state=1)
    other = ss.summarize({"x": rows[::-1], "y": RNG.random(2_000) < 0.4}, like=first, random_state=1)
    assert first.compare(same).pvalue > 0.05
    found = first.compare(other)
    assert found.changed == ("y",)
    assert found.pvalue < 1e-20
    assert "they differ" in str(found)


def test_the_mean_of_a_column_of_text_that_holds_numbers():
    table = pa.table({"price": [f"${value:,.2f}" for value in np.exp(X + 6.0)], "x": X})
    summary = ss.summarize(table, 40, 0, random_state=0)
    held = [float(text.replace("$", "").replace(",", "")) for text in summary.prototypes["price"].to_pylist()]
    assert summary.expect("price") == pytest.approx(summary.weights() @ np.array(held))


def test_long_texts_that_were_cut_are_not_said_to_be_alike():
    address = "https://example.org/" + "p" * 220 + "/"
    assert "mixed case" not in said([address + each for each in ("red", "green", "blue")] * 200)


def test_a_column_with_more_values_than_the_rows_learned_from_is_told():
    later = np.arange(12_000) >= 6_000
    values = {
        "constant": np.where(later, np.arange(12_000) % 997, 7),
        "two": np.where(later, np.arange(12_000) % 10, [0, 1] * 6_000),
        "flag": np.where(later, np.arange(12_000) % 2, 0),
    }
    rows = pa.table({**values, "x": np.random.default_rng(0).normal(size=12_000)})
    summary = ss.summarize(iter(rows.to_batches(max_chunksize=1_000)), 5, 0, random_state=0)
    found = {note.column: note.text for note in summary.notes if note.kind == "unlike the rows learned from"}
    assert found["constant"].startswith("had one value in the rows learned from, and has about ")
    assert found["two"] == (
        "had 0 and 1 alone in the rows learned from, and has 10 different values in all; types={'two': 'number'} lets them "
        "count as a number"
    )
    assert found["flag"].endswith("2 different values in all; types={'flag': 'boolean'} lets them count as a boolean")
    types = {"constant": "number", "two": "number", "flag": "boolean"}
    corrected = ss.summarize(iter(rows.to_batches()), 5, 0, types=types, random_state=0)
    assert "unlike the rows learned from" not in {note.kind for note in corrected.notes if note.column in ("two", "flag")}


@pytest.mark.parametrize("seed", range(6))
def test_two_far_halves_of_a_table_are_no_change(seed):
    rng = np.random.default_rng(seed)
    halves = np.where(rng.random(20_000) < 0.5, 0, 100) + rng.normal(0, 0.1, 20_000)
    summary = ss.summarize({"c": halves, "x": rng.normal(size=20_000)}, 5, 0, random_state=0)
    assert "unlike the rows learned from" not in {note.kind for note in summary.notes}


def piped(values, order, **options):
    """Return the notes about c of a stream in this order, cut into batches of 900 rows."""
    table = pa.table({"c": values, "x": np.random.default_rng(1).normal(size=len(order))}).take(pa.array(order))
    summary = ss.summarize(iter(table.to_batches(max_chunksize=900)), 5, 0, random_state=0, **options)
    return summary, [note.text for note in summary.notes if (note.kind, note.column) == ("unlike the rows learned from", "c")]


@pytest.mark.parametrize("form", ["place {}", "a note of {} and more words than four"])
def test_a_stream_sorted_by_a_category_or_text_is_told(form, tmp_path):
    codes = np.random.default_rng(0).integers(0, 20, 7_500)
    first = np.sort(codes)[:5_000].max()
    summary, (told,) = piped([form.format(code) for code in codes], np.argsort(codes, kind="stable"))
    share = int(re.match(r"about (\d+)% of the rows have values that the first 5,000 rows did not have", told)[1]) / 100
    assert share == pytest.approx((codes > first).mean(), abs=0.03)
    assert f"(these had {first + 1} values)" in told
    summary.save(tmp_path / "kept.ss")
    assert ss.load(tmp_path / "kept.ss").notes == summary.notes


def test_a_stream_in_no_order_and_a_sorted_table_are_not_told_to_be_sorted():
    codes = np.random.default_rng(0).integers(0, 20, 5_400)
    values, order = [f"place {code}" for code in codes], np.argsort(codes, kind="stable")
    assert piped(values, np.arange(5_400))[1] == []
    table = pa.table({"c": values}).take(pa.array(order))
    assert not any(note.kind == "unlike the rows learned from" for note in ss.summarize(table, 5, 0, random_state=0).notes)


def test_a_stream_of_values_that_are_nearly_all_different_is_not_told_to_be_sorted():
    values = pa.array([f"{7919 * place % 6_000:05d}x" for place in range(7_000)])
    assert piped(values, np.arange(7_000), types={"c": "category"})[1] == []


def test_first_values_of_a_forged_file_are_refused():
    encoding = piped(["a", "b"] * 300, np.arange(600))[0]._fixed().encoding
    schema = pa.schema([("c", pa.string()), ("x", pa.float64())])
    for forged in ((("c", (1 << 63,)),), (("c", tuple(range(300))),), (("z", (1,)),)):
        with pytest.raises(ss.errors.InputError, match="an encoding must know"):
            replace(encoding, first=forged).check(schema)
