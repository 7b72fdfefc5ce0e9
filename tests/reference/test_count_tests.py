"""Tests of one column by counts, beside brute force and SciPy."""

from itertools import chain, combinations

import numpy as np
import pytest
from scipy import stats

from supersample.discrepancy.count_tests import compare_ordered, compare_shares, compare_values, weighted_holm
from supersample.discrepancy.pair_tests import compare_pairs, normal_scores


def counts_of(left, right):
    values = np.union1d(left, right)
    return [(values[None, :] == side[:, None]).sum(axis=0) for side in (left, right)]


@pytest.mark.parametrize("seed", range(40))
def test_shares_are_tested_exactly_and_alike_from_both_sides(seed):
    rng = np.random.default_rng(seed)
    n_left, n_right = (int(each) for each in rng.integers(1, 400, 2))
    left, right = int(rng.binomial(n_left, 0.2)), int(rng.binomial(n_right, 0.3))
    found = compare_shares(left, n_left, right, n_right)
    null = stats.hypergeom(n_left + n_right, left + right, n_left)
    assert found == pytest.approx(min(1.0, 2 * min(null.cdf(left), null.sf(left - 1))), rel=1e-9)
    assert found == compare_shares(right, n_right, left, n_left)


def test_shares_of_many_rows_are_tested_by_chi_squared():
    table = [[1_000, 99_000], [1_150, 98_850]]
    expected = stats.chi2_contingency(table, correction=False).pvalue
    assert compare_shares(1_000, 100_000, 1_150, 100_000) == pytest.approx(expected, rel=1e-9)
    # Just below the limit the exact test takes over, and hardly differs.
    exact = compare_shares(195, 100_000, 250, 100_000)
    chi2 = stats.chi2_contingency([[195, 99_805], [250, 99_750]], correction=False).pvalue
    assert exact == pytest.approx(chi2, rel=0.15)


def test_no_p_value_is_zero_and_nothing_to_compare_is_no_difference():
    assert 0 < compare_shares(0, 10**9, 10**9, 10**9) < 1e-300
    assert 0 < compare_values(np.array([10**6, 0]), np.array([0, 10**6])) < 1e-300
    assert compare_shares(0, 50, 0, 60) == compare_shares(50, 50, 60, 60) == compare_shares(0, 0, 3, 60) == 1.0
    assert compare_values(np.array([7]), np.array([9])) == compare_values(np.array([7, 3]), np.array([0, 0])) == 1.0
    assert compare_ordered(np.array([7]), np.array([9]))[:5] == (1.0,) * 5
    assert compare_ordered(np.array([7, 3]), np.array([0, 0]))[:5] == (1.0,) * 5


def test_values_are_tested_by_pearsons_chi_squared():
    left, right = np.array([300, 250, 100, 40]), np.array([280, 270, 80, 75])
    expected = stats.chi2_contingency(np.stack([left, right]), correction=False).pvalue
    assert compare_values(left, right) == pytest.approx(expected, rel=1e-12)
    assert compare_values(left, right) == compare_values(right, left)


def test_rare_values_beside_one_that_is_frequent_are_tested_exactly():
    left, right = np.array([999, 1, 0]), np.array([985, 7, 8])
    expected = compare_shares(1, 1_000, 15, 1_000)
    assert compare_values(left, right) == compare_values(right, left) == expected < 0.001
    assert compare_values(np.array([3, 2]), np.array([1, 5])) == compare_shares(3, 5, 1, 6)
    assert compare_values(np.array([3]), np.array([1])) == compare_values(np.array([]), np.array([])) == 1.0


