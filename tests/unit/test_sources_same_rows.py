"""The same rows come out of every format, frame and stream, in order and in bounded batches."""

import bz2
import datetime as dt
import gzip
import io
import itertools
import json
from unittest import mock

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.feather
import pyarrow.ipc
import pyarrow.json
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from supersample.records.sources import MAX_BYTES, MAX_ROWS, open_source, text

ROWS = pa.table(
    {
        "count": pa.array([1, -2, None, 2**53 + 1, 5], pa.int64()),
        "size": pa.array([0.1, 1e-300, 1 / 3, None, -2.5e17]),
        "yes": pa.array([True, False, None, True, True]),
        "name": pa.array(["a", "", None, 'quo"te, and\nline', "ü"]),
        "day": pa.array([dt.date(2024, 2, 29), None, *[dt.date(1969, 12, 31)] * 3], pa.date32()),
        "when": pa.array([dt.datetime(2024, 2, 29, 12, 30, 1), None, *[dt.datetime(1969, 1, 1)] * 3], pa.timestamp("s")),
    }
)  # fmt: skip


def read(source, skip=0):
    opened = open_source(source)
    batches = list(opened.batches(skip))
    assert all(0 < batch.num_rows <= MAX_ROWS for batch in batches)
    assert all(batch.schema.equals(opened.schema, check_metadata=True) for batch in batches)
    if opened.n_rows is not None:
        assert max(0, opened.n_rows - skip) == sum(batch.num_rows for batch in batches)
    return pa.Table.from_batches(batches, schema=opened.schema)


def as_csv(table):
    out = io.BytesIO()
    pyarrow.csv.write_csv(table, out)
    return out.getvalue()


def as_ndjson(table):
    lines = [json.dumps(row, default=str) for row in table.to_pylist()]
    return ("\n".join(lines) + "\n").encode()


def as_parquet(table):
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


def as_arrow(table, opener=pa.ipc.new_file):
    out = io.BytesIO()
    with opener(out, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)
    return out.getvalue()


def as_stream(table):
    return as_arrow(table, pa.ipc.new_stream)


WRITERS = {
    "rows.parquet": as_parquet,
    "rows.pq": as_parquet,
    "rows.csv": as_csv,
    "rows.csv.gz": lambda table: gzip.compress(as_csv(table)),
    "rows.CSV.BZ2": lambda table: bz2.compress(as_csv(table)),
    "rows.arrow": as_arrow,
    "rows.arrows": as_stream,
    "rows.feather": as_arrow,
    "rows.ndjson": as_ndjson,
    "rows.jsonl.gz": lambda table: gzip.compress(as_ndjson(table)),
}
FRAMES = {
    "table": lambda table: table,
    "reader": lambda table: table.to_reader(max_chunksize=2),
    "batches": lambda table: iter(table.to_batches(max_chunksize=2)),
    "tables": lambda table: (table.slice(start, 2) for start in range(0, 6, 2)),
    "list": lambda table: table.to_batches(max_chunksize=2),
    "dictionary": lambda table: table.to_pydict(),
    "dictionaries": lambda table: (table.slice(start, 2).to_pydict() for start in range(0, 6, 2)),
    "polars": pl.from_arrow,
    "polars parts": lambda table: (pl.from_arrow(table.slice(start, 2)) for start in range(0, 6, 2)),
    "pandas": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype).set_index(np.array([9, 8, 7, 7, 5])),
    "duckdb": lambda table: duckdb.from_arrow(table),
}


def assert_same(found, expected):
    """Compare values: the unit of times and the width of types depend on the writer."""
    assert found.column_names == expected.column_names
    for name in expected.column_names:
        values = found[name]
        if pa.types.is_temporal(values.type):
            values = values.cast(expected[name].type)
        assert values.to_pylist() == expected[name].to_pylist(), name


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("skip", [0, 1, 2, 3, 5])
def test_files(name, skip, tmp_path):
    (tmp_path / name).write_bytes(WRITERS[name](ROWS))
    assert_same(read(tmp_path / name, skip), ROWS.slice(skip))


@pytest.mark.parametrize("name", FRAMES)
@pytest.mark.parametrize("skip", [0, 1, 2, 3, 5])
def test_frames(name, skip):
    assert_same(read(FRAMES[name](ROWS), skip), ROWS.slice(skip))


class Piped:
    """Standard input as a process sees it: bytes that cannot be sought in."""

    def __init__(self, data):
        self.buffer = io.BufferedReader(OneWay(data))

    def isatty(self):
        return False


