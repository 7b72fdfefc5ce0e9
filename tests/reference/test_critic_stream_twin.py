"""The stream's criticisms, before any second look, against Algorithms 2 and 4 of the draft by determinants."""

import numpy as np
import pytest

import critic_oracles as oracle
import stream_oracles
import supersample as ss
from supersample.features import Fourier
from supersample.kernels import Cauchy, Gaussian
from supersample.selection.stream.lifecycle import drain


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Cauchy(2.0)])
@pytest.mark.parametrize(("m", "c"), [(10, 6), (3, 12), (25, 1)])
@pytest.mark.parametrize("seed", range(2))
def test_the_stream_equals_its_twin(kernel, m, c, seed):
    data, _ = stream_oracles.mixture(500, np.random.default_rng(seed), width=2)
    data[100:130] = data[7]
    phi = Fourier(kernel, 64, random_state=seed)
    fitted = ss.SuperSampler(m, c, regularizer="logdet", features=phi, search="exact", random_state=seed).fit(data)
    state = drain(fitted._now.state)
    features = phi.transform(data)
    held, critics = oracle.stream(features, kernel(data), m, c, 1e-6 * float((features**2).sum(axis=1).mean()))
    np.testing.assert_array_equal(state.reservoir.rows.positions, held)
    np.testing.assert_array_equal(state.criticisms.rows.positions, critics)
    np.testing.assert_array_equal(state.criticisms.rows.points, data[critics])
    np.testing.assert_array_equal(state.criticisms.features, features[critics].astype(np.float32))


def test_a_dropped_prototype_is_offered():
    """Five far rows come once, first of all; the reservoir gives them up for the many, and the criticisms take them in."""
    rng = np.random.default_rng(0)
    far = np.array([[20.0, 0.0], [-20.0, 0.0], [0.0, 20.0], [0.0, -20.0], [20.0, 20.0]])
    data = np.concatenate([far, 0.3 * rng.normal(size=(6000, 2))])
    fitted = ss.SuperSampler(5, 8, regularizer="logdet", bandwidth=1.0, random_state=0).fit(data)
    state = drain(fitted._now.state)
    assert set(state.reservoir.rows.positions).isdisjoint(range(5))
    assert set(state.criticisms.rows.positions) >= set(range(5))
    assert set(fitted.criticism_indices_) >= set(range(5))