def test_rare_values_count_together():
    left, right = np.array([300, 200, 3, 3, 4, 2, 1]), np.array([320, 190, 2, 1, 0, 1, 0])
    together = np.array([[300, 200, 13], [320, 190, 4]])
    assert compare_values(left, right) == pytest.approx(stats.chi2_contingency(together, correction=False).pvalue, rel=1e-12)
    # Too rare even together: they join the rarest of the others.
    left, right = np.array([300, 200, 1]), np.array([320, 190, 0])
    together = np.array([[300, 201], [320, 190]])
    assert compare_values(left, right) == pytest.approx(stats.chi2_contingency(together, correction=False).pvalue, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("location", lambda x: x + 0.25),
        ("spread", lambda x: 1.35 * x),
        ("shape", lambda x: np.where(x > 0, x, -(np.abs(x) ** 3))),
    ],
)
def test_scores_have_the_p_values_of_permutations(name, change):
    """Of 2,000 permutations as many are as extreme as the p-value says, within four standard errors."""
    rng = np.random.default_rng(3)
    left, right = rng.normal(size=150), change(rng.normal(size=200))
    both = np.concatenate([left, right])
    found = getattr(compare_ordered(*counts_of(left, right)), name)
    values = np.unique(both)
    places = np.searchsorted(values, both)
    permuted = []
    for _ in range(2_000):
        order = rng.permutation(places)
        counts = [np.bincount(part, minlength=values.size) for part in (order[:150], order[150:])]
        permuted.append(getattr(compare_ordered(*counts), name))
    share = np.mean(np.array(permuted) <= found)
    assert share == pytest.approx(found, abs=4 * np.sqrt(max(found, 1 / 2_000) / 2_000))
    assert found < 0.2


def test_location_and_spread_tell_their_direction():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 500))
    up, wide = compare_ordered(*counts_of(x, y + 1.0)), compare_ordered(*counts_of(x, 2.0 * y))
    assert (up.moves, wide.widens) == (1.0, 1.0)
    down, narrow = compare_ordered(*counts_of(y + 1.0, x)), compare_ordered(*counts_of(2.0 * y, x))
    assert (down.moves, narrow.widens) == (-1.0, -1.0)
    assert up[:5] == down[:5]
    assert wide[:5] == narrow[:5]


def test_tails_are_counted_in_the_outermost_rows():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 5_000))
    y[:50] = 8.0 + rng.random(50)
    found = compare_ordered(*counts_of(x, y))
    assert found.high_tail < 1e-9 < 0.001 < min(found.location, found.low_tail)
    values = np.union1d(x, y)
    assert (np.concatenate([x, y]) >= values[found.high]).sum() == 50
    assert (np.concatenate([x, y]) <= values[found.low]).sum() == 50


def test_a_few_values_far_from_all_others_are_found():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 8_000))
    y[:20] = 1_000.0 * np.abs(y[:20])
    found = compare_ordered(*counts_of(x, y))
    assert found.high_tail < 1e-5 < 0.05 < found.low_tail
    values = np.union1d(x, y)
    assert (np.concatenate([x, y]) >= values[found.high]).sum() == 20
    mirrored = compare_ordered(*counts_of(-x, -y))
    assert mirrored.low_tail == found.high_tail
    assert values.size - 1 - mirrored.low == found.high


def closed_test(pvalues, weights):
    """Reject a hypothesis if all sets that hold it are rejected by weighted Bonferroni: the long way to Holm's rule."""
    size = len(pvalues)
    sets = list(chain.from_iterable(combinations(range(size), n) for n in range(1, size + 1)))
    whole = {each: min(pvalues[i] * sum(weights[j] for j in each) / weights[i] for i in each) for each in sets}
    return [min(1.0, max(value for each, value in whole.items() if place in each)) for place in range(size)]


@pytest.mark.parametrize("seed", range(20))
def test_holms_rule_is_the_closed_test(seed):
    rng = np.random.default_rng(seed)
    pvalues, weights = rng.random(5) ** 3, rng.dirichlet(np.ones(5))
    np.testing.assert_allclose(weighted_holm(pvalues, weights), closed_test(pvalues, weights), rtol=1e-12)


