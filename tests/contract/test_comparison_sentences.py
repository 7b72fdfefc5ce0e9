"""Every number in the sentences of the page of a comparison, computed again from the data of both sides.

The tables are small, larger than the samples, weighted, merged, made apart, and of rows that depend on each other.
"""

import html
import re

import numpy as np
import pyarrow as pa
import pytest
from scipy.signal import lfilter

import supersample as ss
from supersample._text import about
from supersample.report.comparison_view import view_of_comparison
from supersample.report.page import render_comparison


def table(rows, seed, *, changed=False, dependent=False, weighted=False):
    """A number that moves, a value that is new, values that go missing, a number and a truth value that stay as they are."""
    rng = np.random.default_rng([seed, changed])
    noise = rng.normal(size=(2, rows))
    load, level = lfilter([0.6], [1.0, -0.8], noise, axis=1) if dependent else noise
    kind = rng.choice(["DE", "FR", "US", "CN"], rows, p=[0.5, 0.3, 0.15, 0.05]).astype(object)
    kind[rng.random(rows) < 0.02 * changed] = "BR"
    gap = np.where(rng.random(rows) < (0.06 if changed else 0.01), np.nan, rng.exponential(size=rows))
    columns = {
        "load": load + 0.4 * changed + 30.0, "kind": pa.array(kind.tolist()), "gap": pa.array(gap, from_pandas=True),
        "level": level, "flag": rng.random(rows) < 0.3,
    }  # fmt: skip
    return pa.table(columns | ({"w": rng.gamma(3.0, size=rows)} if weighted else {}))


