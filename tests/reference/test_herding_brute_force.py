"""Every greedy choice is the best of the whole pool, and every path is what the definition says."""

import itertools

import numpy as np
import pytest

import herding_oracles as oracles
import supersample as ss
from supersample.kernels import Cauchy, Function, Gaussian, Laplacian, Matern
from supersample.selection.batch import weighting

RNG = np.random.default_rng(11)
POOL = RNG.normal(size=(150, 2))
TIED = np.repeat(RNG.normal(size=(30, 2)), 5, axis=0)
MIXTURE = ss.measures.GaussianMixture([1.0, 2.0], [[0.0, 0.0], [2.0, 1.0]], [np.eye(2), [[0.5, 0.2], [0.2, 0.4]]])
LINEAR = Function(lambda x, y: 1.0 + x @ y.T + 0.3 * (x @ y.T) ** 2, name="polynomial")
SETTINGS = {
    "closed form": (POOL, MIXTURE, Gaussian(0.5)),
    "itself": (POOL, None, Gaussian(0.4)),
    "other rows": (POOL, RNG.normal(size=(80, 2)), Laplacian((0.5, 1.0))),
    "sum": (POOL, MIXTURE, Gaussian(0.5) + 0.5 * Gaussian(0.2)),
    "cauchy": (POOL, RNG.normal(size=(80, 2)), Cauchy(0.3)),
    "matern": (POOL, None, Matern(1.5, 0.5)),
    "k(x, x) not constant": (POOL, None, LINEAR),
    "ties": (TIED, None, Gaussian(0.5)),
    "weighted": (POOL, ss.measures.Empirical(POOL[:40], np.arange(1.0, 41.0)), Gaussian(0.5)),
}
settings = pytest.mark.parametrize("name", SETTINGS)


def problem(name):
    pool, target, kernel = SETTINGS[name]
    measure = target if isinstance(target, ss.measures.Measure) else ss.measures.Empirical(pool if target is None else target)
    return pool, target, kernel, kernel(pool), measure.mean_embedding(kernel, pool), measure.energy(kernel)


@settings
@pytest.mark.parametrize("replace", [False, True])
def test_herding(name, replace):
    pool, target, kernel, gram, z, energy = problem(name)
    found = ss.herd(pool, 12, target=target, kernel=kernel, replace=replace)
    chosen = []
    for step, index in enumerate(found.indices):
        values = [
            np.inf if j in chosen and not replace else oracles.uniform_mmd2(gram, z, energy, [*chosen, j])
            for j in range(len(pool))
        ]
        assert index == min(oracles.sharpest(values))
        chosen.append(int(index))
        assert found.mmd[step] ** 2 == pytest.approx(values[index], abs=1e-12 * gram.max())
    np.testing.assert_array_equal(found.weights, 1 / 12)
    np.testing.assert_array_equal(found.points, pool[found.indices])


@settings
def test_sbq(name):
    pool, target, kernel, gram, z, energy = problem(name)
    found = ss.sbq(pool, 12, target=target, kernel=kernel)
    chosen = []
    for step, index in enumerate(found.indices):
        values = np.array(
            [np.inf if j in chosen else oracles.variance(gram, z, energy, [*chosen, j]) for j in range(len(pool))]
        )
        gain = oracles.variance(gram, z, energy, chosen) - values
        # A gain is a difference of numbers of size E, so that it is known to about 1e-13 of E by the oracle.
        assert gain[index] >= gain.max() - 1e-9 * gain.max() - 1e-12 * energy
        chosen.append(int(index))
        assert found.mmd[step] ** 2 == pytest.approx(values[index], abs=1e-11 * energy)
    np.testing.assert_allclose(found.weights, oracles.best_weights(gram, z, found.indices), rtol=1e-5, atol=1e-7)


@settings
def test_wkh(name):
    pool, target, kernel, gram, z, energy = problem(name)
    found = ss.wkh(pool, 12, target=target, kernel=kernel)
    chosen = []
    for step, index in enumerate(found.indices):
        slopes = np.abs(oracles.slope(gram, z, chosen))
        assert slopes[index] >= slopes.max() * (1.0 - 1e-9) - 1e-12 * gram.max()
        chosen.append(int(index))
        assert found.mmd[step] ** 2 == pytest.approx(oracles.variance(gram, z, energy, chosen), abs=1e-11 * energy)


