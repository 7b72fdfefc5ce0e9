"""compare, merge, show, report and demo."""

import datetime as dt
import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import supersample as ss
from supersample.cli.output import as_rows, plain, text_table
from supersample.summary.comparison import gain_in_words


def test_compare_tells_drift_by_its_status(run, saved):
    same = run("compare", saved / "a.ss", saved / "b.ss", "--fail-on-drift")
    assert "show no difference" in same.stdout
    drift = run("compare", saved / "a.ss", saved / "moved.ss", "--fail-on-drift", status=1)
    assert "they differ" in drift.stdout
    assert "Rows that are more common in" in drift.stdout
    found = ss.load(saved / "a.ss").compare(ss.load(saved / "moved.ss"))
    for row in (*found.left_rows.to_pylist()[:5], *found.right_rows.to_pylist()[:5]):
        assert f"\n  {gain_in_words(row)}\n" in drift.stdout
    assert drift.stderr.startswith("drift: p-value")
    run("compare", saved / "a.ss", saved / "moved.ss")
    run("compare", saved / "a.ss", saved / "moved.ss", "--fail-on-drift", "--level", "0")


def test_compare_as_json(run, saved, tmp_path):
    done = run("compare", saved / "a.ss", saved / "moved.ss", "--json", "--rows", "2", "--report", tmp_path / "d.html")
    twin = ss.load(saved / "a.ss").compare(ss.load(saved / "moved.ss"))
    assert done.values["pvalue"] == twin.pvalue
    assert done.values["differs"]
    assert done.values["changed"] == ["x"]
    assert [len(done.values[side]) for side in ("left_rows", "right_rows")] == [2, 2]
    assert "<html" in (tmp_path / "d.html").read_text()


def test_columns_that_are_gone_or_something_else_are_drift(run, tmp_path):
    rng = np.random.default_rng(0)
    values = {"x": rng.normal(size=400), "age": rng.integers(20, 90, 400), "gone": rng.normal(size=400)}
    for name, table in (
        ("left", values),
        ("right", {"x": values["x"], "age": [f"group {each % 3}" for each in values["age"]]}),
    ):
        pq.write_table(pa.table(table), tmp_path / f"{name}.parquet")
        run("summarize", tmp_path / f"{name}.parquet", "-p", "5", "-o", tmp_path / f"{name}.ss")
    done = run("compare", tmp_path / "left.ss", tmp_path / "right.ss", "--fail-on-drift", status=1)
    assert "show no difference" in done.stdout
    told = "gone is on the left only, so it is not compared; age is a number on the left and a category on the right, so it is"
    assert f"drift: {told} not compared" in done.stderr


@pytest.mark.parametrize("left", ["{data}/a.parquet", "{saved}/a.ss"])
@pytest.mark.parametrize("right", ["{data}/moved.parquet", "{saved}/moved.ss"])
def test_compare_takes_data_and_summaries(run, data, saved, left, right):
    names = (each.format(data=data, saved=saved) for each in (left, right))
    assert run("compare", *names, "--json", "--seed", "1").values["differs"]


def test_summaries_that_were_made_apart_are_compared(run, data, saved, tmp_path):
    run("summarize", data / "b.csv", "-p", "5", "-o", tmp_path / "own.ss")
    done = run("compare", saved / "a.ss", tmp_path / "own.ss", "--fail-on-drift")
    assert "show no difference" in done.stdout
    assert "note     the two were not made like each other" in done.stdout
    page = tmp_path / "page.html"
    drift = run("compare", tmp_path / "own.ss", saved / "moved.ss", "--fail-on-drift", "--report", page, status=1)
    assert re.search(r"\n  (about [\d.,]+ times as common|found only here): x ", drift.stdout)
    assert "the two were not made like each other" in page.read_text()
    told = run("compare", tmp_path / "own.ss", saved / "moved.ss", "--json").values
    assert told["notes"][0]["kind"] == "made apart"
    assert told["changed"] == ["x"]


