"""A cell that is no number in a column of numbers: the column stays a number, and the cell is kept, counted, and said."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import supersample as ss
from supersample.errors import InputError, MismatchError

OPTIONS = {"prototypes": 5, "criticisms": 0, "random_state": 0}
N_ROWS = 300
#: Beyond this many bytes, a file is not looked at before its columns have types.
LOOKED_AT = 4 << 20


def cells(seed, bad=None, n=N_ROWS):
    found = [repr(value) for value in np.random.default_rng(seed).normal(size=n).round(4).tolist()]
    found[3:5] = ["1e-05", "12345.678"]
    if bad is not None:
        found[bad] = "oops"
    return found


def write(path, column, width=1):
    """Write a file of the column p, and of k, which is as wide as told."""
    path.write_text("p,k\n" + "".join(f"{cell},{'abc'[place % 3] * width}\n" for place, cell in enumerate(column)))
    return path


@pytest.fixture
def monday(tmp_path):
    return write(tmp_path / "monday.csv", cells(0))


@pytest.fixture
def tuesday(tmp_path):
    return write(tmp_path / "tuesday.csv", cells(1, bad=200))


def profile_of(summary, name):
    return next(row for row in summary.profile.to_pylist() if row["name"] == name)


def require_number(summary, unreadable=1):
    assert {note.name: note.kind for note in summary.columns}["p"] == "number"
    assert profile_of(summary, "p")["unreadable"] == unreadable
    told = [note.text for note in summary.notes if note.column == "p" and note.kind == "read in part"]
    assert [f"{unreadable} value could not be" in text for text in told] == [True] * unreadable


@pytest.mark.parametrize("first", [0, 1])
def test_a_column_that_one_of_several_files_has_as_text_is_text_in_all(first, tmp_path):
    written = [cells(0, n=40), cells(1, bad=20, n=40)]
    files = [write(tmp_path / f"{place}.csv", column) for place, column in enumerate(written)]
    summary = ss.summarize(files[:: 1 - 2 * first], prototypes=80, criticisms=0, random_state=0)
    require_number(summary)
    # All rows are kept, as they are written.
    both = written[0] + written[1]
    assert sorted(summary.prototypes["p"].to_pylist()) == sorted(both)
    mean = np.mean([float(cell) for cell in both if cell != "oops"])
    assert profile_of(summary, "p")["mean"] == pytest.approx(mean, rel=1e-12)
    if first == 0:
        assert ss.summarize(tmp_path, **OPTIONS).prototypes == ss.summarize(files, **OPTIONS).prototypes


def test_codes_and_infinite_numbers_are_kept_as_written_where_files_differ(tmp_path):
    codes = [f"{7 * place % 100:03d}" for place in range(N_ROWS)]
    files = [write(tmp_path / "a.csv", ["100"] * N_ROWS), write(tmp_path / "b.csv", codes)]
    summary = ss.summarize(files, **OPTIONS)
    assert summary.columns[0].kind == "category"
    assert profile_of(summary, "p")["distinct"] == 101
    infinite = write(tmp_path / "c.csv", ["inf", *cells(0)[1:]]), write(tmp_path / "d.csv", cells(1, bad=7))
    assert profile_of(ss.summarize(infinite, **OPTIONS), "p")["unreadable"] == 2


def test_a_number_in_one_file_and_parquet_text_in_another_stay_refused(monday, tmp_path):
    pq.write_table(pa.table({"p": cells(1, bad=200), "k": ["a"] * N_ROWS}), tmp_path / "other.parquet")
    with pytest.raises(MismatchError, match="column 'p' must have one type, expected double as before, got string"):
        ss.summarize([monday, tmp_path / "other.parquet"], **OPTIONS)


def test_a_table_with_a_bad_cell_is_made_like_one_of_numbers(monday, tuesday, tmp_path):
    left = ss.summarize(monday, **OPTIONS)
    right = ss.summarize(tuesday, **(OPTIONS | {"random_state": 1}), like=left)
    require_number(right)
    twin = ss.summarize({"p": [float(cell) for cell in cells(1)], "k": [*"abc"] * (N_ROWS // 3)}, like=left, random_state=1)
    both = left.merge(right)
    require_number(both)
    assert both.prototypes.schema.field("p").type == pa.string()
    assert left.prototypes.schema.field("p").type == pa.float64()
    both.save(tmp_path / "both.ss")
    assert ss.load(tmp_path / "both.ss").prototypes == both.prototypes
    for one, other in ((left, right), (right, left)):
        found = one.compare(other)
        assert not found.notes
        assert found.pvalue > 0.05
        assert found.joint.statistic == pytest.approx(left.compare(twin).joint.statistic, abs=1e-3)
    # What is no number counts as missing there.
    points = left.encode(pa.table({"p": [None], "k": ["a"]}).cast(pa.schema([("p", pa.float64()), ("k", pa.string())])))
    assert np.array_equal(right.encode(pa.table({"p": ["oops"], "k": ["a"]})), points)


def test_numbers_are_made_like_text_that_is_read_as_numbers(monday, tuesday, tmp_path):
    left = ss.summarize(tuesday, **OPTIONS)
    # A file is read again, with its numbers as they are written; those of a frame are written out.
    from_file = ss.summarize(monday, like=left, random_state=1)
    frame = pa.table({"p": [float(cell) for cell in cells(0)], "k": [*"abc"] * (N_ROWS // 3)})
    from_frame = ss.summarize(frame, like=left, random_state=1)
    require_number(from_file, unreadable=0)
    assert set(from_file.prototypes["p"].to_pylist()) <= set(cells(0))
    assert set(map(float, from_frame.prototypes["p"].to_pylist())) <= set(map(float, cells(0)))
    assert [*from_frame.prototypes["_row"]] == [*from_file.prototypes["_row"]]
    with pytest.raises(MismatchError, match=r"column 'p' must hold text that is read as numbers \(1234.56\).*got double"):
        left.update({"p": [np.inf], "k": ["a"]})


def test_whole_numbers_and_text_with_bad_cells_are_compared_and_said(tmp_path):
    whole, text = [7919 * place % 300 for place in range(N_ROWS)], [str(7919 * place % 300) for place in range(N_ROWS)]
    text[17] = "oops"
    left = ss.summarize({"p": whole, "k": ["a", "b"] * (N_ROWS // 2)}, **OPTIONS)
    right = ss.summarize({"p": text, "k": ["a", "b"] * (N_ROWS // 2)}, like=left, random_state=1)
    require_number(right)
    found = left.compare(right)
    assert found.pvalue > 0.05
    assert [str(note) for note in found.notes] == [
        "the two have columns of different types, p (int64 and string); nothing is lost, since both keep all their rows"
    ]


def test_words_are_not_made_like_numbers(monday, tmp_path):
    left = ss.summarize(monday, **OPTIONS)
    words = write(tmp_path / "words.csv", ["red", "blue"] * (N_ROWS // 2))
    told = "column 'p' must hold numbers, as in the summary that like= names, got text in words.csv of which 300 of 300 values"
    with pytest.raises(MismatchError, match=told):
        ss.summarize(words, like=left)


def test_a_bad_cell_far_into_a_file_that_is_made_like_another(monday, tmp_path):
    left = ss.summarize(monday, **OPTIONS, types={"k": "ignore"})
    far = write(tmp_path / "far.csv", cells(1, bad=990, n=1000), width=4800)
    assert far.stat().st_size > LOOKED_AT
    require_number(ss.summarize(far, like=left, random_state=1))


def test_a_bad_cell_far_into_a_pipe_is_refused_with_what_to_do(tmp_path):
    far = write(tmp_path / "far.csv", cells(1, bad=990, n=1000), width=4800)
    told = r"the stream io.BytesIO could not be read beyond its first \d+ rows: .*'oops'.*\(in 'p'\); .*write it to a file"
    with pytest.raises(InputError, match=told):
        ss.summarize(io.BytesIO(far.read_bytes()), **OPTIONS)
