"""What cannot be read says which part, what was expected, what came and what to do."""

import gc
import io
import sys
import tempfile

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest
import scipy.sparse

from supersample.errors import InputError, InputTypeError, MismatchError, SupersampleError
from supersample.records.sources import Source, open_source
from supersample.records.sources.text import FIRST_BLOCK

TABLE = pa.table({"a": range(1000), "b": np.linspace(0, 1, 1000)})


def drain(source):
    return sum(batch.num_rows for batch in open_source(source).batches(0))


@pytest.mark.parametrize("start", ["null", "\ufeff\n null", "nothing"])
def test_lines_that_begin_with_null_are_refused_before_the_parser_ends_the_process(tmp_path, start):
    path = tmp_path / "rows.ndjson"
    path.write_bytes(f'{start}\n{{"a": 1}}\n'.encode())
    with pytest.raises(InputError, match="a line must be an object, and the first one is none"):
        drain(path)


class FromDask:
    __module__ = "dask.dataframe.core"


class FromSpark:
    __module__ = "pyspark.sql.dataframe"


def twice(name):
    return pa.Table.from_arrays([pa.array([1]), pa.array([2])], [name, name])


OBJECTS = {
    "number": (3, InputTypeError, "^source must be a path.*got int"),
    "none": (None, InputTypeError, "^source must be a path.*got NoneType"),
    "bytes": (b"a,b", InputTypeError, "^source must be a path.*got bytes"),
    "numbers": ([[1, 2], [3, 4]], InputTypeError, "got a list with list in it.*numpy.asarray"),
    "row dictionaries": ([{"a": 1}, {"a": 2}], InputTypeError, "must hold a list or array.*got int for 'a'.*from_pylist"),
    "text column": ({"a": "text"}, InputTypeError, "got str for 'a'"),
    "uneven columns": ({"a": [1, 2], "b": [1]}, InputError, "columns of the same length"),
    "dask": (FromDask(), InputTypeError, "got dask.FromDask: only summarize reads the frames of a cluster"),
    "spark": (FromSpark(), InputTypeError, "got pyspark.FromSpark: only summarize reads the frames of a cluster"),
    "lazy": (pl.LazyFrame({"a": [1]}).select("b"), InputError, r"LazyFrame must be a query that can run: .*b.*; correct"),
    "lazy later": (pl.LazyFrame({"a": ["x"]}).select(pl.col("a").cast(int)), InputError, r"polars.LazyFrame could not be read"),
    "sparse": (scipy.sparse.csr_matrix(np.eye(2)), InputTypeError, r"source must be dense.*toarray"),
    "column": (pa.chunked_array([[1]]), InputTypeError, "must be a table with named columns, got pyarrow.ChunkedArray"),
    "images": (np.zeros((2, 8, 8)), InputError, r"must have one or two dimensions.*got 3 with shape.*reshape"),
    "scalar array": (np.float64(3) * np.ones(()), InputError, "must have one or two dimensions.*got 0"),
    "complex": (np.ones((2, 2), complex), InputTypeError, "column 'x0'.*got complex"),
    "no columns": (np.ones((2, 0)), InputError, "must have columns"),
    "empty table": (pa.table({}), InputError, "must have columns, got none in pyarrow.Table"),
    "double name": (twice("a"), InputError, "different names, got 'a' more than once in pyarrow.Table; rename"),
    "double pandas": (pd.DataFrame([[1, 2]], columns=["a", "a"]), InputError, "different names, got 'a' more than once"),
    "mixed pandas": (pd.DataFrame({"m": [1, "x"]}), InputTypeError, "column 'm' of pandas.DataFrame must hold values of one"),
    "reserved": (pa.table({"_row": [1]}), InputError, "must not have a column named '_row'.*rename or drop"),
    "no paths": ([], InputError, "at least one file, got an empty list"),
    "no batches": (iter([]), InputError, "the list_iterator must give batches of rows, got none"),
    "single rows": (iter([1.0, 2.0]), InputTypeError, "got float as item 0; gather single rows into batches"),
    "other columns": (iter([{"a": [1]}, {"b": [1]}]), MismatchError, "got no 'a' and additional 'b' in the.* after 1 rows"),
    "other types": (iter([{"a": [1]}, {"a": ["x"]}]), MismatchError, "column 'a' must have one type, expected int64.*string"),
    "loss": (iter([{"a": [1.0]}, {"a": [2**53 + 1]}]), MismatchError, "column 'a'.*convert to double without loss"),
}  # fmt: skip


@pytest.mark.parametrize("what", OBJECTS)
def test_objects(what):
    source, error, message = OBJECTS[what]
    with pytest.raises(error, match=message):
        drain(source)


