"""Queries, data sets and stored arrays: read in bounded batches, with the same rows as the table they stand for."""

import io
import sys

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from supersample.errors import InputError, InputTypeError
from supersample.records.sources import MAX_ROWS, npy, open_source

TABLE = pa.table({"n": range(MAX_ROWS * 2 + 5), "s": [f"v{place % 7}" for place in range(MAX_ROWS * 2 + 5)]})


def rows_of(source, skip=0):
    opened = open_source(source)
    batches = list(opened.batches(skip))
    assert all(0 < batch.num_rows <= MAX_ROWS for batch in batches)
    return pa.Table.from_batches(batches, opened.schema)


WORDS = ["a", "b", None, "a"]


@pytest.mark.parametrize(
    "column",
    [
        pl.Series(WORDS, dtype=pl.Categorical),
        pl.Series(WORDS, dtype=pl.Enum(["b", "a", "unused"])),
        pl.Series(WORDS, dtype=pl.String),
        pl.Series([[word] for word in WORDS], dtype=pl.List(pl.String)),
    ],
)
@pytest.mark.parametrize("lazy", [False, True])
def test_text_of_polars(column, lazy):
    frame = pl.DataFrame({"c": column, "n": range(4)})
    found = rows_of(frame.lazy() if lazy else frame)
    found.validate(full=True)
    assert found.to_pydict() == {"c": column.to_list(), "n": [0, 1, 2, 3]}
    assert pa.types.is_string(found.schema.field("c").type) or found.schema.field("c").type == pa.list_(pa.string())


@pytest.mark.parametrize("skip", [0, 1, 3])
def test_lists_of_categories_as_polars_exports_them(skip):
    words = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 0], pa.uint32()), pa.array(["a", "b"], pa.string_view()))
    lists = pa.ListArray.from_arrays([0, 2, 2, 2, 4], words, mask=pa.array([False, True, False, False]))
    found = rows_of(pa.table({"c": lists}), skip)
    found.validate(full=True)
    assert found.schema.types == [pa.list_(pa.string())]
    assert found["c"].to_pylist() == [["a", "b"], None, [], [None, "a"]][skip:]


@pytest.mark.parametrize("skip", [0, 3, MAX_ROWS + 1])
def test_lazy_frames(skip):
    query = pl.from_arrow(TABLE).lazy().with_columns(m=pl.col("n") * 2).filter(pl.col("n") % 2 == 0)
    opened = open_source(query)
    assert (opened.label, opened.n_rows, opened.schema.names) == ("polars.LazyFrame", None, ["n", "s", "m"])
    found = rows_of(query, skip)
    assert found["n"].to_pylist() == list(range(0, TABLE.num_rows, 2))[skip:]
    assert pa.Table.from_batches(opened.batches(skip)).equals(pa.Table.from_batches(opened.batches(skip)))


@pytest.mark.parametrize("refused", [False, True])
def test_lazy_frames_of_an_older_polars(refused, monkeypatch):
    """Versions without `collect_batches` write a temporary file, or collect what they cannot stream."""
    if hasattr(pl.LazyFrame, "collect_batches"):
        monkeypatch.delattr(pl.LazyFrame, "collect_batches")

    def refuse(*_, **__):
        raise pl.exceptions.InvalidOperationError("not supported")

    if refused:
        monkeypatch.setattr(pl.LazyFrame, "sink_ipc", refuse)
    frame = pl.from_arrow(TABLE).with_columns(c=pl.col("s").cast(pl.Categorical))
    assert rows_of(frame.lazy(), 2).equals(rows_of(frame, 2))


def test_an_error_of_an_older_polars_is_told(monkeypatch):
    monkeypatch.delattr(pl.LazyFrame, "collect_batches", raising=False)
    with pytest.raises(InputError, match=r"polars.LazyFrame could not be read beyond its first 0 rows"):
        rows_of(pl.LazyFrame({"a": ["x"]}).select(pl.col("a").cast(int)))


@pytest.mark.parametrize("skip", [0, 3])
def test_duckdb(skip):
    opened = open_source(duckdb.from_arrow(TABLE).order("n"))
    assert opened.label == "duckdb.DuckDBPyRelation"
    assert pa.Table.from_batches(list(opened.batches(skip))).equals(TABLE.slice(skip))
    with pytest.raises(InputError, match="can be read only once"):
        opened.batches(0)


