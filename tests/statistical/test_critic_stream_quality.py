"""How near the stream's prototypes and criticisms come to batch, and whether groups that prototypes pass over are found."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import critic_oracles as oracle
import stream_oracles
import supersample as ss
from supersample.kernels import Gaussian
from supersample.selection.greedy import greedy_criticisms

SIZE, CRITICS = 30, 10
DATA, _ = stream_oracles.mixture(3000, np.random.default_rng(7), width=4)


@pytest.fixture(scope="module")
def batch():
    kernel = Gaussian("median").resolve(DATA, random_state=0)
    gram = kernel(DATA)
    return kernel, gram, ss.critic(DATA, SIZE, CRITICS, kernel=kernel)


@pytest.mark.parametrize("order", range(3))
def test_the_stream_comes_near_batch(batch, order):
    """By the exact objectives, between random sets (0) and batch greedy (1): prototypes 0.97, criticisms 0.9."""
    kernel, gram, best = batch
    rng = np.random.default_rng(order)
    shuffled = rng.permutation(len(DATA))
    fitted = ss.SuperSampler(SIZE, CRITICS, kernel=kernel, regularizer="logdet", random_state=order).fit(DATA[shuffled])
    prototypes, criticisms = shuffled[fitted.prototype_indices_], shuffled[fitted.criticism_indices_]
    random = [rng.choice(len(DATA), size=SIZE, replace=False) for _ in range(100)]
    others = [rng.choice(len(DATA), size=CRITICS, replace=False) for _ in range(100)]
    here = oracle.score(lambda s: oracle.prototype_objective(gram, s), prototypes, best.prototypes.indices, random)
    assert here >= 0.97
    # The criticisms of batch prototypes and of the stream's own: for both, against greedy with all rows in sight.
    own = np.setdiff1d(np.arange(len(DATA)), prototypes)
    values = oracle.witness(gram, prototypes)
    free = np.isin(np.arange(len(DATA)), own)
    greedy = greedy_criticisms(lambda r, c: gram[np.ix_(r, c)], values, np.ones(len(DATA)), CRITICS, free)
    for target, witness in ((greedy, values), (best.criticisms.indices, oracle.witness(gram, best.prototypes.indices))):
        there = oracle.score(lambda s, w=witness: oracle.criticism_objective(gram, w, s), criticisms, target, others)
        assert there >= 0.9


N, GROUPS, RARE = 20_000, 10, 40


def with_rare_groups(order, rng):
    """Ten groups of 0.2% each, more than four bandwidths from everything else; returns rows, group (-1: none), bandwidth."""
    bulk, _ = stream_oracles.mixture(N - GROUPS * RARE, rng, width=3, parts=5)
    bandwidth = 1.5
    reach = np.linalg.norm(bulk, axis=1).max()
    centres = np.empty((0, 3))
    while len(centres) < GROUPS:
        centre = rng.normal(size=3)
        centre *= (reach + 8 * bandwidth) * rng.uniform(1.0, 2.0) / np.linalg.norm(centre)
        if len(centres) == 0 or cdist(centre[None], centres).min() > 8 * bandwidth:
            centres = np.vstack([centres, centre])
    group = np.repeat(np.arange(GROUPS), RARE)
    rare = centres[group] + 0.2 * rng.normal(size=(len(group), 3))
    data, group = np.concatenate([rare, bulk]), np.concatenate([group, np.full(len(bulk), -1)])
    first = rng.permutation(len(rare))
    rest = len(rare) + rng.permutation(len(bulk))
    places = {
        "early": np.concatenate([first, rest]),
        "late": np.concatenate([rest, first]),
        "spread": rng.permutation(N),
    }[order]
    return data[places], group[places], bandwidth


def groups_found(order, seed, regularizer):
    """How many of the groups hold a criticism, once it is sure that no prototype is spent on one."""
    data, group, bandwidth = with_rare_groups(order, np.random.default_rng(seed))
    for each in range(GROUPS):
        assert cdist(data[group == each], data[group != each]).min() > 4 * bandwidth
    fitted = ss.SuperSampler(20, 20, bandwidth=bandwidth, regularizer=regularizer, random_state=seed).fit(data)
    assert (group[fitted.prototype_indices_] == -1).all()
    mine = group[fitted.criticism_indices_]
    assert (fitted.criticism_witness_[mine >= 0] > 0).all()
    if regularizer is not None:
        np.testing.assert_allclose(fitted.criticism_witness_[mine >= 0], RARE / N, rtol=0.25)
    return len(set(mine) - {-1})


@pytest.mark.parametrize("order", ["early", "late", "spread"])
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("regularizer", [None, "logdet"])
def test_groups_that_prototypes_pass_over(order, seed, regularizer):
    assert groups_found(order, seed, regularizer) >= 9


@pytest.mark.level
@pytest.mark.parametrize("order", ["early", "late", "spread"])
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("regularizer", [None, "logdet"])
def test_groups_that_prototypes_pass_over_ten_seeds(order, seed, regularizer):
    assert groups_found(order, seed, regularizer) >= 9
