"""supersample summarize: what it takes, prints and writes."""

import io
import json
import re

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather as feather
import pyarrow.json
import pyarrow.parquet as pq
import pytest

import supersample as ss

SMALL = ("-p", "5", "-c", "2", "--seed", "3")


def test_text_on_standard_output_and_messages_on_standard_error(run, data, tmp_path):
    done = run("summarize", data / "a.parquet", *SMALL, "-o", tmp_path / "a.ss", "--report", tmp_path / "a.html")
    assert done.stdout.startswith(
        "5 rows stand for 600 of a.parquet: as good as about 58 rows drawn at random\n  MMD         0.08566 (exact); "
    )
    assert done.stderr == f"wrote {tmp_path / 'a.ss'}\nwrote {tmp_path / 'a.html'}\n"
    assert ss.load(tmp_path / "a.ss").prototypes.num_rows == 5
    assert "<html" in (tmp_path / "a.html").read_text()


def test_rows_are_printed_where_nothing_is_saved(run, data):
    done = run("summarize", data / "a.parquet", *SMALL)
    assert "_weight" in done.stdout
    assert done.stderr == ""


def test_quiet(run, data, tmp_path):
    assert run("summarize", data / "a.parquet", *SMALL, "-q", "-o", tmp_path / "a.ss").stderr == ""


def test_json_is_one_object_and_equals_the_library(run, data, tmp_path):
    done = run("summarize", data / "a.parquet", *SMALL, "--json", "-o", tmp_path / "a.ss")
    assert done.stdout.count("\n") == 1
    twin = ss.summarize(data / "a.parquet", 5, 2, random_state=3)
    assert done.values["mmd"] == twin.mmd
    assert done.values["n_seen"] == 600
    assert done.values["file"] == str(tmp_path / "a.ss")
    assert ss.load(tmp_path / "a.ss").prototypes.equals(twin.prototypes)


def test_every_option_reaches_the_library(run, data, tmp_path):
    options = ["--columns", "x=2,y", "--columns", "colour", "--weight", "w", "--kernel", "laplacian", "--bandwidth", "1.5"]
    run("summarize", data / "a.parquet", *SMALL, *options, "--features", "nystroem", "--n-features", "50", "-o", tmp_path / "s")
    twin = ss.summarize(
        data / "a.parquet", 5, 2, columns={"x": 2.0, "y": 1.0, "colour": 1.0}, weight="w", kernel="laplacian", bandwidth=1.5,
        features="nystroem", n_features=50, random_state=3,
    )  # fmt: skip
    assert (tmp_path / "s").read_bytes() == twin.to_bytes()


def test_several_sources_and_standard_input_give_the_same_rows(run, data):
    def chosen(*sources, stdin=None):
        return run("summarize", *sources, *SMALL, "--json", stdin=stdin).values["mmd"]

    text = io.BytesIO()
    pyarrow.csv.write_csv(pq.read_table(data / "a.parquet"), text)
    assert chosen("-", stdin=text.getvalue()) == chosen(data / "a.parquet")
    both = chosen(data / "a.parquet", data / "b.csv")
    assert both == chosen(data / "[ab].*")
    assert both != chosen(data / "b.csv", data / "a.parquet")


def test_a_run_goes_on_from_its_checkpoint(run, data, tmp_path):
    arguments = ("summarize", data / "a.parquet", *SMALL, "--checkpoint", tmp_path / "c", "-o", tmp_path / "s")
    run(*arguments)
    first = (tmp_path / "s").read_bytes()
    assert (tmp_path / "c").exists()
    run(*arguments)
    assert (tmp_path / "s").read_bytes() == first
    done = run("summarize", data / "b.csv", *SMALL, "--checkpoint", tmp_path / "c", status=2)
    assert "belongs to a run that was asked for something else" in done.stderr


def test_jobs_are_so_many_processes(run, data, tmp_path):
    written = []
    for jobs in ("1", "-1"):
        run("summarize", data / "a.parquet", *SMALL, "--jobs", jobs, "-o", tmp_path / jobs)
        written.append((tmp_path / jobs).read_bytes())
    assert written[0] == written[1]
    done = run("summarize", "-", *SMALL, "--jobs", "2", stdin=b"x\n1\n2\n", status=2)
    assert "n_jobs must be left out for standard input, whose rows can only be read in order" in done.stderr


def test_a_bar_on_request(run, tmp_path):
    pq.write_table(pa.table({"x": np.random.default_rng(0).normal(size=100_000)}), tmp_path / "long.parquet")
    done = run("summarize", tmp_path / "long.parquet", *SMALL, "--progress")
    assert "long.parquet: 100%" in done.stderr
    assert "MMD" in done.stderr
    assert "rows/s" in done.stderr
    assert "%|" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.csv"], "error: source must be an existing file, folder or pattern, got 'nowhere.csv'"),
        (["{data}/a.parquet", "--columns", "z"], "error: .*'z'"),
        (["{data}/a.parquet", "--columns", "x=much"], "error: --columns must give a number as the weight of 'x', got 'much'"),
        (["{data}/a.parquet", "--kernel", "gauss"], "error: kernel must be one of"),
        (["{data}/a.parquet", "--features", "wavelets"], "error: features must be one of .*'fourier'.*'wavelets'"),
        (["{data}/a.parquet", "--like", "{data}/a.parquet"], "error: .* must be a file that Summary.save wrote"),
        (["{data}/a.parquet", "--bandwidth", "wide"], "'wide' is neither a number nor 'median'"),
        (["{data}/a.parquet", "-p", "0"], "0 is not in the range"),
        (["{data}/a.parquet", "-o", "{data}/a.parquet"], "is the name of a data file; try 'a.ss'"),
        (["{data}/a.parquet", "-o", "{data}/none/a"], "does not exist; create it first"),
        (["{data}/a.parquet", "--report", "{data}/page"], "must end in .html"),
        ([], "Missing argument 'SOURCE...'"),
    ],
)
def test_bad_input_is_one_line_and_status_two(run, data, arguments, message):
    done = run("summarize", *[each.format(data=data) for each in arguments], status=2)
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    last = done.stderr.strip().splitlines()[-1]
    assert re.search(message, last)