@settings
@pytest.mark.parametrize("variant", ["line-search", "fully-corrective", "away", "pairwise"])
def test_frank_wolfe_takes_the_steepest_candidate_and_the_best_step(name, variant):
    pool, target, kernel, gram, z, energy = problem(name)
    found = [ss.frank_wolfe(pool, steps, target=target, kernel=kernel, variant=variant) for steps in range(1, 9)]
    for before, after in itertools.pairwise(found):
        if after.mmd.size == before.mmd.size:
            assert "duality gap" in after.note
            continue
        w, v = np.zeros(len(pool)), np.zeros(len(pool))
        np.add.at(w, before.indices, before.weights)
        np.add.at(v, after.indices, after.weights)
        assert after.weights.min() > 0
        assert v.sum() == pytest.approx(1.0, abs=1e-12)
        slopes = z - gram @ w
        steepest = oracles.sharpest(slopes, lowest=False)
        if variant != "away" or (v[sorted(steepest)] > w[sorted(steepest)]).any():
            assert (v - w)[min(steepest)] >= -1e-12
        loss = [energy - 2.0 * u @ z + u @ gram @ u for u in (w, v)]
        assert loss[1] <= loss[0] + 1e-12 * gram.max()
        assert after.mmd[-1] ** 2 == pytest.approx(loss[1], abs=1e-12 * gram.max())
        if variant == "fully-corrective":
            support = after.indices
            assert np.ptp((z - gram @ v)[support]) < 1e-9 * gram.max()
        else:
            # No other point of the line through the two is nearer to the target, unless a weight has run out on the way.
            direction = v - w
            shorter, longer = w + 0.999 * direction, w + 1.001 * direction
            assert loss[1] <= energy - 2.0 * shorter @ z + shorter @ gram @ shorter + 1e-12 * gram.max()
            if (longer >= 0).all():
                assert loss[1] <= energy - 2.0 * longer @ z + longer @ gram @ longer + 1e-12 * gram.max()


def test_fixed_steps_are_herding_with_replacement():
    pool, target, kernel, *_ = problem("ties")
    herded = ss.herd(pool, 40, target=target, kernel=kernel, replace=True)
    stepped = ss.frank_wolfe(pool, 40, target=target, kernel=kernel, variant="fixed")
    np.testing.assert_allclose(stepped.mmd, herded.mmd, rtol=1e-9)
    counts = np.bincount(herded.indices, minlength=len(pool)) / 40
    np.testing.assert_allclose(counts[stepped.indices], stepped.weights, atol=1e-15)
    assert len(stepped) < 40
    first = ss.frank_wolfe(pool, 25, target=target, kernel=kernel, variant="fixed")
    parts = ss.frank_wolfe(pool, 40, target=target, kernel=kernel, variant="fixed", resume=first)
    np.testing.assert_allclose(parts.mmd, stepped.mmd, rtol=1e-7)
    assert dict(zip(parts.indices, parts.weights, strict=True)) == dict(zip(stepped.indices, stepped.weights, strict=True))


@pytest.mark.parametrize("method", [ss.herd, ss.sbq, ss.wkh, ss.frank_wolfe])
@pytest.mark.parametrize("name", ["closed form", "itself"])
def test_going_on_from_a_selection_is_the_same_as_one_run(method, name):
    pool, target, kernel, *_ = problem(name)
    whole = method(pool, 20, target=target, kernel=kernel)
    parts = method(pool, 20, target=target, kernel=kernel, resume=method(pool, 8, target=target, kernel=kernel))
    np.testing.assert_array_equal(parts.indices, whole.indices)
    np.testing.assert_allclose(parts.weights, whole.weights, rtol=1e-7)
    np.testing.assert_allclose(parts.mmd, whole.mmd, rtol=1e-8)


