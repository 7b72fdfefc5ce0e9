"""Sums over blocks of rows, the factor that is read from them, and what it does in `compare`."""

import re
from dataclasses import replace
from functools import reduce

import numpy as np
import pyarrow as pa
import pytest
from scipy import signal, stats

import supersample as ss
from supersample._text import about
from supersample.discrepancy.count_tests import compare_ordered, compare_shares, compare_values
from supersample.discrepancy.pair_tests import compare_pairs
from supersample.discrepancy.variance_factor import variance_factor
from supersample.embedding.moments import scale_weights
from supersample.selection.stream import dependence
from supersample.selection.stream.rows import Rows
from supersample.summary import Summary
from supersample.summary.depending import ColumnFactors, Factors, drained, factors_of, measured_in_sample, measures_of
from supersample.summary.snapshot import Snapshot

#: Groups of coordinates: single ones, one that is kept as it is, and one that is folded.
WIDTHS = (1, 3, 20, 1)


def rows_of(points, weights):
    return Rows(points, np.arange(len(points)), *scale_weights(np.asarray(weights, dtype=np.float64)))


def data_of(n, n_features=40, seed=0):
    rng = np.random.default_rng([seed, n])
    features = rng.integers(-9, 10, size=(n, n_features)).astype(np.float32)  # sums of whole numbers are exact
    return features, rng.normal(1.0, 1.0, size=(n, sum(WIDTHS))), rng.gamma(1.0, size=n) + 0.01


def fed(state, features, points, weights, cuts=()):
    for part in np.split(np.arange(len(points)), cuts):
        state = dependence.update(state, features[part], rows_of(points[part], weights[part]))
    return state


def slow_sums(coordinates, weights):
    """Sums over blocks, one block after the other: a dict of lists by length, and the rows that no block of it has."""
    found, length = {}, 1
    while length <= len(coordinates):
        blocks = [slice(start, start + length) for start in range(0, len(coordinates) - length + 1, length)]
        whole = np.array([weights[block].sum() for block in blocks])
        sums = np.array([(weights[block, None] * coordinates[block]).sum(axis=0) for block in blocks])
        own = np.array([(weights[block] ** 2).sum() for block in blocks])
        sizes = np.array([whole.sum(), (whole**2).sum(), own.sum()])
        found[length] = len(blocks), sizes, whole @ sums, (sums**2).sum(axis=0)
        length *= 2
    return found


