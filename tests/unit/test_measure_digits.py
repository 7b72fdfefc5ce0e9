"""Closed forms keep their digits, however narrow or wide the kernel is beside the measure."""

import numpy as np
import pytest

import supersample as ss
from supersample.kernels import Gaussian, Laplacian, Matern

NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(40)
KERNELS = {
    "laplacian": (Laplacian, lambda t: np.exp(-t)),
    "matern32": (lambda h: Matern(1.5, h), lambda t: (1 + np.sqrt(3) * t) * np.exp(-np.sqrt(3) * t)),
    "matern52": (lambda h: Matern(2.5, h), lambda t: (1 + np.sqrt(5) * t + 5 * t**2 / 3) * np.exp(-np.sqrt(5) * t)),
    "gaussian": (Gaussian, lambda t: np.exp(-(t**2) / 2)),
}
WIDTHS = [1e-8, 1e-6, 1e-4, 1e-3, 3e-3, 0.01, 0.05, 0.2, 0.5, 1.0, 5.0, 100.0, 1e4]
kernels = pytest.mark.parametrize("name", KERNELS)
widths = pytest.mark.parametrize("width", WIDTHS)


def panels(function, breaks):
    """Integrate by 40 Gauss-Legendre nodes between breaks."""
    breaks = np.unique(breaks)
    middle, half = 0.5 * (breaks[1:] + breaks[:-1]), 0.5 * np.diff(breaks)
    return float((half[:, None] * NODE_WEIGHTS * function(middle[:, None] + half[:, None] * NODES)).sum())


def mean_by_panels(profile, width, density, where, scale):
    """E k(|u|) for u with a density, by panels that follow the kernel near 0 and the density where it has mass.

    The variable is u itself, so that k(|u|) loses nothing to differences of large numbers.
    """
    near = width * np.concatenate([[0.0], 2.0 ** np.arange(-4.0, 10.0)])
    far = where + scale * np.linspace(-12.0, 12.0, 97)
    limit = min(700 * width, abs(where) + 12 * scale)
    breaks = np.concatenate([near, -near, far])
    breaks = breaks[np.abs(breaks) <= limit]
    return panels(lambda u: profile(np.abs(u) / width) * density(u), breaks)


def normal(mean, sigma):
    return lambda u: np.exp(-0.5 * ((u - mean) / sigma) ** 2) / (sigma * np.sqrt(2 * np.pi))


@kernels
@widths
def test_gaussian_mixture(name, width):
    make, profile = KERNELS[name]
    kernel, sigma = make(width), np.sqrt(0.7)
    measure = ss.measures.GaussianMixture([1.0], [[0.4]], [[[0.7]]])
    places = 0.4 + sigma * np.array([0.0, 0.3, -1.0, 2.5, -4.0, 6.0])
    expected = [mean_by_panels(profile, width, normal(0.4 - y, sigma), 0.4 - y, sigma) for y in places]
    np.testing.assert_allclose(measure.mean_embedding(kernel, places[:, None]), expected, rtol=1e-8)
    energy = mean_by_panels(profile, width, normal(0.0, sigma * np.sqrt(2)), 0.0, sigma * np.sqrt(2))
    assert measure.energy(kernel) == pytest.approx(energy, rel=1e-8)


def over(profile, width, low, high, density=lambda u: np.ones_like(u)):
    """The integral of k(|u|) density(u) over [low, high], by panels that double away from 0."""
    near = width * np.concatenate([[0.0], 2.0 ** np.arange(-4.0, 10.0)])
    breaks = np.concatenate([near, -near, np.linspace(low, high, 25)])
    least = max(0.0, low, -high)  # beyond 40 bandwidths from the nearest point nothing of it is left
    breaks = breaks[(breaks >= low) & (breaks <= high) & (np.abs(breaks) <= least + 300 * width)]
    edges = np.clip([low, high], -least - 300 * width, least + 300 * width)
    ends = np.concatenate([low + near, high - near])
    breaks = np.concatenate([edges, breaks, ends[(ends >= low) & (ends <= high)]])
    return panels(lambda u: profile(np.abs(u) / width) * density(u), breaks)


@kernels
@widths
def test_uniform(name, width):
    make, profile = KERNELS[name]
    kernel, low, high = make(width), -0.5, 1.2
    measure = ss.measures.Uniform(low, high)
    places = np.array([-0.5, -0.3, 0.0, 0.35, 1.19, 1.2, high + 2.0 * width, low - 0.5 * width, high + 5.0 * width])
    expected = [over(profile, width, low - y, high - y) / (high - low) for y in places]
    np.testing.assert_allclose(measure.mean_embedding(kernel, places[:, None]), expected, rtol=1e-8)
    energy = 2 * over(profile, width, 0.0, high - low, lambda u: (high - low) - u) / (high - low) ** 2
    assert measure.energy(kernel) == pytest.approx(energy, rel=1e-8)


@kernels
def test_far_points_and_small_boxes(name):
    make, profile = KERNELS[name]
    small = ss.measures.Uniform(0.0, 1e-6)
    assert small.energy(make(1.0)) == pytest.approx(1.0, rel=1e-5)
    expected = [over(profile, 1.0, -y, 1e-6 - y) / 1e-6 for y in (2.0, 8.0)]
    np.testing.assert_allclose(small.mean_embedding(make(1.0), [[2.0], [8.0]]), expected, rtol=1e-8)
    far = ss.measures.GaussianMixture([1.0], [[0.0]], [[[1.0]]]).mean_embedding(make(0.01), [[30.0], [-30.0], [1e5]])
    truth = mean_by_panels(profile, 0.01, normal(-30.0, 1.0), -30.0, 1.0)
    assert far[0] == pytest.approx(truth, rel=1e-8)
    assert far[0] == pytest.approx(far[1], rel=1e-13)
    assert far[2] == 0.0


def test_narrow_kernels_in_quadrature():
    target = ss.measures.GaussianMixture([1.0], [[0.0]], [[[1.0]]])
    kernel = Matern(2.5, 0.003)
    found = ss.sbq(target.sample(1000, 0), 50, target=target, kernel=kernel)
    z, gram = target.mean_embedding(kernel, found.points), kernel(found.points)
    # The points are far apart beside the kernel, so that K is nearly the identity and every term is known to all digits.
    truth = target.energy(kernel) - z @ np.linalg.solve(gram, z)
    assert found.mmd[-1] ** 2 == pytest.approx(truth, rel=1e-9)
    assert truth > 0.5 * target.energy(kernel)
    narrow = Matern(2.5, 0.001)
    linear = ss.integrate(lambda x: x[0], target, 50, kernel=narrow, amplitude=1.0, random_state=0)
    # Values far apart say nothing about each other: the integral is their mean, that of 50 independent values of variance 1.
    assert linear.mean == pytest.approx(linear.values.mean(), abs=0.01)
    assert linear.sd == pytest.approx(linear.posterior.widening * np.sqrt(target.energy(narrow) + 1 / 50), rel=0.05)
