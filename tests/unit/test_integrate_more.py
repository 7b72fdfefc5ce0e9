"""Integrals of noisy functions, over data known by features, in parts, and of functions that write on their arguments."""

import numpy as np
import pytest

import supersample as ss
from supersample.errors import InputError, MismatchError
from supersample.kernels import Cauchy, Gaussian, Laplacian

BOX = ss.measures.Uniform([0.0, 0.0], [1.0, 2.0])
LINE = ss.measures.Uniform(-1.0, 1.0)


def posterior_sd(found, measure, kernel, amplitude, noise):
    """a sqrt(E - z^T K^-1 z + (1 - z^T K^-1 1)^2 / 1^T K^-1 1), K with noise, by the definition, times the widening."""
    gram = kernel(found.points) + (noise / amplitude) ** 2 * np.eye(len(found))
    z = measure.mean_embedding(kernel, found.points)
    left, ones = np.linalg.solve(gram, z), np.linalg.solve(gram, np.ones(len(found)))
    variance = measure.energy(kernel) - z @ left + (1 - left.sum()) ** 2 / ones.sum()
    return amplitude * np.sqrt(variance) * found.posterior.widening


@pytest.mark.parametrize("method", ["wkh", "sbq", "herd"])
def test_more_calls_of_a_noisy_function_lower_the_standard_deviation(method):
    sds = []
    for n in (10, 50, 400):
        found = ss.integrate(lambda x: 1.0, LINE, n, bandwidth=1.0, amplitude=1.0, noise=0.5, method=method, random_state=0)
        assert len(found) == n
        assert found.sd == pytest.approx(posterior_sd(found, LINE, found.kernel, 1.0, 0.5), rel=1e-7)
        sds.append(found.sd)
    # n independent draws of a function that is known but for the noise have a standard deviation of 0.5 / sqrt(n).
    assert sds[0] < 0.17
    assert sds[1] < 0.075
    assert sds[2] < 0.0265


def test_each_noisy_call_is_the_best_of_all_candidates():
    pool = LINE.sample(60, 3)
    kernel, ratio = Gaussian(0.7), (0.3 / 2.0) ** 2
    found = ss.integrate(
        lambda x: 0.0, LINE, 75, kernel=kernel, candidates=pool, noise=0.3, amplitude=2.0, method="sbq", random_state=0
    )
    z, gram, energy = LINE.mean_embedding(kernel, pool), kernel(pool), LINE.energy(kernel)

    def variance(chosen):
        part = gram[np.ix_(chosen, chosen)] + ratio * np.eye(len(chosen))
        return energy - z[chosen] @ np.linalg.solve(part, z[chosen])

    indices = [int(np.flatnonzero((pool == point).all(axis=1))[0]) for point in found.points]
    for step in (0, 1, 2, 5, 20, 60):
        values = [variance([*indices[:step], j]) for j in range(60)]
        assert values[indices[step]] <= min(values) * (1 + 1e-9)
    assert len(set(indices)) < 75  # there are 60 candidates


def test_noise_that_is_to_be_fitted_leaves_room_for_more_calls():
    def f(x):
        return x[0] + 0.2 * np.random.default_rng(int(1e9 * abs(x[0]))).normal()

    pool = LINE.sample(40, 5)
    first = ss.integrate(f, LINE, 9, noise="fit", candidates=pool, random_state=0)
    more = ss.integrate(f, LINE, 60, resume=first)
    assert (len(first), len(more)) == (9, 60)
    np.testing.assert_array_equal(more.points[:9], first.points)
    whole = ss.integrate(f, LINE, 60, noise="fit", candidates=pool, random_state=0)
    np.testing.assert_array_equal(whole.points, more.points)


def test_noise_counts_beside_the_amplitude():
    for amplitude, noise in ((3.0, 0.4), (0.5, 0.4)):
        found = ss.integrate(lambda x: x[0], LINE, 20, kernel=Gaussian(0.8), amplitude=amplitude, noise=noise, random_state=0)
        assert found.sd == pytest.approx(posterior_sd(found, LINE, found.kernel, amplitude, noise), rel=1e-9)
        inverse = np.linalg.inv(Gaussian(0.8)(found.points) + (noise / amplitude) ** 2 * np.eye(20))
        z, ones = LINE.mean_embedding(Gaussian(0.8), found.points), np.ones(20)
        weights = inverse @ (z + ones * (1 - ones @ inverse @ z) / (ones @ inverse @ ones))
        np.testing.assert_allclose(found.weights, weights, rtol=1e-7, atol=1e-9)


