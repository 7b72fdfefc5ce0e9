"""Zhao and Meng 2015, figure 4: the error of Fourier and Fastfood MMD falls like L^-1/2 in the number of frequencies L."""

import numpy as np
import pytest

import supersample as ss
from zoo import blobs

FREQUENCIES = 2 ** np.arange(4, 13)
ROWS = 400
# 48 maps of 4096 frequencies, each cut into groups of L: 48 independent errors at L = 4096, 12,288 at L = 16. The mean of 48
# errors |N(0, s)| has a relative standard error of 0.756 / sqrt(48) = 11%, that of the smaller sizes less, so the fitted slope
# has one of at most 0.11 / (log(2) sqrt(60)) = 0.02 and a ratio of two averages over all sizes one of 0.11 sqrt(2 / 9) = 0.05.
# The bounds are five standard errors away: another choice of seeds fails less than once in a million.
N_MAPS = 48


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(0)
    return blobs(ROWS, rng), blobs(ROWS, rng, epsilon=4.0)


@pytest.fixture(scope="module", params=["biased", "unbiased"])
def mean_errors(request, samples, mean_waves):
    """Return the mean |error| of MMD^2 for each L, by method."""
    exact = ss.mmd2(*samples, kernel=ss.kernels.Gaussian(1.0), estimator=request.param)
    return {
        method: [
            np.mean([np.abs(by_groups(*pair, int(FREQUENCIES[-1] // size), request.param) - exact) for pair in pairs])
            for size in FREQUENCIES
        ]
        for method, pairs in mean_waves.items()
    }


@pytest.fixture(scope="module")
def mean_waves(samples):
    """Return the mean features of both samples under each map, by method."""
    return {method: [means(make, seed, samples) for seed in range(N_MAPS)] for method, make in MAPS.items()}


MAPS = {"fourier": ss.features.Fourier, "fastfood": ss.features.Fastfood}


def means(make, seed, samples, n_features=2 * int(FREQUENCIES[-1])):
    origin = np.vstack(samples).mean(axis=0)
    phi = make(ss.kernels.Gaussian(1.0), n_features, random_state=seed, origin=origin)
    return [ss.MeanEmbedding(phi).update(sample).mean for sample in samples]


def by_groups(left, right, groups, estimator):
    """Return MMD^2 from each group of frequencies alone; Fastfood's blocks, of two here, are never cut."""

    def norms(mean):
        cosines, sines = mean.reshape(2, groups, -1)
        return groups * (cosines**2 + sines**2).sum(axis=1)

    biased = norms(left - right)
    if estimator == "biased":
        return biased
    return biased + (norms(left) + norms(right) - 2) / (ROWS - 1)


@pytest.mark.parametrize("method", MAPS)
@pytest.mark.parametrize("estimator", ["biased", "unbiased"])
def test_groups_of_frequencies_average_to_what_mmd2_computes(samples, method, estimator):
    pair = means(MAPS[method], 0, samples, n_features=1024)
    expected = ss.mmd2(
        *samples, kernel=ss.kernels.Gaussian(1.0), method=method, estimator=estimator, n_features=1024, random_state=0
    )
    assert np.mean(by_groups(*pair, 8, estimator)) == pytest.approx(expected, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("method", MAPS)
def test_error_falls_like_the_root_of_the_number_of_frequencies(mean_errors, method):
    slope = np.polyfit(np.log(FREQUENCIES), np.log(mean_errors[method]), 1)[0]
    assert -0.6 < slope < -0.4


def test_fastfood_errs_as_little_as_fourier(mean_errors):
    ratios = np.divide(mean_errors["fastfood"], mean_errors["fourier"])
    assert np.exp(np.mean(np.log(ratios))) < 1.3