@pytest.mark.parametrize("name", ["r.parquet", "r.csv", "r.arrow", "r.feather", "r.ndjson", "r.JSONL"])
def test_the_chosen_rows_as_a_file(run, data, tmp_path, name):
    done = run("summarize", data / "a.parquet", *SMALL, "--rows", tmp_path / name, "--json")
    twin = ss.summarize(data / "a.parquet", 5, 2, random_state=3)
    assert done.values["rows"] == str(tmp_path / name)
    assert done.stderr == f"wrote {tmp_path / name}\n"
    read = {
        ".parquet": pq.read_table, ".csv": pyarrow.csv.read_csv, ".arrow": feather.read_table, ".feather": feather.read_table,
        ".ndjson": pyarrow.json.read_json, ".jsonl": pyarrow.json.read_json,
    }  # fmt: skip
    found = read[(tmp_path / name).suffix.lower()](tmp_path / name)
    assert found["_as"].to_pylist() == ["prototype"] * 5 + ["criticism"] * 2
    assert found["_row"].to_pylist() == [*twin.prototypes["_row"].to_pylist(), *twin.criticisms["_row"].to_pylist()]
    assert found["x"].to_pylist() == [*twin.prototypes["x"].to_pylist(), *twin.criticisms["x"].to_pylist()]
    assert found["_witness"].to_pylist() == [None] * 5 + twin.criticisms["_witness"].to_pylist()


def test_chosen_rows_of_every_type(run, tmp_path):
    table = pa.table(
        {
            "x": np.arange(9.0), "v": [[1.5, 2.0]] * 9, "s": [[{"a": "ü"}]] * 9, "b": [b"xyz"] * 9, "_as": ["own"] * 9,
            "t": pa.array([5] * 9, pa.duration("s")), "d": pa.array([1] * 9, pa.time32("s")), "nan": [float("nan")] * 9,
        }
    )  # fmt: skip
    pq.write_table(table, tmp_path / "a.parquet")
    for name in ("r.csv", "r.ndjson", "r.parquet", "r.arrow"):
        run("summarize", tmp_path / "a.parquet", *SMALL, "--columns", "x", "--rows", tmp_path / name)
    rows = pyarrow.csv.read_csv(tmp_path / "r.csv").to_pylist()
    assert (rows[0]["_as_"], rows[0]["_as"], rows[0]["v"], rows[0]["s"], rows[0]["b"]) == (
        "prototype", "own", "[1.5, 2.0]", '[{"a": "ü"}]', "xyz",
    )  # fmt: skip
    first = json.loads((tmp_path / "r.ndjson").read_text().splitlines()[0])
    assert (first["v"], first["s"], first["b"], first["nan"]) == ([1.5, 2.0], [{"a": "ü"}], "eHl6", None)
    assert pq.read_table(tmp_path / "r.parquet").schema.field("v").type == pa.list_(pa.float64())


def test_rows_files_that_are_refused_before_anything_is_read(run, tmp_path):
    for name, told in (("r.xlsx", "must end in one of .parquet, .csv"), ("none/r.csv", "does not exist; create it first")):
        done = run("summarize", "none.csv", "--rows", tmp_path / name, status=2)
        assert told in " ".join(done.stderr.split())
    done = run("summarize", "none.csv", "--rows", tmp_path / "a.csv", "--output", tmp_path / "." / "a.csv", status=2)
    assert "a.csv" in done.stderr


def test_a_target_is_a_data_file_or_a_saved_summary(run, data, tmp_path):
    source, wanted = data / "a.parquet", tmp_path / "wanted.parquet"
    table = pq.read_table(source)
    pq.write_table(table.filter(pa.array(table["x"].to_numpy() > np.median(table["x"].to_numpy()))), wanted)
    asked = ("-p", "5", "--seed", "3")
    done = run("summarize", source, *asked, "--target", wanted, "-o", tmp_path / "s.ss")
    assert done.stdout.startswith("5 rows stand for a target of 300 rows, chosen from 600 of a.parquet")
    assert "the rows are chosen to match a target of 300 rows" in done.stdout
    assert (tmp_path / "s.ss").read_bytes() == ss.summarize(source, 5, target=str(wanted), random_state=3).to_bytes()
    run("summarize", wanted, "--seed", "3", "-o", tmp_path / "wanted.ss")
    again = run("summarize", source, *asked, "--target", tmp_path / "wanted.ss", "--json")
    assert again.values["target"]["n_rows"] == 300
    assert run("show", tmp_path / "s.ss").stdout.startswith("5 rows stand for a target of 300 rows")
