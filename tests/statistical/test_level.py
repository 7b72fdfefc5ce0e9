"""Two-sample tests reject at the rate they state when both samples come from one population.

Default run: 100 repetitions of the main cases, each allowed so many rejections that correct tests exceed it, in any case at
all, with a chance of 1e-4. The whole study, 2,000 repetitions of every case, asks for the 99.9% band of each, two-sided; the
nulls named in CONSERVATIVE may lie under it.
"""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import oracles
import supersample as ss
from zoo import normal, tied_grid

TESTS = {
    "permutation fourier": {"method": "fourier", "null": "permutation"},
    "permutation exact": {"method": "exact", "null": "permutation"},
    "permutation exact unbiased": {"method": "exact", "null": "permutation", "estimator": "unbiased"},
    "permutation family": {"method": "fourier", "null": "permutation", "kernel": [0.3, 1.0, 3.0]},
    "bootstrap fourier": {"method": "fourier", "null": "bootstrap"},
    "bootstrap family": {"method": "fourier", "null": "bootstrap", "kernel": [0.3, 1.0, 3.0]},
    "spectral fourier": {"method": "fourier", "null": "spectral"},
    "spectral unbiased": {"method": "fourier", "null": "spectral", "estimator": "unbiased"},
    "spectral exact": {"method": "exact", "null": "spectral"},
    "spectral family": {"method": "fourier", "null": "spectral", "kernel": [0.3, 1.0, 3.0]},
    "normal block": {"method": "block"},
    "normal linear": {"method": "linear"},
    "permutation mallows": {"statistic": "mallows"},
    "permutation mallows worst": {"statistic": "mallows", "norm": np.inf},
}
DATA = {"continuous": normal, "tied": tied_grid}
SIZES = [(200, 200), (50, 500)]
CASES = [(test, data, sizes) for test in TESTS for data in DATA for sizes in SIZES]
MAIN_CASES = [case for case in CASES if case[0].endswith(("fourier", "block", "linear", "mallows"))]
# Nulls that reject less often than stated: few blocks, each skewed to the right, for which Student's t is too wide.
CONSERVATIVE = {"normal block", "normal linear"}
REDUCED, WHOLE = 60, 2000
FALSE_FAILURE_IN_ALL = 1e-4


def rejections(test, data, sizes, repetitions):
    # 59 resamples: the level 5% is one that p = (1 + count) / 60 can reach exactly.
    options = {"kernel": "gaussian", "n_features": 64, "n_resamples": 59, **TESTS[test]}
    rng = np.random.default_rng([CASES.index((test, data, sizes)), 1])
    count = 0
    with threadpool_limits(1):
        for seed in range(repetitions):
            x, y = DATA[data](sizes[0], rng), DATA[data](sizes[1], rng)
            count += ss.two_sample_test(x, y, random_state=seed, **options).rejects(0.05)
    return count


@pytest.mark.parametrize(("test", "data", "sizes"), MAIN_CASES)
def test_level_reduced(test, data, sizes):
    _, most = oracles.binomial_band(REDUCED, 0.05, 1 - 2 * FALSE_FAILURE_IN_ALL / len(MAIN_CASES))
    assert rejections(test, data, sizes, REDUCED) <= most


@pytest.mark.level
@pytest.mark.parametrize(("test", "data", "sizes"), CASES)
def test_level_whole(test, data, sizes, capsys):
    least, most = oracles.binomial_band(WHOLE, 0.05, 0.999)
    count = rejections(test, data, sizes, WHOLE)
    kind = "conservative" if test in CONSERVATIVE else "two-sided"
    with capsys.disabled():
        print(  # noqa: T201
            f"{test:27} {data:11} {sizes[0]:>3}/{sizes[1]:<3} rejects {count / WHOLE:6.2%}"
            f"  band {least / WHOLE:.2%} to {most / WHOLE:.2%}  {kind}"
        )
    assert count <= most
    assert test in CONSERVATIVE or count >= least


#: Nulls whose variance is estimated: of 120 rows in 200 dimensions, pairs of a row with itself are three quarters of it.
ESTIMATED = [(method, null) for method in ("exact", "fourier") for null in ("bootstrap", "spectral")]


def rejections_of_wide_rows(method, null, repetitions):
    count = 0
    with threadpool_limits(1):
        for seed in range(repetitions):
            rows = np.random.default_rng([seed, 2]).normal(size=(120, 200))
            result = ss.two_sample_test(rows[:60], rows[60:], method=method, null=null, n_resamples=199, random_state=seed)
            count += result.rejects(0.05)
    return count


@pytest.mark.level
@pytest.mark.parametrize(("method", "null"), ESTIMATED)
def test_level_of_wide_rows(method, null, capsys):
    least, most = oracles.binomial_band(500, 0.05, 0.999)
    count = rejections_of_wide_rows(method, null, 500)
    with capsys.disabled():
        print(f"{method}, {null}, 60 + 60 rows of 200 columns: rejects {count / 500:.1%}")  # noqa: T201
    assert least <= count <= most


@pytest.mark.parametrize("estimator", ["biased", "unbiased"])
@pytest.mark.parametrize("kernel", ["gaussian", [12.0, 20.0]])
@pytest.mark.parametrize(("method", "null"), ESTIMATED)
def test_nulls_of_wide_rows_are_as_wide_as_that_of_permutations(method, null, kernel, estimator):
    """Their upper twentieth begins as far from the median; without the correction it is about twice as far."""
    rows = np.random.default_rng(0).normal(size=(120, 200))
    options = {"method": method, "kernel": kernel, "estimator": estimator, "n_resamples": 1_999, "random_state": 0}
    found, exact = (
        ss.two_sample_test(rows[:60], rows[60:], null=each, **options).null_quantiles for each in (null, "permutation")
    )
    (low, high), (lowest, highest) = ([quantiles[level] for level in (0.5, 0.95)] for quantiles in (found, exact))
    assert high - low == pytest.approx(highest - lowest, rel=0.25)
    assert high == pytest.approx(highest, abs=0.25 * (highest - lowest))
