"""Rows that lose half of their weight with each half-life: the weights, the clock, merging, and what users see of it."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest

import supersample as ss
from supersample.embedding import decay, moments
from supersample.embedding.decay import Decay, check_times

RNG = np.random.default_rng(7)
START = np.datetime64("2026-03-01T00:00:00", "s")


def ones(n):
    return moments.ScaledWeights(np.full(n, 0.5), np.ones(n, dtype=np.int64))


def relative(weights):
    """Return weights as plain numbers, the largest of them one."""
    found = np.ldexp(weights.mantissas, np.maximum(weights.exponents - weights.exponents.max(), -2000))
    return found / found.max()


def by_time(times, half_life=4.0, weights=None):
    return decay.weigh(Decay(half_life, by_time=True), weights or ones(len(times)), 0, np.asarray(times, dtype=np.float64))


def forward(times, half_life):
    """The definition: 2^(t / half-life), relative to the latest."""
    return np.exp2((np.asarray(times) - np.max(times)) / half_life)


@pytest.mark.parametrize("half_life", [1.0, 37.0, 1000.5])
def test_a_half_life_in_rows_is_the_definition(half_life):
    _, weights = decay.weigh(Decay(half_life), ones(5_000), 0, None)
    assert relative(weights) == pytest.approx(forward(np.arange(5_000), half_life), rel=1e-12, abs=1e-300)


def test_positions_far_along_a_stream_have_exact_weights():
    first = 10**15
    _, weights = decay.weigh(Decay(8.0), ones(9), first, None)
    assert relative(weights) == pytest.approx(forward(np.arange(9), 8.0), rel=1e-15)
    assert weights.exponents[-1] == weights.exponents[0] + 1


def test_times_in_any_order_have_the_weights_of_the_definition():
    times = 1.7e9 + RNG.permutation(400) * 0.01  # all within one half-life, so that none is ahead
    _, weights = by_time(times)
    # A time near 1.7e9 seconds is known to 2e-7.
    assert relative(weights) == pytest.approx(forward(times, 4.0), rel=1e-6)


def test_weights_of_rows_are_multiplied_and_zero_stays_zero():
    given = moments.scale_weights(np.array([0.0, 3.0, 1e-200, 5.0]))
    _, weights = by_time([0.0, 0.0, 4.0, 8.0], weights=given)
    assert weights.mantissas[0] == 0.0
    found = np.ldexp(weights.mantissas[1:], weights.exponents[1:] - weights.exponents[1])
    assert found / found[0] == pytest.approx(np.array([3.0, 2e-200, 20.0]) / 3.0)


def test_one_row_from_the_far_future_erases_nothing():
    times = np.arange(1_000.0)
    state, usual = by_time(times)
    broken = times.copy()
    broken[600] = 1e9
    clock, weights = by_time(broken)
    assert clock.n_ahead == 1
    assert clock.places[0] == state.places[0]
    others = np.arange(1_000) != 600
    assert np.array_equal(relative(weights)[others], relative(usual)[others])
    at = np.ldexp(weights.mantissas, weights.exponents - weights.exponents[599])
    assert at[600] == pytest.approx(2.0 * at[599])


def test_a_first_row_from_the_far_future_erases_nothing():
    times = np.concatenate([[4e9], np.arange(1_000.0)])
    clock, weights = by_time(times)
    assert clock.places[0] == 999.0
    assert relative(weights)[0] < 1e-30  # as old as the rows that it came with
    assert relative(weights)[-100:] == pytest.approx(forward(times[-100:], 4.0))


def test_the_clock_follows_a_real_gap():
    times = np.concatenate([np.arange(100.0), 10_000.0 + np.arange(100.0)])
    clock, weights = by_time(times)
    assert clock.places[0] == times[-1]
    assert clock.n_ahead == 8
    assert relative(weights)[108:] == pytest.approx(forward(times[108:], 4.0))
    assert relative(weights)[:100].max() < 1e-300


def test_rows_without_a_time_count_as_of_now():
    clock, weights = by_time([np.nan, 100.0, np.nan, 104.0])
    assert clock.n_untimed == 2
    assert relative(weights) == pytest.approx([0.5, 0.5, 0.5, 1.0])


@pytest.mark.parametrize("cuts", [[1, 2, 3], [500], list(range(10, 990, 10))])
def test_batches_do_not_matter(cuts):
    times = np.where(RNG.random(1_000) < 0.01, 1e12, np.arange(1_000.0) + RNG.normal(size=1_000))
    whole_state, whole = by_time(times)
    state, parts = Decay(4.0, by_time=True), []
    for part in np.split(times, cuts):
        state, weights = decay.weigh(state, ones(part.size), 0, part)
        parts.append(weights)
    assert np.array_equal(np.concatenate([each.mantissas for each in parts]), whole.mantissas)
    assert np.array_equal(np.concatenate([each.exponents for each in parts]), whole.exponents)
    assert np.array_equal(state.counts, whole_state.counts)


PHI = ss.features.Fourier(ss.kernels.Gaussian(1.0), 16, random_state=0)
POINTS = RNG.normal(size=(700, 2)) + np.linspace(0.0, 2.0, 700)[:, None]
TIMES = START + np.arange(700) * np.timedelta64(10, "s")


def mean_of(weights):
    return weights @ PHI.transform(POINTS).astype(np.float64) / weights.sum()


def test_a_mean_embedding_with_a_half_life_is_the_weighted_mean():
    weights = forward(np.arange(700), 50.0)
    found = ss.MeanEmbedding(PHI, half_life=50).update(POINTS)
    assert found.mean == pytest.approx(mean_of(weights), abs=1e-12)
    assert found.effective_rows == pytest.approx(weights.sum() ** 2 / (weights**2).sum())
    timed = ss.MeanEmbedding(PHI, half_life="500s").update(POINTS[:300], time=TIMES[:300])
    assert timed.update(POINTS[300:], time=TIMES[300:]).mean == pytest.approx(found.mean, abs=1e-12)


def test_merged_rows_count_as_if_they_had_come_after():
    first, second = ss.MeanEmbedding(PHI, half_life=33), ss.MeanEmbedding(PHI, half_life=33)
    merged = first.update(POINTS[:205]).merge(second.update(POINTS[205:500])).update(POINTS[500:])
    assert merged.mean == pytest.approx(ss.MeanEmbedding(PHI, half_life=33).update(POINTS).mean, abs=1e-12)


def test_merged_times_count_as_they_are_in_either_order():
    parts = [
        ss.MeanEmbedding(PHI, half_life="5m").update(POINTS[part], time=TIMES[part]) for part in np.split(np.arange(700), 5)
    ]
    whole = ss.MeanEmbedding(PHI, half_life="5m").update(POINTS, time=TIMES).mean
    for order in ([0, 1, 2, 3, 4], [3, 1, 4, 0, 2]):
        merged = parts[order[0]]
        for place in order[1:]:
            merged = merged.merge(parts[place])
        assert merged.mean == pytest.approx(whole, abs=1e-12)
    late = ss.MeanEmbedding(PHI, half_life="5m").merge(parts[0])
    assert late.mean == pytest.approx(parts[0].mean, abs=1e-15)


def test_a_sampler_forgets_old_rows_and_batches_do_not_matter():
    data = RNG.normal(size=(6_000, 2))
    data[3_000:] += 4.0
    whole = ss.SuperSampler(30, 3, half_life=200, random_state=0).fit(data)
    parts = ss.SuperSampler(30, 3, half_life=200, random_state=0)
    for part in np.split(data, [17, 2_500, 2_501, 5_900]):
        parts.partial_fit(part)
    assert np.array_equal(parts.prototypes_, whole.prototypes_)
    assert parts.mmd_ == whole.mmd_
    assert whole.prototypes_.mean(axis=0) == pytest.approx([4.0, 4.0], abs=0.3)
    assert whole.effective_rows_ == pytest.approx(200 * 2 / np.log(2.0), rel=0.01)
    assert (whole.criticism_indices_ > 6_000 - 200 * 7).all()
    weights = forward(np.arange(6_000), 200.0)
    exact = ss.mmd2(
        data,
        whole.prototypes_,
        weight_x=weights,
        weight_y=whole.weights_,
        kernel=whole.kernel_,
        method="exact",
        estimator="biased",
    )
    assert whole.mmd_ == pytest.approx(np.sqrt(exact), abs=3 * whole.mmd_error_ + 1e-9)


@pytest.mark.parametrize("options", [{"half_life": 300}, {"half_life": "50m"}])
def test_merged_samplers_have_the_moments_of_one_pass(options):
    data = RNG.normal(size=(4_000, 2)) + np.linspace(0, 3, 4_000)[:, None]
    clock = START + np.arange(4_000) * np.timedelta64(10, "s") if options["half_life"] == "50m" else None

    def rows(part):
        return {"X": data[part]} | ({} if clock is None else {"time": clock[part]})

    left = ss.SuperSampler(20, half_life=options["half_life"], random_state=0).fit(**rows(slice(0, 2_345)))
    merged = left.merge(left.empty_like().partial_fit(**rows(slice(2_345, None))))
    features = left.feature_map_.transform(data).astype(np.float64)
    weights = forward(np.arange(4_000), 300.0)
    selected = merged._now.selected
    assert selected.moments.mean() == pytest.approx(weights @ features / weights.sum(), abs=1e-7)
    assert merged.effective_rows_ == pytest.approx(weights.sum() ** 2 / (weights**2).sum())
    selected.background.check()
    assert merged.mmd_ < merged.random_mmd_ / 3


def table(n=9_000, start=0):
    when = START + np.arange(start, start + n) * np.timedelta64(60, "s")
    return pa.table({"when": when, "x": np.where(np.arange(start, start + n) < 6_000, 0.0, 5.0) + RNG.normal(size=n)})


def test_summaries_follow_the_time_column_and_say_so(tmp_path):
    rows = table()
    found = ss.summarize(rows, 30, 3, time="when", half_life="5h", random_state=0)
    assert found.expect("x") == pytest.approx(5.0, abs=0.1)
    text = {note.kind: str(note) for note in found.notes}["old rows count less"]
    assert (
        text
        == "when: rows lose half of their weight in 5h: 9,000 rows count as about 870; the profile counts all of them alike"
    )
    found.save(tmp_path / "s.ss")
    again = ss.load(tmp_path / "s.ss")
    more = table(2_000, 9_000)
    assert again.update(more).to_bytes() == found.update(more).to_bytes()


def test_text_that_holds_times_gives_the_same_summary():
    rows = table()
    texts = rows.set_column(0, "when", pa.array([str(each) for each in rows["when"].to_numpy()]))
    found, other = (ss.summarize(each, 20, 0, time="when", half_life="5h", random_state=0) for each in (rows, texts))
    assert other.prototypes["_row"] == found.prototypes["_row"]
    assert other.prototypes["_weight"] == found.prototypes["_weight"]


def test_rows_ahead_and_without_time_are_noted():
    rows = table()
    when = rows["when"].to_pylist()
    when[100], when[200], when[300] = None, None, datetime(2226, 1, 1)
    odd = rows.set_column(0, "when", pa.array(when, type=rows.schema.field("when").type))
    notes = {note.kind: note.text for note in ss.summarize(odd, 20, 0, time="when", half_life="1d", random_state=0).notes}
    assert notes["no time"] == "2 rows without a time, counted as of when they came"
    assert notes["times ahead"].startswith("1 row lay more than 1d ahead of all rows before")


def test_decayed_summaries_are_compared_by_rows_that_still_count():
    """Both profiles have both halves, so that counts of all rows would find nothing."""
    rows = table()
    flipped = rows.set_column(1, "x", pa.array(5.0 - rows["x"].to_numpy()))
    first = ss.summarize(rows, 20, 0, time="when", half_life="5h", random_state=0)
    second = ss.summarize(flipped, like=first, random_state=0)
    assert first.compare(second).pvalue < 1e-6


def test_times_of_many_kinds_are_read():
    seconds = np.array([0.0, 90.5])
    aware = [datetime(1970, 1, 1, tzinfo=UTC), datetime(1970, 1, 1, 0, 1, 30, 500_000, tzinfo=UTC)]
    for given in (np.array([0, 90_500], dtype="M8[ms]"), aware, [each.replace(tzinfo=None) for each in aware]):
        assert np.array_equal(check_times(given, 2, timedelta(1), "time"), seconds)
    assert np.isnan(check_times(np.array(["NaT"], dtype="M8[s]"), 1, "1d", "time"))
    assert np.isnan(check_times([None], 1, "1d", "time")).all()
    assert np.array_equal(check_times([3, 4], 2, 1.5, "time"), [3.0, 4.0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ss.SuperSampler(5, half_life="1h").fit(POINTS), "time must be given with every batch"),
        (lambda: ss.SuperSampler(5).fit(POINTS, time=TIMES), "time must be left out"),
        (lambda: ss.SuperSampler(5, half_life=3).fit(POINTS).partial_fit(POINTS, time=np.arange(700)), "time must be left out"),
        (lambda: ss.SuperSampler(5, half_life="1h").fit(POINTS, time=np.arange(700)), "half_life must be a number where time"),
        (lambda: ss.SuperSampler(5, half_life=3).fit(POINTS, time=TIMES), "half_life must be a duration such as '7d'"),
        (lambda: ss.SuperSampler(5, half_life="1h").fit(POINTS, time=TIMES[:3]), "one time for each of the 700 rows"),
        (lambda: ss.SuperSampler(5, half_life="1h").fit(POINTS, time=["x"] * 700), "time must hold times or numbers"),
        (lambda: ss.SuperSampler(5, half_life=1.0).fit(POINTS, time=[np.inf] * 700), "got infinity"),
        (lambda: ss.SuperSampler(5, half_life="soon").fit(POINTS, time=TIMES), "half_life must be a duration, got 'soon'"),
        (lambda: ss.SuperSampler(5, half_life=-1).fit(POINTS), "half_life must be a positive number, got -1"),
        (lambda: ss.SuperSampler(5, half_life=[1]).fit(POINTS), "half_life must be a number of rows or a duration"),
        (lambda: ss.MeanEmbedding(PHI, half_life="1h").update(POINTS), "time must be given with every batch"),
        (lambda: ss.MeanEmbedding(PHI).update(POINTS, time=TIMES), "time must be left out"),
        (lambda: ss.MeanEmbedding(PHI, half_life=3).merge(ss.MeanEmbedding(PHI)), "different half-lives (3 rows and none)"),
        (lambda: ss.summarize(table(), half_life="1h"), "pass time= as well"),
        (lambda: ss.summarize(table(), time="when"), "time must come with half_life"),
        (lambda: ss.summarize(table(), time="when", half_life=5), "half_life must be a duration such as '7d' where time names"),
        (lambda: ss.summarize(table(), time="x", half_life="5h"), "half_life must be a number where time names"),
        (lambda: ss.summarize(table(), time="wen", half_life="5h"), "did you mean 'when'"),
        (lambda: ss.summarize(table(), time="when", half_life="5h", drop=["when"]), "drop names column 'when', which time"),
        (lambda: ss.summarize(table(), time="when", half_life="5h", redact=["when"]), "redact names column 'when'"),
    ],
)  # fmt: skip
def test_bad_input_is_refused(make, message):
    with pytest.raises(ss.errors.SupersampleError) as caught:
        make()
    assert message in str(caught.value)


def test_a_bad_batch_leaves_nothing_behind():
    sampler = ss.SuperSampler(5, half_life="1h", random_state=0).fit(POINTS, time=TIMES)
    before = sampler.prototypes_
    with pytest.raises(ss.errors.InputError):
        sampler.partial_fit(POINTS)
    assert sampler.n_seen_ == 700
    assert np.array_equal(sampler.prototypes_, before)