class OneWay(io.RawIOBase):
    def __init__(self, data):
        self.data = io.BytesIO(data)

    def readable(self):
        return True

    def readinto(self, buffer):
        return self.data.readinto(memoryview(buffer)[:7])


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("skip", [0, 3])
def test_standard_input(name, skip, monkeypatch):
    monkeypatch.setattr("sys.stdin", Piped(WRITERS[name](ROWS)))
    assert open_source("-").label == "standard input"
    monkeypatch.setattr("sys.stdin", Piped(WRITERS[name](ROWS)))
    assert_same(read("-", skip), ROWS.slice(skip))


def test_an_open_file_is_a_stream_too(tmp_path):
    (tmp_path / "rows").write_bytes(as_csv(ROWS))
    with (tmp_path / "rows").open("rb") as file:
        assert_same(read(file), ROWS)


def test_numbers_in_text_keep_all_their_digits(tmp_path):
    values = np.random.default_rng(0).normal(size=1000) * 10.0 ** np.random.default_rng(1).integers(-30, 30, 1000)
    table = pa.table({"x": values, "n": np.random.default_rng(2).integers(-(2**62), 2**62, 1000)})
    for name in ("rows.csv", "rows.ndjson"):
        (tmp_path / name).write_bytes(WRITERS[name](table))
        assert read(tmp_path / name).equals(table)


def test_nan_in_text_is_a_number_and_empty_is_null(tmp_path):
    (tmp_path / "a.csv").write_bytes(b'x,s\nnan,"NA"\n,NA\n1.5,""\n')
    found = read(tmp_path / "a.csv").to_pydict()
    assert np.isnan(found["x"][0])
    assert found["x"][1:] == [None, 1.5]
    assert found["s"] == ["NA", None, ""]


@given(
    cells=st.lists(st.tuples(st.text('ab,"\n', max_size=6), st.integers(0, 99)), min_size=1, max_size=60),
    block=st.integers(40, 200),
    suffix=st.sampled_from(["csv", "ndjson"]),
)
def test_rows_of_text_are_whole_wherever_a_block_ends(cells, block, suffix):
    table = pa.table({"s": [f"s{cell}" for cell, _ in cells], "n": [number for _, number in cells]})
    with mock.patch.multiple(text, FIRST_BLOCK=block, BLOCK=block):
        assert read(io.BytesIO(WRITERS[f"rows.{suffix}"](table))).equals(table)


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_delimiters(mark, tmp_path):
    (tmp_path / "a.csv").write_text(f"a{mark}b\n1{mark}2\n")
    assert read(tmp_path / "a.csv").to_pydict() == {"a": [1], "b": [2]}


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (np.arange(6, dtype=np.int16).reshape(3, 2), {"x0": [0, 2, 4], "x1": [1, 3, 5]}),
        (np.arange(3.0), {"x0": [0.0, 1.0, 2.0]}),
        (np.arange(6, dtype=">f8").reshape(3, 2)[::-1], {"x0": [4, 2, 0], "x1": [5, 3, 1]}),
        (np.array([("a", 1, [1, 2]), ("b", 2, [3, 4])], [("s", "U3"), ("n", "i4"), ("v", "f4", 2)]),
         {"s": ["a", "b"], "n": [1, 2], "v": [[1, 2], [3, 4]]}),
        (np.ma.masked_array([1, 2, 3], [False, True, False]), {"x0": [1, None, 3]}),
        (np.array(["2024-01-01", "NaT"], "M8[D]"), {"x0": [dt.date(2024, 1, 1), None]}),
        (np.array([[1, "a"], [None, "b"]], object), {"x0": [1, None], "x1": ["a", "b"]}),
    ],
)  # fmt: skip
def test_arrays(array, expected):
    assert read(array).to_pydict() == expected
    assert read(array, 1).to_pydict() == {name: values[1:] for name, values in expected.items()}


def test_pandas_objects_and_categories():
    frame = pd.DataFrame({"c": pd.Categorical(["u", "v", "u"]), "o": pd.Series(["x", None, "y"], dtype=object), 7: [1, 2, 3]})
    found = read(frame)
    assert found.to_pydict() == {"c": ["u", "v", "u"], "o": ["x", None, "y"], "7": [1, 2, 3]}
    assert found.schema.types[:2] == [pa.string(), pa.string()]


