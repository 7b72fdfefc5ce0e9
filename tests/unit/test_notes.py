"""Notes on a table: what is said, and that it is so."""

import numpy as np
import pyarrow as pa
import pytest

import supersample as ss

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
        (["US", "us", " US", "DE"] * 150, "mixed case",
         "values differ only in case or spaces, and count as different: ' US', 'US', 'us'"),
        (np.where(np.arange(600) % 9 == 0, -999.0, X), "far value",
         "at least 65 rows have the value -999.0, far from the others: does it stand for a missing one?"),
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
    (note,) = ss.summarize(twice, 5, 0, random_state=0).notes
    assert note.kind == "copies"
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
    assert summary.expect("price") == pytest.approx(np.mean(held))
