"""Criticisms on a stream: what must not matter to them, what they must be, and rows that say little."""

import copy
import pickle
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import critic_oracles as oracle
import stream_oracles
import supersample as ss
from supersample.selection.stream import polish, second_look
from supersample.selection.stream.lifecycle import drain
from supersample.selection.stream.plan import CHUNK, WARM_UP

N = 9000
DATA, _ = stream_oracles.mixture(N, np.random.default_rng(0), width=3)
DATA[::50] = DATA[0]  # one row 180 times over
WEIGHTS = np.random.default_rng(1).lognormal(sigma=2.0, size=N)
WEIGHTS[np.random.default_rng(2).random(N) < 0.1] = 0.0

few = settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(autouse=True)
def short_second_look(monkeypatch):
    """Nothing here is about quality: a few kicks are as good as many."""
    monkeypatch.setattr(polish, "_KICKS", 1)


def sampler(n_criticisms=8, n_prototypes=20, **options):
    return ss.SuperSampler(
        n_prototypes, n_criticisms, **{"n_features": 96, "random_state": 3, "regularizer": "logdet", **options}
    )


def read(fitted):
    """Everything that is said of criticisms, as bytes."""
    names = ("criticisms_", "criticism_indices_", "criticism_witness_", "criticism_nearest_", "criticism_share_")
    return stream_oracles.to_bytes([getattr(fitted, name) for name in ("prototype_indices_", *names)])


@cache
def whole(weighted, search, n=N):
    fitted = sampler(search=search).fit(DATA[:n], sample_weight=WEIGHTS[:n] if weighted else None)
    return stream_oracles.to_bytes(fitted._now.state), read(fitted)


def in_pieces(weighted, search, cuts, looks=()):
    fitted = sampler(search=search)
    for number, (start, stop) in enumerate(pairwise(cuts)):
        weight = WEIGHTS[start:stop] if weighted else None
        fitted = pickle.loads(pickle.dumps(fitted.partial_fit(DATA[start:stop], sample_weight=weight)))
        if number in looks:
            read(fitted)
    return fitted


def check(fitted, data, *, used=None, most=8):
    """What holds of criticisms whatever was seen."""
    points, indices = fitted.criticisms_, fitted.criticism_indices_
    witness, nearest, share = fitted.criticism_witness_, fitted.criticism_nearest_, fitted.criticism_share_
    assert len(points) == len(indices) == len(witness) == len(nearest) == len(share) <= most
    np.testing.assert_array_equal(points, data[indices])
    assert set(indices).isdisjoint(fitted.prototype_indices_)
    assert len(np.unique(points, axis=0)) == len(points)
    assert (np.diff(np.abs(witness)) <= 0).all()
    assert (share >= 0).all()
    assert (share <= 1).all()
    assert used is None or used[indices].all()
    if len(points):
        kernel = fitted.kernel_
        away = kernel.diagonal(fitted.prototypes_) - 2.0 * kernel(points, fitted.prototypes_)
        np.testing.assert_allclose(away[np.arange(len(points)), nearest], away.min(axis=1), rtol=1e-12)
    # What the state holds obeys the same.
    held = drain(fitted._now.state).criticisms
    np.testing.assert_array_equal(held.rows.points, data[held.rows.positions])
    np.testing.assert_allclose(held.gram, fitted.kernel_(held.rows.points) if len(held.rows) else np.empty((0, 0)), rtol=1e-12)
    assert len(np.unique(held.rows.points, axis=0)) == len(held.rows) <= most
    assert set(held.rows.positions).isdisjoint(drain(fitted._now.state).reservoir.rows.positions)


@few
@given(
    st.booleans(),
    st.sampled_from(["exact", "tree"]),
    st.lists(st.integers(1, N - 1), max_size=6, unique=True).map(sorted),
    st.sets(st.integers(0, 6), max_size=2),
)
def test_neither_batches_nor_storage_nor_reading_leave_a_trace(weighted, search, cuts, looks):
    fitted = in_pieces(weighted, search, [0, *cuts, N], looks)
    assert (stream_oracles.to_bytes(fitted._now.state), read(fitted)) == whole(weighted, search)


