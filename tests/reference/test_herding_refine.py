"""Each refined point is on a hill of its own criterion, given the points before it."""

import numpy as np
import pytest

import herding_oracles as oracles
import supersample as ss
from supersample.kernels import Gaussian
from supersample.selection.batch.continuous import ascend

MIXTURE = ss.measures.GaussianMixture([1.0, 2.0], [[0.0, 0.0], [2.0, 1.0]], [np.eye(2), [[0.5, 0.2], [0.2, 0.4]]])
KERNEL = Gaussian(0.9)
POOL = np.random.default_rng(2).normal([1.0, 0.5], size=(40, 2))
STEPS = 6


def terms(points):
    return KERNEL(points), MIXTURE.mean_embedding(KERNEL, points), MIXTURE.energy(KERNEL)


def gain(method, held, weights, rows):
    """What the method maximises, at each row, given the points held: from Gram matrices of them and the row alone."""
    values = []
    for row in rows:
        points = np.vstack([held, row])
        gram, z, energy = terms(points)
        everything = list(range(len(points)))
        if method is ss.herd:
            values.append(-oracles.uniform_mmd2(gram, z, energy, everything))
        elif method is ss.sbq:
            values.append(-oracles.variance(gram, z, energy, everything))
        elif method is ss.wkh:
            values.append(abs(oracles.slope(gram, z, everything[:-1])[-1]))
        else:
            values.append(z[-1] - gram[-1, :-1] @ weights - (0.5 * gram[-1, -1] if len(held) == 0 else 0.0))
    return np.array(values)


@pytest.mark.parametrize("method", [ss.herd, ss.sbq, ss.wkh, ss.frank_wolfe])
def test_every_step_ends_on_a_hill_and_above_its_candidate(method):
    around = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]], dtype=float)
    moved = 0
    for step in range(STEPS):
        before = method(POOL, step, target=MIXTURE, kernel=KERNEL, refine=True) if step else None
        held = np.empty((0, 2)) if before is None else before.points
        weights = np.empty(0) if before is None else before.weights
        after = method(POOL, step + 1, target=MIXTURE, kernel=KERNEL, refine=True)
        new = [k for k, point in enumerate(after.points) if not (held == point).all(axis=1).any()]
        if not new:
            continue  # a Frank-Wolfe step towards a point that is there already
        here, start = after.points[new[-1]], POOL[after.indices[new[-1]]]
        rows = np.vstack([here, start, here + 0.03 * around])
        values = gain(method, held, weights, rows)
        assert values[0] >= values[1]
        if np.abs(here - start).max() < 2.99 * 0.9:  # within the bounds of the ascend
            assert (values[0] >= values[2:] - 1e-9).all()
        moved += int(np.abs(here - start).max() > 1e-3)
    assert moved >= 4


def test_a_climb_that_ends_lower_goes_back():
    """Slopes are differences over short steps: on rough ground they may lead away from a point that is higher."""

    def rough(rows):
        hills = rows[:, 0] if len(rows) > 2 else -rows[:, 0]  # the ascent sees one side of the ground, the check the other
        return np.asarray(hills, dtype=float)

    start = np.array([0.5, 0.5])
    np.testing.assert_array_equal(ascend(rough, start, np.ones(2)), start)
    smooth = ascend(lambda rows: -((rows - 1.0) ** 2).sum(axis=1), start, np.ones(2))
    np.testing.assert_allclose(smooth, 1.0, atol=1e-5)
