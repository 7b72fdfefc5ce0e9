"""Paths are those of the exact kernel, or estimates by what took no part in the choice, with an error that is true."""

import functools
import re

import numpy as np
import pytest

import herding_oracles as oracles
import supersample as ss
from supersample._random import as_seed
from supersample.kernels import Function, Gaussian, Laplacian
from supersample.measures.mean_only import MeanOnly
from supersample.selection.batch import estimated_mmd
from supersample.selection.batch.estimated_mmd import sampled_squares

METHODS = [ss.herd, ss.sbq, ss.wkh, ss.frank_wolfe]
methods = pytest.mark.parametrize("method", METHODS, ids=lambda method: method.__name__)
RNG = np.random.default_rng(21)
SMALL = RNG.normal(size=(1500, 2))
LARGE = RNG.normal(size=(20_500, 2))
RISING = np.arange(1.0, 1501.0)
WEIGHTS = RNG.uniform(size=20_500) * (LARGE[:, 0] > 0)
KERNEL = Gaussian(0.6)


@functools.cache
def exact(rows, weighted, kernel):
    """A measure and its energy, from all kernel values."""
    points = {1500: SMALL, 20_500: LARGE}[rows]
    measure = ss.measures.Empirical(points, {1500: RISING, 20_500: WEIGHTS}[rows] if weighted else None)
    return measure, measure.energy(kernel)


def true_mmd(rows, found, kernel, *, weighted=True):
    measure, energy = exact(rows, weighted, kernel)
    gram, z = kernel(found.points), measure.mean_embedding(kernel, found.points)
    return np.sqrt(max(0.0, oracles.mmd2(gram, z, energy, np.arange(len(found)), found.weights)))


def stated_error(found):
    return float(re.search(r"standard error of ([0-9.e-]+[0-9])", found.note).group(1))


@methods
@pytest.mark.parametrize("by_features", [True, False])
def test_a_target_with_features_is_judged_by_its_points(method, by_features):
    phi = ss.features.Fourier(KERNEL, 64, random_state=0)
    target = ss.measures.Empirical(SMALL, RISING, features=phi)
    options = {"features": phi} if by_features else {"kernel": KERNEL}
    found = method(SMALL, 40, target=target, **options)
    assert found.mmd[-1] == pytest.approx(true_mmd(1500, found, KERNEL), rel=1e-6)
    mixed = method is ss.herd and not by_features
    assert found.note.startswith("The target is known by features and the candidates by the exact kernel" if mixed else "")
    assert bool(found.note) == mixed


@pytest.mark.parametrize("kind", ["free", "simplex"])
def test_weights_for_a_target_with_features_are_those_of_its_points(kind):
    phi = ss.features.Fourier(KERNEL, 64, random_state=0)
    exact = ss.quadrature_weights(SMALL[:20], target=SMALL, kernel=KERNEL, kind=kind)
    found = ss.quadrature_weights(SMALL[:20], target=ss.measures.Empirical(SMALL, features=phi), kernel=KERNEL, kind=kind)
    np.testing.assert_allclose(found, exact, rtol=1e-9, atol=1e-12)


@methods
@pytest.mark.parametrize("kernel", [KERNEL, Laplacian(0.8)], ids=repr)
def test_large_targets_are_judged_by_other_features(method, kernel):
    phi = ss.features.Fourier(kernel, 64, random_state=0)
    found = method(LARGE, 40, target=ss.measures.Empirical(LARGE, WEIGHTS), features=phi, random_state=0)
    truth = true_mmd(20_500, found, kernel)
    error = stated_error(found)
    assert "MMD is an estimate, by 512 features that took no part in the choice" in found.note
    assert error < 0.25 * truth
    # Four standard errors: 256 draws are near enough to normal for one failure in 10,000 seeds, and the seed is fixed.
    assert abs(found.mmd[-1] - truth) < 4 * error
    # The features that chose show something else, and so does a target without its weights.
    own = phi.transform(LARGE).T @ (WEIGHTS / WEIGHTS.sum()) - phi.transform(found.points).T @ found.weights
    assert found.mmd[-1] > 1.02 * np.sqrt(own @ own)
    assert abs(true_mmd(20_500, found, kernel, weighted=False) - found.mmd[-1]) > 6 * error


@methods
def test_exact_candidates_for_a_large_target_with_features(method):
    """Weights are those of exact z and K, which many points still allow; only E is out of reach."""
    phi = ss.features.Fourier(KERNEL, 64, random_state=0)
    target = ss.measures.Empirical(LARGE, WEIGHTS, features=phi)
    found = method(SMALL[:300], 12, target=target, kernel=KERNEL, weighting="free", random_state=0)
    exact_target = exact(20_500, True, KERNEL)[0]
    np.testing.assert_allclose(
        found.weights, ss.quadrature_weights(found.points, target=exact_target, kernel=KERNEL), rtol=1e-6, atol=1e-9
    )
    assert abs(found.mmd[-1] - true_mmd(20_500, found, KERNEL)) < 4 * stated_error(found)


