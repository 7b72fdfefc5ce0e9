"""The posterior of integrals and functions against its definition, and what residuals say."""

import re

import numpy as np
import pytest
from scipy import special, stats

import supersample as ss
from supersample.integration.rough import GaussianMatern, matern
from supersample.kernels import Gaussian, Laplacian, Matern

BOX = ss.measures.Uniform([0.0, 0.0], [1.0, 2.0])
LINE = ss.measures.Uniform(0.0, 1.0)


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


@pytest.mark.parametrize("kernel", [Gaussian(0.15), Laplacian(0.4), Matern(1.5, 0.3)])
def test_one_kernel_gives_the_closed_form(kernel):
    found = ss.integrate(lambda x: np.exp(x[0]) + np.sin(9 * x[0]), LINE, 11, kernel=kernel, noise=0.0, random_state=0)
    mean, sd, _, predict = by_definition(kernel, LINE, found.points, found.values)
    assert found.mean == pytest.approx(mean, rel=1e-6)
    assert found.sd == pytest.approx(sd * found.posterior.widening, rel=1e-4)
    x = np.linspace(0, 1, 23)[:, None]
    values, sds = predict(x)
    np.testing.assert_allclose(found.predict(x)[0], values, atol=1e-6)
    np.testing.assert_allclose(found.predict(x)[1], sds * found.posterior.widening, atol=1e-5)


#: Ratios of the noise's variance to the squared amplitude that are averaged if none was given, and their probabilities.
POSSIBLE = {0.0: 0.5, 1e-8: 0.1, 1e-6: 0.1, 1e-4: 0.1, 1e-2: 0.1, 1.0: 0.1}


@pytest.mark.parametrize("noise", [None, 0.0])
def test_kernels_are_averaged_by_their_evidence(noise):
    found = ss.integrate(lambda x: np.abs(x[0] - 0.37), LINE, 9, noise=noise, random_state=0)
    assert len(found.problem.kernels) == 32
    ratios = POSSIBLE if noise is None else {0.0: 1.0}
    kernels = [kernel for kernel in found.problem.kernels for _ in ratios]
    pairs = [(kernel, ratio) for kernel in found.problem.kernels for ratio in ratios]
    parts = [by_definition(kernel, LINE, found.points, found.values, ratio) for kernel, ratio in pairs]
    odds = np.array([ratios[ratio] for _, ratio in pairs])
    shares = odds * np.exp([part[2] for part in parts] - np.max([part[2] for part in parts]))
    shares[shares < 1e-4 * shares.sum()] = 0.0  # they are left out
    shares /= shares.sum()
    means, sds = np.array([part[0] for part in parts]), np.array([part[1] for part in parts])
    mean = shares @ means
    assert found.mean == pytest.approx(mean, abs=1e-3 * found.sd)
    sd = np.sqrt(shares @ (sds**2 + (means - mean) ** 2))
    assert found.sd == pytest.approx(sd * found.posterior.widening, rel=1e-3)
    named = {kernel: share for share, kernel in found.kernels}
    for kernel in found.problem.kernels:
        share = sum(each for each, other in zip(shares, kernels, strict=True) if other == kernel)
        assert named.get(kernel, 0.0) == pytest.approx(share, abs=1e-5)
    assert found.kernel == kernels[int(np.argmax(shares))]


def test_the_integral_is_that_of_the_predictions():
    found = ss.integrate(lambda x: np.sin(5 * x[0]), LINE, 8, noise=0.0, random_state=0)
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


def test_predictions_outside_the_box_are_less_sure():
    found = ss.integrate(lambda x: np.sin(5 * x[0]), LINE, 10, random_state=0)
    _, sd = found.predict([[0.5], [1.0], [1.1], [1.5], [4.0]])
    assert (np.diff(sd) > 0).all()


def test_residuals_are_those_of_a_fit_without_the_value():
    kernel = Matern(1.5, 0.2)
    found = ss.integrate(lambda x: np.cos(7 * x[0]) + x[0], LINE, 9, kernel=kernel, noise=0.0, random_state=0)
    for left_out in range(9):
        rest = np.delete(np.arange(9), left_out)
        *_, predict = by_definition(kernel, LINE, found.points[rest], found.values[rest])
        mean, sd = predict(found.points[[left_out]])
        t = (found.values[left_out] - mean[0]) / sd[0] * np.sqrt(7 / 5)  # 8 values: sd is that of t with 7 degrees of freedom
        assert stats.norm.ppf(stats.t.cdf(t, 7)) == pytest.approx(found.posterior.residuals[left_out], abs=1e-4)


def test_residuals_under_an_average_of_kernels_leave_the_value_out_of_the_shares_too():
    found = ss.integrate(lambda x: np.exp(2 * x[0]) + np.abs(x[0] - 0.5), LINE, 9, noise=0.0, random_state=0)
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


def test_a_rough_kernel_in_several_columns_is_near_the_matern_kernel():
    x = np.linspace(0, 4, 200)[:, None]
    for nu in (0.5, 1.5, 2.5):
        near = GaussianMatern.like(nu, 1.0)
        assert np.abs(near(x[:1], x) - Matern(nu, 1.0)(x[:1], x)).max() < 0.01
        assert matern(LINE, nu, 1.0) == Matern(nu, 1.0)
        assert BOX.is_exact(matern(BOX, nu, (1.0, 2.0)))
    assert repr(near) == "Matern(bandwidth=1.0, nu=2.5) as 5 Gaussians"
