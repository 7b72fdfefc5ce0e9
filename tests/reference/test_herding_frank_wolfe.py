"""Frank-Wolfe against a twin that holds a weight for every candidate, and what it may go on from."""

import dataclasses
import itertools

import numpy as np
import pytest

import herding_oracles as oracles
import supersample as ss
from supersample.errors import InputError
from supersample.kernels import Function, Gaussian, Matern

RNG = np.random.default_rng(11)
POOL = RNG.normal(size=(60, 2))
TILTED = Function(lambda x, y: 1.0 + x @ y.T + 0.3 * (x @ y.T) ** 2, name="tilted polynomial")
SETTINGS = {
    "other rows": (RNG.normal(size=(30, 2)) + 0.5, Gaussian(0.7)),
    "three of them": (POOL[[4, 20, 33]], Matern(0.5, 1.0)),
    "k(x, x) not constant": (RNG.normal(size=(30, 2)), TILTED),
    "beyond": ([[3.0, 0.5], [2.5, 3.0]], Gaussian(1.5)),
    "within": (0.3 * RNG.normal(size=(30, 2)), Gaussian(1.5)),
}


def problem(name):
    target, kernel = SETTINGS[name]
    measure = ss.measures.Empirical(target)
    return target, kernel, kernel(POOL), measure.mean_embedding(kernel, POOL), measure.energy(kernel)


def spread(found):
    w = np.zeros(len(POOL))
    np.add.at(w, found.indices, found.weights)
    return w


@pytest.mark.parametrize("variant", ["line-search", "away", "pairwise"])
@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("replace", [True, False])
def test_every_step_is_that_of_the_twin(variant, name, replace):
    target, kernel, gram, z, energy = problem(name)
    twin = oracles.frank_wolfe(gram, z, 25, variant, replace=replace)
    found = ss.frank_wolfe(POOL, 25, target=target, kernel=kernel, variant=variant, replace=replace)
    squares = np.array([energy - 2 * w @ z + w @ gram @ w for w in twin])
    count = min(len(twin), int((squares > 1e-11 * gram.max()).sum()) + 1)  # a matched target leaves rounding to step by
    assert found.mmd.size == len(twin) or count < len(twin)
    for step in sorted({1, 2, 3, min(6, count), min(12, count), count}):
        part = ss.frank_wolfe(POOL, step, target=target, kernel=kernel, variant=variant, replace=replace)
        np.testing.assert_allclose(spread(part), twin[step - 1], atol=1e-8)
    np.testing.assert_allclose(found.mmd[:count] ** 2, np.maximum(squares[:count], 0.0), atol=1e-10 * gram.max())


def test_the_twin_takes_away_steps_and_drops_points():
    """What the test above is for is in it: steps away from a point, and steps so long that the point is gone."""
    away = dropped = 0
    for name in SETTINGS:
        _, _, gram, z, _ = problem(name)
        weights = oracles.frank_wolfe(gram, z, 25, "away")
        for before, after in itertools.pairwise(weights):
            away += int(((after > before) & (before > 0)).sum() > 1)
            dropped += int(((before > 0) & (after == 0)).any())
    assert away >= 10
    assert dropped >= 1


def test_without_replacement_a_shortage_is_called_so():
    rows = np.random.default_rng(0).normal(size=(200, 2))
    found = ss.frank_wolfe(rows[:12], 12, target=rows, kernel=Gaussian(1.0), replace=False)
    assert "9 of 12 steps: no step that replace=False allows leads nearer" in found.note
    again = ss.frank_wolfe(rows[:12], 9, target=rows, kernel=Gaussian(1.0))
    assert again.mmd[-1] < found.mmd[-1]  # so the gap over all candidates was not down to rounding


def test_barred_candidates_do_not_hide_steps_away():
    """Where no new candidate leads nearer, taking weight from a held one still may: steps end only where it does not."""
    kernel, ended = Gaussian(1.5), 0
    for seed in range(20):
        data = np.random.default_rng(seed).normal(size=(200, 2))
        pool = data[:12]
        found = ss.frank_wolfe(pool, 12, target=data, kernel=kernel, replace=False, variant="away")
        weights = np.zeros(12)
        np.add.at(weights, found.indices, found.weights)
        slopes = kernel(pool, data).mean(axis=1) - kernel(pool) @ weights
        if found.note:
            ended += 1
            assert weights @ slopes - slopes[weights > 0].min() < 1e-9
        else:
            assert len(found.mmd) == 12
    assert ended < 20


