"""MMD-linear and B-test as printed, by loops over the papers' formulas, and in what ours differ from them."""

import numpy as np
import pytest
from scipy import stats

import oracles
import supersample as ss
from supersample.kernels import Gaussian

SIZES = [(2, 2), (3, 3), (4, 9), (60, 60), (101, 101), (130, 77)]


@pytest.mark.parametrize(("m", "n"), SIZES)
@pytest.mark.parametrize(("kernel", "twin"), [each[1:] for each in oracles.kernels_with_twins(2)])
def test_paired_estimates_are_those_of_the_papers(kernel, twin, m, n):
    rng = np.random.default_rng([m, n])
    x, y = rng.normal(size=(m, 2)), rng.normal(0.5, 1.0, size=(n, 2))
    linear = ss.mmd2(x, y, kernel=kernel, method="linear", estimator="paired")
    assert linear == pytest.approx(oracles.printed_linear(x.tolist(), y.tolist(), twin), rel=1e-9)
    block = ss.mmd2(x, y, kernel=kernel, method="block", estimator="paired")
    assert block == pytest.approx(np.mean(oracles.printed_btest(x.tolist(), y.tolist(), twin)), rel=1e-9)


def test_the_paired_test_is_students_t_over_the_printed_blocks():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(150, 2)), rng.normal(0.2, 1.0, size=(150, 2))
    _, kernel, twin = next(oracles.kernels_with_twins(2))
    values = oracles.printed_btest(x.tolist(), y.tolist(), twin)
    result = ss.two_sample_test(x, y, kernel=kernel, method="block", estimator="paired")
    expected = stats.ttest_1samp(values, 0.0, alternative="greater")
    assert result.statistic == pytest.approx(np.mean(values), rel=1e-9)
    assert result.pvalue == pytest.approx(expected.pvalue, rel=1e-6)
    assert result.estimator == "paired"


@pytest.mark.parametrize(("method", "size"), [("linear", 2), ("block", 6)])
def test_ours_have_the_same_mean_and_less_noise(method, size):
    """Without a difference, blocks of B rows have 1 - 1/(2B) of the printed variance: k(x_a, y_b) is averaged over B^2 pairs.

    3,000 pairs of samples, the same rows in each block: the ratio of variances is asked for within 5 standard errors.
    """
    rng = np.random.default_rng(2)
    found = []
    for _ in range(3_000):
        x, y = rng.normal(size=(2, size * (40 // size), 2))
        # Our blocks hold every so many rows, the printed ones consecutive rows.
        spread = np.arange(len(x)).reshape(-1, size).T.ravel()
        options = {"kernel": Gaussian(1.0), "method": method}
        ours = ss.mmd2(x[spread], y[spread], estimator="unbiased", **options)
        found.append([ours, ss.mmd2(x, y, estimator="paired", **options)])
    ours, printed = np.array(found).T
    assert abs(ours.mean()) < 4 * ours.std() / np.sqrt(len(found))
    assert abs(printed.mean()) < 4 * printed.std() / np.sqrt(len(found))
    expected = 1 - 1 / (2 * size)
    differences = (ours**2 - expected * printed**2) / printed.var()
    assert abs(differences.mean()) < 5 * differences.std() / np.sqrt(len(found))
    assert 5 * differences.std() / np.sqrt(len(found)) < 0.5 / size  # narrow enough to tell them from equal variances


def test_ours_use_every_row_and_the_printed_ones_do_not():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(41, 2)), rng.normal(size=(70, 2))
    moved = y.copy()
    moved[-1] += 5.0
    for method in ("linear", "block"):
        options = {"kernel": Gaussian(1.0), "method": method}
        for estimator, uses in (("unbiased", True), ("paired", False)):
            before, after = (ss.mmd2(x, each, estimator=estimator, **options) for each in (y, moved))
            assert (before != after) == uses
