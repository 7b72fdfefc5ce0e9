"""A messy table, as people have them: understood alike wherever it comes from, in whatever order its rows are."""

from collections import Counter

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import messy
import supersample as ss

N_ROWS = 8_000
OPTIONS = {"prototypes": 5, "criticisms": 0, "random_state": 0}
#: What the profile says of a column exactly, and independently of the type that a format gives it.
EXACT = ("role", "count", "missing", "unreadable", "mean", "sd", "zeros", "negatives", "longest")


@pytest.fixture(scope="module")
def orders():
    return messy.orders(N_ROWS, 0)


@pytest.fixture(scope="module")
def understood(orders):
    return ss.summarize(orders, **OPTIONS)


def opened(kind, orders, folder):
    """Return the table as this kind of source."""
    if kind in ("csv", "ndjson", "parquet"):
        path = folder / f"orders.{kind}"
        getattr(messy, f"write_{kind}")(orders, path)
        return path
    made = {"pandas": orders.to_pandas, "polars": lambda: pl.from_arrow(orders), "lazy": lambda: pl.from_arrow(orders).lazy()}
    return made[kind]() if kind in made else duckdb.from_arrow(orders)


#: Notes that a source has and the table does not, or the other way round. CSV and NDJSON are read with typed times, and queries
#: cannot be read ahead.
OTHER_NOTES = {
    **{kind: {("stored as text", "shipped_at")} for kind in ("csv", "ndjson")},
    **{kind: {("learned from the first rows", None)} for kind in ("lazy", "duckdb")},
}


def frequent(row):
    """Return the frequent values and their counts; whole ratings are written without a point in CSV."""
    return [(each["value"].removesuffix(".0"), each["count"], each["at_least"]) for each in row["top"]]


def by_name(summary):
    return {row["name"]: row for row in summary.profile.to_pylist()}


@pytest.mark.parametrize("kind", ["csv", "ndjson", "parquet", "pandas", "polars", "lazy", "duckdb"])
def test_the_same_table_is_understood_alike_from_everywhere(kind, orders, understood, tmp_path):
    summary = ss.summarize(opened(kind, orders, tmp_path), **OPTIONS)
    assert {note.name: note.kind for note in summary.columns} == {note.name: note.kind for note in understood.columns}
    mine, theirs = by_name(summary), by_name(understood)
    assert mine.keys() == theirs.keys()
    for name, row in theirs.items():
        assert {field: mine[name][field] for field in EXACT} == {field: row[field] for field in EXACT}
        assert (frequent(mine[name]), mine[name]["top_error"]) == (frequent(row), row["top_error"])
        # Times of another unit have other hashes; where the number is an estimate, it may differ by its error.
        assert mine[name]["distinct"] == pytest.approx(row["distinct"], rel=4 * row["distinct_error"])
        if kind not in ("lazy", "duckdb"):  # queries are read in order: their histograms have another centre
            assert [mine[name][q] for q in ("q01", "median", "q99")] == [row[q] for q in ("q01", "median", "q99")]
    notes = [{(note.kind, note.column): note.text for note in each.notes} for each in (summary, understood)]
    assert notes[0].keys() ^ notes[1].keys() == OTHER_NOTES.get(kind, set())
    if kind not in ("lazy", "duckdb"):  # what is told of the first rows, and of quantiles, is of others
        assert all(notes[1].get(key, text) == text for key, text in notes[0].items())


def test_the_bad_cell_of_the_table_is_counted_and_said(understood):
    assert by_name(understood)["score"]["unreadable"] == 1
    assert ("read in part", "score") in {(note.kind, note.column) for note in understood.notes}


def test_a_table_of_any_size_has_a_bad_cell():
    for n in (20, 300):
        assert messy.orders(n)["score"].to_pylist().count("oops") == 1


