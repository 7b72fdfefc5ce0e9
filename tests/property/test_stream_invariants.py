"""What must not matter to a SuperSampler: batches, reading, rows of no weight, the scale of weights, whose memory it is."""

import pickle
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import stream_oracles
import supersample as ss
from supersample.selection.stream import polish
from supersample.selection.stream.lifecycle import drain
from supersample.selection.stream.plan import CHUNK, WARM_UP

N = 9000
DATA, PART = stream_oracles.mixture(N, np.random.default_rng(0), width=3)
WEIGHTS = np.random.default_rng(1).lognormal(sigma=2.0, size=N)
WEIGHTS[np.random.default_rng(2).random(N) < 0.1] = 0.0

few = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(autouse=True)
def short_second_look(monkeypatch):
    """Nothing here is about quality: a few kicks are as good as many."""
    monkeypatch.setattr(polish, "_KICKS", 1)


def sampler(search="exact", n_prototypes=20, **options):
    return ss.SuperSampler(n_prototypes, search=search, n_features=96, random_state=3, **options)


def results(fitted):
    """Everything that can be read, as bytes."""
    read = [
        fitted.prototypes_,
        fitted.prototype_indices_,
        fitted.n_seen_,
        fitted.mmd_,
        fitted.mmd_error_,
        fitted.random_mmd_,
        fitted.energy_,
        fitted.comparisons_,
        fitted.bound(0.1),
        fitted.kernel_,
        fitted.feature_map_,
    ]
    return stream_oracles.to_bytes(read)


@cache
def whole(search, weighted, n):
    fitted = sampler(search).fit(DATA[:n], sample_weight=WEIGHTS[:n] if weighted else None)
    return stream_oracles.to_bytes(fitted._now.state), results(fitted)


def in_pieces(search, weighted, cuts, read=()):
    fitted = sampler(search)
    for number, (start, stop) in enumerate(pairwise(cuts)):
        weight = WEIGHTS[start:stop] if weighted else None
        fitted = pickle.loads(pickle.dumps(fitted.partial_fit(DATA[start:stop], sample_weight=weight)))
        if number in read:
            results(fitted)
    return fitted


@few
@given(
    st.sampled_from(["exact", "tree"]),
    st.booleans(),
    st.lists(st.integers(1, N - 1), max_size=6, unique=True).map(sorted),
    st.sets(st.integers(0, 6), max_size=2),
)
def test_neither_batches_nor_reading_leave_a_trace(search, weighted, cuts, read):
    fitted = in_pieces(search, weighted, [0, *cuts, N], read)
    assert (stream_oracles.to_bytes(fitted._now.state), results(fitted)) == whole(search, weighted, N)


@pytest.mark.parametrize("search", ["exact", "tree"])
@pytest.mark.parametrize("weighted", [False, True])
def test_batches_that_end_where_chunks_do(search, weighted):
    edges = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, WARM_UP - 1, WARM_UP, WARM_UP + 1, 2 * CHUNK, N - 1, N]
    fitted = in_pieces(search, weighted, edges, read={3, 6})
    assert (stream_oracles.to_bytes(fitted._now.state), results(fitted)) == whole(search, weighted, N)


def test_rows_one_by_one():
    fitted = in_pieces("exact", True, list(range(41)), read={20})
    assert (stream_oracles.to_bytes(fitted._now.state), results(fitted)) == whole("exact", True, 40)


@pytest.mark.parametrize("n", [15, 20, 300, N])
def test_reading_changes_neither_the_state_nor_the_next_reading(n):
    fitted = sampler("tree").partial_fit(DATA[:n])
    state = stream_oracles.to_bytes(fitted._now.state)
    first = results(fitted)
    assert stream_oracles.to_bytes(fitted._now.state) == state
    assert results(fitted) == first


def test_what_is_read_can_be_overwritten():
    fitted = sampler().fit(DATA[:300])
    state, before = stream_oracles.to_bytes(fitted._now.state), results(fitted)
    fitted.prototypes_[:] = 7.0
    fitted.prototype_indices_[:] = 7
    fitted.comparisons_[:] = 7
    assert (stream_oracles.to_bytes(fitted._now.state), results(fitted)) == (state, before)


