"""One verdict, and what changed in each column, in words that are so."""

import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import supersample as ss
from supersample._hashing import hash_texts
from supersample.summary.comparing import compare

ROWS = 4_000


def table(seed, **changes):
    rng = np.random.default_rng(seed)
    kind = rng.choice(["ash", "beech", "cedar", "elm"], ROWS, p=[0.4, 0.3, 0.2, 0.1]).astype(object)
    columns = {
        "size": rng.normal(10.0, 2.0, ROWS),
        "other": rng.normal(size=ROWS),
        "kind": kind,
        "flag": rng.random(ROWS) < 0.3,
        "gap": np.where(rng.random(ROWS) < 0.01, np.nan, rng.exponential(size=ROWS)),
    }
    columns |= {name: change(rng, columns[name]) for name, change in changes.items()}
    return pa.table({name: pa.array(values, from_pandas=True) for name, values in columns.items()})


@pytest.fixture(scope="module")
def first():
    return ss.summarize(table(0), 10, 0, random_state=0)


def compared(first, seed=2, at_least=0.0, **changes):
    return first.compare(ss.summarize(table(seed, **changes), like=first, random_state=1), at_least=at_least)


CHANGES = {
    "mean": ("size", lambda rng, x: x + 0.5, r"mean \d+(\.\d+)? -> 10\.\d+"),
    "spread": ("size", lambda rng, x: 10.0 + 1.3 * (x - 10.0), r"spread x 1\.[23]\d?"),
    "tail": ("other", lambda rng, x: np.where(rng.random(ROWS) < 0.01, 9.0, x), r"values from \S+ on: 0\.[01]% -> [01]\.\d%"),
    "missing": ("gap", lambda rng, x: np.where(rng.random(ROWS) < 0.04, np.nan, x), r"missing \d\.\d% -> \d\.\d%"),
    "new": ("kind", lambda rng, x: np.where(rng.random(ROWS) < 0.01, "yew", x), r"new: 'yew' [01]\.\d%"),
    "gone": ("kind", lambda rng, x: np.where(x == "elm", "ash", x), r"gone: 'elm', was (9|10)\.\d%, 'ash' .*"),
    "share": ("flag", lambda rng, x: rng.random(ROWS) < 0.36, r"true \d\d\.\d% -> \d\d\.\d%$"),
}


@pytest.mark.parametrize("case", CHANGES)
def test_a_change_is_found_named_and_told(first, case):
    name, change, words = CHANGES[case]
    found = compared(first, **{name: change})
    assert found.rejects()
    assert found.changed == (name,)
    assert re.match(words, found.columns[0].what), found.columns[0].what


@pytest.mark.parametrize("case", CHANGES)
def test_verdict_and_columns_never_contradict_each_other(first, case):
    name, change, _ = CHANGES[case]
    # Nothing, the whole change, and an eighth of it, which is found now and then.
    eighth = lambda rng, x: np.where(np.arange(ROWS) % 8, x, change(rng, x))  # noqa: E731
    for found in (compared(first, 3), compared(first, **{name: change}), compared(first, **{name: eighth})):
        assert found.pvalue <= min(each.pvalue for each in (*found.columns, *found.pairs))
        for level in (0.001, 0.01, 0.05, 0.3, 1.0):
            named, pairs, text = found.changed_at(level), found.pairs_at(level), found.in_words(level)
            assert found.rejects(level) or not (named or pairs)
            assert found.rejects(level) == ("they differ" in text)
            assert all(each in text for each in named)


def test_it_does_not_matter_which_side_is_compared_with_which(first):
    second = ss.summarize(table(2, size=lambda rng, x: x + 0.2), like=first, random_state=1)
    there, back = first.compare(second), second.compare(first)
    assert there.pvalue == back.pvalue
    assert there.joint.pvalue == back.joint.pvalue
    assert {each.name: each.pvalue for each in there.columns} == {each.name: each.pvalue for each in back.columns}
    assert [each.pvalue for each in there.pairs] == [each.pvalue for each in back.pairs]