@pytest.mark.parametrize("weighted", [False, True])
def test_batches_that_end_where_chunks_do(weighted):
    edges = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, WARM_UP - 1, WARM_UP, WARM_UP + 1, 2 * CHUNK, N - 1, N]
    fitted = in_pieces(weighted, "exact", edges, looks={3, 6})
    assert (stream_oracles.to_bytes(fitted._now.state), read(fitted)) == whole(weighted, "exact")


def test_rows_one_by_one():
    fitted = in_pieces(True, "exact", list(range(61)), looks={30})
    assert (stream_oracles.to_bytes(fitted._now.state), read(fitted)) == whole(True, "exact", 60)


@pytest.mark.parametrize("n", [15, 21, 29, 300, N])
def test_reading_changes_neither_the_state_nor_the_next_reading(n):
    fitted = sampler().partial_fit(DATA[:n])
    state, first = stream_oracles.to_bytes(fitted._now.state), read(fitted)
    fitted.criticisms_[:] = 7.0
    fitted.criticism_indices_[:] = 7
    fitted.criticism_witness_[:] = 7.0
    fitted.criticism_nearest_[:] = 7
    fitted.criticism_share_[:] = 7.0
    assert stream_oracles.to_bytes(fitted._now.state) == state
    assert read(fitted) == first
    fresh = sampler().partial_fit(DATA[:n])
    assert read(fresh) == first


def test_the_state_passed_in_stays_as_it_was():
    fitted = sampler().partial_fit(DATA[:WARM_UP])
    state, kept = fitted._now.state, copy.deepcopy(fitted._now.state)
    fitted.partial_fit(DATA[WARM_UP:])
    assert stream_oracles.to_bytes(state) == stream_oracles.to_bytes(kept)


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "cauchy", "matern32", lambda x, y: (1.0 + x @ y.T) ** 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_criticisms_are_rows_of_the_stream(kernel, weighted):
    weight = WEIGHTS[:2000] if weighted else None
    fitted = sampler(kernel=kernel).fit(DATA[:2000], sample_weight=weight)
    check(fitted, DATA, used=WEIGHTS > 0 if weighted else None)
    assert len(fitted.criticisms_) == 8


def test_float32_comes_back_as_float32():
    data = DATA[:500].astype(np.float32)
    fitted = sampler().fit(data)
    assert fitted.criticisms_.dtype == np.float32
    np.testing.assert_array_equal(fitted.criticisms_, data[fitted.criticism_indices_])


@pytest.mark.parametrize("weighted", [False, True])
def test_what_is_said_of_each_equals_brute_force(weighted):
    """While the background holds all rows, witness and share are those of the whole stream."""
    n = 400
    weights = WEIGHTS[:n] if weighted else np.ones(n)
    fitted = sampler().fit(DATA[:n], sample_weight=weights)
    gram, shares = fitted.kernel_(DATA[:n]), weights / weights.sum()
    prototypes, criticisms = fitted.prototype_indices_, fitted.criticism_indices_
    _, closer = oracle.explained(gram, prototypes, criticisms, shares)
    np.testing.assert_allclose(fitted.criticism_share_, closer, rtol=0, atol=1e-12)
    values = shares @ gram - gram[prototypes].mean(axis=0)
    np.testing.assert_allclose(fitted.criticism_witness_, values[criticisms], rtol=0, atol=1e-9)


@few
@given(st.integers(30, N), st.floats(0.0, 0.9), st.integers(0, 2**31))
def test_rows_of_no_weight_are_never_chosen_and_change_nothing(n, share, seed):
    rng = np.random.default_rng(seed)
    used = rng.random(n) >= share
    used[rng.integers(n)] = True
    weights = np.where(used, rng.exponential(size=n) + 0.1, 0.0)
    data = DATA[:n].copy()
    data[~used] = 1e9
    padded = sampler().fit(data, sample_weight=weights)
    compact = sampler().fit(data[used], sample_weight=weights[used])
    np.testing.assert_array_equal(padded.criticisms_, compact.criticisms_)
    np.testing.assert_array_equal(padded.criticism_indices_, np.flatnonzero(used)[compact.criticism_indices_])
    np.testing.assert_array_equal(padded.criticism_witness_, compact.criticism_witness_)
    np.testing.assert_array_equal(padded.criticism_share_, compact.criticism_share_)


