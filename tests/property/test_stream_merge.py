"""Merging two SuperSamplers: what adds up, what is refused, and what may follow."""

import pickle

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

import stream_oracles
import supersample as ss
from supersample.errors import InputError, InputTypeError, MismatchError
from supersample.selection.stream import polish
from supersample.selection.stream.lifecycle import drain

DATA, _ = stream_oracles.mixture(14_000, np.random.default_rng(0), width=2)
WEIGHTS = np.random.default_rng(1).exponential(size=len(DATA)) + 0.01


@pytest.fixture(autouse=True)
def short_second_look(monkeypatch):
    monkeypatch.setattr(polish, "_KICKS", 1)


def halves(cut=7000, n=14_000, search="exact", weighted=False, n_prototypes=20, first_batch=None):
    weight = WEIGHTS if weighted else np.ones(len(DATA))
    left = ss.SuperSampler(n_prototypes, search=search, n_features=96, random_state=3)
    left.partial_fit(DATA[:cut], sample_weight=weight[:cut])
    right = left.empty_like().partial_fit(DATA[cut:n], sample_weight=weight[cut:n])
    return left, right


def bytes_of(*samplers):
    return [stream_oracles.to_bytes(each._now.state) for each in samplers]


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(1, 9000), st.integers(1, 4999), st.sampled_from(["exact", "tree"]), st.booleans())
def test_what_a_merge_adds_up_to(cut, more, search, weighted):
    n = cut + more
    left, right = halves(cut, n, search, weighted)
    before = bytes_of(left, right)
    merged = left.merge(right)
    assert bytes_of(left, right) == before
    assert merged.n_seen_ == n
    weights = WEIGHTS[:n] if weighted else np.ones(n)
    for name, phi in (("moments", merged.feature_map_), ("held_out", merged._now.selected.plan.held_out)):
        sums = getattr(merged._now.state, name)
        expected = np.average(phi.transform(DATA[:n]).astype(np.float64), axis=0, weights=weights)
        np.testing.assert_allclose(sums.mean(), expected, rtol=0, atol=1e-12)
        assert sums.total_weight == pytest.approx(weights.sum(), rel=1e-12)
    indices = merged.prototype_indices_
    assert len(indices) == min(20, n)
    assert (np.diff(indices) > 0).all()
    np.testing.assert_array_equal(merged.prototypes_, DATA[indices])
    kept = drain(merged._now.state)
    for rows in (kept.background.rows, kept.reservoir.rows):
        np.testing.assert_array_equal(rows.points, DATA[rows.positions])
        assert len(set(rows.positions.tolist())) == len(rows)
    np.testing.assert_array_equal(kept.reservoir.features, merged.feature_map_.transform(kept.reservoir.rows.points))
    assert len(kept.background.rows) == min(5000, n)


def test_rows_of_either_half_are_kept():
    indices = np.concatenate([left.merge(right).prototype_indices_ for left, right in [halves(), halves(search="tree")]])
    assert 0.25 < np.mean(indices < 7000) < 0.75


def test_the_weights_of_the_halves_decide_between_them():
    left = ss.SuperSampler(20, random_state=3).fit(DATA[:7000])
    right = left.empty_like().partial_fit(DATA[7000:] + 100.0, sample_weight=np.full(7000, 1 / 9))
    assert np.sum(left.merge(right).prototype_indices_ < 7000) == 18
    assert np.sum(right.merge(left).prototype_indices_ < 7000) == 2


def test_an_empty_part_changes_nothing():
    left, _ = halves()
    empty = left.empty_like()
    for merged in (left.merge(empty), empty.merge(left)):
        assert merged.n_seen_ == 7000
        np.testing.assert_array_equal(merged.prototypes_, left.prototypes_)
        np.testing.assert_array_equal(merged.prototype_indices_, left.prototype_indices_)
        np.testing.assert_allclose(merged._now.state.moments.mean(), drain(left._now.state).moments.mean(), rtol=0, atol=1e-15)
        assert merged.mmd_ == pytest.approx(left.mmd_, rel=1e-9)
    assert empty.n_seen_ == 0


def test_two_empty_parts_stay_empty():
    left, _ = halves()
    merged = left.empty_like(1).merge(left.empty_like(2))
    assert merged.n_seen_ == 0
    with pytest.raises(InputError, match="partial_fit"):
        _ = merged.prototypes_
    np.testing.assert_array_equal(merged.partial_fit(DATA[:5]).prototypes_, DATA[:5])


def test_few_rows_on_both_sides_are_all_kept():
    left = ss.SuperSampler(20, random_state=3).fit(DATA[:7])
    merged = left.merge(left.empty_like().partial_fit(DATA[7:12]))
    np.testing.assert_array_equal(merged.prototype_indices_, np.arange(12))
    np.testing.assert_array_equal(merged.prototypes_, DATA[:12])
    assert merged.mmd_ < 1e-6


def test_rows_of_no_weight_count_on_both_sides():
    left = ss.SuperSampler(5, random_state=3).fit(DATA[:50], sample_weight=np.arange(50) % 2)
    right = left.empty_like().partial_fit(DATA[50:80], sample_weight=np.arange(30) % 3 == 0)
    merged = left.merge(right)
    assert merged.n_seen_ == 80
    np.testing.assert_array_equal(merged.prototypes_, DATA[merged.prototype_indices_])
    nothing = left.empty_like(2).partial_fit(DATA[:10], sample_weight=np.zeros(10))
    after, before = left.merge(nothing), nothing.merge(left)
    assert after.n_seen_ == before.n_seen_ == 60
    np.testing.assert_array_equal(before.prototype_indices_, left.prototype_indices_ + 10)
    np.testing.assert_array_equal(after.prototype_indices_, left.prototype_indices_)