def test_columns_that_go_together_otherwise_are_told(first):
    rng = np.random.default_rng(5)
    base = table(2)
    size = base["size"].to_numpy()
    tied = base.set_column(1, "other", pa.array(0.4 * (size - 10.0) / 2.0 + np.sqrt(1 - 0.16) * rng.normal(size=ROWS)))
    found = first.compare(ss.summarize(tied, like=first, random_state=1))
    assert found.rejects()
    assert found.changed == ()
    assert found.pairs_at(0.05)[0].columns == ("size", "other")
    assert "together size and other (rank correlation " in str(found)
    assert found.to_dict()["pairs"][0]["columns"] == ["size", "other"]


def test_differences_that_do_not_matter_are_none(first):
    change = {"gap": CHANGES["missing"][1]}
    assert compared(first, at_least=0.02, **change).changed == ("gap",)
    quiet = compared(first, at_least=0.1, **change)
    assert (quiet.rejects(), quiet.changed) == (False, ())
    assert quiet.columns[0].pvalue == 1.0
    largest = {each.name: each.difference for each in quiet.columns}["gap"]
    assert 0.02 < largest < 0.1
    for wrong, error in ((-0.1, ss.errors.InputError), (1.5, ss.errors.InputError), ("1%", ss.errors.InputTypeError)):
        with pytest.raises(error, match=r"^at_least must"):
            compared(first, at_least=wrong)


def test_a_label_is_one_of_the_columns():
    data = table(0)
    first = ss.summarize(data, 10, 0, label="flag", random_state=0)
    moved = table(2, flag=lambda rng, x: rng.random(ROWS) < 0.4)
    found = first.compare(ss.summarize(moved, like=first, random_state=1))
    assert found.changed == ("flag",)
    assert found.joint.pvalue > 0.05


def test_values_rarer_than_the_least_count_are_not_named():
    first = ss.summarize(table(0), 10, 0, min_count=500, random_state=0)
    found = compared(first, kind=lambda rng, x: np.where(rng.random(ROWS) < 0.02, "yew", x))
    assert found.columns[0].what.startswith("new: a rare value ")
    assert "yew" not in str(found.to_dict())


def test_rows_with_weights_are_compared_by_samples():
    def weighted(seed, shift):
        rng = np.random.default_rng(seed)
        return pa.table({"x": rng.normal(shift, 1.0, ROWS), "w": rng.gamma(2.0, size=ROWS)})

    first = ss.summarize(weighted(0, 0.0), 10, 0, weight="w", random_state=0)
    found = first.compare(ss.summarize(weighted(1, 0.3), like=first, random_state=1))
    assert found.changed == ("x",)
    assert re.fullmatch(r"mean -0\.00\d+ -> 0\.2\d+", found.columns[0].what)


def many(seed, share=0.0, rows=20_000, first=0, value="v0"):
    """Six hundred values of about the same share, one of which grows, and a number."""
    rng = np.random.default_rng(seed)
    names = np.array([f"v{place}" for place in range(first, first + 600)], dtype=object)[rng.integers(0, 600, rows)]
    names[rng.random(rows) < share] = value
    return pa.table({"many": pa.array(names, pa.string()), "x": rng.normal(size=rows)})


MANY = {"types": {"many": "category"}}


@pytest.fixture(scope="module")
def first_of_many():
    return ss.summarize(many(0), 10, 0, random_state=0, **MANY)


def of_many(found):
    return next(each for each in found.columns if each.name == "many")


def test_one_of_many_values_that_grows_is_found_and_named_in_all_rows(first_of_many):
    """In samples of 5,000 rows, .17% to 1.17% is found in one of six pairs."""
    second = many(1, 0.01)
    found = first_of_many.compare(ss.summarize(second, like=first_of_many, random_state=1))
    back = ss.summarize(second, like=first_of_many, random_state=1).compare(first_of_many)
    assert found.changed == ("many",)
    assert found.pvalue == back.pvalue
    column = of_many(found)
    true = [np.mean(np.array(side["many"].to_pylist()) == "v0") for side in (many(0), second)]
    told = re.fullmatch(r"'v0' at most (\d\.\d)% -> at least (\d\.\d)%", column.what)
    most, least = (float(each) / 100 for each in told.groups())
    assert true[0] < most + 0.0005 < least < true[1] + 0.0005
    assert column.effective_rows == (20_000, 20_000)
    assert column.difference == pytest.approx(true[1] - true[0], abs=0.002)
    assert not found.columns[1].pvalue < 0.05


