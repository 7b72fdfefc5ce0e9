"""The verdict of `compare`: how often it finds changes, names the right column, and is wrong where nothing changed.

`make level` prints the tables of docs/guides/compare.md; the suite runs a few pairs of each.
"""

from functools import reduce

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import signal, stats
from sklearn.ensemble import HistGradientBoostingClassifier

import oracles
import supersample as ss

ROWS = 5_000
SHARES = (0.30, 0.25, 0.20, 0.10, 0.10, 0.05)


def table(rng, rows=ROWS, *, gap=0.01, new=0.0, mean=0.0, sd=1.0, shares=SHARES, tied=0.0, moved=0.0):
    """Eight numbers, a category of six values, and a number with gaps."""
    numbers = rng.normal(size=(rows, 8))
    numbers[:, 0] = mean + sd * numbers[:, 0]
    numbers[:, 1] = tied * numbers[:, 0] + np.sqrt(1.0 - tied**2) * numbers[:, 1]
    numbers[rng.random(rows) < moved, :3] += 6.0
    kind = rng.choice(list("abcdef"), rows, p=shares).astype(object)
    kind[rng.random(rows) < new] = "new"
    gaps = np.where(rng.random(rows) < gap, np.nan, rng.normal(size=rows))
    columns = {f"x{place}": numbers[:, place] for place in range(8)}
    return pa.table(columns | {"kind": pa.array(kind.tolist()), "gap": pa.array(gaps, from_pandas=True)})


#: What is changed, the columns that are right to be named, and the share of pairs in which it must be found.
CHANGES = {
    "missing values, 1% to 3%": ({"gap": 0.03}, {"gap"}, 0.95),
    "missing values, 1% to 5%": ({"gap": 0.05}, {"gap"}, 0.99),
    "a new value in 1% of rows": ({"new": 0.01}, {"kind"}, 0.99),
    "a value from 5% to 7%, another from 10% to 8%": ({"shares": (0.30, 0.25, 0.20, 0.08, 0.10, 0.07)}, {"kind"}, 0.90),
    "mean of a column + 0.08 sd": ({"mean": 0.08}, {"x0"}, 0.75),
    "sd of a column x 1.2": ({"sd": 1.2}, {"x0"}, 0.99),
    "correlation 0.3 of two columns": ({"tied": 0.3}, {"x0", "x1"}, 0.60),
    "1% of rows moved by 6 sd in three columns": ({"moved": 0.01}, {"x0", "x1", "x2"}, 0.80),
}


def pair_of(seed, changes):
    rng = np.random.default_rng([seed, 17])
    return table(rng), table(rng, **changes)


def judged(seeds, changes, right):
    """Return in how many pairs of tables a change was found, a right column was named, and another one was."""
    found = named = wrong = 0
    for seed in seeds:
        first, second = pair_of(seed, changes)
        left = ss.summarize(first, 20, 0, random_state=seed)
        result = left.compare(ss.summarize(second, like=left, random_state=seed + 1))
        names = {*result.changed, *(name for pair in result.pairs_at(0.05) for name in pair.columns)}
        found += result.rejects()
        named += bool(names & right)
        wrong += bool(names - right)
    return found, named, wrong


def by_columns(left, right):
    """Test each column by SciPy: numbers by Kolmogorov-Smirnov, gaps and categories by chi-squared, with Bonferroni's rule."""
    pvalues = []
    for name in left.columns:
        sides = [each[name] for each in (left, right)]
        if left[name].dtype.kind == "f":
            pvalues.append(stats.ks_2samp(*(each.dropna() for each in sides)).pvalue)
            if left[name].isna().any():
                pvalues.append(stats.chi2_contingency([[each.isna().sum(), each.notna().sum()] for each in sides]).pvalue)
        else:
            counts = pd.concat([each.value_counts() for each in sides], axis=1).fillna(0).to_numpy()
            pvalues.append(stats.chi2_contingency(counts).pvalue)
    return min(pvalues) * len(pvalues) <= 0.05