def test_the_profile_is_that_of_all_rows(orders, understood):
    found, frame = by_name(understood), orders.to_pandas()
    price = frame["price"].str.replace(r"[$,]", "", regex=True).astype(float)
    assert found["price"]["mean"] == pytest.approx(price.mean(), rel=1e-12)
    assert found["price"]["sd"] == pytest.approx(price.std(), rel=1e-12)
    assert float(found["price"]["max"]) == price.max()
    error = found["price"]["quantile_error"] * np.abs(price.quantile([0.05, 0.95]) - price.median())
    assert abs(found["price"]["q95"] - price.quantile(0.95)) <= error[0.95] * 1.1
    assert {each["value"]: each["count"] for each in found["country"]["top"]} == frame["country"].value_counts().to_dict()
    assert found["rating"]["missing"] == frame["rating"].isna().sum()
    assert found["region"]["distinct"] == 20


def true_mmd(rows, reference, points):
    chosen = reference.encode(rows.select([name for name in rows.column_names if not name.startswith("_")]))
    return float(np.sqrt(ss.mmd2(chosen, points, kernel=reference.kernel, method="exact", estimator="biased")))


@pytest.fixture(scope="module")
def shuffled(orders):
    """A summary of the table in random order, its rows as points, and how far it is from them."""
    table = orders.take(pa.array(np.random.default_rng(0).permutation(N_ROWS)))
    reference = ss.summarize(table, prototypes=50, criticisms=0, random_state=0)
    points = reference.encode(table)
    return reference, points, true_mmd(reference.prototypes, reference, points)


@pytest.mark.parametrize("by", ["region", "price", "time"])
def test_a_sorted_table_is_summarised_as_well_as_a_shuffled_one(by, shuffled, tmp_path):
    reference, points, usual = shuffled
    options = {"prototypes": 50, "criticisms": 0, "random_state": 0}
    table = messy.orders(N_ROWS, 0, sort_by=by)
    pq.write_table(table, tmp_path / "sorted.parquet")
    from_file = ss.summarize(tmp_path / "sorted.parquet", **options)
    assert from_file.prototypes == ss.summarize(table.to_pandas(), **options).prototypes
    assert true_mmd(from_file.prototypes, reference, points) <= 1.2 * usual
    prices, said = dollars(table), profile_of(from_file, "price")
    assert said["mean"] == pytest.approx(prices.mean())
    assert said["q95"] == pytest.approx(np.quantile(prices, 0.95), rel=0.02)
    piped = ss.summarize(iter(table.to_batches(max_chunksize=1_000)), **options)
    assert true_mmd(piped.prototypes, reference, points) <= 1.5 * usual
    assert "learned from the first rows" in {note.kind for note in piped.notes}
    assert "learned from the first rows" not in {note.kind for note in from_file.notes}
    if by == "price":
        assert ("unlike the rows learned from", "price") in {(note.kind, note.column) for note in piped.notes}


@pytest.mark.level
@pytest.mark.parametrize("by", ["region", "price", "time"])
def test_shares_and_prices_among_the_prototypes_of_sorted_tables(by, capsys):
    """Shares of regions are within a point from 500 prototypes on; prices have a heavy tail, and are told without a bound."""
    for prototypes in (200, 500, 2_000):
        shares, prices = zip(*(shares_and_prices(by, seed, prototypes) for seed in range(6)), strict=True)
        mean, high = np.array(prices).T
        with capsys.disabled():
            told = f"shares off by {100 * np.mean(shares):.2f} points on average, {100 * max(shares):.2f} at most"
            errors = ", ".join(
                f"{name} off by {np.sqrt(np.mean(each**2)):.1%} ({each.mean():+.1%} on average)"
                for name, each in (("mean price", mean), ("95% point", high))
            )
            print(f"six tables sorted by {by}, {prototypes} prototypes: {told}; {errors}")  # noqa: T201
        assert np.mean(shares) <= 0.01
        assert prototypes == 200 or max(shares) <= 0.01


def shares_and_prices(by, seed, prototypes):
    """Return the largest error of a region's share, and the errors of mean and 95% point of the prices, as shares of these."""
    table = messy.orders(30_000, seed, sort_by=by)
    rows = ss.summarize(table, prototypes, 0, random_state=seed).prototypes
    drawn, prices, paid = Counter(rows["region"].to_pylist()), dollars(table), dollars(rows)
    off = max(
        abs(drawn[region] / prototypes - count / 30_000) for region, count in Counter(table["region"].to_pylist()).items()
    )
    return off, (paid.mean() / prices.mean() - 1, np.quantile(paid, 0.95) / np.quantile(prices, 0.95) - 1)


