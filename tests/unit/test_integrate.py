"""Integrals of known functions, their standard deviations, what residuals say, and resuming."""

import numpy as np
import pytest

import supersample as ss
from integrands import FAMILIES, integrand
from supersample.errors import FunctionError, InputError, InputTypeError
from supersample.kernels import Gaussian, Laplacian, Matern

BOX = ss.measures.Uniform([0.0, 0.0], [1.0, 2.0])
LINE = ss.measures.Uniform(0.0, 1.0)
NORMAL = ss.measures.GaussianMixture([1.0], [[0.5]], [[[0.3]]])


def in_the_space(kernel, measure, seed, count=8):
    """A function of norm one in the kernel's space, and its integral."""
    rng = np.random.default_rng(seed)
    centres = measure.sample(count, rng)
    a = rng.normal(size=count)
    a /= np.sqrt(a @ kernel(centres) @ a)
    return (lambda x: kernel(np.atleast_2d(x), centres) @ a), float(a @ measure.mean_embedding(kernel, centres))


@pytest.mark.parametrize("method", ["wkh", "sbq", "herd"])
@pytest.mark.parametrize("seed", range(5))
def test_errors_stay_under_the_standard_deviation_for_functions_of_norm_one(method, seed):
    kernel = Matern(2.5, 0.6) if seed % 2 else Gaussian(0.6)
    measure = NORMAL if seed % 2 else BOX
    f, truth = in_the_space(kernel, measure, seed)
    found = ss.integrate(f, measure, 25, kernel=kernel, amplitude=1.0, vectorized=True, method=method, random_state=0)
    assert abs(found.mean - truth) <= found.sd * (1 + 1e-6)
    assert found.mean == pytest.approx(found.weights @ found.values)
    assert found.weights.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(found.values, f(found.points))


@pytest.mark.parametrize("seed", range(5))
def test_a_wave_of_large_values_is_within_three_standard_deviations(seed):
    found = ss.integrate(lambda x: 1000 * np.sin(20 * x[0]), LINE, 10, random_state=seed)
    truth = 1000 * (1 - np.cos(20)) / 20
    assert abs(found.mean - truth) < 3 * found.sd or not found.trusted
    assert found.sd > 1.0


@pytest.mark.parametrize("columns", [1, 2])
def test_scale_and_constant_of_the_function_do_not_matter(columns):
    box = ss.measures.Uniform([0.0] * columns, [1.0] * columns)
    plain = ss.integrate(lambda x: np.cos(4 * x.sum()), box, 12, random_state=0)
    for scale, constant in ((1e-3, 2.0), (1e3, -5.0), (1e150, 0.0), (1e-150, 0.0)):
        found = ss.integrate(lambda x, s=scale, c=constant: s * np.cos(4 * x.sum()) + c, box, 12, random_state=0)
        np.testing.assert_array_equal(found.points, plain.points)
        assert found.mean == pytest.approx(scale * plain.mean + constant, abs=1e-2 * scale * plain.sd)
        assert found.sd == pytest.approx(scale * plain.sd, rel=1e-2)


@pytest.mark.parametrize("low", [0.0, -2.0])
def test_values_near_the_largest_number_are_integrated(low):
    line = ss.measures.Uniform(low, 1.0)  # from -2 on, the largest value less the smallest does not fit into float64
    plain = ss.integrate(lambda x: np.sin(3 * x[0]), line, 10, random_state=0)
    huge = ss.integrate(lambda x: 1.7e308 * np.sin(3 * x[0]), line, 10, random_state=0)
    np.testing.assert_array_equal(huge.points, plain.points)
    assert huge.mean / 1.7e308 == pytest.approx(plain.mean, abs=1e-2 * plain.sd)
    assert huge.sd / 1.7e308 == pytest.approx(plain.sd, rel=1e-2)
    assert huge.trusted == plain.trusted
    np.testing.assert_allclose(huge.predict([[0.4]])[0] / 1.7e308, plain.predict([[0.4]])[0], rtol=1e-6)


def test_units_of_the_columns_do_not_matter():
    wide = ss.measures.Uniform([0.0, 0.0], [1.0, 1000.0])
    square = ss.measures.Uniform([0.0, 0.0], [1.0, 1.0])
    one = ss.integrate(lambda x: np.cos(3 * x[0]) * x[1], square, 14, random_state=0)
    other = ss.integrate(lambda x: np.cos(3 * x[0]) * x[1] / 1000, wide, 14, random_state=0)
    np.testing.assert_allclose(other.points, one.points * [1.0, 1000.0], rtol=1e-9)
    assert other.sd == pytest.approx(one.sd, rel=1e-3)