def write(path, table=TABLE):
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=100)
    elif path.suffix == ".csv":
        pyarrow.csv.write_csv(table, path)
    else:
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=100)
    return path


def test_paths_that_lead_nowhere(tmp_path):
    with pytest.raises(InputError, match=r"existing file, folder or pattern, got '.*none.csv' and found nothing"):
        open_source(tmp_path / "none.csv")
    with pytest.raises(InputError, match=r"got the pattern '.*\*.csv' that matches none"):
        open_source(str(tmp_path / "*.csv"))
    with pytest.raises(InputError, match="source must hold data files, got the folder"):
        open_source(tmp_path)


@pytest.mark.parametrize("name", ["rows.xlsx", "rows", "rows.parquet.gz", "rows.gz"])
def test_unknown_extensions(name, tmp_path):
    (tmp_path / name).write_bytes(b"x")
    with pytest.raises(InputError, match=f"its extension tells, got '{name}'; files end in .parquet"):
        open_source(tmp_path / name)


@pytest.mark.parametrize("name", ["a.parquet", "a.csv", "a.arrow", "a.ndjson"])
def test_empty_and_wrong_files(name, tmp_path):
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(InputError, match=f"{name} must hold data, got a file of zero bytes"):
        open_source(tmp_path / name)
    (tmp_path / name).write_bytes(b"\x00\x01{]\n,,\n" * 9)
    with pytest.raises(SupersampleError, match=name):
        drain(tmp_path / name)


def test_a_json_array_is_told_from_lines(tmp_path):
    (tmp_path / "a.json").write_text('[\n{"a": 1}\n]')
    with pytest.raises(InputError, match="one JSON object a line, got a JSON array"):
        open_source(tmp_path / "a.json")


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_truncated_files(name, tmp_path):
    path = write(tmp_path / name)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match=rf"{name} must be a readable (parquet|arrow) file.*damaged or incomplete"):
        open_source(path)


def test_a_damaged_page_is_an_error_with_its_place(tmp_path):
    path = write(tmp_path / "a.parquet")
    data = bytearray(path.read_bytes())
    offset = pq.ParquetFile(path).metadata.row_group(4).column(0).dictionary_page_offset
    data[offset : offset + 40] = b"\xff" * 40
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"a.parquet could not be read beyond its first 400 rows: ") as caught:
        drain(path)
    assert caught.value.__cause__ is not None


def test_late_values_of_another_kind_in_csv(tmp_path):
    rows = FIRST_BLOCK // 4 + 1000
    (tmp_path / "a.csv").write_text("a\n" + "123\n" * rows + "late\n")
    with pytest.raises(
        InputError, match=r"a.csv could not be read beyond its first [\d,]+ rows: .*'late' \(in 'a'\); types are read out"
    ):
        drain(tmp_path / "a.csv")
    (tmp_path / "b.csv").write_text("a,b\n1,2\n3\n")
    with pytest.raises(InputError, match=r"b.csv.*Expected 2 columns, got 1"):
        drain(tmp_path / "b.csv")


def test_late_values_of_another_kind_in_ndjson(tmp_path):
    rows = FIRST_BLOCK // 8 + 1000
    (tmp_path / "a.ndjson").write_text('{"a":1}\n' * rows + '{"a":"late"}\n')
    with pytest.raises(InputError, match=r"a.ndjson could not be read beyond its first [\d,]+ rows: .*; types are read out"):
        drain(tmp_path / "a.ndjson")
    (tmp_path / "b.ndjson").write_text('{"a":1}\n' * rows + '{"b":1}\n')
    with pytest.raises(InputError, match=r"b.ndjson could not be read beyond.*unexpected field"):
        drain(tmp_path / "b.ndjson")


def test_a_generator_that_raises_is_chained():
    def rows():
        yield TABLE
        raise ConnectionError("the line\nwent dead")

    with pytest.raises(InputError, match="beyond its first 1,000 rows: the line went dead; the iterator") as caught:
        drain(rows())
    assert isinstance(caught.value.__cause__, ConnectionError)