def test_pairs_are_tested_by_the_correlations_of_each_side():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 400, 4))
    y[:, 2] = 0.5 * y[:, 0] + y[:, 2]
    shares = [np.full(400, 1 / 400)] * 2
    found = compare_pairs([x, y], shares, [np.ones(4)] * 2, most=3)
    influences, correlations = [], []
    for side in (x, y):
        a, b = stats.zscore(side[:, 0]), stats.zscore(side[:, 2])
        correlations.append(stats.pearsonr(side[:, 0], side[:, 2]).statistic)
        influences.append(np.mean((a * b - correlations[-1] * (a**2 + b**2) / 2) ** 2))
    spread = sum(max(each, np.mean(influences)) / 400 for each in influences)
    expected = 6 * stats.chi2.sf((correlations[1] - correlations[0]) ** 2 / spread, 1)
    assert (found[0].first, found[0].second) == (0, 2)
    assert (found[0].before, found[0].after) == pytest.approx(correlations, rel=1e-9)
    assert found[0].pvalue == pytest.approx(expected, rel=1e-9)
    assert found[0].pvalue < 1e-4 < found[1].pvalue
    assert found[0].after - found[0].before == pytest.approx(0.44, abs=0.1)
    assert compare_pairs([x[:50], y], [np.full(50, 0.02), shares[1]], [np.ones(4)] * 2, most=3) is None


def test_other_means_and_spreads_are_no_other_correlation():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(300, 3)), rng.normal(size=(3_000, 3)) * [1.0, 4.0, 0.3] + [2.0, -1.0, 0.0]
    shares = [np.full(len(each), 1.0 / len(each)) for each in (x, y)]
    found = compare_pairs([x, y], shares, [np.ones(3)] * 2, most=3)
    assert min(each.pvalue for each in found) > 0.05
    # A column and its opposite have the correlation -1 on both sides, whatever their rates are.
    flags = [(rng.random(500) < rate)[:, None] * [1.0, -1.0] for rate in (0.2, 0.7)]
    (pair,) = compare_pairs(flags, [np.full(500, 1 / 500)] * 2, [np.ones(2)] * 2, most=1)
    assert (pair.before, pair.after, pair.pvalue) == pytest.approx((-1.0, -1.0, 1.0))


def test_pairs_of_flags_that_are_rarely_true_together_are_no_change():
    # A side on which both are never true together has a variance of its own that is far too small.
    shares, factors = [np.full(300, 1 / 300), np.full(5_000, 1 / 5_000)], [np.ones(2)] * 2
    found = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        flags = [(rng.random((len(share), 2)) < 0.12).astype(float) for share in shares]
        found += compare_pairs(flags, shares, factors, 1)[0].pvalue < 0.05
    assert found <= 8


@pytest.mark.parametrize("events", [(2, 0), (2, 2), (15, 20)])
def test_a_few_rows_say_nothing_of_a_correlation(events):
    rng, shares = np.random.default_rng(0), [np.full(2_000, 1 / 2_000)] * 2
    sides = [rng.normal(size=(2_000, 4)) * [1.0, 1.0, 0.0, 0.0] for _ in range(2)]
    for side, count in zip(sides, events, strict=True):
        side[:count, 2:] = rng.exponential(size=(count, 2)) + 1.0
    found = compare_pairs(sides, shares, [np.ones(4)] * 2, most=6)
    assert [(each.first, each.second) for each in found] == [(0, 1)]
    assert compare_pairs([each[:, 2:] for each in sides], shares, [np.ones(2)] * 2, most=1) is None


def test_normal_scores_are_ranks_of_both_samples():
    sides, there = [np.array([3.0, 1.0, 1.0]), np.array([2.0, 9.0])], [np.array([True, True, True]), np.array([True, False])]
    scores = normal_scores(sides, there, [np.ones(3), np.ones(2)])
    raw = stats.norm.ppf(np.array([3.5, 1.0, 1.0, 2.5]) / 4)
    centred = raw - raw.mean()
    np.testing.assert_allclose(np.concatenate(scores), [*centred / centred.std(), 0.0], rtol=1e-12)
