"""The random projection tree: its search, its lists and its balance, against a walk by hand."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import stream_oracles
from supersample._compiled import tree as compiled
from supersample._random import as_seed
from supersample.embedding.moments import scale_weights, squared_norms
from supersample.selection.stream.projection_tree import build
from supersample.selection.stream.reservoir import Reservoir
from supersample.selection.stream.rows import Rows


def lists(tree):
    """The points of each leaf as the lists have them."""
    members = []
    for slot in tree.first:
        mine = []
        while slot >= 0:
            mine.append(int(slot))
            slot = tree.following[slot]
            assert len(mine) <= len(tree.following), "a list that does not end"
        members.append(mine)
    return members


def check_consistent(tree, features):
    members = lists(tree)
    assert sorted(slot for mine in members for slot in mine) == list(range(len(features)))
    for number, mine in enumerate(members):
        for slot in mine:
            assert tree.leaves[slot] == number
            assert compiled.leaf_of(features[slot], tree.directions, tree.splits) == number


def offered(rows, features, pull, threshold, tree):
    """Run the compiled loop on copies that `tree` and `features` stand for; returns swaps and counts of comparisons."""
    row_norms, norms = (squared_norms(each).astype(np.float32) for each in (rows, features))
    who, where = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    histogram = np.zeros(256, np.int64)
    count = compiled.offer(
        rows, row_norms, features, norms, pull, threshold, tree.directions, tree.splits, tree.leaves, tree.first,
        tree.following, who, where, histogram,
    )  # fmt: skip
    np.testing.assert_array_equal(norms, squared_norms(features).astype(np.float32))
    return list(zip(who[:count].tolist(), where[:count].tolist(), strict=True)), histogram


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 300), st.integers(0, 2**31))
def test_a_new_tree_holds_each_point_once_and_where_a_walk_leads(m, seed):
    features = np.random.default_rng(seed).normal(size=(m, 6)).astype(np.float32)
    tree = build(features, as_seed(seed))
    check_consistent(tree, features)
    np.testing.assert_allclose(np.linalg.norm(tree.directions, axis=1), 1.0, rtol=1e-5)
    by_hand = [stream_oracles.leaf(each, tree.directions, tree.splits) for each in features]
    # float32 and float64 may disagree on a point that lies on a split: one for each inner node at most.
    assert (tree.leaves != by_hand).sum() <= tree.splits.size


def test_leaves_have_about_two_log_m_points():
    for m in (100, 1000, 4000):
        features = np.random.default_rng(m).normal(size=(m, 5)).astype(np.float32)
        sizes = np.array([len(mine) for mine in lists(build(features, as_seed(0)))])
        assert 0.6 < sizes.mean() / (2 * np.log2(m)) < 1.6
        # Each split leaves a quarter at least on either side.
        assert sizes.min() >= np.floor(m * 0.25 ** np.log2(sizes.size)) - 1


def test_a_tree_with_one_leaf_is_the_exact_search():
    swapped = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        rows, held = (rng.integers(-2, 3, size=(n, 3)).astype(np.float32) for n in (40, 4))
        mean = rng.integers(-2, 3, size=3) / 4
        tree = build(held, as_seed(seed))
        assert tree.first.size == 1
        pull = (held.sum(axis=0) - 4 * mean).astype(np.float32)
        expected, kept = stream_oracles.offer(rows, held, mean, 0.5)
        features = held.copy()
        got, histogram = offered(rows, features, pull, 0.5, tree)
        # The list is not in the order of slots, so of equal gains another may be taken: then compare what it gained.
        best, taken = stream_oracles.regrets(rows, held, mean, got)
        np.testing.assert_allclose(taken, np.where(best > 0.5, best, 0.0), atol=1e-9)
        np.testing.assert_allclose(pull, features.sum(axis=0) - 4 * mean, atol=1e-5)
        if len(np.unique(held, axis=0)) == 4 and len(expected) == 1:
            np.testing.assert_array_equal(np.sort(features, axis=0), np.sort(kept, axis=0))
        assert histogram[4] == histogram.sum() == 40
        swapped += len(got)
    assert swapped > 30


def test_only_the_leaf_of_the_row_is_searched():
    rng = np.random.default_rng(3)
    held = rng.normal(size=(200, 8)).astype(np.float32)
    tree = build(held, as_seed(1))
    assert tree.first.size > 4
    for _ in range(30):
        x, pull = (rng.normal(size=8).astype(np.float32) for _ in range(2))
        target = stream_oracles.leaf(x, tree.directions, tree.splits)
        members = np.flatnonzero(tree.leaves == target)
        fresh = build(held, as_seed(1))
        gain = 2 * (held @ pull - x @ pull) - ((x - held) ** 2).sum(axis=1)
        got, histogram = offered(x[None], held.copy(), pull.copy(), 0.0, fresh)
        assert histogram[members.size] == 1
        best = members[np.argmax(gain[members])] if members.size else -1
        assert got == ([(0, best)] if members.size and gain[best] > 0 else [])


@settings(max_examples=25, deadline=None)
@given(st.integers(8, 150), st.integers(0, 2**31))
def test_lists_stay_consistent_through_many_swaps_and_a_rebuild(m, seed):
    rng = np.random.default_rng(seed)
    features, rows = (rng.normal(size=(n, 5)).astype(np.float32) for n in (m, 600))
    tree = build(features, as_seed(seed))
    got, histogram = offered(rows, features, (4 * rng.normal(size=5)).astype(np.float32), 0.0, tree)
    assert histogram.sum() == 600
    check_consistent(tree, features)
    again = build(features, as_seed(seed), tree.builds)
    check_consistent(again, features)
    # New directions, so that an unlucky draw does not stay (with one leaf there are none).
    assert again.directions.size == 0 or not np.array_equal(again.directions, tree.directions)
    assert (again.swaps, again.builds) == (0, tree.builds + 1)
    for slot, row in {slot: row for row, slot in got}.items():
        np.testing.assert_array_equal(features[slot], rows[row])


def test_a_tree_splits_between_the_quartiles():
    features = np.random.default_rng(0).normal(size=(100, 5)).astype(np.float32) + np.float32(10.0)
    tree = build(features, as_seed(0))
    below = np.mean(features @ tree.directions[0] < tree.splits[0])
    assert 0.24 <= below <= 0.76


def test_the_reservoir_rebalances_after_as_many_swaps_as_points():
    rng = np.random.default_rng(1)
    size, width = 64, 6
    reservoir = Reservoir.empty(size, 2, width)
    features = rng.normal(size=(4000, width)).astype(np.float32)
    rows = Rows(rng.normal(size=(4000, 2)), np.arange(4000), *scale_weights(np.ones(4000)))
    reservoir.fill(rows, features)
    rebalanced = 0
    for start in range(size, 4000, 100):
        part = slice(start, min(start + 100, 4000))
        before = reservoir.tree.splits.copy() if reservoir.tree is not None else None
        earlier = reservoir.tree.swaps if reservoir.tree is not None else 0
        norms = squared_norms(features[part]).astype(np.float32)
        # A target that wanders keeps the swaps coming.
        mean = rng.normal(size=width)
        reservoir.offer(rows.take(part), features[part], norms, mean, start, use_tree=True, seed=as_seed(4))
        check_consistent(reservoir.tree, reservoir.features)
        if before is not None:
            assert np.array_equal(before, reservoir.tree.splits) == (earlier < size)
            rebalanced += earlier >= size
    assert rebalanced > 1
    assert reservoir.histogram.sum() == 4000 - size
    np.testing.assert_array_equal(reservoir.features, features[reservoir.rows.positions])


def test_a_copy_of_a_reservoir_shares_no_list_with_it():
    rng = np.random.default_rng(1)
    features = rng.normal(size=(300, 6)).astype(np.float32)
    rows = Rows(rng.normal(size=(300, 2)), np.arange(300), *scale_weights(np.ones(300)))
    reservoir = Reservoir.empty(40, 2, 6)
    norms = squared_norms(features).astype(np.float32)
    reservoir.fill(rows, features)
    reservoir.offer(rows, features, norms, np.ones(6), 300, use_tree=True, seed=as_seed(0))
    before = stream_oracles.to_bytes(reservoir)
    copied = reservoir.copy()
    copied.offer(rows, features, norms, -np.ones(6), 300, use_tree=True, seed=as_seed(0))
    assert (copied.tree.leaves != reservoir.tree.leaves).any()
    assert (copied.tree.following != reservoir.tree.following).any()
    assert stream_oracles.to_bytes(reservoir) == before
