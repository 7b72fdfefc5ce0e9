"""`compare` of two files of which one has a cell that is no number."""

import numpy as np
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

FAR = 4800


def write(path, seed, bad=None, n=400, width=1, whole=False):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 300, n) if whole else rng.normal(size=n).round(4)
    column = [str(value) for value in values.tolist()]
    if bad is not None:
        column[bad] = "oops"
    path.write_text("p,k\n" + "".join(f"{cell},{'abc'[place % 3] * width}\n" for place, cell in enumerate(column)))
    return path


def require_number(told):
    assert not told["differs"]
    assert {each["name"] for each in told["columns"]} == {"p", "k"} - set(told["left_out"])
    assert told["notes"] == []


@pytest.mark.parametrize("bad", [(None, 200), (200, None)])
@pytest.mark.parametrize("far", [False, True])
@pytest.mark.parametrize("whole", [False, True])
def test_a_bad_cell_on_one_side_leaves_the_column_a_number(run, tmp_path, bad, far, whole):
    size = {"n": 1000, "width": FAR} if far else {}
    bad = [place if place is None or not far else 990 for place in bad]
    names = [write(tmp_path / f"{side}.csv", side, bad[side], whole=whole, **size) for side in (0, 1)]
    require_number(run("compare", *names, "--json", "--seed", "1", "--rows", "0", *["--ignore", "k"] * far).values)


@pytest.mark.parametrize("left", [0, 1])
def test_a_file_of_typed_numbers_is_compared_with_one_that_has_a_bad_cell(run, tmp_path, left):
    clean, bad = write(tmp_path / "clean.csv", 0), write(tmp_path / "bad.csv", 1, 200)
    typed = tmp_path / "clean.parquet"
    pq.write_table(pyarrow.csv.read_csv(clean), typed)
    names = (typed, bad) if left == 0 else (bad, typed)
    require_number(run("compare", *names, "--json", "--seed", "1", "--rows", "0").values)