def test_two_standard_deviations_cover_a_few_of_each_family():
    """Fixed seeds: the whole study is in tests/statistical."""
    covered = []
    for family in FAMILIES:
        for number in (1, 2):
            f, truth, columns = integrand(family, number)
            box = ss.measures.Uniform([0.0] * columns, [1.0] * columns)
            found = ss.integrate(f, box, 10 + 6 * columns, vectorized=True, random_state=number)
            covered.append(abs(found.mean - truth) < 2 * found.sd)
    assert sum(covered) >= 17


def test_too_few_values_have_no_standard_deviation():
    for n in (1, 2, 3):
        found = ss.integrate(lambda x: x[0], LINE, n, random_state=0)
        assert found.sd == np.inf
        assert not found.trusted
        assert f"{n} value{'s' * (n > 1)} cannot show whether the prior fits: that takes 6 at least." in found.note
        assert "With fewer than 4 the standard deviation of an unknown amplitude is infinite." in found.note
    for n in (4, 5):
        few = ss.integrate(lambda x: np.sin(4 * x[0]), LINE, n, random_state=0)
        assert few.sd < np.inf
        assert few.note == f"{n} values cannot show whether the prior fits: that takes 6 at least."
        assert not few.trusted
    assert ss.integrate(lambda x: np.sin(4 * x[0]), LINE, 6, random_state=0).trusted
    known = ss.integrate(lambda x: x[0], LINE, 2, kernel=Gaussian(0.5), amplitude=1.0, random_state=0)
    assert known.sd < 1.0
    assert "infinite" not in known.note


def test_equal_values_are_not_trusted():
    found = ss.integrate(lambda x: 3.7, LINE, 8, random_state=0)
    assert found.mean == pytest.approx(3.7, rel=1e-14)
    assert found.sd < 1e-12
    assert not found.trusted
    assert "All values are equal" in found.note
    zero = ss.integrate(lambda x: 0.0, LINE, 8, random_state=0)
    assert zero.mean == 0.0


def test_a_named_kernel_is_averaged_over_widths_and_a_given_one_is_kept():
    def f(x):
        return float(np.sin(6 * x[0]))

    plane = ss.integrate(f, BOX, 8, kernel="matern32", random_state=0)
    assert plane.note == ""  # a sum of Gaussians, not draws, stands for a kernel without a closed form
    assert repr(plane.kernel).startswith("Matern(bandwidth=")
    named = ss.integrate(f, LINE, 8, kernel="matern32", random_state=0)
    assert len(named.problem.kernels) == 8
    assert {type(kernel) for _, kernel in named.kernels} == {Matern}
    assert {kernel.nu for _, kernel in named.kernels} == {1.5}
    for options, kernel in (
        ({"bandwidth": 0.3}, Gaussian(0.3)),
        ({"kernel": "laplacian", "bandwidth": 0.3}, Laplacian(0.3)),
        ({"kernel": Matern(0.5, 0.2)}, Matern(0.5, 0.2)),
    ):
        assert ss.integrate(f, LINE, 8, random_state=0, **options).kernels == ((1.0, kernel),)
    median = ss.integrate(f, LINE, 8, bandwidth="median", random_state=0)
    assert median.kernel.bandwidth == pytest.approx(1 - np.sqrt(0.5), rel=0.05)  # of two uniform draws


def test_new_points_are_chosen_for_the_fitted_kernel():
    flat = ss.integrate(lambda x: x[0], LINE, 20, random_state=0)
    wild = ss.integrate(lambda x: np.sin(60 * x[0] ** 2), LINE, 20, random_state=0)
    np.testing.assert_array_equal(flat.points[:5], wild.points[:5])  # no values were known
    assert not np.array_equal(flat.points, wild.points)
    assert wild.kernel.bandwidth < flat.kernel.bandwidth / 4


