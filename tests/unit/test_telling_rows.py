"""The rows that a comparison shows: of what changed, no two alike, and with numbers that are true of the data."""

import re

import numpy as np
import pyarrow as pa
import pytest

import supersample as ss
import web_log
from supersample.cli.compare import each_change_first
from supersample.report import write_comparison
from supersample.summary.comparison import gain_in_words

NUMBER = r"-?[\d.]+(?:e[-+]?\d+)?"


def summarized(first, second, **options):
    """Summarise two tables, the second like the first."""
    left = ss.summarize(first, 20, 5, random_state=0, **options)
    return left, ss.summarize(second, like=left, random_state=1)


def compared(first, second, **options):
    """Compare two tables."""
    left, right = summarized(first, second, **options)
    return left.compare(right)


def values_like(table, said):
    """Return which rows of a table are of the kind that is described, read from the words alone."""
    found = np.ones(len(table), dtype=bool)
    names = "|".join(map(re.escape, table.column_names))
    for part in re.split(rf", (?=(?:{names}) )", said):
        name, _, words = part.partition(" ")
        column = table[name].to_numpy(zero_copy_only=False)
        words, _, but = words.partition(", but not ")
        if words == "missing":
            found &= np.array(table[name].is_null())
        elif words.startswith("'"):
            found &= column == words.strip("'")
        elif words in ("true", "false"):
            found &= column == (words == "true")
        elif match := re.fullmatch(rf"from ({NUMBER}) to below ({NUMBER})", words):
            found &= (column >= float(match[1])) & (column < float(match[2]))
        elif match := re.fullmatch(rf"from ({NUMBER}) on", words):
            found &= column >= float(match[1])
        elif match := re.fullmatch(rf"below ({NUMBER})", words):
            found &= column < float(match[1])
        else:
            found &= column == float(words)
        for each in filter(None, but.split(" or ")):
            found &= column != float(each)
    return found


def smoothed(here, rows, there, others):
    return (here + 0.5) / (rows + 1) / ((there + 0.5) / (others + 1))


@pytest.fixture(scope="module", params=[21, 22, 23])
def checkout(request):
    """Two days of a web log; on the second, /checkout is broken after noon."""
    tables = web_log.day(request.param), web_log.day(request.param, bad=True, date="2024-05-02")
    sides = summarized(*tables)
    return tables, sides, sides[0].compare(sides[1])


def test_most_rows_shown_are_those_that_broke_and_no_two_are_alike(checkout):
    (first, second), _, found = checkout
    failed = [int((each["status"].to_numpy() == 500).sum()) for each in (first, second)]
    assert failed[1] > 10 * failed[0]
    rows = found.right_rows
    assert len(rows) == 10
    assert web_log.broken(rows).sum() >= 5
    assert len(set(web_log.kinds_of(rows))) >= 8
    assert web_log.n_alike(rows) == 0
    assert rows.select(second.column_names).equals(second.take(rows["_row"]))


def test_rows_of_a_larger_table_are_those_that_broke_not_those_that_look_like_it():
    # All rows tell of the status alone, samples of it and the path: failures that were always there must not stand for it.
    count = 0
    for seed in range(25, 29):
        found = compared(web_log.day(seed, 9_000), web_log.day(seed, 9_000, bad=True, date="2024-05-02"))
        count += web_log.broken(found.right_rows).sum()
    assert count >= 30


def test_what_is_said_of_rows_is_true_of_the_data(checkout):
    tables, _, found = checkout
    for rows, mine, other in ((found.left_rows, *tables), (found.right_rows, *tables[::-1])):
        for row in rows.to_pylist():
            here, there = values_like(mine, row["_like"]), int(values_like(other, row["_like"]).sum())
            assert here[row["_row"]]
            assert (row["_count"], row["_other"]) == (int(here.sum()), there)
            assert row["_ratio"] == pytest.approx(smoothed(int(here.sum()), len(mine), there, len(other)))
            said = re.fullmatch(r"(?:about ([\d.,]+) times as common|not seen on the other side): .*", gain_in_words(row))
            if said[1] is None:
                assert there == 0
            else:
                assert float(said[1].replace(",", "")) == pytest.approx(row["_ratio"], rel=0.05)


