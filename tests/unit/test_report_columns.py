"""The cards of columns: every figure is that of all rows, checked against the rows themselves."""

import datetime as dt
import math
import re

import numpy as np
import pyarrow as pa
import pytest

import supersample as ss
from report_fakes import fake, mixed_rows, note
from supersample.report.page import render_summary
from supersample.report.view import view_of
from supersample.summary.notes import Note


def cards_of(table, **options):
    return {card.name: card for card in view_of(ss.summarize(table, 30, 5, random_state=0, **options)).cards}


def figures(card):
    return {each.label: each.value for each in card.statistics}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    n_rows = 12_000
    start = dt.datetime(2024, 3, 1)
    return pa.table(
        {
            "region": [
                f"r-{each:02}" for each in np.sort(rng.integers(0, 20, n_rows))
            ],  # sorted: the first rows know one of them
            "price": [f"${value:,.2f}" for value in rng.lognormal(3.0, 1.5, n_rows)],
            "score": pa.array([None if place % 10 == 0 else float(place % 997) for place in range(n_rows)]),
            "stars": rng.integers(1, 6, n_rows),
            "at": [start + dt.timedelta(minutes=place) for place in range(n_rows)],
            "note": [f"note {place} " + "x" * (place % 30) for place in range(n_rows)],
            "gift": rng.choice(["yes", "no"], n_rows),
        }
    )


@pytest.fixture(scope="module")
def cards(rows):
    return cards_of(rows)


def test_frequent_values_are_counted_in_all_rows(rows, cards):
    counts = {each["values"]: each["counts"] for each in rows["region"].value_counts().to_pylist()}
    for bar in cards["region"].bars:
        assert bar.count == f"{counts[bar.value]:,}"
        assert bar.share == counts[bar.value] / len(rows)
    assert [bar.value for bar in cards["region"].bars] == sorted(counts, key=lambda word: -counts[word])[:8]
    assert cards["region"].others == "12 other values"


def test_the_prototypes_are_counted_beside_them(rows):
    summary = ss.summarize(rows, 30, 5, random_state=0)
    card = next(card for card in view_of(summary).cards if card.name == "gift")
    chosen, weights = np.array(summary.prototypes["gift"].to_pylist()), summary.weights()
    told = {bar.value: bar.prototypes for bar in card.bars}
    assert told == pytest.approx({"true": weights[chosen == "yes"].sum(), "false": weights[chosen == "no"].sum()})


def test_numbers_in_text_are_measured_as_numbers(rows, cards):
    values = np.array([float(text[1:].replace(",", "")) for text in rows["price"].to_pylist()])
    told = figures(cards["price"])
    for label, exact in (("median", np.median(values)), ("95%", np.quantile(values, 0.95)), ("mean", values.mean())):
        assert float(told[label].replace(",", "")) == pytest.approx(exact, rel=0.01)
    for label, exact in (("min", values.min()), ("max", values.max()), ("sd", values.std(ddof=1))):
        assert float(told[label].replace(",", "")) == pytest.approx(exact, rel=1e-3)
    assert cards["price"].shape.scale == "Logarithmic scale."
    assert cards["price"].kinds[0] == "stored as text"


def test_missing_distinct_lengths_and_times_are_those_of_all_rows(rows, cards):
    assert figures(cards["score"])["missing"] == "1,200 (10.0%)"
    distinct = figures(cards["score"])["distinct"]
    assert distinct.startswith("about ")
    assert int(distinct.removeprefix("about ").replace(",", "")) == pytest.approx(997, rel=0.07)
    assert figures(cards["stars"])["distinct"] == "5"
    lengths = [len(text) for text in rows["note"].to_pylist()]
    average = sum(lengths) / len(lengths)
    assert figures(cards["note"])["length"] == f"{min(lengths)} to {max(lengths)} characters, {average:.1f} on average"
    assert (figures(cards["at"])["first"], figures(cards["at"])["last"]) == ("2024-03-01", "2024-03-09")


def test_labels_say_what_the_figures_are():
    rng = np.random.default_rng(0)
    years = rng.integers(2018, 2024, 900)
    ratio = rng.normal(0.5, 0.1, 900)
    ratio[:11] = np.inf
    waits = (rng.exponential(20_000, 900) + 100).astype(np.int64)
    cards = cards_of(
        {"year": years + 0.0, "ratio": ratio, "wait": pa.array(waits, pa.duration("ms")), "letter": list("abc") * 300}
    )
    told = figures(cards["year"])
    assert float(told["mean"].replace(",", "")) == pytest.approx(years.mean(), abs=0.006)
    assert told["sd"] == f"{years.std(ddof=1):.3f}"
    assert re.fullmatch(r"Mean of the prototypes: 2,02\d\.\d+\.", cards["year"].prototypes)
    told = figures(cards["ratio"])
    assert (told["infinite"], told["max"]) == ("11 (1.2%)", "infinite")
    assert told["mean of the finite values"] == f"{ratio[11:].mean():.4f}"
    assert told["sd of the finite values"] == f"{ratio[11:].std(ddof=1):.4g}"
    assert "mean" not in told
    told = figures(cards["wait"])
    assert "first" not in told
    assert told["min"] == f"{waits.min() / 1000:g} s"
    assert float(told["mean"].removesuffix(" s")) == pytest.approx(waits.mean() / 1000, rel=1e-3)
    assert float(told["sd"].removesuffix(" s")) == pytest.approx(waits.std(ddof=1) / 1000, rel=1e-3)
    assert cards["wait"].prototypes.endswith(" s.")
    assert figures(cards["letter"])["length"] == "1 character"


