"""Links between columns: as the textbook measures them, and none where there is only chance."""

import numpy as np
import pytest

from correlation_oracles import correlation_ratio, cramers_v, spearman
from supersample.report.correlations import WEAKEST, Link, links_of

N = 2_000


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def only(links, name):
    (found,) = links[name]
    return found


def test_numbers_by_their_ranks(rng):
    x = rng.normal(size=N)
    y = np.exp(-2.0 * x) + rng.normal(size=N)
    found = links_of({"x": x, "y": y, "z": rng.normal(size=N)}, {})
    assert set(found) == {"x", "y"}
    assert only(found, "x").name == "y"
    assert only(found, "x").measure == "rank correlation"
    assert only(found, "x").value == pytest.approx(spearman(x, y))
    assert only(found, "y").value == only(found, "x").value < -0.5


def test_rows_where_one_is_missing_do_not_count(rng):
    x = rng.normal(size=N)
    y = x + 0.1 * rng.normal(size=N)
    holed, other = x.copy(), y.copy()
    holed[: N // 2], other[N // 2 + 500 :] = np.nan, np.nan
    both = slice(N // 2, N // 2 + 500)
    assert only(links_of({"x": holed, "y": other}, {}), "x").value == pytest.approx(spearman(x[both], y[both]), abs=0.01)
    y[: N // 2] = -y[: N // 2]
    assert only(links_of({"x": holed, "y": y}, {}), "x").value > 0.98
    apart = x.copy()
    apart[N // 2 :] = np.nan
    assert links_of({"x": holed, "y": apart}, {}) == {}


def test_values_that_are_missing_by_each_other_are_no_link(rng):
    x, y = rng.normal(size=(2, N))
    assert links_of({"x": np.where(y < 0, np.nan, x), "y": np.where(x < 0, np.nan, y)}, {}) == {}


def test_labels_by_their_counts(rng):
    first = rng.integers(0, 4, N)
    second = np.where(rng.random(N) < 0.6, first % 3, rng.integers(0, 3, N))
    link = only(links_of({}, {"a": first, "b": second}), "a")
    assert (link.name, link.measure) == ("b", "Cramer's V")
    assert link.value == pytest.approx(cramers_v(first, second))


def test_labels_and_numbers_by_the_variance_between(rng):
    labels = rng.integers(0, 5, N)
    numbers = labels % 2 + rng.normal(size=N)
    link = only(links_of({"x": numbers}, {"a": labels}), "x")
    assert (link.name, link.measure) == ("a", "correlation ratio")
    assert link.value == pytest.approx(correlation_ratio(labels, numbers))


@pytest.mark.parametrize("n_rows", [30, 200, 2_000])
def test_columns_without_a_link_have_none(n_rows):
    """With 120 independent columns of every kind: the probability that any pair is listed is at most 0.001 a seed."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        numbers = {f"n{place}": rng.standard_cauchy(n_rows) for place in range(40)}
        numbers |= {f"f{place}": (rng.random(n_rows) < 0.3 / (place + 1)).astype(float) for place in range(40)}
        labels = {f"l{place}": rng.integers(0, 2 + place, n_rows) for place in range(40)}
        assert links_of(numbers, labels) == {}


def test_rare_flags_that_meet_once_are_no_link():
    flags = np.zeros((2, N))
    flags[:, 7] = 1.0
    assert links_of({"a": flags[0], "b": flags[1]}, {}) == {}
    assert links_of({"a": flags[0]}, {"b": flags[1].astype(int)}) == {}


def test_only_the_three_strongest_are_kept(rng):
    x = rng.normal(size=N)
    columns = {f"c{place}": x + (place + 1) * 0.2 * rng.normal(size=N) for place in range(6)}
    links = links_of({"x": x, **columns}, {})["x"]
    assert [link.name for link in links] == ["c0", "c1", "c2"]
    assert all(abs(link.value) >= WEAKEST for link in links)


def test_rare_labels_count_together(rng):
    many = np.concatenate([rng.integers(0, 3, N - 60), np.arange(3, 63)])
    labels = np.concatenate([many[: N - 60], np.full(60, 3)])
    found = only(links_of({}, {"a": many, "b": labels}), "a")
    assert found.value == pytest.approx(1.0)


@pytest.mark.parametrize("missing", [[], [np.nan] * 40])
def test_almost_nothing(missing):
    assert links_of({"x": np.array(missing), "y": np.array(missing)}, {"a": np.full(len(missing), -1)}) == {}
    assert links_of({}, {}) == {}


def test_the_same_column_twice_is_a_whole_link(rng):
    x = rng.normal(size=N)
    assert links_of({"x": x, "y": x}, {})["x"] == (Link("y", "rank correlation", pytest.approx(1.0)),)