def test_each_change_named_has_a_row_that_shows_it(checkout):
    _, _, found = checkout
    said = " ".join([*found.left_rows["_like"].to_pylist(), *found.right_rows["_like"].to_pylist()])
    for name in (*found.changed, *(name for pair in found.pairs_at(0.05) for name in pair.columns)):
        assert f"{name} " in said


def test_each_change_has_a_row_and_in_the_shell_the_clearest_comes_first():
    rng = np.random.default_rng(9)

    def table(changed):
        country = rng.choice(["DE", "FR", "US"], 4_000).astype(object)
        country[rng.random(4_000) < 0.009 * changed] = "BR"  # fewer rows than the others, but the largest ratio
        status = rng.choice([200, 404, 500], 4_000, p=[0.9, 0.08, 0.02] if not changed else [0.78, 0.1, 0.12])
        load = rng.normal(0.25 * changed, 1.0, 4_000)
        return pa.table({"country": pa.array(country.tolist()), "status": status, "load": load, "x": rng.normal(size=4_000)})

    found = compared(table(False), table(True))
    assert found.changed[0] == "status"
    assert set(found.changed) == {"status", "country", "load"}
    ratios = found.right_rows["_ratio"].to_pylist()
    assert ratios == sorted(ratios, reverse=True)
    assert found.right_rows["_like"][0].as_py() == "country 'BR'"
    shown = each_change_first(found.right_rows, found)
    named = [re.match(r"\w+", each)[0] for each in shown["_like"].to_pylist()]
    assert named[0] == "status"
    assert set(named[:3]) == set(found.changed)
    assert sorted(shown["_row"].to_pylist()) == sorted(found.right_rows["_row"].to_pylist())


def shifted(seed, shift, rows=12_000):
    """One number that moves, and five columns that have nothing to do with it."""
    rng = np.random.default_rng([seed, 5, shift > 0])
    page = pa.array(rng.choice(list("xyzuvw"), rows, p=[0.4, 0.2, 0.2, 0.1, 0.07, 0.03]).tolist())
    columns = {"load": rng.normal(shift, 1.0, rows), "a": rng.normal(size=rows), "b": rng.exponential(size=rows)}
    return pa.table(columns | {"page": page, "flag": rng.random(rows) < 0.2, "count": rng.poisson(3.0, rows)})


def test_a_column_that_has_nothing_to_do_with_the_change_is_not_named():
    # At a chance of 1% for each pair of tables, two of eight have such a column in 0.3% of all runs.
    spurious, told, true = 0, [], []
    for seed in range(8):
        tables = shifted(seed, 0.0), shifted(seed, 0.3)
        found = compared(*tables)
        assert "load" in found.changed
        for rows, mine, other in ((found.left_rows, *tables), (found.right_rows, *tables[::-1])):
            for row in rows.to_pylist():
                spurious += not any(re.fullmatch(rf"{name} [^,]*(, but not .*)?", row["_like"]) for name in found.changed)
                counts = [int(values_like(each, row["_like"]).sum()) for each in (mine, other)]
                told.append(np.log(row["_ratio"]))
                true.append(np.log(smoothed(counts[0], len(mine), counts[1], len(other))))
    assert spurious <= 1
    assert np.mean(told) == pytest.approx(np.mean(true), abs=0.01)


def test_a_second_column_that_matters_is_named_and_its_ratio_is_that_of_all_rows():
    rng = np.random.default_rng(3)

    def table(part):
        a, page, other = rng.normal(size=60_000), rng.choice(list("xyzuvw"), 60_000), rng.normal(size=60_000)
        kept = np.flatnonzero(rng.random(60_000) < np.where((page == "y") & (a > 0.5), part, 0.25))[:12_000]
        return pa.table({"a": a[kept], "page": pa.array(page[kept].tolist()), "other": other[kept]})

    tables = table(0.25), table(0.6)
    found = compared(*tables)
    rows = found.right_rows.to_pylist()
    assert all("page 'y'" in row["_like"] and "a from" in row["_like"] for row in rows[:2])
    for row in rows:
        counts = [int(values_like(each, row["_like"]).sum()) for each in tables[::-1]]
        assert row["_ratio"] == pytest.approx(smoothed(counts[0], 12_000, counts[1], 12_000), rel=0.25)