@pytest.mark.parametrize("method", [ss.herd, ss.sbq, ss.wkh, ss.frank_wolfe])
def test_features_choose_as_their_own_kernel_does(method):
    phi = ss.features.Fourier(Gaussian(0.6), 64, dtype=np.float64, random_state=0)
    own = Function(lambda x, y: phi.transform(x) @ phi.transform(y).T, name="of the features")
    by_features = method(POOL, 15, features=phi)
    by_kernel = method(POOL, 15, kernel=own)
    np.testing.assert_array_equal(by_features.indices, by_kernel.indices)


def test_the_path_by_features_is_that_of_the_exact_kernel():
    phi = ss.features.Fourier(Gaussian(0.6), 32, random_state=0)
    for method in (ss.herd, ss.sbq):
        found = method(POOL, 15, features=phi)
        kernel = Gaussian(0.6)
        truth = oracles.mmd2(kernel(POOL), kernel(POOL).mean(axis=0), kernel(POOL).mean(), found.indices, found.weights)
        assert found.mmd[-1] ** 2 == pytest.approx(truth, abs=1e-12)
        flattered = phi.transform(POOL).mean(axis=0) - found.weights @ phi.transform(POOL)[found.indices]
        assert found.mmd[-1] > np.sqrt(flattered @ flattered)


@pytest.mark.parametrize("kind", ["uniform", "free", "simplex"])
def test_paths_belong_to_the_weights_asked_for(kind):
    pool, target, kernel, gram, z, energy = problem("closed form")
    found = ss.herd(pool, 15, target=target, kernel=kernel, weighting=kind)
    for size in (1, 4, 15):
        part = found.indices[:size]
        w = ss.quadrature_weights(pool[part], target=target, kernel=kernel, kind=kind)
        assert found.mmd[size - 1] ** 2 == pytest.approx(oracles.mmd2(gram, z, energy, part, w), abs=1e-12)
    np.testing.assert_allclose(found.weights, w, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("name", ["closed form", "other rows", "sum"])
def test_simplex_weights_are_the_best_of_the_simplex(name):
    pool, target, kernel, gram, z, _ = problem(name)
    part = np.arange(12)
    w = ss.quadrature_weights(pool[part], target=MIXTURE if target is None else target, kernel=kernel, kind="simplex")
    slow = oracles.simplex_by_steps(gram[np.ix_(part, part)], z[part])
    assert w.min() >= 0
    assert w.sum() == pytest.approx(1.0)
    loss = [u @ gram[np.ix_(part, part)] @ u - 2.0 * u @ z[part] for u in (w, slow)]
    assert loss[0] <= loss[1] + 1e-12
    np.testing.assert_allclose(w, slow, atol=1e-3)


@pytest.mark.parametrize("kind", ["uniform", "free", "simplex"])
def test_weights_of_all_points_are_the_last_of_the_path(kind, monkeypatch):
    pool, _, kernel, gram, z, energy = problem("closed form")
    part = np.arange(40)
    solved = []
    solve = weighting.simplex_weights
    monkeypatch.setattr(weighting, "simplex_weights", lambda *args: solved.append(args) or solve(*args))
    found = ss.quadrature_weights(pool[part], target=MIXTURE, kernel=kernel, kind=kind)
    assert len(solved) == (kind == "simplex")  # one quadratic program, not one for each number of points
    square = gram[np.ix_(part, part)]
    np.testing.assert_allclose(found, weighting.weigh(kind, square, z[part], energy).weights, atol=1e-9)


@pytest.mark.parametrize("method", [ss.herd, ss.sbq, ss.wkh, ss.frank_wolfe])
def test_refined_points_are_stationary_and_no_worse_at_the_first_step(method):
    found = method(POOL, 1, target=MIXTURE, kernel=Gaussian(0.5), refine=True)
    plain = method(POOL, 1, target=MIXTURE, kernel=Gaussian(0.5))
    assert found.mmd[0] < plain.mmd[0]
    assert found.indices[0] == plain.indices[0]
    assert "moved off the pool" in found.note
    grid = found.points[0] + 0.01 * np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])
    assert (MIXTURE.mean_embedding(Gaussian(0.5), grid) < MIXTURE.mean_embedding(Gaussian(0.5), found.points)).all()
