"""Bad input ends in one sentence that names the argument and says what to do, and changes nothing."""

import re

import numpy as np
import pytest
import scipy.sparse

import supersample as ss
from supersample.embedding import mean
from supersample.errors import InputError, InputTypeError, MismatchError, SupersampleError
from supersample.features import Fastfood, Fourier, Nystroem
from supersample.kernels import Cauchy, Function, Gaussian, Laplacian, Matern, as_family, as_kernel, median_distance

GOOD = np.random.default_rng(0).normal(size=(20, 3))
PHI = Fourier(Gaussian(1.0), 8, random_state=0)


def with_entry(value, dtype=float):
    points = GOOD.astype(dtype)
    points[4, 2] = value
    return points


# What is wrong with an array of points, the words its message must hold, and the kind of error.
POINTS = {
    "nan": (with_entry(np.nan), ["NaN", "row 4, column 2", "drop or impute"], InputError),
    "nan float32": (with_entry(np.nan, np.float32), ["NaN", "row 4, column 2"], InputError),
    "infinity": (with_entry(np.inf), ["infinity", "row 4, column 2"], InputError),
    "minus infinity": (with_entry(-np.inf), ["infinity", "row 4, column 2"], InputError),
    "both infinities": (np.array([[np.inf, -np.inf, 0.0]] * 3), ["6 values not finite"], InputError),
    "beyond float64": (with_entry(np.longdouble("1e400"), np.longdouble), ["infinity", "row 4, column 2"], InputError),
    "beyond all floats": (with_entry(10**400, object), ["must hold numbers", "too large"], InputTypeError),
    "no rows": (np.empty((0, 3)), ["at least", "row", "0 sample(s)", "pass more rows"], InputError),
    "no columns": (np.empty((5, 0)), ["column", "0 feature(s)", "(5, 0)"], InputError),
    "one dimension": (GOOD[:, 0], ["two dimensions", "np.reshape("], InputError),
    "three dimensions": (GOOD[None], ["two dimensions", "got 3"], InputError),
    "a number": (3.0, ["two dimensions"], InputError),
    "none": (None, ["two dimensions"], InputError),
    "strings": (np.array([["a", "b", "c"]] * 3), ["must hold numbers", "encode text"], InputTypeError),
    "numbers in strings": (np.array([["1", "2", "3"]] * 3), ["must hold numbers"], InputTypeError),
    "dates": (np.array([["2020-01-01"] * 3] * 3, dtype="datetime64[D]"), ["must hold numbers", "dates"], InputTypeError),
    "objects": (np.array([[1.0, "a", None]] * 3, dtype=object), ["must hold numbers", "object"], InputTypeError),
    "complex": (GOOD + 1j, ["Complex data not supported", "imaginary"], InputError),
    "ragged": ([[1.0, 2.0], [3.0]], ["rectangular"], InputError),
    "sparse": (scipy.sparse.csr_matrix(GOOD), ["dense", "toarray()"], InputTypeError),
    "sparse array": (scipy.sparse.csr_array(GOOD), ["dense", "toarray()"], InputTypeError),
}
# Every public function that takes points: the name of the argument in its messages, and how to call it.
TAKERS = {
    "mmd2 X": ("X", lambda points: ss.mmd2(points, GOOD)),
    "mmd2 Y": ("Y", lambda points: ss.mmd2(GOOD, points, method="fourier", n_features=8)),
    "mmd2 block": ("X", lambda points: ss.mmd2(points, GOOD, method="block")),
    "two_sample_test X": ("X", lambda points: ss.two_sample_test(points, GOOD, n_resamples=9)),
    "two_sample_test Y": ("Y", lambda points: ss.two_sample_test(GOOD, points, method="exact", n_resamples=9)),
    "circular_ensemble X": ("X", lambda points: ss.circular_ensemble(points, GOOD, n_frequencies=4)),
    "circular_ensemble Y": ("Y", lambda points: ss.circular_ensemble(GOOD, points, n_frequencies=4)),
    "MeanEmbedding.update": ("points", lambda points: ss.MeanEmbedding(PHI).update(points)),
    "witness": (
        "points",
        lambda points: ss.MeanEmbedding(PHI).update(GOOD).witness(ss.MeanEmbedding(PHI).update(GOOD))(points),
    ),
    "Fourier.transform": ("points", PHI.transform),
    "Fastfood.transform": ("points", Fastfood(Gaussian(1.0), 8).transform),
    "Nystroem.transform": ("points", Nystroem(Gaussian(1.0), GOOD[:5]).transform),
    "Nystroem landmarks": ("landmarks", lambda points: Nystroem(Gaussian(1.0), points)),
    "Nystroem sample": ("sample", lambda points: Nystroem.from_sample("gaussian", points, 3)),
    "kernel left": ("left", lambda points: Gaussian(1.0)(points, GOOD)),
    "kernel right": ("right", lambda points: Gaussian(1.0)(GOOD, points)),
    "median_distance": ("points", median_distance),
    "resolve": ("points", Gaussian().resolve),
}


