"""Closed forms of z and E against numerical integrals and large samples."""

import itertools

import numpy as np
import pytest

import herding_oracles as oracles
import supersample as ss
from supersample.errors import InputError, MismatchError
from supersample.kernels import Cauchy, Gaussian, Laplacian, Matern

ONE_DIMENSIONAL = [
    Gaussian(0.7),
    Laplacian(0.4),
    Matern(0.5, 0.8),
    Matern(1.5, 0.3),
    Matern(2.5, 1.1),
    Gaussian(1.0) + 0.5 * Laplacian(2.0),
]
PLACES = np.array([[-2.5], [-0.3], [0.0], [0.9], [1.0], [4.0]])


def value(kernel, x, y):
    return kernel(np.asarray(x)[:, None], np.array([[y]]))[:, 0]


def pieces(function, low, high, kinks):
    """Integrate between kinks, where Simpson's rule is exact to rounding."""
    ends = [low, *sorted(kink for kink in kinks if low < kink < high), high]
    return sum(oracles.integral_1d(function, a, b, 20_001) for a, b in itertools.pairwise(ends))


@pytest.mark.parametrize("kernel", ONE_DIMENSIONAL, ids=repr)
def test_uniform_in_one_dimension(kernel):
    low, high = -0.5, 1.2
    measure = ss.measures.Uniform(low, high)
    expected = [pieces(lambda x, y=y: value(kernel, x, y), low, high, [y]) / (high - low) for y in PLACES[:, 0]]
    np.testing.assert_allclose(
        measure.mean_embedding(kernel, PLACES), expected, rtol=1e-11, atol=1e-15
    )  # beyond the box two integrals cancel
    energy = oracles.integral_1d(lambda y: measure.mean_embedding(kernel, y[:, None]), low, high, 2001) / (high - low)
    assert measure.energy(kernel) == pytest.approx(energy, rel=1e-10)


@pytest.mark.parametrize("kernel", ONE_DIMENSIONAL, ids=repr)
def test_gaussian_mixture_in_one_dimension(kernel):
    measure = ss.measures.GaussianMixture([1.0, 3.0], [[-1.0], [0.8]], [[[0.5]], [[0.04]]])

    def density(x):
        parts = [
            0.25 * np.exp(-((x + 1.0) ** 2)) / np.sqrt(np.pi),
            0.75 * np.exp(-((x - 0.8) ** 2) / 0.08) / np.sqrt(0.08 * np.pi),
        ]
        return sum(parts)

    expected = [pieces(lambda x, y=y: density(x) * value(kernel, x, y), -9.0, 9.0, [y]) for y in PLACES[:, 0]]
    np.testing.assert_allclose(measure.mean_embedding(kernel, PLACES), expected, rtol=1e-9)
    energy = oracles.integral_1d(lambda y: density(y) * measure.mean_embedding(kernel, y[:, None]), -9.0, 9.0, 4001)
    assert measure.energy(kernel) == pytest.approx(energy, rel=1e-9)


@pytest.mark.parametrize("kernel", [Gaussian((0.5, 1.5)), Laplacian((0.5, 1.5)), Gaussian(0.8)], ids=repr)
def test_products_over_columns(kernel):
    box = ss.measures.Uniform([0.0, -1.0], [1.0, 2.0])
    normal = ss.measures.GaussianMixture([1.0], [[0.2, -0.4]], [np.diag([0.3, 1.2])])
    y = np.array([[0.3, 0.1], [2.0, -3.0]])
    widths = np.broadcast_to(kernel.bandwidth, (2,))
    for measure, parts in (
        (box, [ss.measures.Uniform(0.0, 1.0), ss.measures.Uniform(-1.0, 2.0)]),
        (normal, [ss.measures.GaussianMixture([1.0], [[m]], [[[v]]]) for m, v in ((0.2, 0.3), (-0.4, 1.2))]),
    ):
        columns = [part.mean_embedding(kernel.with_bandwidth(widths[k]), y[:, k : k + 1]) for k, part in enumerate(parts)]
        np.testing.assert_allclose(measure.mean_embedding(kernel, y), columns[0] * columns[1], rtol=1e-12)
        energies = [part.energy(kernel.with_bandwidth(widths[k])) for k, part in enumerate(parts)]
        assert measure.energy(kernel) == pytest.approx(energies[0] * energies[1], rel=1e-12)