def test_no_change_of_many_values_is_found(first_of_many):
    found = first_of_many.compare(ss.summarize(many(2), like=first_of_many, random_state=1))
    assert not found.rejects()


def test_a_value_of_which_bounds_say_nothing_is_not_named(first_of_many):
    """Its counts may be too low by 1 in 257 rows; that of its group is exact."""
    second = many(3, 0.0035)
    found = of_many(first_of_many.compare(ss.summarize(second, like=first_of_many, random_state=1)))
    assert found.pvalue < 1e-3
    told = re.fullmatch(r"some of its values together (\d\.\d)% -> (\d\.\d)%", found.what)
    group = hash_texts(pa.array(["v0"]))[0] % 1024
    inside = [np.mean(hash_texts(side["many"].combine_chunks()) % 1024 == group) for side in (many(0), second)]
    assert [float(each) / 100 for each in told.groups()] == pytest.approx(inside, abs=0.0005)


def test_many_values_that_are_all_new_are_said_to_be_on_one_side(first_of_many):
    found = of_many(first_of_many.compare(ss.summarize(many(4, first=5_000), like=first_of_many, random_state=1)))
    told = re.fullmatch(r"values that only one side has, in at least (\d+\.\d)% of its rows", found.what)
    assert 20 < float(told[1]) <= 100
    assert found.difference == pytest.approx(float(told[1]) / 100, abs=0.0005)


def test_many_values_that_are_rarer_than_the_least_count_are_not_named():
    first = ss.summarize(many(0), 10, 0, min_count=2_000, random_state=0, **MANY)
    found = first.compare(ss.summarize(many(1, 0.05), like=first, random_state=1))
    assert of_many(found).what.startswith("a rare value at most ")
    assert "v0" not in str(found.to_dict())


def test_many_values_of_summaries_made_apart_are_counted_in_all_rows(first_of_many):
    other = ss.summarize(many(1, 0.01), 10, 0, random_state=3, **MANY)
    found = first_of_many.compare(other)
    assert found.changed == ("many",)
    assert of_many(found).what.startswith("'v0' at most ")
    assert "missing values, and categories, and other values of which there are up to 256, are counted" in str(found.notes[0])


def test_many_values_of_an_earlier_version_are_compared_by_samples_which_is_said(first_of_many):
    def earlier(summary):
        state = summary._ready().settled
        columns = tuple(replace(each, groups=None) for each in state.profile.columns)
        return replace(state, profile=replace(state.profile, columns=columns))

    second = ss.summarize(many(1, 0.1), like=first_of_many, random_state=1)
    column = of_many(compare(earlier(first_of_many), earlier(second)))
    assert re.fullmatch(r"'v0' 0\.[0-9]% -> (9|10|11)\.[0-9]% in the samples", column.what)
    assert column.effective_rows[0] < 6_000


def test_a_word_in_few_texts_is_found_in_all_rows():
    def notes(seed, share):
        rng = np.random.default_rng(seed)
        words = np.array([f"word{place}" for place in range(900)])
        texts = [" ".join(each) for each in words[(900 * rng.random((6_000, 6)) ** 3).astype(int)]]
        new = rng.random(6_000) < share
        return pa.table({"note": [f"{text} refund" if more else text for text, more in zip(texts, new, strict=True)]})

    first = ss.summarize(notes(0, 0.0), 5, 0, types={"note": "text"}, random_state=0)
    second, same = (ss.summarize(notes(seed, share), like=first, random_state=1) for seed, share in ((1, 0.01), (2, 0.0)))
    found = first.compare(second)
    assert found.changed == ("note",)
    told = re.fullmatch(r"texts with 'refund' or other words of its group (\d\.\d)% -> (\d\.\d)%", found.columns[0].what)
    words = [*(f"word{place}" for place in range(900)), "refund"]
    groups = hash_texts(pa.array(words)) % 1024
    group = {word for word, each in zip(words, groups, strict=True) if each == groups[-1]}
    for said, side in zip(told.groups(), (notes(0, 0.0), notes(1, 0.01)), strict=True):
        inside = [not group.isdisjoint(text.split()) for text in side["note"].to_pylist()]
        assert float(said) / 100 == pytest.approx(np.mean(inside), abs=0.0005)
    assert second.compare(first).pvalue == found.pvalue
    assert not first.compare(same).rejects()


