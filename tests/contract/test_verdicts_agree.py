"""The verdict, the list of columns, the words, the JSON, the rows and the page of one comparison say the same."""

import html
import json
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import supersample as ss
from supersample.cli.group import group
from supersample.report.comparison_view import view_of_comparison
from supersample.report.page import render_comparison, render_summary
from supersample.report.view import view_of
from supersample.summary.summary import compared_at


def normal(seed, rows=1_200, moved=0.0):
    """A number that moves a little, and one that does not."""
    rng = np.random.default_rng(seed)
    return pa.table({"load": rng.normal(size=rows) + moved, "level": rng.normal(size=rows)})


def agree(found, left, right):
    """Fail unless everything that is said of a comparison follows from its p-values and its level."""
    differs = found.pvalue <= found.level
    named = [each.name for each in found.columns if each.pvalue <= found.level]
    plain, view = found.to_dict(), view_of_comparison(left, right, comparison=found)
    page = re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", "", render_comparison(view))))
    assert found.rejects(found.level) == plain["differs"] == view.differs == differs
    assert (" rows: they differ at the " in str(found)) == view.verdict.startswith("The two differ") == differs
    assert view.verdict in page
    assert list(found.changed) == plain["changed"] == [line.name for line in view.columns if line.changed] == named
    assert bool(named) <= differs
    assert not set(named) & set(found.smaller)
    assert all(each.what for each in found.columns)
    assert all(f"  {each.name}" in str(found) and each.what in str(found) for each in found.columns if each.name in named)
    assert plain["pairs"] == [] or differs
    assert differs or found.left_rows.num_rows == found.right_rows.num_rows == 0
    return view


@pytest.mark.parametrize("level", [0.001, 0.3])
def test_the_shell_the_json_and_the_page_have_the_level_that_was_asked_for(tmp_path, level):
    for name, table in (("a", normal(5)), ("b", normal(6, moved=0.17))):
        pq.write_table(table, tmp_path / f"{name}.parquet")
    sides = str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet")
    options = ["--seed", "1", "--level", str(level), "--quiet"]
    page = tmp_path / "page.html"

    def run(*more):
        ran = CliRunner().invoke(group, ["compare", *sides, *options, *more])
        assert ran.exit_code in (0, 1), ran.output
        return ran

    said, drift = run("--report", str(page)).output, run("--fail-on-drift").exit_code == 1
    found = json.loads(run("--json").stdout)
    assert 0.001 < found["pvalue"] <= 0.05
    differs = level > 0.001
    assert found["differs"] == drift == ("they differ at the" in said) == ("The two differ (p" in page.read_text()) == differs
    assert found["changed"] == (["load"] if differs else [])
    assert found["level"] == level
    assert bool(found["right_rows"]) == ("Rows that are more common in" in said) <= differs


def test_no_row_and_no_column_is_shown_at_a_level_that_is_not_reached():
    left = ss.summarize(normal(5), 10, 0, random_state=0)
    right = ss.summarize(normal(6, moved=0.17), like=left, random_state=1)
    found = compared_at(left, right, 0.0, 0.001)
    agree(found, left, right)
    assert 0.001 < found.pvalue <= 0.05
    assert left.compare(right).right_rows.num_rows > 0 == found.right_rows.num_rows


@pytest.mark.parametrize("at_least", [0.0, 0.1, 0.51, 0.8])
def test_a_table_of_one_column_is_changed_or_smaller_and_never_both(at_least):
    # MMD is about 0.53, the largest difference of two shares 0.49: at 0.51 the joint test counts, and that of the column not.
    rng = np.random.default_rng(1)
    left = ss.summarize(pa.table({"x": rng.normal(size=3_000)}), 10, 0, random_state=0)
    right = ss.summarize(pa.table({"x": rng.normal(size=3_000) + 1.3}), like=left, random_state=1)
    found = left.compare(right, at_least=at_least)
    agree(found, left, right)
    assert found.columns[0].difference < 0.51 < found.mmd
    assert found.changed == (("x",) if at_least < 0.5 else ())
    assert found.smaller == (() if at_least < 0.5 else ("x",))
    assert found.rejects() == (at_least < 0.8)


def decayed(seed, gone):
    """Rows of which the first half lacks `gone` of a column, and the second half a hundredth; old rows count for nothing."""
    rng = np.random.default_rng(seed)
    shares = np.repeat([gone, 0.01], 4_500)
    gap = np.where(rng.random(9_000) < shares, np.nan, rng.normal(size=9_000))
    return pa.table({"gap": pa.array(gap, from_pandas=True), "load": rng.normal(size=9_000)})


