"""Exchange steps: each place ends with the candidate that is best beside the others, and the MMD only falls."""

import itertools

import numpy as np
import pytest

import herding_oracles as oracles
import supersample as ss
from engine_parts import chosen_locally
from supersample.errors import InputError, InputTypeError
from supersample.kernels import Gaussian, Laplacian, Matern

MIXTURE = ss.measures.GaussianMixture([1.0, 2.0], [[0.0, 0.0], [2.0, 1.0]], [np.eye(2), [[0.5, 0.2], [0.2, 0.4]]])


@pytest.mark.parametrize("method", [ss.sbq, ss.wkh])
@pytest.mark.parametrize("kernel", [Gaussian(0.5), Laplacian(0.8), Matern(1.5, 0.7)], ids=repr)
@pytest.mark.parametrize("seed", range(4))
def test_every_place_as_by_trying_all_candidates(method, kernel, seed):
    rng = np.random.default_rng(seed)
    pool = MIXTURE.sample(50, rng)
    measure = ss.measures.Empirical(MIXTURE.sample(30, rng))
    gram, z, energy = kernel(pool), measure.mean_embedding(kernel, pool), measure.energy(kernel)
    greedy = method(pool, 9, target=measure, kernel=kernel)
    found = method(pool, 9, target=measure, kernel=kernel, exchange=True)
    starts = [greedy.indices.tolist(), ss.herd(pool, 9, target=measure, kernel=kernel).indices.tolist()]
    ends = [oracles.exchanged(gram, z, energy, start) for start in starts]
    expected = min(ends, key=lambda chosen: oracles.variance(gram, z, energy, chosen))
    if sorted(ends[0]) != sorted(ends[1]):  # else either order may be returned
        assert found.indices.tolist() == expected
    assert sorted(found.indices.tolist()) == sorted(expected)
    expected = found.indices.tolist()
    assert found.mmd[-1] <= greedy.mmd[-1]
    assert found.mmd[-1] ** 2 == pytest.approx(oracles.variance(gram, z, energy, expected), rel=1e-6)
    assert np.allclose(found.weights, oracles.best_weights(gram, z, expected), rtol=1e-6)
    assert np.array_equal(found.points, pool[expected])


def test_the_best_of_all_sets_is_left_alone():
    pool = MIXTURE.sample(12, 0)
    gram, z, energy = Gaussian(0.8)(pool), MIXTURE.mean_embedding(Gaussian(0.8), pool), MIXTURE.energy(Gaussian(0.8))
    best = list(min(itertools.combinations(range(12), 3), key=lambda chosen: oracles.variance(gram, z, energy, list(chosen))))
    given = ss.Selection(np.array(best), pool[best], np.full(3, 1 / 3), np.empty(0))
    found = ss.sbq(pool, 3, target=MIXTURE, kernel=Gaussian(0.8), resume=given, exchange=True)
    assert found.indices.tolist() == best
    # The worst set does not stay.
    worst = list(max(itertools.combinations(range(12), 3), key=lambda chosen: oracles.variance(gram, z, energy, list(chosen))))
    given = ss.Selection(np.array(worst), pool[worst], np.full(3, 1 / 3), np.empty(0))
    found = ss.sbq(pool, 3, target=MIXTURE, kernel=Gaussian(0.8), resume=given, exchange=True)
    assert found.indices.tolist() == oracles.exchanged(gram, z, energy, worst)  # both starts are those of `resume`
    assert found.mmd[-1] ** 2 < 0.5 * oracles.variance(gram, z, energy, worst)


def test_many_points_of_a_smooth_kernel():
    """K is nearly singular here; the path is computed again from the start, so that an error in the updates would show."""
    pool = MIXTURE.sample(1_500, 4)
    greedy = ss.sbq(pool, 60, target=MIXTURE, kernel=Gaussian(0.8))
    found = ss.sbq(pool, 60, target=MIXTURE, kernel=Gaussian(0.8), exchange=True)
    assert found.mmd[-1] < 0.8 * greedy.mmd[-1]
    assert np.unique(found.indices).size == 60
    gram, z = Gaussian(0.8)(found.points), MIXTURE.mean_embedding(Gaussian(0.8), found.points)
    square = MIXTURE.energy(Gaussian(0.8)) - 2.0 * found.weights @ z + found.weights @ gram @ found.weights
    assert found.mmd[-1] == pytest.approx(np.sqrt(square), rel=1e-3)


def test_where_the_kernel_is_so_wide_that_an_inverse_would_be_noise():
    pool = MIXTURE.sample(800, 4)
    for count in (8, 16, 24, 32):
        options = {"target": pool, "kernel": Gaussian(2.5)}
        assert ss.sbq(pool, count, exchange=True, **options).mmd[-1] <= ss.sbq(pool, count, **options).mmd[-1]


def test_features():
    pool = MIXTURE.sample(400, 4)
    phi = ss.features.Fourier(Gaussian(0.5), 200, random_state=0)
    options = {"target": pool[:200], "features": phi, "random_state": 0}
    greedy, found = (ss.sbq(pool, 12, exchange=exchange, **options) for exchange in (False, True))
    rows = phi.transform(pool).astype(np.float64)
    gram, z = rows @ rows.T, rows @ rows[:200].mean(axis=0)
    energy = float(np.sum(rows[:200].mean(axis=0) ** 2))
    assert oracles.variance(gram, z, energy, found.indices) < oracles.variance(gram, z, energy, greedy.indices)
    herded = ss.herd(pool, 12, **options).indices.tolist()
    ends = [oracles.exchanged(gram, z, energy, start) for start in (greedy.indices.tolist(), herded)]
    assert sorted(found.indices.tolist()) in [sorted(end) for end in ends]


def test_copies_and_a_matched_target():
    few = np.repeat([[0.0, 0.0], [1.0, 1.0]], 5, axis=0)
    found = ss.sbq(few, 4, kernel=Gaussian(1.0), exchange=True)
    assert len(found) == 2
    assert found.mmd[-1] == pytest.approx(0.0, abs=1e-7)
    copies = ss.Selection(np.array([0, 1, 5]), few[[0, 1, 5]], np.full(3, 1 / 3), np.empty(0))
    again = ss.sbq(few, 3, kernel=Gaussian(1.0), resume=copies, exchange=True)  # K is singular
    assert again.indices.tolist() == [0, 1, 5]


def test_on_parts_of_a_cluster():
    pool = MIXTURE.sample(300, 5)
    parts = [pool[:100], pool[100:200], pool[200:]]
    options = {"target": MIXTURE, "kernel": Gaussian(0.5), "random_state": 0}
    plain, found = (chosen_locally(parts, "sbq", 10, exchange=exchange, **options) for exchange in (False, True))
    assert (found.runs < plain.runs).all()
    assert found.mmd[-1] == found.runs.min()


def test_wrong_options():
    pool = MIXTURE.sample(30, 0)
    with pytest.raises(InputError, match=r"exchange=True puts candidates .* refine=True moves points off; set one of them"):
        ss.sbq(pool, 3, target=MIXTURE, kernel=Gaussian(0.5), exchange=True, refine=True)
    with pytest.raises(InputTypeError, match="exchange must be True or False"):
        ss.wkh(pool, 3, target=MIXTURE, kernel=Gaussian(0.5), exchange="yes")