def test_one_at_a_time_and_vectorised_agree():
    calls = []

    def one(x):
        calls.append(x)
        assert x.shape == (2,)
        return x[0] * np.sin(x[1])

    first = ss.integrate(one, BOX, 20, kernel=Gaussian(0.8), random_state=0)
    second = ss.integrate(lambda x: x[:, 0] * np.sin(x[:, 1]), BOX, 20, kernel=Gaussian(0.8), vectorized=True, random_state=0)
    assert len(calls) == 20
    assert first.mean == pytest.approx(second.mean, rel=1e-12)
    assert first.mean == pytest.approx(0.5 * (1 - np.cos(2.0)) / 2, abs=1e-3)


def test_resuming_calls_f_at_the_new_points_only_and_equals_one_run():
    calls = []

    def f(x):
        calls.append(x)
        return float(np.cos(x[0] + x[1]))

    first = ss.integrate(f, BOX, 10, kernel=Gaussian(0.8), random_state=0)
    more = ss.integrate(f, BOX, 18, resume=first)
    assert len(calls) == 18
    np.testing.assert_array_equal(more.points[:10], first.points)
    whole = ss.integrate(f, BOX, 18, kernel=Gaussian(0.8), random_state=0)
    np.testing.assert_array_equal(more.points, whole.points)
    assert more.mean == pytest.approx(whole.mean, rel=1e-9)
    assert more.sd < first.sd


def test_noise_is_fitted():
    rng = np.random.default_rng(2)
    found = ss.integrate(
        lambda x: np.sin(3 * x[:, 0]) + 0.1 * rng.normal(size=len(x)),
        ss.measures.Empirical(np.linspace(0, 6, 400)[:, None]),
        200,
        noise="fit",
        method="herd",
        vectorized=True,
    )
    # The standard deviation of 200 residuals is known to 5%, and the grid has factors of 3.
    assert found.noise == pytest.approx(0.1, rel=0.25)
    assert 0.002 < found.sd < 0.03


def test_noise_that_nobody_spoke_of_widens_the_standard_deviation():
    """Fixed seeds. Of 20 integrals, 19 should be within two standard deviations; without priors with noise, 17 are."""
    covered, sds, noises = [], [], []
    for seed in range(20):
        rng = np.random.default_rng([seed, 3])
        found = ss.integrate(lambda x, r=rng: np.exp(x[0]) + 0.1 * r.normal(), LINE, 24, random_state=seed)
        covered.append(abs(found.mean - (np.e - 1)) < 2 * found.sd)
        sds.append(found.sd)
        noises.append(found.noise)
        assert len(np.unique(found.points)) == 24
        (share,) = [f"{share:.0%}" for share, kernel in found.kernels if kernel == found.kernel]
        if found.noise:
            assert f", noise {found.noise:.2g}, {found.kernel!r}, {share} of the evidence" in str(found)
    assert sum(covered) >= 18
    assert 0.015 < np.median(sds) < 0.03  # 0.1 / sqrt 24 is 0.02
    assert 0.05 < np.median(noises) < 0.15


def test_a_smooth_function_is_seen_to_have_no_noise():
    found = ss.integrate(lambda x: np.exp(x[0]), LINE, 12, random_state=0)
    sure = ss.integrate(lambda x: np.exp(x[0]), LINE, 12, noise=0.0, random_state=0)
    np.testing.assert_array_equal(found.points, sure.points)
    assert found.noise == sure.noise == 0.0
    assert "noise" not in str(found)
    assert found.sd == pytest.approx(sure.sd, rel=0.05)
    assert found.sd < 1e-5


def test_known_noise_widens_the_answer():
    quiet = ss.integrate(lambda x: x[0], NORMAL, 12, kernel=Gaussian(0.5), amplitude=1.0, random_state=0)
    noisy = ss.integrate(lambda x: x[0], NORMAL, 12, kernel=Gaussian(0.5), amplitude=1.0, noise=0.5, random_state=0)
    assert noisy.sd > 3 * quiet.sd
    unknown = ss.integrate(lambda x: x[0], NORMAL, 12, kernel=Gaussian(0.5), noise=0.5, random_state=0)
    assert 0.5 * noisy.sd < unknown.sd < 2 * noisy.sd
    assert unknown.noise == 0.5


def test_a_standard_deviation_is_never_below_rounding():
    found = ss.integrate(
        lambda x: x[0] ** 2, ss.measures.Uniform(-1.0, 1.0), 14, kernel=Gaussian(1.0), method="sbq", random_state=0
    )
    assert found.sd > 0
    assert "span all candidates" in found.note
    assert abs(found.mean - 1 / 3) < 10 * found.sd


