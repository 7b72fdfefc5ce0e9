"""Where ties decide: permutation p-values of two-valued data against the hypergeometric distribution."""

import numpy as np
import pytest

import oracles
import supersample as ss

RESAMPLES = 4000


# The unbiased statistic is a function of the difference of shares alone only where the sizes are equal.
@pytest.mark.parametrize(
    ("m", "n", "estimator"), [(10, 10, "biased"), (10, 10, "unbiased"), (8, 30, "biased"), (40, 60, "biased")]
)
@pytest.mark.parametrize("method", ["fourier", "fastfood", "exact"])
def test_pvalues_of_two_valued_data_count_every_tie(m, n, method, estimator):
    """Five standard errors of 4,000 resamples, in 36 comparisons: another seed fails once in 30,000.

    A tie that rounding breaks shows at once: each tied value holds several percent of the null distribution.
    """
    for ones_x, ones_y in ((0, n // 2), (m // 2, n // 2), (m - 1, n // 3)):
        x = (np.arange(m) < ones_x).astype(float)[:, None]
        y = (np.arange(n) < ones_y).astype(float)[:, None]
        expected = oracles.permutation_pvalue_of_two_values(ones_x, m, ones_y, n)
        result = ss.two_sample_test(
            x,
            y,
            kernel=ss.kernels.Gaussian(1.0),
            method=method,
            estimator=estimator,
            n_features=256,
            n_resamples=RESAMPLES,
            random_state=ones_x,
        )
        error = np.sqrt(expected * (1 - expected) / RESAMPLES) + 1 / RESAMPLES
        assert abs(result.pvalue - expected) < 5 * error


@pytest.mark.parametrize(("m", "n"), [(10, 10), (8, 30), (40, 60)])
@pytest.mark.parametrize("norm", [1.0, 2.0, np.inf])
@pytest.mark.parametrize("statistic", ["mallows", "sine"])
def test_circular_pvalues_of_two_valued_data_count_every_tie(m, n, norm, statistic):
    """Between two points each circular discrepancy is the difference of shares times a constant; the limits are those above.

    54 comparisons: another seed fails once in 20,000.
    """
    for ones_x, ones_y in ((0, n // 2), (m // 2, n // 2), (m - 1, n // 3)):
        x = (np.arange(m) < ones_x).astype(float)[:, None]
        y = (np.arange(n) < ones_y).astype(float)[:, None]
        expected = oracles.permutation_pvalue_of_two_values(ones_x, m, ones_y, n)
        options = {"kernel": ss.kernels.Gaussian(1.0), "n_features": 32, "n_resamples": RESAMPLES, "random_state": ones_x}
        result = ss.two_sample_test(x, y, statistic=statistic, norm=norm, **options)
        error = np.sqrt(expected * (1 - expected) / RESAMPLES) + 1 / RESAMPLES
        assert abs(result.pvalue - expected) < 5 * error


@pytest.mark.parametrize("null", ["bootstrap", "spectral"])
@pytest.mark.parametrize("method", ["fourier", "exact"])
def test_asymptotic_nulls_agree_with_permutation_in_large_samples(null, method):
    """300 + 200 rows, a difference near the 5% point: three p-values of one truth, within 5 standard errors plus 0.01."""
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(300, 2)), rng.normal(0.17, 1.0, size=(200, 2))
    options = {"method": method, "n_features": 256, "n_resamples": 4000, "random_state": 0}
    permutation = ss.two_sample_test(x, y, null="permutation", **options).pvalue
    other = ss.two_sample_test(x, y, null=null, **options)
    assert 0.005 < permutation < 0.5
    assert abs(other.pvalue - permutation) < 5 * np.sqrt(2 * permutation / 4000) + 0.01


@pytest.mark.parametrize("null", ["permutation", "bootstrap", "spectral"])
@pytest.mark.parametrize("estimator", ["biased", "unbiased"])
@pytest.mark.parametrize("method", ["fourier", "exact"])
def test_null_quantiles_and_pvalue_tell_one_story(null, estimator, method):
    """A statistic beyond the 95% quantile of its null has p below 5%, and the other way round; biased or not alike."""
    rng = np.random.default_rng(8)
    for shift in (0.0, 0.15, 0.3):
        x, y = rng.normal(size=(100, 2)), rng.normal(shift, 1.0, size=(150, 2))
        options = {"method": method, "null": null, "estimator": estimator, "n_features": 128, "random_state": 0}
        result = ss.two_sample_test(x, y, n_resamples=999, **options)
        for level, quantile in result.null_quantiles.items():
            if abs(result.pvalue - (1 - level)) > 0.003:
                assert (result.statistic > quantile) == (result.pvalue < 1 - level)
        assert list(result.null_quantiles.values()) == sorted(result.null_quantiles.values())


@pytest.mark.parametrize("method", ["fourier", "fastfood", "exact"])
@pytest.mark.parametrize(("m", "n"), [(300, 300), (30, 500)])
def test_spectral_null_of_many_rows_has_the_trace_of_all(method, m, n):
    """The mean of the biased statistic under the null is (1/m + 1/n) times the trace, whichever null is asked."""
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(m, 2)), rng.normal(size=(n, 2))
    options = {"kernel": ss.kernels.Gaussian(1.0), "method": method, "n_features": 256, "random_state": 1}
    medians = [
        ss.two_sample_test(x, y, null=null, n_resamples=2000, **options).null_quantiles[0.5]
        for null in ("permutation", "bootstrap", "spectral")
    ]
    assert medians == pytest.approx([medians[0]] * 3, rel=0.08)
