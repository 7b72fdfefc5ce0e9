"""Selections of nothing, of copies, of one row; bandwidths by default; and what goes on from them."""

import dataclasses

import numpy as np
import pytest

import herding_oracles as oracles
import supersample as ss
from supersample.errors import InputError, InputTypeError, MismatchError
from supersample.kernels import Gaussian
from supersample.selection.batch.candidates import FeatureCandidates
from supersample.selection.batch.residual import residual_of

METHODS = [ss.herd, ss.sbq, ss.wkh, ss.frank_wolfe]
methods = pytest.mark.parametrize("method", METHODS, ids=lambda method: method.__name__)
POOL = np.random.default_rng(0).normal(size=(300, 2))
MANY = np.random.default_rng(1).normal(size=(3000, 2))
FAR = [[1e6, 1e6]]


@pytest.mark.parametrize("method", [ss.sbq, ss.wkh])
@pytest.mark.parametrize("weights", [None, "uniform", "free", "simplex"])
def test_nothing_to_choose_is_an_empty_selection_with_any_weights(method, weights):
    found = method(POOL, 5, target=FAR, kernel=Gaussian(1.0), weighting=weights)
    assert (len(found), found.weights.size, found.mmd.size, found.points.shape) == (0, 0, 0, (0, 2))
    assert "out of the kernel's reach" in found.note


@methods
def test_resuming_an_empty_selection_is_like_resuming_none(method):
    empty = ss.sbq(POOL, 5, target=FAR, kernel=Gaussian(1.0))
    found = method(POOL, 6, kernel=Gaussian(1.0), resume=empty)
    plain = method(POOL, 6, kernel=Gaussian(1.0))
    np.testing.assert_array_equal(found.indices, plain.indices)
    np.testing.assert_array_equal(found.mmd, plain.mmd)
    fixed = ss.frank_wolfe(POOL, 6, kernel=Gaussian(1.0), resume=empty, variant="fixed")
    assert fixed.mmd.size == 6


