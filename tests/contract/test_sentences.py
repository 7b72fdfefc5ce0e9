"""Every number in the sentences of terminal and page, computed again from the data, on a dozen tables.

The tables have fewer rows than a summary keeps in its sample, so that all of them are exact but for what is said to be "about".
"""

import re

import numpy as np
import pyarrow as pa
import pytest
from scipy.spatial.distance import cdist

import supersample as ss
from oddities import with_groups, with_oddities
from supersample.report.view import view_of
from supersample.summary.comparison import gain_in_words

N = 2_400
WEIGHT = "how many"


def _numbers(rng):
    return {f"x{place}": rng.normal(size=N) for place in range(3)}


def _wrong(rng):
    """Infinite numbers, -999 for missing ones, gaps, and a category in which all values are rare."""
    return {
        "ratio": np.where(rng.random(N) < 0.01, np.inf, rng.normal(size=N)),
        "age": np.where(rng.random(N) < 0.002, -999, rng.integers(18, 90, N)),
        "height": np.where(rng.random(N) < 0.12, np.nan, rng.normal(172.0, 9.0, N)),
        "at": [f"{each // 60:02}:{each % 60:02}" for each in rng.integers(0, 1_440, N)],
    }


def _days(rng):
    return np.datetime64("2024-05-01", "s") + rng.integers(0, 10**6, N).astype("timedelta64[s]")