def test_noise_below_rounding_is_none():
    quiet = ss.integrate(lambda x: x[0], LINE, 12, bandwidth=1.0, amplitude=1.0, random_state=0)
    hardly = ss.integrate(lambda x: x[0], LINE, 12, bandwidth=1.0, amplitude=1.0, noise=1e-9, random_state=0)
    np.testing.assert_array_equal(quiet.points, hardly.points)


def test_a_function_may_write_on_its_arguments():
    def one(x):
        value = x[0] * x[1]
        x *= 0.0
        return value

    def rows(x):
        value = x[:, 0] * x[:, 1]
        x *= 0.0
        return value

    expected = ss.integrate(lambda x: x[0] * x[1], BOX, 15, kernel=Gaussian(0.8), random_state=0)
    for f, vectorized in ((one, False), (rows, True)):
        found = ss.integrate(f, BOX, 15, kernel=Gaussian(0.8), vectorized=vectorized, random_state=0)
        np.testing.assert_array_equal(found.points, expected.points)
        assert found.mean == pytest.approx(expected.mean, rel=1e-12)
        assert found.mean == pytest.approx(0.5, abs=0.01)
    data = BOX.sample(50, 0)
    kept = data.copy()
    ss.integrate(rows, ss.measures.Empirical(data), 10, kernel=Gaussian(0.8), vectorized=True)
    np.testing.assert_array_equal(data, kept)


def test_data_with_features_are_integrated_over_by_their_points():
    rows = np.random.default_rng(0).normal(size=(2000, 2))
    phi = ss.features.Fourier(Gaussian(0.6), 64, random_state=0)
    target = ss.measures.Empirical(rows, features=phi)
    for noise in (0.0, 0.2):
        found = ss.integrate(lambda x: np.cos(x[0]), target, 20, amplitude=1.0, noise=noise)
        assert found.kernel == Gaussian(0.6)
        exact = ss.measures.Empirical(rows)
        assert found.sd == pytest.approx(posterior_sd(found, exact, Gaussian(0.6), 1.0, noise), rel=1e-6)
        assert abs(found.mean - np.cos(rows[:, 0]).mean()) < 4 * found.sd
    with pytest.raises(MismatchError, match="features of Empirical stand for kernel Gaussian"):
        ss.integrate(np.sum, target, 5, kernel=Gaussian(0.7))


@pytest.mark.parametrize("by_features", [True, False])
@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_weights_of_data_count_where_the_data_are_the_candidates(by_features, noise):
    rows = np.random.default_rng(0).normal(size=(500, 2))
    weights = np.where(rows[:, 0] > 0, 1.0, 0.01)
    phi = ss.features.Fourier(Gaussian(0.6), 256, dtype=np.float64, random_state=0) if by_features else None
    measure = ss.measures.Empirical(rows, weights, features=phi)
    own = ss.integrate(lambda x: x[0], measure, 12, kernel=Gaussian(0.6), noise=noise)
    passed = ss.integrate(lambda x: x[0], measure, 12, kernel=Gaussian(0.6), noise=noise, candidates=rows.copy())
    np.testing.assert_array_equal(own.points, passed.points)
    assert own.mean == pytest.approx(passed.mean, rel=1e-9)
    assert (own.points[:, 0] > -0.5).mean() > 0.8


@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_many_data_with_features_have_an_estimated_standard_deviation(noise):
    rows = np.random.default_rng(0).normal(size=(20_500, 1))
    phi = ss.features.Fourier(Gaussian(0.4), 128, random_state=0)
    found = ss.integrate(
        lambda x: np.cos(x[0]), ss.measures.Empirical(rows, features=phi), 6, amplitude=1.0, noise=noise, random_state=0,
        candidates=np.linspace(-3, 3, 61)[:, None],
    )  # fmt: skip
    assert "The variance is an estimate, by a sample of the measure's points" in found.note
    exact = posterior_sd(found, ss.measures.Empirical(rows), Gaussian(0.4), 1.0, noise)
    assert found.sd == pytest.approx(exact, rel=0.03)