def by_classifier(left, right, seed):
    """Learn to tell the sides apart from half of the rows, and test on the other half whether that worked."""
    both = pd.concat([left, right], ignore_index=True)
    both["kind"] = both["kind"].astype("category")
    side, half = np.arange(len(both)) >= len(left), np.random.default_rng(seed).random(len(both)) < 0.5
    model = HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=seed).fit(both[half], side[half])
    hits = int((model.predict(both[~half]) == side[~half]).sum())
    return stats.binomtest(hits, int((~half).sum()), 0.5, alternative="greater").pvalue <= 0.05


def judged_by_others(seeds, changes):
    """Return in how many pairs of tables a change was found column by column, and by a classifier."""
    frames = [[side.to_pandas() for side in pair_of(seed, changes)] for seed in seeds]
    return sum(by_columns(*each) for each in frames), sum(by_classifier(*each, seed) for seed, each in enumerate(frames))


@pytest.mark.parametrize("change", [name for name, case in CHANGES.items() if case[2] >= 0.95])
def test_clear_changes_are_found_and_named(change):
    changes, right, _ = CHANGES[change]
    found, named, _ = judged(range(1), changes, right)
    assert (found, named) == (1, 1)


@pytest.mark.level
@pytest.mark.parametrize("change", CHANGES)
def test_changes_are_found_as_often_as_is_said(change, capsys):
    changes, right, least = CHANGES[change]
    found, named, wrong = judged(range(1_000, 1_500), changes, right)
    columns, classifier = judged_by_others(range(1_000, 1_200), changes)
    with capsys.disabled():
        others = f"column by column {columns / 2:.1f}%, by a classifier {classifier / 2:.1f}%"
        print(f"{change:48} found {found / 5:.1f}%, named {named / 5:.1f}%, others named {wrong / 5:.1f}%; {others}")  # noqa: T201
    assert found >= 500 * least
    assert named >= 0.9 * found


@pytest.mark.level
def test_more_rows_name_smaller_changes(capsys):
    named = 0
    for seed in range(20):
        rng = np.random.default_rng([seed, 18])
        left = ss.summarize(table(rng, 200_000), 20, 0, random_state=seed)
        right = ss.summarize(table(rng, 200_000, gap=0.03), like=left, random_state=seed + 1)
        named += "gap" in left.compare(right).changed
    with capsys.disabled():
        print(f"200,000 + 200,000 rows, missing values 1% to 3%: named in {named} of 20")  # noqa: T201
    assert named == 20


def of_many(rng, rows, grown=0.0):
    """Six hundred values, of which one may grow, and a number."""
    places = np.where(rng.random(rows) < grown, 0, rng.integers(0, 600, rows))
    return pa.table({"name": pa.array([f"v{each}" for each in places]), "x": rng.normal(size=rows)})


@pytest.mark.level
def test_one_of_600_values_that_grows_is_found(capsys):
    """From .17% to 1.17% of 20,000 rows: samples of 5,000 found it in 1 of 6 pairs."""
    named = 0
    for seed in range(50):
        rng = np.random.default_rng([seed, 19])
        left = ss.summarize(of_many(rng, 20_000), 20, 0, types={"name": "category"}, random_state=seed)
        found = left.compare(ss.summarize(of_many(rng, 20_000, 0.01), like=left, random_state=seed + 1))
        named += found.changed == ("name",) and "'v0' at most" in found.columns[0].what
    with capsys.disabled():
        print(f"one of 600 values, .17% to 1.17%, 20,000 + 20,000 rows: named in {named} of 50")  # noqa: T201
    assert named >= 45


def mixed(rng, rows):
    kind = rng.choice(3, rows, p=[0.5, 0.3, 0.2])
    return {
        "x": rng.normal(kind * 2.0, 1.0),
        "kind": np.array(["a", "b", "c"], dtype=object)[kind],
        "gone": np.where(rng.random(rows) < 0.1, np.nan, rng.exponential(size=rows)),
    }


def categories(number):
    def made(rng, rows):
        return {
            "name": np.array([f"v{each}" for each in rng.integers(0, number, rows)], dtype=object),
            "x": rng.normal(size=rows),
        }

    return made