@pytest.mark.parametrize("power", [-1000, -3, 1, 900])
def test_powers_of_two_change_nothing(power):
    weights = np.random.default_rng(0).exponential(size=6000) + 0.1
    one, other = (sampler().fit(DATA[:6000], sample_weight=np.ldexp(weights, shift)) for shift in (0, power))
    assert read(one) == read(other)


def test_weights_count():
    """A far group of many rows that weigh little is not missed; the same group with weight is."""
    data = np.concatenate([np.random.default_rng(0).normal(size=(900, 2)), 30.0 + DATA[:100, :2] / 10])
    light, heavy = (sampler(3, 1).fit(data, sample_weight=np.where(np.arange(1000) < 900, 1.0, w)) for w in (1e-9, 6.0))
    for fitted, expected in ((light, 0.0), (heavy, 0.4)):
        far = fitted.criticism_indices_ >= 900
        if far.any():
            assert fitted.criticism_share_[far].max() == pytest.approx(expected, abs=0.1)
    assert (heavy.criticism_indices_ >= 900).any()


def halves(cut=5500, n=N, weighted=False, **options):
    weight = WEIGHTS if weighted else np.ones(N)
    left = sampler(**options).partial_fit(DATA[:cut], sample_weight=weight[:cut])
    return left, left.empty_like().partial_fit(DATA[cut:n], sample_weight=weight[cut:n])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("cut", "n"), [(5500, N), (100, 7000), (30, 45), (7000, 7010), (10, 35)])
def test_merged_criticisms(weighted, cut, n):
    left, right = halves(cut, n, weighted)
    before = [stream_oracles.to_bytes(each._now.state) for each in (left, right)]
    merged = left.merge(right)
    assert [stream_oracles.to_bytes(each._now.state) for each in (left, right)] == before
    check(merged, DATA, used=WEIGHTS > 0 if weighted else None)
    assert n < 50 or len(merged.criticisms_) == 8
    # They are those of both, or rows of the background: the union selected again.
    held = drain(merged._now.state).criticisms.rows.positions
    theirs = drain(left._now.state).criticisms.rows.positions, drain(right._now.state).criticisms.rows.positions + cut
    reservoirs = drain(left._now.state).reservoir.rows.positions, drain(right._now.state).reservoir.rows.positions + cut
    assert set(held) <= set(np.concatenate([*theirs, *reservoirs]))
    assert stream_oracles.to_bytes(left.merge(right)._now.state) == stream_oracles.to_bytes(merged._now.state)


def test_a_merged_stream_goes_on():
    left, right = halves(5500, 8000)
    merged = pickle.loads(pickle.dumps(left.merge(right))).partial_fit(DATA[8000:])
    check(merged, DATA)
    assert merged.n_seen_ == N


def test_a_merge_finds_what_either_half_knew():
    """Groups that only one half has seen hold criticisms after the merge: five in each half, ten in all."""
    rng = np.random.default_rng(0)
    bulk = rng.normal(size=(12_000, 2))
    angles = np.arange(10) * 2 * np.pi / 10
    rare = 30.0 * np.column_stack([np.cos(angles), np.sin(angles)])[:, None] + 0.1 * rng.normal(size=(10, 24, 2))
    data = np.concatenate([bulk[:6000], *rare[:5], bulk[6000:], *rare[5:]])
    left = sampler(20, 20, bandwidth=1.0).fit(data[:6120])
    merged = left.merge(left.empty_like().partial_fit(data[6120:]))
    away = np.linalg.norm(merged.criticisms_[:, None] - rare.mean(axis=1), axis=2).min(axis=0)
    assert (away < 1.0).sum() >= 9


@pytest.mark.parametrize("weighted", [False, True])
def test_no_criticisms(weighted):
    weight = WEIGHTS[:6000] if weighted else None
    none, some = (sampler(c).fit(DATA[:6000], sample_weight=weight) for c in (0, 8))
    assert none.criticisms_.shape == (0, 3)
    assert none.criticism_indices_.shape == none.criticism_witness_.shape == (0,)
    assert none.criticism_nearest_.shape == none.criticism_share_.shape == (0,)
    assert none.criticism_indices_.dtype == none.criticism_nearest_.dtype == np.int64
    # The stream of prototypes is the same with criticisms beside it.
    np.testing.assert_array_equal(
        drain(none._now.state).reservoir.rows.positions, drain(some._now.state).reservoir.rows.positions
    )
    assert none.empty_like().partial_fit(DATA[:50]).merge(none).criticisms_.shape == (0, 3)


