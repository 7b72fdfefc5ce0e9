"""Choices among many wide candidates, in float32 and with columns ahead of time, are those of exact columns one by one."""

import numpy as np
import pytest

import herding_oracles as oracles
import supersample as ss
from supersample.kernels import Cauchy, Gaussian
from supersample.kernels.singles import SingleGram
from supersample.selection import pool
from supersample.selection.batch import candidates, foresight

RNG = np.random.default_rng(5)
ROWS = RNG.normal(size=(400, 20)) + 2.0 * RNG.normal(size=(8, 20)).repeat(50, axis=0)
#: Copies far apart in the pool: of those that tie, the first is to be chosen, whatever rounding says.
TIED = np.tile(RNG.normal(size=(80, 20)), (5, 1))
KERNEL = Gaussian(6.0)
SETTINGS = {
    "itself": (ROWS, None, KERNEL),
    "ties": (TIED, None, Gaussian(4.0)),
    "other rows": (ROWS, RNG.normal(size=(300, 20)), KERNEL),
    "weighted": (ROWS, ss.measures.Empirical(ROWS[:90], np.arange(1.0, 91.0)), KERNEL),
    "cauchy": (ROWS, None, Cauchy(6.0)),
}
settings = pytest.mark.parametrize("name", SETTINGS)
METHODS = {
    "herd": ss.herd,
    "herd, with replacement": lambda rows, m, **given: ss.herd(rows, m, replace=True, **given),
    "sbq": ss.sbq,
    "wkh": ss.wkh,
    **{
        variant: lambda rows, m, variant=variant, **given: ss.frank_wolfe(rows, m, variant=variant, **given)
        for variant in ("fixed", "line-search", "pairwise", "fully-corrective")
    },
}
methods = pytest.mark.parametrize("method", METHODS)


@pytest.fixture
def wide(monkeypatch):
    """Treat small pools as large ones."""
    monkeypatch.setattr(candidates, "LARGE", 0)
    monkeypatch.setattr(pool, "_MOST_EXACT", 0)


@settings
@methods
def test_the_choices_are_those_of_exact_columns(name, method, request):
    rows, target, kernel = SETTINGS[name]
    slow = METHODS[method](rows, 40, target=target, kernel=kernel, random_state=0)
    request.getfixturevalue("wide")
    fast = METHODS[method](rows, 40, target=target, kernel=kernel, random_state=0)
    np.testing.assert_array_equal(fast.indices, slow.indices)
    np.testing.assert_allclose(fast.weights, slow.weights, atol=1e-6)
    np.testing.assert_allclose(fast.mmd**2, slow.mmd**2, rtol=0, atol=5e-8)  # z of k(x, x) = 1 in float32


@methods
def test_errors_of_the_target_within_their_bound_change_no_choice(method, wide, monkeypatch):
    rows, _, kernel = SETTINGS["ties"]
    without = METHODS[method](rows, 30, kernel=kernel, random_state=0).indices
    embed_all, noise = SingleGram.embed_all, np.random.default_rng(1).uniform(-1.0, 1.0, len(rows))
    monkeypatch.setattr(SingleGram, "embed_all", lambda self, weights: embed_all(self, weights) + 1e-7 * noise)
    np.testing.assert_array_equal(METHODS[method](rows, 30, kernel=kernel, random_state=0).indices, without)


def test_each_choice_of_herding_is_the_best_of_the_pool(wide):
    gram = KERNEL(ROWS)
    z, energy = gram.mean(axis=0), gram.mean()
    found = ss.herd(ROWS, 12, kernel=KERNEL)
    chosen = []
    for index in found.indices:
        values = [np.inf if j in chosen else oracles.uniform_mmd2(gram, z, energy, [*chosen, j]) for j in range(len(ROWS))]
        assert index == min(oracles.sharpest(values))
        chosen.append(int(index))


@pytest.mark.parametrize("by_features", [False, True])
def test_what_is_foretold_decides_nothing(by_features, wide, monkeypatch):
    given = {"features": ss.features.Fourier(KERNEL, 64, random_state=0)} if by_features else {"kernel": KERNEL}
    right = ss.herd(ROWS, 60, random_state=0, **given)
    asked = []

    def wrongly(self, index, sums, n, taken, count):
        asked.append(index)
        return list(dict.fromkeys([index, *range(n % 7, n % 7 + count - 1)]))

    monkeypatch.setattr(foresight.Foresight, "_foretold", wrongly)
    found = ss.herd(ROWS, 60, random_state=0, **given)
    assert len(asked) > 20
    np.testing.assert_array_equal(found.indices, right.indices)


def test_most_choices_are_foretold(wide, monkeypatch):
    asked, foretold = [], foresight.Foresight._foretold
    monkeypatch.setattr(
        foresight.Foresight, "_foretold", lambda self, index, *rest: asked.append(index) or foretold(self, index, *rest)
    )
    ss.herd(ROWS, 96, kernel=KERNEL)
    assert len(asked) < 20  # 6 if all were foretold


def test_critic_chooses_the_same_rows(request):
    rows, given = ROWS, {"kernel": KERNEL, "random_state": 0}
    slow = [ss.critic(rows, 30, 5, method=method, **given) for method in ("exact", "features")]
    request.getfixturevalue("wide")
    request.getfixturevalue("monkeypatch").setattr("supersample.selection.critic.batch.LARGE", 0)
    fast = [ss.critic(rows, 30, 5, method=method, **given) for method in ("exact", "features")]
    for one, other in zip(fast, slow, strict=True):
        np.testing.assert_array_equal(one.prototypes.indices, other.prototypes.indices)
        np.testing.assert_array_equal(one.criticisms.indices, other.criticisms.indices)
        np.testing.assert_allclose(one.witness, other.witness, atol=1e-7)


@pytest.mark.parametrize("kernel", [Gaussian(3.0), Cauchy(3.0)])
def test_sums_over_all_points_are_those_of_exact_values(kernel):
    rows = np.random.default_rng(2).normal(size=(1_500, 40))
    weights = np.random.default_rng(3).random(1_500)
    gram = SingleGram(kernel, rows)
    assert gram.is_rounded
    found = gram.embed_all(weights)
    np.testing.assert_allclose(found, kernel(rows) @ weights, rtol=2e-6)
