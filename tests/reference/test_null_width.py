"""The width of bootstrap and spectral nulls, against sums over pairs of rows written out."""

import numpy as np
import pytest

import supersample as ss
from supersample._random import as_seed
from supersample.discrepancy.resampled_mmd import ExactSums, FeatureSums
from supersample.discrepancy.two_samples import pool

KERNELS = (ss.kernels.Gaussian(8.0), ss.kernels.Laplacian(40.0))


def by_hand(gram, n_rows):
    """The root of the unbiased over the plug-in mean of squared centred kernel values (Szekely and Rizzo 2014)."""
    n = len(gram)
    off = gram - np.diag(np.diag(gram))
    centred = off - off.sum(axis=0) / (n - 2) - off.sum(axis=1)[:, None] / (n - 2) + off.sum() / ((n - 1) * (n - 2))
    unbiased = sum(centred[i, j] ** 2 for i in range(n) for j in range(n) if i != j) / (n * (n - 3))
    middle = np.eye(n) - 1.0 / n
    plain = np.linalg.norm(middle @ gram @ middle) ** 2 / (n - 1) ** 2
    return np.sqrt(unbiased / (unbiased + (plain - unbiased) * n / n_rows))


@pytest.mark.parametrize("width", [3, 60])
def test_the_factor_is_that_of_sums_over_pairs(width):
    rows = np.random.default_rng(0).normal(size=(50, width))
    samples = pool(rows[:20], rows[20:], min_rows=2)
    exact = ExactSums(samples, KERNELS).narrowing(as_seed(0))
    assert exact == pytest.approx([by_hand(kernel(rows), 50) for kernel in KERNELS], rel=1e-9)
    for n_features in (16, 128):  # more rows than features, and fewer
        sums = FeatureSums(samples, KERNELS, "fourier", n_features, as_seed(0))
        grams = [np.asarray(each.transform(rows), dtype=float) for each in sums.maps]
        assert sums.narrowing(as_seed(0)) == pytest.approx([by_hand(each @ each.T, 50) for each in grams], rel=1e-6)


def test_of_many_rows_a_sample_says_what_all_of_them_add(monkeypatch):
    monkeypatch.setattr("supersample.discrepancy.resampled_mmd._SPECTRUM_ROWS", 400)
    rows = np.random.default_rng(1).normal(size=(2_000, 30))
    samples = pool(rows[:900], rows[900:], min_rows=2)
    (found,) = ExactSums(samples, KERNELS[:1]).narrowing(as_seed(0))
    assert found == pytest.approx(by_hand(KERNELS[0](rows[:600]), 2_000), rel=0.02)
    (by_features,) = FeatureSums(samples, KERNELS[:1], "fourier", 2_048, as_seed(0)).narrowing(as_seed(0))
    assert by_features == pytest.approx(found, rel=0.03)


def test_few_rows_equal_rows_and_rows_without_spread_are_left_as_they_are():
    rows = np.random.default_rng(0).normal(size=(18, 50))
    assert ExactSums(pool(rows[:9], rows[9:], min_rows=2), KERNELS).narrowing(as_seed(0)) == [1.0, 1.0]
    same = np.ones((40, 3))
    assert ExactSums(pool(same[:9], same[9:], min_rows=2), KERNELS).narrowing(as_seed(0)) == [1.0, 1.0]
    assert ss.two_sample_test(same[:9], same[9:], null="spectral", method="exact", bandwidth=1.0).pvalue == 1.0
    options = {"method": "exact", "bandwidth": 1.0, "n_resamples": 19}
    assert ss.two_sample_test(same[:9], same[9:], null="bootstrap", **options).pvalue == 1.0
