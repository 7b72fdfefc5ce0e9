"""Integrals of known functions, their standard deviations, what residuals say, and resuming."""

import re

import numpy as np
import pytest
from scipy import special, stats

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


def by_definition(kernel, measure, points, values, ratio=0.0, amplitude=None):
    """Mean, standard deviation and log evidence under one kernel, with inverses, and the posterior of f as a function."""
    n, one = len(values), np.ones(len(values))
    inverse = np.linalg.inv(kernel(points) + (ratio + 1e-12) * np.eye(n))
    z = measure.mean_embedding(kernel, points)
    m = one @ inverse @ values / (one @ inverse @ one)
    square = (values - m) @ inverse @ (values - m)
    variance = square / (n - 1) * (n - 1) / (n - 3) if amplitude is None else amplitude**2
    share = measure.energy(kernel) - z @ inverse @ z + (1 - z @ inverse @ one) ** 2 / (one @ inverse @ one)
    evidence = 0.5 * np.linalg.slogdet(inverse)[1] - 0.5 * np.log(one @ inverse @ one) - 0.5 * (n - 1) * np.log(square)

    def predict(x):
        across = kernel(points, x)
        left = 1 - np.einsum("ij,ik,kj->j", across, inverse, across) + (1 - one @ inverse @ across) ** 2 / (one @ inverse @ one)
        return m + across.T @ inverse @ (values - m), np.sqrt(variance * np.maximum(left, 0))

    return m + z @ inverse @ (values - m), np.sqrt(max(share, 1e-16) * variance), evidence, predict


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


@pytest.mark.parametrize("kernel", [Gaussian(0.15), Laplacian(0.4), Matern(1.5, 0.3)])
def test_one_kernel_gives_the_closed_form(kernel):
    found = ss.integrate(lambda x: np.exp(x[0]) + np.sin(9 * x[0]), LINE, 11, kernel=kernel, random_state=0)
    mean, sd, _, predict = by_definition(kernel, LINE, found.points, found.values)
    assert found.mean == pytest.approx(mean, rel=1e-6)
    assert found.sd == pytest.approx(sd * found.posterior.widening, rel=1e-4)
    x = np.linspace(0, 1, 23)[:, None]
    values, sds = predict(x)
    np.testing.assert_allclose(found.predict(x)[0], values, atol=1e-6)
    np.testing.assert_allclose(found.predict(x)[1], sds * found.posterior.widening, atol=1e-5)


def test_kernels_are_averaged_by_their_evidence():
    found = ss.integrate(lambda x: np.abs(x[0] - 0.37), LINE, 9, random_state=0)
    kernels = found.problem.kernels
    assert len(kernels) == 32
    parts = [by_definition(kernel, LINE, found.points, found.values) for kernel in kernels]
    shares = np.exp([part[2] for part in parts] - np.max([part[2] for part in parts]))
    shares[shares < 1e-4 * shares.sum()] = 0.0  # they are left out
    shares /= shares.sum()
    means, sds = np.array([part[0] for part in parts]), np.array([part[1] for part in parts])
    mean = shares @ means
    assert found.mean == pytest.approx(mean, abs=1e-3 * found.sd)
    sd = np.sqrt(shares @ (sds**2 + (means - mean) ** 2))
    assert found.sd == pytest.approx(sd * found.posterior.widening, rel=1e-3)
    named = {kernel: share for share, kernel in found.kernels}
    for share, kernel in zip(shares, kernels, strict=True):
        assert named.get(kernel, 0.0) == pytest.approx(share, abs=1e-5)
    assert found.kernel == found.kernels[0][1] == kernels[int(np.argmax(shares))]


def test_the_integral_is_that_of_the_predictions():
    found = ss.integrate(lambda x: np.sin(5 * x[0]), LINE, 8, random_state=0)
    grid = (np.arange(4000) + 0.5)[:, None] / 4000
    mean, sd = found.predict(grid)
    assert mean.mean() == pytest.approx(found.mean, abs=1e-3 * found.sd + 1e-6)
    assert sd.mean() > found.sd
    at_points, known = found.predict(found.points)
    np.testing.assert_allclose(at_points, found.values, atol=1e-6)
    assert known.max() < 0.02 * sd.max()  # the jitter
    inside = np.abs(mean - np.sin(5 * grid[:, 0])) < 3 * sd
    assert inside.mean() > 0.95
    with pytest.raises(ValueError, match="x must have 1 column"):
        found.predict([[0.0, 1.0]])