def test_a_stream_that_ends_early(monkeypatch):
    out = io.BytesIO()
    with pa.ipc.new_stream(out, TABLE.schema) as writer:
        writer.write_table(TABLE, max_chunksize=100)
    with pytest.raises(InputError, match=r"could not be read beyond its first \d+ rows: .*stopped early"):
        drain(io.BytesIO(out.getvalue()[: len(out.getvalue()) // 2]))
    with pytest.raises(InputError, match="must hold data, got zero bytes"):
        open_source(io.BytesIO(b""))


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "a.ndjson"])
def test_text_that_is_no_text(name, tmp_path):
    text = pa.table({"s": ["a text"] * 9 + ["last"]})
    if name == "a.ndjson":
        (tmp_path / name).write_text("".join(f'{{"s":"{value}"}}\n' for value in text["s"].to_pylist()))
    elif name == "a.parquet":
        pq.write_table(text, tmp_path / name, use_dictionary=False, compression="none", write_statistics=False)
    else:
        write(tmp_path / name, text)
    data = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(data.replace(b"last", b"l\xffst"))
    with pytest.raises(InputError, match=rf"{name} could not be read beyond its first 0 rows: .*UTF8"):
        drain(tmp_path / name)


def test_damaged_arrow_offsets_do_not_reach_further(tmp_path):
    text = pa.table({"s": ["some text"] * 100})
    path = write(tmp_path / "a.arrow", text)
    data = path.read_bytes()
    offsets = np.arange(0, 9 * 101, 9, dtype=np.int32).tobytes()
    assert data.count(offsets) == 1
    path.write_bytes(data.replace(offsets, b"\x7f" * len(offsets)))
    with pytest.raises(InputError, match=r"a.arrow could not be read beyond its first 0 rows"):
        drain(path)


@pytest.mark.parametrize("make", [lambda: TABLE.to_reader(), lambda: iter([TABLE]), lambda: io.BytesIO(b"a,b\n1,2\n")])
def test_what_is_read_once_is_not_read_twice(make):
    opened = open_source(make())
    assert isinstance(opened, Source)
    assert opened.n_rows is None
    assert opened.identity == {}
    assert sum(batch.num_rows for batch in opened.batches(0))
    with pytest.raises(InputError, match="can be read only once and has been read already"):
        opened.batches(0)


@pytest.mark.parametrize("make", [lambda: TABLE, lambda: [TABLE, TABLE], lambda: TABLE.to_pandas(), lambda: np.eye(3)])
def test_what_is_in_memory_is_read_again(make):
    opened = open_source(make())
    first, second = ([batch.to_pydict() for batch in opened.batches(1)] for _ in range(2))
    assert first == second
    assert first


def test_what_was_written_to_disk_for_seeking_is_removed(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    data = write(tmp_path / "a.parquet").read_bytes()
    opened = open_source(io.BytesIO(data))
    assert len(list(tmp_path.glob("supersample-*"))) == 1
    assert sum(batch.num_rows for batch in opened.batches(0)) == 1000
    del opened
    with pytest.raises(InputError, match="readable parquet file"):
        open_source(io.BytesIO(data[:-10]))
    gc.collect()
    assert list(tmp_path.glob("supersample-*")) == []


def test_a_terminal_is_no_standard_input(monkeypatch):
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    with pytest.raises(InputError, match="source '-' must have rows on standard input, got a terminal"):
        open_source("-")


def test_names_of_columns_that_are_no_text():
    batch = pa.RecordBatch.from_arrays([pa.array([1, 2])], schema=pa.schema([pa.field(b"\xf8", pa.int64())]))
    with pytest.raises(InputError, match="columns with names in UTF-8, got others in the first batch"):
        open_source(iter([batch]))
    later = open_source(iter([pa.record_batch({"x": [1]}), batch]))
    with pytest.raises(InputError, match="columns with names in UTF-8, got others in"):
        list(later.batches(0))


def test_text_in_another_encoding_and_json_of_many_lines(tmp_path):
    (tmp_path / "latin.csv").write_bytes("größe,x\nhöhe,1\n".encode("latin1"))
    with pytest.raises(InputError, match=r"latin\.csv .*text must be UTF-8: convert the file"):
        list(open_source(tmp_path / "latin.csv").batches(0))
    (tmp_path / "one.json").write_text('{"x": {\n "y": [1, [2]]\n}}\n')
    with pytest.raises(InputError, match=r"one\.json .*each line must be one object, as `jq -c \.` writes it"):
        list(open_source(tmp_path / "one.json").batches(0))


def test_what_is_no_source_says_what_it_may_be(tmp_path):
    (tmp_path / "kept.ss").write_bytes(b"")
    with pytest.raises(InputError, match="or is it a saved summary"):
        open_source(tmp_path / "kept.ss")
    with pytest.raises(InputError, match=r"source must be a path, got 'x+', which can be none"):
        open_source("x" * 300 + ".csv")
    with pytest.raises(InputError, match=r"got 3 with shape \(10, 2, 3\)"):
        open_source(np.zeros((10, 2, 3)))


def test_arrays_of_three_dimensions_are_told_with_their_shape(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((1_000, 3, 2)))
    with pytest.raises(InputError, match=r"one or two dimensions \(rows, columns\), got 3 with shape \(1000, 3, 2\)"):
        open_source(tmp_path / "a.npy")
