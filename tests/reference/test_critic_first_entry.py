"""The step of the online criticisms against all c + 1 leave-one-out choices, each by its own determinant."""

import numpy as np
import pytest

import critic_oracles as oracle
from supersample._compiled.criticisms import first_entry
from supersample.kernels import Cauchy, Gaussian, Laplacian
from supersample.selection.stream.criticisms import Criticisms
from supersample.selection.stream.rows import Rows

KERNELS = (Gaussian(1.0), Laplacian(2.0), Cauchy(0.5), Gaussian(0.5) + 2.0 * Laplacian(1.0))


def as_rows(points):
    n = len(points)
    return Rows(points, np.arange(n), np.full(n, 0.5), np.ones(n, dtype=np.int64))


def problem(seed):
    rng = np.random.default_rng(seed)
    c, n, d = int(rng.integers(1, 9)), 30, int(rng.integers(2, 5))
    points = oracle.draw(oracle.KINDS[seed % 4], c + n, d, rng)
    kernel = KERNELS[seed % len(KERNELS)]
    values = rng.normal(size=c + n) * rng.choice([0.01, 1.0, 5.0])
    _, first = np.unique(points, axis=0, return_index=True)
    held = rng.choice(first, size=min(c, len(first)), replace=False)
    return points, kernel(points), kernel, values, held


@pytest.mark.parametrize("seed", range(60))
def test_first_entry_equals_brute_force(seed):
    _, gram, _, values, held = problem(seed)
    rows = np.arange(len(gram))
    inverse = np.linalg.inv(gram[np.ix_(held, held)])
    fade = np.exp(-np.abs(values))
    start = 0
    for row, slot in oracle.exchange(gram, values, held, rows)[0][:1]:
        found = first_entry(0, gram[:, held].copy(), np.diag(gram).copy(), fade, inverse, fade[held], 1e-6)
        assert found == (row, slot)
        start = row + 1
    following = first_entry(start, gram[:, held].copy(), np.diag(gram).copy(), fade, inverse, fade[held], 1e-6)
    rest = oracle.exchange(gram, values, held, rows[start:])[0][:1]
    assert following == (rest[0] if rest else (len(gram), -1))


def test_the_problems_have_both_outcomes():
    entries = []
    for seed in range(60):
        _, gram, _, values, held = problem(seed)
        entries.append(len(oracle.exchange(gram, values, held, range(len(gram)))[0]))
    assert min(entries) == 0
    assert max(entries) > 5


@pytest.mark.parametrize("seed", range(60))
def test_a_whole_exchange_equals_brute_force(seed):
    points, gram, kernel, values, held = problem(seed)
    entered, expected = oracle.exchange(gram, values, held, range(len(gram)))
    everyone = as_rows(points)
    blank = np.arange(len(gram), dtype=np.float32)[:, None]
    critics = Criticisms.of(len(held), everyone.take(held), blank[held], kernel)
    size, mine = np.abs(values), np.abs(values)[held]
    before = critics.objective(mine)
    assert critics.exchange(kernel, everyone, blank, size, mine) == len(entered)
    np.testing.assert_array_equal(critics.rows.positions, expected)
    np.testing.assert_array_equal(critics.rows.points, points[expected])
    np.testing.assert_array_equal(critics.features[:, 0], expected)
    np.testing.assert_array_equal(mine, size[expected])
    np.testing.assert_allclose(critics.gram, gram[np.ix_(expected, expected)], rtol=1e-14)
    after = critics.objective(mine)
    assert after == pytest.approx(oracle.criticism_objective(gram, values, expected), abs=1e-10)
    assert after >= before - 1e-9


@pytest.mark.parametrize("c", [1, 2, 6])
def test_copies_never_enter_whatever_their_witness(c):
    points = np.random.default_rng(c).normal(size=(c, 3))
    kernel = Gaussian(1.0)
    offered = np.concatenate([points] * 3 + [points + 1e-9])
    gram = kernel(offered, points)
    fade = np.full(len(offered), np.exp(-50.0))
    found = first_entry(0, gram, np.ones(len(offered)), fade, np.linalg.inv(kernel(points)), np.full(c, 1.0), 1e-6)
    assert found == (len(offered), -1)