def test_layouts_are_read_as_the_plainest():
    lists = [["a"], None, ["b", "c"]]
    table = pa.table(
        {
            "dictionary": pa.array(["x", None, "y"]).dictionary_encode(),
            "large": pa.array(["x", None, "y"], pa.large_string()),
            "lists": pa.array(lists, pa.large_list(pa.large_string())),
            "runs": pa.RunEndEncodedArray.from_arrays([1, 3], ["p", "q"]),
            "struct": pa.array([{"a": "x"}] * 3, pa.struct([("a", pa.dictionary(pa.int8(), pa.string()))])),
        }
    )
    found = read(table)
    found.validate(full=True)
    assert found.schema.types == [pa.string()] * 2 + [pa.list_(pa.string()), pa.string(), pa.string()]
    assert found.to_pydict() == {
        "dictionary": ["x", None, "y"], "large": ["x", None, "y"], "lists": lists, "runs": ["p", "q", "q"],
        "struct.a": ["x"] * 3,
    }  # fmt: skip


@pytest.mark.parametrize("kind", [pa.list_view(pa.string()), pa.large_list_view(pa.large_string())])
@pytest.mark.parametrize("skip", [0, 1, 3])
def test_views_of_lists_become_lists(kind, skip):
    lists = [["a"], None, ["b", None, "c"], [], ["d"]]
    found = read(pa.table({"v": pa.array(lists, kind)}), skip)
    found.validate(full=True)
    assert found.schema.types == [pa.list_(pa.string())]
    assert found["v"].to_pylist() == lists[skip:]


def test_further_ways_in():
    table = pa.table({"x": [1, 2, 3]})
    series = pd.Series([1, 2, 3], name="x")
    for source in (
        pyarrow.dataset.dataset(table),
        series,
        pl.Series("x", [1, 2, 3]),
        table.to_batches()[0],
        open_source(table),
    ):
        assert read(source).to_pydict() == {"x": [1, 2, 3]}
    assert read(pd.Series([1, 2, 3])).to_pydict() == {"x0": [1, 2, 3]}


@given(
    values=st.lists(st.one_of(st.none(), st.floats(allow_nan=False), st.integers(0, 9).map(float)), max_size=40),
    cuts=st.lists(st.integers(0, 40), max_size=8),
    skip=st.integers(0, 45),
)
def test_no_slicing_changes_the_rows(values, cuts, skip):
    table = pa.table({"x": pa.array(values, pa.float64()), "n": pa.array(range(len(values)), pa.int64())})
    edges = [0, *sorted(min(cut, len(values)) for cut in cuts), len(values)]
    parts = [table.slice(start, end - start) for start, end in itertools.pairwise(edges)]
    # Batches that have no row between them tell no columns.
    for source in (table, pa.concat_tables(parts).to_reader(), *([parts, iter(parts)] if values else [])):
        assert read(source, skip).equals(table.slice(skip))


@given(groups=st.integers(1, 30), skip=st.integers(0, 110), files=st.integers(1, 3))
def test_row_groups_are_skipped_exactly(groups, skip, files, tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    table = pa.table({"n": range(100)})
    for part in range(files):
        start, end = 100 * part // files, 100 * (part + 1) // files
        pq.write_table(table.slice(start, end - start), folder / f"part-{part}.parquet", row_group_size=groups)
    assert read(folder, skip)["n"].to_pylist() == list(range(100))[skip:]


@pytest.mark.parametrize("make", [lambda table: table, lambda table: iter([table]), lambda table: table["x0"].to_numpy()])
def test_long_and_wide_batches_are_cut(make):
    long = pa.table({"x0": np.arange(3 * MAX_ROWS + 5)})
    opened = open_source(make(long))
    sizes = [batch.num_rows for batch in opened.batches(0)]
    assert sizes == [MAX_ROWS] * 3 + [5]


def test_heavy_rows_make_short_batches(tmp_path):
    heavy = pa.table({"image": pa.array([b"x" * (1 << 20)] * 80)})
    pq.write_table(heavy, tmp_path / "a.parquet", compression="zstd", use_dictionary=False)
    for source, rows in ((heavy, 80), (tmp_path / "a.parquet", 80), (np.zeros((1_280, 1 << 13)), 1_280)):
        batches = list(open_source(source).batches(0))
        assert sum(batch.num_rows for batch in batches) == rows
        assert max(batch.nbytes for batch in batches) <= 1.1 * MAX_BYTES