# There is one place where None has a meaning: the Gram matrix of left with itself.
@pytest.mark.parametrize(
    ("taker", "case"),
    [(taker, case) for taker in TAKERS for case in POINTS if (taker, POINTS[case][0] is None) != ("kernel right", True)],
)
def test_bad_points(taker, case):
    name, call = TAKERS[taker]
    points, words, kind = POINTS[case]
    with pytest.raises(kind) as caught:
        call(points)
    message = str(caught.value)
    assert re.search(rf"\b{name}\b", message), message
    for word in words:
        assert word in message


@pytest.mark.parametrize("taker", ["mmd2 X", "mmd2 Y", "two_sample_test X", "two_sample_test Y", "circular_ensemble X"])
def test_samples_of_different_width(taker):
    with pytest.raises(MismatchError, match=r"X and Y must have the same number of columns, got \d and \d; pass the same"):
        TAKERS[taker][1](GOOD[:, :2])


def test_one_row_where_two_are_needed():
    with pytest.raises(InputError, match=r"X must have at least 2 rows, got 1 sample"):
        ss.two_sample_test(GOOD[:1], GOOD)
    with pytest.raises(InputError, match=r"Y must have at least 2 rows"):
        ss.mmd2(GOOD, GOOD[:1], estimator="unbiased")
    with pytest.raises(InputError, match=r"Y must have at least 2 rows"):
        ss.mmd2(GOOD, GOOD[:1], method="linear")
    with pytest.raises(InputError, match=r"points must have at least 2 rows"):
        median_distance(GOOD[:1])
    with pytest.raises(InputError, match=r"needs at least two blocks of two rows .* use method='exact'"):
        ss.two_sample_test(GOOD[:3], GOOD, method="linear")
    assert ss.mmd2(GOOD[:1], GOOD[:1] + 1, kernel=Gaussian(1.0)) > 0


def embed_with(weight):
    return ss.MeanEmbedding(PHI).update(GOOD, weight)


def angles_with(weight):
    return ss.circular_discrepancy(GOOD[:, 0], GOOD[:, 1], weight_x=weight)


WEIGHTS = {
    "negative": (np.r_[np.ones(7), -0.5, np.ones(12)], ["must not be negative", "-0.5 in row 7"], InputError),
    "nan": (np.r_[np.ones(7), np.nan, np.ones(12)], ["NaN", "row 7"], InputError),
    "infinity": (np.r_[np.ones(7), np.inf, np.ones(12)], ["infinity", "row 7"], InputError),
    "too few": (np.ones(19), ["one weight for each of the 20 rows", "(19,)"], MismatchError),
    "too many": (np.ones(21), ["one weight for each of the 20 rows", "(21,)"], MismatchError),
    "a column": (np.ones((20, 1)), ["one-dimensional", "(20, 1)"], MismatchError),
    "a number": (2.0, ["one-dimensional", "()"], MismatchError),
    "strings": (np.array(["a"] * 20), ["must hold numbers"], InputTypeError),
    "complex": (np.ones(20) + 0j, ["must hold numbers"], InputTypeError),
    "objects": (np.array([None] * 20), ["must hold numbers"], InputTypeError),
}
WEIGHERS = {
    "mmd2 weight_x": ("weight_x", lambda weight: ss.mmd2(GOOD, GOOD, weight_x=weight)),
    "mmd2 weight_y": ("weight_y", lambda weight: ss.mmd2(GOOD, GOOD, weight_y=weight, method="fourier")),
    "MeanEmbedding.update": ("weight", embed_with),
    "circular_discrepancy": ("weight_x", angles_with),
}


