"""Copies, singular kernels, matched targets, large pools: a correct, perhaps shorter selection, a note, never NaN."""

import re

import numpy as np
import pytest

import herding_oracles as oracles
import supersample as ss
from supersample.kernels import Cauchy, Function, Gaussian, Matern

METHODS = [ss.herd, ss.sbq, ss.wkh, ss.frank_wolfe]
VARIANTS = ["fixed", "line-search", "fully-corrective", "away", "pairwise"]
methods = pytest.mark.parametrize("method", METHODS, ids=lambda method: method.__name__)
POOL = np.random.default_rng(0).normal(size=(300, 2))


def assert_sound(found):
    for part in (found.points, found.weights, found.mmd):
        assert np.isfinite(part).all()
    assert found.indices.shape == found.weights.shape == (len(found),)


@methods
@pytest.mark.parametrize("weights", [None, "uniform", "free", "simplex"])
def test_a_thousand_copies_of_one_point(method, weights):
    found = method(np.full((1000, 2), 3.0), 10, kernel=Gaussian(1.0), weighting=weights)
    assert_sound(found)
    np.testing.assert_allclose(found.mmd, 0.0, atol=1e-7)
    assert found.weights.sum() == pytest.approx(1.0)
    assert found.indices[0] == 0
    if method in (ss.sbq, ss.wkh):
        assert len(found) == 1
        assert "1 of 10 points: they span all candidates" in found.note
    if method is ss.frank_wolfe:
        assert len(found) == 1
        assert "1 of 10 steps" in found.note


@methods
@pytest.mark.parametrize("weights", ["free", "simplex", "uniform"])
def test_a_thousand_copies_among_other_points(method, weights):
    pool = np.vstack([np.zeros((1000, 2)), POOL[:20]])
    kernel = Gaussian(1.0)
    found = method(pool, 15, kernel=kernel, weighting=weights)
    assert_sound(found)
    z, energy = kernel(pool).mean(axis=0), kernel(pool).mean()
    square = oracles.mmd2(kernel(pool), z, energy, found.indices, found.weights)
    assert found.mmd[-1] ** 2 == pytest.approx(square, abs=1e-12)
    if weights == "free":
        assert found.mmd[-1] ** 2 == pytest.approx(oracles.variance(kernel(pool), z, energy, found.indices), abs=1e-11)
    copies = found.indices < 1000
    if weights == "free" and method is not ss.frank_wolfe:
        assert (found.weights[copies] != 0).sum() == 1  # the first of the copies has the weight of all
        assert ("lie in the span" in found.note) == (copies.sum() > 1)


@methods
@pytest.mark.parametrize("weights", [None, "free", "simplex"])
@pytest.mark.parametrize("width", [1e2, 1e5, 1e9])
def test_kernels_so_wide_that_the_gram_matrix_is_singular(method, weights, width):
    found = method(POOL, 40, kernel=Gaussian(width), weighting=weights)
    assert_sound(found)
    assert found.mmd[-1] < 1e-3
    if method in (ss.sbq, ss.wkh):
        assert len(found) < 40
        assert "span all candidates" in found.note


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_on_copies_and_wide_kernels(variant):
    for pool, width in ((np.ones((50, 1)), 1.0), (POOL, 1e5)):
        found = ss.frank_wolfe(pool, 20, kernel=Gaussian(width), variant=variant)
        assert_sound(found)
        assert found.mmd[-1] < 1e-3  # a kernel so wide, or a pool of copies, leaves next to no distance
        assert found.weights.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("method", [ss.sbq, ss.wkh])
def test_a_target_that_is_matched_ends_the_selection(method):
    found = method(POOL, 50, target=POOL[[5, 70, 200]], kernel=Matern(0.5, 1.0))
    assert {5, 70, 200} <= set(found.indices.tolist())
    assert len(found) <= 6  # a greedy first point may be between the three
    assert "what they leave of the target" in found.note
    assert found.mmd[-1] < 1e-7
    weights = {int(index): weight for index, weight in zip(found.indices, found.weights, strict=True)}
    for index, weight in weights.items():
        assert weight == pytest.approx(1 / 3 if index in (5, 70, 200) else 0.0, abs=1e-9)


