"""Folders named key=value become columns."""

import datetime as dt

import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

from supersample.errors import InputError, MismatchError
from supersample.records.sources import open_source


def put(path, **columns):
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.table(columns)
    if path.suffix == ".csv":
        pyarrow.csv.write_csv(table, path)
    else:
        pq.write_table(table, path)


def rows_of(source, skip=0):
    opened = open_source(source)
    return pa.Table.from_batches(list(opened.batches(skip)), opened.schema)


@pytest.fixture
def days(tmp_path):
    put(tmp_path / "logs" / "date=2024-06-05" / "region=eu" / "a.parquet", n=[1, 2])
    put(tmp_path / "logs" / "date=2024-06-06" / "region=us%20east" / "b.csv", n=[3])
    put(tmp_path / "logs" / "date=2024-06-07" / "region=__HIVE_DEFAULT_PARTITION__" / "c.parquet", n=[4])
    return tmp_path / "logs"


DATES = [dt.date(2024, 6, 5), dt.date(2024, 6, 5), dt.date(2024, 6, 6), dt.date(2024, 6, 7)]
EXPECTED = {"n": [1, 2, 3, 4], "date": DATES, "region": ["eu", "eu", "us east", None]}


@pytest.mark.parametrize("skip", range(5))
def test_a_folder(days, skip):
    found = rows_of(days, skip)
    assert found.schema == pa.schema([("n", pa.int64()), ("date", pa.date32()), ("region", pa.string())])
    assert found.to_pydict() == {name: values[skip:] for name, values in EXPECTED.items()}


@pytest.mark.parametrize("pattern", ["logs/*/*/*", "logs/date=*", "logs/**/*.[pc]*", "l*"])
def test_patterns(days, pattern):
    assert rows_of(str(days.parent / pattern)).to_pydict() == EXPECTED


def test_a_relative_pattern(days, monkeypatch):
    monkeypatch.chdir(days)
    assert rows_of("date=*/").to_pydict() == EXPECTED


def test_only_folders_below_what_was_given_count(days):
    assert rows_of(days / "date=2024-06-05").column_names == ["n", "region"]
    assert rows_of(str(days / "date=2024-06-05" / "region=e*")).column_names == ["n", "region"]
    assert rows_of(str(days / "date=2024-06-05" / "region=eu" / "*.parquet")).column_names == ["n"]
    assert rows_of(days / "date=2024-06-05" / "region=eu" / "a.parquet").column_names == ["n"]


@pytest.mark.parametrize(
    ("values", "expected", "kind"),
    [
        (["1", "-02", "30"], [1, -2, 30], pa.int64()),
        (["1", "x"], ["1", "x"], pa.string()),
        (["2024-01-01", "2024-02-30"], ["2024-01-01", "2024-02-30"], pa.string()),
        (["2024-01-01", "5"], ["2024-01-01", "5"], pa.string()),
        (["__HIVE_DEFAULT_PARTITION__", "7"], [None, 7], pa.int64()),
        (["__HIVE_DEFAULT_PARTITION__"], [None], pa.string()),
        (["1" * 19, "2"], ["1" * 19, "2"], pa.string()),
        (["a%3Db%2Fc"], ["a=b/c"], pa.string()),
        (["a=b", ""], ["a=b", ""], pa.string()),
    ],
)
def test_types(tmp_path, values, expected, kind):
    for place, value in enumerate(values):
        put(tmp_path / f"k={value}" / f"{place}.parquet", n=[place])
    found = rows_of(tmp_path)
    assert found.schema.field("k").type == kind
    assert dict(zip(found["n"].to_pylist(), found["k"].to_pylist(), strict=True)) == dict(enumerate(expected))


def test_as_arrow_writes_them(tmp_path):
    table = pa.table({"n": range(20), "k": [f"v {place % 3}/" for place in range(20)], "m": [place % 2 for place in range(20)]})
    pyarrow.dataset.write_dataset(
        table, tmp_path, format="parquet", partitioning=["k", "m"], partitioning_flavor="hive"
    )  # fmt: skip
    found = rows_of(tmp_path)
    assert found.select(table.column_names).sort_by("n").equals(table)


def test_other_folders_are_no_columns(tmp_path):
    put(tmp_path / "2024" / "=x" / "a.parquet", n=[1])
    assert rows_of(tmp_path).column_names == ["n"]


def test_folders_that_disagree(tmp_path):
    put(tmp_path / "date=1" / "a.parquet", n=[1])
    put(tmp_path / "date=2" / "hour=3" / "b.parquet", n=[1])
    with pytest.raises(
        MismatchError, match=r"same keys, got 'date' for '.*a.parquet' and 'date', 'hour' for '.*b.parquet'; move"
    ):
        open_source(tmp_path)
    put(tmp_path / "date=2" / "hour=3" / "b.parquet", n=[1])
    (tmp_path / "date=2" / "hour=3" / "b.parquet").rename(tmp_path / "c.parquet")
    with pytest.raises(MismatchError, match=r"got none for '.*c.parquet' and 'date' for"):
        open_source([str(tmp_path / "c.parquet"), tmp_path])


def test_keys_in_another_order_agree(tmp_path):
    put(tmp_path / "a=1" / "b=2" / "x.parquet", n=[1])
    put(tmp_path / "b=3" / "a=4" / "x.parquet", n=[2])
    assert rows_of(tmp_path).to_pydict() == {"n": [1, 2], "a": [1, 4], "b": [2, 3]}


def test_clashes(tmp_path):
    put(tmp_path / "n=1" / "a.parquet", n=[1])
    with pytest.raises(
        InputError, match=r"column 'n' must come from the files or from their folders, got both for '.*a.parquet'"
    ):
        open_source(tmp_path)
    put(tmp_path / "k=1" / "k=2" / "a.parquet", n=[1])
    with pytest.raises(InputError, match=r"each key must be once.*got 'k' twice"):
        open_source(tmp_path / "k=1" / "..")
    put(tmp_path / "x" / "%5Frow=1" / "a.parquet", n=[1])
    with pytest.raises(InputError, match=r"must not have a column named '_row'"):
        open_source(tmp_path / "x")