@pytest.mark.parametrize("weigher", WEIGHERS)
@pytest.mark.parametrize("case", WEIGHTS)
def test_bad_weights(weigher, case):
    name, call = WEIGHERS[weigher]
    weight, words, kind = WEIGHTS[case]
    with pytest.raises(kind) as caught:
        call(weight)
    assert re.search(rf"\b{name}\b", str(caught.value))
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("weigher", sorted(set(WEIGHERS) - {"MeanEmbedding.update"}))
def test_weights_that_are_all_zero(weigher):
    name, call = WEIGHERS[weigher]
    with pytest.raises(InputError, match=rf"{name} must hold at least one positive weight, got 20 zeros; leave {name} out"):
        call(np.zeros(20))


def test_an_embedding_takes_zeros_and_has_no_mean_until_a_positive_weight_comes():
    embedding = ss.MeanEmbedding(PHI).update(GOOD, np.zeros(20))
    assert embedding.n_seen == 20
    for ask in (lambda: embedding.mean, embedding.norm2, lambda: embedding.mmd2(embedding)):
        with pytest.raises(InputError, match=r"no mean yet: it has seen no row of positive weight; call update"):
            ask()
    assert embedding.update(GOOD).mean.shape == (8,)


def test_one_positive_weight_has_no_unbiased_estimate():
    weight = np.zeros(20)
    weight[3] = 2.0
    for method in ("exact", "fourier"):
        with pytest.raises(InputError, match=r"estimator='unbiased' needs at least two rows of positive weight"):
            ss.mmd2(GOOD, GOOD, weight_x=weight, estimator="unbiased", method=method)


@pytest.mark.parametrize(
    ("log_weight", "words"),
    [
        (np.r_[np.zeros(19), np.nan], ["nan in row 19"]),
        (np.r_[np.zeros(19), np.inf], ["inf in row 19"]),
        (np.full(20, 1e16), ["within plus or minus 1e15"]),
        (np.zeros(3), ["one weight for each of the 20 rows"]),
    ],
)
def test_bad_log_weights(log_weight, words):
    with pytest.raises(SupersampleError) as caught:
        ss.MeanEmbedding(PHI).update(GOOD, log_weight=log_weight)
    assert all(word in str(caught.value) for word in ["log_weight", *words])
    with pytest.raises(InputError, match="weight and log_weight must not both be given"):
        ss.MeanEmbedding(PHI).update(GOOD, np.ones(20), log_weight=np.zeros(20))


@pytest.mark.parametrize("method", ["block", "linear"])
def test_weights_where_a_method_has_none(method):
    with pytest.raises(InputError, match=rf"do not go with method='{method}'; use 'exact', 'fourier' or 'fastfood'"):
        ss.mmd2(GOOD, GOOD, method=method, weight_x=np.ones(20))


@pytest.mark.parametrize("make", [Gaussian, Laplacian, Cauchy, lambda b: Matern(1.5, b), lambda b: as_kernel("gaussian", b)])
@pytest.mark.parametrize(
    ("bandwidth", "kind"),
    [
        (0.0, InputError),
        (-1.0, InputError),
        (np.nan, InputError),
        (np.inf, InputError),
        ([1.0, 0.0], InputError),
        ("mean", InputError),
        ([], InputTypeError),
        ([[1.0, 2.0]], InputTypeError),
        ([[1.0], [1.0, 2.0]], SupersampleError),
        (1j, InputTypeError),
        (True, InputTypeError),
        (["a"], InputTypeError),
        ({}, InputTypeError),
    ],
)
def test_bad_bandwidths(make, bandwidth, kind):
    with pytest.raises(kind, match=r"bandwidth of \w+ must be (a )?positive"):
        make(bandwidth)


