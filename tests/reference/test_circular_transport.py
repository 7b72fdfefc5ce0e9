"""Circular discrepancies against brute force: a supremum over a grid, and the transport linear programme."""

import numpy as np
import pytest

import oracles
import supersample as ss
from supersample._random import as_seed
from supersample.discrepancy import resampled_circular
from supersample.discrepancy.two_samples import pool


def angles(rng, kind, n):
    if kind == "tied":
        return rng.integers(0, 6, size=n) * np.pi / 3
    if kind == "many turns":
        return rng.normal(0.0, 50.0, size=n)
    return rng.vonmises(1.0, 1.5, size=n)


@pytest.mark.parametrize("kind", ["vonmises", "tied", "many turns"])
@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 6), (5, 5), (7, 12), (20, 3)])
@pytest.mark.parametrize("weighted", [False, True])
def test_mallows_equals_the_transport_programme(kind, m, n, weighted):
    rng = np.random.default_rng([m, n, weighted])
    for _ in range(3):
        x, y = angles(rng, kind, m), angles(rng, kind, n) + 0.3 * (kind != "tied")
        weights = {"weight_x": rng.random(m), "weight_y": rng.random(n)} if weighted else {}
        got = ss.circular_discrepancy(x, y, distance="mallows", **weights)
        assert got == pytest.approx(oracles.circular_work(x, y, **weights), abs=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_sine_distance_is_the_supremum_it_is_defined_as(weighted):
    """Claim 5: sup over y of E sin(y - X) - E sin(y - Y) is the amplitude of the difference of two sinusoids."""
    rng = np.random.default_rng(0)
    for m, n in ((1, 1), (4, 9), (30, 11)):
        x, y = rng.uniform(-10, 10, m), rng.uniform(-10, 10, n)
        wx, wy = (rng.random(m), rng.random(n)) if weighted else (np.ones(m), np.ones(n))
        turn = np.linspace(0, 2 * np.pi, 20_001)[:, None]
        curve = np.sin(turn - x) @ wx / wx.sum() - np.sin(turn - y) @ wy / wy.sum()
        got = ss.circular_discrepancy(x, y, weight_x=wx, weight_y=wy)
        assert got == pytest.approx(curve.max(), abs=1e-7)
        assert got == pytest.approx(np.ptp(curve) / 2, abs=1e-7)


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", ss.kernels.Cauchy(2.0) + ss.kernels.Gaussian(1.0)])
def test_root_mean_square_over_frequencies_is_mmd(kernel):
    """Claim 6, with the same frequencies on both sides: Definition 3 is the biased Fourier estimate of MMD."""
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(60, 3)), rng.normal(0.5, 2.0, size=(45, 3))
    ensemble = ss.circular_ensemble(x, y, kernel=kernel, n_frequencies=200, random_state=3)
    fourier = ss.mmd2(x, y, kernel=kernel, method="fourier", n_features=400, random_state=3)
    assert ensemble**2 == pytest.approx(fourier, rel=1e-4)


def test_ensemble_tends_to_the_exact_mmd():
    """Claim 6 in the limit. 20,000 frequencies: relative standard error about 1%, so 5% is five of them."""
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(60, 2)), rng.normal(0.7, 1.0, size=(80, 2))
    kernel = 2.0 * ss.kernels.Gaussian(1.0)
    ensemble = ss.circular_ensemble(x, y, kernel=kernel, n_frequencies=20_000, random_state=0)
    assert ensemble == pytest.approx(np.sqrt(ss.mmd2(x, y, kernel=kernel)), rel=0.05)


def rows(kind, size, seed):
    rng = np.random.default_rng([seed, size])
    return rng.integers(0, 2, size=(size, 2)).astype(float) if kind == "tied" else rng.normal(size=(size, 2))


def angles_of(x, y, n_frequencies, seed):
    """The angles of a test by Gaussian(1.0): the frequencies are those of the map with its seed."""
    phi = ss.features.Fourier(ss.kernels.Gaussian(1.0), 2 * n_frequencies, random_state=seed)
    return np.vstack([x, y]) @ phi.frequency_matrix(x.shape[1])


