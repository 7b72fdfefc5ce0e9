"""The background is a fair sample of the stream, whatever the weights, the chunks and the merges."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import stream_oracles
from supersample._random import as_seed
from supersample.embedding.moments import scale_log_weights, scale_weights
from supersample.selection.stream import background
from supersample.selection.stream.rows import Rows


def rows_of(weights, start=0):
    n = len(weights)
    positions = np.arange(start, start + n)
    return Rows(positions[:, None].astype(np.float64), positions, *scale_weights(np.asarray(weights, dtype=np.float64)))


def sampled(rows, size, seed, chunk=300, *, settle=False):
    state = background.init(1)
    for number, start in enumerate(range(0, len(rows), chunk)):
        part = rows.take(slice(start, start + chunk))
        draws = as_seed(seed).child(number).generator().standard_exponential(len(part))
        state = background.update(state, part, size, draws)
        if settle:
            state = background.settled(state, size)
    return background.settled(state, size)


def times_of(rows, seed, chunk=300):
    """The time of every row, from a sample large enough to keep them all."""
    everything = sampled(rows, len(rows) + 1, seed, chunk)
    assert len(everything.rows) == len(rows)
    return list(zip(everything.kept.exponents.tolist(), everything.kept.mantissas.tolist(), strict=True)), everything.rows


def test_every_position_is_as_likely_as_any_other():
    # 400 samples of 100 of 2,000 rows, counted in 20 bins. A count of rows drawn without replacement varies less than a
    # multinomial one by (n - k) / (n - 1). False-failure rate 1e-6 over the choice of seeds.
    n, size, seeds = 2000, 100, 400
    rows = rows_of(np.ones(n))
    counts = np.zeros(20)
    for seed in range(seeds):
        kept = sampled(rows, size, seed).rows.positions
        assert len(set(kept.tolist())) == size
        counts += np.bincount(kept * 20 // n, minlength=20)
    expected = seeds * size / 20
    statistic = ((counts - expected) ** 2 / expected).sum() * (n - 1) / (n - size)
    assert statistic < stats.chi2.ppf(1 - 1e-6, 19)


def test_the_first_rows_kept_are_a_random_set_of_their_own():
    # random_mmd_ takes the rows with the smallest times: mean position of 30 over 400 seeds, 5 standard errors (6e-7).
    n = 2000
    rows = rows_of(np.ones(n))
    means = [sampled(rows, 100, seed).rows.positions[:30].mean() for seed in range(400)]
    assert abs(np.mean(means) - (n - 1) / 2) < 5 * n / np.sqrt(12 * 30 * 400)


def test_small_weights_are_kept_in_proportion():
    # 20 of 2,000 rows: P(kept) = 1 - exp(-w t) is nearly w t. Heavy rows (weight 3, one half) make three quarters of the kept
    # (0.7493 by the formula); 8,000 kept rows, 5 standard errors (6e-7).
    weights = np.tile([1.0, 3.0], 1000)
    heavy = sum((sampled(rows_of(weights), 20, seed).rows.positions % 2).sum() for seed in range(400))
    assert abs(heavy / 8000 - 0.7493) < 5 * np.sqrt(0.75 * 0.25 / 8000)


def test_a_row_that_outweighs_the_rest_is_always_kept():
    weights = np.ones(1000)
    weights[777] = 1e9
    assert all(777 in sampled(rows_of(weights), 5, seed).rows.positions for seed in range(50))


@pytest.mark.parametrize("merged", [False, True])
def test_shares_estimate_weighted_means_without_bias(merged):
    # Means of two functions under the weights over 200 samples of 400 of 2,000 rows; the ratio's own bias is below a tenth of
    # a standard error of one sample. 5 standard errors of the mean and that: false-failure rate under 2e-6.
    rng = np.random.default_rng(0)
    weights = rng.lognormal(sigma=1.0, size=2000)
    for values in (np.log(weights), np.sin(np.arange(2000.0))):
        truth = np.average(values, weights=weights)
        estimates = []
        for seed in range(200):
            if merged:
                left = sampled(rows_of(weights[:500]), 400, 1000 + seed)
                sample = background.merge(left, sampled(rows_of(weights[500:], 500), 400, 2000 + seed), 400)
            else:
                sample = sampled(rows_of(weights), 400, seed)
            shares = sample.shares()
            assert shares.sum() == pytest.approx(1.0)
            estimates.append(shares @ values[sample.rows.positions])
        spread = np.std(estimates, ddof=1)
        assert abs(np.mean(estimates) - truth) < 5 * spread / np.sqrt(200) + 0.02 * spread
        assert spread < np.std(values) / np.sqrt(100)


def test_shares_are_the_weights_while_nothing_was_left_out():
    weights = np.array([0.5, 2.0, 1.0, 4.5])
    sample = sampled(rows_of(weights), 10, 0)
    np.testing.assert_allclose(sample.shares()[np.argsort(sample.rows.positions)], weights / 8.0, rtol=1e-15)


def test_equal_weights_give_equal_shares():
    shares = sampled(rows_of(np.full(1000, 3.7)), 50, 0).shares()
    np.testing.assert_allclose(shares, 1 / 50, rtol=1e-13)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 900), st.integers(1, 60), st.integers(1, 300), st.integers(0, 1000), st.booleans())
def test_the_sample_is_the_rows_with_the_smallest_times(n, size, chunk, seed, weighted):
    weights = np.random.default_rng(seed).lognormal(sigma=3.0, size=n) if weighted else np.ones(n)
    rows = rows_of(weights)
    times, in_order = times_of(rows, seed, chunk)
    expected, following = stream_oracles.bottom(times, in_order.positions.tolist(), size)
    for settle in (False, True):
        sample = sampled(rows, size, seed, chunk, settle=settle)
        assert sample.rows.positions.tolist() == expected
        np.testing.assert_array_equal(sample.rows.points[:, 0], expected)
        limit = (sample.next_exponent, sample.next_mantissa)
        assert limit == following if following is not None else np.isinf(sample.next_mantissa)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 400), st.integers(1, 400), st.integers(1, 60), st.integers(0, 1000))
def test_a_merge_is_the_sample_of_the_union(n, m, size, seed):
    rng = np.random.default_rng(seed)
    parts = rows_of(rng.lognormal(sigma=2.0, size=n)), rows_of(rng.lognormal(sigma=2.0, size=m), n)
    times, positions = [], []
    for number, rows in enumerate(parts):
        mine, in_order = times_of(rows, 7000 + 2 * seed + number)
        times += mine
        positions += in_order.positions.tolist()
    samples = [sampled(rows, size, 7000 + 2 * seed + number) for number, rows in enumerate(parts)]
    before = stream_oracles.to_bytes(samples)
    expected, following = stream_oracles.bottom(times, positions, size)
    for pair in (samples, samples[::-1]):
        merged = background.merge(*pair, size)
        assert merged.rows.positions.tolist() == expected
        assert (merged.next_exponent, merged.next_mantissa) == (following or (merged.next_exponent, np.inf))
    assert stream_oracles.to_bytes(samples) == before


def test_settling_does_not_depend_on_what_waits():
    rows = rows_of(np.random.default_rng(1).exponential(size=5000))
    for size in (10, 700, 4999, 6000):
        eager, lazy = (sampled(rows, size, 3, chunk=37, settle=settle) for settle in (True, False))
        assert stream_oracles.to_bytes(eager) == stream_oracles.to_bytes(lazy)
        assert stream_oracles.to_bytes(background.settled(lazy, size)) == stream_oracles.to_bytes(lazy)


def test_scaling_all_weights_by_a_power_of_two_keeps_the_same_rows_and_shares():
    weights = np.random.default_rng(1).lognormal(sigma=2.0, size=1000)
    plain = sampled(rows_of(weights), 50, 3)
    for power in (-900, -1, 700):
        scaled = sampled(rows_of(np.ldexp(weights, power)), 50, 3)
        np.testing.assert_array_equal(scaled.rows.positions, plain.rows.positions)
        np.testing.assert_array_equal(scaled.shares(), plain.shares())
        assert scaled.next_exponent == plain.next_exponent - power


def test_log_weights_of_any_scale_give_finite_shares():
    n = 3000
    logs = np.random.default_rng(0).uniform(-1e5, 1e5, size=n)
    rows = Rows(np.zeros((n, 1)), np.arange(n), *scale_log_weights(logs))
    shares = sampled(rows, 100, 0).shares()
    assert np.isfinite(shares).all()
    assert shares.sum() == pytest.approx(1.0)
    # The heaviest row is e^60 times as heavy as the next: it is nearly all of the stream.
    assert shares.max() > 0.99
