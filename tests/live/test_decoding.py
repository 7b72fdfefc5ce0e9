"""Processes that decode: what one of them does not survive, the next request never sees."""

import json
import os
import signal
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from live_services import body_of
from supersample.live.batch import UnavailableError
from supersample.live.decoding import Decoders, DecodingError
from supersample.live.decoding.formats import BodyError, Bounds, OverLimitError, decoded
from supersample.live.decoding.measuring import written_out
from supersample.live.settings import Limits

ROWS = pa.table({"x": [1.0, 2.0], "name": ["a", None]})


@pytest.fixture
def decoders():
    """One process, so that every request meets what the one before left."""
    found = Decoders(Limits(decoders=1, seconds=30.0))
    yield found
    found.close()


def process_of(decoders):
    (found,) = decoders._all
    return found


def killed(monkeypatch, decoders, times):
    """Kill the next processes that get a body, so many of them, when they get it."""
    asked, left = decoders._asked, [None] * times

    def killing(worker, *arguments):
        if left:
            left.pop()
            worker.kill()
            worker.wait()
        return asked(worker, *arguments)

    monkeypatch.setattr(decoders, "_asked", killing)


def test_a_process_that_was_killed_is_replaced(decoders):
    media_type, body = body_of(ROWS)
    assert media_type.endswith("arrow.stream")
    assert decoders.decode(body, "arrow").equals(ROWS)
    first = process_of(decoders)
    first.kill()
    first.wait()
    assert decoders.decode(body, "arrow").equals(ROWS)
    assert process_of(decoders).pid != first.pid


def test_a_body_whose_process_is_killed_is_decoded_by_another_one(decoders, monkeypatch):
    _, body = body_of(ROWS)
    decoders.decode(body, "arrow")
    killed(monkeypatch, decoders, 1)
    assert decoders.decode(body, "arrow").equals(ROWS)


def test_a_body_that_two_processes_do_not_survive_is_said(decoders, monkeypatch):
    _, body = body_of(ROWS)
    killed(monkeypatch, decoders, 2)
    with pytest.raises(DecodingError, match="did not survive the batch, twice"):
        decoders.decode(body, "arrow")
    assert decoders.decode(body, "arrow").equals(ROWS)


def test_where_no_process_starts_the_body_is_not_at_fault(decoders, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr("sys.executable", "/nowhere/python")
        with pytest.raises(UnavailableError, match="could be started"):
            decoders.decode(b"x\n1\n", "csv")
    assert decoders.decode(b"x\n1\n", "csv").to_pydict() == {"x": [1]}


def test_a_body_under_way_at_the_end_is_not_at_fault(decoders, monkeypatch):
    asked = decoders._asked

    def closing(worker, *arguments):
        decoders.close()
        return asked(worker, *arguments)

    monkeypatch.setattr(decoders, "_asked", closing)
    with pytest.raises(UnavailableError, match="being closed"):
        decoders.decode(b"x\n1\n", "csv")


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="Windows has no such signal")
def test_a_body_that_takes_too_long_is_given_up():
    decoders = Decoders(Limits(decoders=1, seconds=20.0))
    _, body = body_of(ROWS)
    try:
        decoders.decode(body, "arrow")
        decoders._limits = Limits(decoders=1, seconds=0.2)
        os.kill(process_of(decoders).pid, signal.SIGSTOP)
        with pytest.raises(DecodingError, match=r"takes more than .* to decode") as caught:
            decoders.decode(body, "arrow")
        assert caught.value.over
        decoders._limits = Limits(decoders=1, seconds=20.0)
        assert decoders.decode(body, "arrow").equals(ROWS)
    finally:
        decoders.close()


def test_known_types_hold_for_text(decoders):
    known = pa.schema([("code", pa.string()), ("x", pa.float64())])
    assert decoders.decode(b"code,x\n12,1\n", "csv", "", known).schema == known
    assert decoders.decode(b'{"x": 1}\n', "ndjson", "", known).to_pydict() == {"code": [None], "x": [1.0]}
    with pytest.raises(DecodingError):
        decoders.decode(b'{"x": "one"}\n', "ndjson", "", known)


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is there on Linux alone")
def test_no_secret_reaches_a_process(decoders, monkeypatch):
    monkeypatch.setenv("SUPERSAMPLE_READ_TOKEN", "hush hush")
    decoders.decode(body_of(ROWS)[1], "arrow")
    assert b"hush" not in Path(f"/proc/{process_of(decoders).pid}/environ").read_bytes()