def test_a_measure_without_a_closed_form_is_drawn_once_and_said():
    found = ss.integrate(lambda x: x[0], BOX, 15, kernel=ss.kernels.Cauchy(1.0), random_state=0)
    assert "Uniform has no closed form for Cauchy" in found.note
    # 20,000 draws have a mean within 0.002 of 1/2 in standard deviation; five of them, and the prior's own error.
    assert found.mean == pytest.approx(0.5, abs=0.01 + 3 * found.sd)


BAD = {
    "no function": ((3, BOX, 5), {}, InputTypeError, "f must be a function"),
    "no measure": ((np.sum, np.ones((3, 2)), 5), {}, InputTypeError, "measure must be one of ss.measures.*Empirical"),
    "no points": ((np.sum, BOX, 0), {}, InputError, "n must be at least 1"),
    "nan": ((lambda x: np.nan, BOX, 5), {}, FunctionError, "f must return finite numbers, got nan at"),
    "shape": ((lambda x: 1.0, BOX, 5), {"vectorized": True}, FunctionError, "f must return 5 numbers for 5 rows"),
    "rows": ((lambda x: x[:, 0], BOX, 5), {}, FunctionError, "after 0 of 5 calls.*too many indices.*No value was known before"),
    "an array": ((lambda x: x, BOX, 5), {}, FunctionError, "must return one number.*vectorized=True"),
    "method": ((np.sum, BOX, 5), {"method": "mc"}, InputError, "method must be one of 'wkh', 'sbq', 'herd'"),
    "noise": ((np.sum, BOX, 5), {"noise": -1.0}, InputError, "noise must be 0 or more"),
    "noise word": ((np.sum, BOX, 5), {"noise": "guess"}, InputError, "noise must be one of 'fit', got 'guess'"),
    "noise list": ((np.sum, BOX, 5), {"noise": [1.0]}, InputTypeError, "noise must be a number or 'fit', got list"),
    "amplitude": ((np.sum, BOX, 5), {"amplitude": 0.0}, InputError, "amplitude must be positive"),
    "kernel": ((np.sum, BOX, 5), {"kernel": "box"}, InputError, "kernel must be one of"),
    "words": ((lambda x: ["a"] * 5, BOX, 5), {"vectorized": True}, FunctionError, "f must return real numbers, got dtype <U1"),
    "complex": ((lambda x: x[:, 0] + 1j, BOX, 5), {"vectorized": True}, FunctionError, "real numbers, got dtype complex128"),
    "objects": ((lambda x: np.array([{}] * 5), BOX, 5), {"vectorized": True}, FunctionError, "real numbers, got dtype object"),
    "vectorized": ((np.sum, BOX, 5), {"vectorized": "no"}, InputTypeError, "vectorized must be True or False"),
    "n": (
        (np.sum, BOX, 5),
        {"candidates": [[0.5, 0.5], [0.1, 0.2]]},
        InputError,
        "n must not be more than the 2 candidates, got 5.*pass more candidates",
    ),
    "resume": ((np.sum, BOX, 5), {"resume": 3}, InputTypeError, "resume must be an Integral"),
    "candidates": ((np.sum, BOX, 5), {"candidates": [[1.0]]}, ValueError, "candidates must have 2 columns"),
    "outside": (
        (np.sum, BOX, 1),
        {"candidates": [[1.0, 2.0], [0.0, 2.1]]},
        InputError,
        r"candidates must lie inside the measure.*got \[0.0, 2.1\] in row 1 of candidates, outside of Uniform; leave it out",
    ),
    "checkpoint": ((np.sum, BOX, 5), {"checkpoint": 3}, InputTypeError, "checkpoint must be a path, got int"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input(what):
    arguments, options, error, message = BAD[what]
    with pytest.raises(error, match=message):
        ss.integrate(*arguments, **{"kernel": Gaussian(1.0), "random_state": 0, **options})


def test_fewer_points_than_before():
    first = ss.integrate(np.sum, BOX, 5, kernel=Gaussian(1.0), random_state=0)
    with pytest.raises(InputError, match="n counts the points of resume too: it must be at least 5, got 4"):
        ss.integrate(np.sum, BOX, 4, resume=first)
