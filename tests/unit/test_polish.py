"""The second look: swap descent with the exact kernel, and the calibrated target it descends to."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stream_oracles
from supersample.kernels import Function, Gaussian, Matern
from supersample.selection.pool import ExactPool
from supersample.selection.stream import polish as module
from supersample.selection.stream.calibration import _RIDGE, calibrate

LINEAR = Function(lambda a, b: a @ b.T, name="linear")


def polish(kernel, pool, pull, start, generator):
    return module.polish(ExactPool(kernel, pool), pull, start, generator)


def problem(seed, n=60, kernel=None, width=2):
    rng = np.random.default_rng(seed)
    pool = rng.normal(size=(n, width))
    gram = (kernel or Gaussian(0.8))(pool)
    return pool, gram, gram @ rng.dirichlet(np.ones(n))


@pytest.mark.parametrize("m", [1, 2, 4])
def test_descent_makes_the_swaps_of_the_twin_on_whole_numbers(m, monkeypatch):
    # Inner products of whole numbers are exact in float32; k(x, x) differs from row to row.
    monkeypatch.setattr(module, "_KICKS", 0)
    moved = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        pool = rng.integers(-4, 5, size=(25, 3)).astype(np.float64)
        pull = pool @ rng.integers(-2, 3, size=3)
        got = polish(LINEAR, pool, pull, np.arange(m), rng)
        assert got.tolist() == stream_oracles.swap_descent(pool @ pool.T, pull, range(m), 1e-6)
        moved += got.tolist() != list(range(m))
    assert moved > 6


@pytest.mark.parametrize("kernel", [Gaussian(0.8), Matern(0.5, 1.0)])
@pytest.mark.parametrize("m", [2, 7, 20])
def test_no_single_swap_improves_the_result(kernel, m, monkeypatch):
    monkeypatch.setattr(module, "_KICKS", 10)
    for seed in range(3):
        pool, gram, pull = problem(seed, kernel=kernel)
        chosen = polish(kernel, pool, pull, np.arange(m), np.random.default_rng(0))
        assert len(set(chosen.tolist())) == m
        # Kernel rows are float32, so gains of some 1e-7 are lost.
        assert stream_oracles.best_single_swap(gram, pull, chosen) < 1e-6
        assert stream_oracles.discrepancy(gram, pull, chosen) < stream_oracles.discrepancy(gram, pull, np.arange(m))


class _Rounded:
    """A pool whose kernel rows have rounding errors far above the least gain, other ones for k(x, y) than for k(y, x)."""

    def __init__(self, gram, seed):
        self.points, self.diagonal, self.asked = np.zeros((len(gram), 1)), np.diag(gram).copy(), 0
        self._rows = (gram + 1e-3 * np.random.default_rng(seed).normal(size=gram.shape)).astype(np.float32)

    def rows(self, indices):
        self.asked += 1
        assert self.asked < 20_000, "the descent has no end"
        return self._rows[indices]


def test_the_descent_ends_whatever_the_rounding_errors():
    for seed in range(40):
        _, gram, pull = problem(seed, n=30)
        chosen = module.polish(_Rounded(gram, seed), pull, np.arange(12), np.random.default_rng(0))
        assert len(set(chosen.tolist())) == 12


def test_one_point_and_two_points_are_the_best_of_all(monkeypatch):
    for seed in range(4):
        pool, gram, pull = problem(seed, n=30)
        for m in (1, 2):
            monkeypatch.setattr(module, "_KICKS", 10)
            best = min(stream_oracles.discrepancy(gram, pull, each) for each in combinations(range(30), m))
            got = polish(Gaussian(0.8), pool, pull, np.arange(m), np.random.default_rng(0))
            assert stream_oracles.discrepancy(gram, pull, got) == pytest.approx(best, abs=1e-6)


def test_kicks_only_ever_help(monkeypatch):
    better = 0
    for seed in range(8):
        pool, gram, pull = problem(seed, n=150)
        kicked = polish(Gaussian(0.8), pool, pull, np.arange(10), np.random.default_rng(1))
        with monkeypatch.context() as patch:
            patch.setattr(module, "_KICKS", 0)
            plain = polish(Gaussian(0.8), pool, pull, np.arange(10), np.random.default_rng(1))
        gain = stream_oracles.discrepancy(gram, pull, plain) - stream_oracles.discrepancy(gram, pull, kicked)
        assert gain > -1e-7
        better += gain > 1e-6
    assert better >= 4


def test_a_pool_with_nothing_to_choose_from_is_returned_whole():
    pool, _, pull = problem(0, n=5)
    assert sorted(polish(Gaussian(0.8), pool, pull, np.array([3, 1, 0, 2, 4]), np.random.default_rng(0))) == [0, 1, 2, 3, 4]


def test_wide_pools_are_polished_alike_through_their_gram_matrix():
    # From 17 columns on kernel rows come from a Gram matrix: the same problem, with columns of zeros added, has the same end.
    pool, _, pull = problem(2, n=120)
    wide = np.concatenate([pool, np.zeros((120, 20))], axis=1)
    plain, gram = (polish(Gaussian(0.8), each, pull, np.arange(12), np.random.default_rng(0)) for each in (pool, wide))
    np.testing.assert_array_equal(plain, gram)


def test_equal_rows_end_the_descent():
    chosen = polish(Gaussian(1.0), np.zeros((40, 2)), np.ones(40), np.arange(5), np.random.default_rng(0))
    assert len(set(chosen.tolist())) == 5


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 30), st.integers(1, 12), st.integers(0, 2**31))
def test_calibrated_weights_solve_the_ridge_problem(n, width, seed):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, width)).astype(np.float32)
    shares = rng.dirichlet(np.full(n, 2.0)) + 1e-3
    shares /= shares.sum()
    mean = rng.dirichlet(np.ones(n)) @ features.astype(np.float64)
    centred = features.astype(np.float64) - shares @ features.astype(np.float64)
    ridge = _RIDGE * np.sum(shares @ centred**2) / width
    got = calibrate(features, shares, mean)
    np.testing.assert_allclose(got, stream_oracles.calibrated(features, shares, mean, ridge), rtol=1e-6, atol=1e-8)
    assert got.sum() == pytest.approx(1.0, abs=1e-9)


def test_calibration_moves_the_mean_of_the_sample_to_that_of_the_stream():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(500, 10))
    shares = np.full(500, 1 / 500)
    mean = features.mean(axis=0) + 0.1 * rng.normal(size=10)
    before, after = (np.linalg.norm(weights @ features - mean) for weights in (shares, calibrate(features, shares, mean)))
    assert after < 0.01 * before
    np.testing.assert_allclose(calibrate(features, shares, features.mean(axis=0)), shares, atol=1e-12)


def test_features_that_do_not_vary_leave_the_shares_alone():
    shares = np.array([0.25, 0.75])
    np.testing.assert_array_equal(calibrate(np.ones((2, 3), np.float32), shares, np.full(3, 2.0)), shares)