@pytest.mark.parametrize("rows", [3_000, 9_000])
def test_numbers_of_samples_are_said_to_be_so_unless_these_hold_all_rows(rows):
    def weighted(seed, share):
        rng = np.random.default_rng(seed)
        kind = np.where(rng.random(rows) < share, "b", "a")
        return pa.table({"kind": kind, "x": rng.normal(size=rows), "w": rng.gamma(2.0, size=rows)})

    first = ss.summarize(weighted(0, 0.1), 10, 0, weight="w", random_state=0)
    found = first.compare(ss.summarize(weighted(1, 0.3), like=first, random_state=1))
    assert found.columns[0].what.endswith("% in the samples") == (rows > 6_000)
    assert found.columns[0].what.startswith("'b' ")


def test_a_few_numbers_are_told_value_by_value():
    def statuses(seed, share):
        rng = np.random.default_rng(seed)
        return pa.table({"status": np.where(rng.random(ROWS) < share, 500, 200), "x": rng.normal(size=ROWS)})

    first = ss.summarize(statuses(0, 0.01), 10, 0, random_state=0)
    found = first.compare(ss.summarize(statuses(1, 0.04), like=first, random_state=1))
    assert re.match(r"500 [01]\.\d% -> [34]\.\d%; mean 20\d\S* -> 21\d", found.columns[0].what), found.columns[0].what


def test_infinite_and_unreadable_values_are_counted():
    rng = np.random.default_rng(0)
    plain, endless = rng.normal(size=ROWS), rng.normal(size=ROWS)
    endless[rng.permutation(ROWS)[:200]] = np.inf
    first = ss.summarize(pa.table({"x": plain, "y": rng.normal(size=ROWS)}), 10, 0, random_state=0)
    found = first.compare(ss.summarize(pa.table({"x": endless, "y": plain}), like=first, random_state=1))
    assert found.changed == ("x",)
    prices = [f"${value:.2f}" for value in rng.lognormal(size=ROWS)]
    first = ss.summarize(pa.table({"price": prices, "y": plain}), 10, 0, random_state=0)
    bad = ["oops" if place % 50 == 0 else price for place, price in enumerate(prices)]
    found = first.compare(ss.summarize(pa.table({"price": bad, "y": plain}), like=first, random_state=1))
    assert found.columns[0].what == "unreadable 0.0% -> 2.0%"


def test_a_column_that_had_one_value_is_counted_in_all_rows():
    rng = np.random.default_rng(0)
    left = pa.table({"x": rng.normal(size=20_000), "k": ["ok"] * 20_000})
    states = np.where(np.arange(20_000) % 800 == 0, "error", "ok")
    first = ss.summarize(left, 10, 0, random_state=0)
    found = first.compare(ss.summarize(pa.table({"x": rng.normal(size=20_000), "k": states}), like=first, random_state=1))
    assert found.changed == ("k",)
    assert [each.what for each in found.columns if each.name == "k"] == ["new: 'error' 0.1%"]


def test_the_joint_test_is_not_changed_by_what_is_to_count():
    rng = np.random.default_rng(0)
    first = ss.summarize({"x": rng.normal(size=3_000), "y": rng.normal(size=3_000)}, 10, 0, random_state=0)
    second = ss.summarize({"x": rng.normal(0.15, 1.0, 3_000), "y": rng.normal(size=3_000)}, like=first, random_state=1)
    plain, coarse = first.compare(second), first.compare(second, at_least=0.2)
    assert plain.pvalue < 0.05 < coarse.pvalue == 1.0
    assert coarse.joint.pvalue == plain.joint.pvalue < 1.0
    assert "they show no difference of at least 0.2 at the 5% level" in str(coarse)
    fine = first.compare(second, at_least=0.01)
    assert str(fine).splitlines()[0].endswith("they differ at the 5% level; only differences of at least 0.01 count")
    assert coarse.to_dict()["at_least"] == 0.2


