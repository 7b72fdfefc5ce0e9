"""What the two papers prove, on small problems."""

import itertools

import numpy as np
import pytest
from supersample.kernels import Gaussian, Laplacian

import herding_oracles as oracles
import supersample as ss

MIXTURE = ss.measures.GaussianMixture([1.0, 2.0], [[0.0, 0.0], [2.0, 1.0]], [np.eye(2), [[0.5, 0.2], [0.2, 0.4]]])
KERNEL = Gaussian(0.5)
POOL = MIXTURE.sample(400, 0)


def embedded(pool, measure=MIXTURE, kernel=KERNEL):
    return kernel(pool), measure.mean_embedding(kernel, pool), measure.energy(kernel)


@pytest.mark.parametrize("seed", range(5))
def test_proposition_1_the_mmd_of_the_best_weights_is_the_posterior_variance(seed):
    points = np.random.default_rng(seed).normal(size=(12, 2))
    gram, z, energy = embedded(points)
    w = ss.quadrature_weights(points, target=MIXTURE, kernel=KERNEL)
    assert oracles.mmd2(gram, z, energy, np.arange(12), w) == pytest.approx(
        oracles.variance(gram, z, energy, np.arange(12)), abs=1e-13
    )


def test_proposition_1_by_simulation_of_the_process():
    points = MIXTURE.sample(6, 1)
    draws = MIXTURE.sample(400, 2)
    gram, z, energy = embedded(points, ss.measures.Empirical(draws))
    everything = KERNEL(np.vstack([points, draws]))
    w = ss.quadrature_weights(points, target=draws, kernel=KERNEL)
    contrast = np.concatenate([-w, np.full(400, 1 / 400)])
    assert contrast @ everything @ contrast == pytest.approx(oracles.variance(gram, z, energy, np.arange(6)), abs=1e-12)


@pytest.mark.parametrize("method", [ss.herd, ss.sbq, ss.wkh])
def test_equation_33_best_weights_are_never_worse_than_equal_ones(method):
    free = method(POOL, 40, target=MIXTURE, kernel=KERNEL, weights="free").mmd
    simplex = method(POOL, 40, target=MIXTURE, kernel=KERNEL, weights="simplex").mmd
    uniform = method(POOL, 40, target=MIXTURE, kernel=KERNEL, weights="uniform").mmd
    assert (free <= simplex + 1e-9).all()
    assert (simplex <= uniform + 1e-9).all()


def test_the_mmd_bounds_the_error_of_every_function_of_norm_one():
    found = ss.sbq(POOL, 30, target=MIXTURE, kernel=KERNEL)
    rng = np.random.default_rng(0)
    for _ in range(50):
        centres = MIXTURE.sample(10, rng)
        a = rng.normal(size=10)
        a /= np.sqrt(a @ KERNEL(centres) @ a)
        truth = a @ MIXTURE.mean_embedding(KERNEL, centres)
        estimate = found.weights @ (KERNEL(found.points, centres) @ a)
        assert abs(truth - estimate) <= found.mmd[-1] * (1 + 1e-9)


def test_figures_3_and_4_weights_shrink_when_points_are_few_and_some_are_negative():
    wide = ss.measures.GaussianMixture([1.0], [[0.0]], [[[1.0]]])
    pool = wide.sample(2000, 0)
    kernel = Gaussian(0.05)  # a twentieth of the distribution, as in figure 4
    sums = [ss.sbq(pool, m, target=wide, kernel=kernel).weights.sum() for m in (1, 5, 20, 60)]
    assert sums[0] < 0.2
    assert all(a < b for a, b in itertools.pairwise(sums))
    assert sums[-1] > 0.9
    many = ss.sbq(POOL, 100, target=MIXTURE, kernel=KERNEL).weights
    assert (many < 0).any()