def test_bandwidths_that_do_not_fit_the_points():
    for call in (
        lambda kernel: kernel(GOOD),
        lambda kernel: ss.mmd2(GOOD, GOOD, kernel=kernel),
        lambda kernel: ss.two_sample_test(GOOD, GOOD, kernel=kernel, n_resamples=9),
        lambda kernel: Fourier(kernel, 8).transform(GOOD),
        lambda kernel: Fastfood(kernel, 8).transform(GOOD),
        lambda kernel: ss.MeanEmbedding(Fourier(kernel, 8)).update(GOOD),
    ):
        with pytest.raises(MismatchError, match=r"has 2 values and the points have 3 columns; pass one bandwidth"):
            call(Gaussian((1.0, 2.0)))


def test_bandwidths_however_small_and_rows_however_far_are_no_obstacle():
    far = np.vstack([GOOD, [[1e50, 0.0, 0.0]]])
    for found in (
        ss.summarize(GOOD, 3, bandwidth=1e-60, random_state=0).mmd,
        ss.SuperSampler(3, bandwidth=1e-60, random_state=0).fit(GOOD).mmd_,
        ss.SuperSampler(3, random_state=0).fit(far).mmd_,
        ss.SuperSampler(3, features="fourier", random_state=0).fit(GOOD).partial_fit(far).mmd_,
        ss.two_sample_test(GOOD, far, kernel=Gaussian(1e-60), n_resamples=99, random_state=0).statistic,
    ):
        assert np.isfinite(found)
        assert found > 0


def test_median_bandwidth_without_data_or_without_distances():
    for call in (lambda: Gaussian()(GOOD), lambda: Fourier("gaussian", 8), lambda: Nystroem("gaussian", GOOD)):
        with pytest.raises(InputError, match=r"'median' needs data; call kernel.resolve\(points\) first, or pass a number"):
            call()
    same = np.zeros((10, 2))
    for call in (lambda: ss.mmd2(same, same), lambda: ss.two_sample_test(same, same), lambda: median_distance(same)):
        with pytest.raises(InputError, match=r"all \d+ sampled rows are equal.*pass a bandwidth as a number"):
            call()


KERNEL_TAKERS = [
    lambda kernel: ss.mmd2(GOOD, GOOD, kernel=kernel),
    lambda kernel: ss.two_sample_test(GOOD, GOOD, kernel=kernel),
    lambda kernel: ss.circular_ensemble(GOOD, GOOD, kernel=kernel),
    lambda kernel: Fourier(kernel, 8),
    lambda kernel: Fastfood(kernel, 8),
    lambda kernel: Nystroem(kernel, GOOD),
    as_kernel,
]


@pytest.mark.parametrize("call", KERNEL_TAKERS)
@pytest.mark.parametrize("kernel", ["gausian", 3, None, 1.5, object()])
def test_bad_kernels(call, kernel):
    with pytest.raises(SupersampleError, match=r"kernel must be (one of 'gaussian'|a name)"):
        call(kernel)


@pytest.mark.parametrize("kernel", [[], [None], [-1.0], ["gausian"], np.array(1.0), [True]])
def test_bad_families(kernel):
    with pytest.raises(SupersampleError, match=r"kernel|bandwidth"):
        as_family(kernel)


