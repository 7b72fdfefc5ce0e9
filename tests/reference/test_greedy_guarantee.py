"""The (1 - 1/e) guarantee of greedy prototypes (Kim, Khanna and Koyejo 2016), over all subsets of small pools.

If k* stands on the diagonal of the kernel matrix and all other values lie between 0 and k* / (n^3 + 2 n^2 - 2 n - 3), J is
monotone and submodular on sets that are not empty.
"""

from itertools import combinations

import numpy as np
import pytest

import critic_oracles as oracle
import supersample as ss
from supersample.kernels import Gaussian

SHARE = 1.0 - np.exp(-1.0)
ROUNDING = 1e-12


def limit(n):
    """The largest kernel value between two of n rows that the condition allows, relative to k(x, x)."""
    return 1.0 / (n**3 + 2 * n**2 - 2 * n - 3)


def pool(n, seed):
    """Return rows at nearly equal distances, and the widest Gaussian kernel that meets the condition on them."""
    rows = np.eye(n) + 0.03 * np.random.default_rng(seed).normal(size=(n, n))
    nearest = min(np.linalg.norm(rows[i] - rows[j]) for i, j in combinations(range(n), 2))
    return rows, Gaussian(nearest / np.sqrt(-2.0 * np.log(limit(n))))


def objective_of_all(gram):
    """J of every subset that is not empty."""
    n = len(gram)
    subsets = (chosen for size in range(1, n + 1) for chosen in combinations(range(n), size))
    return {frozenset(chosen): oracle.prototype_objective(gram, chosen) for chosen in subsets}


def gains_and_losses(values, n):
    """Return the least gain of adding a row, and the least fall of that gain when another row was added before."""
    gain, fall = np.inf, np.inf
    for chosen, value in values.items():
        others = set(range(n)) - chosen
        for u in others:
            gain = min(gain, values[chosen | {u}] - value)
        for u, v in combinations(others, 2):
            fall = min(fall, values[chosen | {u}] + values[chosen | {v}] - values[chosen | {u, v}] - value)
    return gain, fall


@pytest.mark.parametrize("seed", range(4))
def test_under_the_condition_the_objective_is_monotone_and_submodular(seed):
    rows, kernel = pool(8, seed)
    gram = kernel(rows)
    between = gram[~np.eye(8, dtype=bool)]
    assert limit(8) / 50 < between.min() < between.max() <= limit(8) * (1 + 1e-9)
    gain, fall = gains_and_losses(objective_of_all(gram), 8)
    assert gain > -ROUNDING
    assert fall > -ROUNDING


@pytest.mark.parametrize("seed", range(4))
def test_the_extremes_of_the_condition(seed):
    """Any values within the limits, also those that no Gaussian kernel has: 0 or the limit at random."""
    gram = np.triu(np.random.default_rng(seed).choice([0.0, limit(7)], size=(7, 7)), 1)
    gram += gram.T + np.eye(7)
    gain, fall = gains_and_losses(objective_of_all(gram), 7)
    assert min(gain, fall) > -ROUNDING


@pytest.mark.parametrize("seed", range(4))
def test_what_greedy_gains_after_its_first_row_is_a_share_of_the_most_that_can_be_gained(seed):
    rows, kernel = pool(8, seed)
    values = objective_of_all(kernel(rows))
    chosen = ss.critic(rows, 7, 0, kernel=kernel).prototypes.indices.tolist()
    first = frozenset(chosen[:1])
    for size in range(2, 8):
        most = max(value for each, value in values.items() if len(each) == size and first <= each) - values[first]
        assert most > 0
        assert values[frozenset(chosen[:size])] - values[first] >= SHARE * most


def test_the_guarantee_as_quoted_fails_for_fewer_prototypes_than_half_of_the_rows():
    """J of m rows is about 2 / n - 1 / m under the condition: negative, where even the best set is no share of itself."""
    rows, kernel = pool(8, 0)
    values = objective_of_all(kernel(rows))
    for size in range(1, 8):
        ours = values[frozenset(ss.critic(rows, size, 0, kernel=kernel).prototypes.indices.tolist())]
        best = max(value for each, value in values.items() if len(each) == size)
        assert best == pytest.approx(2 / 8 - 1 / size, abs=0.01)
        assert (ours >= SHARE * best) == (size >= 4)


@pytest.mark.parametrize("seed", range(4))
def test_at_the_median_bandwidth_there_is_no_such_guarantee_and_greedy_is_near_the_best_set(seed):
    rows = np.random.default_rng(seed).normal(size=(9, 2))
    kernel = Gaussian(ss.kernels.median_distance(rows))
    values = objective_of_all(kernel(rows))
    gain, fall = gains_and_losses(values, 9)
    assert gain < -0.01  # not monotone
    assert fall < -0.01  # not submodular
    chosen = ss.critic(rows, 5, 0, kernel=kernel).prototypes.indices.tolist()
    for size in range(1, 6):
        best = max(value for each, value in values.items() if len(each) == size)
        assert values[frozenset(chosen[:size])] > 0.85 * best
