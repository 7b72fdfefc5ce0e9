"""MMD^2 through features against the same number computed from the transformed points in plain float64."""

import numpy as np
import pytest

import oracles
import supersample as ss


def embed(phi, points, weight=None):
    return ss.MeanEmbedding(phi).update(points, weight)


@pytest.mark.parametrize(("m", "n"), [(2, 2), (50, 7), (300, 1100)])
@pytest.mark.parametrize("form", ["paired", "phase"])
@pytest.mark.parametrize("weighted", [False, True])
def test_embedding_mmd2_equals_the_double_loop_over_features(m, n, form, weighted):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(m, 3)), rng.normal(0.5, 1.0, size=(n, 3))
    phi = ss.features.Fourier(ss.kernels.Cauchy(2.0), 65, form=form, random_state=4)
    wx, wy = (rng.random(m), rng.random(n)) if weighted else (np.ones(m), np.ones(n))
    fx, fy = phi.transform(x).astype(float), phi.transform(y).astype(float)
    a, b = wx / wx.sum(), wy / wy.sum()
    left, right = embed(phi, x, wx), embed(phi, y, wy)
    difference = a @ fx - b @ fy
    assert left.mmd2(right) == pytest.approx(difference @ difference, rel=1e-10)
    gram_x, gram_y = fx @ fx.T, fy @ fy.T
    within_x = (a @ gram_x @ a - a**2 @ np.diag(gram_x)) / (1 - a @ a)
    within_y = (b @ gram_y @ b - b**2 @ np.diag(gram_y)) / (1 - b @ b)
    unbiased = within_x + within_y - 2 * a @ fx @ fy.T @ b
    assert left.mmd2(right, estimator="unbiased") == pytest.approx(unbiased, rel=1e-9, abs=1e-12)
    assert left.norm2() == pytest.approx(a @ gram_x @ a, rel=1e-10)
    assert left.dot(right) == pytest.approx(a @ fx @ fy.T @ b, rel=1e-10)


def test_unbiased_equals_the_formula_of_appendix_a():
    """Paired features have |phi|^2 = k0, so eq. 13 of Zhao and Meng 2015 holds as printed."""
    rng = np.random.default_rng(1)
    m, n = 40, 90
    phi = ss.features.Fourier(ss.kernels.Gaussian(1.0), 256, dtype=np.float64, random_state=0)
    left, right = embed(phi, rng.normal(size=(m, 2))), embed(phi, rng.normal(1.0, 1.0, size=(n, 2)))
    correction = left.norm2() / (m - 1) + right.norm2() / (n - 1) - (m + n - 2) / ((m - 1) * (n - 1))
    assert left.mmd2(right, estimator="unbiased") == pytest.approx(left.mmd2(right) + correction, abs=1e-7)


@pytest.mark.parametrize("method", ["fourier", "fastfood"])
@pytest.mark.parametrize("estimator", ["biased", "unbiased"])
@pytest.mark.parametrize(("m", "n"), [(30, 500), (500, 30), (200, 200)])
def test_feature_methods_are_close_to_exact(method, estimator, m, n):
    """L = 4096 frequencies: the error of MMD^2 is at most about 4 / sqrt(L) of the largest wave difference."""
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(m, 5)), rng.normal(0.8, 1.0, size=(n, 5))
    wx = rng.random(m)
    kernel = ss.kernels.Gaussian(3.0)
    for weight in (None, wx):
        exact = ss.mmd2(x, y, kernel=kernel, estimator=estimator, weight_x=weight)
        fast = ss.mmd2(
            x, y, kernel=kernel, method=method, estimator=estimator, n_features=8192, weight_x=weight, random_state=0
        )
        assert fast == pytest.approx(exact, rel=0.1)


def test_nystroem_embedding_is_exact_on_its_landmarks():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(12, 2)), rng.normal(1.0, 1.0, size=(9, 2))
    kernel = ss.kernels.Function(oracles.square_of_one_plus_dot, name="square")
    phi = ss.features.Nystroem(kernel, np.vstack([x, y]), dtype=np.float64)
    for estimator in ("biased", "unbiased"):
        expected = ss.mmd2(x, y, kernel=kernel, estimator=estimator)
        assert embed(phi, x).mmd2(embed(phi, y), estimator=estimator) == pytest.approx(expected, rel=1e-8)


def test_witness_is_the_difference_of_mean_similarities():
    rng = np.random.default_rng(4)
    x, y, probes = rng.normal(size=(20, 2)), rng.normal(2.0, 1.0, size=(30, 2)), rng.normal(size=(5, 2))
    phi = ss.features.Nystroem(ss.kernels.Gaussian(1.0), np.vstack([x, y, probes]), dtype=np.float64)
    kernel = phi.kernel
    expected = kernel(probes, x).mean(axis=1) - kernel(probes, y).mean(axis=1)
    np.testing.assert_allclose(embed(phi, x).witness(embed(phi, y))(probes), expected, atol=1e-8)