@pytest.mark.parametrize("n", [1, 2, 19, 20, 21, 23, 27, 28, 29])
def test_fewer_rows_than_places(n):
    data = np.random.default_rng(0).normal(size=(n, 3))
    fitted = sampler(features="fourier").fit(data)
    check(fitted, data)
    assert len(fitted.prototypes_) == min(n, 20)
    assert len(fitted.criticisms_) == min(8, max(0, n - 20))


@pytest.mark.parametrize("c", [1, 8])
@pytest.mark.parametrize("n", [1, 2, 100, 6000])
def test_rows_that_are_all_equal(n, c):
    fitted = sampler(c).fit(np.full((n, 3), 2.5))
    assert len(fitted.prototypes_) == min(n, 20)
    assert len(fitted.criticisms_) <= 1
    assert np.isfinite(fitted.criticism_witness_).all()
    assert len(drain(fitted._now.state).criticisms.rows) == (1 if n > 20 else 0)
    np.testing.assert_allclose(fitted.criticism_witness_, 0.0, atol=1e-6)


@pytest.mark.parametrize("place", ["first", "last", "spread"])
@pytest.mark.parametrize("jitter", [0.0, 1e-9])
def test_one_row_a_thousand_times_over_breaks_nothing(place, jitter):
    rng = np.random.default_rng(0)
    copies = np.full((1000, 3), 0.5) + jitter * rng.normal(size=(1000, 3))
    data = np.concatenate([copies, DATA[1:3001]])
    data = {"first": data, "last": data[::-1], "spread": data[rng.permutation(len(data))]}[place].copy()
    fitted = sampler().fit(data)
    check(fitted, data)
    assert len(fitted.criticisms_) == 8
    assert (np.abs(fitted.criticisms_ - 0.5) < 1e-6).all(axis=1).sum() <= 1
    assert np.isfinite(fitted.criticism_witness_).all()
    assert np.isfinite(fitted.criticism_share_).all()


@pytest.mark.parametrize("different", [2, 5, 25])
def test_a_few_rows_over_and_over(different):
    """No more criticisms than there are different rows."""
    rng = np.random.default_rng(0)
    data = rng.normal(size=(different, 2))[rng.integers(0, different, size=6000)]
    fitted = sampler().fit(data)
    check(fitted, data)
    assert len(fitted.criticisms_) <= different


def test_more_criticisms_than_prototypes():
    fitted = sampler(40, 3).fit(DATA[:3000])
    check(fitted, DATA, most=40)
    assert len(fitted.criticisms_) == 40


def test_reservoirs_too_large_for_the_kernel_matrix(monkeypatch):
    """The second look by features: the same promises."""
    monkeypatch.setattr(second_look, "FEW", 0)
    monkeypatch.setattr(second_look, "_MOST_FOR_SWAPS", 0)
    fitted = sampler().fit(DATA[:6000])
    check(fitted, DATA)
    assert len(fitted.criticisms_) == 8
    gram = fitted.kernel_(DATA[:6000])
    values = oracle.witness(gram, fitted.prototype_indices_)[fitted.criticism_indices_]
    np.testing.assert_allclose(fitted.criticism_witness_, values, atol=0.05)


@pytest.mark.parametrize("seed", range(6))
def test_no_exchange_of_one_criticism_for_another_row_is_left(seed):
    """Read criticisms are a local optimum of the exact objective, which greedy alone does not always reach."""
    data, _ = stream_oracles.mixture(300, np.random.default_rng(seed), width=2)
    fitted = sampler(bandwidth=3.0, features="fourier").fit(data)
    gram, prototypes = fitted.kernel_(data), fitted.prototype_indices_
    free = np.setdiff1d(np.arange(300), prototypes)
    assert oracle.exchange(gram, oracle.witness(gram, prototypes), fitted.criticism_indices_, free)[0] == []
