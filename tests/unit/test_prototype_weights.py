"""The weights of prototypes: nearer to the data than equal ones, positive, and of sum one."""

import numpy as np
import pytest

import supersample as ss
from supersample.selection.batch.weighting import simplex_weights
from supersample.selection.stream import prototype_weights as module
from supersample.selection.stream.calibration import Target
from supersample.selection.stream.prototype_weights import prototype_weights


def cloud(n, d=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * 0.6 + rng.integers(0, 4, size=(n, 1)) * 1.5


def whole(points, weights=None):
    """Return a target that is all of the data."""
    shares = np.full(len(points), 1.0 / len(points)) if weights is None else weights
    return Target(points, shares, np.zeros((len(points), 1)), shares, np.zeros(1), complete=True)


def square(kernel, points, weights, data, shares):
    return float(
        weights @ kernel(points) @ weights - 2.0 * weights @ kernel(points, data) @ shares + shares @ kernel(data) @ shares
    )


@pytest.mark.parametrize("kernel", [ss.kernels.Gaussian(2.0), ss.kernels.Laplacian(3.0), ss.kernels.Matern(1.5, 2.0)])
@pytest.mark.parametrize("weighted", [False, True])
def test_they_are_near_the_best_on_the_simplex(kernel, weighted):
    data = cloud(600)
    shares = np.random.default_rng(1).exponential(size=600) if weighted else np.ones(600)
    shares /= shares.sum()
    points = data[:40]
    found = prototype_weights(kernel, points, whole(data, shares))
    assert abs(found.sum() - 1.0) < 1e-12
    assert found.min() >= 0.1 / 40 - 1e-12
    # The exact solution on the simplex, with a tenth of an equal weight set aside for each.
    gram, z = kernel(points), kernel(points, data) @ shares
    best = 0.1 / 40 + 0.9 * simplex_weights(gram, (z - 0.1 * gram.mean(axis=1)) / 0.9)
    equal, mine, least = (square(kernel, points, each, data, shares) for each in (np.full(40, 1 / 40), found, best))
    assert least <= mine + 1e-12
    assert equal - mine >= 0.98 * (equal - least) > 0


def test_many_points_have_their_weights_from_a_matrix_in_float32(monkeypatch):
    data, kernel = cloud(500), ss.kernels.Gaussian(2.0)
    exact = prototype_weights(kernel, data[:60], whole(data))
    monkeypatch.setattr(module, "_MOST_EXACT", 59)
    rounded = prototype_weights(kernel, data[:60], whole(data))
    np.testing.assert_allclose(rounded, exact, atol=1e-3 / 60)
    assert (rounded != exact).any()


@pytest.mark.parametrize("at_once", [59, 30, 20])
@pytest.mark.parametrize("complete", [True, False])
def test_blocks_of_points_come_near_to_the_best_of_all_at_once(monkeypatch, at_once, complete):
    data, kernel = cloud(500), ss.kernels.Gaussian(2.0)
    points, target = data[:60], whole(data)._replace(complete=complete)
    best = prototype_weights(kernel, points, target)
    monkeypatch.setattr(module, "_MOST_AT_ONCE", at_once)
    found = prototype_weights(kernel, points, target)
    assert abs(found.sum() - 1.0) < 1e-12
    assert found.min() >= 0.1 / 60 - 1e-12
    assert (found != best).any()
    shares = np.full(500, 1 / 500)
    equal, mine, least = (square(kernel, points, each, data, shares) for each in (np.full(60, 1 / 60), found, best))
    assert equal - mine >= 0.97 * (equal - least) > 0


def test_blocks_are_never_farther_from_the_target_than_equal_weights(monkeypatch):
    # Points that are as good as they can be with equal weights: all of the data.
    data, kernel = cloud(90), ss.kernels.Laplacian(3.0)
    monkeypatch.setattr(module, "_MOST_AT_ONCE", 20)
    found, shares = prototype_weights(kernel, data, whole(data)), np.full(90, 1 / 90)
    assert square(kernel, data, found, data, shares) <= square(kernel, data, shares, data, shares) + 1e-15


def test_more_than_two_thousand_points_have_weights_of_their_own():
    rng, kernel = np.random.default_rng(8), ss.kernels.Gaussian(3.0)
    data = rng.normal(size=(6_000, 4))
    found = prototype_weights(kernel, data[:2_100], whole(data))
    weighted, equal = (ss.mmd2(data[:2_100], data, kernel=kernel, weight_x=each) for each in (found, None))
    assert weighted < 0.1 * equal
    assert abs(found.sum() - 1.0) < 1e-12
    assert found.min() >= 0.1 / 2_100 - 1e-12


def test_points_whose_kernel_values_would_take_too_long_have_equal_weights(monkeypatch):
    data, kernel = cloud(500), ss.kernels.Gaussian(2.0)
    monkeypatch.setattr(module, "_MOST_FOR_VALUES", 60 * 60 * 54)
    monkeypatch.setattr(module, "_MOST_AT_ONCE", 30)
    assert np.ptp(prototype_weights(kernel, data[:60], whole(data))) > 0
    assert module.most_solvable(4) == 60
    np.testing.assert_array_equal(prototype_weights(kernel, data[:61], whole(data)), np.full(61, 1 / 61))
    # Rows of a table have one more coordinate, for missing values.
    solved, equal = (ss.summarize(data, prototypes=size, criticisms=0, random_state=0) for size in (59, 60))
    assert np.ptp(solved.weights()) > 0
    assert np.ptp(equal.weights()) == 0
    assert "equal weights" not in {note.kind for note in solved.notes}
    assert "weights  " not in str(solved)
    assert {note.kind: str(note) for note in equal.notes}["equal weights"] == (
        "all 60 prototypes weigh alike: the weights of more than 59 would take too long to solve; ask for no more than that if "
        "averages matter"
    )
    assert "  weights     all equal: those of more than 59 prototypes would take too long to solve" in str(equal).splitlines()


def test_how_many_points_have_weights_of_their_own():
    assert [module.most_solvable(width) for width in (10, 384, 768, 4_096, 10**6)] == [20_412, 7_589, 5_528, 2_455, 2_000]


@pytest.mark.parametrize(("n", "size"), [(12_000, 30), (12_000, 400)])
@pytest.mark.parametrize("heavy", [False, True])
def test_they_are_nearer_to_all_rows_than_equal_ones(n, size, heavy):
    data = np.random.default_rng(3).standard_t(2, size=(n, 4)) if heavy else cloud(n, seed=3)
    sampler = ss.SuperSampler(size, random_state=0).fit(data)
    points, kernel = sampler.prototypes_, sampler.kernel_
    weighted = ss.mmd2(points, data, kernel=kernel, weight_x=sampler.weights_)
    equal = ss.mmd2(points, data, kernel=kernel)
    assert weighted < equal
    assert abs(sampler.mmd_ - np.sqrt(weighted)) < 5 * sampler.mmd_error_
    assert sampler.weights_.min() >= 0.1 / size - 1e-12


def test_weights_that_only_fit_the_sample_are_not_used():
    # More prototypes than the sample can weigh: closer weights for the sample would be farther from the data.
    data = np.random.default_rng(5).standard_t(2, size=(12_000, 6))
    sampler = ss.SuperSampler(2_000, random_state=0).fit(data)
    points, kernel = sampler.prototypes_, sampler.kernel_
    assert ss.mmd2(points, data, kernel=kernel, weight_x=sampler.weights_) <= ss.mmd2(points, data, kernel=kernel) * (1 + 1e-9)


def test_halves_of_a_small_sample_keep_weights_near_equal():
    # 200 random points, and a sample of 30 rows to weigh them by: its noise is seven times that of equal weights.
    rng, kernel = np.random.default_rng(6), ss.kernels.Gaussian(2.0)
    points, sample, data = (rng.normal(size=(n, 4)) for n in (200, 30, 4_000))
    known = whole(sample)
    judged = prototype_weights(kernel, points, known._replace(complete=False))
    equal, mine, fitted = (
        ss.mmd2(points, data, kernel=kernel, weight_x=each) for each in (None, judged, prototype_weights(kernel, points, known))
    )
    assert fitted > 2.0 * equal
    assert mine < 1.1 * equal


def test_rows_that_are_all_alike_weigh_alike():
    sampler = ss.SuperSampler(5, random_state=0).fit(np.ones((50, 2)))
    np.testing.assert_array_equal(sampler.weights_, np.full(5, 0.2))
    assert sampler.mmd_ == sampler.uniform_mmd_ == pytest.approx(0.0, abs=1e-12)


def test_all_rows_kept_have_the_weights_of_the_rows():
    data, mass = cloud(40, d=2), np.linspace(1.0, 2.0, 40)
    sampler = ss.SuperSampler(40, bandwidth=0.3, random_state=0).fit(data, sample_weight=mass)
    np.testing.assert_allclose(sampler.weights_, mass / mass.sum(), rtol=0.02)


def test_a_summary_averages_by_its_weights():
    data = cloud(3_000)
    summary = ss.summarize(data, prototypes=25, random_state=0)
    rows = summary.prototypes
    np.testing.assert_array_equal(rows["_weight"].to_numpy(), summary.weights())
    assert summary.expect("x0") == pytest.approx(float(summary.weights() @ rows["x0"].to_numpy()), abs=1e-15)
    assert summary.expect("x0", weighting="uniform") == pytest.approx(rows["x0"].to_numpy().mean(), abs=1e-12)
    assert abs(rows["_share"].to_numpy().sum() - 1.0) < 1e-12
    assert summary.mmd < summary.uniform_mmd < summary.random_mmd
    loaded = ss.summarize(data, prototypes=25, random_state=0)
    np.testing.assert_array_equal(loaded.weights(), summary.weights())
