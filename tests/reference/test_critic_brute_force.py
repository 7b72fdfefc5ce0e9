"""Batch prototypes and criticisms against greedy by brute force."""

import numpy as np
import pytest

import critic_oracles as oracle
import supersample as ss
from supersample.kernels import Cauchy, Function, Gaussian, Laplacian, Matern
from supersample.selection import greedy, pool

KERNELS = (
    Gaussian(1.0),
    Laplacian(2.0),
    Cauchy(0.7),
    Matern(1.5, 1.0),
    Gaussian(0.5) + 0.5 * Cauchy(3.0),
    Gaussian(0.3),
    Function(lambda x, y: x @ y.T, name="linear"),
)


def problem(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(5, 41)), int(rng.integers(1, 6))
    m = int(rng.integers(1, min(8, n - 1)))
    c = int(rng.integers(0, min(8, n - m) + 1))
    data = oracle.draw(oracle.KINDS[seed % len(oracle.KINDS)], n, d, rng)
    labels = np.array(["low", "middle", "high"])[rng.integers(0, 3, size=n)]
    return data, m, c, KERNELS[seed % len(KERNELS)], labels


@pytest.mark.parametrize(("regularizer", "diversity"), [("logdet", 1.0), ("logdet", 0.03), (None, 1.0)])
@pytest.mark.parametrize("seed", range(200))
def test_every_option_equals_brute_force_index_for_index(seed, regularizer, diversity):
    data, m, c, kernel, labels = problem(seed)
    for given in (None, labels):
        gram = kernel(data) if given is None else oracle.local(kernel(data), given)
        expected = oracle.greedy_prototypes(gram, m)
        values = oracle.witness(gram, expected)
        found = ss.critic(data, m, c, kernel=kernel, labels=given, regularizer=regularizer, diversity=diversity, method="exact")
        np.testing.assert_array_equal(found.prototypes.indices, expected)
        critics = oracle.greedy_criticisms(gram, values, c, expected, diversity if regularizer else 0.0)
        np.testing.assert_array_equal(found.criticisms.indices, critics)
        np.testing.assert_allclose(found.witness, values[critics], rtol=0, atol=1e-12)


def test_the_problems_have_what_is_hard():
    """Ties, copies that run out, row 0 first, criticisms of both signs, and more criticisms than prototypes."""
    first, fewer, more, signs = 0, 0, 0, set()
    for seed in range(200):
        data, m, c, kernel, _ = problem(seed)
        found = ss.critic(data, m, c, kernel=kernel)
        first += found.prototypes.indices[0] == 0
        fewer += len(found.criticisms) < c
        more += c > m
        signs |= set(np.sign(found.witness))
    assert min(first, fewer, more) >= 10
    assert signs >= {-1.0, 1.0}


def test_row_0_can_be_chosen_first():
    half = np.random.default_rng(0).normal(size=(15, 2))
    found = ss.critic(np.concatenate([np.zeros((1, 2)), half, -half]), 3, 0, kernel=Gaussian(3.0))
    assert found.prototypes.indices[0] == 0


@pytest.mark.parametrize("shift", [0, 7, 19])
def test_of_equal_rows_the_lowest_is_chosen(shift):
    data = np.roll(np.repeat(np.array([[0.0], [50.0]]), 10, axis=0), shift, axis=0)
    found = ss.critic(data, 2, 2, kernel=Gaussian(1.0))
    lowest = [int(np.flatnonzero(data[:, 0] == value)[0]) for value in (0.0, 50.0)]
    assert sorted(found.prototypes.indices) == sorted(lowest)
    np.testing.assert_array_equal(found.witness, 0.5 - 0.5)


@pytest.mark.parametrize("given", [False, True])
def test_tiles_of_the_kernel_matrix_do_not_show(monkeypatch, given):
    rng = np.random.default_rng(1)
    data, labels = rng.normal(size=(1000, 3)), rng.integers(0, 4, size=1000) if given else None
    codes = None if labels is None else labels.astype(np.int64)
    monkeypatch.setattr(pool, "_TILE_COLUMNS", 90)
    gram = Gaussian(1.0)(data)
    gram = gram if labels is None else oracle.local(gram, labels)
    each = pool.ExactPool(Gaussian(1.0), data, codes)
    np.testing.assert_allclose(each.means(), gram.mean(axis=0), rtol=1e-13)
    for row in (0, 383, 384, 999):
        np.testing.assert_array_equal(each.column(row), gram[row])
    some, others = rng.integers(0, 1000, size=20), rng.integers(0, 1000, size=7)
    np.testing.assert_array_equal(each.block(some, others), gram[np.ix_(some, others)])


@pytest.mark.parametrize("kind", ["normal", "grid", "copies", "mirrored"])
@pytest.mark.parametrize("seed", range(5))
def test_lazy_evaluation_is_exact(monkeypatch, kind, seed):
    rng = np.random.default_rng(seed)
    data = oracle.draw(kind, 300, 3, rng)
    gram = Gaussian(0.7)(data)
    values = oracle.witness(gram, rng.choice(300, size=6, replace=False)) * rng.choice([1.0, 20.0])
    free = rng.random(300) < 0.9
    chosen = {}
    for size in (1, 2, 13, 512):
        monkeypatch.setattr(greedy, "_REFRESHED", size)
        chosen[size] = greedy.greedy_criticisms(lambda r, c: gram[np.ix_(r, c)], values, np.diag(gram).copy(), 20, free)
    for size in (1, 2, 13):
        np.testing.assert_array_equal(chosen[size], chosen[512])
    assert free[chosen[512]].all()


def test_lazy_evaluation_saves_work(monkeypatch):
    """Where the witness tells the rows apart, most of them are never looked at again."""
    rng = np.random.default_rng(0)
    gram = Gaussian(0.5)(rng.normal(size=(1000, 3)))
    looked = []

    def block(rows, columns):
        looked.append(len(rows) * len(columns))
        return gram[np.ix_(rows, columns)]

    monkeypatch.setattr(greedy, "_REFRESHED", 16)
    greedy.greedy_criticisms(block, 10.0 * rng.random(1000), np.ones(1000), 20, np.ones(1000, dtype=np.bool_))
    assert sum(looked) < 0.1 * 1000 * sum(range(20))


def test_neither_argument_is_written_to():
    gram = Gaussian(0.5)(np.random.default_rng(0).normal(size=(50, 2)))
    arrays = [gram.mean(axis=0), np.diag(gram).copy(), np.ones(50, dtype=np.bool_)]
    before = [each.copy() for each in arrays]
    greedy.greedy_prototypes(gram.__getitem__, arrays[0], arrays[1], 5)
    greedy.greedy_criticisms(lambda r, c: gram[np.ix_(r, c)], arrays[0], arrays[1], 5, arrays[2])
    for mine, kept in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(mine, kept)
