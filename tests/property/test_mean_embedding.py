"""MeanEmbedding: the cut into batches leaves no trace, and merging is exact, commutative and associative."""

import functools
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import supersample as ss

MAP = ss.features.Fourier(ss.kernels.Gaussian(1.0), 10, random_state=0)
WIDE_MAP = ss.features.Fastfood(ss.kernels.Cauchy(2.0), 33, random_state=1)
NYSTROEM = ss.features.Nystroem(ss.kernels.Matern(0.5, 1.0), np.random.default_rng(9).normal(size=(20, 3)))
N = 1300


def data(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(N, 3))
    weights = rng.lognormal(0.0, 3.0, size=N)
    weights[rng.random(N) < 0.1] = 0.0
    return x, weights


def bytes_of(embedding):
    state = embedding.state
    return tuple(array.tobytes() for array in (state.totals, state.errors, state.partials, state.counts))


cuts = st.lists(st.integers(0, N), max_size=8).map(lambda inner: [0, *sorted(inner), N])


@settings(max_examples=40, deadline=None)
@given(cuts=cuts, seed=st.integers(0, 5), how=st.sampled_from(["none", "weight", "log_weight"]), wide=st.integers(0, 2))
def test_batches_leave_no_trace(cuts, seed, how, wide):
    x, weights = data(seed)
    with np.errstate(divide="ignore"):
        given_weights = {"none": None, "weight": weights, "log_weight": np.log(weights)}[how]
    feature_map = (MAP, WIDE_MAP, NYSTROEM)[wide]

    def run(bounds):
        embedding = ss.MeanEmbedding(feature_map)
        for start, stop in itertools.pairwise(bounds):
            if start < stop:
                extra = {} if given_weights is None else {how: given_weights[start:stop]}
                embedding.update(x[start:stop], **extra)
        return embedding

    assert bytes_of(run(cuts)) == bytes_of(run([0, N]))


@settings(max_examples=40, deadline=None)
@given(cuts=cuts, seed=st.integers(0, 5), weighted=st.booleans(), data_=st.data())
def test_merging_any_split_in_any_order_gives_the_same_moments(cuts, seed, weighted, data_):
    x, weights = data(seed)
    whole = ss.MeanEmbedding(MAP).update(x, weights if weighted else None)
    parts = [ss.MeanEmbedding(MAP) for _ in range(len(cuts) - 1)]
    for part, start, stop in zip(parts, cuts, cuts[1:], strict=False):
        if start < stop:
            part.update(x[start:stop], weights[start:stop] if weighted else None)
    order = data_.draw(st.permutations(parts))
    merged = functools.reduce(lambda left, right: left.merge(right), order)
    assert merged.n_seen == N
    np.testing.assert_allclose(merged.mean, whole.mean, rtol=0, atol=1e-12 * np.abs(whole.mean).max())
    assert merged.total_weight == pytest.approx(whole.total_weight, rel=1e-14)
    assert merged.state.effective_rows == pytest.approx(whole.state.effective_rows, rel=1e-12)
    assert merged.state.off_diagonal() == pytest.approx(whole.state.off_diagonal(), rel=1e-10)


@settings(max_examples=40, deadline=None)
@given(
    cut=st.integers(0, N),
    scale=st.sampled_from([0, -1200, 5000]),
    other_map=st.sampled_from([MAP, WIDE_MAP]),
)
def test_merging_commutes_to_the_bit_and_changes_nothing(cut, scale, other_map):
    x, _ = data(0)
    left, right = ss.MeanEmbedding(other_map), ss.MeanEmbedding(other_map)
    if cut:
        left.update(x[:cut])
    if cut < N:
        right.update(x[cut:], log_weight=np.full(N - cut, float(scale)))
    before = bytes_of(left), bytes_of(right)
    assert bytes_of(left.merge(right)) == bytes_of(right.merge(left))
    assert (bytes_of(left), bytes_of(right)) == before


def test_a_merged_embedding_shares_no_memory_with_its_parents():
    x, _ = data(1)
    left, right = ss.MeanEmbedding(MAP).update(x), ss.MeanEmbedding(MAP)
    before = bytes_of(left)
    merged = left.merge(right)
    merged.update(x[:100])
    assert bytes_of(left) == before
    assert right.n_seen == 0
    assert merged.n_seen == N + 100


