"""Online Greedy against Algorithm 3 of the draft, letter by letter."""

import numpy as np
import pytest

import critic_oracles as oracle
import supersample as ss
from supersample.kernels import Cauchy, Gaussian, Laplacian

KERNELS = (Gaussian(0.5), Laplacian(1.0), Cauchy(0.5), Gaussian(1.0) + 0.3 * Laplacian(1.0))


def problem(seed):
    rng = np.random.default_rng(1000 + seed)
    m, c = int(rng.integers(1, 6)), int(rng.integers(0, 5))
    n = m + c + int(rng.integers(0, 20))
    data = oracle.draw(oracle.KINDS[seed % len(oracle.KINDS)], n, int(rng.integers(1, 4)), rng)
    return data, m, c, KERNELS[seed % len(KERNELS)]


@pytest.mark.parametrize("offer_displaced", [False, True])
@pytest.mark.parametrize("seed", range(60))
def test_equals_the_algorithm_letter_by_letter(seed, offer_displaced):
    data, m, c, kernel = problem(seed)
    gram = kernel(data)
    found = ss.online_critic(data, m, c, kernel=kernel, offer_displaced=offer_displaced)
    held, critics = oracle.online(gram, m, c, offer_displaced=offer_displaced)
    np.testing.assert_array_equal(found.prototypes.indices, held)
    np.testing.assert_array_equal(found.criticisms.indices, critics)
    np.testing.assert_array_equal(found.prototypes.points, data[held])
    np.testing.assert_array_equal(found.criticisms.points, data[critics])


def test_the_problems_can_tell_the_printed_algorithm_from_ours():
    grams = [(kernel(data), m, c) for data, m, c, kernel in map(problem, range(60))]
    printed, ours = ([oracle.online(*each, offer_displaced=offer)[1] for each in grams] for offer in (False, True))
    assert sum(left != right for left, right in zip(printed, ours, strict=True)) >= 20


def test_by_the_printed_start_of_the_loop_a_row_can_be_prototype_and_criticism():
    """Why the loop starts at row 2m + 1, as the draft's text says, and not at m + 1, as its line 5 prints."""
    gram = Gaussian(1.0)(np.array([[9.0], [0.0], [0.1]]))
    assert oracle.online(gram, 1, 2, first=1) == ([1], [1, 2])
    assert oracle.online(gram, 1, 2) == ([0], [1, 2])


def test_what_is_said_of_each_point_holds_for_all_rows():
    data, kernel = np.random.default_rng(0).normal(size=(80, 2)), Gaussian(0.6)
    found = ss.online_critic(data, 6, 4, kernel=kernel)
    gram, held, critics = kernel(data), found.prototypes.indices, found.criticisms.indices
    nearest, closer = oracle.explained(gram, held, critics)
    np.testing.assert_array_equal(found.nearest, nearest)
    np.testing.assert_allclose(found.criticisms.weights, closer, atol=1e-12)
    np.testing.assert_allclose(found.witness, oracle.witness(gram, held)[critics], atol=1e-12)
    np.testing.assert_array_equal(found.prototypes.weights, np.full(6, 1.0 / 6.0))
    for size in range(1, 7):
        exact = ss.mmd2(data, found.prototypes.points[:size], kernel=kernel)
        assert found.prototypes.mmd[size - 1] ** 2 == pytest.approx(exact, abs=1e-12)


def test_repeats_whatever_the_seed_where_the_bandwidth_is_given():
    data = np.random.default_rng(0).normal(size=(100, 2))
    first, second = (ss.online_critic(data, 5, 4, kernel=Gaussian(1.0), random_state=seed) for seed in (1, 2))
    np.testing.assert_array_equal(first.prototypes.indices, second.prototypes.indices)
    np.testing.assert_array_equal(first.criticisms.indices, second.criticisms.indices)


def test_a_displaced_prototype_is_discarded_unless_it_is_to_be_offered():
    """The one far row comes first, as the only prototype; it gives way to the many, and is what they miss."""
    data = np.concatenate([[[30.0]], np.linspace(-0.5, 0.5, 30)[:, None]])
    printed = ss.online_critic(data, 1, 2, kernel=Gaussian(1.0))
    assert printed.prototypes.indices[0] > 0
    assert 0 not in printed.criticisms.indices
    found = ss.online_critic(data, 1, 2, kernel=Gaussian(1.0), offer_displaced=True)
    np.testing.assert_array_equal(found.prototypes.indices, printed.prototypes.indices)
    assert 0 in found.criticisms.indices
    assert found.witness[found.criticisms.indices == 0] == pytest.approx(1 / 31)


def test_no_more_rows_than_places():
    data = np.random.default_rng(0).normal(size=(7, 2))
    found = ss.online_critic(data, 4, 3, kernel=Gaussian(1.0))
    np.testing.assert_array_equal(found.prototypes.indices, np.arange(4))
    np.testing.assert_array_equal(found.criticisms.indices, np.arange(4, 7))


def test_comes_near_batch():
    """Judged by the exact objectives; greedy with one look at each row is worse than greedy with all rows in sight."""
    rng = np.random.default_rng(0)
    data, kernel = rng.normal(size=(300, 2)) * [1.0, 3.0], Gaussian(1.0)
    gram = kernel(data)
    best, found = ss.critic(data, 15, 5, kernel=kernel), ss.online_critic(data, 15, 5, kernel=kernel)
    random = [rng.choice(300, size=15, replace=False) for _ in range(100)]
    here = oracle.score(
        lambda s: oracle.prototype_objective(gram, s), found.prototypes.indices, best.prototypes.indices, random
    )
    assert 0.5 < here < 1.05
