"""Integrals of known functions, their standard deviations, fitting and resuming."""

import numpy as np
import pytest

import supersample as ss
from supersample.errors import InputError, InputTypeError
from supersample.kernels import Gaussian, Matern

BOX = ss.measures.Uniform([0.0, 0.0], [1.0, 2.0])
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
    found = ss.integrate(f, measure, 25, kernel=kernel, vectorized=True, method=method, random_state=0)
    assert abs(found.mean - truth) <= found.sd * (1 + 1e-6)
    assert found.mean == pytest.approx(found.weights @ found.values)
    np.testing.assert_allclose(found.values, f(found.points))


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


def test_fitting_finds_the_width_and_amplitude_of_the_process():
    rng = np.random.default_rng(1)
    x = np.linspace(0, 10, 150)[:, None]
    measure = ss.measures.Empirical(x)
    widths, amplitudes = [], []
    for _ in range(10):
        truth = 3.0 * np.linalg.cholesky(Gaussian(0.5)(x) + 1e-9 * np.eye(150)) @ rng.normal(size=150)
        found = ss.integrate(
            lambda p, truth=truth: np.interp(p[:, 0], x[:, 0], truth),
            measure,
            60,
            kernel=Gaussian(1.3),
            fit=True,
            vectorized=True,
        )
        widths.append(found.kernel.bandwidth)
        amplitudes.append(found.amplitude)
        assert abs(found.mean - truth.mean()) < max(6 * found.sd, 1e-3)
    # Ten fits of a process with 20 widths each: means within a fifth, by far more than five standard errors.
    assert np.mean(widths) == pytest.approx(0.5, rel=0.2)
    assert np.mean(amplitudes) == pytest.approx(3.0, rel=0.3)


def test_fitting_finds_the_noise():
    rng = np.random.default_rng(2)
    found = ss.integrate(
        lambda x: np.sin(3 * x[:, 0]) + 0.1 * rng.normal(size=len(x)),
        ss.measures.Empirical(np.linspace(0, 6, 400)[:, None]),
        200,
        kernel=Gaussian(0.5),
        fit=("amplitude", "width", "noise"),
        method="herd",
        vectorized=True,
    )
    # The standard deviation of 200 residuals is known to 5%; four of that.
    assert found.noise == pytest.approx(0.1, rel=0.2)
    assert 0.002 < found.sd < 0.03


def test_known_noise_widens_the_answer():
    quiet = ss.integrate(lambda x: x[0], NORMAL, 12, kernel=Gaussian(0.5), random_state=0)
    noisy = ss.integrate(lambda x: x[0], NORMAL, 12, kernel=Gaussian(0.5), noise=0.5, random_state=0)
    assert noisy.sd > 3 * quiet.sd
    louder = ss.integrate(lambda x: x[0], NORMAL, 12, kernel=Gaussian(0.5), amplitude=2.0, random_state=0)
    assert louder.sd == pytest.approx(2 * quiet.sd)
    assert louder.mean == pytest.approx(quiet.mean)


def test_a_standard_deviation_is_never_below_rounding():
    found = ss.integrate(
        lambda x: x[0] ** 2, ss.measures.Uniform(-1.0, 1.0), 12, kernel=Gaussian(1.0), method="sbq", random_state=0
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
    "nan": ((lambda x: np.nan, BOX, 5), {}, InputError, "f must return finite numbers, got nan at"),
    "shape": ((lambda x: 1.0, BOX, 5), {"vectorized": True}, InputError, "f must return 5 numbers for 5 rows"),
    "rows": ((lambda x: x[:, 0], BOX, 5), {}, InputTypeError, "failed with: too many indices.*Set vectorized=True"),
    "an array": ((lambda x: x, BOX, 5), {}, InputTypeError, "must return one number.*vectorized=True"),
    "fit": ((np.sum, BOX, 5), {"fit": ("length",)}, InputError, "fit must be one of 'amplitude', 'width', 'noise'"),
    "method": ((np.sum, BOX, 5), {"method": "mc"}, InputError, "method must be one of 'wkh', 'sbq', 'herd'"),
    "noise": ((np.sum, BOX, 5), {"noise": -1.0}, InputError, "noise must be 0 or more"),
    "amplitude": ((np.sum, BOX, 5), {"amplitude": 0.0}, InputError, "amplitude must be positive"),
    "fit none": ((np.sum, BOX, 5), {"fit": None}, InputTypeError, "fit must be True, False, or a list of"),
    "fit number": ((np.sum, BOX, 5), {"fit": 3}, InputTypeError, "fit must be True, False, or a list of"),
    "words": ((lambda x: ["a"] * 5, BOX, 5), {"vectorized": True}, InputTypeError, "f must return real numbers, got dtype <U1"),
    "complex": ((lambda x: x[:, 0] + 1j, BOX, 5), {"vectorized": True}, InputTypeError, "real numbers, got dtype complex128"),
    "objects": ((lambda x: np.array([{}] * 5), BOX, 5), {"vectorized": True}, InputTypeError, "real numbers, got dtype object"),
    "vectorized": ((np.sum, BOX, 5), {"vectorized": "no"}, InputTypeError, "vectorized must be True or False"),
    "n": (
        (np.sum, BOX, 5),
        {"candidates": [[0.5, 0.5], [0.1, 0.2]]},
        InputError,
        "n must not be more than the 2 candidates, got 5.*pass more candidates",
    ),
    "resume": ((np.sum, BOX, 5), {"resume": 3}, InputTypeError, "resume must be an Integral"),
    "candidates": ((np.sum, BOX, 5), {"candidates": [[1.0]]}, ValueError, "candidates must have 2 columns"),
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