def test_two_queries_of_one_connection_one_after_the_other():
    connection = duckdb.connect()
    left, right = (open_source(connection.sql(f"select range + {start} as n from range(40000)")) for start in (0, 7))
    assert sum(batch["n"].to_numpy().sum() for batch in left.batches(0)) == sum(range(40_000))
    assert sum(batch["n"].to_numpy().sum() for batch in right.batches(0)) == sum(range(7, 40_007))


def test_types_of_duckdb():
    query = duckdb.sql("select 'a'::ENUM('a', 'b') as e, {'x': 1, 'y': 'z'} as s, [1, 2] as l, uuid() as u, '{}'::JSON as j")
    found = rows_of(query).to_pydict()
    assert (found["e"], found["s.x"], found["s.y"], found["l"], found["j"]) == (["a"], [1], ["z"], [[1, 2]], ["{}"])


def test_an_error_of_duckdb():
    with pytest.raises(
        InputError, match=r"duckdb.DuckDBPyRelation could not be read beyond its first 0 rows.*the query stopped"
    ):
        rows_of(duckdb.sql("select ('x' || range)::INT as n from range(3)"))


PANDAS = {
    "Int64": (pd.array([1, None, 2**60 + 1], dtype="Int64"), [1, None, 2**60 + 1]),
    "UInt8": (pd.array([1, None, 3], dtype="UInt8"), [1, None, 3]),
    "Float64": (pd.array([1.5, None, 2.5], dtype="Float64"), [1.5, None, 2.5]),
    "boolean": (pd.array([True, None, False], dtype="boolean"), [True, None, False]),
    "string": (pd.array(["a", None, "c"], dtype="string"), ["a", None, "c"]),
    "categories": (pd.Categorical(["a", None, "b"]), ["a", None, "b"]),
    "numbers as categories": (pd.Categorical([3, None, 1]), [3, None, 1]),
    "ordered": (pd.Categorical(["lo", "hi", None], categories=["lo", "hi"], ordered=True), ["lo", "hi", None]),
    "arrow lists": (pd.array([[1], None, [2, 3]], dtype=pd.ArrowDtype(pa.list_(pa.int64()))), [[1], None, [2, 3]]),
    "arrow dictionary": (
        pd.array(["a", None, "a"], dtype=pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))),
        ["a", None, "a"],
    ),
    "arrow views": (pd.array(["a", None, "c"], dtype=pd.ArrowDtype(pa.string_view())), ["a", None, "c"]),
}


@pytest.mark.parametrize("name", PANDAS)
def test_types_of_pandas(name):
    values, expected = PANDAS[name]
    assert rows_of(pd.DataFrame({"c": values}))["c"].to_pylist() == expected


class Dataset:
    """What `datasets.Dataset` has: rows by slice or by list, in the order of its indices, as Arrow tables if asked for."""

    def __init__(self, table, order=None, arrow=False):
        self.table, self.arrow = table, arrow
        self.order = list(range(table.num_rows)) if order is None else order

    def __len__(self):
        return len(self.order)

    def __getitem__(self, key):
        assert self.arrow
        rows = self.order[key] if isinstance(key, slice) else [self.order[place] for place in key]
        return self.table.take(pa.array(rows, pa.int64()))

    def with_format(self, name):
        return type(self)(self.table, self.order, name == "arrow")


class IterableDataset:
    def __init__(self, table, arrow=False):
        self.table, self.arrow = table, arrow

    def with_format(self, name):
        return type(self)(self.table, name == "arrow")

    def iter(self, batch_size):
        for start in range(0, self.table.num_rows, batch_size):
            part = self.table.slice(start, batch_size)
            yield part if self.arrow else part.to_pydict()


class DatasetDict(dict):
    pass


Dataset.__module__ = "datasets.arrow_dataset"
IterableDataset.__module__ = "datasets.iterable_dataset"
DatasetDict.__module__ = "datasets.dataset_dict"