def test_what_has_decayed_is_shown_nowhere():
    left = ss.summarize(decayed(1, 0.4), 10, 0, random_state=0, half_life=300)
    right = ss.summarize(decayed(2, 0.01), like=left, random_state=1)
    view = agree(left.compare(right), left, right)
    assert not view.differs
    cards = {each.name: each for each in view.distributions}
    assert not any(each.counted for each in cards.values())
    missing = [float(each) for each in re.findall(r"([\d.]+)%", cards["gap"].words)]
    assert max(missing, default=0.0) < 4.0  # of all rows it would be 20% on the left
    # The page of one summary has all rows, and says that they count alike there.
    assert "Rows count alike here, whatever their weights" in render_summary(view_of(left))


def test_rows_that_show_a_change_count_as_the_verdict_does():
    # The first rows of the left have a value that is gone since; those that still count have it as often as the right does.
    def made(seed, early, late):
        rng = np.random.default_rng(seed)
        kind = np.where(rng.random(9_000) < np.repeat([early, late], 4_500), "new", "old")
        return pa.table({"kind": pa.array(kind.tolist()), "load": rng.normal(size=9_000)})

    left = ss.summarize(made(3, 0.9, 0.02), 10, 0, random_state=0, half_life=300)
    right = ss.summarize(made(4, 0.02, 0.5), like=left, random_state=1)
    found = left.compare(right)
    agree(found, left, right)
    assert found.changed == ("kind",)
    told = [row for row in found.right_rows.to_pylist() if row["_like"] == "kind 'new'"]
    assert told
    assert told[0]["_ratio"] > 5  # of all rows there are more on the left


def test_random_rows_are_as_many_as_the_points_that_mmd_is_of():
    rng = np.random.default_rng(0)
    data, before = rng.normal(size=(4_000, 2)), rng.normal(size=(60, 2))
    alone = ss.SuperSampler(80, random_state=0).fit(data)
    more = ss.SuperSampler(20, include=before, random_state=0).fit(data)
    assert len(more.weights_) + len(more.include_weights_) == 80
    assert more.random_mmd_ == pytest.approx(alone.random_mmd_, rel=0.2)
    few = ss.SuperSampler(20, random_state=0).fit(data)
    assert few.random_mmd_ > 1.5 * more.random_mmd_


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_beyond_the_sample_change_the_verdict_and_its_words_together(weighted):
    # 9,000 rows a side, of which samples hold 5,000: a value is new in 1% of them, and another column loses 3%.
    def made(seed, new, gone):
        rng = np.random.default_rng([seed, 9])
        kind = np.where(rng.random(9_000) < new, "new", "old")
        gap = np.where(rng.random(9_000) < gone, np.nan, rng.normal(size=9_000))
        columns = {"kind": pa.array(kind.tolist()), "gap": pa.array(gap, from_pandas=True), "calm": rng.normal(size=9_000)}
        return pa.table(columns | ({"w": rng.gamma(4.0, size=9_000)} if weighted else {}))

    options = {"weight": "w"} if weighted else {}
    left = ss.summarize(made(1, 0.0, 0.01), 10, 0, random_state=0, **options)
    right = ss.summarize(made(2, 0.01, 0.04), random_state=1, like=left)
    found = left.compare(right)
    agree(found, left, right)
    assert set(found.changed) == {"kind", "gap"}
    told = {each["_like"]: each for each in found.right_rows.to_pylist()}
    assert {"kind 'new'", "gap missing"} <= set(told)
    assert told["gap missing"]["_count"] > 3 * told["gap missing"]["_other"]


@pytest.mark.parametrize("size", [340, 2_050])
def test_what_is_said_of_many_prototypes_is_so(size):
    data = np.random.default_rng(4).normal(size=(2_400, 3))
    summary = ss.summarize(data, size, 0, random_state=0)
    plain, said = summary.to_dict(), str(summary)
    points, weights, view = summary.encode(data), summary.weights(), view_of(summary)
    chosen = points[summary.prototypes["_row"].to_numpy()]
    weighted, equal = (np.sqrt(ss.mmd2(chosen, points, kernel=summary.kernel, weight_x=each)) for each in (weights, None))
    assert len(chosen) == plain["n_prototypes"] == size
    assert said.startswith(f"{size:,} rows stand for 2,400 of ")
    assert weighted < equal
    assert (plain["mmd"], plain["uniform_mmd"]) == pytest.approx((weighted, equal), rel=1e-3)
    numbers = re.search(r"MMD +(\S+) .*; (\S+) with equal weights; (\S+) for ([\d,]+) random rows", said)
    assert [float(each.replace(",", "")) for each in numbers.groups()] == pytest.approx(
        [weighted, equal, plain["random_mmd"], size], rel=6e-3
    )
    shown = {each.label: each.value for each in view.small_print}
    assert float(shown["MMD of equal weights"]) == pytest.approx(equal, rel=6e-3)
    np.testing.assert_array_equal(summary.prototypes["_weight"].to_numpy(), weights)