def rare_together(rng, rows):
    hit = rng.random(rows) < 0.001
    return {"x": rng.normal(size=rows), **{name: hit * rng.exponential(size=rows) for name in "ab"}}


#: Data of one kind, rows on the left and on the right, and options.
NULLS = {
    "mixed": (mixed, 2_000, 2_000, {}),
    "mixed, 20,000 + 20,000": (mixed, 20_000, 20_000, {}),
    "normal, 30 columns": (lambda rng, n: {f"x{i}": rng.normal(size=n) for i in range(30)}, 1_000, 1_000, {}),
    "ties": (lambda rng, n: {f"x{i}": rng.poisson(0.3, n) for i in range(6)}, 1_000, 1_000, {}),
    "heavy tails": (lambda rng, n: {f"x{i}": rng.standard_cauchy(n) for i in range(4)}, 1_000, 1_000, {}),
    "log-normal": (lambda rng, n: {f"x{i}": rng.lognormal(0, 2, n) for i in range(4)}, 1_000, 1_000, {}),
    "mostly zero": (
        lambda rng, n: {f"x{i}": (rng.random(n) < 0.02) * rng.exponential(size=n) for i in range(5)},
        1_000,
        1_000,
        {},
    ),
    "a few rows in two columns": (rare_together, 1_000, 1_000, {}),
    "two values": (lambda rng, n: {f"x{i}": rng.random(n) < 0.05 for i in range(8)}, 500, 500, {}),
    "together": (lambda rng, n: dict(zip("abcd", np.cumsum(rng.normal(size=(4, n)), axis=0), strict=True)), 1_000, 1_000, {}),
    "weighted": (lambda rng, n: {**mixed(rng, n), "w": rng.gamma(2.0, size=n)}, 2_000, 2_000, {"weight": "w"}),
    "label": (mixed, 1_000, 1_000, {"label": "kind"}),
    "unequal, 1 to 5": (mixed, 400, 2_000, {}),
    "unequal, 1 to 50": (mixed, 60, 3_000, {}),
    "tiny": (mixed, 25, 25, {}),
    "merged": (mixed, 2_000, 2_000, {"parts": 4}),
    "made apart": (mixed, 2_000, 2_000, {"apart": True}),
    "made apart, 8,000 + 8,000": (mixed, 8_000, 8_000, {"apart": True}),
    "made apart, 1 to 5": (mixed, 400, 2_000, {"apart": True}),
    "made apart, heavy tails": (
        lambda rng, n: {f"x{i}": rng.standard_cauchy(n) for i in range(4)},
        6_000,
        6_000,
        {"apart": True},
    ),
    "made apart, weighted": (
        lambda rng, n: {**mixed(rng, n), "w": rng.gamma(2.0, size=n)},
        2_000,
        2_000,
        {"weight": "w", "apart": True},
    ),
    "100 categories": (categories(100), 5_000, 5_000, {"types": {"name": "category"}}),
    "300 categories": (categories(300), 5_000, 5_000, {"types": {"name": "category"}}),
    "1,500 categories": (categories(1_500), 5_000, 5_000, {"types": {"name": "category"}}),
}


