"""Circular discrepancies worked by hand."""

import numpy as np
import pytest

import supersample as ss


def test_opposite_points_are_as_far_as_can_be():
    assert ss.circular_discrepancy([0.0], [np.pi]) == pytest.approx(2.0)
    assert ss.circular_discrepancy([0.0], [np.pi], distance="mallows") == pytest.approx(np.pi)


def test_the_short_way_round():
    assert ss.circular_discrepancy([0.1], [2 * np.pi - 0.1], distance="mallows") == pytest.approx(0.2)
    assert ss.circular_discrepancy([0.0, 0.0], [1.0, -1.0], distance="mallows") == pytest.approx(1.0)


def test_sine_sees_one_moment_only_and_mallows_all():
    quarter = np.pi / 2
    cross, turned = [0.0, quarter, 2 * quarter, 3 * quarter], [0.5, 0.5 + quarter, 0.5 + 2 * quarter, 0.5 + 3 * quarter]
    assert ss.circular_discrepancy(cross, turned) == pytest.approx(0.0, abs=1e-12)
    assert ss.circular_discrepancy(cross, turned, distance="mallows") == pytest.approx(0.5)


def test_weights_are_shares():
    got = ss.circular_discrepancy([0.0, 1.0], [0.0], weight_x=[3.0, 1.0], distance="mallows")
    assert got == pytest.approx(0.25)


def test_ensemble_of_one_frequency_is_one_discrepancy():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 20, 1))
    phi = ss.features.Fourier(ss.kernels.Gaussian(1.0), 2, random_state=5)
    frequency = phi.drawn(1).astype(float)[0, 0]
    for distance in ("sine", "mallows"):
        expected = ss.circular_discrepancy(frequency * x[:, 0], frequency * y[:, 0], distance=distance)
        for norm in (1, 2, np.inf):
            got = ss.circular_ensemble(
                x, y, kernel=ss.kernels.Gaussian(1.0), distance=distance, norm=norm, n_frequencies=1, random_state=5
            )
            assert got == pytest.approx(expected, rel=1e-9)


def test_samples_too_far_apart_for_any_angle_are_refused():
    rows = np.array([[1.7e308, -1.7e308], [0.0, 1.0]])
    with pytest.raises(ss.errors.InputError, match="X and Y must lie so near"):
        ss.circular_ensemble(rows, rows[1:], kernel=ss.kernels.Gaussian(1.0))