def in_parts(rows, **options):
    """Summarise a table in two parts, and merge them."""
    first = ss.summarize(rows.slice(0, len(rows) // 3), 20, 0, random_state=0, **options)
    return first.merge(ss.summarize(rows.slice(len(rows) // 3), like=first, random_state=1))


CASES = {
    "small": {"rows": 3_000},
    "larger than the sample": {"rows": 12_000},
    "weighted": {"rows": 3_000, "weighted": True},
    "merged": {"rows": 9_000},
    "made apart": {"rows": 7_000},
    "dependent": {"rows": 6_000, "dependent": True},
    "unchanged": {"rows": 3_000, "changed": False},
    "with a limit": {"rows": 4_000, "at_least": 0.05},
    "below the limit": {"rows": 4_000, "at_least": 0.5},
}


@pytest.fixture(scope="module", params=CASES)
def case(request):
    """Both tables, their comparison, and its page as data and as text."""
    name, options = request.param, dict(CASES[request.param])
    at_least, changed = options.pop("at_least", 0.0), options.pop("changed", True)
    tables = table(seed=1, **options), table(seed=2, changed=changed, **options)
    weight = {"weight": "w"} if options.get("weighted") else {}
    left = in_parts(tables[0]) if name == "merged" else ss.summarize(tables[0], 20, 0, random_state=0, **weight)
    like = {} if name == "made apart" else {"like": left}
    right = ss.summarize(tables[1], *([20, 0] if not like else []), random_state=1, **like, **(weight if not like else {}))
    found = left.compare(right, at_least=at_least)
    view = view_of_comparison(left, right, comparison=found)
    text = re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", "", render_comparison(view))))
    return name, tables, found, view, text


def percents(text):
    return [float(each) for each in re.findall(r"([\d.]+)%", text)]


def weights_of(rows):
    return rows["w"].to_numpy() if "w" in rows.column_names else np.ones(len(rows))


def share(rows, chosen):
    weights = weights_of(rows)
    return float(weights[chosen].sum() / weights.sum())


def test_the_verdict_is_that_of_the_smallest_p_value(case):
    name, _, found, view, text = case
    differs = found.pvalue <= 0.05
    assert differs == (name not in ("unchanged", "below the limit")) == view.differs
    limit = {"with a limit": " of at least 0.05", "below the limit": " of at least 0.5"}.get(name, "")
    assert view.verdict.startswith("The two differ (p" if differs else f"No difference{limit} found")
    said = re.search(r"\(p (?:= ([\d.e-]+)|< 0.0001)\)", view.verdict)
    assert (said is None) == (view.facts[3].value == "none") == (name == "below the limit")
    if said is not None:
        assert found.pvalue == pytest.approx(float(said[1]), rel=0.06) if said[1] else found.pvalue < 1e-4
    assert min(each.pvalue for each in found.columns) >= found.pvalue
    assert view.verdict in text
    assert view.meaning in text


def test_what_the_verdict_means_names_the_columns_and_the_limit(case):
    name, _, found, view, _ = case
    named = re.search(r"columns that differ by themselves: ([^.]*)\.", view.meaning)
    assert (set(re.split(", | and ", named[1])) if named else set()) == set(found.changed)
    if view.differs:
        assert "load" in found.changed
        assert name == "with a limit" or {"kind", "gap"} <= set(found.changed)
    assert ("p-values of those that count are those of no difference at all" in view.meaning) == (found.at_least > 0)
    less = re.search(r"differ clearly, but by less: (.*)\.$", view.meaning)
    told = dict(each.rsplit(" ", 1) for each in re.split(", | and ", less[1])) if less else {}
    assert set(told) == {"with a limit": {"kind"}, "below the limit": {"load", "kind", "gap"}}.get(name, set()) - set(
        found.changed
    )
    for column in found.columns:
        if column.name in told:
            assert float(told[column.name]) == pytest.approx(column.difference, rel=0.05)
            assert column.difference < found.at_least
    assert ("so chance can explain" in view.meaning) == (name == "unchanged")


def test_the_facts_are_those_of_the_tables(case):
    name, tables, found, view, _ = case
    for side, fact in enumerate(view.facts[:2]):
        assert fact.value == f"{len(tables[side]):,}"
        counted = f"jointly about {about(found.effective_rows[side])}, since rows depend on those before them"
        assert fact.about == (counted if name == "dependent" else "")
        if (
            name == "dependent"
        ):  # a series of correlation 0.8 counts for (1 - 0.8) / (1 + 0.8) of its rows, all columns for more
            assert len(tables[side]) / 9 < found.effective_rows[side] < len(tables[side])
    assert view.facts[2].value == f"{found.mmd:.3g}"
    assert (view.title, view.sides) == ("left and right", ("left", "right"))


def test_each_column_has_its_own_difference_and_verdict(case):
    name, tables, found, view, text = case
    assert {line.name for line in view.columns} == {"load", "kind", "gap", "level", "flag"}
    for line, column in zip(view.columns, found.columns, strict=True):
        assert line.changed == (column.pvalue <= 0.05)
        if column.difference < found.at_least:
            assert (line.pvalue, line.changed) == ("not counted", False)
            assert line.what == f"its difference, {column.difference:.2g}, is below {found.at_least:g}"
        elif not line.changed:
            assert line.what == f"no difference{f' of at least {found.at_least:g}' if found.at_least else ''} found"
        assert f"{line.name}{line.difference}{line.pvalue}{line.what}" in text
    line = next(each for each in view.columns if each.name == "kind")
    shares = [
        {each: share(side, side["kind"].to_numpy() == each) for each in ("DE", "FR", "US", "CN", "BR")} for side in tables
    ]
    largest = max(abs(shares[1][each] - shares[0][each]) for each in shares[0])
    assert float(line.difference) == pytest.approx(largest, rel=0.02 if name == "weighted" else 0.01)
    if name != "weighted":
        line = next(each for each in view.columns if each.name == "load")
        cuts = np.quantile(np.concatenate([each["load"].to_numpy() for each in tables]), np.linspace(0, 1, 400))
        ends = [np.searchsorted(np.sort(each["load"].to_numpy()), cuts) / len(each) for each in tables]
        assert float(line.difference) == pytest.approx(np.ptp([0.0, *(ends[0] - ends[1])]), abs=0.02)
        assert "of a value, of a range of numbers, of missing values, or of all values that only one side has" in text


def test_cards_say_what_all_rows_hold(case):
    name, tables, _, view, text = case
    cards = {each.name: each for each in view.distributions}
    whole = len(tables[0]) <= 5_000 and len(tables[1]) <= 5_000
    assert all(each.counted == (name != "weighted") for each in cards.values())
    rows = "all rows" if name != "weighted" else "all 3,000 rows on the left and all 3,000 rows on the right"
    assert f"The charts, and the means and shares below them, are those of {rows}." in text
    exact = 0.06 if whole or name != "weighted" else 2.0
    for column in ("load", "level", "gap"):
        said = re.match(r"Mean (\S+) on the left, (\S+) on the right\.", cards[column].words)
        for number, side in zip(said.groups(), tables, strict=True):
            values, weights = side[column].to_numpy(), weights_of(side)
            there = ~np.isnan(values)
            mean = float(values[there] @ weights[there] / weights[there].sum())
            assert float(number) == pytest.approx(mean, rel=6e-4, abs=1e-6)
    missing = percents(cards["gap"].words)
    assert missing == pytest.approx([100 * share(each, np.isnan(each["gap"].to_numpy())) for each in tables], abs=exact)
    value, first, second = re.match(
        r"Most unlike at (\w+): (\S+) on the left, (\S+) on the right", cards["kind"].words
    ).groups()
    for said, side in zip((first, second), tables, strict=True):
        assert percents(said)[0] == pytest.approx(100 * share(side, side["kind"].to_numpy() == value), abs=exact)
    if name != "unchanged":
        assert value == "BR"
        assert "BR" in cards["kind"].labels
    place = cards["flag"].labels.index("true")
    shares = cards["flag"].first[place], cards["flag"].second[place]
    assert shares == pytest.approx([share(each, each["flag"].to_numpy(zero_copy_only=False)) for each in tables], abs=1e-9)
    for column in ("load", "level"):
        edges = np.array(cards[column].edges)
        edges[0], edges[-1] = -np.inf, np.inf
        for drawn, side in zip((cards[column].first, cards[column].second), tables, strict=True):
            counts = np.histogram(side[column].to_numpy(), edges, weights=weights_of(side))[0]
            assert drawn == pytest.approx(counts / weights_of(side).sum(), abs=0.002)


def test_rows_are_counted_and_their_absence_is_explained(case):
    name, tables, found, view, text = case
    for rows, gallery, mine, other, side in (
        (found.left_rows, view.left_rows, *tables, "left"),
        (found.right_rows, view.right_rows, *tables[::-1], "right"),
    ):
        assert len(gallery.cards) == len(rows)
        if not len(rows):
            why = {
                "unchanged": "None are shown: no difference was found, so any that stood out here would do so by chance.",
                "below the limit": "None are shown: no difference of at least 0.5 was found, and smaller ones were not to "
                "count.",
            }.get(name, f"No kind of row was found that is clearly more common in the {side} side.")
            assert why in text
        for row, card in zip(rows.to_pylist(), gallery.cards, strict=True):
            said = re.fullmatch(
                r"Rows like it are (?:about ([\d.,]+) times as common|not seen on the other side|"
                r"not seen in the sample of the other side \(fewer than about [\d,]+ rows\)): (.*) "
                r"\((about |)([\d,]+) rows?(?:, against ([\d,]+))?\)\.",
                card.why,
            )
            assert said[2] == row["_like"]
            whole = name != "weighted" and len(mine) <= 5_000
            assert (said[3] == "") == (row["_known"] == "exact")
            assert row["_known"] == "exact" or not whole
            assert ("in the sample of" in card.why) == (row["_known"] == "not seen")
            value = re.fullmatch(r"kind '(\w+)'", row["_like"])
            gone = row["_like"] == "gap missing"
            if value is None and not gone:
                continue
            here, there = (
                np.isnan(each["gap"].to_numpy()) if gone else each["kind"].to_numpy() == value[1] for each in (mine, other)
            )
            counts = [share(mine, here) * len(mine), share(other, there) * len(other)]
            exact = 1e-9 if row["_known"] == "exact" else 0.06
            assert float(said[4].replace(",", "")) == pytest.approx(counts[0], rel=exact, abs=10 * exact)
            assert (said[1] is None) == (not there.any())
            if said[1] is not None:
                assert float(said[5].replace(",", "")) == pytest.approx(counts[1], rel=exact, abs=10 * exact)
                assert float(said[1]) == pytest.approx((counts[0] + 0.5) / (counts[1] + 0.5), rel=0.15)
    if "kind" in found.changed:
        assert "kind 'BR'" in " ".join(found.right_rows["_like"].to_pylist())
