"""MeanEmbedding sums against exact float64 means."""

import numpy as np
import pytest

import oracles
import supersample as ss


def cosines(n_features):
    return ss.features.Fourier(ss.kernels.Gaussian(0.5), n_features, random_state=0)


@pytest.mark.parametrize("n", [1, 2, 255, 256, 257, 3000])
@pytest.mark.parametrize("weighted", [False, True])
def test_mean_equals_exact_sums(n, weighted):
    rng = np.random.default_rng(n)
    x = rng.normal(size=(n, 3))
    weights = rng.gamma(0.3, size=n) if weighted else None
    phi = cosines(20)
    embedding = ss.MeanEmbedding(phi).update(x, weights)
    np.testing.assert_allclose(embedding.mean, oracles.mean_features(phi.transform(x), weights), rtol=0, atol=1e-15)
    assert embedding.total_weight == pytest.approx(n if weights is None else weights.sum(), rel=1e-14)


def million_rows(n_batches):
    """Stream float32 rows whose mean feature is far from zero, in batches; return the embedding and the exact mean."""
    phi = ss.features.Fourier(ss.kernels.Gaussian(3.0), 6, random_state=1)
    embedding = ss.MeanEmbedding(phi)
    totals, n = np.zeros(6), 0
    for batch in range(n_batches):
        x = np.random.default_rng(batch).normal(1.0, 1.0, size=(250_000, 2)).astype(np.float32)
        embedding.update(x)
        totals += [oracles.exact_sum_of_float32(column) for column in phi.transform(x).T]
        n += len(x)
    assert embedding.n_seen == n
    return embedding, totals / n


def test_a_million_float32_rows_equal_the_exact_mean():
    embedding, expected = million_rows(4)
    np.testing.assert_allclose(embedding.mean, expected, rtol=1e-12)


@pytest.mark.level
def test_ten_million_float32_rows_equal_the_exact_mean():
    embedding, expected = million_rows(40)
    np.testing.assert_allclose(embedding.mean, expected, rtol=1e-12)


def test_sums_do_not_drift_where_plain_float64_would():
    """Weights that fall by sixteen powers of ten: a plain running sum keeps nothing of the small ones.

    Only the first 256 rows, which are added plainly to a partial sum of one, may lose theirs: 256e-16.
    """
    phi = cosines(4)
    x = np.random.default_rng(2).normal(size=(200_001, 1))
    weights = np.full(len(x), 1e-16)
    weights[0] = 1.0
    embedding = ss.MeanEmbedding(phi).update(x, weights)
    assert embedding.total_weight == pytest.approx(1.0 + 200_000 * 1e-16, abs=3e-14)
    np.testing.assert_allclose(embedding.mean, oracles.mean_features(phi.transform(x), weights), rtol=0, atol=6e-14)