@pytest.mark.parametrize("correlation", [0.4, 0.2, -0.4])
def test_two_columns_that_go_together_otherwise_are_shown_from_both_sides(correlation):
    rng = np.random.default_rng(1)
    x, y, first, second = rng.normal(size=(4, 3_000))
    follows = correlation * first + np.sqrt(1.0 - correlation**2) * second
    tables = pa.table({"x": x, "y2": y, "z": y[::-1]}), pa.table({"x": first, "y2": follows, "z": x[::-1]})
    found = compared(*tables)
    assert [set(pair.columns) for pair in found.pairs_at(0.05)] == [{"x", "y2"}]
    for rows, mine, other, sign in ((found.left_rows, *tables, -1), (found.right_rows, *tables[::-1], 1)):
        assert len(rows) >= 1
        for row in rows.to_pylist():
            assert set(re.findall(r"(?:^|, )(\w+) ", row["_like"])) == {"x", "y2"}
            assert sign * correlation * row["x"] * row["y2"] > 0
            counts = [int(values_like(each, row["_like"]).sum()) for each in (mine, other)]
            assert [row["_count"], row["_other"]] == counts
            assert counts[0] > 1.1 * counts[1]


def test_rows_of_almost_no_weight_are_not_said_to_be_missing():
    rng = np.random.default_rng(4)
    kind = rng.choice(list("abc"), 3_000, p=[0.5, 0.3, 0.2])
    x = rng.normal(size=(2, 3_000))
    light = pa.table({"g": pa.array(kind.tolist()), "x": x[0], "w": np.where(kind == "c", 1e-5, 1.0)})
    heavy = pa.table({"g": pa.array(kind.tolist()), "x": x[1], "w": np.ones(3_000)})
    assert (kind == "c").sum() > 500
    found = compared(light, heavy, weight="w")
    rows = [row for row in found.right_rows.to_pylist() if "g 'c'" in row["_like"]]
    assert rows
    for row in rows:
        assert row["_other"] >= 1
        assert "not seen" not in gain_in_words(row)


def test_where_a_sample_shows_no_such_rows_the_most_that_there_can_be_is_said():
    rng = np.random.default_rng(2)

    def table(part, rows):
        usual, other = "abc {} of many words", "zzz {} unlike anything else"
        text = [(other if new else usual).format(place) for place, new in enumerate(rng.random(rows) < part)]
        return pa.table({"text": pa.array(text), "x": rng.normal(size=rows)})

    sizes = {"all rows": 2_000, "a sample": 20_000}
    for rows in sizes.values():
        found = compared(table(0.0, rows), table(0.2, rows), types={"text": "text"})
        unseen = [row for row in found.right_rows.to_pylist() if "not seen" in gain_in_words(row)]
        assert unseen
        for row in unseen:
            said = re.search(
                r"not seen in the sample of the other side \(fewer than about (\d+) rows\): text", gain_in_words(row)
            )
            assert (row["_known"], said is None) == (("exact", True) if rows == 2_000 else ("not seen", False))
            assert row["_other"] == (0 if rows == 2_000 else 12)  # 3 of 5,000 rows, of 20,000
            assert said is None or said[1] == "12"


@pytest.mark.parametrize(
    ("ratio", "known", "words"),
    [
        (7719.4, "about", "about 7,700 times as common: x 1 (about 17,000 rows, against 13)"),
        (1302.7, "exact", "about 1,300 times as common: x 1 (16,934 rows, against 13)"),
        (1.0734, "exact", "about 1.07 times as common: x 1 (16,934 rows, against 13)"),
        (7719.4, "not seen", "not seen in the sample of the other side (fewer than about 13 rows): x 1 (about 17,000 rows)"),
    ],
)
def test_about_is_said_of_estimates_and_not_of_counts(ratio, known, words):
    row = {"_ratio": ratio, "_count": 16_934, "_other": 13, "_known": known, "_like": "x 1"}
    assert gain_in_words(row) == words


def test_the_sides_can_be_exchanged(checkout):
    _, (left, right), one = checkout
    other = right.compare(left)
    for mine, theirs in ((one.left_rows, other.right_rows), (one.right_rows, other.left_rows)):
        assert mine.equals(theirs)