def test_a_column_that_was_empty_is_compared_by_what_is_missing(tmp_path):
    rng = np.random.default_rng(0)
    empty = {"x": rng.normal(size=500), "k": np.full(500, np.nan)}
    filled = empty | {"k": np.where(rng.random(500) < 0.1, 1.5, np.nan)}
    left = ss.summarize(empty, prototypes=5, criticisms=0, random_state=0)
    right = ss.summarize(filled, like=left, random_state=1)
    found = left.compare(right)
    assert found.changed == ("k",)
    assert found.columns[0].what == "missing 100.0% -> 91.2%"
    assert found.pvalue == right.compare(left).pvalue
    assert found.left_rows.num_rows == found.right_rows.num_rows == 0  # nothing is known of its values
    assert "missing 100.0%" in found.report(tmp_path / "page.html").read_text()
    again = left.compare(ss.summarize(empty, like=left, random_state=2))
    assert [each.name for each in again.columns] == ["x"]


@pytest.mark.parametrize("kind", ["category", "number"])
def test_a_category_that_goes_with_another_column_otherwise_is_named(kind):
    rng = np.random.default_rng(1)

    def table(tie):
        group, other = rng.choice(list("abc"), 2_000, p=[0.5, 0.3, 0.2]), rng.choice(list("uvw"), 2_000)
        other = np.where((group == "b") & (rng.random(2_000) < tie), "u", other)
        mine = np.where(rng.random(2_000) < tie, (group == "b") * 1.0, 0.0) + rng.normal(size=2_000)
        x = {"h": other} if kind == "category" else {"x": mine - mine.mean()}
        return {"g": group, **x, "z": rng.normal(size=2_000)}

    left = ss.summarize(table(0.0), prototypes=5, criticisms=0, random_state=0)
    right = ss.summarize(table(0.7), like=left, random_state=1)
    found = left.compare(right)
    (pair,) = found.pairs_at(0.05)
    assert pair.columns == (("g", "h") if kind == "category" else ("g", "x"))
    assert pair.values == (("'b'", "'u'") if kind == "category" else ("'b'", ""))
    assert pair.before == pytest.approx(0.0, abs=0.08)
    assert pair.after > 0.2
    assert pair.names.startswith("g 'b' and ")
    turned = right.compare(left)
    assert turned.pvalue == found.pvalue
    assert [each.pvalue for each in turned.pairs] == [each.pvalue for each in found.pairs]
    assert found.to_dict()["pairs"][0]["values"] == list(pair.values)


@pytest.mark.parametrize(
    ("change", "name", "words"),
    [
        (lambda t, w: w.__setitem__(t["g"] == "c", 1e-5), "g", r"'c' (19|20|21)\.\d% -> 0\.0%, '[ab]' 4\d\.\d% -> 5\d\.\d%"),
        (lambda t, w: t.__setitem__("x", t["x"] + 0.5), "x", r"mean -?0\.0\d+ -> 0\.[45]\d+"),
        (lambda t, w: t["x"].__setitem__(slice(0, 200), np.nan), "x", r"missing 0\.0% -> (6|7)\.\d%"),
    ],
)
def test_changes_of_rows_with_weights_are_put_into_words(change, name, words):
    sides = []
    for changed in (False, True):
        rng = np.random.default_rng(changed)
        table = {"g": rng.choice(["a", "b", "c"], 3_000, p=[0.4, 0.4, 0.2]), "x": rng.normal(size=3_000)}
        weights = np.ones(3_000)
        if changed:
            change(table, weights)
        sides.append(table | {"w": weights})
    left = ss.summarize(sides[0], prototypes=5, criticisms=0, weight="w", random_state=0)
    found = left.compare(ss.summarize(sides[1], like=left, random_state=1))
    assert found.columns[0].name == name
    assert re.fullmatch(words, found.columns[0].what)


