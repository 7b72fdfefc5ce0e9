"""What the page of a summary or of a comparison shows, before it is a page."""

import dataclasses

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import supersample as ss
from report_fakes import MmdPoint, changes, fake, image_rows, mixed_rows, note
from supersample.errors import InputTypeError
from supersample.report.comparison_view import view_of_comparison
from supersample.report.page import render_summary
from supersample.report.view import view_of
from supersample.summary.outcome import said_as_good_as


@pytest.fixture(scope="module")
def mixed():
    return fake(*mixed_rows())


def test_prototypes_come_with_the_largest_share_first(mixed):
    view = view_of(mixed)
    shares = [card.share for card in view.prototypes.cards]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(1.0)
    first = view.prototypes.cards[0]
    place = mixed.prototypes.column("_row").to_pylist().index(first.row)
    assert first.values[2] == mixed.prototypes.column("town")[place].as_py()


def test_criticisms_say_why_with_the_row_of_their_nearest_prototype(mixed):
    cards = view_of(mixed).criticisms.cards
    assert cards[0].why == (
        "Missed: it stands for a group apart that no prototype shows. 2.1% of the data is nearer to this row than to any "
        "prototype. Nearest prototype: row 1,000."
    )
    assert cards[-1].why.startswith("Rare: few rows are like it. ")


def test_few_columns_keep_their_order_and_many_are_led_by_the_telling_ones(mixed):
    names = [column.name for column in view_of(mixed).prototypes.columns]
    assert names == ["age", "fare", "town", "member", "joined", "stops", "remark"]
    rng = np.random.default_rng(0)
    table = pa.table({f"c{place}": rng.normal(size=200) * (50.0 if place == 17 else 1.0) for place in range(20)})
    view = view_of(fake(table, tuple(note(name, "double", "number") for name in table.column_names)))
    assert view.prototypes.columns[0].name == "c17"
    assert len(view.prototypes.columns) == 8
    assert len(view.prototypes.more_columns) == 12


def test_each_column_is_charted_or_spoken_of(mixed):
    cards = {card.name: card for card in view_of(mixed).cards}
    assert list(cards) == ["age", "fare", "town", "member", "joined", "stops", "remark"]
    assert [name for name, card in cards.items() if card.shape] == ["age", "fare", "joined"]
    assert [name for name, card in cards.items() if card.bars] == ["town", "member", "stops"]
    assert not any(cards["joined"].shape.second)  # prototypes are not chosen by a column outside the kernel
    assert cards["remark"].left_out
    assert "length" in {each.label for each in cards["remark"].statistics}
    images = view_of(fake(*image_rows(60, 8)))
    label, image = images.cards[1], images.cards[0]
    assert (label.name, len(label.bars)) == ("label", 3)
    assert [(each.label, each.value) for each in image.statistics][1] == ("length", "64 numbers")
    assert [column.name for column in images.prototypes.columns] == ["label"]
    assert all(len(card.pictures) == 1 for card in (*images.prototypes.cards, *images.criticisms.cards))
    nearest = images.criticisms.cards[2].nearest
    assert nearest == next(card.pictures for card in images.prototypes.cards if card.row == 1_002)


def test_the_map_holds_all_three_kinds_of_rows(mixed):
    view = view_of(mixed)
    assert [(cloud.role, len(cloud.points)) for cloud in view.map.clouds] == [
        ("data", 400), ("prototypes", 30), ("criticisms", 6),
    ]  # fmt: skip
    assert "of its variance" in view.map.words


def test_the_trace_ends_at_the_last_row(mixed):
    assert view_of(mixed).trace.rows[-1] == mixed.n_seen
    short = dataclasses.replace(mixed, mmd_path=(MmdPoint(1_000, 0.1, 0.01, 0.2),))
    assert view_of(short).trace.rows == (1_000, 581_012)
    assert view_of(dataclasses.replace(mixed, mmd_path=())).trace.mmd == (mixed.mmd,)


@pytest.mark.parametrize("value", [0.0, float("nan")])
def test_a_trace_that_cannot_be_drawn_is_said_in_words(mixed, value):
    flat = tuple(MmdPoint(rows, value, value, value) for rows in (1_000, 2_000))
    view = view_of(dataclasses.replace(mixed, mmd_path=flat))
    assert not view.trace.is_drawn
    assert "too few rows to follow" in render_summary(view)
    assert "too few rows to follow" not in render_summary(view_of(mixed))


def test_columns_left_out_are_said_to_be(mixed):
    lines = {line.name: line for line in view_of(mixed).columns}
    assert lines["remark"].counts == "not in the kernel"
    assert lines["age"].counts == "1 number"
    assert "number" in lines["age"].kind