def test_proposition_2_approximate_submodularity():
    pool = np.random.default_rng(5).uniform(-3, 3, size=(9, 2))
    gram, z, energy = embedded(pool, kernel=Gaussian(0.8))
    z, energy = MIXTURE.mean_embedding(Gaussian(0.8), pool), MIXTURE.energy(Gaussian(0.8))
    incoherence = np.abs(gram - np.diag(np.diag(gram))).max()
    value = {
        chosen: energy - oracles.variance(gram, z, energy, list(chosen))
        for size in range(6)
        for chosen in itertools.combinations(range(9), size)
    }
    worst = -np.inf
    for large in (chosen for chosen in value if len(chosen) <= 4):
        for size in range(len(large) + 1):
            for small in itertools.combinations(large, size):
                for x in set(range(9)) - set(large):
                    rise = value[tuple(sorted((*large, x)))] - value[large]
                    worst = max(worst, rise - (value[tuple(sorted((*small, x)))] - value[small]))
    assert 0.0 < worst < 4.0 * incoherence


def atomic(seed, atoms=4, size=14):
    """A target of a few atoms among the candidates, apart enough that K of all of them is well conditioned."""
    rng = np.random.default_rng(seed)
    pool = rng.uniform(-4, 4, size=(size, 2))
    weights = rng.uniform(0.5, 1.5, size=atoms)
    return pool, ss.measures.Empirical(pool[:atoms], weights), Laplacian(1.0)


@pytest.mark.parametrize("method", [ss.wkh, ss.sbq])
@pytest.mark.parametrize("seed", range(10))
def test_theorem_2_geometric_rate_on_finitely_atomic_targets(method, seed):
    pool, target, kernel = atomic(seed)
    gram, _, energy = embedded(pool, target, kernel)
    found = method(pool, 12, target=target, kernel=kernel)
    for step, square in enumerate(found.mmd**2, start=1):
        union = sorted(set(range(4)) | set(found.indices[:step].tolist()))
        # g is quadratic in the weights, so that the constants of Assumption 1 are extreme eigenvalues of K on the union.
        eigenvalues = np.linalg.eigvalsh(gram[np.ix_(union, union)])
        assert square <= energy * np.exp(-step * eigenvalues[0] / (4 * eigenvalues[-1])) + 1e-12
    assert found.mmd[-1] < 0.2 * np.sqrt(energy)


@pytest.mark.parametrize("method", [ss.wkh, ss.sbq])
@pytest.mark.parametrize("seed", range(4))
def test_theorem_1_against_exhaustive_search(method, seed):
    rng = np.random.default_rng(seed)
    pool = rng.uniform(-4, 4, size=(13, 2))
    target = ss.measures.GaussianMixture([1.0, 1.0], [[0.0, 0.0], [2.0, 2.0]], [np.eye(2), np.eye(2)])
    kernel = Gaussian(0.9)
    gram, z, energy = embedded(pool, target, kernel)
    found = method(pool, 13, target=target, kernel=kernel)
    for r in (1, 2, 3):
        best = oracles.exhaustive(gram, z, energy, r)
        for steps in range(1, len(found) + 1):
            eigenvalues = np.linalg.eigvalsh(gram)
            epsilon = np.exp(-steps * eigenvalues[0] / (r * eigenvalues[-1]))
            assert found.mmd[steps - 1] ** 2 <= (1 - epsilon) * best + epsilon * energy + 1e-12
        assert found.mmd[r - 1] ** 2 >= best - 1e-12
        assert found.mmd[2 * r - 1] ** 2 <= 1.2 * best + 1e-12  # twice the points: what the theorem is about, and more


def test_herding_of_the_printed_formula_would_not_be_greedy():
    """OWH eq. 8 prints 2 z(x); the choice that it makes is beaten by ours at some step."""
    gram, z, energy = embedded(POOL)
    chosen = []
    for _ in range(20):
        chosen.append(int(np.argmax(2.0 * z - gram[:, chosen].sum(axis=1) / (len(chosen) + 1.0))))
    printed = np.sqrt(oracles.uniform_mmd2(gram, z, energy, chosen))
    assert ss.herd(POOL, 20, target=MIXTURE, kernel=KERNEL, replace=True).mmd[-1] < 0.8 * printed
