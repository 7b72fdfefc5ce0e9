"""Mixtures of chi-squared variables against SciPy where the weights are equal and against Monte Carlo where not."""

import numpy as np
import pytest
from scipy import stats

import oracles
from supersample.discrepancy.weighted_chi2 import quantile, survival
from supersample.errors import InputError


@pytest.mark.parametrize("degrees", [1, 2, 3, 10, 100, 1000])
@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_equal_weights_are_a_chi_squared(degrees, scale):
    for level in (0.9, 0.5, 0.1, 0.05, 0.01, 1e-3, 1e-4):
        x = stats.chi2.isf(level, degrees)
        assert survival(scale * x, np.full(degrees, scale)) == pytest.approx(level, abs=5e-6, rel=1e-4)
    # One weight has an unbounded density at zero, where the inversion converges slowly; p-values near 1 decide nothing.
    assert survival(scale * stats.chi2.isf(0.999, degrees), np.full(degrees, scale)) == pytest.approx(0.999, abs=5e-3)


@pytest.mark.parametrize("degrees", [1, 2, 5, 50])
def test_far_tail_keeps_its_order_of_magnitude(degrees):
    for level in (1e-6, 1e-10, 1e-30, 1e-100, 1e-250):
        got = survival(stats.chi2.isf(level, degrees), np.ones(degrees))
        assert got == pytest.approx(level, rel=0.15)


@pytest.mark.parametrize(
    "weights",
    [
        np.array([1.0, 0.1]),
        np.array([1.0, 0.5, 1e-4]),
        0.7 ** np.arange(40),
        1.0 / np.arange(1, 500) ** 2,
        np.concatenate([[1.0], np.full(2000, 2e-4)]),
        np.concatenate([np.zeros(5), np.ones(3)]),
    ],
)
def test_unequal_weights_against_monte_carlo(weights):
    """Five standard errors over six weights and five points: a false failure once in 60,000 seeds."""
    rng = np.random.default_rng(0)
    total = weights.sum()
    for factor in (0.3, 0.8, 1.0, 2.0, 4.0):
        share, error = oracles.weighted_chi2_survival(factor * total, weights, 20_000, rng)
        assert abs(survival(factor * total, weights) - share) < 5 * error


@pytest.mark.parametrize("weights", [np.ones(1), np.ones(7), 0.5 ** np.arange(30), np.array([1.0, 1e-9])])
def test_survival_falls_from_one_and_never_reaches_zero(weights):
    points = np.concatenate([[0.0], np.geomspace(1e-2, 1e10, 250)]) * weights.sum()
    values = np.array([survival(x, weights) for x in points])
    assert values[0] == 1.0
    assert values.min() > 0
    assert (np.diff(values) <= 2e-5).all()
    assert values[-1] < 1e-300


@pytest.mark.parametrize("weights", [np.ones(1), np.ones(7), 3.0 * 0.5 ** np.arange(30), 1e-9 / np.arange(1, 200)])
@pytest.mark.parametrize("level", [0.01, 0.1, 0.5, 0.9, 0.95, 0.99, 0.999])
def test_quantile_inverts_survival(weights, level):
    assert survival(quantile(level, weights), weights) == pytest.approx(1 - level, abs=1e-5)


def test_quantile_of_chi_squared():
    assert quantile(0.95, np.ones(3)) == pytest.approx(stats.chi2.ppf(0.95, 3), rel=1e-4)


def test_weights_that_are_all_zero_are_refused():
    with pytest.raises(InputError, match="must not all be zero: the data do not vary"):
        survival(1.0, np.zeros(3))


def test_survival_near_zero_is_one_for_weights_of_any_spread():
    rng = np.random.default_rng(0)
    for _ in range(300):
        weights = 10.0 ** rng.uniform(-12, 0, rng.integers(1, 6))
        assert survival(10.0 ** rng.uniform(-40, -30), weights) > 0.995  # near 1 the inversion converges slowly
