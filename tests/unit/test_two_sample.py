"""two_sample_test: p-values that are never 0, families, ties, repeatability, and what the result says."""

import dataclasses

import numpy as np
import pytest

import supersample as ss
import zoo

COMBINATIONS = [
    *((method, null) for method in ("fourier", "fastfood", "exact") for null in ("permutation", "bootstrap", "spectral")),
    ("block", "normal"),
    ("linear", "normal"),
]
QUICK = {"n_features": 64, "n_resamples": 49, "random_state": 0}


def wildly_different():
    rng = np.random.default_rng(0)
    yield "two constants", np.zeros((40, 2)), np.ones((60, 2))
    yield "many rows far apart", rng.normal(size=(4000, 2)), rng.normal(9.0, 1.0, size=(4000, 2))
    yield "a constant and a cloud", np.zeros((50, 1)), rng.normal(5.0, 1.0, size=(500, 1))
    yield "spread out", rng.normal(size=(300, 1)), 1e3 * rng.normal(size=(300, 1))


@pytest.mark.parametrize(("method", "null"), COMBINATIONS)
def test_no_pvalue_is_ever_zero(method, null):
    for name, x, y in wildly_different():
        if method == "exact" and len(x) > 1000:
            x, y = x[:200], y[:200]
        result = ss.two_sample_test(x, y, kernel=ss.kernels.Gaussian(1.0), method=method, null=null, **QUICK)
        assert 0 < result.pvalue <= 0.05, name
        if null in ("permutation", "bootstrap"):
            assert result.pvalue == pytest.approx(1 / 50), name
        if name == "many rows far apart":
            assert result.pvalue < 0.03


@pytest.mark.parametrize(("method", "null"), COMBINATIONS)
@pytest.mark.parametrize("kernel", [ss.kernels.Gaussian(1.0), 0.3 * ss.kernels.Gaussian(1.0) + 0.7 * ss.kernels.Cauchy(3.0)])
def test_data_that_do_not_vary_give_one(method, null, kernel):
    x, y = np.full((30, 2), 0.1), np.full((47, 2), 0.1)
    result = ss.two_sample_test(x, y, kernel=kernel, method=method, null=null, **QUICK)
    assert result.pvalue == 1.0
    assert result.statistic == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(("method", "null"), COMBINATIONS)
@pytest.mark.parametrize("name", sorted(zoo.ZOO))
def test_every_hard_distribution_gives_a_pvalue(method, null, name):
    rng = np.random.default_rng(1)
    result = ss.two_sample_test(zoo.ZOO[name](60, rng), zoo.ZOO[name](35, rng), method=method, null=null, **QUICK)
    assert 0 < result.pvalue <= 1
    assert np.isfinite(result.statistic)
    assert result.pvalue > 1e-4


@pytest.mark.parametrize(("method", "null"), COMBINATIONS)
def test_one_seed_gives_one_result(method, null):
    x, y = np.random.default_rng(2).normal(size=(2, 80, 3))
    first, second = (ss.two_sample_test(x, y, method=method, null=null, **QUICK) for _ in range(2))
    assert first == second


@pytest.mark.parametrize(("method", "null"), COMBINATIONS)
def test_the_two_samples_are_treated_alike(method, null):
    """Swapping them keeps the statistic; the p-value moves only by its resampling error, at most 5 x 0.016."""
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(80, 2)), rng.normal(0.25, 1.0, size=(130, 2))
    there = ss.two_sample_test(x, y, method=method, null=null, n_features=64, n_resamples=999, random_state=0)
    back = ss.two_sample_test(y, x, method=method, null=null, n_features=64, n_resamples=999, random_state=0)
    assert there.statistic == pytest.approx(back.statistic, rel=0.01, abs=1e-4)
    assert there.pvalue == pytest.approx(back.pvalue, abs=0.08)
    assert (there.n_x, there.n_y) == (back.n_y, back.n_x) == (80, 130)


