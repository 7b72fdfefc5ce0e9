"""The number of random rows that are as good as a summary: checked against the exact kernel over all rows."""

import itertools
import math

import numpy as np
import pyarrow as pa
import pytest

import supersample as ss
from supersample.discrepancy.certificate import equal_random_rows
from supersample.summary.outcome import said_as_good_as


def squared_mmd(gram, chosen, weights=None):
    """Return the squared MMD between some weighted rows and all rows."""
    chosen = np.asarray(chosen)
    weights = np.full(chosen.size, 1.0 / chosen.size) if weights is None else weights
    return gram.mean() - 2.0 * weights @ gram[chosen].mean(axis=1) + weights @ gram[np.ix_(chosen, chosen)] @ weights


def of_random_rows(gram, n):
    """Return the mean squared MMD of n rows drawn without replacement, from the kernel of all rows."""
    size = len(gram)
    return (np.diag(gram).mean() - gram.mean()) * size / (size - 1) * (1.0 / n - 1.0 / size)


def table_of(n_rows, seed, width=3):
    rng = np.random.default_rng(seed)
    columns = {f"x{place}": rng.normal(size=n_rows) for place in range(width)}
    return pa.table({**columns, "k": rng.choice(list("abc"), n_rows)})


@pytest.mark.parametrize("n", range(1, 8))
def test_the_mean_over_all_sets_falls_as_one_over_n(n):
    points = np.random.default_rng(0).normal(size=(7, 2))
    gram = ss.kernels.Gaussian(1.0)(points, points)
    every = [squared_mmd(gram, chosen) for chosen in itertools.combinations(range(7), n)]
    assert np.mean(every) == pytest.approx(of_random_rows(gram, n), abs=1e-15)
    if n < 7:
        equal = equal_random_rows(math.sqrt(np.mean(every)), math.sqrt(of_random_rows(gram, 2)), 2, 7)
        assert equal == pytest.approx(n)


@pytest.mark.parametrize("size", [3, 7, 12])
def test_rows_drawn_with_replacement_are_told_in_rows_drawn_without(size):
    points = np.random.default_rng(0).normal(size=(7, 2))
    gram = ss.kernels.Gaussian(1.0)(points, points)
    again = (1.0 - gram.mean()) / size  # the mean square MMD of so many, drawn with replacement
    spread = of_random_rows(gram, 4) * 6 / 7  # with N - 1 in place of N, which is left out for many rows
    equal = equal_random_rows(math.sqrt(spread), math.sqrt(again), size, 7, replaced=True)
    assert equal == pytest.approx(4)
    assert equal_random_rows(math.sqrt(again), math.sqrt(again), size, math.inf, replaced=True) == pytest.approx(size)


@pytest.mark.parametrize(("size", "width"), [(50, 1), (100, 3)])
def test_as_many_random_rows_have_the_mmd_of_the_summary(size, width):
    """The estimate against the exact number, as docs/limits.md has it: half within 25%, all within a factor of 3."""
    n_rows, ratios = 1_200, []
    for seed in range(8):
        table = table_of(n_rows, seed, width)
        summary = ss.summarize(table, size, 0, random_state=seed)
        points = summary.encode(table)
        gram = summary.kernel(points, points)
        square = squared_mmd(gram, summary.prototypes["_row"].to_numpy(), summary.weights())
        exact = equal_random_rows(math.sqrt(square), math.sqrt(of_random_rows(gram, size)), size, n_rows)
        assert of_random_rows(gram, exact) == pytest.approx(square)
        assert size < summary.as_good_as < n_rows
        # Near all rows, every estimate is near; what is left of 1 / n is what was estimated.
        ratios.append((1.0 / exact - 1.0 / n_rows) / (1.0 / summary.as_good_as - 1.0 / n_rows))
    assert 1 / 3 < min(ratios) < max(ratios) < 3
    assert sum(abs(math.log(ratio)) < math.log(1.25) for ratio in ratios) >= 4


def test_the_terminal_leads_with_it_and_the_measure_stands_behind():
    summary = ss.summarize(table_of(600, 0), 20, 2, random_state=0)
    first, second = str(summary).splitlines()[:2]
    assert first == f"20 rows stand for 600 of pyarrow.Table: {said_as_good_as(summary.as_good_as, 20, 600)}"
    expected = f"  MMD         {summary.mmd:.4g} (exact); {summary.uniform_mmd:.3g} with equal weights; "
    assert f"{summary.random_mmd:.3g} for 20 random rows" == second.removeprefix(expected)
    assert summary.to_dict()["as_good_as"] == summary.as_good_as
    longer = ss.summarize(table_of(5_600, 0), 20, 2, random_state=0)
    assert f"  MMD         {longer.mmd:.4g} +- {longer.mmd_error:.2g}; " in str(longer)


def test_with_weights_rows_are_drawn_with_replacement():
    rng = np.random.default_rng(0)
    table = pa.table({"x": rng.normal(size=300), "w": rng.uniform(0.5, 2.0, 300)})
    summary = ss.summarize(table, 60, 0, weight="w", random_state=0)
    assert summary.as_good_as == pytest.approx(60 * (summary.random_mmd / summary.mmd) ** 2)
    assert summary.as_good_as > 300
    assert str(summary).splitlines()[0].endswith(": as good as more than 300 rows drawn at random")


def test_a_summary_that_holds_all_rows_claims_nothing():
    summary = ss.summarize(table_of(30, 0), 50, 0, random_state=0)
    assert summary.as_good_as == 30
    assert str(summary).splitlines()[0] == "30 rows stand for 30 of pyarrow.Table"


def test_kernels_without_frequencies_have_no_error_to_print():
    kernel = ss.kernels.Function(lambda x, y: 1.0 / (1.0 + ((x[:, None] - y[None]) ** 2).sum(axis=2)), "rational")
    summary = ss.summarize(pa.table({"x": np.arange(300.0)}), 10, 2, kernel=kernel, random_state=0)
    assert "nan" not in str(summary)