def test_kernels_where_they_do_not_fit():
    own = Function(lambda x, y: x @ y.T, name="dot")
    with pytest.raises(InputError, match=r"Fourier features need a shift-invariant kernel.*use Nystroem features"):
        Fourier(own, 8)
    with pytest.raises(InputError, match=r"method='fourier' needs a shift-invariant kernel.*use method='exact'"):
        ss.mmd2(GOOD, GOOD, kernel=own, method="fourier")
    with pytest.raises(InputError, match=r"Fastfood needs a kernel of the Euclidean distance.*use Fourier features"):
        Fastfood(Laplacian(1.0), 8)
    with pytest.raises(InputError, match=r"frequencies='orthogonal' needs a kernel of the Euclidean distance"):
        Fourier(Laplacian(1.0), 8, frequencies="orthogonal")
    with pytest.raises(InputTypeError, match=r"no constant k\(x, x\).*use diagonal\(points\)"):
        _ = own.k0
    with pytest.raises(InputError, match=r"nu of Matern must be 0.5, 1.5 or 2.5, got 2"):
        Matern(2.0, 1.0)
    for factor in (0.0, -1.0, np.nan, np.inf, 1e-31, 1e31):
        with pytest.raises(InputError, match=r"multiplied by a number between 1e-30 and 1e\+30 only, got"):
            factor * Gaussian(1.0)
    for factor in ("a", True, None):
        with pytest.raises(InputTypeError, match=r"multiplied by a number only"):
            Gaussian(1.0) * factor
    with pytest.raises(InputError, match=r"carries its own, so leave bandwidth out"):
        as_kernel(Gaussian(1.0), 2.0)
    with pytest.raises(InputError, match=r"bandwidth must be left out where kernel is a list"):
        as_family([1.0], 2.0)


def test_functions_that_are_no_kernels():
    with pytest.raises(InputError, match=r"kernel function 'sum' must return a 20 x 20 matrix.*got shape \(\)"):
        Function(lambda x, y: x.sum(), name="sum")(GOOD)
    with pytest.raises(InputError, match=r"kernel function 'bad' must return finite numbers"):
        Function(lambda x, y: np.full((len(x), len(y)), np.nan), name="bad")(GOOD)
    with pytest.raises(InputTypeError, match=r"function of kernels.Function must be callable, got int"):
        Function(3, name="three")
    with pytest.raises(InputError, match=r"name of kernels.Function must be a word"):
        Function(np.inner, name="")
    with pytest.raises(InputError, match=r"landmarks: the kernel is zero at all of them"):
        Nystroem(Function(lambda x, y: x @ y.T, name="dot"), np.zeros((4, 2)))


COUNTS = {
    "Fourier": ("n_features", lambda count: Fourier(Gaussian(1.0), count)),
    "Fastfood": ("n_features", lambda count: Fastfood(Gaussian(1.0), count)),
    "Nystroem": ("n_landmarks", lambda count: Nystroem.from_sample("gaussian", GOOD, count)),
    "mmd2": ("n_features", lambda count: ss.mmd2(GOOD, GOOD, method="fastfood", n_features=count)),
    "two_sample_test": ("n_features", lambda count: ss.two_sample_test(GOOD, GOOD, n_features=count)),
    "n_resamples": ("n_resamples", lambda count: ss.two_sample_test(GOOD, GOOD, n_resamples=count)),
    "circular_ensemble": ("n_frequencies", lambda count: ss.circular_ensemble(GOOD, GOOD, n_frequencies=count)),
}