@pytest.mark.parametrize("skip", [0, 3, 1024, 5000])
def test_data_sets_of_hugging_face(skip):
    order = list(range(3000))[::-1]
    opened = open_source(Dataset(TABLE, order))
    assert (opened.label, opened.n_rows) == ("datasets.Dataset", 3000)
    assert rows_of(Dataset(TABLE, order), skip)["n"].to_pylist() == order[skip:]
    assert rows_of(IterableDataset(TABLE), skip).equals(TABLE.slice(skip))


def test_several_data_sets_of_hugging_face():
    with pytest.raises(InputTypeError, match=r"one data set, got datasets.DatasetDict of 'train', 'test'; pass one of them"):
        open_source(DatasetDict(train=Dataset(TABLE), test=Dataset(TABLE)))


ARRAYS = {
    "matrix": np.arange(60.0).reshape(20, 3),
    "columns first": np.asfortranarray(np.arange(60, dtype=np.int16).reshape(20, 3)),
    "vector": np.arange(20, dtype=">f4"),
    "text": np.array([f"wörd {place}" for place in range(20)]),
    "times": np.arange(20).astype("M8[s]"),
    "records": np.array([(place, f"s{place}", [place, 1]) for place in range(20)], [("n", "i4"), ("t", "U4"), ("v", "f4", 2)]),
    "names beyond Latin": np.array([(1,), (2,)], [("größe 大", "i8")]),
    "no rows": np.empty((0, 3)),
}


@pytest.mark.filterwarnings("ignore:Stored array in format 3.0")
@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("skip", [0, 1, 7, 20])
def test_npy(name, skip, tmp_path, monkeypatch):
    monkeypatch.setattr(npy, "MAX_ROWS", 6)
    np.save(tmp_path / "a.npy", ARRAYS[name])
    opened = open_source(tmp_path / "a.npy")
    assert opened.n_rows == len(ARRAYS[name])
    assert pa.Table.from_batches(opened.batches(skip), opened.schema).equals(rows_of(ARRAYS[name], skip))


class Counting(io.BytesIO):
    largest = 0

    def read(self, size=-1, /):
        data = super().read(size)
        Counting.largest = max(Counting.largest, len(data))
        return data


@pytest.mark.parametrize("order", ["C", "F"])
def test_npy_is_never_read_whole(order):
    file = Counting()
    np.save(file, np.zeros((MAX_ROWS * 8, 4), order=order))
    file.seek(0)
    stored = npy.npy_outline(file)
    assert sum(batch.num_rows for batch in npy.npy_batches(file, stored, 0)) == MAX_ROWS * 8
    assert Counting.largest <= MAX_ROWS * 32


class Loud:
    def __reduce__(self):
        return sys.exit, ("unpickled",)


def test_npy_that_is_refused(tmp_path):
    np.save(tmp_path / "objects.npy", np.array([Loud(), None], object))
    with pytest.raises(InputError, match="Python objects, which would have to be unpickled"):
        open_source(tmp_path / "objects.npy")
    np.save(tmp_path / "deep.npy", np.zeros((2, 3, 4)))
    with pytest.raises(InputError, match="one or two dimensions"):
        open_source(tmp_path / "deep.npy")
    np.save(tmp_path / "single.npy", np.float64(3))
    with pytest.raises(InputError, match="must have rows and columns"):
        open_source(tmp_path / "single.npy")
    np.save(tmp_path / "cut.npy", np.zeros((50, 2)))
    data = (tmp_path / "cut.npy").read_bytes()
    (tmp_path / "cut.npy").write_bytes(data[:-8])
    with pytest.raises(InputError, match="must have 800 bytes, got 792; the file is cut short"):
        open_source(tmp_path / "cut.npy")
    (tmp_path / "cut.npy").write_bytes(data[:60])
    with pytest.raises(InputError, match=r"must be a readable npy file"):
        open_source(tmp_path / "cut.npy")


def test_arrays_mapped_into_memory(tmp_path):
    whole = np.arange(3.0 * MAX_ROWS).reshape(-1, 2)
    np.save(tmp_path / "a.npy", whole)
    mapped = np.load(tmp_path / "a.npy", mmap_mode="r")
    assert rows_of(mapped).equals(rows_of(whole))