@pytest.mark.parametrize("method", ["fourier", "fastfood", "exact", "block", "linear"])
def test_the_statistic_is_mmd2_by_the_same_method(method):
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(90, 2)), rng.normal(0.5, 1.0, size=(150, 2))
    for estimator in ("biased", "unbiased") if method in ("fourier", "fastfood", "exact") else ("unbiased",):
        options = {"method": method, "estimator": estimator, "n_features": 64, "random_state": 5}
        expected = ss.mmd2(x, y, **options)
        result = ss.two_sample_test(x, y, n_resamples=9, **options)
        assert result.statistic == pytest.approx(expected, rel=1e-4)
        assert result.estimator == estimator


@pytest.mark.parametrize("method", ["fourier", "fastfood", "exact"])
@pytest.mark.parametrize("null", ["permutation", "bootstrap", "spectral"])
def test_a_family_takes_the_largest_and_maximises_its_null(method, null):
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(60, 2)), rng.normal(0.3, 1.0, size=(80, 2))
    widths = [0.3, 1.0, 4.0]
    options = {"method": method, "null": null, "n_features": 64, "n_resamples": 499, "random_state": 0}
    family = ss.two_sample_test(x, y, kernel=widths, **options)
    singles = [ss.two_sample_test(x, y, kernel=ss.kernels.Gaussian(width), **options) for width in widths]
    statistics = [single.statistic for single in singles]
    assert [value for _, value in family.family_statistics] == pytest.approx(statistics, rel=1e-4)
    assert family.statistic == pytest.approx(max(statistics), rel=1e-4)
    assert family.kernel == singles[int(np.argmax(statistics))].kernel
    best = singles[int(np.argmax(statistics))]
    # A maximum over three is at least each of them: quantiles rise, and so does the p-value (0.05 for resampling error).
    for level, quantile in family.null_quantiles.items():
        highest = max(single.null_quantiles[level] for single in singles)
        assert quantile >= highest * (0.97 if null != "spectral" else 0.85)
    assert family.pvalue >= best.pvalue - 0.05


def test_a_family_of_one_kernel_twice_is_that_kernel():
    x, y = np.random.default_rng(6).normal(size=(2, 50, 2))
    single = ss.two_sample_test(x, y, kernel=ss.kernels.Gaussian(1.0), **QUICK)
    twice = ss.two_sample_test(x, y, kernel=[1.0, 1.0], **QUICK)
    assert twice.pvalue == single.pvalue
    assert twice.statistic == single.statistic


def test_families_of_mixed_kernels_and_functions():
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=(40, 2)), rng.normal(2.0, 1.0, size=(40, 2))
    mixed = ["gaussian", ss.kernels.Laplacian(1.0), ss.kernels.Matern(0.5, (1.0, 2.0))]
    assert ss.two_sample_test(x, y, kernel=mixed, **QUICK).pvalue == pytest.approx(0.02)
    function = [lambda a, b: (1 + a @ b.T) ** 2, "cauchy"]
    assert ss.two_sample_test(x, y, kernel=function, method="exact", **QUICK).pvalue == pytest.approx(0.02)


def test_many_blocks_of_rows_give_the_statistics_of_one(monkeypatch):
    """Label matrices are made block by block; how many blocks must not matter to the statistic or the level."""
    from supersample.discrepancy import resampled_mmd as forms

    rng = np.random.default_rng(8)
    x, y = rng.normal(size=(700, 2)), rng.normal(0.08, 1.0, size=(900, 2))
    for null in ("permutation", "bootstrap"):
        options = {"null": null, "n_features": 32, "n_resamples": 1999, "random_state": 0}
        whole = ss.two_sample_test(x, y, **options)
        with monkeypatch.context() as patch:
            patch.setattr(forms, "_BLOCK_ELEMENTS", 1)
            blocks = ss.two_sample_test(x, y, **options)
        assert blocks.statistic == pytest.approx(whole.statistic, rel=1e-4)
        assert blocks.pvalue == pytest.approx(whole.pvalue, abs=0.06)
        for level in (0.5, 0.95):
            assert blocks.null_quantiles[level] == pytest.approx(whole.null_quantiles[level], rel=0.1)