def test_few_numbers_stand_by_size_and_times_have_a_shape(cards):
    assert [bar.value for bar in cards["stars"].bars] == list("12345")
    assert cards["stars"].shape is None
    assert sum(cards["at"].shape.first) == pytest.approx(1.0)
    assert not any(cards["at"].shape.second)
    assert "times" in cards["at"].left_out


def test_what_goes_together_says_in_which_sample(rows):
    rng = np.random.default_rng(1)
    x = rng.normal(size=8_000)
    table = pa.table({"x": x, "y": -x + 0.2 * rng.normal(size=8_000), "z": rng.normal(size=8_000)})
    view = view_of(ss.summarize(table, 20, 0, random_state=0))
    links = {card.name: [link.name for link in card.links] for card in view.cards}
    assert links == {"x": ["y"], "y": ["x"], "z": []}
    value = next(card for card in view.cards if card.name == "x").links[0].value
    assert value == pytest.approx(-6 / math.pi * math.asin(1 / math.sqrt(1.04) / 2), abs=0.01)  # Spearman's of a normal pair
    page = render_summary(view)
    assert re.search(r"<bdi>y</bdi></strong> \(rank correlation -0\.98\), in a random sample of 5,000 rows\.", page)


def test_weights_are_said_to_play_no_part_in_the_profile():
    rng = np.random.default_rng(0)
    table = pa.table({"x": rng.normal(size=500), "w": rng.uniform(size=500)})
    said = "Rows count alike here, whatever their weights"
    assert said in render_summary(view_of(ss.summarize(table, 10, 0, weight="w", random_state=0)))
    assert said not in render_summary(view_of(ss.summarize(table, 10, 0, random_state=0)))


def test_notes_of_one_kind_are_folded_and_none_leave_no_section():
    notes = (Note("copies", None, "many copies"), *(Note("constant", f"c{place}", "every value is 7") for place in range(9)))
    table, columns = mixed_rows()
    view = view_of(fake(table, columns, notes=notes))
    assert [(group.kind, len(group.notes)) for group in view.notes] == [("copies", 0), ("constant", 9)]
    assert view.notes[1].words == "9 columns: c0, c1, c2, c3 and 5 more"
    page = render_summary(view)
    assert page.count('id="notes"') == page.count('href="#notes"') == 1
    assert page.count("every value is 7") == 9
    bare = render_summary(view_of(fake(table, columns)))
    assert 'id="notes"' not in bare
    assert 'href="#notes"' not in bare


def test_a_summary_without_a_profile_says_that_its_charts_are_of_a_sample():
    table, columns = mixed_rows()
    view = view_of(fake(table, columns, has_profile=False))
    assert view.cards == ()
    assert [each.name for each in view.distributions] == ["age", "fare", "town", "member", "stops"]
    assert re.match(r"Mean 44\.\d+ in a random sample of 400 rows, [\d.]+ in the prototypes\.", view.distributions[0].words)
    page = render_summary(view)
    assert "did not profile the rows: the charts show a random sample of 400 rows" in page
    assert "all rows" not in page


def test_three_hundred_columns_stay_under_three_megabytes(tmp_path):
    rng = np.random.default_rng(0)
    columns = {}
    for place in range(100):
        columns[f"a_long_name_of_a_number_{place}"] = rng.lognormal(3.0, 1.5, 600)
        columns[f"a_long_name_of_a_category_{place}"] = rng.choice([f"{'value' * 12} {each}" for each in range(9)], 600)
        columns[f"a_long_name_of_a_time_{place}"] = np.datetime64("2024-01-01", "s") + rng.integers(0, 10**7, 600)
    path = ss.summarize(pa.table(columns), 100, 20, random_state=0).report(tmp_path / "page.html")
    assert path.stat().st_size < 3_000_000
    assert path.read_text(encoding="utf-8").count('<li class="card column"') == 300


def test_cards_beyond_the_most_are_counted():
    table = pa.table({f"c{place}": np.arange(40.0) for place in range(510)})
    view = view_of(fake(table, tuple(note(name, "double", "number") for name in table.column_names), 5, 2))
    assert len(view.cards) == 500
    assert "The 500 most informative of 510 columns have a card" in render_summary(view)