def test_nothing_is_imported_from_the_current_folder(decoders, tmp_path, monkeypatch):
    for name in ("pyarrow", "json"):
        (tmp_path / f"{name}.py").write_text("open('imported', 'w').close()\nraise SystemExit(1)\n")
    monkeypatch.chdir(tmp_path)
    assert decoders.decode(body_of(ROWS)[1], "arrow").equals(ROWS)
    assert not (tmp_path / "imported").exists()


LONG = "x" * 10_000


def repeated(n=1_000):
    """Return columns that say a long value, or many short ones, many times in few bytes."""
    text = pa.array([LONG])
    words = pa.DictionaryArray.from_arrays(pa.array([0] * n, pa.int8()), text)
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([n], pa.int32()), text)
    numbers = pa.array(np.zeros(n))
    lists = pa.ListViewArray.from_arrays(pa.array([0] * n, pa.int32()), pa.array([n] * n, pa.int32()), numbers)
    views = pa.Array.from_buffers(pa.string_view(), n, [None, pa.py_buffer(_view() * n), pa.py_buffer(LONG.encode())])
    return {
        "dictionary": words,
        "runs": runs,
        "views": views,
        "lists of views": lists,
        "dictionary of runs": pa.DictionaryArray.from_arrays(pa.array([0] * n, pa.int8()), runs.slice(0, 1)),
        "structure": pa.StructArray.from_arrays([words], ["a"]),
        "list": pa.ListArray.from_arrays(pa.array(np.arange(n + 1), pa.int32()), words),
        "vectors of nothing": pa.array([None] * 3, pa.list_(pa.null(), 10_000_000)),
        "list of nothing": pa.ListArray.from_arrays(pa.array([0, 20_000_000], pa.int32()), pa.nulls(20_000_000)),
    }


def _view():
    return np.array([len(LONG), int.from_bytes(LONG[:4].encode(), "little"), 0, 0], np.int32).tobytes()


@pytest.mark.parametrize("name", repeated())
def test_values_count_as_often_as_they_occur(name):
    """Sizes are those of the values written out, and a body of some kilobytes with megabytes of them is refused."""
    column = repeated()[name]
    found = written_out(pa.record_batch([column], ["a"]))
    expected = {"lists of views": 8e6, "vectors of nothing": 3e7, "list of nothing": 2e7}.get(name, 1e7)
    assert found == expected
    if len(column) > 3:
        assert written_out(pa.record_batch([column.slice(3, 500)], ["a"])) == expected / 2
    body = body_of(pa.table({"a": column}))[1]
    assert len(body) < 100_000
    with pytest.raises(OverLimitError, match="at most 5,000,000 bytes"):
        decoded(body, "arrow", "", None, Bounds(5_000_000, 10, 1_000_000))
    assert decoded(body, "arrow", "", None, Bounds(30_000_000, 10, 1_000_000)).num_rows == len(column)


@pytest.mark.parametrize("form", ["arrow", "parquet", "ndjson"])
@pytest.mark.parametrize("listed", [False, True])
def test_columns_inside_others_count(form, listed):
    inner = {f"c{each}": each for each in range(30)}
    table = pa.table({"a": [[{"b": inner}] if listed else {"b": inner}]})
    body = json.dumps(table.to_pylist()[0]).encode() if form == "ndjson" else body_of(table, form)[1]
    with pytest.raises(OverLimitError, match="at most 20 columns, got 30"):
        decoded(body, form, "", None, Bounds(1 << 20, 20, 10))
    assert decoded(body, form, "", None, Bounds(1 << 20, 30, 10)).num_rows == 1


def test_fields_of_structures_may_not_have_the_name_of_a_column():
    with pytest.raises(BodyError, match="different names"):
        decoded(body_of(pa.table({"a.b": [1], "a": [{"b": 2}]}))[1], "arrow", "", None, Bounds(1 << 20, 20, 10))


def test_after_the_end_nothing_is_decoded(decoders):
    decoders.close()
    with pytest.raises(UnavailableError, match="being closed"):
        decoders.decode(b"x\n1\n", "csv")