@pytest.mark.parametrize("kind", ["continuous", "tied"])
@pytest.mark.parametrize(("m", "n"), [(2, 2), (3, 8), (6, 6), (9, 6)])
def test_every_assignment_has_the_work_of_the_transport_programme(kind, m, n):
    x, y = rows(kind, m, 0), rows(kind, n, 1)
    labels = resampled_circular.observed_and_permuted(pool(x, y, min_rows=2), 5, as_seed(0))
    assert (labels.sum(axis=1) == m).all()
    assert labels[0].tolist() == [1] * m + [0] * n
    angles = angles_of(x, y, 3, seed=4)
    got = resampled_circular._mallows(angles, labels)
    for k in range(3):
        expected = [oracles.circular_work(angles[label == 1, k], angles[label == 0, k]) for label in labels]
        np.testing.assert_allclose(got[k], expected, atol=1e-9)


@pytest.mark.parametrize("norm", [1.0, 2.0, 5.0, np.inf])
@pytest.mark.parametrize("kind", ["continuous", "tied"])
def test_statistic_and_pvalue_are_those_of_the_slow_test(kind, norm):
    """The same assignments, each by linear programmes: equal statistics and the p-value to the last digit."""
    x, y = rows(kind, 5, 2), rows(kind, 7, 3) + 0.5 * (kind != "tied")
    options = {"kernel": ss.kernels.Gaussian(1.0), "n_features": 8, "n_resamples": 19, "random_state": 6}
    result = ss.two_sample_test(x, y, statistic="mallows", norm=norm, **options)
    labels = resampled_circular.observed_and_permuted(pool(x, y, min_rows=2), 19, as_seed(6)) == 1
    angles = angles_of(x, y, 4, seed=6)
    observed, *null = (oracles.circular_ensemble_of(angles, label, norm) for label in labels)
    assert result.statistic == pytest.approx(observed, rel=1e-6)
    assert result.pvalue == (1 + sum(value >= observed * (1 - 1e-9) for value in null)) / 20


@pytest.mark.parametrize("norm", [1.0, np.inf])
def test_pvalues_tend_to_the_share_of_all_assignments(norm):
    """All 126 assignments of 4 + 5 rows. Five standard errors of 4,000 resamples."""
    x, y = rows("continuous", 4, 4), rows("continuous", 5, 5) + 0.7
    angles = angles_of(x, y, 2, seed=1)
    exact = oracles.enumerated_pvalue(lambda first: oracles.circular_ensemble_of(angles, first, norm), 4, 5)
    options = {"kernel": ss.kernels.Gaussian(1.0), "n_features": 4, "n_resamples": 4000, "random_state": 1}
    got = ss.two_sample_test(x, y, statistic="mallows", norm=norm, **options).pvalue
    assert 0.02 < exact < 0.98
    assert abs(got - exact) < 5 * np.sqrt(exact * (1 - exact) / 4000) + 1 / 4000


@pytest.mark.parametrize("distance", ["mallows", "sine"])
@pytest.mark.parametrize("norm", [1, 2.0, 40.0, np.inf])
@pytest.mark.parametrize(("m", "n"), [(200, 200), (60, 301)])
def test_the_statistic_of_a_test_is_the_circular_ensemble(distance, norm, m, n):
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(m, 3)), rng.normal(0.3, 1.2, size=(n, 3))
    kernel = 2.0 * ss.kernels.Gaussian(1.0) + ss.kernels.Cauchy(2.0)
    result = ss.two_sample_test(
        x, y, kernel=kernel, statistic=distance, norm=norm, n_features=64, n_resamples=3, random_state=2
    )
    expected = ss.circular_ensemble(x, y, kernel=kernel, distance=distance, norm=norm, n_frequencies=32, random_state=2)
    assert result.statistic == pytest.approx(expected, rel=1e-9)


def test_sine_with_norm_two_is_the_test_of_mmd():
    rng = np.random.default_rng(8)
    x, y = rng.normal(size=(70, 2)), rng.normal(0.3, 1.0, size=(50, 2))
    options = {"n_features": 128, "n_resamples": 1999, "random_state": 0}
    sine, mmd = (ss.two_sample_test(x, y, statistic=name, **options) for name in ("sine", "mmd"))
    assert sine.statistic**2 == pytest.approx(mmd.statistic, rel=1e-4)
    assert sine.pvalue == mmd.pvalue  # rows of one block: the same assignments