@few
@given(st.integers(1, N), st.floats(0.0, 0.9), st.integers(0, 2**31), st.sampled_from(["exact", "tree"]))
def test_rows_of_no_weight_are_counted_and_change_nothing_else(n, share, seed, search):
    rng = np.random.default_rng(seed)
    used = rng.random(n) >= share
    used[rng.integers(n)] = True
    weights = np.where(used, rng.exponential(size=n) + 0.1, 0.0)
    data = DATA[:n].copy()
    data[~used] = 1e9
    padded = sampler(search).fit(data, sample_weight=weights)
    compact = sampler(search).fit(data[used], sample_weight=weights[used])
    assert padded.n_seen_ == n
    assert compact.n_seen_ == used.sum()
    np.testing.assert_array_equal(padded.prototypes_, compact.prototypes_)
    np.testing.assert_array_equal(padded.prototype_indices_, np.flatnonzero(used)[compact.prototype_indices_])
    for name in ("mmd_", "mmd_error_", "random_mmd_", "energy_", "kernel_", "feature_map_"):
        assert getattr(padded, name) == getattr(compact, name)
    left, right = drain(padded._now.state), drain(compact._now.state)
    for name in ("moments", "held_out", "n_used", "chunks"):
        assert stream_oracles.to_bytes(getattr(left, name)) == stream_oracles.to_bytes(getattr(right, name))
    np.testing.assert_array_equal(left.reservoir.features, right.reservoir.features)


def test_a_batch_of_no_weight_is_counted():
    fitted = sampler().partial_fit(DATA[:50], sample_weight=np.zeros(50))
    assert fitted.n_seen_ == 50
    fitted.partial_fit(DATA[50:100])
    fitted.partial_fit(DATA[100:130], sample_weight=np.zeros(30))
    assert fitted.n_seen_ == 130
    assert ((fitted.prototype_indices_ >= 50) & (fitted.prototype_indices_ < 100)).all()
    np.testing.assert_array_equal(fitted.prototypes_, DATA[fitted.prototype_indices_])


@few
@given(st.integers(-300, 900), st.sampled_from(["exact", "tree"]))
def test_weights_times_a_power_of_two_change_nothing(power, search):
    plain = results(sampler(search).fit(DATA, sample_weight=WEIGHTS))
    scaled = sampler(search).fit(DATA, sample_weight=np.ldexp(WEIGHTS, power))
    assert results(scaled) == plain


def test_equal_weights_are_no_weights():
    plain = results(sampler().fit(DATA))
    for power in (-300, 0, 900):
        assert results(sampler().fit(DATA, sample_weight=np.full(N, 2.0**power))) == plain


def test_weights_of_different_scale_can_follow_each_other():
    # Batches that weigh 2^-300, 1 and 2^300: the last is all that counts, up to rounding.
    fitted = sampler()
    for number, power in enumerate((-300, 0, 300)):
        fitted.partial_fit(DATA[3000 * number : 3000 * (number + 1)], sample_weight=np.full(3000, 2.0**power))
    alone = fitted.feature_map_.transform(DATA[6000:]).mean(axis=0, dtype=np.float64)
    np.testing.assert_allclose(drain(fitted._now.state).moments.mean(), alone, rtol=0, atol=1e-12)
    shares = fitted._now.selected.background.shares()
    assert shares[fitted._now.selected.background.rows.positions >= 6000].sum() == pytest.approx(1.0, abs=1e-12)


def test_log_weights_say_what_weights_say():
    some = np.maximum(WEIGHTS, 1e-200)
    direct, logs = sampler().fit(DATA, sample_weight=some), sampler().fit(DATA, log_weight=np.log(some))
    # exp(log w) is not w to the last bit, so sums agree to rounding; decisions as near as that are not met here.
    np.testing.assert_allclose(
        drain(logs._now.state).moments.mean(), drain(direct._now.state).moments.mean(), rtol=0, atol=1e-13
    )
    np.testing.assert_array_equal(logs.prototype_indices_, direct.prototype_indices_)
    assert logs.mmd_ == pytest.approx(direct.mmd_, rel=1e-6)


