"""What holds for any pool: paths that fall, choices that do not depend on where the origin is, weights that are optimal."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import supersample as ss
from supersample.kernels import Gaussian
from supersample.selection.batch.weighting import simplex_weights

seeds = st.integers(0, 2**32 - 1)
METHODS = (ss.herd, ss.sbq, ss.wkh, ss.frank_wolfe)


def pools(seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(int(rng.integers(5, 60)), int(rng.integers(1, 4)))), float(rng.uniform(0.3, 2.0))


@settings(max_examples=30, deadline=None)
@given(seeds)
def test_paths_of_best_weights_never_rise(seed):
    pool, width = pools(seed)
    for method in (ss.sbq, ss.wkh, ss.frank_wolfe):
        squares = method(pool, 5, kernel=Gaussian(width)).mmd ** 2
        assert (np.diff(squares) <= 1e-12).all()


@settings(max_examples=30, deadline=None)
@given(seeds, st.integers(0, 3))
def test_shifting_and_scaling_everything_changes_nothing(seed, which):
    pool, width = pools(seed)
    method = METHODS[which]
    # Powers of two move no digit, so that even ties are the same.
    moved = method(4.0 * pool, 5, kernel=Gaussian(4.0 * width))
    found = method(pool, 5, kernel=Gaussian(width))
    np.testing.assert_array_equal(moved.indices, found.indices)
    np.testing.assert_allclose(moved.mmd, found.mmd, atol=1e-9)


@settings(max_examples=200, deadline=None)
@given(seeds)
def test_simplex_weights_satisfy_their_optimality_conditions(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 40))
    factor = rng.normal(size=(size, int(rng.integers(1, 40))))
    gram = factor @ factor.T  # often singular
    z = factor @ rng.normal(size=factor.shape[1]) * rng.choice([0.1, 1.0, 10.0])
    w = simplex_weights(gram, z)
    gradient = gram @ w - z
    scale = max(1.0, float(np.abs(gram).max()), float(np.abs(z).max()))
    assert w.min() >= 0
    assert abs(w.sum() - 1.0) < 1e-9
    assert np.ptp(gradient[w > 1e-9]) < 1e-6 * scale
    assert gradient.min() >= gradient[w > 1e-9].min() - 1e-6 * scale