def assert_sums(state, expected):
    scale = np.ldexp(1.0, state.exponent)
    assert state.counts.tolist() == [count for count, *_ in expected]
    for level, (_, sizes, products, squares) in enumerate(expected):
        np.testing.assert_allclose(state.sizes[level] * [scale, scale**2, scale**2], sizes, rtol=1e-9)
        np.testing.assert_allclose(state.products[level] * scale**2, products, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(state.squares[level] * scale**2, squares, rtol=1e-9)


def coordinates_of(state, features, points):
    return dependence._coordinates(dependence._layout(state.n_features, state.widths), features, points)


@pytest.mark.parametrize("n", [1, 2, 7, 64, 101])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_are_those_of_all_blocks_however_the_rows_come(n, weighted):
    features, points, weights = data_of(n)
    weights = weights if weighted else np.ones(n)
    empty = dependence.init(features.shape[1], WIDTHS)
    state = fed(empty, features, points, weights)
    coordinates = coordinates_of(state, features, points)
    assert_sums(state, slow_sums(coordinates, weights).values())
    np.testing.assert_allclose(state.totals * np.ldexp(1.0, state.exponent), weights @ coordinates, rtol=1e-9, atol=1e-9)
    again = fed(empty, features, points, weights, cuts=sorted({1, n // 3, n // 2}))
    assert_sums(again, slow_sums(coordinates, weights).values())


def test_weights_of_any_scale_change_no_ratio():
    features, points, weights = data_of(200)
    empty = dependence.init(features.shape[1], WIDTHS)
    small = fed(empty, features, points, weights * 2.0**-900, cuts=[50])
    rising = np.where(np.arange(200) < 100, 2.0**-700, 2.0**300)
    plain = fed(empty, features, points, weights).measured(features, points)
    assert small.measured(features, points) == plain
    late = fed(empty, features, points, weights * rising, cuts=[100]).measured(features, points)
    assert late[0].levels[0].blocks == pytest.approx(weights[100:].sum() ** 2 / (weights[100:] ** 2).sum())


def test_coordinates_are_features_and_groups_folded_with_signs():
    features, points, _ = data_of(30)
    state = dependence.init(40, WIDTHS)
    whole = coordinates_of(state, features, points)
    assert whole.shape == (30, 32 + 1 + 3 + 8 + 1)
    np.testing.assert_array_equal(np.abs(whole[:, 8:32]), np.abs(features[:, 8:32].astype(np.float64)))
    np.testing.assert_array_equal(np.abs(whole[:, 32:36]), np.abs(points[:, :4]))
    for place in range(points.shape[1]):  # a coordinate changes one of its own group, by as much as it changed
        moved = points.copy()
        moved[:, place] += 2.0
        gap = (coordinates_of(state, features, moved) - whole).round(12)
        group = int(np.searchsorted(np.cumsum(WIDTHS), place, side="right"))
        (changed,) = np.flatnonzero(gap.any(axis=0))
        assert [0, 1, 4, 12, 13][group] <= changed - 32 < [0, 1, 4, 12, 13][group + 1]
        assert set(np.abs(gap[:, changed])) == {2.0}
    given, groups = state.coordinates(points)
    np.testing.assert_array_equal(given, whole[:, 32:])
    assert groups.tolist() == [0] + [1] * 3 + [2] * 8 + [3]


@pytest.mark.parametrize(("widths", "kept"), [((64,) * 40, [2] * 3), ((1,) * 130, [1, 1, 0]), ((5,) * 100, [1] * 3)])
def test_many_groups_share_the_places(widths, kept):
    layout = dependence._layout(10, widths)
    sizes = [part.stop - part.start for part in layout.groups]
    assert sum(sizes) <= 128
    assert [sizes[0], sizes[1], sizes[-1]] == kept
    state = fed(dependence.init(10, widths), np.ones((9, 10)), np.ones((9, sum(widths))), np.ones(9))
    _, groups = state.measured(np.ones((9, 10)), np.ones((9, sum(widths))))
    assert [bool(group) for group in groups] == [size > 0 for size in sizes]


def test_a_merge_adds_whole_blocks_and_goes_on_with_those_of_the_right():
    features, points, weights = data_of(150)
    empty = dependence.init(features.shape[1], WIDTHS)
    left, right = (fed(empty, *(each[part] for each in (features, points, weights))) for part in (slice(0, 61), slice(61, 120)))
    merged = dependence.merge(left, right)
    rest = slice(120, 150)
    merged = dependence.update(merged, features[rest], rows_of(points[rest], weights[rest]))
    coordinates = coordinates_of(empty, features, points)
    first = slow_sums(coordinates[:61], weights[:61])
    second = slow_sums(coordinates[61:], weights[61:])
    lengths = sorted({*first, *second})
    nothing = 0, 0.0, 0.0, 0.0
    both = [tuple(a + b for a, b in zip(first.get(b, nothing), second.get(b, nothing), strict=True)) for b in lengths]
    scale = [int(merged.counts.size), len(both)]
    assert scale == [8, 7]  # 150 rows could fill a block of 128, but none lies in one of the two
    assert merged.counts[-1] == 0
    trimmed = {name: getattr(merged, name)[:7] for name in ("counts", "sizes", "products", "squares")}
    assert_sums(replace(merged, **trimmed), both)
    assert dependence.merge(empty, left) is left
    assert dependence.merge(left, empty) is left


def ar1(rho, n, columns, seed):
    """Rows of a series whose columns are normal with variance 1 and correlated with their predecessor by rho."""
    steps = np.random.default_rng([seed, n]).normal(size=(n + 500, columns))
    return signal.lfilter([1.0], [1.0, -rho], steps, axis=0)[500:] * np.sqrt(1.0 - rho**2)


def measured(x):
    state = fed(dependence.init(1, (1,)), x, x, np.ones(len(x)))
    return state.measured(x[:1000], x[:1000])[1][0][0]


#: A shift of half of 5,000 rows.
MOVED = np.repeat([[0.0], [3.0]], 2_500, axis=0)


@pytest.mark.parametrize("rho", [0.3, 0.5, 0.9, -0.5])
def test_ratios_of_a_series_are_those_of_the_closed_form(rho):
    n = 200_000
    found = measured(ar1(rho, n, 1, 3))
    for level in found.levels:
        b, k = level.length, n // level.length
        assert level.blocks == pytest.approx(k)
        if k >= 100:
            exact = (1 + rho) / (1 - rho) - 2 * rho * (1 - rho**b) / (b * (1 - rho) ** 2)
            # The standard error of a mean of k squares, which is a little larger since neighbouring blocks are correlated.
            assert level.ratio == pytest.approx(exact, abs=6 * exact * np.sqrt(2 / k) + 6 * np.sqrt(2 * 19 / n))
    factor = variance_factor(found, 1)
    limit = max((1 + rho) / (1 - rho), 1.0)
    # The length that is used leaves at least n / (16 limit) blocks and lacks 1 part in 8 at most; the allowance is 5 in k.
    assert factor == pytest.approx(limit, rel=0.125 + 6 * np.sqrt(32 * limit / n))
    assert factor >= 1.0


@pytest.mark.parametrize("seed", range(5))
def test_independent_rows_have_the_factor_one(seed):
    rng = np.random.default_rng(seed)
    for x in (
        rng.normal(size=(3_000, 1)),
        rng.exponential(size=(100, 1)),
        (rng.random((2_000, 1)) < 0.02) * 1.0,
        np.ones((50, 1)),
    ):
        assert variance_factor(measured(x), 1) == 1.0
    assert variance_factor(dependence.Measured((), 1.0), 1) == 1.0


def test_drift_is_the_share_of_the_variance_between_sixteenths():
    n, noise = 16 * 1_000, np.random.default_rng(0).normal(size=(16_000, 1))

    def drift(x, power=0):
        weights = np.random.default_rng(1).exponential(size=len(x)) ** power
        return fed(dependence.init(1), x, x, weights).drift()

    slope = np.linspace(-2.0, 2.0, n)[:, None]
    for x in (slope, slope + noise, np.sort(noise, axis=0)):
        # 31 blocks of 512 rows: between them lies what the means of blocks vary, less what noise does to a mean.
        means = x[: 31 * 512].reshape(31, 512).mean(axis=1)
        spread = np.square(means - x.mean()).sum() / 30
        assert drift(x) == pytest.approx(spread / x.var() - 1 / 512, rel=1e-3)
        assert drift(x) > 0.4
        assert drift(x, power=3) > 0.3  # weights change how many rows a block is worth, not the share
    for x in (noise, ar1(0.9, n, 1, 3), np.ones((n, 1)), np.sort(noise[:255], axis=0)):
        assert abs(drift(x)) < 0.06


def test_weak_dependence_over_long_stretches_is_followed_to_its_length():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(64_000, 1)) + np.sqrt(0.05) * np.repeat(rng.normal(size=(125, 1)), 512, axis=0)
    # At 16 rows the ratio is 1.8 only; 512 rows that share 1 / 21 of their variance have 1 + 511 / 21 = 25.3.
    assert variance_factor(measured(x), 1) == pytest.approx(25.3, rel=6 * np.sqrt(2 / 125))


def test_what_one_side_alone_shows_is_a_change_and_no_dependence():
    rng = np.random.default_rng(0)
    calm, moved, short = (measured(rng.normal(size=(n, 1)) + shift) for n, shift in ((5_000, 0.0), (5_000, MOVED), (100, 0.0)))
    alone = variance_factor(moved, 1)
    assert alone > 100
    assert 1.0 <= variance_factor(moved, 1, [calm]) < 6.0
    assert variance_factor(moved, 1, [short]) == alone  # too short to know
    assert variance_factor(moved, 1, [calm, moved]) == alone
    assert variance_factor(moved, 1, [measured(np.ones((5_000, 1)))]) == 1.0
    assert variance_factor(calm, 1, [moved]) == 1.0


@pytest.mark.parametrize("rho", [0.5, 0.9])
def test_what_both_sides_show_is_dependence(rho):
    pairs = [[measured(ar1(rho, 2_500, 1, seed)) for seed in (2 * pair, 2 * pair + 1)] for pair in range(20)]
    factors = [(variance_factor(one, 1, [other]), variance_factor(one, 1)) for one, other in pairs]
    assert np.mean([together == alone for together, alone in factors]) >= 0.8
    assert min(together / alone for together, alone in factors) > 0.6


def test_shares_of_copies_count_once():
    base = 3, 40, 14, 55
    assert compare_shares(15, 200, 14, 55, (5.0, 1.0)) == compare_shares(*base)
    assert compare_shares(14, 55, 15, 200, (1.0, 5.0)) == compare_shares(*base)
    assert compare_shares(4, 1_000, 0, 1_000, (5.0, 5.0)) == 1.0  # less than one row
    assert compare_shares(4, 10, 4, 11, (3.0, 3.0)) == 1.0
    # Rounding brings shares nearer to each other: 7 of 20 becomes 3 of 10, 1 of 20 becomes 1 of 10.
    assert compare_shares(7, 20, 1, 20, (2.0, 2.0)) == compare_shares(3, 10, 1, 10)
    large = compare_shares(3_000, 20_000, 3_200, 20_000, (4.0, 4.0))
    assert large == pytest.approx(compare_shares(750, 5_000, 800, 5_000), rel=1e-12)


def test_values_and_numbers_of_copies_count_once():
    rng = np.random.default_rng(0)
    left, right = rng.poisson(12.0, 30), rng.poisson(13.0, 30)
    assert compare_values(left * 5, right, (5.0, 1.0)) == pytest.approx(compare_values(left, right), rel=1e-9)
    once, often = compare_ordered(left, right), compare_ordered(left * 5, right * 3, (5.0, 3.0))
    assert often == pytest.approx(once, rel=1e-9)
    assert compare_ordered(right * 3, left * 5, (3.0, 5.0))[:5] == often[:5]


def test_pairs_take_the_smaller_factor_of_two_columns():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 2))
    y = x * [1.0, -1.0]  # of equal variances, so that the factors alone tell the sides apart
    shares = [np.full(400, 1 / 400)] * 2
    (found,) = compare_pairs([x, y], shares, [np.array([4.0, 9.0]), np.array([1.0, 3.0])], most=3)
    (plain,) = compare_pairs([x, y], shares, [np.ones(2)] * 2, most=3)
    ratio = stats.chi2.isf(plain.pvalue, 1) / stats.chi2.isf(found.pvalue, 1)
    assert ratio == pytest.approx((4.0 + 1.0) / 2.0)


def table_of(x):
    return pa.table({f"x{place}": column for place, column in enumerate(x.T)})


def pair_of(left, right, **options):
    first = ss.summarize(left, 10, 0, random_state=0, **options)
    return first, ss.summarize(right, like=first, random_state=1)


def without_measure(summary):
    state = summary._snapshot.settled
    return Summary(Snapshot(replace(state, stream=replace(state.stream, dependence=None))), summary.source)


def test_the_state_does_not_depend_on_batches_and_is_stored():
    x = ar1(0.5, 12_000, 3, 0)
    whole = ss.summarize(x, 10, 0, random_state=0)
    parts = ss.summarize(iter([x[:7_000], x[7_000:7_001], x[7_001:]]), 10, 0, random_state=0)
    other = ss.summarize(iter([x]), 10, 0, random_state=0)
    assert parts.to_bytes() == other.to_bytes()
    again = ss.summarize(x[:6_000], like=whole, random_state=1).update(x[6_000:])
    mine, theirs = (each._snapshot.settled.stream.dependence for each in (again, whole))
    assert all(np.array_equal(value, getattr(theirs, name)) for name, value in vars(mine).items())


def test_a_saved_summary_has_its_effective_rows(tmp_path):
    summary = ss.summarize(ar1(0.9, 6_000, 2, 1), 10, 0, random_state=0)
    assert 150 < summary.effective_rows < 1_000
    summary.save(tmp_path / "rows.ss")
    assert ss.load(tmp_path / "rows.ss").effective_rows == summary.effective_rows
    assert summary.to_dict()["effective_rows"] == summary.effective_rows


def test_effective_rows_are_those_of_the_weights_where_rows_are_independent():
    rng = np.random.default_rng(0)
    w = rng.gamma(2.0, size=3_000)
    table = table_of(rng.normal(size=(3_000, 2)))
    assert ss.summarize(table, 10, 0, random_state=0).effective_rows == 3_000
    weighted = ss.summarize(table.append_column("w", pa.array(w)), 10, 0, weight="w", random_state=0)
    assert weighted.effective_rows == pytest.approx(w.sum() ** 2 / (w**2).sum())


def test_notes_say_that_rows_depend_on_each_other():
    rng = np.random.default_rng(0)
    (note,) = (each for each in ss.summarize(ar1(0.9, 6_000, 2, 1), 10, 0, random_state=0).notes if "depend" in each.kind)
    assert note.column is None
    assert note.text.startswith("rows depend on those before them, or are sorted: 6,000 rows count as about ")
    assert note.text.endswith("in tests; shuffled files hide this")
    table = table_of(rng.normal(size=(6_000, 40)))
    assert not any("depend" in each.kind for each in ss.summarize(table, 10, 0, random_state=0).notes)
    series = table.append_column("late", pa.array(ar1(0.3, 6_000, 1, 2)[:, 0]))
    found = [each for each in ss.summarize(series, 10, 0, random_state=0).notes if "depend" in each.kind]
    assert [each.column for each in found] == ["late"]
    assert found[0].text.startswith("its values depend on those before them, or are sorted: 6,000 rows count as about 3,")
    (note,) = (each for each in without_measure(ss.summarize(table, 10, 0, random_state=0)).notes if "depend" in each.kind)
    assert note.kind == "dependence not measured"


COPIES = {
    "copies": lambda n, seed: np.repeat(np.random.default_rng(seed).normal(size=(n // 5, 3)), 5, axis=0),
    "series": lambda n, seed: ar1(0.9, n, 3, seed),
}


def dressed(x):
    """A number, the same with gaps, and a category of it; rows depend on each other in all of them."""
    gaps = np.where(x[:, 1] < -1.0, np.nan, x[:, 1])
    kinds = np.array(["low", "middle", "high", "top"], dtype=object)[np.searchsorted([-0.7, 0.3, 1.2], x[:, 2])]
    return pa.table({"x": x[:, 0], "gap": pa.array(gaps, from_pandas=True), "kind": kinds.tolist()})


@pytest.mark.parametrize("kind", COPIES)
@pytest.mark.parametrize("options", [{}, {"weight": "w"}, {"label": "kind"}])
def test_dependent_rows_are_not_called_a_change(kind, options):
    tables = [dressed(COPIES[kind](4_000, seed)).append_column("w", pa.array(np.ones(4_000))) for seed in (20, 21)]
    if options != {"weight": "w"}:
        tables = [each.drop_columns("w") for each in tables]
    first, second = pair_of(*tables, **options)
    found = first.compare(second)
    assert not found.rejects()
    assert min(found.dependence) > 2.0
    assert found.effective_rows == (first.effective_rows, second.effective_rows)
    assert set(found.dependent) == {"x", "gap", *({"kind"} if "label" not in options else ())}
    told = [about(each) for each in found.effective_rows]
    assert f"rows     count jointly as about {told[0]} on the left and about {told[1]} on the right, since" in str(found)
    for each in (one for one in found.columns if one.name in found.dependent):
        assert max(each.effective_rows) < 4_000
        assert re.search(rf" in {each.name} as about {' and '.join(map(about, each.effective_rows))}\b", str(found))
    assert found.to_dict()["effective_rows"] == list(found.effective_rows)
    back = second.compare(first)
    assert (back.pvalue, back.joint.pvalue) == (found.pvalue, found.joint.pvalue)
    assert {each.name: each.pvalue for each in back.columns} == {each.name: each.pvalue for each in found.columns}
    assert [each.pvalue for each in back.pairs] == [each.pvalue for each in found.pairs]
    blind = without_measure(first).compare(second)
    assert blind.effective_rows is None
    assert blind.pvalue <= found.pvalue
    assert blind.joint.pvalue < found.joint.pvalue
    assert "taken to be independent" in str(blind)


@pytest.mark.parametrize("options", [{}, {"weight": "w"}, {"label": "kind"}])
def test_every_test_counts_fewer_rows(options):
    rng = np.random.default_rng(7)
    left, right = rng.normal(size=(2, 800, 3))
    right[:, 0] = 0.3 + 0.93 * right[:, 0] + 0.37 * right[:, 1]
    right[:, 1:] -= 0.3
    tables = [dressed(np.repeat(each, 5, axis=0)) for each in (left, right)]
    tables = [each.append_column("w", pa.array(np.ones(4_000))) if "weight" in options else each for each in tables]
    first, second = pair_of(*tables, **options)
    found, blind = first.compare(second), without_measure(first).compare(without_measure(second))
    assert blind.effective_rows is None
    corrected = {each.name: each.pvalue for each in found.columns}
    for each in blind.columns:
        assert each.pvalue < 1e-3 * corrected[each.name], each.name
    assert blind.joint.pvalue < 1e-3 * found.joint.pvalue
    assert blind.pairs[0].pvalue < 1e-3 * found.pairs[0].pvalue
    # Each row five times says what the rows once would say, up to the error of the factor.
    once = ss.summarize(dressed(left), 10, 0, random_state=0)
    base = once.compare(ss.summarize(dressed(right), like=once, random_state=1))
    assert np.log(found.joint.pvalue) == pytest.approx(np.log(base.joint.pvalue), rel=0.4)


def test_merged_parts_keep_what_they_know():
    x = np.repeat(np.random.default_rng(0).normal(size=(2_000, 2)), 5, axis=0)
    first = ss.summarize(x[:2_500], 10, 0, random_state=0)
    parts = [first, *(ss.summarize(x[at : at + 2_500], like=first, random_state=at) for at in (2_500, 5_000, 7_500))]
    merged = reduce(Summary.merge, parts)
    assert merged.effective_rows == pytest.approx(2_000, rel=0.2)
    assert Summary.merge(without_measure(first), parts[1])._snapshot.settled.stream.dependence is None
    assert Summary.merge(without_measure(first), parts[1]).effective_rows == 5_000


def test_one_dependent_column_stretches_the_joint_null():
    rng = np.random.default_rng(5)
    sides = []
    for seed in (30, 31):
        x = rng.normal(size=(4_000, 6))
        x[:, 0] = ar1(0.95, 4_000, 1, seed)[:, 0]
        sides.append(table_of(x))
    first, second = pair_of(*sides)
    found = first.compare(second)
    assert found.dependent == ("x0",)
    (column,) = (each for each in found.columns if each.name == "x0")
    assert f"count in x0 as about {' and '.join(map(about, column.effective_rows))}\n" in str(found)
    alone = str(replace(found, dependence=(1.0, 1.0)))
    assert "rows     count as fewer in some columns, since they depend on those before them\n" in alone
    quantiles = found.joint.null_quantiles
    plain = without_measure(first).compare(without_measure(second)).joint.null_quantiles
    # The null grows by more than its mean does, since all that grows lies in one direction of many.
    assert quantiles[0.95] / plain[0.95] > 1.2 * max(found.dependence)


def test_a_sample_of_dependent_rows_depends_less():
    rng, n, drawn = np.random.default_rng(0), 1_000, 200
    means, sampled = [], []
    for _ in range(3_000):
        series = signal.lfilter([np.sqrt(1 - 0.9**2)], [1.0, -0.9], rng.normal(size=n + 100))[100:]
        means.append(series.mean())
        sampled.append(rng.choice(series, drawn, replace=False).mean())
    whole = Factors(
        joint=n * np.var(means), columns={"a": ColumnFactors(5.0, 3.0), "b": ColumnFactors(5.0, 3.0)}, share=drawn / n
    )
    found = whole.of_sample({"a"})
    assert found.joint == pytest.approx(drawn * np.var(sampled), rel=0.1)
    assert found.columns == {"a": ColumnFactors(1.8, 3.0), "b": ColumnFactors(5.0, 3.0)}


def late(seed, change):
    """Return 4,000 rows of a kind and a number; `change` is made in the last rows."""
    rng = np.random.default_rng(seed)
    table = {"kind": rng.choice(list("abc"), 4_000).astype(object), "x": rng.normal(size=4_000), "u": rng.normal(size=4_000)}
    change(table)
    return table


@pytest.mark.parametrize("rows", [200, 400, 2_000])
@pytest.mark.parametrize("what", ["new value", "missing"])
def test_a_change_late_in_the_file_is_found_and_named(rows, what):
    def changed(table):
        if what == "missing":
            table["x"][-rows:] = np.nan
        else:
            table["kind"][-rows:] = "N"

    left = ss.summarize(late(0, lambda table: None), prototypes=5, criticisms=0, random_state=0)
    found = left.compare(ss.summarize(late(1, changed), like=left, random_state=1))
    column, words = ("x", "missing 0.0% -> ") if what == "missing" else ("kind", "new: 'N' ")
    assert found.changed == (column,)
    assert found.columns[0].what.startswith(words)
    assert set(found.dependent) <= {column}


def test_all_rows_in_the_sample_show_the_blocks_of_the_stream():
    x = ar1(0.7, 3_000, 1, 0)
    summary = ss.summarize(x, prototypes=3, criticisms=0, random_state=0)
    held = drained(summary._snapshot.settled)
    order = held.background.rows.positions
    found, streamed = measured_in_sample(x[order, 0], held), measured(x)
    for mine, theirs in zip(found.levels, streamed.levels, strict=False):
        assert mine.length == theirs.length
        if mine.blocks > 16:  # the last block, which is not whole, counts here and not there
            assert mine.blocks == pytest.approx(theirs.blocks, rel=0.06)
            assert mine.ratio == pytest.approx(theirs.ratio, rel=0.15)
    assert measured_in_sample(np.ones(3_000), held).levels == ()


@pytest.mark.parametrize("n", [4_000, 40_000])
def test_squares_of_volatile_numbers_depend_on_each_other(n):
    rng = np.random.default_rng(0)
    loud = rng.normal(size=n) * np.exp(1.5 * ar1(0.99, n, 1, 1)[:, 0])
    state = ss.summarize({"calm": rng.normal(size=n), "loud": loud}, 3, 0, random_state=0)._snapshot.settled
    factors = factors_of(measures_of(state, drained(state))).columns
    assert factors["calm"].spread == factors["calm"].values == factors["loud"].values == 1.0
    assert factors["loud"].spread > 10


def dependent_columns(table):
    return [note.column for note in ss.summarize(table, 5, 0, random_state=0).notes if note.kind == "dependent rows"]


def test_few_ones_side_by_side_by_chance_are_not_told():
    """Ten tables of 30 independent columns with 5 to 60 ones: at most 1% of such runs fail, as 0.001 of tables have a note."""
    rng = np.random.default_rng(0)
    for _ in range(10):
        columns = {f"c{place}": rng.permutation(np.arange(8_000) < ones) for place, ones in enumerate(range(5, 64, 2))}
        assert dependent_columns(columns | {"x": rng.normal(size=8_000)}) == []


def test_few_ones_in_runs_are_told():
    rng = np.random.default_rng(0)
    starts = rng.choice(600, 6, replace=False) * 10
    runs = np.isin(np.arange(6_000), (starts[:, None] + np.arange(10)).ravel())
    columns = {f"x{place}": rng.normal(size=6_000) for place in range(20)}
    assert dependent_columns(columns | {"runs": runs}) == ["runs"]
    assert dependent_columns(columns | {"runs": rng.permutation(runs)}) == []
    columns["x0"] = columns["x0"] + 0.3 * np.append(0.0, columns["x0"][:-1])
    columns["x0"][7] = np.inf  # one far row hides nothing
    assert dependent_columns(columns) == ["x0"]