@pytest.mark.parametrize("search", ["exact", "tree"])
def test_a_merged_sampler_can_go_on(search):
    left, right = halves(6000, 10_000, search)
    merged = left.merge(right)
    merged = pickle.loads(pickle.dumps(merged))
    before = bytes_of(left, right)
    for start in range(10_000, 14_000, 1500):
        merged.partial_fit(DATA[start : start + 1500])
    assert bytes_of(left, right) == before
    assert merged.n_seen_ == 14_000
    np.testing.assert_array_equal(merged.prototypes_, DATA[merged.prototype_indices_])
    expected = merged.feature_map_.transform(DATA).mean(axis=0, dtype=np.float64)
    np.testing.assert_allclose(drain(merged._now.state).moments.mean(), expected, rtol=0, atol=1e-12)
    assert merged.mmd_ < 0.2 * merged.random_mmd_
    assert (merged._now.selected.background.rows.positions >= 10_000).mean() == pytest.approx(4 / 14, abs=0.05)


def test_many_parts_merge_in_any_grouping():
    first = ss.SuperSampler(20, random_state=3).fit(DATA[:6000])
    parts = [first, *(first.empty_like(i).partial_fit(DATA[6000 + 2000 * (i - 1) :][:2000]) for i in range(1, 5))]
    line = parts[0].merge(parts[1]).merge(parts[2]).merge(parts[3]).merge(parts[4])
    tree = parts[0].merge(parts[1]).merge(parts[2].merge(parts[3]).merge(parts[4]))
    for merged in (line, tree):
        np.testing.assert_array_equal(merged.prototypes_, DATA[merged.prototype_indices_])
        assert merged.n_seen_ == 14_000
        assert merged.mmd_ < 0.2 * merged.random_mmd_
    np.testing.assert_allclose(line._now.state.moments.mean(), tree._now.state.moments.mean(), rtol=0, atol=1e-14)
    backgrounds = [set(merged._now.selected.background.rows.positions.tolist()) for merged in (line, tree)]
    assert backgrounds[0] == backgrounds[1]


def test_parts_draw_their_own_random_numbers():
    left, _ = halves()
    backgrounds = [
        set(left.empty_like(index).partial_fit(DATA)._now.selected.background.rows.positions.tolist()) for index in (1, 2)
    ]
    # Two independent samples of 5,000 of 14,000 share 1,786 rows, give or take 27.
    assert len(backgrounds[0] & backgrounds[1]) < 2100


def test_float32_stays_float32_only_on_both_sides():
    left = ss.SuperSampler(5, random_state=3).fit(DATA[:100].astype(np.float32))
    single, double = (left.empty_like().partial_fit(DATA[100:200].astype(dtype)) for dtype in (np.float32, np.float64))
    assert left.merge(single).prototypes_.dtype == np.float32
    assert left.merge(double).prototypes_.dtype == np.float64
    assert left.merge(left.empty_like()).prototypes_.dtype == np.float32


def test_strangers_are_refused_and_told_of_empty_like():
    left, _ = halves()
    for other in (
        ss.SuperSampler(20, random_state=4, n_features=96).fit(DATA[7000:]),
        ss.SuperSampler(20, random_state=3, n_features=96).fit(DATA[7000:]),
        ss.SuperSampler(20, random_state=3, n_features=96, bandwidth=1.0).fit(DATA[:7000]),
    ):
        before = bytes_of(left, other)
        with pytest.raises(MismatchError, match=r"empty_like\(\)"):
            left.merge(other)
        assert bytes_of(left, other) == before


def test_other_sizes_and_widths_are_refused():
    left, _ = halves()
    with pytest.raises(MismatchError, match="n_prototypes 20 and 21"):
        left.merge(ss.SuperSampler(21, n_features=96, random_state=3).fit(DATA[:7000]))
    with pytest.raises(MismatchError, match="2 and 3 columns"):
        left.merge(ss.SuperSampler(20, n_features=96, random_state=3).fit(np.ones((5, 3))))
    with pytest.raises(InputTypeError, match="other must be a SuperSampler, got ndarray"):
        left.merge(DATA)
    with pytest.raises(NotFittedError):
        left.merge(ss.SuperSampler(20))
    with pytest.raises(NotFittedError):
        ss.SuperSampler(20).merge(left)


@pytest.mark.parametrize("index", [-1, 1.5, "a", True])
def test_a_bad_stream_index_is_refused(index):
    left, _ = halves(50, 60)
    with pytest.raises((InputError, InputTypeError), match="stream_index"):
        left.empty_like(index)


def test_an_empty_part_of_nothing_is_refused():
    with pytest.raises(NotFittedError):
        ss.SuperSampler(20).empty_like()
    with pytest.raises(InputError, match="positive weight"):
        ss.SuperSampler(20).partial_fit(DATA[:5], sample_weight=np.zeros(5)).empty_like()


def test_an_empty_part_taken_during_the_warm_up_can_be_merged():
    rng = np.random.default_rng(0)
    first = ss.SuperSampler(10, random_state=0).partial_fit(rng.normal(size=(1000, 2)))
    second = first.empty_like()
    first.partial_fit(rng.normal(size=(7000, 2)))
    second.partial_fit(rng.normal(size=(500, 2)))
    assert first.merge(second).n_seen_ == 8500


def test_settings_must_agree_even_if_one_side_has_nothing_to_merge():
    rng = np.random.default_rng(0)
    first = ss.SuperSampler(10, random_state=0).partial_fit(rng.normal(size=(200, 2)))
    other = ss.SuperSampler(99, random_state=0).partial_fit(rng.normal(size=(5, 2)), sample_weight=np.zeros(5))
    with pytest.raises(MismatchError, match="n_prototypes 10 and 99"):
        first.merge(other)
