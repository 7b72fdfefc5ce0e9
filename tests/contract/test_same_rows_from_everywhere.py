"""Rows with gaps in every column choose the same rows and report the same numbers, whatever they came through."""

import datetime as dt
import io

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import supersample as ss

RNG = np.random.default_rng(0)
ROWS = 3000


def with_gaps(values, kind=None):
    return pa.array(values, kind, mask=RNG.uniform(size=ROWS) < 0.1)


TABLE = pa.table(
    {
        "size": with_gaps(RNG.normal(size=ROWS)),
        "count": with_gaps(RNG.poisson(20, ROWS)),
        "yes": with_gaps(RNG.uniform(size=ROWS) < 0.3),
        "colour": with_gaps(RNG.choice(["red", "green", "blue, or so"], ROWS)),
        "day": pa.array([dt.date(2024, 1, 1) + dt.timedelta(days=int(day)) for day in RNG.integers(0, 300, ROWS)]),
        "when": pa.array(RNG.integers(0, 2**30, ROWS), pa.timestamp("s")),
    }
)


def csv(table):
    out = io.BytesIO()
    pyarrow.csv.write_csv(table, out)
    return out.getvalue()


def as_file(name, write):
    def make(folder):
        write(folder / name)
        return folder / name

    return make


WAYS = {
    "parquet": as_file("rows.parquet", lambda path: pq.write_table(TABLE, path, row_group_size=700)),
    "feather": as_file("rows.feather", lambda path: feather.write_feather(TABLE, str(path))),
    "csv": as_file("rows.csv", lambda path: path.write_bytes(csv(TABLE))),
    "polars": lambda folder: pl.from_arrow(TABLE),
    "pandas": lambda folder: TABLE.to_pandas(),
    "pandas with Arrow's types": lambda folder: TABLE.to_pandas(types_mapper=pd.ArrowDtype),
    "pandas categories": lambda folder: TABLE.to_pandas(types_mapper=pd.ArrowDtype).astype({"colour": "category"}),
    "duckdb": lambda folder: duckdb.from_arrow(TABLE),
    "a stream of bytes": lambda folder: io.BytesIO(csv(TABLE)),
    "small batches": lambda folder: iter(TABLE.to_batches(max_chunksize=123)),
}


def summary_of(source):
    return ss.summarize(source, 20, 5, random_state=0)


@pytest.fixture(scope="module")
def expected():
    return summary_of(TABLE)


@pytest.mark.parametrize("way", WAYS)
def test_same_rows_same_summary(way, expected, tmp_path):
    found = summary_of(WAYS[way](tmp_path))
    assert found.prototypes["_row"].equals(expected.prototypes["_row"])
    assert found.criticisms["_row"].equals(expected.criticisms["_row"])
    assert found.mmd == expected.mmd
    assert found.mmd_error == expected.mmd_error
    assert found.prototypes["_weight"].equals(expected.prototypes["_weight"])
    assert [note.kind for note in found.columns] == [note.kind for note in expected.columns]
