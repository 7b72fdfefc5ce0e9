"""Memory as promised: O(N + m^2) for herding, O(N m) for SBQ, and N D for features."""

import tracemalloc

import numpy as np
import pytest

import supersample as ss
from supersample.kernels import Gaussian

N = 200_000
POOL = np.random.default_rng(0).normal(size=(N, 2))
TARGET = ss.measures.Uniform([-1.0, -1.0], [1.0, 1.0])


def peak_vectors(work):
    """The most memory held at a time, in vectors of one float64 a candidate."""
    work()  # compiles
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / (8 * N)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("method", [ss.herd, ss.frank_wolfe])
def test_herding_holds_a_few_vectors_whatever_m_is(method):
    few = peak_vectors(lambda: method(POOL, 5, target=TARGET, kernel=Gaussian(0.5)))
    many = peak_vectors(lambda: method(POOL, 40, target=TARGET, kernel=Gaussian(0.5)))
    assert few < 25
    assert many < few + 1


def test_sbq_holds_its_factor_and_a_few_vectors():
    assert peak_vectors(lambda: ss.sbq(POOL, 40, target=TARGET, kernel=Gaussian(0.5))) < 40 + 25


def test_sbq_by_features_holds_no_factor():
    phi = ss.features.Fourier(Gaussian(0.5), 16, random_state=0)
    held = peak_vectors(lambda: ss.sbq(POOL, 16, target=TARGET, features=phi, random_state=0))
    assert held < 16 / 2 + 25  # features are float32