TABLES = {
    "numbers": _numbers,
    "one column": lambda rng: {"x": rng.exponential(size=N)},
    "heavy tails": lambda rng: {f"x{place}": rng.standard_cauchy(N) for place in range(3)},
    "category": lambda rng: {**_numbers(rng), "kind": rng.choice(list("abcd"), N, p=[0.6, 0.2, 0.15, 0.05])},
    "truth values": lambda rng: {"x": rng.normal(size=N), "yes": rng.random(N) < 0.1, "no": rng.random(N) < 0.5},
    "gaps": lambda rng: {**_numbers(rng), "gap": np.where(rng.random(N) < 0.1, np.nan, rng.normal(size=N))},
    "few values": lambda rng: {"count": rng.poisson(1.5, N), "x": rng.normal(size=N)},
    "copies": lambda rng: {"x": np.repeat(rng.normal(size=N // 4), 4), "y": np.tile(rng.normal(size=N // 4), 4)},
    "constant": lambda rng: {**_numbers(rng), "same": np.full(N, 7)},
    "times and ids": lambda rng: {**_numbers(rng), "when": _days(rng), "order_id": np.arange(N) + 10**6},
    "tied values": lambda rng: {"age": rng.normal(40, 12, N).round(), "rating": rng.integers(1, 6, N)},
    "weights": lambda rng: {"x": rng.normal(size=N), "y": rng.normal(size=N), WEIGHT: rng.exponential(size=N) ** 3},
    "a heap": lambda rng: {f"x{place}": np.append(rng.normal(size=N - 120), rng.normal(4.5, 0.1, 120)) for place in range(3)},
    "odd rows": lambda rng: with_oddities(N, 3)[0],
    "groups": lambda rng: with_groups(N, 3)[0],
    "wrong values": lambda rng: _wrong(rng),
}


def made(name, seed=0):
    rng = np.random.default_rng([seed, sorted(TABLES).index(name)])
    found = TABLES[name](rng)
    if isinstance(found, pa.Table):
        return found
    return pa.table({key: pa.array(values, from_pandas=True) for key, values in found.items()})


def shares_of(table):
    weights = table[WEIGHT].to_numpy() if WEIGHT in table.column_names else np.ones(N)
    return weights / weights.sum()


def told(table):
    """Return a table, its summary, its points and the share of each row."""
    weight = WEIGHT if WEIGHT in table.column_names else None
    summary = ss.summarize(table, 25, 6, random_state=0, weight=weight)
    return table, summary, summary.encode(table), shares_of(table)


@pytest.fixture(params=TABLES)
def case(request):
    return told(made(request.param))


@pytest.fixture(params=["tied values", "weights", "odd rows", "groups"])
def merged(request):
    table = made(request.param)
    weight = WEIGHT if WEIGHT in table.column_names else None
    left = ss.summarize(table.slice(0, 1_100), 25, 6, random_state=0, weight=weight)
    summary = left.merge(ss.summarize(table.slice(1_100), like=left))
    return table, summary, summary.encode(table), shares_of(table)


def number(text):
    return float(text.replace(",", ""))


def test_the_terminal(case):
    _, summary, points, shares = case
    chosen, weights = points[summary.prototypes["_row"].to_numpy()], summary.weights()
    first, second, third = str(summary).splitlines()[:3]
    gram = summary.kernel(points)
    equal = np.sqrt(ss.mmd2(chosen, points, kernel=summary.kernel, weight_y=shares))
    exact = np.sqrt(ss.mmd2(chosen, points, kernel=summary.kernel, weight_x=weights, weight_y=shares))
    random = np.sqrt((shares @ np.diag(gram) - shares @ gram @ shares) * N / (N - 1) * (1 / 25 - 1 / N))
    said = re.fullmatch(r"  MMD +(\S+) \(exact\); (\S+) with equal weights; (\S+) for 25 random rows", second)
    assert number(said[1]) == pytest.approx(exact, rel=1e-3)
    assert number(said[2]) == pytest.approx(equal, rel=6e-3)
    assert number(said[3]) == pytest.approx(random, rel=0.25)  # of twenty sets of rows
    assert exact <= equal * (1 + 1e-9)
    good = re.search(r"as good as about ([\d,]+) rows", first)
    known = 1 / ((1 / 25 - 1 / N) * (exact / random) ** 2 + 1 / N)
    assert (number(good[1]) if good else N) == pytest.approx(known, rel=0.5)
    kinds = summary.criticisms["_kind"].to_pylist()
    told = ", ".join(f"{kinds.count(each)} {each}" for each in ("missed", "rare") if each in kinds)
    fewer = " (6 requested; but for copies, no other row is missed or rare)" if len(kinds) < 6 else ""
    assert third == f"  criticisms  {len(kinds)} rows that they do not show: {told}{fewer}"


def test_shares_of_prototypes_and_criticisms(case):
    check_shares(*case[1:])


def test_shares_of_prototypes_and_criticisms_of_a_merge(merged):
    check_shares(*merged[1:])


def check_shares(summary, points, shares):
    view = view_of(summary)
    near = cdist(points, points[summary.prototypes["_row"].to_numpy()])
    own = np.bincount(near.argmin(axis=1), weights=shares, minlength=25)
    own = dict(zip(summary.prototypes["_row"].to_pylist(), own, strict=True))
    tied = (near == near.min(axis=1)[:, None]).sum(axis=1).max() > 1
    for card in view.prototypes.cards:
        assert tied or card.share == pytest.approx(own[card.row], abs=1e-9)
    distances = cdist(points, points)
    sixth = np.partition(distances, 6, axis=1)[:, 6]
    low, high = np.quantile(sixth, [0.25, 0.75])
    differ = np.where(distances > 1e-9, distances, np.inf).min(axis=1)
    before = np.inf
    for card, row in zip(view.criticisms.cards, summary.criticisms.to_pylist(), strict=True):
        away = distances[card.row]
        nearer, tied = (shares @ (away < near.min(axis=1) + more) for more in (-1e-9, 1e-9))
        said = re.search(r"(?:([\d.]+)%|Almost none) of the data is nearer to this row than to any prototype", card.why)
        rounding = 0.0051 if nearer >= 0.01 else 0.0006
        assert nearer - rounding <= float(said[1] or 0) / 100 <= tied + rounding
        assert row["_witness"] >= 0
        if row["_kind"] == "rare":  # few rows are like it: among the last five of a hundred, or far out of the usual range
            fence = high + 2.5 * (high - low) if high - low > 1e-6 else 1.9 * high
            assert sixth[card.row] > min(np.quantile(sixth, 0.94), max(fence, 1e-6))
            assert (away < high).sum() <= 7
            continue
        # Its group has no prototype; what else is within twice its radius, or the usual distance, is a quarter of it.
        group = away * 2 < near.min(axis=1)
        others = away <= max(2 * np.quantile(away[group], 0.9), 1.4 * np.median(differ))
        assert shares[group].sum() >= 0.001
        assert shares[group].sum() ** 2 / (shares[group] ** 2).sum() > 6.5
        assert shares @ (others & ~group) <= 0.25 * shares[group].sum()
        assert (others & ~group).sum() <= 0.25 * group.sum()
        assert row["_witness"] >= 0.05 * shares[group].sum()
        assert row["_share"] <= before  # the largest first
        before = row["_share"]


def test_what_is_unusual_is_so(case):
    table, summary, _, shares = case
    for card in view_of(summary).criticisms.cards:
        for words in card.unusual:
            check_unusual(words, table, card.row, shares)


def check_unusual(words, table, row, shares):
    """Check one sentence, such as "x is 3, higher than 99% of its values", against all rows."""
    share = r"(?:(under |over )?([\d.]+)%|nearly all|hardly any)"
    said = re.fullmatch(
        rf"(\S+) (?:is \S+|has no readable value), (?:as in|(higher|lower) than) {share} of (the data|its values)", words
    )
    name, most, side, percent, where = said.groups()
    values = _values(table, name)
    there = values.notna().to_numpy()
    assert where == ("its values" if most and not there.all() else "the data")
    value = values[row]
    if most is None:
        share = shares @ (values.isna() if "readable" in words else values == value).to_numpy()
        assert share < 0.025
    else:
        share = shares @ ((values < value) if most == "higher" else (values > value)).to_numpy() / shares[there].sum()
        far = abs(value - values.median()) > 8 * (values.quantile(0.75) - values.quantile(0.25)) / 1.349
        assert share > 0.975 or far
    if percent is None:
        assert share > 0.9995
    elif side is None:
        assert 100 * share == pytest.approx(float(percent), abs=0.051)


def _values(table, name):
    return table[name].to_pandas()


def _scores(table, name, value):
    """A column as numbers: of a category, whether it has the value that is named in quotes."""
    values = _values(table, name)
    return (values == value.strip("'")).astype(float) if value else values.astype(float)


def _check_words(words, left, right):
    """Check one change of a column, such as "mean 3.1 -> 3.4", against the values; return whether it was understood."""
    if said := re.fullmatch(r"missing ([\d.]+)% -> ([\d.]+)%", words):
        assert [100 * left.isna().mean(), 100 * right.isna().mean()] == pytest.approx(
            [float(said[1]), float(said[2])], abs=0.06
        )
    elif said := re.fullmatch(r"(mean|median) (\S+) -> (\S+)", words):
        exact = [getattr(each.dropna(), said[1])() for each in (left, right)]
        assert [number(said[2]), number(said[3])] == pytest.approx(exact, rel=0.02, abs=0.01)
    elif said := re.fullmatch(r"spread x (\S+)", words):
        assert number(said[1]) == pytest.approx(right.std() / left.std(), rel=0.02)
    elif said := re.fullmatch(r"new: '?(.+?)'? ([\d.]+)%", words):
        assert 100 * (right.astype(str) == said[1]).mean() == pytest.approx(float(said[2]), abs=0.06)
        assert not (left.astype(str) == said[1]).any()
    elif said := re.fullmatch(r"([\d.]+) (at least )?([\d.]+)% -> (at most )?([\d.]+)%", words):
        shares = [100 * (each.dropna() == float(said[1])).mean() for each in (left, right)]
        assert float(said[3]) - 0.06 <= shares[0] <= float(said[3]) + (0.5 if said[2] else 0.06)
        assert float(said[5]) - (0.5 if said[4] else 0.06) <= shares[1] <= float(said[5]) + 0.06
    elif said := re.fullmatch(r"'?(.+?)'? ([\d.]+)% -> ([\d.]+)%", words):
        shares = [100 * (each.dropna().astype(str).str.lower() == said[1]).mean() for each in (left, right)]
        assert shares == pytest.approx([float(said[2]), float(said[3])], abs=0.06)
    else:
        return False
    return True


CHANGES = {
    "missing": ("gaps", lambda table, rng: ("gap", np.where(rng.random(N) < 0.3, np.nan, rng.normal(size=N)))),
    "mean": ("numbers", lambda table, rng: ("x1", rng.normal(0.4, 1.0, N))),
    "spread": ("numbers", lambda table, rng: ("x1", rng.normal(0.0, 1.6, N))),
    "new value": ("category", lambda table, rng: ("kind", rng.choice(list("abcdz"), N, p=[0.55, 0.2, 0.15, 0.05, 0.05]))),
    "share": ("category", lambda table, rng: ("kind", rng.choice(list("abcd"), N, p=[0.4, 0.4, 0.15, 0.05]))),
    "truth value": ("truth values", lambda table, rng: ("yes", rng.random(N) < 0.3)),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_changed_and_the_rows_that_show_it(change):
    name, changed = CHANGES[change]
    left, right = made(name, 1), made(name, 2)
    column, values = changed(right, np.random.default_rng(7))
    place = right.column_names.index(column)
    right = right.set_column(place, column, pa.array(values, from_pandas=True))
    first = ss.summarize(left, 25, 0, random_state=0)
    found = first.compare(ss.summarize(right, like=first, random_state=1))
    assert column in found.changed
    known = 0
    for each in found.columns:
        if each.name in found.changed:
            known += sum(
                _check_words(part, _values(left, each.name), _values(right, each.name)) for part in re.split("[;,] ", each.what)
            )
            assert f"{each.name}  " in str(found)
    assert known >= 1
    for pair in found.pairs:  # of normal scores, near Spearman's
        for side, said in ((left, pair.before), (right, pair.after)):
            one, two = (_scores(side, name, value) for name, value in zip(pair.columns, pair.values, strict=True))
            assert said == pytest.approx(one.corr(two, "spearman"), abs=0.06)
    for rows, mine, other in ((found.left_rows, left, right), (found.right_rows, right, left)):
        for row in rows.to_pylist():
            assert mine.slice(row["_row"], 1).to_pylist()[0] == {key: row[key] for key in mine.column_names} or any(
                row[key] is None or row[key] != row[key] for key in mine.column_names
            )
            smooth = (row["_count"] + 0.5) / (row["_other"] + 0.5)
            assert row["_ratio"] == pytest.approx(smooth, rel=0.02)
            here, there = (int((side[column].to_pandas() == row[column]).sum()) for side in (mine, other))
            if re.fullmatch(rf"{column} '?{row[column]}'?", row["_like"]):
                assert (row["_count"], row["_other"]) == (here, there)
                assert ("not seen on the other side" in gain_in_words(row)) == (there == 0)


def test_the_correlation_of_two_columns_is_said_to_be_one_of_ranks():
    # A few far values decide Pearson's correlation, which falls where that of the ranks rises.
    rng = np.random.default_rng(0)
    sides = []
    for part, far in ((0.2, 30.0), (0.5, -30.0)):
        x, y = rng.normal(size=(2, N))
        y = part * x + np.sqrt(1.0 - part**2) * y
        x[:8], y[:8] = 30.0, far
        sides.append(pa.table({"x": x, "y": y}))
    first = ss.summarize(sides[0], 25, 0, random_state=0)
    found = first.compare(ss.summarize(sides[1], like=first, random_state=1))
    (pair,) = found.pairs_at(0.05)
    assert "together x and y (rank correlation " in str(found)
    said = re.fullmatch(r"rank correlation (\S+) -> (\S+)", pair.what)
    for side, number_said in zip(sides, said.groups(), strict=True):
        assert float(number_said) == pytest.approx(side.to_pandas().corr("spearman").loc["x", "y"], abs=0.06)
    assert sides[1].to_pandas().corr().loc["x", "y"] < sides[0].to_pandas().corr().loc["x", "y"]