def test_columns_that_changed_are_shown_first_though_others_fill_the_terminal(run, tmp_path):
    rng = np.random.default_rng(0)
    for name, part in (("left", 0.0), ("right", 0.1)):
        rows = {f"a_long_name_of_column_{place}": rng.normal(size=600) for place in range(12)}
        gap = np.where(rng.random(600) < part, np.nan, rng.normal(size=600))
        pq.write_table(pa.table(rows | {"gap": pa.array(gap, from_pandas=True)}), tmp_path / f"{name}.parquet")
    done = run("compare", tmp_path / "left.parquet", tmp_path / "right.parquet", "--seed", "1")
    assert "No kind of row was found that is clearly more common in" in done.stdout  # on the left
    assert "gap missing" in done.stdout
    (header,) = (line for line in done.stdout.partition("gap missing")[2].splitlines() if line.split()[:1] == ["_row"])
    assert header.split()[1] == "gap"


def test_summaries_without_a_column_in_common_are_refused(run, saved, tmp_path):
    pq.write_table(pa.table({"other": np.arange(50.0) % 7}), tmp_path / "other.parquet")
    run("summarize", tmp_path / "other.parquet", "-p", "5", "-o", tmp_path / "other.ss")
    done = run("compare", saved / "a.ss", tmp_path / "other.ss", status=2)
    assert done.stderr.startswith("error: the two summaries have no column that can be compared")
    assert done.stderr.count("\n") == 1
    run("compare", "-", "-", status=2)


def test_merge(run, saved, tmp_path):
    done = run("merge", saved / "a.ss", saved / "b.ss", saved / "moved.ss", "-o", tmp_path / "all", "--json")
    assert done.values["n_seen"] == 1800
    assert ss.load(tmp_path / "all").n_seen == 1800
    assert done.stderr == f"wrote {tmp_path / 'all'}\n"
    assert "two summaries or more" in run("merge", saved / "a.ss", "-o", tmp_path / "one", status=2).stderr


def test_show(run, saved):
    done = run("show", saved / "a.ss", "--rows", "3")
    assert "Prototypes:" in done.stdout
    assert "Criticisms:" in done.stdout
    assert "... and 7 more rows" in done.stdout
    values = run("show", saved / "a.ss", "--json").values
    assert len(values["prototypes"]) == 10
    assert {"x", "y", "colour", "w", "_row", "_weight", "_share"} == set(values["prototypes"][0])
    assert set(values["criticisms"][0]) > {"_kind", "_share", "_witness", "_nearest"}
    assert "must be a file" in run("show", __file__, status=2).stderr