def test_the_page_says_it_in_words(tmp_path, checkout):
    _, (left, right), found = checkout
    page = write_comparison(left, right, tmp_path / "page.html", comparison=found).read_text().replace("&#39;", "'")
    for row in (*found.left_rows.to_pylist(), *found.right_rows.to_pylist()):
        assert f"Rows like it are {gain_in_words(row)}." in page


def several(rng, rows, *, changed):
    """A table in which a value is new, values go missing, a mean moves and two columns begin to go together."""
    x, y, z = rng.normal(size=(3, rows))
    kind = rng.choice(list("abc"), rows).astype(object)
    if changed:
        kind[rng.random(rows) < 0.01] = "new"
        y = 0.5 * x + np.sqrt(0.75) * y
    gap = np.where(rng.random(rows) < (0.05 if changed else 0.01), np.nan, rng.normal(size=rows))
    moved = z + (0.3 if changed else 0.0)
    return pa.table({"x": x, "y": y, "moved": moved, "kind": pa.array(kind.tolist()), "gap": pa.array(gap, from_pandas=True)})


def test_new_missing_moved_and_together_are_all_shown():
    rng = np.random.default_rng(5)
    found = compared(several(rng, 4_000, changed=False), several(rng, 4_000, changed=True))
    assert set(found.changed) == {"moved", "kind", "gap"}
    assert {"x", "y"} in [set(pair.columns) for pair in found.pairs_at(0.05)]
    rows = found.right_rows.to_pylist()
    assert any(row["kind"] == "new" and "kind 'new'" in row["_like"] for row in rows)
    assert any(row["gap"] is None and "gap missing" in row["_like"] for row in rows)
    assert any(row["moved"] > 1 and "moved from" in row["_like"] for row in rows)
    assert any(row["x"] * row["y"] > 0 and {"x", "y"} <= set(re.findall(r"(?:^|, )(\w+) ", row["_like"])) for row in rows)


def test_two_categories_that_begin_to_go_together_are_shown_together():
    rng = np.random.default_rng(6)
    first, second, third = rng.choice(list("ab"), (3, 4_000))
    table = {"one": first, "x": rng.normal(size=4_000)}
    found = compared(
        pa.table(table | {"two": second}), pa.table(table | {"two": np.where(rng.random(4_000) < 0.4, first, third)})
    )
    assert found.rejects()
    assert found.changed == ()
    assert all(row["one"] == row["two"] for row in found.right_rows.to_pylist())
    assert all(row["one"] != row["two"] for row in found.left_rows.to_pylist())
    assert len(found.left_rows) and len(found.right_rows)  # noqa: PT018


def test_where_nothing_differs_no_rows_are_shown(tmp_path):
    tables = web_log.day(31), web_log.day(32)
    left, right = summarized(*tables)
    found = left.compare(right)
    assert not found.rejects()
    added = ["_row", "_ratio", "_count", "_other", "_known", "_like", "_witness"]
    for rows in (found.left_rows, found.right_rows):
        assert rows.num_rows == 0
        assert rows.column_names == [*tables[0].column_names, *added]
    page = write_comparison(left, right, tmp_path / "page.html").read_text()
    assert page.count("None are shown: no difference was found") == 2


def test_large_tables_are_counted_by_their_profiles():
    rng = np.random.default_rng(7)

    def table(shift, new):
        kind = rng.choice(list("abc"), 40_000).astype(object)
        kind[rng.random(40_000) < new] = "rare"
        return pa.table({"x": rng.normal(shift, 1.0, 40_000), "kind": pa.array(kind.tolist())})

    tables = table(0.0, 0.0005), table(0.2, 0.004)
    found = compared(*tables)
    exact = close = 0
    for rows, mine, other in ((found.left_rows, *tables), (found.right_rows, *tables[::-1])):
        for row in rows.to_pylist():
            counts = [int(values_like(each, row["_like"]).sum()) for each in (mine, other)]
            if re.fullmatch(r"kind '\w+'", row["_like"]):
                exact += [row["_count"], row["_other"]] == counts
            elif re.fullmatch(r"x [^,]*", row["_like"]):
                close += [row["_count"], row["_other"]] == pytest.approx(counts, rel=0.05)
    assert exact >= 1
    assert close >= 4


