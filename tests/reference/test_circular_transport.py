"""Circular discrepancies against brute force: a supremum over a grid, and the transport linear programme."""

import numpy as np
import pytest

import oracles
import supersample as ss


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
