"""Functions that users bring as kernels: told apart by what they compute, refused where they are no kernels."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import rbf_kernel

import supersample as ss
from supersample.errors import InputError, MismatchError
from supersample.kernels import Gaussian, as_kernel


class Scaled:
    def __init__(self, factor):
        self.factor = factor

    def gram(self, x, y):
        return np.exp(-self.factor * ((x[:, None] - y) ** 2).sum(axis=2))


def capturing(values):
    return lambda x, y: x @ values @ y.T


def with_default(factor):
    def kernel(x, y, *, scale=factor):
        return scale * (x @ y.T)

    return kernel


def test_different_functions_have_different_names():
    large = np.eye(40)
    changed = large.copy()
    changed[20, 20] += 100.0
    for left, right in (
        (Scaled(1.0).gram, Scaled(2.0).gram),
        (capturing(large), capturing(changed)),
        (with_default(1.0), with_default(2.0)),
        (lambda x, y: x @ y.T, lambda x, y: 2 * x @ y.T),
    ):
        assert as_kernel(left) != as_kernel(right)


def test_the_same_function_has_the_same_name():
    assert as_kernel(capturing(np.eye(40))) == as_kernel(capturing(np.eye(40)))
    assert as_kernel(with_default(1.0)) == as_kernel(with_default(1.0))


@pytest.mark.parametrize("function", [lambda x, y: -x @ y.T, lambda x, y: 0.0 * x @ y.T, lambda x, y: np.tanh(x @ y.T - 1)])
def test_what_is_no_kernel_is_refused(function):
    data = np.random.default_rng(0).normal(size=(100, 2))
    with pytest.raises(InputError, match="must be positive definite"):
        _ = ss.SuperSampler(5, kernel=function, random_state=0).fit(data).prototypes_


def test_settings_that_cannot_work_are_refused_before_any_row_is_taken_in():
    data = np.random.default_rng(0).normal(size=(50, 2))
    with pytest.raises(MismatchError, match="bandwidth of Gaussian has 3 values and the points have 2 columns"):
        ss.SuperSampler(5, bandwidth=[1, 2, 3]).partial_fit(data)
    with pytest.raises(InputError, match="features='fourier' needs a shift-invariant kernel"):
        ss.SuperSampler(5, kernel=lambda x, y: x @ y.T, features="fourier").partial_fit(data)
    with pytest.raises(InputError, match="bandwidth and n_features must be left out"):
        ss.SuperSampler(5, features=ss.features.Fourier(Gaussian(1.0), 8), n_features=9).partial_fit(data)


def test_equal_rows_are_fine_for_sums_of_kernels():
    sampler = ss.SuperSampler(3, kernel=2.0 * Gaussian(), random_state=0).fit(np.zeros((10, 2)))
    assert sampler.prototypes_.shape == (3, 2)
    assert sampler.mmd_ == 0.0


def test_a_factor_does_not_change_how_a_kernel_is_judged():
    data = np.random.default_rng(0).normal(size=(3000, 2)) + 4 * np.random.default_rng(1).integers(0, 3, (3000, 1))
    ratios = []
    for seed in range(4):
        kernel = 1.0 * Gaussian((3.0, 3.0))
        sampler = ss.SuperSampler(40, kernel=kernel, random_state=seed).fit(data)
        ratios.append(sampler.mmd_ / np.sqrt(ss.mmd2(sampler.prototypes_, data, kernel=kernel)))
    # Each ratio has a standard deviation of about 0.12, so their mean leaves this range less than once in a million.
    assert 0.7 < np.mean(ratios) < 1.3


class Extended(ss.SuperSampler):
    def __init__(self, n_prototypes=5, n_criticisms=0, *, note="", kernel="gaussian", bandwidth="median", features="auto",
                 n_features=None, search="auto", random_state=None):  # fmt: skip
        super().__init__(n_prototypes, n_criticisms, kernel=kernel, bandwidth=bandwidth, features=features,
                         n_features=n_features, search=search, random_state=random_state)  # fmt: skip
        self.note = note


def test_subclasses_stay_what_they_are():
    data = np.random.default_rng(0).normal(size=(200, 2))
    sampler = Extended(note="mine", random_state=0).fit(data)
    assert isinstance(sampler.empty_like(), Extended)
    assert sampler.merge(sampler.empty_like().partial_fit(data)).note == "mine"


def test_parts_of_one_sampler_draw_differently():
    data = np.random.default_rng(0).normal(size=(200, 2))
    sampler = ss.SuperSampler(5, random_state=0).fit(data)
    streams = [sampler.empty_like()._now.state.settings.stream for _ in range(3)]
    assert streams == [1, 2, 3]


BAD = {
    "not symmetric": (lambda x, y: x[:, :1] * np.ones(len(y)), "must be symmetric"),
    "not positive definite": (lambda x, y: np.tanh(x @ y.T - 1.0), "must be positive definite.*eigenvalue -"),
    "negative": (lambda x, y: -x @ y.T, "must be positive definite.*eigenvalue -"),
    "complex": (lambda x, y: (x @ y.T).astype(complex), "must return real numbers, got dtype complex128"),
    "huge": (lambda x, y: 1e200 * (x @ y.T), r"must return finite numbers up to 1e\+100"),
}
CALLS = {
    "herd": lambda data, kernel: ss.herd(data, 4, kernel=kernel),
    "sbq": lambda data, kernel: ss.sbq(data, 4, kernel=kernel),
    "wkh": lambda data, kernel: ss.wkh(data, 4, kernel=kernel),
    "frank_wolfe": lambda data, kernel: ss.frank_wolfe(data, 4, kernel=kernel, variant="fully-corrective"),
    "critic": lambda data, kernel: ss.critic(data, 4, 2, kernel=kernel),
    "online_critic": lambda data, kernel: ss.online_critic(data, 4, 2, kernel=kernel),
    "mmd2": lambda data, kernel: ss.mmd2(data, data[:20], kernel=kernel),
    "two_sample_test": lambda data, kernel: ss.two_sample_test(data, data[:20], kernel=kernel, method="exact"),
    "quadrature_weights": lambda data, kernel: ss.quadrature_weights(data[:4], target=data, kernel=kernel),
    "SuperSampler": lambda data, kernel: ss.SuperSampler(4, kernel=kernel).fit(data).mmd_,
    "in a sum": lambda data, kernel: ss.herd(data, 4, kernel=Gaussian(1.0) + ss.kernels.Function(kernel, name="mine")),
}


@pytest.mark.parametrize("what", BAD)
@pytest.mark.parametrize("call", CALLS)
def test_functions_that_are_no_kernels_are_refused_everywhere(call, what):
    function, message = BAD[what]
    with pytest.raises((InputError, ss.errors.InputTypeError), match=message):
        CALLS[call](np.random.default_rng(0).normal(size=(60, 2)), function)


def test_kernels_that_cancel_far_from_the_origin_are_kernels():
    data = 3.0 * np.random.default_rng(0).normal(size=(300, 2)) + [5e5, 5.4e6]  # metres on a map
    found = ss.herd(data, 5, kernel=lambda x, y: rbf_kernel(x, y, gamma=0.5))
    assert found.mmd[-1] < 1.0


def test_distances_serve_for_differences_of_means():
    x, y = np.random.default_rng(0).normal(size=(2, 60, 2))
    y += 1.5

    def energy(a, b):
        return -cdist(a, b)

    expected = 2.0 * cdist(x, y).mean() - cdist(x, x).mean() - cdist(y, y).mean()
    assert ss.mmd2(x, y, kernel=energy) == pytest.approx(expected)
    assert ss.two_sample_test(x, y, kernel=energy, method="exact", n_resamples=99, random_state=0).rejects()
    with pytest.raises(InputError, match="must be positive definite"):
        ss.sbq(x, 4, kernel=energy)


def test_kernels_in_single_precision_are_kernels():
    data = np.random.default_rng(0).normal(size=(200, 3))

    def singly(x, y):
        squares = ((x[:, None] - y[None]) ** 2).sum(axis=2)
        return np.exp(-squares.astype(np.float32) / 2)

    assert ss.herd(data, 4, kernel=singly).indices.tolist() == ss.herd(data, 4, kernel=Gaussian(1.0)).indices.tolist()