def test_a_row_equal_in_worth_does_not_enter():
    """Two far points of the same witness: changing one for the other gains nothing, so nothing changes."""
    gram = np.zeros((1, 1))
    assert first_entry(0, gram, np.ones(1), np.full(1, 0.5), np.ones((1, 1)), np.full(1, 0.5), 1e-6) == (1, -1)
    assert first_entry(0, gram, np.ones(1), np.full(1, 0.4), np.ones((1, 1)), np.full(1, 0.5), 1e-6) == (0, 0)


def test_by_hand():
    """Held: 0 and 100, |w| 1 and 2. Row 1 (|w| 3) resembles 0 and takes its place; row 50 (|w| 0.5) would lower the sum."""
    kernel, held = Gaussian(1.0), np.array([[0.0], [100.0]])
    rows = np.array([[50.0], [1.0]])
    fade = np.exp(-np.array([0.5, 3.0]))
    found = first_entry(0, kernel(rows, held), np.ones(2), fade, np.eye(2), np.exp([-1.0, -2.0]), 1e-6)
    assert found == (1, 0)


@pytest.mark.parametrize("near", [0.0, 1e-12, 1e-8, 1e-5])
def test_free_places_take_no_copies(near):
    """Rows near each other up to rounding are one point: the set stays free of numbers that blow up."""
    rng = np.random.default_rng(0)
    few = rng.normal(size=(4, 2))
    points = np.concatenate([few + near * rng.normal(size=few.shape) for _ in range(50)])
    kernel = Gaussian(1.0)
    critics = Criticisms.empty(10, 2, 3)
    features = rng.normal(size=(len(points), 3)).astype(np.float32)
    critics.offer(kernel, as_rows(points), features, np.ones(3, dtype=np.float32))
    assert len(critics.rows) == (4 if near < 1e-5 else len(critics.rows))
    assert np.isfinite(critics._inverse()).all()
    assert np.linalg.slogdet(critics.gram)[0] > 0


def test_offers_use_features_for_the_witness_and_score_the_held_anew():
    """A held criticism that the new witness no longer speaks for gives way to a row that it does."""
    kernel, points = Gaussian(1.0), np.array([[0.0], [50.0], [100.0]])
    features = np.array([[5.0, 0.0], [1.0, 1.0], [0.0, 5.0]], dtype=np.float32)
    critics = Criticisms.empty(1, 1, 2)
    critics.offer(kernel, as_rows(points[:1]), features[:1], np.array([1.0, 0.0], dtype=np.float32))
    critics.offer(kernel, as_rows(points[1:2]), features[1:2], np.array([1.0, 0.0], dtype=np.float32))
    np.testing.assert_array_equal(critics.rows.points, [[0.0]])
    critics.offer(kernel, as_rows(points[1:2]), features[1:2], np.array([0.0, -1.0], dtype=np.float32))
    np.testing.assert_array_equal(critics.rows.points, [[50.0]])


def test_a_copy_of_criticisms_shares_nothing():
    kernel, points = Gaussian(1.0), np.random.default_rng(0).normal(size=(20, 2))
    features = points.astype(np.float32)
    critics = Criticisms.empty(5, 2, 2)
    critics.offer(kernel, as_rows(points[:5]), features[:5], np.ones(2, dtype=np.float32))
    before = (critics.rows.points.copy(), critics.gram.copy(), critics.features.copy())
    critics.copy().offer(kernel, as_rows(points), features, np.full(2, 30.0, dtype=np.float32))
    for mine, kept in zip((critics.rows.points, critics.gram, critics.features), before, strict=True):
        np.testing.assert_array_equal(mine, kept)