@pytest.mark.parametrize("taker", COUNTS)
@pytest.mark.parametrize("count", [0, -1, 1.5, 2.0, True, "3", None, np.nan])
def test_bad_counts(taker, count):
    name, call = COUNTS[taker]
    kind = InputError if type(count) is int else InputTypeError
    with pytest.raises(kind, match=rf"{name} must be (at least 1, got|a whole number, got)"):
        call(count)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ss.mmd2(GOOD, GOOD, method="fast"), "method must be one of 'exact', 'fourier'"),
        (lambda: ss.mmd2(GOOD, GOOD, estimator="best"), "estimator must be one of 'biased', 'unbiased', 'paired', got 'best'"),
        (
            lambda: ss.mmd2(GOOD, GOOD, method="linear", estimator="biased"),
            "does not exist for method='linear'; use",
        ),
        (lambda: ss.mmd2(GOOD, GOOD, estimator="paired"), "estimator='paired' does not exist for method='exact'; use"),
        (lambda: ss.two_sample_test(GOOD, GOOD, estimator="paired"), "does not exist for method='fourier'; use 'unbiased'"),
        (lambda: ss.two_sample_test(GOOD, GOOD, method="fast"), "method must be one of"),
        (lambda: ss.two_sample_test(GOOD, GOOD, estimator=3), "estimator must be one of"),
        (lambda: ss.two_sample_test(GOOD, GOOD, null="jackknife"), "null must be one of 'permutation', 'bootstrap'"),
        (lambda: ss.two_sample_test(GOOD, GOOD, null="normal"), "null='normal' does not go with method='fourier'; use 'perm"),
        (
            lambda: ss.two_sample_test(GOOD, GOOD, method="block", null="spectral"),
            "null='spectral' does not go with method='block'; use 'normal'",
        ),
        (
            lambda: ss.two_sample_test(GOOD, GOOD, method="linear", kernel=[1.0, 2.0]),
            "method='linear' takes one kernel, got a family of 2; use 'exact'",
        ),
        (lambda: ss.two_sample_test(GOOD, GOOD, statistic="energy"), "statistic must be one of 'mmd', 'mallows', 'sine'"),
        (
            lambda: ss.two_sample_test(GOOD, GOOD, norm=1.0),
            "norm=1 does not go with statistic='mmd', which is norm=2; use",
        ),
        (lambda: ss.two_sample_test(GOOD, GOOD, norm=0.5), "norm must be a number of at least 1, or inf, got 0.5"),
        (
            lambda: ss.two_sample_test(GOOD, GOOD, statistic="mallows", method="exact"),
            "method='exact' does not go with statistic='mallows'; use 'fourier' or 'fastfood', or leave method out",
        ),
        (
            lambda: ss.two_sample_test(GOOD, GOOD, statistic="mallows", method="linear"),
            "method='linear' does not go with statistic='mallows'",
        ),
        (
            lambda: ss.two_sample_test(GOOD, GOOD, statistic="mallows", null="spectral"),
            "null='spectral' does not go with statistic='mallows'; use 'permutation', or leave null out",
        ),
        (
            lambda: ss.two_sample_test(GOOD, GOOD, statistic="sine", estimator="unbiased"),
            "estimator='unbiased' does not go with statistic='sine'; use 'biased', or leave estimator out",
        ),
        (
            lambda: ss.two_sample_test(GOOD, GOOD, statistic="mallows", kernel=lambda a, b: a @ b.T),
            "needs a shift-invariant kernel",
        ),
        (lambda: Fourier(Gaussian(1.0), 8, form="pair"), "form must be one of 'paired', 'phase'"),
        (lambda: Fourier(Gaussian(1.0), 8, frequencies="halton"), "frequencies must be one of 'independent', 'orthogonal'"),
        (lambda: Fourier(Gaussian(1.0), 8, dtype=np.int32), "dtype must be float32 or float64, got int32"),
        (lambda: Fourier(Gaussian(1.0), 8, dtype="real"), "dtype must be float32 or float64"),
        (lambda: Nystroem(Gaussian(1.0), GOOD, dtype=np.float16), "dtype must be float32 or float64"),
        (lambda: Fourier(Gaussian(1.0), 8, origin=[1.0, 2.0]).transform(GOOD), "origin has 2 values and the points have 3"),
        (lambda: Fourier(Gaussian(1.0), 8, origin=np.nan), "origin"),
        (lambda: Fourier(Gaussian(1.0), 8, origin="middle"), "origin"),
        (lambda: Fourier(Gaussian(1.0), 8, origin=np.zeros((2, 3))), "origin"),
        (lambda: Nystroem(Gaussian(1.0), GOOD).transform(GOOD[:, :2]), "points must have 3 columns"),
        (lambda: Gaussian(1.0)(GOOD, GOOD[:, :2]), "left and right must have the same"),
        (lambda: ss.circular_discrepancy([], [1.0]), "X must be a non-empty one-dimensional array of angles in radians"),
        (lambda: ss.circular_discrepancy([1.0], GOOD), "Y must be a non-empty one-dimensional array of angles"),
        (lambda: ss.circular_discrepancy(["a"], [1.0]), "X must be a non-empty one-dimensional array of angles"),
        (lambda: ss.circular_discrepancy([1j], [1.0]), "X must be a non-empty one-dimensional array of angles"),
        (lambda: ss.circular_discrepancy([1.0], [np.nan]), "Y must hold finite angles"),
        (lambda: ss.circular_discrepancy([np.inf], [0.0]), "X must hold finite angles"),
        (lambda: ss.circular_discrepancy([1.0], [0.0], distance="l2"), "distance must be one of 'sine', 'mallows'"),
        (lambda: ss.circular_ensemble(GOOD, GOOD, distance="l2"), "distance must be one of 'sine', 'mallows'"),
        (lambda: ss.circular_ensemble(GOOD, GOOD, norm=0.5), "norm must be a number of at least 1, or inf, got 0.5"),
        (lambda: ss.circular_ensemble(GOOD, GOOD, norm=np.nan), "norm must be a number of at least 1"),
        (lambda: ss.circular_ensemble(GOOD, GOOD, norm="max"), "norm must be a number of at least 1"),
        (lambda: ss.MeanEmbedding("fourier"), "feature_map must be a feature map such as ss.features.Fourier"),
        (lambda: ss.MeanEmbedding(PHI).merge(3), "other must be a MeanEmbedding, got int"),
        (lambda: ss.MeanEmbedding(PHI).mmd2(None), "other must be a MeanEmbedding, got NoneType"),
        (lambda: embed_with(None).mmd2(embed_with(None), estimator="best"), "estimator must be one of 'biased', 'unbiased'"),
    ],
)
def test_other_bad_arguments(call, words):
    with pytest.raises(SupersampleError, match=re.escape(words)):
        call()