def test_rotated_covariances_follow_rotated_points():
    angle = 0.7
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    straight = ss.measures.GaussianMixture([1.0], [[1.0, 2.0]], [np.diag([0.5, 2.0])])
    turned = ss.measures.GaussianMixture([1.0], [turn @ [1.0, 2.0]], [turn @ np.diag([0.5, 2.0]) @ turn.T])
    y = np.random.default_rng(0).normal(size=(7, 2))
    kernel = Gaussian(0.9)
    np.testing.assert_allclose(turned.mean_embedding(kernel, y @ turn.T), straight.mean_embedding(kernel, y), rtol=1e-12)
    assert turned.energy(kernel) == pytest.approx(straight.energy(kernel), rel=1e-12)


@pytest.mark.parametrize("kernel", [Gaussian(0.8), Laplacian(0.8), Matern(1.5, 1.0), Cauchy(1.0)], ids=repr)
def test_empirical_is_the_weighted_gram_matrix(kernel):
    rng = np.random.default_rng(3)
    x, w, y = rng.normal(size=(2100, 2)), rng.uniform(size=2100), rng.normal(size=(500, 2))
    measure = ss.measures.Empirical(x, w)
    share = w / w.sum()
    np.testing.assert_allclose(measure.mean_embedding(kernel, y), kernel(y, x) @ share, rtol=1e-12)
    np.testing.assert_allclose(measure.own_embedding(kernel), kernel(x) @ share, rtol=1e-12)
    assert measure.energy(kernel) == pytest.approx(share @ kernel(x) @ share, rel=1e-12)


def test_empirical_by_features_is_close_and_says_whose_they_are():
    x = np.random.default_rng(0).normal(size=(3000, 2))
    phi = ss.features.Fourier(Gaussian(1.0), 4096, random_state=0)
    measure = ss.measures.Empirical(x, features=phi)
    exact = ss.measures.Empirical(x)
    np.testing.assert_allclose(
        measure.mean_embedding(Gaussian(1.0), x[:50]), exact.mean_embedding(Gaussian(1.0), x[:50]), atol=0.03
    )
    assert measure.energy(Gaussian(1.0)) == pytest.approx(exact.energy(Gaussian(1.0)), abs=0.03)
    assert exact.is_exact("cauchy")
    assert not measure.is_exact(Gaussian(1.0))
    with pytest.raises(MismatchError, match="features of Empirical stand for kernel"):
        measure.energy(Gaussian(2.0))


@pytest.mark.parametrize(
    "measure",
    [
        ss.measures.GaussianMixture([0.3, 0.7], [[0.0, 1.0], [2.0, -1.0]], [np.eye(2), [[1.0, 0.5], [0.5, 2.0]]]),
        ss.measures.Uniform([0.0, 0.0], [1.0, 3.0]),
        ss.measures.Empirical(np.random.default_rng(1).normal(size=(50, 2)), np.arange(50.0)),
    ],
    ids=lambda measure: type(measure).__name__,
)
def test_draws_have_the_embedding_of_the_measure(measure):
    kernel = Gaussian(1.0)
    draws = measure.sample(20_000, 5)
    assert draws.shape == (20_000, measure.dimension)
    np.testing.assert_array_equal(draws, measure.sample(20_000, 5))
    # z of 20,000 draws has a standard error of at most 0.0036; five of them are not reached by chance.
    y = draws[:20]
    np.testing.assert_allclose(
        measure.sampled(20_000, 5).mean_embedding(kernel, y), measure.mean_embedding(kernel, y), atol=0.018
    )


