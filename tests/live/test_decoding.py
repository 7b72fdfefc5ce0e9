"""Processes that decode: what one of them does not survive, the next request never sees."""

import os
import signal
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from live_services import body_of
from supersample.live.batch import UnavailableError
from supersample.live.decoding import Decoders, DecodingError
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


def test_after_the_end_nothing_is_decoded(decoders):
    decoders.close()
    with pytest.raises(UnavailableError, match="being closed"):
        decoders.decode(b"x\n1\n", "csv")
