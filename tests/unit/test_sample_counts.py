"""Counts of samples whose rows have weights: as weighted shares, and as rows whose number says how sure they are."""

import numpy as np
import pyarrow as pa
import pytest

import supersample as ss
from supersample.discrepancy.count_tests import compare_shares
from supersample.summary.column_counts import column_counts
from supersample.summary.comparing import drained

N = 3_000


def made(seed, *, gap=0.01, new=0.0, rare=0.05, weighed="gamma", rows=N):
    """A number with gaps, a category that may have a new value, and one of which a value may become more frequent."""
    rng = np.random.default_rng([seed, 88])
    kind = rng.choice(list("abcd"), rows).astype(object)
    kind[rng.random(rows) < new] = "new"
    group = rng.choice(list("vw"), rows, p=[1.0 - rare, rare])
    weights = rng.gamma(2.0, size=rows) if weighed == "gamma" else np.where(group == "w", 12.0, 1.0)
    gaps = np.where(rng.random(rows) < gap, np.nan, rng.normal(size=rows))
    columns = {"gap": pa.array(gaps, from_pandas=True), "kind": pa.array(kind.tolist()), "group": pa.array(group.tolist())}
    return pa.table(columns | {"calm": rng.normal(size=rows), "weight": weights})


def summarized(first, second):
    left = ss.summarize(first, 10, 0, weight="weight", random_state=0)
    return left, ss.summarize(second, like=left, random_state=1)


def counts_of(left, right):
    states = left._ready().settled, right._ready().settled
    return column_counts(states, (None, None), (drained(states[0]), drained(states[1])))


@pytest.mark.parametrize("rows", [N, 9_000])
def test_each_planted_change_of_weighted_rows_is_named_with_its_shares(rows):
    tables = made(1, rows=rows), made(2, gap=0.05, new=0.015, rare=0.09, rows=rows)
    left, right = summarized(*tables)
    found, back = left.compare(right), right.compare(left)
    assert set(found.changed) == {"gap", "kind", "group"}
    assert found.pvalue == back.pvalue
    what = {each.name: each.what for each in found.columns}
    assert "'new'" in what["kind"]
    weights = [each["weight"].to_numpy() for each in tables]
    gone = [100 * float(w @ np.isnan(each["gap"].to_numpy()) / w.sum()) for w, each in zip(weights, tables, strict=True)]
    words = what["gap"] if rows == N else what["gap"].removesuffix(" in the samples")
    said = [float(each.rstrip("%")) for each in words.removeprefix("missing ").split(" -> ")]
    assert said == pytest.approx(gone, abs=0.06 if rows == N else 1.0)


def test_rows_count_as_many_as_their_weights_are_worth():
    left, right = summarized(made(3), made(4))
    effective = {each.name: each.effective_rows for each in left.compare(right).columns}
    for side, table in enumerate((made(3), made(4))):
        weights = table["weight"].to_numpy()
        assert effective["kind"][side] == pytest.approx(weights.sum() ** 2 / (weights @ weights), rel=0.1)


def test_weights_that_go_with_the_values_make_these_less_certain():
    # A value in 5% of rows with twelve times the weight: its share is 39%, and nearly as uncertain as that of so few rows.
    left, right = summarized(made(5, weighed="by value"), made(6, weighed="by value"))
    effective = {each.name: each.effective_rows for each in left.compare(right).columns}
    assert all(mine < 0.85 * other for mine, other in zip(effective["group"], effective["calm"], strict=True))


def test_equal_weights_change_no_share_and_no_number_of_rows():
    tables = [each.set_column(4, "weight", pa.array(np.full(N, 3.0))) for each in (made(7), made(8, gap=0.03))]
    left, right = summarized(*tables)
    column = next(each for each in left.compare(right).columns if each.name == "gap")
    assert column.effective_rows == pytest.approx([int(each["gap"].is_valid().to_numpy().sum()) for each in tables])
    counts = counts_of(left, right)
    missing = [profile["gap"].missing for profile in counts.profiles]
    assert missing == [each["gap"].null_count for each in tables]
    assert compare_shares(missing[0], N, missing[1], N) < 1e-4


def test_columns_that_are_not_tested_are_not_copied_as_often_as_rows_count():
    tables = [made(seed).append_column("picture", pa.array([f"{seed} {place}" for place in range(N)])) for seed in (9, 10)]
    left = ss.summarize(tables[0], 10, 0, weight="weight", types={"picture": "ignore"}, random_state=0)
    profiles = counts_of(left, ss.summarize(tables[1], like=left, random_state=1)).profiles
    assert [{column.name for column in each.columns} for each in profiles] == [{"gap", "kind", "group", "calm"}] * 2


def test_values_that_are_too_rare_to_be_shown_are_not_shown_by_their_weight():
    # Twelve rows of weight 100 have a text; it is not to be shown, since there are fewer than 20 of them.
    def table(seed, secret):
        rng = np.random.default_rng(seed)
        kind = rng.choice(list("abcd"), N).astype(object)
        kind[:12] = secret
        weights = np.where(np.arange(N) < 12, 100.0, 1.0)
        return pa.table({"kind": pa.array(kind.tolist()), "x": rng.normal(size=N), "weight": weights})

    left = ss.summarize(table(1, "a"), 10, 0, weight="weight", min_count=20, random_state=0)
    right = ss.summarize(table(2, "secret"), like=left, random_state=1)
    assert "secret" not in str(left.compare(right))