def test_only_a_bounded_measure_has_an_outside():
    box = ss.measures.Uniform([0.0, -1.0], [0.3, 1.0])
    rows = [[0.0, -1.0], [3 * 0.1, 1.0], [0.15, 0.0], [0.31, 0.0], [-1e-9, 0.0], [0.1, 1.5]]
    assert box.contains(rows).tolist() == [True, True, True, False, False, False]
    assert ss.measures.GaussianMixture([1.0], [[0.0]], [[[1.0]]]).contains([[1e9], [0.0]]).all()
    assert ss.measures.Empirical([[0.0], [1.0]]).contains([[7.0]]).all()
    for measure in (box, ss.measures.Empirical([[0.0, 1.0]])):
        with pytest.raises(ValueError, match="points must have 2 columns"):
            measure.contains([[0.1]])


def test_what_has_no_closed_form_says_what_to_do():
    measure = ss.measures.GaussianMixture([1.0], [[0.0, 0.0]], [[[1.0, 0.3], [0.3, 1.0]]])
    assert measure.is_exact(Gaussian(1.0))
    assert not measure.is_exact(Laplacian(1.0))
    with pytest.raises(InputError, match=r"GaussianMixture in 2 dimensions has no closed form for kernel Cauchy.*sampled"):
        measure.energy(Cauchy(1.0))
    assert measure.sampled(100, 0).energy(Cauchy(1.0)) > 0


BAD = {
    "weights": (lambda: ss.measures.GaussianMixture([1.0, 1.0], [[0.0]], [[[1.0]]]), MismatchError, "weights must be one-dim"),
    "negative": (lambda: ss.measures.GaussianMixture([-1.0], [[0.0]], [[[1.0]]]), InputError, "weights must not be negative"),
    "shape": (lambda: ss.measures.GaussianMixture([1.0], [[0.0]], [[1.0]]), MismatchError, "covariances must hold one 1 x 1"),
    "definite": (
        lambda: ss.measures.GaussianMixture([1.0], [[0.0]], [[[-1.0]]]),
        InputError,
        "covariances must be positive def",
    ),
    "symmetric": (
        lambda: ss.measures.GaussianMixture([1.0], [[0.0, 0.0]], [[[1.0, 0.2], [0.3, 1.0]]]),
        InputError,
        "covariances must be symmetric; number 0",
    ),
    "box": (lambda: ss.measures.Uniform([0.0, 1.0], [1.0, 1.0]), InputError, "low must be below high.*axis 1"),
    "axes": (lambda: ss.measures.Uniform([0.0, 1.0], 2.0), MismatchError, "low and high must have one number for each axis"),
    "endless": (lambda: ss.measures.Uniform(0.0, np.inf), InputError, "high must be finite"),
    "too wide": (lambda: ss.measures.Uniform(-1.7e308, 1.7e308), InputError, "high - low must be at most 1e.100"),
    "points": (lambda: ss.measures.Empirical([[np.nan]]), InputError, "points contains NaN"),
    "width": (
        lambda: ss.measures.Uniform(0.0, 1.0).mean_embedding(Gaussian(1.0), [[0.0, 1.0]]),
        MismatchError,
        "points must have 1",
    ),
    "median": (lambda: ss.measures.Uniform(0.0, 1.0).energy("gaussian"), InputError, "has no bandwidth yet"),
    "count": (lambda: ss.measures.Uniform(0.0, 1.0).sample(0), InputError, "n must be at least 1"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input(what):
    build, error, message = BAD[what]
    with pytest.raises(error, match=message):
        build()


@pytest.mark.parametrize("width", [1, 2, 3, 5, 16, 17])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 30.0])
def test_gaussian_sums_that_store_nothing_equal_the_stored_ones(width, scale):
    rng = np.random.default_rng(width)
    x, w = scale * rng.normal(size=(1500, width)), rng.uniform(size=1500)
    kernel = Gaussian(np.linspace(0.5, 2.0, width))
    expected = kernel(x) @ (w / w.sum())
    np.testing.assert_allclose(ss.measures.Empirical(x, w).own_embedding(kernel), expected, rtol=1e-13)
