"""Processes that decode: what one of them does not survive, the next request never sees."""

import os
import signal
import threading
from pathlib import Path

import pyarrow as pa
import pytest

from live_services import body_of
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


def test_a_process_that_was_killed_is_replaced(decoders):
    media_type, body = body_of(ROWS)
    assert media_type.endswith("arrow.stream")
    assert decoders.decode(body, "arrow").equals(ROWS)
    first = process_of(decoders)
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    assert decoders.decode(body, "arrow").equals(ROWS)
    assert process_of(decoders).pid != first.pid


def test_a_process_that_dies_under_a_body_is_said(decoders):
    _, body = body_of(ROWS)
    decoders.decode(body, "arrow")
    os.kill(process_of(decoders).pid, signal.SIGSTOP)
    killer = threading.Timer(0.2, lambda: os.kill(process_of(decoders).pid, signal.SIGKILL))
    killer.start()
    with pytest.raises(DecodingError, match="did not survive"):
        decoders.decode(body, "arrow")
    killer.join()
    assert decoders.decode(body, "arrow").equals(ROWS)


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


def test_after_the_end_nothing_is_decoded(decoders):
    decoders.close()
    with pytest.raises(DecodingError, match="being closed"):
        decoders.decode(b"x\n1\n", "csv")