def test_show_lists_columns_over_all_rows_and_every_note(run, saved, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    done = run("show", saved / "a.ss", "--rows", "0")
    lines = {line.split("  ")[0]: line for line in done.stdout.partition("Columns:\n")[2].splitlines()}
    table = ss.load(saved / "a.ss").profile.to_pylist()
    assert list(lines) == ["column", *(each["name"] for each in table)]
    assert re.fullmatch(r"x +number +600 +0 +about \d+ +-\S+ \.\. \S+ \.\. \S+", lines["x"])
    counts = {each["value"]: each["count"] for each in table[2]["top"]}
    assert lines["colour"].endswith(", ".join(f"{value} ({count})" for value, count in counts.items()))
    assert lines["w"].startswith("w       number, left out")
    assert "Notes:\n  w: not asked for" in done.stdout
    values = run("show", saved / "a.ss", "--json").values
    assert [each["name"] for each in values["profile"]] == ["x", "y", "colour", "w"]
    assert values["profile"][2]["top"][0] == {"value": next(iter(counts)), "count": max(counts.values()), "at_least": False}
    assert values["notes"][0]["column"] == "w"


def test_a_wide_table_of_columns_fits_the_terminal(run, data, tmp_path, monkeypatch):
    name = "a rather long name of a column, longer than a line may be"
    words = pa.array(["word " * 30, "term " * 30] * 300)
    pq.write_table(pa.table({name: np.random.default_rng(0).normal(size=600), "text": words}), tmp_path / "wide.parquet")
    run("summarize", tmp_path / "wide.parquet", "-p", "5", "-o", tmp_path / "wide.ss")
    for width in (80, 100, 200):
        monkeypatch.setenv("COLUMNS", str(width))
        shown = run("show", tmp_path / "wide.ss", "--rows", "0").stdout.partition("Columns:\n")[2]
        assert max(map(len, shown.splitlines())) <= width
        assert "more column" not in shown


def test_notes_are_few_beside_a_result_and_all_where_they_are_asked_for(run, tmp_path):
    rng = np.random.default_rng(0)
    columns = {f"same{place}": np.full(300, 7.0) for place in range(9)} | {
        f"id{place}_id": np.arange(300) for place in range(3)
    }
    odd = {f"gone{place}": pa.array([None if row % 2 else row % 7 for row in range(300)]) for place in range(3)}
    pq.write_table(pa.table({"x": rng.normal(size=300), **columns, **odd}), tmp_path / "odd.parquet")
    done = run("summarize", tmp_path / "odd.parquet", "-p", "5", "-o", tmp_path / "odd.ss")
    notes = done.stdout.partition("Notes:\n")[2].splitlines()
    assert len(notes) == 7
    assert notes[0].startswith("  id0_id: ")
    assert notes[3] == "  9 columns constant: same0, same1, same2 and 6 more"
    assert notes[-1] == "  and 1 more, on the page or with `supersample show`"
    shown = run("show", tmp_path / "odd.ss", "--rows", "0").stdout
    assert shown.count("every value is 7.0") == 9
    merged = run("merge", tmp_path / "odd.ss", tmp_path / "odd.ss", "-o", tmp_path / "both.ss").stdout
    assert "100% of all 600 rows have a twin among them" in merged.partition("Notes:\n")[2]


def test_a_summary_of_an_earlier_version_is_shown_and_reported(run, tmp_path):
    old = Path(__file__).parents[1] / "golden" / "format-1" / "summary-long.ss"
    shown = run("show", old).stdout
    assert "saved by an earlier version, which did not profile the rows" in shown
    assert shown.partition("Columns:\n")[2].startswith("  ")
    values = run("show", old, "--json").values
    assert values["profile"] is None
    assert [each["kind"] for each in values["notes"]] == ["no profile"]
    run("report", old, "-o", tmp_path / "old.html")
    assert "did not profile the rows: the charts show a random sample of" in (tmp_path / "old.html").read_text()


def test_report_prints_the_path_of_its_page(run, saved, tmp_path):
    done = run("report", saved / "a.ss", "-o", tmp_path / "a.html", "--title", "All of it")
    assert done.stdout == f"{tmp_path / 'a.html'}\n"
    assert "All of it" in (tmp_path / "a.html").read_text()


def test_demo(run, tmp_path):
    done = run("demo", "-o", tmp_path / "demo")
    assert "10 that stand for all of them" in done.stdout
    paths = done.stdout.splitlines()[-3:]
    assert paths == [str(tmp_path / "demo" / name) for name in ("digits.ss", "digits.html", "without-ones.html")]
    assert "data:image" in (tmp_path / "demo" / "digits.html").read_text()


@pytest.mark.parametrize("command", ["summarize", "compare", "merge", "show", "report", "demo"])
def test_help_has_examples(run, command):
    done = run(command, "--help")
    assert done.stdout.startswith(f"Usage: supersample {command} ")
    assert f"supersample {command}" in done.stdout.split("Examples:\n")[1]


def test_values_of_every_kind_are_plain_json():
    far = pa.array([2**62], pa.timestamp("s"))
    table = pa.table(
        {
            "ns": pa.array([1], pa.timestamp("ns")),
            "nan": [float("nan")],
            "infinite": [float("inf")],
            "bytes": [b"\x00"],
            "day": [dt.date(2024, 1, 1)],
            "list": [[1, None]],
            "struct": [{"a": dt.time(1, 2)}],
            "gone": pa.nulls(1),
            "span": pa.array([dt.timedelta(days=1)]),
        }
    )
    row = json.loads(json.dumps(plain(as_rows(table)[0]), allow_nan=False))
    assert row == {
        "ns": "1970-01-01T00:00:00", "nan": None, "infinite": None, "bytes": "AA==", "day": "2024-01-01", "list": [1, None],
        "struct": {"a": "01:02:00"}, "gone": None, "span": "1 day, 0:00:00",
    }  # fmt: skip
    assert isinstance(as_rows(pa.table({"far": far}))[0]["far"], str)


def test_text_tables_fit_and_steer_no_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    wide = pa.table({"_row": [1, 2], "s": ["a\x1b[2J", "b\nc"], **{f"column {place}": [1.5, None] for place in range(20)}})
    text = text_table(wide, 1)
    assert "\x1b" not in text
    assert all(len(line) <= 60 for line in text.splitlines()[:2])
    assert "... and 1 more row\n" in text
    assert "more columns" in text


def test_names_that_would_steer_a_terminal_are_shown_harmless(run, tmp_path):
    pq.write_table(pa.table({"a\x1b[2J": np.random.default_rng(0).normal(size=50)}), tmp_path / "a.parquet")
    for arguments in (["-p", "2"], ["-p", "2", "--columns", "\x1b[2J"]):
        done = run("summarize", tmp_path / "a.parquet", *arguments, status=2 if "--columns" in arguments else 0)
        assert "\x1b" not in done.output


@pytest.mark.parametrize("left", ["whole.csv", "empty.csv", "decimal.csv"])
@pytest.mark.parametrize("right", ["whole.csv", "empty.csv", "decimal.csv"])
def test_compare_takes_files_whose_types_differ_in_either_order(run, tmp_path, left, right):
    rng = np.random.default_rng(0)
    values = {"whole.csv": rng.integers(0, 9, 300), "empty.csv": [""] * 300, "decimal.csv": rng.normal(20.0, 1.0, 300)}
    for name in (left, right):
        lines = [f"{value},{other}" for value, other in zip(values[name], np.arange(300) % 7, strict=True)]
        (tmp_path / name).write_text("\n".join(["x,y", *lines]))
    done = run("compare", tmp_path / left, tmp_path / right, "--seed", "1")
    assert ("they differ" in done.stdout) == (left != right)
    assert ("left out x (holds nothing but missing values" in done.stdout) == (left == right == "empty.csv")
    told = run("compare", tmp_path / left, tmp_path / right, "--seed", "1", "--json").values
    assert list(told["left_out"]) == (["x"] if left == right == "empty.csv" else [])


def test_compare_takes_days_and_times_and_zones(run, tmp_path):
    moments = np.datetime64("2024-01-01T00:00", "s") + np.arange(300).astype("timedelta64[h]")
    naive = pa.array(moments)
    columns = {
        "times": naive,
        "days": pa.array(moments.astype("datetime64[D]")),
        "utc": naive.cast(pa.timestamp("s", "UTC")),
        "berlin": naive.cast(pa.timestamp("s", "Europe/Berlin")),
    }
    for name, column in columns.items():
        pq.write_table(pa.table({"when": column, "y": np.arange(300) % 7}), tmp_path / f"{name}.parquet")
    for left, right in (("times", "days"), ("days", "times"), ("utc", "berlin")):
        done = run("compare", tmp_path / f"{left}.parquet", tmp_path / f"{right}.parquet", "--seed", "1")
        assert "show no difference" in done.stdout