def test_log_weights_of_zero_are_weights_of_one_to_the_byte():
    assert results(sampler().fit(DATA, log_weight=np.zeros(N))) == results(sampler().fit(DATA))


def test_minus_infinity_is_a_weight_of_zero():
    logs = np.zeros(N)
    logs[1::3] = -np.inf
    assert results(sampler().fit(DATA, log_weight=logs)) == results(sampler().fit(DATA, sample_weight=np.isfinite(logs)))


@pytest.mark.parametrize("middle", [-1e5, -1000.0, 1000.0, 1e5])
def test_only_differences_of_log_weights_matter(middle):
    logs = np.log(np.maximum(WEIGHTS, 1e-3))
    plain, moved = sampler().fit(DATA, log_weight=logs), sampler().fit(DATA, log_weight=logs + middle)
    # 1e5 + log w keeps eleven digits of log w.
    np.testing.assert_allclose(
        drain(moved._now.state).moments.mean(), drain(plain._now.state).moments.mean(), rtol=0, atol=1e-9
    )
    assert moved.mmd_ == pytest.approx(plain.mmd_, rel=0.5)
    assert np.isfinite([moved.mmd_error_, moved.random_mmd_, moved.energy_]).all()


@pytest.mark.parametrize("n", [100, N])
def test_log_weights_may_span_any_range(n):
    logs = np.random.default_rng(5).uniform(-1e5, 1e5, size=n)
    fitted = sampler().fit(DATA[:n], log_weight=logs)
    assert np.isfinite([fitted.mmd_, fitted.mmd_error_, fitted.random_mmd_, fitted.energy_]).all()
    # The heaviest row is nearly all of the data, so its features are the mean.
    heaviest = fitted.feature_map_.transform(DATA[[np.argmax(logs)]])[0]
    np.testing.assert_allclose(drain(fitted._now.state).moments.mean(), heaviest, rtol=0, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [10, 100, 4000, 5500, N])
@pytest.mark.parametrize("from_another", [False, True])
def test_the_callers_arrays_are_never_kept(n, dtype, from_another):
    data, weights = DATA[:n].astype(dtype), np.ones(n)
    fitted, twin = sampler(), sampler()
    if from_another:
        fitted, twin = fitted.fit(DATA).empty_like(), twin.fit(DATA).empty_like()
    fitted.partial_fit(data, sample_weight=weights)
    twin.partial_fit(data.copy(), sample_weight=weights.copy())
    before = stream_oracles.to_bytes(fitted._now.state)
    data[:], weights[:] = 1e3, 1e3
    assert stream_oracles.to_bytes(fitted._now.state) == before
    assert results(fitted) == results(twin)


def test_the_callers_arrays_are_never_changed():
    data, weights = DATA.copy(), WEIGHTS.copy()
    data.flags.writeable = weights.flags.writeable = False  # writing would raise
    results(sampler("tree").fit(data, sample_weight=weights))
    np.testing.assert_array_equal(data, DATA)
    np.testing.assert_array_equal(weights, WEIGHTS)


def test_every_row_that_was_offered_is_counted_once():
    for search in ("exact", "tree"):
        assert sampler(search).fit(DATA).comparisons_.sum() == N - 20
    assert sampler().fit(DATA[:20]).comparisons_.sum() == 0


def test_an_equal_seed_repeats_and_another_does_not():
    one, two = (sampler().fit(DATA) for _ in range(2))
    assert results(one) == results(two)
    other = ss.SuperSampler(20, n_features=96, random_state=4).fit(DATA)
    assert other.feature_map_ != one.feature_map_


def test_fit_forgets_what_was_seen():
    fitted = sampler().fit(1e3 + DATA).partial_fit(DATA[:50])
    assert results(fitted.fit(DATA)) == whole("exact", False, N)[1]
