"""The exact MMD^2 and Gram matrices against double loops over Python floats."""

import math

import numpy as np
import pytest

import oracles
import supersample as ss
from zoo import ZOO

# Up to 16 columns distances come from differences, beyond from a matrix product.
WIDTHS = (1, 3, 16, 17, 24)
CASES = [
    pytest.param(kernel, twin, width, id=f"{name}-{width}")
    for width in WIDTHS
    for name, kernel, twin in oracles.kernels_with_twins(width)
]


def two_samples(width, seed, smallest):
    rng = np.random.default_rng([width, seed])
    m, n = rng.integers(smallest, 51, size=2)
    return rng.normal(size=(m, width)), rng.normal(0.7, 1.3, size=(n, width)), rng


@pytest.mark.parametrize("estimator", ["biased", "unbiased"])
@pytest.mark.parametrize(("kernel", "twin", "width"), CASES)
def test_equals_the_double_loop(kernel, twin, width, estimator):
    for seed in range(2):
        x, y, _ = two_samples(width, seed, 2 if estimator == "unbiased" else 1)
        expected = oracles.mmd2_double_loop(x.tolist(), y.tolist(), twin, estimator)
        assert ss.mmd2(x, y, kernel=kernel, estimator=estimator) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 50), (50, 1), (2, 2), (2, 37)])
def test_equals_the_double_loop_at_the_smallest_sizes(m, n):
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(m, 2)), rng.normal(1.0, 1.0, size=(n, 2))
    for _, kernel, twin in oracles.kernels_with_twins(2):
        for estimator in ("biased", "unbiased")[: min(m, n)]:
            expected = oracles.mmd2_double_loop(x.tolist(), y.tolist(), twin, estimator)
            assert ss.mmd2(x, y, kernel=kernel, estimator=estimator) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("estimator", ["biased", "unbiased"])
@pytest.mark.parametrize(("kernel", "twin", "width"), CASES)
def test_weights_equal_the_weighted_double_loop(kernel, twin, width, estimator):
    x, y, rng = two_samples(width, 9, 3)
    wx, wy = rng.random(len(x)).tolist(), rng.random(len(y)).tolist()
    wx[0] = 0.0
    expected = oracles.mmd2_double_loop(x.tolist(), y.tolist(), twin, estimator, wx, wy)
    got = ss.mmd2(x, y, kernel=kernel, estimator=estimator, weight_x=wx, weight_y=wy)
    assert got == pytest.approx(expected, rel=1e-10)


def test_many_tiles_equal_the_whole_gram_matrix():
    """More rows than one tile of 384 x 1024, unequal sizes that no tile divides."""
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(1500, 3)), rng.normal(0.3, 1.0, size=(401, 3))
    for kernel in (ss.kernels.Gaussian(1.5), ss.kernels.Laplacian(2.0)):
        xx, yy, xy = kernel(x), kernel(y), kernel(x, y)
        assert ss.mmd2(x, y, kernel=kernel) == pytest.approx(xx.mean() + yy.mean() - 2 * xy.mean(), rel=1e-10)
        unbiased = (xx.sum() - 1500) / (1500 * 1499) + (yy.sum() - 401) / (401 * 400) - 2 * xy.mean()
        assert ss.mmd2(x, y, kernel=kernel, estimator="unbiased") == pytest.approx(unbiased, rel=1e-10)


@pytest.mark.parametrize("width", [4, 17, 60])
@pytest.mark.parametrize("gap", [0.0, 1e-9, 1e-6, 1e-4, 1e-3, 3e-3, 1e-2])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_nearly_equal_points_keep_their_distance(width, gap, offset):
    """Matern 1/2 has a cusp at zero: 1 - k is the distance itself, so lost digits show."""
    rng = np.random.default_rng(width)
    x = offset + rng.normal(size=(30, width))
    y = x + gap * rng.normal(size=(30, width))
    gram = ss.kernels.Matern(0.5, 1.0)(x, y)
    by_hand = np.array([[oracles.matern12(a, b, [1.0] * width) for b in y.tolist()] for a in x.tolist()])
    np.testing.assert_allclose(gram, by_hand, rtol=1e-9, atol=1e-11)
    near, near_by_hand = 1 - np.diag(gram), 1 - np.diag(by_hand)
    np.testing.assert_allclose(near, near_by_hand, rtol=1e-6, atol=1e-15)


@pytest.mark.parametrize("name", sorted(set(ZOO) - {"heavy_tails"}))
def test_every_hard_distribution(name):
    rng = np.random.default_rng(3)
    x, y = ZOO[name](20, rng), ZOO[name](31, rng) * 1.5
    kernel = ss.kernels.Gaussian("median").resolve(np.vstack([x, y]))
    width = [kernel.bandwidth] * x.shape[1]
    expected = oracles.mmd2_double_loop(x.tolist(), y.tolist(), lambda a, b: oracles.gaussian(a, b, width))
    assert ss.mmd2(x, y, random_state=0) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("method", ["block", "linear"])
@pytest.mark.parametrize(("m", "n"), [(2, 2), (4, 5), (9, 30), (30, 9), (40, 40), (400, 41)])
def test_block_methods_average_the_double_loop_over_interleaved_blocks(method, m, n):
    rng = np.random.default_rng([m, n])
    x, y = rng.normal(size=(m, 2)), rng.normal(0.5, 1.0, size=(n, 2))
    smaller = min(m, n)
    blocks = max(1, smaller // (2 if method == "linear" else max(2, math.isqrt(smaller))))
    parts = [(x[b::blocks].tolist(), y[b::blocks].tolist()) for b in range(blocks)]
    for _, kernel, twin in oracles.kernels_with_twins(2):
        expected = np.mean([oracles.mmd2_double_loop(left, right, twin, "unbiased") for left, right in parts[:6]])
        if blocks <= 6:
            assert ss.mmd2(x, y, kernel=kernel, method=method) == pytest.approx(expected, rel=1e-9)
    twin = next(iter(oracles.kernels_with_twins(2)))[2]
    expected = np.mean([oracles.mmd2_double_loop(left, right, twin, "unbiased") for left, right in parts])
    assert ss.mmd2(x, y, kernel=ss.kernels.Gaussian(1.7), method=method) == pytest.approx(expected, rel=1e-9)