def test_more_rows_than_the_spectral_sample():
    rng = np.random.default_rng(9)
    x, y = rng.normal(size=(3000, 2)), rng.normal(size=(2500, 2))
    options = {"kernel": ss.kernels.Gaussian(1.0), "n_features": 64, "n_resamples": 999, "random_state": 0}
    spectral = ss.two_sample_test(x, y, null="spectral", **options)
    permutation = ss.two_sample_test(x, y, null="permutation", **options)
    assert spectral.pvalue == pytest.approx(permutation.pvalue, abs=0.08)
    assert spectral.null_quantiles[0.95] == pytest.approx(permutation.null_quantiles[0.95], rel=0.1)


def test_overwhelming_evidence_gives_a_tiny_spectral_pvalue():
    """A million rows that share no region: p is nearly 0, not the noise of a numerical inversion."""
    rng = np.random.default_rng(10)
    x, y = rng.normal(size=(500_000, 1)), rng.normal(30.0, 1.0, size=(500_000, 1))
    kernel = ss.kernels.Gaussian(100.0)
    assert ss.two_sample_test(x, y, kernel=kernel, null="spectral", n_features=8, random_state=0).pvalue < 1e-50


def test_the_median_bandwidth_ignores_which_sample_a_row_is_in():
    rng = np.random.default_rng(11)
    x, y = rng.normal(size=(100, 2)), rng.normal(3.0, 1.0, size=(100, 2))
    mixed = np.vstack([x, y])[rng.permutation(200)]
    there = ss.two_sample_test(x, y, method="exact", **QUICK).kernel.bandwidth
    assert there == pytest.approx(ss.two_sample_test(mixed[:100], mixed[100:], method="exact", **QUICK).kernel.bandwidth)
    assert there == pytest.approx(ss.kernels.median_distance(mixed))


def test_mmd2_by_the_median_of_many_rows_is_the_same_in_each_call():
    x, y = (np.random.default_rng(seed).normal(size=(900, 2)) for seed in (0, 1))  # the median is of 1,000 of them
    assert ss.mmd2(x, y) == ss.mmd2(x, y)
    assert ss.mmd2(x, y, random_state=1) != ss.mmd2(x, y, random_state=2)


def test_result_says_what_was_done():
    rng = np.random.default_rng(12)
    x, y = rng.normal(size=(1200, 2)), rng.normal(1.0, 1.0, size=(50, 2))
    result = ss.two_sample_test(x, y, kernel=ss.kernels.Cauchy(2.0), n_features=64, n_resamples=49, random_state=0)
    text = str(result)
    for part in ("differ at the 5% level", "fourier, 64 features", "permutation, 49 resamples", "1,200 and 50", "biased"):
        assert part in text
    assert "Cauchy(bandwidth=2.0)" in text
    assert "95%:" in text
    assert "p-value    0.02" in text
    assert (result.null, result.method, result.n_x, result.n_y) == ("permutation", "fourier", 1200, 50)
    assert (result.n_resamples, result.n_features) == (49, 64)
    assert result.rejects()
    assert not result.rejects(0.01)
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.pvalue = 0.5
    alike = ss.two_sample_test(x[:100], x[100:200], kernel=[0.5, 1.0], method="exact", **QUICK)
    assert "show no difference" in str(alike)
    assert "of a family of 2" in str(alike)
    assert alike.n_features is None
    spectral = ss.two_sample_test(x, y, null="spectral", n_features=64, random_state=0)
    assert spectral.n_resamples is None
    assert "(null: spectral)" in str(spectral)