def test_nothing_is_said_to_have_changed_where_nothing_did():
    # The same values in another order: "a wider spread", "the shape of its distribution" and the like would be false.
    rng = np.random.default_rng(0)
    rows = {"x": rng.normal(size=ROWS), "few": rng.integers(0, 3, ROWS), "kind": rng.choice(list("abc"), ROWS)}
    rows |= {"many": rng.integers(0, 100, ROWS), "text": [f"{place} words of a text" for place in range(ROWS)]}
    turned = {name: values[::-1] for name, values in rows.items()}
    first = ss.summarize(rows, 10, 0, random_state=0, types={"text": "text"})
    second = ss.summarize(turned, like=first, random_state=1)
    found = first.compare(second)
    assert [each.what for each in found.columns] == ["no difference found"] * 5
    limited = first.compare(second, at_least=0.01)
    assert [each.what for each in limited.columns] == ["no difference of at least 0.01 found"] * 5


def test_pairs_that_are_not_listed_are_counted():
    def table(tie, n_columns):
        rng = np.random.default_rng([n_columns, tie > 0])
        return np.sqrt(1.0 - tie) * rng.normal(size=(ROWS, n_columns)) + np.sqrt(tie) * rng.normal(size=(ROWS, 1))

    for n_columns, pairs, words in ((4, 6, "and 3 more"), (6, 10, "and at least 7 more")):
        first = ss.summarize(table(0.0, n_columns), 10, 0, random_state=0)
        found = first.compare(ss.summarize(table(0.4, n_columns), like=first, random_state=1))
        assert len(found.pairs_at(0.05)) == pairs
        assert str(found).count("together x") == 3
        assert f"\n           {words} pairs of columns" in str(found)


def heaped(seed, share, value=0.25):
    """Numbers of many different values, and a heap of one of them."""
    rng = np.random.default_rng(seed)
    return pa.table({"x": np.where(rng.random(20_000) < share, value, rng.random(20_000)), "y": rng.normal(size=20_000)})


@pytest.mark.parametrize("turned", [False, True])
def test_one_value_among_many_counts_in_the_difference_and_is_named(turned):
    tables = heaped(0, 0.7), heaped(1, 0.02)
    tables = tables[::-1] if turned else tables
    first = ss.summarize(tables[0], 10, 0, random_state=0)
    second = ss.summarize(tables[1], like=first, random_state=1)
    shares = [float((each["x"].to_numpy() == 0.25).mean()) for each in tables]
    found = first.compare(second, at_least=0.6)
    assert found.changed == ("x",)
    change = found.columns[0]
    assert abs(shares[1] - shares[0]) - 0.01 < change.difference <= abs(shares[1] - shares[0]) + 0.01
    said = re.search(r"0\.25 (at least |at most )?([\d.]+)% -> (at least |at most )?([\d.]+)%", change.what)
    for share, bound, number in zip(shares, (said[1], said[3]), (said[2], said[4]), strict=True):
        low, high = {None: (0.06, 0.06), "at least ": (0.06, 0.5), "at most ": (0.5, 0.06)}[bound]
        assert float(number) - low <= 100 * share <= float(number) + high
    assert not first.compare(second, at_least=0.75).rejects()
    assert first.compare(second).columns[0].difference == change.difference


def test_a_range_in_the_middle_counts_in_full():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 6_000))
    x[1] = np.where(np.abs(x[1]) < 0.5, np.sign(x[1]) * (1.0 + np.abs(x[1])), x[1])  # a hole, filled on both sides of it
    first = ss.summarize(pa.table({"x": x[0], "y": x[0][::-1]}), 10, 0, random_state=0)
    found = first.compare(ss.summarize(pa.table({"x": x[1], "y": x[0]}), like=first, random_state=1), at_least=0.3)
    assert found.changed == ("x",)
    assert {each.name: each.difference for each in found.columns}["x"] == pytest.approx((np.abs(x[0]) < 0.5).mean(), abs=0.03)