@pytest.mark.parametrize("method", [ss.sbq, ss.wkh])
def test_a_target_out_of_reach_gives_nothing_and_says_so(method):
    found = method(POOL, 5, target=[[1e6, 1e6]], kernel=Gaussian(1.0))
    assert len(found) == 0
    assert found.mmd.size == 0
    assert "out of the kernel's reach" in found.note


def test_few_features_span_everything_soon():
    linear = Function(lambda x, y: x @ y.T, name="inner product")
    found = ss.sbq(POOL, 10, target=POOL + 5.0, kernel=linear)
    assert len(found) == 2
    assert found.mmd[-1] < 1e-6
    phi = ss.features.Nystroem(linear, POOL[:10], dtype=np.float64)
    assert len(ss.sbq(POOL, 10, target=POOL + 5.0, features=phi)) == 2


@methods
def test_one_candidate(method):
    found = method([[1.0, 2.0]], 1, target=ss.measures.Uniform([0.0, 0.0], [2.0, 2.0]), kernel=Gaussian(1.0))
    assert_sound(found)
    assert len(found) == 1


@methods
def test_rows_come_back_in_their_own_type(method):
    pool = POOL.astype(np.float32)
    found = method(pool, 5, kernel=Gaussian(1.0))
    assert found.points.dtype == np.float32
    np.testing.assert_array_equal(found.points, pool[found.indices])


@methods
def test_a_target_without_a_closed_form_is_drawn_and_said(method):
    found = method(POOL, 5, target=ss.measures.Uniform([0.0, 0.0], [1.0, 1.0]), kernel=Cauchy(0.5), random_state=0)
    again = method(POOL, 5, target=ss.measures.Uniform([0.0, 0.0], [1.0, 1.0]), kernel=Cauchy(0.5), random_state=0)
    assert re.search(r"Uniform has no closed form for Cauchy.*, so 20,000 draws stand for it", found.note)
    # z of 20,000 draws is known to 0.002: ten times as near as that of 200.
    fine = np.stack(np.meshgrid(*[(np.arange(150) + 0.5) / 150] * 2), axis=-1).reshape(-1, 2)
    kernel, w = Cauchy(0.5), found.weights
    truth = (
        kernel(fine[::7], fine[3::7]).mean() - 2 * w @ kernel(found.points, fine).mean(axis=1) + w @ kernel(found.points) @ w
    )
    assert found.mmd[-1] ** 2 == pytest.approx(truth, abs=0.004)
    np.testing.assert_array_equal(found.mmd, again.mmd)


def test_refinement_is_kept_by_what_goes_on_from_it():
    target = ss.measures.Uniform([-1.0, -1.0], [1.0, 1.0])
    first = ss.sbq(POOL, 5, target=target, kernel=Gaussian(0.7), refine=True)
    both = ss.sbq(POOL, 9, target=target, kernel=Gaussian(0.7), refine=True, resume=first)
    np.testing.assert_array_equal(both.points[:5], first.points)
    np.testing.assert_allclose(both.mmd[:5], first.mmd, rtol=1e-8)
    assert both.mmd[-1] < first.mmd[-1]
    assert "9 points were moved off the pool" in both.note


def test_results_say_what_they_are():
    rows = np.arange(9.0)[:, None]
    chosen = str(ss.sbq(rows, 3, kernel=ss.kernels.Gaussian(2.0)))
    assert re.fullmatch(
        r"3 chosen points\n  MMD .* with the first\n  weights .*, sum 0\.9753\n  kernel   Gaussian\(bandwidth=2\.0\)", chosen
    )
    told = str(ss.critic(rows, 3, 2, kernel=ss.kernels.Gaussian(2.0)))
    assert told.startswith("Prototypes: 3 chosen points")
    assert re.search(r"Criticisms: 2, where the prototypes have too little \(\d\) or too much \(\d\)$", told)
    found = ss.integrate(lambda x: x[0], ss.measures.Uniform(0.0, 1.0), 4, bandwidth=1.0, random_state=0)
    first = f"{found.mean:.6g} +- {found.sd:.2g} (one standard deviation), average over Uniform(0.0, 1.0), from 4 calls of f"
    assert str(found).splitlines()[0] == first
    assert ss.critic(rows, 2, 1).prototypes.kernel == ss.herd(rows, 2).kernel