@pytest.mark.level
@pytest.mark.parametrize("by", ["region", "price", "time"])
def test_shares_and_prices_by_the_weights_of_the_profile(by, capsys):
    """With 1,000 prototypes, shares of regions are within a point, and mean and 95% point of the prices within 2%."""
    found = np.array([by_the_profile(by, seed) for seed in range(3)])
    with capsys.disabled():
        told = zip(("shares of regions", "mean price", "95% point"), np.abs(found).max(axis=0), strict=True)
        print(f"three tables sorted by {by}: {', '.join(f'{name} off by {most:.2%} at most' for name, most in told)}")  # noqa: T201
    assert np.abs(found[:, 0]).max() <= 0.01
    assert np.abs(found[:, 1:]).max() <= 0.02


def by_the_profile(by, seed, prototypes=1_000):
    """Return the errors as `shares_and_prices` does, of weighted prototypes; the 95% point lies between weighted rows."""
    table = messy.orders(30_000, seed, sort_by=by)
    summary = ss.summarize(table, prototypes, 0, random_state=seed)
    rows, weights = summary.prototypes, summary.weights("profile")
    regions, prices, paid = np.array(rows["region"].to_pylist()), dollars(table), dollars(rows)
    counts = Counter(table["region"].to_pylist())
    off = max(abs(weights[regions == region].sum() - count / 30_000) for region, count in counts.items())
    order = np.argsort(paid)
    high = np.interp(0.95, np.cumsum(weights[order]) - 0.5 * weights[order], paid[order])
    return off, weights @ paid / prices.mean() - 1, high / np.quantile(prices, 0.95) - 1


def test_prototypes_of_a_table_sorted_by_price_reach_as_high_as_the_prices():
    """From the stream's own reservoir, the 95% point is 12, 13 and 12% low."""
    off = [shares_and_prices("price", seed, 500)[1][1] for seed in range(3)]
    assert np.mean(np.abs(off)) < 0.08


def profile_of(summary, name):
    return next(row for row in summary.profile.to_pylist() if row["name"] == name)


def dollars(rows):
    return np.array([float(price.replace("$", "").replace(",", "")) for price in rows["price"].to_pylist()])


def test_a_bad_cell_far_into_a_csv_file_is_kept_counted_and_said(tmp_path):
    rng = np.random.default_rng(0)
    lines = [
        f"{value:.6f},{label * 12}"
        for value, label in zip(rng.normal(50, 9, 220_000), rng.choice(list("abc"), 220_000), strict=True)
    ]
    lines[219_000] = "oops,aaaaaaaaaaaa"
    path = tmp_path / "orders.csv"
    path.write_text("price,kind\n" + "\n".join(lines) + "\n")
    assert path.stat().st_size > 4 << 20  # beyond what types are read out of
    summary = ss.summarize(path, **OPTIONS)
    assert [note.kind for note in summary.columns] == ["number", "category"]
    assert by_name(summary)["price"]["unreadable"] == 1
    (said,) = [note.text for note in summary.notes if note.column == "price"]
    assert said.startswith("holds numbers stored as text (1234.56), read as such; 1 value could not be, and counts as missing")
    assert summary.update({"price": ["oops"], "kind": ["aaaaaaaaaaaa"]}).n_seen == 220_001


def test_codes_with_leading_zeros_stay_text_in_csv(tmp_path):
    path = tmp_path / "towns.csv"
    codes = [f"{(7919 * place) % 20_000:05d}" for place in range(300)]
    path.write_text("zip,size\n" + "".join(f"{code},{place}.5\n" for place, code in enumerate(codes)))
    rows = ss.summarize(path, prototypes=20, criticisms=0, random_state=0).prototypes
    assert set(rows["zip"].to_pylist()) <= set(codes)