def test_too_wide_for_sobol_points():
    phi = Fourier(Gaussian(1.0), 4, frequencies="sobol", random_state=0)
    with pytest.raises(InputError, match=r"frequencies='sobol' reaches 21201 dimensions.*use 'independent'"):
        phi.transform(np.zeros((1, 21_202)))


@pytest.mark.parametrize(
    "call",
    [
        lambda seed: ss.mmd2(GOOD, GOOD, random_state=seed),
        lambda seed: ss.two_sample_test(GOOD, GOOD, random_state=seed),
        lambda seed: ss.circular_ensemble(GOOD, GOOD, random_state=seed),
        lambda seed: Fourier(Gaussian(1.0), 8, random_state=seed),
        lambda seed: Fastfood(Gaussian(1.0), 8, random_state=seed),
        lambda seed: Nystroem.from_sample("gaussian", GOOD, 3, random_state=seed),
    ],
)
@pytest.mark.parametrize("seed", ["0", 1.0, True, -1, [1], np.random.RandomState(0)])
def test_bad_seeds(call, seed):
    with pytest.raises(SupersampleError, match=r"random_state must (not be negative, got -1|be an int, a numpy Generator)"):
        call(seed)


def state_of(embedding):
    arrays = (embedding.state.totals, embedding.state.errors, embedding.state.partials, embedding.state.counts)
    return tuple(array.tobytes() for array in arrays), embedding.n_inputs, embedding.n_seen


@pytest.mark.parametrize("fresh", [True, False])
def test_a_refused_update_leaves_the_embedding_as_it_was(fresh):
    embedding = ss.MeanEmbedding(PHI)
    if not fresh:
        embedding.update(GOOD, np.arange(20.0))
    before = state_of(embedding)
    wrong = [{"points": points} for points, _, _ in POINTS.values()]
    wrong += [{"points": GOOD, "weight": weight} for weight, _, _ in WEIGHTS.values()]
    wrong += [{"points": GOOD, "log_weight": np.full(20, np.nan)}]
    wrong += [] if fresh else [{"points": GOOD[:, :2]}]
    for arguments in wrong:
        with pytest.raises(SupersampleError):
            embedding.update(**arguments)
        assert state_of(embedding) == before
    embedding.update(GOOD)
    assert embedding.n_seen == (20 if fresh else 40)