@methods
def test_mean_features_are_those_of_the_weighted_target(method):
    phi = ss.features.Fourier(KERNEL, 64, dtype=np.float64, random_state=0)
    weighted = ss.measures.Empirical(SMALL[:400], np.where(SMALL[:400, 0] > 0, 1.0, 0.0))
    of_those = ss.measures.Empirical(SMALL[:400][SMALL[:400, 0] > 0])
    first, second = (method(SMALL, 12, target=target, features=phi) for target in (weighted, of_those))
    np.testing.assert_array_equal(first.indices, second.indices)
    np.testing.assert_allclose(first.mmd, second.mmd, rtol=1e-9)


def test_kernels_without_a_spectrum_are_judged_by_rows_of_the_target():
    own = Function(lambda x, y: Gaussian(0.05)(x, y), name="narrow gaussian")
    features = ss.features.Nystroem(own, LARGE[:200])
    found = ss.sbq(LARGE, 30, target=ss.measures.Empirical(LARGE, WEIGHTS), features=features, random_state=0)
    truth = true_mmd(20_500, found, Gaussian(0.05))
    assert "MMD is an estimate, by 9,756 rows of the target" in found.note
    assert stated_error(found) < 0.02 * truth
    assert abs(found.mmd[-1] - truth) < 4 * stated_error(found)
    # Landmarks, which judged such kernels before, show less than half of it.
    landmarks = ss.features.Nystroem.from_sample(own, LARGE, 512, random_state=1)
    seen = landmarks.transform(LARGE).T @ (WEIGHTS / WEIGHTS.sum()) - landmarks.transform(found.points).T @ found.weights
    assert np.sqrt(seen @ seen) < truth - 10 * stated_error(found)


def test_sampled_squares_have_no_bias_and_the_error_that_they_state():
    measure = ss.measures.Empirical(LARGE[:3000], np.arange(1.0, 3001.0))
    rows, weights = LARGE[:5], np.full((2, 5), 0.2)
    weights[0] = [1.0, 0.0, 0.0, 0.0, 0.0]
    exact = [
        oracles.mmd2(KERNEL(rows), measure.mean_embedding(KERNEL, rows), measure.energy(KERNEL), np.arange(5), w)
        for w in weights
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(estimated_mmd, "_KERNEL_VALUES", 1)  # as for a target of millions: 500 rows
        found = [sampled_squares(KERNEL, measure, rows, weights, as_seed(seed)) for seed in range(40)]
    errors = np.array([each.squares - exact for each in found])
    stated = np.mean([each.error for each in found])
    # The mean of 40 estimates within four of its standard errors, their spread within a factor of 1.6 (chi2 of 39: 1e-4).
    assert abs(errors[:, 1].mean()) < 4 * stated / np.sqrt(40)
    assert abs(errors[:, 0].mean()) < 4 * errors[:, 0].std() / np.sqrt(39)
    assert stated / 1.6 < errors[:, 1].std() < 1.6 * stated


def test_what_is_known_by_mean_features_alone_says_so():
    phi = ss.features.Fourier(KERNEL, 64, random_state=0)
    held = ss.features.Fourier(KERNEL, 128, random_state=1)
    means = [each.transform(SMALL).mean(axis=0).astype(float) for each in (phi, held)]
    found = ss.herd(SMALL, 20, target=MeanOnly(phi, means[0], held, means[1], 2), features=phi)
    assert "MMD is an estimate, by 128 features" in found.note
    landmarks = ss.features.Nystroem.from_sample(KERNEL, SMALL, 50, random_state=0)
    means[1] = landmarks.transform(SMALL).mean(axis=0).astype(float)
    found = ss.herd(SMALL, 20, target=MeanOnly(phi, means[0], landmarks, means[1], 2), features=phi)
    assert "landmark features, which can only show too little." in found.note


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_free_weights_by_features_are_refitted_at_each_step(dtype):
    """The path of a large target has the weights of its own step, not those of the step before."""
    phi = ss.features.Fourier(KERNEL, 256, dtype=dtype, random_state=0)
    whole = ss.sbq(LARGE, 12, features=phi, random_state=0)
    for size in (1, 5, 11):
        part = ss.sbq(LARGE, size, features=phi, random_state=0)
        np.testing.assert_array_equal(part.indices, whole.indices[:size])
        assert whole.mmd[size - 1] == pytest.approx(part.mmd[-1], rel=1e-6)
    phi_of, mean = phi.transform(whole.points).astype(float), phi.transform(LARGE).astype(float).mean(axis=0)
    best = np.linalg.lstsq(phi_of.T, mean, rcond=None)[0]
    np.testing.assert_allclose(whole.weights, best, rtol=1e-3, atol=1e-4)
