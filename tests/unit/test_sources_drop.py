"""Dropped columns are in no schema, batch or sample, and formats that can leave them out never decode them."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

import supersample as ss
from supersample.errors import InputError, InputTypeError
from supersample.records.sources import alike, open_source, text, without

TABLE = pa.table({"n": range(300), "secret": [f"s{place}" for place in range(300)], "x": np.linspace(0, 1, 300)})
NESTED = [{"n": place, "user": {"name": f"u{place}", "age": place % 7, "home": {"city": "c"}}} for place in range(50)]


def rows_of(source, skip=0):
    batches = list(source.batches(skip))
    assert all(batch.schema.equals(source.schema) for batch in batches)
    return pa.Table.from_batches(batches, source.schema)


def write_arrow(path):
    with pa.ipc.new_file(path, TABLE.schema) as writer:
        writer.write_table(TABLE, max_chunksize=100)


FILES = {
    "a.parquet": lambda path: pq.write_table(TABLE, path, row_group_size=90),
    "a.csv": lambda path: pyarrow.csv.write_csv(TABLE, path),
    "a.arrow": write_arrow,
    "a.ndjson": lambda path: pl.from_arrow(TABLE).write_ndjson(path),
}
FRAMES = {
    "table": lambda: TABLE,
    "pandas": lambda: TABLE.to_pandas(),
    "polars": lambda: pl.from_arrow(TABLE),
    "lazy": lambda: pl.from_arrow(TABLE).lazy(),
    "iterator": lambda: iter(TABLE.to_batches(max_chunksize=40)),
}


@pytest.mark.parametrize("skip", [0, 1, 150])
@pytest.mark.parametrize("name", [*FILES, *FRAMES])
def test_sources(name, skip, tmp_path, monkeypatch):
    monkeypatch.setattr(text, "FIRST_BLOCK", 1000)
    monkeypatch.setattr(text, "BLOCK", 500)
    if name in FILES:
        FILES[name](tmp_path / name)
    opened = open_source(tmp_path / name if name in FILES else FRAMES[name]())
    narrow = without(opened, ["secret"])
    assert narrow.schema == pa.schema([("n", pa.int64()), ("x", pa.float64())])
    assert rows_of(narrow, skip).equals(TABLE.drop_columns(["secret"]).slice(skip))
    assert narrow.n_rows == opened.n_rows
    assert (narrow.sample is None) == (opened.sample is None)
    if narrow.sample is not None:
        assert narrow.sample(7).equals(opened.sample(7).drop_columns(["secret"]))


def test_twice_is_as_together(tmp_path):
    FILES["a.parquet"](tmp_path / "a.parquet")
    for source in (tmp_path / "a.parquet", TABLE):
        opened = open_source(source)
        one, other = without(without(opened, ["secret"]), ["x"]), without(opened, ["x", "secret"])
        assert one.identity == other.identity == {**opened.identity, "dropped": ["secret", "x"]}
        assert rows_of(one).equals(rows_of(other))
        assert rows_of(one).column_names == ["n"]
    assert without(opened, []) is opened


def nested_parquet(path):
    pq.write_table(pa.Table.from_pylist(NESTED), path)


def nested_arrow(path):
    table = pa.Table.from_pylist(NESTED)
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)


@pytest.mark.parametrize(
    ("ending", "write"),
    [
        ("parquet", nested_parquet),
        ("arrow", nested_arrow),
        ("ndjson", lambda path: path.write_text("".join(json.dumps(row) + "\n" for row in NESTED))),
    ],
)
@pytest.mark.parametrize(
    ("drop", "left"),
    [
        (["user"], ["n"]),
        (["user.name"], ["n", "user.age", "user.home.city"]),
        (["user.home", "n"], ["user.name", "user.age"]),
        (["n"], ["user.name", "user.age", "user.home.city"]),
    ],
)
def test_structures(ending, write, drop, left, tmp_path):
    write(tmp_path / f"a.{ending}")
    whole = open_source(tmp_path)
    narrow = without(whole, drop)
    assert sorted(narrow.schema.names) == sorted(left)
    assert rows_of(narrow).equals(rows_of(whole).select(narrow.schema.names))
    assert narrow.sample(5).equals(whole.sample(5).select(narrow.schema.names))


def test_a_name_that_is_also_the_beginning_of_another(tmp_path):
    table = pa.table({"x": [1, 2], "x.y": [3, 4], "z": [5, 6]})
    pq.write_table(table, tmp_path / "a.parquet")
    assert rows_of(without(open_source(tmp_path), ["x.y"])).to_pydict() == {"x": [1, 2], "z": [5, 6]}


def test_folders(tmp_path):
    (tmp_path / "day=3").mkdir()
    pq.write_table(TABLE, tmp_path / "day=3" / "a.parquet")
    opened = open_source(tmp_path)
    assert without(opened, ["day"]).schema.names == ["n", "secret", "x"]
    assert rows_of(without(opened, ["n", "secret"])).column_names == ["x", "day"]
    with pytest.raises(InputError, match=r"drop must leave a column of the files, got all 3 of a.parquet"):
        without(opened, ["n", "secret", "x"])


def test_they_are_not_decoded(tmp_path):
    """A value that cannot be read does not matter in a column that is left out."""
    (tmp_path / "a.csv").write_bytes(b"n,secret\n" + b"1,2\n" * 2_000_000 + b"1,oops\n")
    opened = open_source(tmp_path / "a.csv")
    with pytest.raises(InputError, match="oops"):
        rows_of(opened)
    assert rows_of(without(opened, ["secret"])).num_rows == 2_000_001


def test_the_reader_is_asked_for_the_others_alone(tmp_path, monkeypatch):
    FILES["a.parquet"](tmp_path / "a.parquet")
    asked = []
    read = pq.ParquetFile.iter_batches

    def iter_batches(self, *args, columns=None, **options):
        asked.append(columns)
        return read(self, *args, columns=columns, **options)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", iter_batches)
    narrow = without(open_source(tmp_path), ["secret"])
    rows_of(narrow)
    narrow.sample(3)
    assert asked
    assert all(columns == ["n", "x"] for columns in asked)


def test_a_converted_source_drops_too(tmp_path):
    pq.write_table(TABLE, tmp_path / "a.parquet")
    other = open_source(pd.DataFrame({"n": [0.5], "secret": ["a"], "x": [1.0]}))
    left, _ = alike(open_source(tmp_path), other)
    narrow = without(left, ["secret"])
    assert narrow.schema == pa.schema([("n", pa.float64()), ("x", pa.float64())])
    assert rows_of(narrow).num_rows == 300


@pytest.mark.parametrize(
    ("drop", "error", "message"),
    [
        (
            ["secrets"],
            InputError,
            r"got 'secrets'; it has n, secret, x; did you mean 'secret'\?$",
        ),
        (["n", "secret", "x"], InputError, "drop must leave a column of pyarrow.Table, got the names of all 3"),
        ("secret", InputTypeError, "drop must be a list of names of columns, got 'secret'; put the name in a list"),
        ([3], InputTypeError, r"drop must be a list of names of columns, got \[3\]"),
    ],
)
def test_errors(drop, error, message):
    with pytest.raises(error, match=message):
        without(open_source(TABLE), drop)
    wide = open_source(np.zeros((2, 12)))
    with pytest.raises(InputError, match=r"it has x0, x1, x2, x3, x4, x5, x6, x7 and 4 more$"):
        without(wide, ["y"])


@pytest.mark.parametrize(
    "options", [{"redact": ["secret"]}, {"label": "secret"}, {"types": {"secret": "category"}}, {"weight": "secret"}]
)
def test_what_is_dropped_cannot_be_used(options):
    (name,) = options
    with pytest.raises(InputError, match=f"drop names column 'secret', which {name} names too; leave it out of one of them"):
        ss.summarize(TABLE, drop=["secret"], **options)
