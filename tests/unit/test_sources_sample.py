"""Rows that are spread over a whole source: the same positions, so the same rows, from every source that knows positions."""

import gzip
import io
import itertools
from unittest import mock

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.json
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from supersample.errors import InputError
from supersample.records.sources import alike, base, open_source, text
from supersample.records.sources.base import picked, spread
from supersample.records.sources.text import csv_reader, ndjson_reader
from supersample.records.sources.text_index import csv_index, ndjson_index

ROWS = 1013
RNG = np.random.default_rng(0)
TABLE = pa.table(
    {
        "n": pa.array(range(ROWS)),
        "x": pa.array(RNG.normal(size=ROWS), mask=RNG.random(ROWS) < 0.1),
        "s": pa.array([f'word {place}, "quoted"\n' if place % 5 == 0 else f"w{place}" for place in range(ROWS)]),
        "b": pa.array(RNG.random(ROWS) < 0.5),
    }
)


def mix(number):
    """SplitMix64's finaliser with Python's integers."""
    word = 2**64
    number = (number + 1) * 0x9E3779B97F4A7C15 % word
    number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9 % word
    number = (number ^ (number >> 27)) * 0x94D049BB133111EB % word
    return number ^ (number >> 31)


def slow_spread(n_rows, n):
    if n_rows <= n:
        return list(range(n_rows))
    edges = [place * n_rows // n for place in range(n + 1)]
    return [low + mix(place) % (high - low) for place, (low, high) in enumerate(itertools.pairwise(edges))]


@given(n_rows=st.integers(0, 5000) | st.integers(2**40, 2**45), n=st.integers(1, 300))
def test_positions(n_rows, n):
    found = spread(n_rows, n)
    assert found.dtype == np.int64
    assert found.tolist() == slow_spread(n_rows, n)
    assert (np.diff(found) > 0).all()
    assert len(found) == min(n_rows, n)
    assert n_rows <= n or all(place * n_rows // n <= each < (place + 1) * n_rows // n for place, each in enumerate(found))


def test_positions_are_in_step_with_no_period():
    """Of 5,000 positions among a million rows, no remainder by a small number is much more frequent than another."""
    found = spread(1_000_000, 5000)
    for period in range(2, 30):
        counts = np.bincount(found % period, minlength=period)
        assert counts.min() > 0.6 * 5000 / period
        assert counts.max() < 1.4 * 5000 / period


@given(sizes=st.lists(st.integers(0, 9), max_size=8), data=st.data())
def test_picked_rows(sizes, data):
    total = sum(sizes)
    chosen = data.draw(st.sets(st.integers(0, max(0, total - 1)), max_size=total))
    positions = np.array(sorted(chosen) if total else [], np.int64)
    starts = np.cumsum([0, *sizes])
    batches = [pa.record_batch({"n": range(start, start + size)}) for start, size in zip(starts, sizes, strict=False)]
    found = [value for batch in picked(batches, positions) for value in batch["n"].to_pylist()]
    assert found == positions.tolist()


def test_rows_of_a_type_that_cannot_be_taken(monkeypatch):
    class Refusing:
        num_rows = 5

        def take(self, _):
            raise pa.ArrowNotImplementedError("no kernel")

        def slice(self, start, length):
            return pa.record_batch({"n": range(5)}).slice(start, length)

    found = [batch["n"].to_pylist() for batch in base.picked([Refusing()], np.array([1, 4]))]
    assert found == [[1], [4]]


def write_csv(path):
    pyarrow.csv.write_csv(TABLE, path)


def write_arrow(path, compression=None):
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_file(path, TABLE.schema, options=options) as writer:
        writer.write_table(TABLE, max_chunksize=100)


FILES = {
    "a.parquet": lambda path: pq.write_table(TABLE, path, row_group_size=90),
    "a.csv": write_csv,
    "a.arrow": write_arrow,
    "a.feather": lambda path: write_arrow(path, "zstd"),
    "a.ndjson": lambda path: pl.from_arrow(TABLE).write_ndjson(path),
}
FRAMES = {
    "table": lambda: TABLE,
    "chunks": lambda: pa.Table.from_batches(TABLE.to_batches(max_chunksize=7)),
    "batch": lambda: TABLE.combine_chunks().to_batches()[0],
    "polars": lambda: pl.from_arrow(TABLE),
    "polars categories": lambda: pl.from_arrow(TABLE).with_columns(pl.col("s").cast(pl.Categorical)),
    "pandas": lambda: TABLE.to_pandas(types_mapper=pd.ArrowDtype).set_index(np.arange(ROWS)[::-1]),
    "dictionary": lambda: TABLE.to_pydict(),
    "views": lambda: TABLE.set_column(2, "s", TABLE["s"].cast(pa.string_view())),
}


@pytest.fixture(params=[1, 5, 100, 1012, 1013, 2000])
def n(request):
    return request.param


def assert_sampled(opened, n):
    found = opened.sample(n)
    found.validate(full=True)
    assert found.schema.equals(opened.schema, check_metadata=True)
    assert found.to_pydict() == TABLE.take(slow_spread(ROWS, n)).to_pydict()


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("block", [None, 500])
def test_files(name, block, n, tmp_path):
    FILES[name](tmp_path / name)
    with mock.patch.multiple(text, FIRST_BLOCK=block or text.FIRST_BLOCK, BLOCK=block or text.BLOCK):
        assert_sampled(open_source(tmp_path / name), n)


@pytest.mark.parametrize("name", FRAMES)
def test_frames(name, n):
    assert_sampled(open_source(FRAMES[name]()), n)


def test_several_files(n, tmp_path):
    edges = [0, 200, 200, 450, 451, ROWS]
    writers = [
        lambda part, path: pq.write_table(part, path),
        lambda part, path: pq.write_table(part, path),
        pyarrow.csv.write_csv,
        lambda part, path: pq.write_table(part, path),
        lambda part, path: pl.from_arrow(part).write_ndjson(path),
    ]
    for place, (write, ending) in enumerate(zip(writers, ["parquet", "parquet", "csv", "parquet", "ndjson"], strict=True)):
        write(TABLE.slice(edges[place], edges[place + 1] - edges[place]), tmp_path / f"{place}.{ending}")
    assert_sampled(open_source(tmp_path), n)


def test_folders_are_columns_of_the_sample(tmp_path):
    for day in (1, 2):
        (tmp_path / f"day={day}").mkdir()
        pq.write_table(TABLE.slice(500 * (day - 1), 500), tmp_path / f"day={day}" / "a.parquet")
    found = open_source(tmp_path).sample(10)
    assert found["n"].to_pylist() == slow_spread(1000, 10)
    assert found["day"].to_pylist() == [1] * 5 + [2] * 5


@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays(order, n, tmp_path):
    array = np.array(RNG.normal(size=(ROWS, 3)), order=order)
    np.save(tmp_path / "a.npy", array)
    for source in (array, tmp_path / "a.npy", np.load(tmp_path / "a.npy", mmap_mode="r")):
        found = open_source(source).sample(n)
        assert np.array_equal(np.column_stack([found[name] for name in ("x0", "x1", "x2")]), array[slow_spread(ROWS, n)])


def test_only_row_groups_with_wanted_rows_are_read(tmp_path):
    pq.write_table(TABLE, tmp_path / "a.parquet", row_group_size=10)
    opened = open_source(tmp_path / "a.parquet")
    with mock.patch.object(pq.ParquetFile, "iter_batches", autospec=True, side_effect=pq.ParquetFile.iter_batches) as read:
        opened.sample(3)
    assert [call.kwargs["row_groups"] for call in read.call_args_list] == [[each // 10] for each in slow_spread(ROWS, 3)]


def test_two_sides_of_a_comparison_keep_their_sample():
    whole = open_source(pa.table({"n": pa.array(range(100), pa.int32())}))
    left, right = alike(whole, open_source(pa.table({"n": np.arange(50) / 2})))
    assert left.sample(5).schema.types == [pa.float64()]
    assert left.sample(5)["n"].to_pylist() == slow_spread(100, 5)
    assert right.sample(5)["n"].to_pylist() == [each / 2 for each in slow_spread(50, 5)]
    assert alike(open_source(TABLE.to_reader()), open_source(TABLE))[0].sample is None


def test_sources_that_are_read_in_order_alone(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"a\n1\n"))
    with pa.ipc.new_stream(tmp_path / "a.arrows", TABLE.schema) as writer:
        writer.write_table(TABLE)
    for source in (
        path, tmp_path / "a.arrows", TABLE.to_reader(), iter([TABLE]), io.BytesIO(b"a\n1\n"), pl.from_arrow(TABLE).lazy(),
        duckdb.from_arrow(TABLE),
    ):  # fmt: skip
        assert open_source(source).sample is None


LINES = ["a", "1,2", '"', "\n", "\r\n", "\n\n", "\r", " ", "b\n", '"x\ny"\n', '"x""\n\n"\r\n', "c\r\n"]


def read(reader, data):
    try:
        return pa.Table.from_batches(list(reader(io.BytesIO(data))[1]))
    except (pa.ArrowInvalid, ValueError):
        return None


@example(data=b"a,b\r\n1,2\r\n\r\n3,4", block=1000)
@example(data=b"\xef\xbb\xbfa\n\n\n1\n2\n\n", block=1000)
@example(data=b'a\n"x\r\n\ny"\n\n"z"', block=1000)
@example(data=b'a\nx"y\nz\n', block=1000)
@example(data=b"\nh\n1\n", block=1000)
@example(data=b"h\r\na\rb\r\n", block=1000)
@given(
    data=st.lists(st.sampled_from(LINES), max_size=30).map(lambda parts: ("h\n" + "".join(parts)).encode()),
    block=st.integers(8, 60),
)
def test_rows_of_csv_are_counted_as_they_are_read(data, block):
    with mock.patch.multiple(text, FIRST_BLOCK=block, BLOCK=block):
        expected = read(lambda stream: csv_reader(stream, delimiter=";"), data)
        if expected is None:
            return
        found = csv_index(io.BytesIO(data), ";")
        assert found.n_rows == expected.num_rows
        for positions in (np.arange(found.n_rows), np.arange(found.n_rows)[1::3]):
            batches = list(found.take(io.BytesIO(data), expected.schema, positions))
            taken = pa.Table.from_batches(batches, expected.schema)
            assert taken.to_pylist() == expected.take(positions).to_pylist()


@example(data=b'{"a": 1}{"a": 2}\n{"a": 3}', block=1000)
@example(data=b'{"a":\n1}\n{"a": 2}\n', block=1000)
@example(data=b'{"a": 1}\n \n\n{"a": 2}\r\n', block=1000)
@given(
    data=st.lists(
        st.sampled_from(['{"a": 1}', '{"a": null}', "\n", "\r\n", " ", '{"b": "}{"}\n', '{"a": 2}\n']), max_size=30
    ).map(lambda parts: ('{"a": 0, "b": "x"}\n' + "".join(parts)).encode()),
    block=st.integers(20, 60),
)
def test_rows_of_ndjson_are_counted_as_they_are_read(data, block):
    with mock.patch.multiple(text, FIRST_BLOCK=block, BLOCK=block):
        expected = read(ndjson_reader, data)
        if expected is None:
            return
        found = ndjson_index(io.BytesIO(data), lambda schema: schema)
        assert found.n_rows == expected.num_rows
        batches = list(found.take(io.BytesIO(data), expected.schema, np.arange(found.n_rows)[::2]))
        assert pa.Table.from_batches(batches, expected.schema).to_pylist() == expected.to_pylist()[::2]


def test_a_file_that_cannot_be_counted_says_so(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n" + "1,2\n" * 10)
    opened = open_source(path)
    path.write_text("a,b\n" + '1,"2"\n' * 10 + "1,2,3\n")
    with pytest.raises(InputError, match=r"the rows of .*a.csv could not be counted.*Expected 2 columns, got 3"):
        opened.sample(3)