def test_residuals_are_those_of_a_fit_without_the_value():
    kernel = Matern(1.5, 0.2)
    found = ss.integrate(lambda x: np.cos(7 * x[0]) + x[0], LINE, 9, kernel=kernel, random_state=0)
    for left_out in range(9):
        rest = np.delete(np.arange(9), left_out)
        *_, predict = by_definition(kernel, LINE, found.points[rest], found.values[rest])
        mean, sd = predict(found.points[[left_out]])
        t = (found.values[left_out] - mean[0]) / sd[0] * np.sqrt(7 / 5)  # 8 values: sd is that of t with 7 degrees of freedom
        assert stats.norm.ppf(stats.t.cdf(t, 7)) == pytest.approx(found.posterior.residuals[left_out], abs=1e-4)


def test_residuals_under_an_average_of_kernels_leave_the_value_out_of_the_shares_too():
    found = ss.integrate(lambda x: np.exp(2 * x[0]) + np.abs(x[0] - 0.5), LINE, 9, random_state=0)
    kernels = [part.prior.kernel for part in found.posterior.parts]
    assert len(kernels) > 3
    for left_out in range(9):
        rest = np.delete(np.arange(9), left_out)
        parts = [by_definition(kernel, LINE, found.points[rest], found.values[rest]) for kernel in kernels]
        shares = np.exp([part[2] for part in parts] - np.max([part[2] for part in parts]))
        below = 0.0
        for share, part in zip(shares / shares.sum(), parts, strict=True):
            mean, sd = part[3](found.points[[left_out]])
            below += share * stats.t.cdf((found.values[left_out] - mean[0]) / sd[0] * np.sqrt(7 / 5), 7)
        assert stats.norm.ppf(below) == pytest.approx(found.posterior.residuals[left_out], abs=2e-3)


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


def test_units_of_the_columns_do_not_matter():
    wide = ss.measures.Uniform([0.0, 0.0], [1.0, 1000.0])
    square = ss.measures.Uniform([0.0, 0.0], [1.0, 1.0])
    one = ss.integrate(lambda x: np.cos(3 * x[0]) * x[1], square, 14, random_state=0)
    other = ss.integrate(lambda x: np.cos(3 * x[0]) * x[1] / 1000, wide, 14, random_state=0)
    np.testing.assert_allclose(other.points, one.points * [1.0, 1000.0], rtol=1e-9)
    assert other.sd == pytest.approx(one.sd, rel=1e-3)


def test_a_function_that_the_prior_does_not_fit_is_said_and_widens():
    found = ss.integrate(
        lambda x: np.sin(x[0]) + 50.0 * (abs(x[0] - 0.5) < 0.02), LINE, 30, kernel=Gaussian(0.3), random_state=0
    )
    assert not found.trusted
    assert found.posterior.widening > 1.3
    assert "standard deviations from what the other values predict" in found.note
    assert re.search(r"\n  trusted  no\n  note     .*A value is [\d.]+ standard deviations", str(found))
    smooth = ss.integrate(lambda x: np.sin(x[0]), LINE, 12, random_state=0)
    assert smooth.trusted
    assert smooth.note == ""
    assert "trusted" not in str(smooth)


def test_widening_is_by_the_largest_and_the_typical_residual():
    found = ss.integrate(lambda x: float(x[0] > 0.41), LINE, 25, kernel=Matern(2.5, 0.3), random_state=0)
    residuals = np.abs(found.posterior.residuals)
    usual = special.ndtri(1 - (1 - 0.5 ** (1 / 25)) / 2)  # the median of the largest of 25
    assert found.posterior.widening == pytest.approx(max(residuals.max() / usual, np.sqrt(np.mean(residuals**2))))
    assert found.posterior.widening > 1


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
        assert "an unknown amplitude takes 4 values at least" in found.note
    for n in (4, 5):
        few = ss.integrate(lambda x: np.sin(4 * x[0]), LINE, n, random_state=0)
        assert few.sd < np.inf
        assert f"{n} values are too few to show" in few.note
        assert not few.trusted
    assert ss.integrate(lambda x: np.sin(4 * x[0]), LINE, 6, random_state=0).trusted
    known = ss.integrate(lambda x: x[0], LINE, 2, kernel=Gaussian(0.5), amplitude=1.0, random_state=0)
    assert known.sd < 1.0


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


def test_a_rough_kernel_in_several_columns_is_near_the_matern_kernel():
    from supersample.integration.rough import GaussianMatern, matern

    x = np.linspace(0, 4, 200)[:, None]
    for nu in (0.5, 1.5, 2.5):
        near = GaussianMatern.like(nu, 1.0)
        assert np.abs(near(x[:1], x) - Matern(nu, 1.0)(x[:1], x)).max() < 0.01
        assert matern(LINE, nu, 1.0) == Matern(nu, 1.0)
        assert BOX.is_exact(matern(BOX, nu, (1.0, 2.0)))
    assert repr(near) == "Matern(bandwidth=1.0, nu=2.5) as 5 Gaussians"


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
