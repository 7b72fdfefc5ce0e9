"""Kernels worked by hand: values, sums, bandwidths, names and identities."""

import json
import math

import numpy as np
import pytest

import supersample as ss
from supersample.errors import InputError
from supersample.kernels import Cauchy, Function, Gaussian, Laplacian, Matern, Sum, as_family, as_kernel, median_distance

ORIGIN, POINT = [[0.0, 0.0]], [[3.0, 4.0]]
BY_HAND = [
    (Gaussian(5.0), math.exp(-0.5)),
    (Gaussian((3.0, 4.0)), math.exp(-1.0)),
    (Laplacian(7.0), math.exp(-1.0)),
    (Laplacian((3.0, 4.0)), math.exp(-2.0)),
    (Cauchy(5.0), 0.5),
    (Matern(0.5, 5.0), math.exp(-1.0)),
    (Matern(1.5, 5.0), (1 + math.sqrt(3)) * math.exp(-math.sqrt(3))),
    (Matern(2.5, 5.0), (1 + math.sqrt(5) + 5 / 3) * math.exp(-math.sqrt(5))),
    (Gaussian(5.0) + Cauchy(5.0), math.exp(-0.5) + 0.5),
    (2 * Cauchy(5.0) * 3, 3.0),
]


@pytest.mark.parametrize(("kernel", "expected"), BY_HAND, ids=str)
def test_value_between_two_points(kernel, expected):
    assert kernel(ORIGIN, POINT).item() == pytest.approx(expected, rel=1e-15)
    assert kernel.paired(np.array(ORIGIN), np.array(POINT)).item() == pytest.approx(expected, rel=1e-15)
    assert kernel(POINT).item() == pytest.approx(kernel.k0, rel=1e-15)
    assert kernel.diagonal(np.array(POINT)).item() == pytest.approx(kernel.k0, rel=1e-15)


def test_gram_is_symmetric_and_shaped_by_its_arguments():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(500, 20)), rng.normal(size=(7, 20))
    assert Gaussian(4.0)(x, y).shape == (500, 7)
    np.testing.assert_allclose(Gaussian(4.0)(x, y), Gaussian(4.0)(y, x).T, rtol=1e-12)
    assert np.linalg.eigvalsh(Matern(0.5, 4.0)(x)).min() > 0


@pytest.mark.parametrize("name", ["gaussian", "laplacian", "cauchy", "matern12", "matern32", "matern52"])
def test_names_stand_for_kernels(name):
    kernel = as_kernel(name, 2.0)
    assert kernel.bandwidth == 2.0
    assert type(kernel).__name__.lower() == name.rstrip("1235")
    assert as_kernel(name).bandwidth == "median"
    assert not as_kernel(name).is_resolved
    assert as_kernel("matern12", 2.0) == Matern(0.5, 2.0)
    assert as_kernel("matern52", 2.0) == Matern(2.5, 2.0)


def test_median_bandwidth_is_the_median_distance_in_the_kernels_own_metric():
    x = np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]])
    # Distances: 5, 1 and sqrt(18) = 4.24 in the plane; 7, 1 and 6 along the axes.
    assert Gaussian().resolve(x).bandwidth == pytest.approx(math.sqrt(18.0))
    assert Laplacian().resolve(x).bandwidth == pytest.approx(6.0)
    assert Gaussian(2.0).resolve(x).bandwidth == 2.0
    both = (Gaussian() + 0.5 * Cauchy()).resolve(x)
    assert both.is_resolved
    assert [kernel.bandwidth for _, kernel in both.terms] == pytest.approx([math.sqrt(18.0)] * 2)


def test_median_distance_leaves_out_equal_pairs_where_they_are_the_majority():
    assert median_distance([[0.0]] * 10 + [[1.0]]) == 1.0
    assert median_distance([[0.0], [0.0], [1.0], [3.0]]) == 1.5


def test_median_distance_of_many_rows_comes_from_a_sample_that_the_seed_fixes():
    x = np.random.default_rng(0).normal(size=(100_000, 2))
    first, second = (median_distance(x, random_state=seed) for seed in (1, 1))
    assert first == second
    assert median_distance(x, random_state=2) != first
    # The distance between two standard normal points has the median sqrt(2) sqrt(2 log 2) = 1.665.
    assert first == pytest.approx(2 * math.sqrt(math.log(2)), rel=0.05)


def test_identities_are_plain_and_tell_kernels_apart():
    kernels = [kernel for kernel, _ in BY_HAND] + [Gaussian("median"), Gaussian(5.1), Function(np.dot, name="dot")]
    identities = [json.dumps(kernel.identity) for kernel in kernels]
    assert len(set(identities)) == len(kernels)


