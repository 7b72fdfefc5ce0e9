"""Structures come back as one column for each field, with a dotted name, from every source."""

import io
import json

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import supersample as ss
from supersample.errors import InputError, MismatchError
from supersample.records.sources import alike, open_source, text

ROWS = [
    {"id": 1, "user": {"name": "a", "address": {"city": "x", "zip": 7}}, "tags": [{"k": "u"}]},
    {"id": 2, "user": None, "tags": []},
    {"id": 3, "user": {"name": None, "address": None}, "tags": None},
    {"id": 4, "user": {"name": "d", "address": {"city": None, "zip": 9}}, "tags": [{"k": "v"}, {"k": None}]},
]
FLAT = {
    "id": [1, 2, 3, 4],
    "user.name": ["a", None, None, "d"],
    "user.address.city": ["x", None, None, None],
    "user.address.zip": [7, None, None, 9],
    "tags": [row["tags"] for row in ROWS],
}
TABLE = pa.Table.from_pylist(ROWS)


def rows_of(source, skip=0):
    opened = open_source(source)
    return pa.Table.from_batches(list(opened.batches(skip)), opened.schema).to_pydict()


def ndjson(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def put(path, rows):
    path.write_bytes(ndjson(rows))
    return path


@pytest.fixture
def files(tmp_path):
    pq.write_table(TABLE, tmp_path / "a.parquet", row_group_size=3)
    with pa.ipc.new_file(tmp_path / "a.arrow", TABLE.schema) as writer:
        writer.write_table(TABLE, max_chunksize=2)
    put(tmp_path / "a.ndjson", ROWS)
    return tmp_path


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "a.ndjson"])
@pytest.mark.parametrize("skip", [0, 1, 3])
def test_files(files, name, skip):
    assert rows_of(files / name, skip) == {column: values[skip:] for column, values in FLAT.items()}


def test_all_files_together(files):
    assert rows_of(files) == {column: values * 3 for column, values in FLAT.items()}


FRAMES = {
    "table": lambda: TABLE,
    "slice": lambda: pa.concat_tables([TABLE.slice(0, 3), TABLE.slice(3)]),
    "polars": lambda: pl.from_arrow(TABLE),
    "pandas": lambda: TABLE.to_pandas(types_mapper=pd.ArrowDtype),
    "pandas objects": lambda: pd.DataFrame(ROWS),
    "iterator": lambda: (TABLE.slice(start, 1) for start in range(4)),
    "stream": lambda: io.BytesIO(ndjson(ROWS)),
}


@pytest.mark.parametrize("name", FRAMES)
def test_frames(name):
    assert rows_of(FRAMES[name]()) == FLAT


def oracle(value, name, out):
    """Flatten one value of a column: a dictionary into its fields, all else as it is."""
    if isinstance(value, dict):
        for key, below in value.items():
            oracle(below, f"{name}.{key}", out)
    else:
        out[name] = value


leaf = st.none() | st.integers(-9, 9)
inner = st.none() | st.fixed_dictionaries({"x": leaf, "y": st.none() | st.fixed_dictionaries({"z": leaf, "w": leaf})})
INNER = pa.struct([("x", pa.int64()), ("y", pa.struct([("z", pa.int64()), ("w", pa.int64())]))])


@given(rows=st.lists(inner, min_size=1, max_size=12), cut=st.integers(0, 12), encoded=st.booleans())
def test_against_python(rows, cut, encoded):
    column = pa.array(rows, INNER)
    if encoded:
        column = pa.DictionaryArray.from_arrays(pa.array(range(len(rows))), column)
    names = ["s.x", "s.y.z", "s.y.w"]
    expected = {name: [] for name in names}
    for row in rows[cut:]:
        out = {}
        oracle(row, "s", out)
        for name in names:
            expected[name].append(out.get(name))
    if cut < len(rows):
        assert rows_of(pa.table({"s": column}).slice(cut)) == expected