def rejections(case, seeds):
    make, n_left, n_right, options = NULLS[case]
    options = dict(options)
    parts, apart = options.pop("parts", 1), options.pop("apart", False)
    count = 0
    for seed in seeds:
        rng = np.random.default_rng([seed, sorted(NULLS).index(case)])
        sides = [pa.table({k: pa.array(v, from_pandas=True) for k, v in make(rng, n).items()}) for n in (n_left, n_right)]
        pieces = [
            side.slice(place * (side.num_rows // parts), side.num_rows // parts) for side in sides for place in range(parts)
        ]
        left = ss.summarize(pieces[0], 20, 0, random_state=seed, **options)
        others = {"prototypes": 20, "criticisms": 0, **options} if apart else {"like": left}
        made = [left, *(ss.summarize(each, random_state=seed + 1, **others) for each in pieces[1:])]
        merged = [reduce(ss.Summary.merge, each) for each in (made[:parts], made[parts:])]
        count += merged[0].compare(merged[1]).rejects(0.05)
    return count


@pytest.mark.parametrize(
    "case", ["ties", "mostly zero", "unequal, 1 to 50", "100 categories", "300 categories", "1,500 categories", "made apart"]
)
def test_no_change_is_rarely_called_one(case):
    _, most = oracles.binomial_band(8, 0.05, 1 - 2e-5)
    assert rejections(case, range(8)) <= most


@pytest.mark.level
@pytest.mark.parametrize("case", NULLS)
def test_no_change_is_called_one_at_the_level(case, capsys):
    least, most = oracles.binomial_band(500, 0.05, 0.999)
    count = rejections(case, range(1_000, 1_500))
    with capsys.disabled():
        print(f"{case:24} differs in {count / 5:.1f}%, at most {most / 5:.1f}%")  # noqa: T201
    assert count <= most
    assert count >= least or not case.startswith("mixed")


def series(rng, rows, near, columns=10):
    """Normal numbers, each correlated with the one before it by `near`."""
    steps = rng.normal(size=(rows + 500, columns))
    return signal.lfilter([1.0], [1.0, -near], steps, axis=0)[500:] * np.sqrt(1.0 - near**2)


def one_of_ten(rng, rows):
    numbers = rng.normal(size=(rows, 10))
    numbers[:, :1] = series(rng, rows, 0.9, 1)
    return numbers


def volatile(rng, rows, columns=10):
    """Numbers without correlation whose spread depends on those before them (a GARCH process)."""
    out, variance = np.empty((rows + 200, columns)), np.ones(columns)
    for place, noise in enumerate(rng.normal(size=out.shape)):
        out[place] = np.sqrt(variance) * noise
        variance = 0.05 + 0.15 * out[place] ** 2 + 0.8 * variance
    return out[200:]


#: Rows that depend on those before them: all columns, or one of ten.
DEPENDENT = {
    "series, 0.3": lambda rng, rows: series(rng, rows, 0.3),
    "series, 0.5": lambda rng, rows: series(rng, rows, 0.5),
    "series, 0.9": lambda rng, rows: series(rng, rows, 0.9),
    "every row five times": lambda rng, rows: np.repeat(rng.normal(size=(rows // 5, 10)), 5, axis=0),
    "one column of ten, 0.9": one_of_ten,
    "volatile times": volatile,
}


def dressed(numbers):
    """Eight numbers as they are, a category of six values made of the ninth, and gaps where the tenth is low."""
    kind = np.array(list("abcdef"), dtype=object)[np.searchsorted([-1.0, -0.3, 0.3, 0.8, 1.4], numbers[:, 8])]
    gaps = np.where(numbers[:, 9] < -2.0, np.nan, numbers[:, 9])
    columns = {f"x{place}": numbers[:, place] for place in range(8)}
    return pa.table(columns | {"kind": pa.array(kind.tolist()), "gap": pa.array(gaps, from_pandas=True)})


def rejections_of_dependent(case, seeds):
    count = 0
    for seed in seeds:
        rng = np.random.default_rng([seed, 23])
        left = ss.summarize(dressed(DEPENDENT[case](rng, ROWS)), 20, 0, random_state=seed)
        count += left.compare(ss.summarize(dressed(DEPENDENT[case](rng, ROWS)), like=left, random_state=seed + 1)).rejects(0.05)
    return count


@pytest.mark.parametrize("case", DEPENDENT)
def test_dependent_rows_are_rarely_called_a_change(case):
    _, most = oracles.binomial_band(3, 0.1, 1 - 2e-3)
    assert rejections_of_dependent(case, range(3)) <= most


@pytest.mark.level
@pytest.mark.parametrize("case", DEPENDENT)
def test_dependent_rows_are_called_a_change_in_a_tenth_at_most(case, capsys):
    count = rejections_of_dependent(case, range(1_000, 1_300))
    with capsys.disabled():
        print(f"{case:24} differs in {count / 3:.1f}%, at most 10%")  # noqa: T201
    assert count <= 30