@settings(max_examples=30, deadline=None)
@given(power=st.integers(-900, 900))
def test_weights_scaled_by_a_power_of_two_change_nothing(power):
    x, weights = data(2)
    plain, scaled = ss.MeanEmbedding(MAP).update(x, weights), ss.MeanEmbedding(MAP).update(x, np.ldexp(weights, power))
    assert plain.mean.tobytes() == scaled.mean.tobytes()
    assert plain.state.effective_rows == scaled.state.effective_rows
    assert scaled.total_weight == np.ldexp(plain.total_weight, power)


def test_equal_weights_are_no_weights():
    x, _ = data(3)
    assert bytes_of(ss.MeanEmbedding(MAP).update(x)) == bytes_of(ss.MeanEmbedding(MAP).update(x, np.ones(N)))


@settings(max_examples=20, deadline=None)
@given(position=st.integers(0, N - 1))
def test_rows_of_weight_zero_count_and_change_nothing_else(position):
    x, weights = data(4)
    without = ss.MeanEmbedding(MAP).update(x, weights)
    padded, padded_weights = np.insert(x, position, 1e3, axis=0), np.insert(weights, position, 0.0)
    with_it = ss.MeanEmbedding(MAP).update(padded, padded_weights)
    assert with_it.n_seen == N + 1
    assert bytes_of(with_it)[:3] == bytes_of(without)[:3]
    assert with_it.state.counts[1:].tolist() == without.state.counts[1:].tolist()


@pytest.mark.parametrize("centre", [-1e6, -5000, -700, -50, 0, 50, 700, 5000, 1e6])
def test_log_weights_of_any_scale_equal_their_ratios(centre):
    x, _ = data(5)
    logs = np.random.default_rng(5).normal(0.0, 3.0, size=N)
    expected = ss.MeanEmbedding(MAP).update(x, np.exp(logs))
    got = ss.MeanEmbedding(MAP).update(x, log_weight=centre + logs)
    tolerance = 1e-12 + abs(centre) * 1e-15
    np.testing.assert_allclose(got.mean, expected.mean, rtol=0, atol=tolerance)
    assert got.state.effective_rows == pytest.approx(expected.state.effective_rows, rel=10 * tolerance)
    assert np.isfinite(got.mmd2(expected, estimator="unbiased"))


def test_log_weights_from_one_end_to_the_other():
    """Rows at -700 count for nothing beside rows at 700; minus infinity is a weight of zero."""
    x, _ = data(6)
    logs = np.repeat([-700.0, 700.0], N // 2)
    heavy = ss.MeanEmbedding(MAP).update(x[N // 2 :])
    for order in (slice(None), slice(None, None, -1)):
        got = ss.MeanEmbedding(MAP).update(x[order], log_weight=logs[order])
        np.testing.assert_allclose(got.mean, heavy.mean, rtol=0, atol=1e-14)
    logs[: N // 2] = -np.inf
    np.testing.assert_allclose(ss.MeanEmbedding(MAP).update(x, log_weight=logs).mean, heavy.mean, rtol=0, atol=1e-14)


def test_log_weights_equal_weights_where_both_exist():
    x, _ = data(7)
    logs = np.linspace(-700.0, 700.0, N)
    left, right = ss.MeanEmbedding(MAP).update(x, np.exp(logs)), ss.MeanEmbedding(MAP).update(x, log_weight=logs)
    np.testing.assert_allclose(left.mean, right.mean, rtol=0, atol=1e-11)
    assert right.total_weight == pytest.approx(left.total_weight, rel=1e-11)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 100), m=st.integers(2, 60), n=st.integers(2, 60))
def test_mmd2_is_a_squared_distance(seed, m, n):
    rng = np.random.default_rng(seed)
    left, right = ss.MeanEmbedding(MAP).update(rng.normal(size=(m, 2))), ss.MeanEmbedding(MAP).update(rng.normal(size=(n, 2)))
    assert left.mmd2(left) == 0.0
    assert left.mmd2(right) == right.mmd2(left) >= 0.0
    assert left.mmd2(right) == pytest.approx(left.norm2() + right.norm2() - 2 * left.dot(right), abs=1e-14)
    assert left.mmd2(right, estimator="unbiased") == pytest.approx(right.mmd2(left, estimator="unbiased"), abs=1e-15)
    assert left.mmd2(right, estimator="unbiased") < left.mmd2(right)