@methods
def test_a_selection_with_copies_is_resumed(method):
    """A point that is chosen twice spans nothing new: its weight is shared out, and nothing is NaN."""
    twice = ss.herd(np.repeat(POOL[:3], 2, axis=0), 6, kernel=Gaussian(1.0))
    start = dataclasses.replace(twice, indices=twice.indices // 2)
    found = method(POOL, 10, kernel=Gaussian(1.0), resume=start, weighting="free")
    gram, z = Gaussian(1.0)(POOL), Gaussian(1.0)(POOL).mean(axis=0)
    assert np.isfinite(found.mmd).all()
    for size in range(1, len(found) + 1):
        truth = oracles.variance(gram, z, z.mean(), found.indices[:size])
        assert found.mmd[size - 1] ** 2 == pytest.approx(truth, abs=1e-10)
    assert "lie in the span of earlier ones" in found.note
    if method in (ss.sbq, ss.wkh):
        distinct = sorted(set(start.indices.tolist()))
        gains = [oracles.variance(gram, z, z.mean(), [*distinct, j]) for j in range(300) if j not in distinct]
        if method is ss.sbq:
            assert found.mmd[6] ** 2 == pytest.approx(min(gains), abs=1e-10)


@methods
def test_a_pool_of_copies_has_any_bandwidth(method):
    found = method(np.full((1000, 2), 3.0), 10)
    assert "All rows are equal, so any bandwidth does as well as any other: it is 1." in found.note
    np.testing.assert_allclose(found.mmd, 0.0, atol=1e-7)
    if method in (ss.sbq, ss.wkh):
        assert len(found) == 1
    one = method([[1.0, 2.0]], 1)
    assert len(one) == 1
    # The target has a scale where the pool has none.
    aimed = method(np.full((10, 2), 3.0), 2, target=POOL)
    assert aimed.kernel == Gaussian("median").resolve(POOL)
    box = method(np.full((10, 2), 3.0), 2, target=ss.measures.Uniform([0.0, 0.0], [8.0, 8.0]))
    assert 2.0 < box.kernel.bandwidth < 6.0


def test_a_pool_of_copies_and_a_few_others_has_the_scale_of_the_others():
    rows = np.vstack([np.zeros((100_000, 1)), [[1.0], [2.0], [4.0]]])
    assert ss.herd(rows, 2, target=[[0.0], [1.0]]).kernel.bandwidth == pytest.approx(2.0)


@methods
def test_equal_calls_have_equal_results_and_parts_are_one_run(method):
    first, second = (method(MANY, 8) for _ in range(2))
    np.testing.assert_array_equal(first.mmd, second.mmd)
    assert first.kernel == second.kernel
    parts = method(MANY, 8, resume=method(MANY, 3, random_state=5), random_state=6)
    np.testing.assert_array_equal(parts.indices, first.indices)
    np.testing.assert_allclose(parts.mmd, first.mmd, rtol=1e-7)
    np.testing.assert_array_equal(method(MANY, 8, kernel=first.kernel).indices, first.indices)


def test_weights_of_few_points_have_the_scale_of_their_target():
    few = MANY[:4] * 1e-3
    expected = ss.quadrature_weights(few, target=POOL, kernel=Gaussian("median").resolve(POOL))
    np.testing.assert_allclose(ss.quadrature_weights(few, target=POOL), expected, rtol=1e-9)
    box = ss.measures.Uniform([0.0, 0.0], [8.0, 8.0])
    np.testing.assert_array_equal(
        ss.quadrature_weights([[4.0, 4.0]], target=box), ss.quadrature_weights([[4.0, 4.0]], target=box)
    )


def test_a_measure_keeps_no_hold_of_the_callers_arrays():
    rows, covariances = POOL.copy(), np.eye(2)[None].copy()
    data, mixture = ss.measures.Empirical(rows), ss.measures.GaussianMixture([1.0], [[0.0, 0.0]], covariances)
    before = data.energy(Gaussian(1.0)), mixture.energy(Gaussian(1.0))
    rows *= 0.0
    covariances *= 9.0
    assert (data.energy(Gaussian(1.0)), mixture.energy(Gaussian(1.0))) == before


def test_what_differs_by_more_than_rounding_is_no_tie():
    pool = np.array([[1e-4], [0.0], [0.0]])
    for method in METHODS:
        assert method(pool, 1, target=[[0.0]], kernel=Gaussian(1.0)).indices[0] == 1


def test_near_points_are_told_apart_by_float32_features():
    pool = np.array([[0.0], [0.05]])
    phi = ss.features.Fourier(Gaussian(1.0), 256, random_state=0)
    assert phi.dtype == np.float32
    found = ss.sbq(pool, 2, target=[[1.0]], features=phi)
    assert len(found) == 2  # 0.0025 of k(x, x) is left of the second
    again = ss.sbq(np.array([[0.0], [1e-3]]), 2, target=[[1.0]], features=phi)
    assert len(again) == 1  # a millionth is rounding in float32


def test_a_residual_by_features_stays_orthogonal_and_knows_its_energy():
    from supersample._random import as_seed

    phi = ss.features.Fourier(Gaussian(3.0), 64, dtype=np.float64, random_state=0)
    space = FeatureCandidates(phi, POOL, ss.measures.Empirical(POOL), as_seed(0))
    held = residual_of(space, 40)
    features = phi.transform(POOL)
    for row in POOL[:40]:
        held.add(row)
    basis = held._basis[: held.size]
    assert held.size > 15
    assert np.abs(basis @ basis.T - np.eye(held.size)).max() < 1e-13
    mean = features.mean(axis=0)
    assert held.energy == pytest.approx(mean @ mean, rel=1e-12)
    projected = features - features @ basis.T @ basis
    np.testing.assert_allclose(held.left, (projected**2).sum(axis=1), atol=1e-10)
    np.testing.assert_allclose(held.z, projected @ mean, atol=1e-10)


BAD = {
    "row -1": ({"indices": np.array([-1, 2])}, MismatchError, "resume holds row -1 and there are 300 candidates"),
    "row 300": ({"indices": np.array([300, 2])}, MismatchError, "resume holds row 300 and there are 300 candidates"),
}


@methods
@pytest.mark.parametrize("what", BAD)
def test_selections_from_elsewhere(method, what):
    change, error, message = BAD[what]
    start = dataclasses.replace(ss.herd(POOL, 2, kernel=Gaussian(1.0)), **change)
    with pytest.raises(error, match=message):
        method(POOL, 5, kernel=Gaussian(1.0), resume=start)


@methods
def test_options_are_checked_before_the_work(method):
    phi = ss.features.Fourier(Gaussian(1.0), 16, random_state=0)
    wide = np.random.default_rng(0).normal(size=(20_001, 1))
    for options, error, message in (
        ({"weighting": "positive"}, InputError, "weighting must be one of 'uniform', 'free', 'simplex', got 'positive'"),
        ({"weighting": np.ones(3)}, InputError, "weighting must be one of"),
        ({"refine": "no"}, InputTypeError, "refine must be True or False, got str 'no'"),
        ({"replace": None}, InputTypeError, "replace must be True or False, got NoneType None"),
    ):
        with pytest.raises(error, match=message):
            method(wide, 3, features=phi, **options)


def test_bad_points_are_called_points():
    with pytest.raises(InputError, match="points must have at least 1 row"):
        ss.quadrature_weights(np.empty((0, 2)), target=POOL)
    with pytest.raises(InputError, match="points contains NaN"):
        ss.quadrature_weights([[np.nan, 0.0]], target=POOL)
    with pytest.raises(MismatchError, match="target is a measure in 1 dimension and the points have 2 columns"):
        ss.quadrature_weights(POOL, target=ss.measures.Uniform(0.0, 1.0))
    with pytest.raises(InputTypeError, match="covariances must hold one 1 x 1 matrix of numbers for each of the 1 means"):
        ss.measures.GaussianMixture([1.0], [[0.0]], "wide")


def test_candidates_and_targets_of_one_row_each_have_the_scale_between_them():
    far = ss.herd(np.full((1000, 2), 3.0), 2, target=np.zeros((50, 2)), replace=True)
    assert far.kernel.bandwidth == pytest.approx(np.sqrt(18.0))
    assert far.note == ""
    weights = ss.quadrature_weights([[0.0, 1.0]], target=[[1.0, 2.0]])
    assert weights == pytest.approx(np.exp(-0.5))  # they are one bandwidth apart