SETTINGS = {
    "amplitude": {"kernel": Gaussian(0.8), "amplitude": 2.5},
    "noise": {"kernel": Gaussian(0.8), "amplitude": 2.0, "noise": 0.3},
    "method": {"kernel": Laplacian(0.8), "method": "sbq"},
    "herd": {"kernel": Gaussian(0.8), "method": "herd"},
    "noisy herd": {"kernel": Gaussian(0.8), "method": "herd", "noise": 0.3},
    "draws": {"kernel": Cauchy(0.8), "candidates": BOX.sample(300, 4)},
    "median": {"bandwidth": "median"},
    "averaged": {},
    "one family": {"kernel": "matern32", "candidates": BOX.sample(300, 4)},
    "noise to fit": {"noise": "fit", "candidates": BOX.sample(200, 4)},
    "candidates": {"kernel": Gaussian(0.8), "candidates": BOX.sample(300, 4)},
}


@pytest.mark.parametrize("what", SETTINGS)
def test_parts_equal_one_run(what):
    def f(x):
        return float(np.cos(x[0] + x[1]))

    options = SETTINGS[what]
    whole = ss.integrate(f, BOX, 18, random_state=0, **options)
    first = ss.integrate(f, BOX, 10, random_state=0, **options)
    same = ss.measures.Uniform([0.0, 0.0], [1.0, 2.0])
    more = ss.integrate(f, same, 18, resume=first)
    np.testing.assert_array_equal(more.points, whole.points)
    np.testing.assert_allclose(more.weights, whole.weights, rtol=1e-6, atol=1e-9)
    assert more.mean == pytest.approx(whole.mean, rel=1e-7)
    assert more.sd == pytest.approx(whole.sd, rel=1e-6)
    assert more.amplitude == pytest.approx(whole.amplitude, rel=1e-6)
    assert more.noise == pytest.approx(whole.noise, rel=1e-6)
    repeated = ss.integrate(f, BOX, 18, resume=first, **options)  # what was said before may be said again
    np.testing.assert_array_equal(repeated.points, whole.points)


CONTRADICTIONS = {
    "kernel": ({"kernel": Gaussian(0.9)}, MismatchError, "kernel must be left out with resume"),
    "bandwidth": ({"bandwidth": 0.9}, MismatchError, "kernel must be left out with resume"),
    "median": ({"kernel": "matern32"}, MismatchError, "kernel must be left out with resume"),
    "amplitude": ({"amplitude": 3.0}, MismatchError, "amplitude must be left out with resume.*2.0, got 3.0"),
    "noise": ({"noise": 0.0}, MismatchError, "noise must be left out with resume.*0.1, got 0.0"),
    "method": ({"method": "sbq"}, MismatchError, "method must be left out with resume.*'wkh', got 'sbq'"),
    "candidates": ({"candidates": [[0.0, 0.0]] * 30}, MismatchError, "candidates must be left out with resume"),
    "measure": ({"measure": ss.measures.Uniform([0.0, 0.0], [1.0, 3.0])}, MismatchError, "measure must be the one that resume"),
    "other": ({"measure": ss.measures.Empirical(BOX.sample(9, 0))}, MismatchError, "integral over, Uniform, got another Empir"),
}


@pytest.mark.parametrize("what", CONTRADICTIONS)
def test_contradictions_are_refused(what):
    options, error, message = CONTRADICTIONS[what]
    first = ss.integrate(np.sum, BOX, 5, kernel=Gaussian(0.8), amplitude=2.0, noise=0.1, random_state=0)
    with pytest.raises(error, match=message):
        ss.integrate(np.sum, options.pop("measure", BOX), 9, resume=first, **options)


def test_a_measure_out_of_reach_has_no_integral():
    far = ss.measures.GaussianMixture([1.0], [[1e6, 1e6]], [np.eye(2)])
    with pytest.raises(InputError, match=r"there are no values of f.*out of the kernel's reach"):
        ss.integrate(np.sum, far, 5, kernel=Gaussian(1.0), candidates=BOX.sample(20, 0))


def test_large_data_are_chosen_from_by_a_sample():
    rows = np.random.default_rng(0).normal(size=(12_000, 1))
    found = ss.integrate(lambda x: np.cos(x[0]), ss.measures.Empirical(rows), 8, kernel="gaussian", random_state=0)
    assert found.problem.candidates.shape == (10_000, 1)
    assert abs(found.mean - np.cos(rows).mean()) < 3 * found.sd
