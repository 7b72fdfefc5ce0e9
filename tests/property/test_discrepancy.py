"""What holds for every discrepancy: symmetry, zero between equal samples, invariance to order and shift."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import supersample as ss

samples = hnp.arrays(np.float64, st.tuples(st.integers(1, 20), st.just(2)), elements=st.floats(-100, 100, width=32))
angles = hnp.arrays(np.float64, st.integers(1, 15), elements=st.floats(-20, 20, width=32))
KERNELS = [ss.kernels.Gaussian(3.0), ss.kernels.Laplacian(2.0), ss.kernels.Matern(0.5, (1.0, 4.0)), ss.kernels.Cauchy(1.0)]


@settings(max_examples=60, deadline=None)
@given(x=samples, y=samples, kernel=st.sampled_from(KERNELS), method=st.sampled_from(["exact", "fourier"]))
def test_mmd2_is_symmetric_bounded_and_not_negative(x, y, kernel, method):
    there = ss.mmd2(x, y, kernel=kernel, method=method, n_features=64, random_state=1)
    back = ss.mmd2(y, x, kernel=kernel, method=method, n_features=64, random_state=1)
    assert there == pytest.approx(back, abs=1e-5)
    # Two points a kernel of zero apart are at 2; a single wave can set them opposite each other, at 4.
    assert -1e-12 <= there <= (2.0 + 1e-12 if method == "exact" else 4.0 + 1e-5)
    assert ss.mmd2(x, x, kernel=kernel, method=method, n_features=64, random_state=1) == pytest.approx(0.0, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(x=samples, y=samples, order=st.randoms(use_true_random=False), copies=st.integers(1, 4))
def test_order_does_not_matter_and_copies_are_weights(x, y, order, copies):
    rows = list(range(len(x)))
    order.shuffle(rows)
    kernel = ss.kernels.Gaussian(5.0)
    plain = ss.mmd2(x, y, kernel=kernel)
    assert ss.mmd2(x[rows], y, kernel=kernel) == pytest.approx(plain, abs=1e-13)
    first_copied = np.vstack([np.repeat(x[:1], copies, axis=0), x[1:]])
    weights = np.ones(len(x))
    weights[0] = copies
    expected = ss.mmd2(first_copied, y, kernel=kernel)
    assert ss.mmd2(x, y, kernel=kernel, weight_x=7.0 * weights) == pytest.approx(expected, abs=1e-13)


@settings(max_examples=40, deadline=None)
@given(x=angles, y=angles, turn=st.floats(-10, 10), z=angles)
def test_circular_discrepancies_are_metrics_that_forget_the_origin(x, y, turn, z):
    for distance in ("sine", "mallows"):
        there = ss.circular_discrepancy(x, y, distance=distance)
        assert there == pytest.approx(ss.circular_discrepancy(y, x, distance=distance), abs=1e-9)
        assert there == pytest.approx(ss.circular_discrepancy(x + turn, y + turn, distance=distance), abs=1e-9)
        assert there == pytest.approx(ss.circular_discrepancy(x + 2 * np.pi, y, distance=distance), abs=1e-9)
        assert ss.circular_discrepancy(x, x[::-1], distance=distance) == pytest.approx(0.0, abs=1e-12)
        through = ss.circular_discrepancy(x, z, distance=distance) + ss.circular_discrepancy(z, y, distance=distance)
        assert there <= through + 1e-9
    # Moving mass by an angle moves it by at most that much along the chord.
    assert ss.circular_discrepancy(x, y) <= ss.circular_discrepancy(x, y, distance="mallows") + 1e-9


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1000), distance=st.sampled_from(["sine", "mallows"]))
def test_norms_over_frequencies_rise_with_their_order(seed, distance):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(30, 2)), rng.normal(0.5, 1.0, size=(20, 2))
    values = [
        ss.circular_ensemble(x, y, distance=distance, norm=norm, n_frequencies=50, random_state=seed)
        for norm in (1, 1.5, 2, 3, 10, 2000.0, np.inf)
    ]
    assert all(small <= large * (1 + 1e-12) for small, large in itertools.pairwise(values))
    assert values[0] < values[-1]
    # The mean of 50 values is at least a fiftieth of the largest, and the 2000-norm nearly that itself.
    assert values[-2] == pytest.approx(values[-1], rel=0.01)