@pytest.mark.parametrize("kind", ["text", "vector", "level", "cycle", "weight", "boolean"])
def test_every_kind_of_column_has_rows(kind):
    rng = np.random.default_rng(8)

    def table(changed):
        moment = np.datetime64("2024-03-01", "s") + rng.integers(0, 40_000 + 40_000 * (not changed), 2_000).astype(
            "timedelta64[s]"
        )
        words = ["late parcel again", "broken screen glass", "thanks very much"]
        text = [f"{words[place]} {rng.integers(10**6)} please" for place in rng.integers(0, 1 + 2 * (not changed), 2_000)]
        columns = {
            "text": pa.array(text),
            "vector": rng.normal(2.0 * changed, 1.0, size=(2_000, 3)).tolist(),
            "level": moment,
            "cycle": moment,
            "weight": rng.normal(0.5 * changed, 1.0, 2_000),
            "boolean": rng.random(2_000) < (0.7 if changed else 0.2),
        }
        return pa.table({kind: columns[kind], "x": rng.normal(size=2_000), "w": rng.gamma(2.0, size=2_000)})

    options = {"level": {"times": "level"}, "cycle": {"times": "cycle"}, "text": {"types": {"text": "text"}}}.get(kind, {})
    left, right = summarized(table(False), table(True), weight="w", **options)
    found, turned = left.compare(right), right.compare(left)
    assert found.left_rows.equals(turned.right_rows)
    assert found.right_rows.equals(turned.left_rows)
    assert found.changed == (kind,)
    for rows in (found.left_rows, found.right_rows):
        assert 1 <= len(rows) <= 10
        assert all(f"{kind} " in each for each in rows["_like"].to_pylist())
        assert min(rows["_ratio"].to_pylist()) > 1.0
    whole = [found.left_rows, found.right_rows]
    if kind == "boolean":
        assert [set(rows["_like"].to_pylist()) for rows in whole] == [{"boolean false"}, {"boolean true"}]


@pytest.mark.parametrize("seed", range(1, 5))
@pytest.mark.parametrize("factor", [0.01, 10.0])
def test_rows_in_another_unit_are_told_and_shown_as_one_group(seed, factor):
    rng = np.random.default_rng(seed)
    heights = [np.where(rng.random(6_000) < 0.03, np.nan, rng.normal(170, 9, 6_000)) for _ in range(2)]
    wrong = rng.permutation(6_000)[:118]
    heights[1][wrong] *= factor
    tables = [pa.table({"height": pa.array(each, from_pandas=True), "x": rng.normal(size=6_000)}) for each in heights]
    found = compared(*tables)
    change = {each.name: each.what for each in found.columns}["height"]
    said = re.match(r"values (?:up to|from) ([\d.,]+)(?: on)?: 0\.0% -> ([\d.]+)%", change)
    there = heights[1][~np.isnan(heights[1])]
    group = (there < 10) | (there > 300)
    ends = (there[group].max(), there[~group].min()) if factor < 1 else (there[~group].max(), there[group].min())
    assert ends[0] <= float(said[1].replace(",", "")) <= ends[1]
    assert float(said[2]) == pytest.approx(100 * group.mean(), abs=0.06)
    shown = [row["height"] for row in found.right_rows.to_pylist() if "height" in row["_like"]]
    assert shown
    assert all(each is not None and (each < 10 or each > 300) for each in shown)


def test_a_row_that_chance_explains_is_not_shown():
    # Of a dozen ranges, that with the largest ratio is up to 2.6 standard errors above 1 by chance.
    rng = np.random.default_rng(0)
    changed = 0
    for spread in np.linspace(1.04, 1.08, 12):
        found = compared(
            *(pa.table({"x": rng.normal(0.0, each, 5_000), "y": rng.normal(size=5_000)}) for each in (1.0, spread))
        )
        changed += "x" in found.changed
        for row in (*found.left_rows.to_pylist(), *found.right_rows.to_pylist()):
            error = np.sqrt(1.0 / (row["_count"] + 0.5) + 1.0 / (row["_other"] + 0.5))
            assert np.log(row["_ratio"]) > 2.6 * error, row["_like"]
    assert changed >= 6