def test_a_statistic_that_is_no_number_is_never_taken_for_a_difference():
    class Broken(ss.kernels.Gaussian):
        def fill(self, left, right, out):
            out[...] = np.nan

    x = np.random.default_rng(0).normal(size=(30, 2))
    with pytest.raises(ss.errors.InputError, match="kernel must give a finite discrepancy between X and Y"):
        ss.two_sample_test(x, x + 1.0, kernel=Broken(1.0), method="exact", n_resamples=99, random_state=0)


CIRCULAR = [("mallows", 1.0), ("mallows", np.inf), ("sine", 1.0)]


@pytest.mark.parametrize("method", ["fourier", "fastfood"])
@pytest.mark.parametrize(("statistic", "norm"), CIRCULAR)
def test_circular_tests_repeat_and_find_what_differs(statistic, norm, method):
    rng = np.random.default_rng(13)
    x, y = rng.normal(size=(90, 3)), rng.normal(1.0, 1.0, size=(70, 3))
    options = {"statistic": statistic, "norm": norm, "method": method, **QUICK}
    first, second = (ss.two_sample_test(x, y, **options) for _ in range(2))
    assert first == second
    assert first != ss.two_sample_test(x, y, **{**options, "random_state": 1})
    assert first.pvalue == 1 / 50  # no statistic of 49 permutations reaches the observed one
    assert ss.two_sample_test(x[:45], x[45:], **options).pvalue > 0.05
    assert (first.distance, first.norm, first.null, first.n_resamples) == (statistic, norm, "permutation", 49)


@pytest.mark.parametrize(("statistic", "norm"), CIRCULAR)
@pytest.mark.parametrize("name", sorted(zoo.ZOO))
def test_circular_tests_of_every_hard_distribution_give_a_pvalue(statistic, norm, name):
    rng = np.random.default_rng(1)
    x, y = zoo.ZOO[name](60, rng), zoo.ZOO[name](35, rng)
    result = ss.two_sample_test(x, y, statistic=statistic, norm=norm, **QUICK)
    assert 0 < result.pvalue <= 1
    assert np.isfinite(result.statistic)


@pytest.mark.parametrize(("statistic", "norm"), CIRCULAR)
def test_circular_tests_of_rows_that_do_not_vary_give_one(statistic, norm):
    x, y = np.full((30, 2), 0.1), np.full((47, 2), 0.1)
    result = ss.two_sample_test(x, y, kernel=ss.kernels.Gaussian(1.0), statistic=statistic, norm=norm, **QUICK)
    assert result.pvalue == 1.0
    assert result.statistic == pytest.approx(0.0, abs=1e-12)


def test_a_family_of_circular_statistics_takes_the_largest_and_maximises_its_null():
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(60, 2)), rng.normal(0.3, 1.0, size=(80, 2))
    options = {"statistic": "mallows", "norm": 1.0, "n_features": 64, "n_resamples": 199, "random_state": 0}
    family = ss.two_sample_test(x, y, kernel=[0.3, 1.0, 4.0], **options)
    singles = [ss.two_sample_test(x, y, kernel=ss.kernels.Gaussian(width), **options) for width in (0.3, 1.0, 4.0)]
    statistics = [single.statistic for single in singles]
    assert [value for _, value in family.family_statistics] == pytest.approx(statistics)
    assert family.kernel == singles[int(np.argmax(statistics))].kernel
    for level, quantile in family.null_quantiles.items():  # the same assignments: a maximum is at least each of them
        assert quantile >= max(single.null_quantiles[level] for single in singles) * (1 - 1e-12)


def test_a_circular_result_says_what_was_done():
    x, y = np.random.default_rng(14).normal(size=(2, 40, 2))
    text = str(ss.two_sample_test(x, y, statistic="mallows", norm=np.inf, **QUICK))
    assert "circular ensemble, mallows distance, fourier, 64 features" in text
    assert "norm inf over frequencies" in text
    assert "MMD" not in text
    assert "permutation, 49 resamples" in text
    assert ss.two_sample_test(x, y, **QUICK).norm is None