def test_sums_flatten_and_add_their_k0():
    total = Gaussian(1.0) + (2.0 * Cauchy(1.0) + Laplacian(3.0))
    assert isinstance(total, Sum)
    assert [factor for factor, _ in total.terms] == [1.0, 2.0, 1.0]
    assert total.k0 == 4.0
    assert (0.5 * total).k0 == 2.0
    assert not total.is_radial
    assert (Gaussian(1.0) + Matern(0.5, 2.0)).is_radial
    with pytest.raises(TypeError):
        Gaussian(1.0) + 1.0


def test_families_come_from_lists_of_anything():
    family = as_family([1, 2.5, "cauchy", Laplacian(3.0)])
    assert family == (Gaussian(1.0), Gaussian(2.5), Cauchy("median"), Laplacian(3.0))
    assert as_family(np.array([1.0, 2.0])) == (Gaussian(1.0), Gaussian(2.0))
    assert as_family("gaussian", 3.0) == (Gaussian(3.0),)


def test_a_function_is_a_kernel_known_by_its_name():
    dot = Function(lambda x, y: x @ y.T, name="dot")
    assert dot == Function(np.inner, name="dot")
    assert dot != Function(np.inner, name="inner")
    assert hash(dot) == hash(Function(np.inner, name="dot"))
    np.testing.assert_array_equal(dot.diagonal(np.array([[1.0, 2.0], [3.0, 0.0]])), [5.0, 9.0])
    assert not dot.has_spectrum


def test_kernels_module_can_be_imported_by_its_short_name():
    import supersample.kernels as kernels

    assert kernels is ss.kernels


FAR = [Gaussian(1.0), Laplacian(1.0), Cauchy(1.0), Matern(0.5, 1.0), Matern(1.5, 1.0), Matern(2.5, 1.0)]


@pytest.mark.parametrize("kernel", [*FAR, Gaussian(1.0) + Matern(1.5, 1.0)], ids=repr)
def test_points_whose_squared_distance_overflows_have_nothing_in_common(kernel):
    near = np.random.default_rng(0).normal(size=(40, 2))
    rows = np.vstack([near, [[1e200, 0.0]]])
    with np.errstate(over="ignore"):
        gram = kernel(rows)
    np.testing.assert_array_equal(gram[-1], [0.0] * 40 + [kernel.k0])
    assert np.isfinite(ss.herd(rows, 5, kernel=kernel).mmd).all()
    assert len(ss.critic(rows, 5, 3, kernel=kernel).criticisms) == 3
    assert ss.mmd2(rows, near, kernel=kernel) > 0


@pytest.mark.parametrize("kernel", [Matern(1.5, 1e-160), Matern(2.5, 1e-160)], ids=repr)
def test_a_sample_does_not_differ_from_itself_however_narrow_the_kernel(kernel):
    x = np.random.default_rng(0).normal(size=(40, 2))
    found = ss.two_sample_test(x, x, kernel=kernel, method="exact", n_resamples=99, random_state=0)
    assert (found.statistic, found.pvalue) == (0.0, 1.0)


def test_a_median_distance_beyond_float64_is_told_as_what_it_is():
    with pytest.raises(ss.errors.InputError, match=r"points must lie so near .* got rows that reach 1\.\d+e\+160; scale them"):
        median_distance(1e160 * np.arange(1.0, 2.0, 0.05)[:, None])


TAKES_A_NAME = {
    "mmd2": lambda x, y, **how: ss.mmd2(x, y, **how),
    "two_sample_test": lambda x, y, **how: ss.two_sample_test(x, y, n_resamples=9, random_state=0, **how).statistic,
    "circular_ensemble": lambda x, y, **how: ss.circular_ensemble(x, y, random_state=0, **how),
    "critic": lambda x, _, **how: ss.critic(x, 5, 2, **how).prototypes.mmd,
    "online_critic": lambda x, _, **how: ss.online_critic(x, 5, 2, **how).prototypes.mmd,
    "herd": lambda x, y, **how: ss.herd(x, 5, target=y, **how).mmd,
    "quadrature_weights": lambda x, y, **how: ss.quadrature_weights(x[:5], target=y, **how),
    "SuperSampler": lambda x, _, **how: ss.SuperSampler(5, random_state=0, **how).fit(x).mmd_,
}


@pytest.mark.parametrize("name", TAKES_A_NAME)
def test_a_bandwidth_goes_with_a_kernel_by_name_wherever_one_is_taken(name):
    call = TAKES_A_NAME[name]
    x, y = np.random.default_rng(0).normal(size=(2, 40, 2)) + np.array([0.0, 0.5])[:, None, None]
    by_name = call(x, y, kernel="cauchy", bandwidth=0.7)
    np.testing.assert_array_equal(by_name, call(x, y, kernel=Cauchy(0.7)))
    assert not np.array_equal(by_name, call(x, y, kernel="cauchy"))
    np.testing.assert_array_equal(call(x, y, kernel="cauchy", bandwidth="median"), call(x, y, kernel="cauchy"))
    with pytest.raises(InputError, match="carries its own, so leave bandwidth out"):
        call(x, y, kernel=Cauchy(0.7), bandwidth=2.0)
