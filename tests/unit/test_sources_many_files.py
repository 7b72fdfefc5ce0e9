"""Many files as one source: found in a fixed order, with columns that agree."""

from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from supersample.errors import MismatchError
from supersample.records.sources import open_source


def put(path, **columns):
    path.parent.mkdir(exist_ok=True)
    table = pa.table(columns)
    if path.suffix == ".csv":
        pyarrow.csv.write_csv(table, path)
    else:
        pq.write_table(table, path)


def values(source, skip=0, column="n"):
    return [value for batch in open_source(source).batches(skip) for value in batch[column].to_pylist()]


@pytest.fixture
def folder(tmp_path):
    put(tmp_path / "b.parquet", n=[3, 4])
    put(tmp_path / "a.csv", n=[1, 2])
    put(tmp_path / "c" / "d.parquet", n=[5])
    put(tmp_path / "_temporary" / "x.parquet", n=[99])
    put(tmp_path / ".hidden.parquet", n=[99])
    (tmp_path / "README.md").write_text("not data")
    return tmp_path


def test_folders_globs_and_lists(folder):
    assert values(folder) == [1, 2, 3, 4, 5]
    assert values(str(folder / "*.parquet")) == [3, 4]
    assert values(str(folder / "**" / "*.parquet")) == [99, 3, 4, 5]
    assert values([folder / "b.parquet", str(folder / "a.csv")]) == [3, 4, 1, 2]
    assert values([folder / "c", folder / "a.csv"]) == [5, 1, 2]


@pytest.mark.parametrize("skip", range(7))
def test_skipping_over_files_of_known_and_unknown_length(folder, skip):
    assert values(folder, skip) == [1, 2, 3, 4, 5][skip:]


def test_a_name_with_brackets_is_a_file_before_a_pattern(tmp_path):
    put(tmp_path / "a[1].parquet", n=[1])
    assert values(str(tmp_path / "a[1].parquet")) == [1]


def test_what_is_known_beforehand(folder):
    assert open_source(folder).n_rows is None
    parts = open_source(str(folder / "[b]*.parquet"))
    assert (parts.label, parts.n_rows) == ("b.parquet", 2)
    assert open_source(folder).label == "3 files"
    files = open_source(folder).identity["files"]
    assert [Path(name).name for name, *_ in files] == ["a.csv", "b.parquet", "d.parquet"]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (pa.array([1], pa.int32()), pa.array([2**40]), pa.int64()),
        (pa.array([2**40]), pa.array([1], pa.int8()), pa.int64()),
        (pa.array([1]), pa.array([0.5]), pa.float64()),
        (pa.array([None]), pa.array(["x"]), pa.string()),
        (pa.array(["x"]), pa.array([None]), pa.string()),
        (pa.array(["x"]).dictionary_encode(), pa.array(["y"], pa.large_string()), pa.string()),
        (pa.array([1], pa.timestamp("s")), pa.array([1], pa.timestamp("us")), pa.timestamp("us")),
    ],
)
def test_types_that_agree(first, second, expected, tmp_path):
    put(tmp_path / "1.parquet", n=first, other=[1])
    pq.write_table(pa.table({"other": [2], "n": second}), tmp_path / "2.parquet")
    opened = open_source(tmp_path)
    assert opened.schema == pa.schema([("n", expected), ("other", pa.int64())])
    assert values(tmp_path) == first.to_pylist() + second.to_pylist()


def test_text_takes_the_types_that_all_files_agree_on(tmp_path):
    put(tmp_path / "1.csv", n=[1, 2])
    put(tmp_path / "2.csv", n=[0.5])
    (tmp_path / "3.csv").write_text("n\n\n\nNA\n")
    assert values(tmp_path) == [1.0, 2.0, 0.5, None]


def test_columns_that_do_not_agree(tmp_path):
    put(tmp_path / "1.parquet", n=[1])
    put(tmp_path / "2.parquet", n=["x"])
    with pytest.raises(
        MismatchError, match=r"column 'n' must have one type, expected int64.*got string in .*2.parquet.*first.*1.p"
    ):
        open_source(tmp_path)
    put(tmp_path / "2.parquet", m=[1])
    with pytest.raises(MismatchError, match=r"same columns.*got no 'n' and additional 'm' in .*2.parquet"):
        open_source(tmp_path)