@pytest.mark.parametrize("kind", ["number", "few", "category"])
def test_columns_without_a_common_value_say_so(kind):
    rng = np.random.default_rng(0)
    places = 2 * rng.integers(0, 3 if kind == "few" else 20, 4_000)
    values = [places, places + 1]
    if kind == "category":
        values = [[f"v{place}" for place in each] for each in values]
    first = ss.summarize(pa.table({"x": values[0], "y": rng.normal(size=4_000)}), 10, 0, random_state=0)
    found = first.compare(ss.summarize(pa.table({"x": values[1], "y": rng.normal(size=4_000)}), like=first, random_state=1))
    change = {each.name: each for each in found.columns}["x"]
    assert change.difference == 1.0
    assert change.what.startswith("no value in common")
    again = first.compare(ss.summarize(pa.table({"x": values[0][::-1], "y": rng.normal(size=4_000)}), like=first))
    assert {each.name: each.difference for each in again.columns}["x"] == 0.0


def test_what_a_limit_leaves_out_is_said(first, tmp_path):
    change = {"gap": CHANGES["missing"][1], "flag": lambda rng, x: rng.random(ROWS) < 0.45}
    quiet, found, plain = (compared(first, at_least=limit, **change) for limit in (0.4, 0.1, 0.0))
    assert (plain.smaller, plain.n_counting) == ((), plain.n_tests)
    assert {"gap", "flag"} <= set(plain.changed)
    sizes = {each.name: each.difference for each in plain.columns}
    assert found.changed == ("flag",)
    assert (quiet.smaller[:2], found.smaller[:1]) == (("flag", "gap"), ("gap",))
    assert set(quiet.smaller) == set(plain.changed)
    counting = [sum(each >= limit for each in sizes.values()) for limit in (0.4, 0.1)]
    assert (quiet.n_counting, counting[0]) == (0, 0)
    assert quiet.joint.pvalue < 0.05
    lines = str(quiet).splitlines()
    assert "  p-value  1, since no test found a difference of at least 0.4" in lines
    assert any(re.fullmatch(r"  MMD .* jointly, which does not count: MMD is below 0\.4", each) for each in lines)
    assert "  columns  none is found to differ by 0.4 or more" in lines
    assert f"           by less than 0.4, not counted: flag {sizes['flag']:.2g}, gap {sizes['gap']:.2g}" in str(quiet)
    assert found.n_counting >= counting[1] == 1
    less = found.n_tests - found.n_counting
    assert f"of {found.n_tests} tests together; {less} of them found less than 0.1 and do not count" in str(found)
    assert f"           by less than 0.1, not counted: gap {sizes['gap']:.2g}" in str(found)
    assert "none is clear by itself" not in str(quiet)
    assert found.to_dict()["smaller"] == list(found.smaller)
    page = first.compare(ss.summarize(table(2, **change), like=first, random_state=1), at_least=0.4).report(tmp_path / "p.html")
    assert "No difference of at least 0.4 found.</p>" in page.read_text()
    assert "no test found a difference of at least 0.4" in page.read_text()


def test_the_joint_test_of_one_column_is_one_of_that_column():
    """Here it says more than the column's own tests; the column is named all the same."""
    rng = np.random.default_rng(67)
    left, right = rng.normal(size=(400, 1)), rng.normal(size=(400, 1))
    right = np.where(rng.random((400, 1)) < 0.5, right, np.sign(right) * np.abs(right) ** 1.25) + 0.1
    first = ss.summarize(left, 5, 0, random_state=0)
    found = first.compare(ss.summarize(right, like=first, random_state=1))
    assert found.joint.pvalue < found.pvalue < 0.01
    assert [(each.name, each.pvalue) for each in found.columns] == [("x0", found.pvalue)]
    assert found.changed == ("x0",)


def test_large_numbers_are_told_apart():
    rng = np.random.default_rng(0)
    first = ss.summarize({"big": rng.integers(10**15, 10**15 + 20, 2_000)}, 5, 0, types={"big": "number"}, random_state=0)
    found = first.compare(ss.summarize({"big": rng.integers(10**15 + 9, 10**15 + 29, 2_000)}, like=first, random_state=1))
    before, after = found.columns[0].what.split(";")[0].removeprefix("mean ").split(" -> ")
    assert float(after) - float(before) == pytest.approx(9, abs=1.5)