def test_views_and_dictionaries_inside_structures():
    kind = pa.struct([("v", pa.list_view(pa.string())), ("d", pa.dictionary(pa.int8(), pa.string()))])
    table = pa.table({"s": pa.array([{"v": ["a", "b"], "d": "x"}, None, {"v": [], "d": None}], kind)})
    assert open_source(table).schema.types == [pa.list_(pa.string()), pa.string()]
    assert rows_of(table) == {"s.v": [["a", "b"], None, []], "s.d": ["x", None, None]}


def test_an_empty_structure_stays_a_column():
    assert rows_of(pa.table({"a": [1, 2], "s": pa.array([{}, None], pa.struct([]))})) == {"a": [1, 2], "s": [{}, None]}


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("empty", [None, {}])
def test_a_file_without_values_of_a_structure(tmp_path, first, empty):
    put(tmp_path / f"{first}.ndjson", [{"n": 1, "e": {"code": 5, "deep": {"x": 1}}, "m": 1}])
    put(tmp_path / f"{1 - first}.ndjson", [{"n": 2, "e": empty, "m": 2}])
    found = rows_of(tmp_path)
    assert list(found) == ["n", "e.code", "e.deep.x", "m"]
    assert sorted(zip(*found.values(), strict=True)) == [(1, 5, 1, 1), (2, None, None, 2)]


def test_a_file_without_values_of_a_structure_may_have_some_later(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "FIRST_BLOCK", 60)
    put(tmp_path / "0.ndjson", [{"e": {"code": 5, "deep": {"x": 1.5}}}])
    put(tmp_path / "1.ndjson", [{"e": None}] * 20 + [{"e": {"code": 6, "deep": {"x": 2}}}])
    assert rows_of(tmp_path) == {"e.code": [5, *[None] * 20, 6], "e.deep.x": [1.5, *[None] * 20, 2.0]}


def test_types_of_fields_are_those_that_all_files_agree_on(tmp_path):
    put(tmp_path / "0.ndjson", [{"e": {"x": 1}}])
    put(tmp_path / "1.ndjson", [{"e": {"x": 0.5}}])
    assert rows_of(tmp_path) == {"e.x": [1.0, 0.5]}


def test_two_sides_of_a_comparison():
    left, right = alike(open_source(pa.table({"e": pa.nulls(2)})), open_source(pa.table({"e": [{"x": 1}]})))
    assert left.schema == right.schema == pa.schema([("e.x", pa.int64())])
    assert [batch.to_pydict() for batch in left.batches(0)] == [{"e.x": [None, None]}]


def test_a_key_that_appears_late_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "FIRST_BLOCK", 60)
    put(tmp_path / "a.ndjson", [{"e": {"x": 1}}] * 20 + [{"e": {"x": 1, "y": 2}}])
    with pytest.raises(InputError, match="unexpected field"):
        rows_of(tmp_path / "a.ndjson")


def test_a_clash_of_names():
    table = pa.table({"a.b": [1], "a": [{"b": 2}]})
    with pytest.raises(InputError, match=r"different names, got 'a.b' more than once in pyarrow.Table; the fields of a struct"):
        open_source(table)
    later = iter([pa.table({"a": [{"b": 1}]}), table])
    with pytest.raises(InputError, match=r"'a.b' more than once"):
        rows_of(later)


def test_fields_that_do_not_agree(tmp_path):
    put(tmp_path / "0.ndjson", [{"e": {"x": 1}}])
    put(tmp_path / "1.ndjson", [{"e": {"y": 1}}])
    with pytest.raises(MismatchError, match=r"got no 'e.x' and additional 'e.y' in .*1.ndjson"):
        open_source(tmp_path)


def test_fields_enter_the_kernel():
    table = pa.table({"s": [{"x": float(place % 7), "c": "uv"[place % 2]} for place in range(200)]})
    summary = ss.summarize(table, 5, 0, random_state=0)
    assert {note.name for note in summary.columns if note.kind != "left out"} == {"s.x", "s.c"}
    assert {"s.x", "s.c"} < set(summary.prototypes.column_names)
