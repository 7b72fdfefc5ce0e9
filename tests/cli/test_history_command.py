"""supersample history: alarms in words, a folder that is resumed, a page, and exit statuses."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import supersample as ss

OPTIONS = ("--time", "when", "--every", "1h", "--seed", "0", "-q")


@pytest.fixture(scope="module")
def days(tmp_path_factory):
    """Three files, a day each: from 06:00 of the third day on, "wait" is longer."""
    folder, rng = tmp_path_factory.mktemp("days"), np.random.default_rng(0)
    for day in (1, 2, 3):
        seconds = np.sort(rng.integers(0, 86_400, 1_500))
        late = (day == 3) & (seconds >= 6 * 3600)
        when = np.datetime64(f"2026-03-0{day}") + seconds.astype("timedelta64[s]")
        table = {"when": when, "wait": rng.normal(2.0 * late, 1.0), "line": rng.choice(["a", "b"], 1_500)}
        pq.write_table(pa.table(table), folder / f"day-{day}.parquet")
    return folder


def test_each_alarm_is_one_line_in_words(run, days):
    done = run("history", days / "*.parquet", *OPTIONS)
    first, alarm, last = done.stdout.splitlines()
    assert first == "4,500 rows in 72 blocks, 2026-03-01 00:00:00 to 2026-03-04 00:00:00, 1 alarm"
    assert alarm.startswith("  content changed at 2026-03-03 06:00:00 (")
    assert ": wait mean " in alarm
    assert last.startswith("evidence of another change: ")
    assert done.stderr == ""


def test_a_folder_is_resumed_and_no_row_is_read_twice(run, days, tmp_path):
    files = [days / f"day-{day}.parquet" for day in (1, 2, 3)]
    folder, page = tmp_path / "kept", tmp_path / "timeline.html"
    made = run("history", *files[:2], *OPTIONS[:-1], "-o", folder, "--fail-on-change")
    assert made.stderr.splitlines()[-1] == f"wrote {folder}"
    found = run("history", *files, "-o", folder, "--report", page, "--fail-on-change", status=1)
    assert "change: 1 new, the last at 2026-03-03 06:00:00" in found.stderr
    assert page.read_text(encoding="utf-8").count('class="card alarm content"') == 1
    again = run("history", *files, *OPTIONS, "-o", folder, "--fail-on-change", "--json")
    assert again.values["n_seen"] == 4_500
    assert again.values["new_alarms"] == 0
    shown = run("history", "-o", folder, "--json", "-q").values
    assert {name: again.values[name] for name in ("alarms", "evidence", "n_blocks")} == {
        name: shown[name] for name in ("alarms", "evidence", "n_blocks")
    }
    assert ss.History.load(folder).n_seen == 4_500


def test_json_says_what_the_history_says(run, days):
    values = run("history", days / "*.parquet", *OPTIONS, "--no-volume", "--run-length", "500", "--json").values
    table = pa.concat_tables(pq.read_table(days / f"day-{day}.parquet") for day in (1, 2, 3))
    history = ss.History(time="when", every="1h", run_length=500, volume=False, random_state=0)
    (wanted,), (alarm,) = history.update(table).alarms, values["alarms"]
    assert alarm["change"] == wanted.change.isoformat()
    assert alarm["changed"] == list(wanted.changed) == ["wait"]
    assert alarm["columns"][0]["what"] == wanted.columns[0].what
    assert (values["start"], values["end"]) == ("2026-03-01T00:00:00", "2026-03-04T00:00:00")
    assert json.dumps(values["notes"]) == "[]"


def test_rows_are_counted_without_a_time(run, days):
    done = run("history", days / "day-1.parquet", "--every", "100", "--ignore", "when", "-q")
    assert done.stdout.startswith("1,500 rows in 11 blocks, 0 to 1,500, 0 alarms\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Missing argument 'FILE...'"),
        (["{days}/day-1.parquet"], "Missing option '--every'"),
        (["{days}/day-1.parquet", "--every", "1h"], "every must be a number of rows where time is None"),
        (["{days}/day-1.parquet", "--every", "1h", "--time", "wen"], "did you mean 'when'?"),
        (["{days}/day-1.parquet", "--every", "1h", "--time", "when", "-o", "{days}"], "holds something else"),
        (["{days}/day-1.parquet", "--every", "1h", "--time", "when", "-o", "{days}/day-1.parquet"], "is a file"),
        (["{days}/day-1.parquet", "--every", "1h", "--time", "when", "--season", "90m"], "season must be at least 2h"),
        (["-o", "{days}/none"], "Missing argument 'FILE...'"),
    ],
)
def test_what_is_wrong_is_said(run, days, arguments, message):
    done = run("history", *(each.format(days=days) for each in arguments), status=2)
    assert message in " ".join(done.stderr.split())


def test_a_folder_has_its_own_settings(run, days, tmp_path):
    folder, file = tmp_path / "kept", days / "day-1.parquet"
    run("history", file, *OPTIONS, "-o", folder)
    done = run("history", file, "-o", folder, "--season", "1d", status=2)
    assert "leave --season out, or give --every as well" in done.stderr
    done = run("history", file, "--time", "when", "--every", "2h", "-o", folder, status=2)
    assert "was asked for something else (every: 3600.0 there, 7200.0 here" in done.stderr


def test_a_folder_asked_for_something_else_is_named_by_its_option(run, days, tmp_path):
    run("history", days / "day-1.parquet", *OPTIONS, "-o", tmp_path / "kept")
    other = run("history", days / "day-2.parquet", "--time", "when", "--every", "2h", "-o", tmp_path / "kept", status=2)
    assert "-o names" in other.stderr
    assert "save_to" not in other.stderr