def test_a_summary_without_criticisms_or_certificate(mixed):
    bare = fake(*mixed_rows(40), 10, 0, mmd=float("nan"), mmd_error=float("nan"), energy=float("nan"), n_seen=40)
    view = view_of(bare)
    assert view.criticisms.cards == ()
    assert "nan" not in " ".join(fact.value for fact in (*view.facts, *view.small_print))


def test_what_is_too_much_is_counted_not_shown():
    rng = np.random.default_rng(0)
    table = pa.table({f"c{place}": rng.normal(size=300) for place in range(400)})
    view = view_of(fake(table, tuple(note(name, "double", "number") for name in table.column_names), 250, 5))
    gallery = view.prototypes
    assert (len(gallery.cards), gallery.n_rows) == (200, 250)
    assert len(gallery.columns) + len(gallery.more_columns) + gallery.n_hidden == 400
    assert len(view.cards) == view.n_columns == 400
    old = view_of(
        dataclasses.replace(
            fake(table, tuple(note(name, "double", "number") for name in table.column_names)), has_profile=False
        )
    )
    assert len(old.distributions) == 36
    assert old.not_charted == "The 36 most telling columns are charted; 364 more are not."


def test_a_comparison_says_where():
    left, right = fake(*mixed_rows()), fake(*mixed_rows(seed=1), source="later.parquet")
    left.comparison = changes(left, right)
    view = view_of_comparison(left, right)
    assert view.differs
    assert view.verdict == "The two differ (p = 0.0004)."
    assert "age and fare" in view.meaning
    assert [line.what for line in view.columns] == ["age moved", "fare moved", *["no difference found"] * 4]
    assert [each.name for each in view.distributions][:2] == ["age", "fare"]
    assert sum(len(cloud.points) for cloud in view.map.clouds) == 800
    assert len(view.left_rows.cards) == len(view.right_rows.cards) == 6


def test_a_comparison_made_before_is_used():
    left, right = fake(*mixed_rows()), fake(*mixed_rows(seed=1))
    given = dataclasses.replace(changes(left, right), pvalue=0.5, changed=())
    view = view_of_comparison(left, right, comparison=given)
    assert not view.differs
    assert view.verdict.startswith("No difference found")
    assert view.facts[0].about == "rows.parquet"


def test_columns_that_differ_by_less_than_counts_are_not_said_to_be_alike():
    left, right = fake(*mixed_rows()), fake(*mixed_rows(seed=1))
    given = changes(left, right)
    small = dataclasses.replace(given.columns[1], difference=0.004, pvalue=1.0)
    given = dataclasses.replace(given, at_least=0.01, columns=(given.columns[0], small, *given.columns[2:]), changed=("age",))
    lines = view_of_comparison(left, right, comparison=given).columns
    assert (lines[1].pvalue, lines[1].what) == ("not counted", "its difference, 0.004, is below 0.01")
    assert [each.what for each in lines[2:]] == ["no difference of at least 0.01 found"] * 4


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("pandas.DataFrame", ""), ("dict", ""), ("pyarrow.Table", ""), ("numpy.ndarray", ""), ("the generator", ""),
        ("a list of 3 batches", ""), ("pandas.DataFrame + dict", ""), ("day.parquet", "day.parquet"), ("dict.csv", "dict.csv"),
        ("pandas.DataFrame + day.csv", "pandas.DataFrame + day.csv"), ("3 files", "3 files"),
    ],
)  # fmt: skip
def test_sides_are_called_by_their_files_or_left_and_right(source, name):
    left, right = fake(*mixed_rows(), source=source), fake(*mixed_rows(seed=1), source="later.parquet")
    left.comparison = changes(left, right)
    view = view_of_comparison(left, right)
    assert view.title == f"{name or 'left'} and later.parquet"
    assert view.sides == (f"left: {name}" if name else "left", "right: later.parquet")
    assert view.left == (name or "the left side")
    assert view.facts[0].about == name


def test_sides_are_called_as_asked_for():
    left, right = fake(*mixed_rows()), fake(*mixed_rows(seed=1))
    given = changes(left, right)
    view = view_of_comparison(left, right, comparison=given, names=("week 1", "week 2"))
    assert (view.title, view.sides) == ("week 1 and week 2", ("left: week 1", "right: week 2"))
    for names in ("ab", ("one",), (1, 2)):
        with pytest.raises(InputTypeError, match="names must be two texts"):
            view_of_comparison(left, right, comparison=given, names=names)


