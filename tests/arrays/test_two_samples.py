"""Two-sample tests of arrays where they lie: the p-values of NumPy, to a resample or two."""

import numpy as np
import pytest

import supersample as ss
from supersample._random import as_seed
from supersample.device.arrays import home_of
from supersample.discrepancy import sums_on_device
from supersample.discrepancy.labels_on_device import dealt_labels
from supersample.kernels import Cauchy, Gaussian


def samples(seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(150, 3)), rng.normal(0.15, 1.0, size=(110, 3))


@pytest.mark.parametrize("method", ["fourier", "exact"])
@pytest.mark.parametrize("null", ["permutation", "bootstrap", "spectral"])
@pytest.mark.parametrize("kernel", ["gaussian", [Gaussian(0.5), Cauchy(1.0)], [0.5, 2.0]])
@pytest.mark.parametrize("estimator", ["biased", "unbiased"])
def test_p_values_agree(lying, method, null, kernel, estimator):
    x, y = samples()
    options = {"kernel": kernel, "method": method, "null": null, "estimator": estimator, "n_resamples": 99, "n_features": 64}
    ours = ss.two_sample_test(x, y, random_state=0, **options)
    there = ss.two_sample_test(lying.put(x), lying.put(y), random_state=0, **options)
    assert abs(there.pvalue - ours.pvalue) <= 0.0201
    assert there.statistic == pytest.approx(ours.statistic, abs=5e-6)
    assert type(there.pvalue) is float


@pytest.mark.parametrize("method", ["block", "linear"])
def test_blocks(lying, method):
    x, y = samples()
    ours, there = (ss.two_sample_test(*pair, method=method) for pair in ((x, y), (lying.put(x), lying.put(y))))
    assert there.pvalue == pytest.approx(ours.pvalue, abs=1e-4)


def test_labels_drawn_there_are_a_permutation(writable):
    home = home_of(x=writable.put(np.zeros((1, 1))))
    blocks = [writable.back(each) for each in dealt_labels(home, (150, 110), 400, 64, as_seed(0))]
    labels = np.concatenate(blocks)
    assert labels.shape == (260, 400)
    np.testing.assert_array_equal(labels.sum(axis=0), 150)
    np.testing.assert_array_equal(np.unique(labels), [0, 1])
    # Counts of a row over 400 resamples have a standard deviation of about 9.9; 5 of them are passed once in a million rows.
    assert np.abs(labels.sum(axis=1) - 400 * 150 / 260).max() < 50
    again = np.concatenate([writable.back(each) for each in dealt_labels(home, (150, 110), 400, 64, as_seed(0))])
    np.testing.assert_array_equal(again, labels)


def test_with_labels_drawn_there(writable, monkeypatch):
    monkeypatch.setattr(sums_on_device, "_MOST_DRAWN_HERE", 0)
    x, y = samples()
    there = ss.two_sample_test(writable.put(x), writable.put(y + 1.0), n_resamples=199, random_state=0)
    assert there.pvalue == 1 / 200
    # 199 other permutations: the difference of two such p-values near 0.3 has a standard deviation of 0.05.
    ours = ss.two_sample_test(x, y[:, ::-1], n_resamples=199, random_state=0).pvalue
    found = ss.two_sample_test(writable.put(x), writable.put(np.ascontiguousarray(y[:, ::-1])), n_resamples=199, random_state=0)
    assert abs(found.pvalue - ours) < 0.25


def test_other_statistics_stay_on_the_cpu(lying):
    x, y = (lying.put(each) for each in samples())
    with pytest.raises(ss.errors.InputTypeError, match="statistic='mallows' works on the CPU only"):
        ss.two_sample_test(x, y, statistic="mallows")
