"""The compiled step of the stream decides as Algorithm 2 of Paige et al. 2016 does, and its pruning hides no decision."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import stream_oracles
from supersample._compiled import swaps
from supersample._random import as_seed
from supersample.embedding.moments import scale_weights, squared_norms
from supersample.features import Fourier
from supersample.kernels import Gaussian
from supersample.selection import stream
from supersample.selection.stream.plan import Plan, Settings
from supersample.selection.stream.reservoir import Reservoir, shadows_of
from supersample.selection.stream.rows import Rows


def offered(rows, held, pull, threshold, basis=None):
    """Run the compiled loop; basis None means shadows that say nothing. Returns swaps, held features, heights, pull, counts."""
    rows, held, pull = (np.array(each, dtype=np.float32) for each in (rows, held, pull))
    row_norms, norms = (squared_norms(each).astype(np.float32) for each in (rows, held))
    if basis is None:
        row_shadows, shadows = np.zeros((len(rows), 1), np.float32), np.zeros((1, len(held)), np.float32)
    else:
        row_shadows = shadows_of(rows, row_norms, basis)
        shadows = np.ascontiguousarray(shadows_of(held, norms, basis).T)
    heights = held @ pull
    who, where = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    histogram = np.zeros(64, np.int64)
    count = swaps.offer(
        rows, row_norms, row_shadows, held, norms, heights, shadows, pull, threshold, who, where, histogram
    )  # fmt: skip
    return list(zip(who[:count].tolist(), where[:count].tolist(), strict=True)), held, heights, pull, histogram


def axes(count, width):
    return np.eye(width, dtype=np.float32)[:count]


@pytest.mark.parametrize("m", [1, 2, 5, 20])
@pytest.mark.parametrize("pruned", [False, True])
def test_same_swaps_as_the_twin_on_whole_numbers(m, pruned):
    # Small whole numbers are exact in float32, so ties (of which there are many) must be decided alike.
    swapped = 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        rows, held = rng.integers(-2, 3, size=(30, 4)), rng.integers(-2, 3, size=(m, 4))
        mean = rng.integers(-2, 3, size=4) / m if seed % 5 else held.mean(axis=0)
        pull = held.sum(axis=0) - m * mean
        expected, kept = stream_oracles.offer(rows, held, mean, 0.5)
        got, features, heights, pull, histogram = offered(rows, held, pull, 0.5, axes(2, 4) if pruned else None)
        assert got == expected
        np.testing.assert_array_equal(features, kept)
        np.testing.assert_array_equal(pull, kept.sum(axis=0) - np.round(m * mean))
        np.testing.assert_array_equal(heights, kept @ pull)
        assert histogram.sum() == len(rows)
        swapped += len(expected)
    assert swapped > 25


def test_a_gain_worked_by_hand():
    # One point at 0, mu = 1, so pull = -1. x = 1.5: gain = 1 - 0.25. x = 3: gain = 1 - 4 < 0. x = 1: from 0.25 to 0.
    got, features, *_ = offered([[3.0], [1.5], [3.0], [1.0]], [[0.0]], [-1.0], 0.0)
    assert got == [(1, 0), (3, 0)]
    assert features.tolist() == [[1.0]]


def test_nothing_moves_when_the_reservoir_is_already_right():
    rows = np.random.default_rng(0).integers(-3, 4, size=(50, 3))
    got, _, _, _, histogram = offered(rows, [[1, 2, 3], [3, 2, 1]], [0, 0, 0], 0.0)
    assert got == []
    assert histogram.sum() == 50


def test_equal_points_are_never_swapped():
    got, *_ = offered(np.ones((10, 3)), np.ones((4, 3)), [-1, 2, 0.5], 0.0, axes(2, 3))
    assert got == []


@pytest.mark.parametrize("m", [2, 20])
def test_no_decision_on_fourier_features_is_worse_than_the_best_one(m):
    rng = np.random.default_rng(m)
    phi = Fourier(Gaussian(1.0), 32, random_state=0)
    data = rng.normal(size=(400, 2))
    data[::7] = data[3]
    features = phi.transform(data)
    mean = features.mean(axis=0, dtype=np.float64)
    held = features[:m]
    basis = np.linalg.svd(features.astype(np.float64), full_matrices=False)[2][:8].astype(np.float32)
    got, *_ = offered(features[m:], held, held.sum(axis=0, dtype=np.float64) - m * mean, 1e-6, basis)
    best, taken = stream_oracles.regrets(features[m:], held, mean, got)
    assert len(got) > 3
    # Values here are of the size of m: float32 leaves them good to some 1e-6 of that.
    assert (best - taken).max() < 2e-5
    assert taken.min() > -2e-5


@pytest.mark.parametrize("width", [3, 4, 12])
def test_pruning_hides_no_gain(width):
    # A basis that spans the features makes the bound as tight as it can be, and no threshold makes every rounding count.
    for seed in range(12):
        rng = np.random.default_rng(seed)
        rows = (10.0 ** rng.uniform(-2, 0.5) * rng.normal(size=(3000, width))).astype(np.float32)
        pull = rows[:10].sum(axis=0) - 10 * rows.mean(axis=0)
        basis = np.linalg.qr(rng.normal(size=(width, width)))[0].astype(np.float32)
        plain = offered(rows[10:], rows[:10], pull, 0.0)
        pruned = offered(rows[10:], rows[:10], pull, 0.0, basis)
        assert pruned[0] == plain[0]
        np.testing.assert_array_equal(pruned[1], plain[1])
        compared, without = (result[4] @ np.arange(64) for result in (pruned, plain))
        assert compared < 0.5 * without


def test_pruning_hides_not_even_gains_of_the_size_of_rounding():
    # x a hair's breadth from y, downhill: the gain is some 1e-7, the bound equals it, and both are rounded.
    rng = np.random.default_rng(0)
    swapped = 0
    for _ in range(1000):
        y, pull = rng.normal(size=(2, 6))
        y, pull = y / np.linalg.norm(y), pull / np.linalg.norm(pull)
        x = y - 10.0 ** rng.uniform(-7.5, -6) * pull
        basis = np.linalg.qr(rng.normal(size=(6, 6)))[0].astype(np.float32)
        plain, pruned = (offered([x], [y], pull, 0.0, each)[0] for each in (None, basis))
        assert pruned == plain
        swapped += len(plain)
    assert swapped > 100


@settings(max_examples=60, deadline=None)
@given(
    hnp.arrays(np.float32, (6, 5), elements=st.floats(-4, 4, width=32, allow_subnormal=False)),
    st.integers(0, 5),
    st.integers(0, 2**31),
)
def test_shadows_are_never_further_apart_than_what_casts_them(features, q, seed):
    basis = np.linalg.qr(np.random.default_rng(seed).normal(size=(5, 5)))[0][:q].astype(np.float32)
    shadows = shadows_of(features, squared_norms(features).astype(np.float32), basis)
    for i in range(6):
        for j in range(i):
            near, far = (np.sum((each[i] - each[j]).astype(np.float64) ** 2) for each in (shadows, features))
            # The last coordinate is a root, which turns a rounding of 1e-7 |x|^2 near zero into one of 3e-4 |x|, and squares
            # under 1e-38 vanish.
            size = float(np.abs(features[[i, j]]).max()) * np.sqrt(5)
            assert np.sqrt(near) <= np.sqrt(far) + 2e-3 * size + 1e-18


def test_shadows_keep_lengths_and_projections():
    features = np.array([[3.0, 4.0, 12.0], [0.0, 5.0, 0.0]], dtype=np.float32)
    shadows = shadows_of(features, squared_norms(features).astype(np.float32), axes(1, 3))
    np.testing.assert_allclose(shadows, [[3.0, np.sqrt(160.0)], [0.0, 5.0]], rtol=1e-6)


@pytest.mark.parametrize("m", [1, 2, 5, 20])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_whole_stream_equals_its_twin(m, weighted):
    # Decisions nearer than 1e-6 may be rounded either way; none are on these seeds.
    phi = Fourier(Gaussian(0.7), 24, random_state=5)
    plan = Plan(phi, Fourier(Gaussian(0.7), 8, random_state=6))
    for seed in range(3):
        rng = np.random.default_rng(100 * m + seed)
        data = rng.normal(size=(300, 2))
        data[50:60] = data[40]
        weights = rng.exponential(size=300) if weighted else np.ones(300)
        state = stream.init(Settings(m, phi.kernel, features=phi, search="exact", seed=as_seed(seed)), 2, plan)
        rows = Rows(data, np.arange(300), *scale_weights(weights))
        got = stream.drain(stream.update(state, rows))
        expected = stream_oracles.stream(phi.transform(data), m, weights, 1e-6)
        assert got.reservoir.rows.positions.tolist() == expected.tolist()
        np.testing.assert_array_equal(got.reservoir.rows.points, data[expected])
        np.testing.assert_array_equal(got.reservoir.features, phi.transform(data[expected]))
        assert got.reservoir.histogram.sum() == 300 - m
        assert (expected >= m).any()


def test_a_reservoir_fills_before_anything_is_swapped():
    reservoir = Reservoir.empty(3, 1, 2)
    rows = Rows(np.arange(5.0)[:, None], np.arange(5), *scale_weights(np.ones(5)))
    assert reservoir.fill(rows, np.zeros((5, 2), np.float32)) == 3
    assert reservoir.rows.positions.tolist() == [0, 1, 2]
    assert reservoir.fill(rows, np.zeros((5, 2), np.float32)) == 0