def test_a_comparison_of_dependent_rows_says_how_many_count():
    left, right = fake(*mixed_rows()), fake(*mixed_rows(seed=1))
    given = dataclasses.replace(changes(left, right), effective_rows=(517.0, 900.0), dependence=(1.9, 1.0))
    view = view_of_comparison(left, right, comparison=given)
    assert view.facts[0].about == "rows.parquet; jointly about 520, since rows depend on those before them"
    assert view.facts[1].about == "rows.parquet"
    assert ("Rows", "count as fewer") in [(each.label, each.about) for each in view.small_print]


def test_a_real_summary_is_read_whole():
    table = mixed_rows(1_000)[0]
    summary = ss.summarize(table, 25, 7, random_state=0)
    view = view_of(summary)
    assert view.headline == f"25 rows stand for 1,000, {said_as_good_as(summary.as_good_as, 25, 1_000)}."
    for card in (*view.prototypes.cards, *view.criticisms.cards):
        assert card.values[2] == table.column("town")[card.row].as_py()
    assert [line.name for line in view.columns] == table.column_names
    labels = {fact.label for fact in view.small_print}
    assert {"Kernel", "Features"} <= labels
    assert "Bound" not in labels  # MMD is exact
    assert sum(card.share for card in view.prototypes.cards) == pytest.approx(1.0)


def test_a_bound_is_shown_where_mmd_is_not_exact():
    summary = ss.summarize(np.random.default_rng(0).normal(size=(5_200, 1)), 10, random_state=0)
    (fact,) = (fact for fact in view_of(summary).small_print if fact.label == "Bound")
    assert float(fact.value) == pytest.approx(summary.bound(), rel=0.01)
    assert summary.bound() > 1.5 * summary.mmd


def test_a_real_comparison_is_read_whole():
    table = mixed_rows(2_000)[0]
    left = ss.summarize(table, 25, 7, random_state=0)
    same = ss.summarize(mixed_rows(2_000, seed=5)[0], 25, 7, like=left, random_state=1)
    assert view_of_comparison(left, same).verdict.startswith("No difference found")
    older = ss.summarize(table.filter(pc.greater(table["age"], 45)), 25, 7, like=left, random_state=1)
    view = view_of_comparison(left, older)
    assert view.differs
    assert view.columns[0].name == view.distributions[0].name == "age"
    young = [float(card.values[0]) for card in view.left_rows.cards]
    assert max(young) <= 45


def test_kernels_without_frequencies_have_no_bound():
    kernel = ss.kernels.Function(lambda x, y: 1.0 / (1.0 + ((x[:, None] - y[None]) ** 2).sum(axis=2)), "rational")
    summary = ss.summarize(pa.table({"x": np.arange(300.0)}), 10, 2, kernel=kernel, random_state=0)
    view = view_of(summary)
    assert "Bound" not in {fact.label for fact in view.small_print}
    assert "nan" not in view.headline


@pytest.mark.parametrize("n_rows", [1, 2, 5])
def test_almost_no_rows(n_rows, tmp_path):
    view = view_of(ss.summarize(mixed_rows(5)[0].slice(0, n_rows), 3, 2, random_state=0))
    assert len(view.prototypes.cards) == min(3, n_rows)
    assert render_summary(view)


def test_criticisms_name_why_they_were_chosen():
    rng = np.random.default_rng(0)
    ratio, age = rng.normal(0.5, 0.1, 6_000), rng.integers(18, 90, 6_000)
    ratio[rng.choice(6_000, 71, replace=False)] = np.inf
    age[rng.choice(6_000, 5, replace=False)] = -999
    minutes = rng.integers(0, 1_440, 6_000)
    table = {
        "ratio": ratio,
        "age": age,
        "height_cm": np.where(rng.random(6_000) < 0.12, np.nan, rng.normal(172.0, 9.0, 6_000)),
        "t": [f"{each // 60:02}:{each % 60:02}" for each in minutes],
    }
    summary = ss.summarize(table, 20, 12, types={"t": "category"}, random_state=0)
    cards = {card.row: card.unusual for card in view_of(summary).criticisms.cards}
    infinite, marked = ([row for row in cards if odd(row)] for odd in (lambda r: np.isinf(ratio[r]), lambda r: age[r] == -999))
    assert infinite
    assert marked
    assert all(cards[row][0].startswith("ratio is infinite, higher than 98.") for row in infinite)
    assert all(cards[row][0].startswith("age is -999, lower than ") for row in marked)
    assert not any("t is" in words for each in cards.values() for words in each)