@pytest.mark.parametrize("variant", ["fixed", "line-search", "away", "pairwise", "fully-corrective"])
def test_going_on_is_one_run(variant):
    target, kernel, *_ = problem("other rows")
    whole = ss.frank_wolfe(POOL, 30, target=target, kernel=kernel, variant=variant)
    first = ss.frank_wolfe(POOL, 11, target=target, kernel=kernel, variant=variant)
    parts = ss.frank_wolfe(POOL, 30, target=target, kernel=kernel, variant=variant, resume=first)
    np.testing.assert_allclose(spread(parts), spread(whole), atol=1e-9)
    np.testing.assert_allclose(parts.mmd, whole.mmd, rtol=1e-7)


def test_fixed_steps_refuse_what_they_cannot_have_made():
    target, kernel, *_ = problem("other rows")
    start = ss.frank_wolfe(POOL, 10, target=target, kernel=kernel, variant="fully-corrective")
    with pytest.raises(
        InputError, match=r"resume must have weights that are multiples of 1/10 for variant='fixed'.*got a weight"
    ):
        ss.frank_wolfe(POOL, 15, target=target, kernel=kernel, variant="fixed", resume=start)
    herded = ss.herd(POOL, 10, target=target, kernel=kernel)
    found = ss.frank_wolfe(POOL, 25, target=target, kernel=kernel, variant="fixed", resume=herded)
    assert found.mmd.size == 25
    np.testing.assert_allclose(25 * found.weights, np.rint(25 * found.weights), atol=1e-9)


@pytest.mark.parametrize("variant", ["fixed", "line-search", "pairwise"])
def test_m_counts_the_steps_of_start(variant):
    target, kernel, *_ = problem("three of them")
    start = ss.frank_wolfe(POOL, 30, target=target, kernel=kernel, variant=variant)
    assert len(start) < 30 == start.mmd.size
    with pytest.raises(InputError, match=r"m counts the (steps|points) of resume too: it must be at least 30, got 29"):
        ss.frank_wolfe(POOL, 29, target=target, kernel=kernel, variant=variant, resume=start)
    same = ss.frank_wolfe(POOL, 30, target=target, kernel=kernel, variant=variant, resume=start)
    np.testing.assert_allclose(spread(same), spread(start), atol=1e-12)


@pytest.mark.parametrize("variant", ["fixed", "line-search"])
def test_the_path_of_a_start_is_that_of_the_present_kernel_and_target(variant):
    target, kernel, *_ = problem("other rows")
    start = ss.frank_wolfe(POOL, 12, target=target, kernel=kernel, variant=variant)
    for options in ({"target": target, "kernel": Gaussian(0.3)}, {"target": POOL, "kernel": kernel}):
        measure, now = ss.measures.Empirical(options["target"]), options["kernel"]
        gram, z, energy = now(POOL), measure.mean_embedding(now, POOL), measure.energy(now)
        found = ss.frank_wolfe(POOL, 20, variant=variant, resume=start, **options)
        w, end = spread(start), spread(found)
        np.testing.assert_allclose(found.mmd[:12], np.sqrt(energy - 2 * w @ z + w @ gram @ w), rtol=1e-9)
        assert found.mmd[-1] == pytest.approx(np.sqrt(energy - 2 * end @ z + end @ gram @ end), rel=1e-9)
    by_hand = dataclasses.replace(start, mmd=np.empty(0), weights=np.full(len(start), 1 / len(start)))
    assert ss.frank_wolfe(POOL, 20, target=target, kernel=kernel, variant=variant, resume=by_hand).mmd.size == 20


@pytest.mark.parametrize("kind", ["uniform", "free", "simplex"])
def test_only_points_that_have_weight_at_the_end_are_weighed_anew(kind):
    target, kernel, *_ = problem("within")
    kept = ss.frank_wolfe(POOL, 40, target=target, kernel=kernel, variant="fully-corrective")
    found = ss.frank_wolfe(POOL, 40, target=target, kernel=kernel, variant="fully-corrective", weighting=kind)
    np.testing.assert_array_equal(found.indices, kept.indices)
    assert found.mmd.size == len(found)
