"""The same rows through Parquet, CSV, NDJSON, Arrow, polars, pandas, DuckDB and standard input choose the same rows."""

import io
import sys

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

import supersample as ss


def table(n=7000):
    rng = np.random.default_rng(3)
    price = np.where(rng.random(n) < 0.1, np.nan, rng.lognormal(size=n).round(6))
    return pa.table(
        {
            "price": pa.array(price, from_pandas=True),
            "count": rng.poisson(3.0, n),
            "where": rng.choice(["north", "süd", "east"], n),
            "open": rng.random(n) < 0.3,
            "seen": pa.array(np.datetime64("2024-01-01T00:00:00") + np.arange(n).astype("timedelta64[s]") * 3600),
        }
    )


DATA = table()


def _parquet(folder):
    pyarrow.parquet.write_table(DATA, folder / "rows.parquet", row_group_size=1500)
    return folder / "rows.parquet"


def _csv(folder):
    pyarrow.csv.write_csv(DATA, folder / "rows.csv")
    return folder / "rows.csv"


def _feather(folder):
    pyarrow.feather.write_feather(DATA, folder / "rows.feather")
    return folder / "rows.feather"


def _ndjson(folder):
    pl.from_arrow(DATA).with_columns(pl.col("seen").dt.to_string("%Y-%m-%dT%H:%M:%S")).write_ndjson(folder / "rows.ndjson")
    return folder / "rows.ndjson"


def _standard_input(folder, monkeypatch):
    text = _csv(folder).read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    return "-"


def _duckdb(_):
    return duckdb.from_arrow(DATA)


SOURCES = {
    "parquet": _parquet,
    "csv": _csv,
    "feather": _feather,
    "ndjson": _ndjson,
    "standard input": _standard_input,
    "pandas": lambda _: DATA.to_pandas(),
    "polars": lambda _: pl.from_arrow(DATA),
    "duckdb": _duckdb,
    "batches": lambda _: iter(DATA.to_batches(max_chunksize=999)),
}


@pytest.fixture(scope="module")
def expected():
    return ss.summarize(DATA, 30, 5, random_state=0)


@pytest.mark.parametrize("name", SOURCES)
def test_every_source_chooses_the_same_rows(name, tmp_path, monkeypatch, expected):
    make = SOURCES[name]
    made = ss.summarize(make(tmp_path, monkeypatch) if name == "standard input" else make(tmp_path), 30, 5, random_state=0)
    for kind in ("prototypes", "criticisms", "background"):
        mine, theirs = getattr(made, kind), getattr(expected, kind)
        for column in ("_row", "_weight", "price", "count", "where", "open"):
            assert mine.column(column).to_pylist() == theirs.column(column).to_pylist()
    assert made.criticisms.column("_witness").equals(expected.criticisms.column("_witness"))
    assert (made.n_seen, made.mmd, made.mmd_error, made.random_mmd) == (
        7000,
        expected.mmd,
        expected.mmd_error,
        expected.random_mmd,
    )