def test_an_update_that_fails_inside_the_kernel_leaves_the_embedding_as_it_was(monkeypatch):
    """The rows come in blocks; the last one fails, when all others have been added up."""
    monkeypatch.setattr(mean, "_BLOCK_ELEMENTS", 1000)

    def picky(x, y):
        if x.max() > 100:
            raise RuntimeError("no")
        return x @ y.T + 1.0

    embedding = ss.MeanEmbedding(Nystroem(picky, GOOD)).update(GOOD)
    before = state_of(embedding)
    rows = np.vstack([np.zeros((5000, 3)), np.full((1, 3), 1e3)])
    with pytest.raises(RuntimeError, match="no"):
        embedding.update(rows)
    assert state_of(embedding) == before


def test_another_width_than_before():
    embedding = ss.MeanEmbedding(PHI).update(GOOD)
    with pytest.raises(MismatchError, match=r"points must have 3 columns as what it is used with, got 2; pass"):
        embedding.update(GOOD[:, :2])
    other = ss.MeanEmbedding(PHI).update(GOOD[:, :2])
    for call in (embedding.merge, embedding.mmd2, embedding.dot, embedding.witness):
        with pytest.raises(MismatchError, match=r"have seen points of 3 and 2 columns and cannot be combined"):
            call(other)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (Fourier(Gaussian(1.0), 8, random_state=1), ["seed is [0] here and [1] there"]),
        (Fourier(Gaussian(2.0), 8, random_state=0), ["kernel", "'bandwidth': 1.0", "'bandwidth': 2.0"]),
        (Fourier(Cauchy(1.0), 8, random_state=0), ["Gaussian", "Cauchy"]),
        (Fourier(Gaussian(1.0), 8, form="phase", random_state=0), ["form is 'paired' here and 'phase' there"]),
        (Fourier(Gaussian(1.0), 9, random_state=0), ["n_features is 8 here and 9 there"]),
        (Fourier(Gaussian(1.0), 8, dtype=np.float64, random_state=0), ["dtype"]),
        (Fastfood(Gaussian(1.0), 8, random_state=0), ["map is 'Fourier' here and 'Fastfood' there"]),
        (Nystroem(Gaussian(1.0), GOOD[:8]), ["map is 'Fourier' here and 'Nystroem' there"]),
    ],
)
def test_embeddings_of_different_maps_refuse_each_other(other, words):
    left, right = ss.MeanEmbedding(PHI).update(GOOD), ss.MeanEmbedding(other).update(GOOD)
    for call in (left.merge, left.mmd2, left.dot, left.witness):
        with pytest.raises(MismatchError, match="different feature maps and cannot be combined") as caught:
            call(right)
        assert all(word in str(caught.value) for word in [*words, "build both with one map"])


def test_numbers_of_other_kinds_are_taken():
    whole = np.arange(12).reshape(4, 3)
    expected = ss.mmd2(whole.astype(float), whole + 1.0, kernel=Gaussian(2.0))
    for kind in (np.int32, np.uint8, np.float16, np.float32, object):
        assert ss.mmd2(whole.astype(kind), (whole + 1).astype(kind), kernel=Gaussian(2.0)) == pytest.approx(expected, rel=1e-12)
    assert ss.mmd2(whole.tolist(), (whole + 1).tolist(), kernel=Gaussian(2.0)) == pytest.approx(expected, rel=1e-12)


def test_inputs_are_never_written_to():
    x, weight = GOOD.copy(), np.arange(20.0)
    x.flags.writeable = weight.flags.writeable = False
    for method in ("exact", "fourier", "fastfood", "block", "linear"):
        ss.mmd2(x, x, method=method, n_features=8, random_state=0)
        ss.two_sample_test(x, x, method=method, n_features=8, n_resamples=9, random_state=0)
    ss.mmd2(x, x, weight_x=weight)
    ss.MeanEmbedding(Fourier(Gaussian(1.0), 8, origin=1.0)).update(x, weight)
    ss.circular_ensemble(x, x, n_frequencies=3, distance="mallows")
    np.testing.assert_array_equal(x, GOOD)
