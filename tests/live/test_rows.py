"""Rows by POST: formats, compressions, ids, and everything that is refused."""

import gc
import gzip
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pytest

from live_rows import rows
from live_services import BODIES, body_of, client_of, running, send, settings_of
from supersample.live.batch import UnavailableError
from supersample.live.settings import Limits, StreamSettings


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    limits = Limits(body=300_000, decoded=20 << 20, memory=200 << 20, columns=50, rows=50_000, seconds=3.0)
    with running(settings_of(tmp_path_factory.mktemp("state"), limits=limits)) as found:
        yield found


@pytest.fixture(scope="module")
def client(service):
    with client_of(service) as found:
        assert send(found, 0).status_code == 200
        yield found


#: A row of 60 columns.
WIDE = b",".join(b"c%d" % each for each in range(60)) + b"\n" + b"," * 59 + b"\n"


def post(client, body, media_type="text/csv", stream="rides", **headers):
    headers = {"Content-Type": media_type} | {name.replace("_", "-"): value for name, value in headers.items()}
    return client.post(f"/streams/{stream}/rows", content=body, headers=headers)


@pytest.mark.parametrize("form", BODIES)
@pytest.mark.parametrize("encoding", ["", "gzip", "zstd"])
def test_every_format_and_compression(client, form, encoding):
    media_type, body = body_of(rows(1, n=5), form)
    packed = {"": body, "gzip": gzip.compress(body), "zstd": pa.compress(body, "zstd", asbytes=True)}[encoding]
    before = client.get("/streams/rides").json()["rows"]
    answer = post(client, packed, media_type, Content_Encoding=encoding, Batch_Id=f"{form}-{encoding}")
    assert answer.json() == {"stream": "rides", "batch_id": f"{form}-{encoding}", "rows": 5, "repeated": False}
    assert client.get("/streams/rides").json()["rows"] == before + 5
    again = post(client, packed, media_type, Content_Encoding=encoding, Batch_Id=f"{form}-{encoding}")
    assert again.json() == {"stream": "rides", "batch_id": f"{form}-{encoding}", "rows": 0, "repeated": True}
    assert client.get("/streams/rides").json()["rows"] == before + 5


def test_rows_without_an_id_are_always_new(client):
    media_type, body = body_of(rows(1, n=5))
    first, second = (post(client, body, media_type).json() for _ in range(2))
    assert first["rows"] == second["rows"] == 5
    assert first["batch_id"] != second["batch_id"]


def test_several_members_of_gzip_are_one_body(client):
    lines = body_of(rows(1, n=6), "ndjson")[1].splitlines(keepends=True)
    packed = b"".join(gzip.compress(each) for each in lines)
    assert post(client, packed, "application/x-ndjson", Content_Encoding="gzip").json()["rows"] == 6


def test_a_line_of_ndjson_may_lack_what_others_have(client):
    body = b'{"when": "2026-03-02T00:00:40", "x": 1}\n{"when": "2026-03-02T00:00:41", "y": 2}\n'
    assert post(client, body, "application/x-ndjson").json()["rows"] == 2


@pytest.mark.parametrize(
    ("body", "headers", "status", "told"),
    [
        (b"a", {"Content-Type": "application/pdf"}, 415, "Content-Type must be one of application/x-ndjson"),
        (b"a", {"Content-Type": "text/csv", "Content-Encoding": "br"}, 415, "Content-Encoding must be one of gzip, zstd"),
        (b"", {"Content-Type": "text/csv"}, 422, "set aside"),
        (b"when,x\n", {"Content-Type": "text/csv"}, 422, "must hold a row"),
        (b"\x1f\x8b\x08\x00", {"Content-Type": "text/csv", "Content-Encoding": "gzip"}, 422, "ends too early"),
        (b"not gzip", {"Content-Type": "text/csv", "Content-Encoding": "gzip"}, 422, "set aside"),
        (b"not zstd", {"Content-Type": "text/csv", "Content-Encoding": "zstd"}, 422, "set aside"),
        (b"PAR1" + b"\0" * 64 + b"PAR1", {"Content-Type": "application/vnd.apache.parquet"}, 422, "set aside"),
        (b"\xff\xff\xff\xff" + b"\x7f" * 64, {"Content-Type": "application/vnd.apache.arrow.stream"}, 422, "set aside"),
        (b'[{"x": 1}]', {"Content-Type": "application/x-ndjson"}, 422, "one JSON object a line"),
        (b"null", {"Content-Type": "application/json"}, 422, "one JSON object a line, got something else"),
        (b'\xef\xbb\xbf\nnull\n{"x": 1}', {"Content-Type": "application/json"}, 422, "one JSON object a line, got something"),
        (b"1", {"Content-Type": "application/json"}, 422, "one JSON object a line, got something else"),
        (b'"x"', {"Content-Type": "application/json"}, 422, "one JSON object a line, got something else"),
        (b"[null]", {"Content-Type": "application/json"}, 422, "one JSON object a line, got a JSON array"),
        (b"when,x\n2026-03-02T00:00:40,1\n,\n", {"Content-Type": "text/csv"}, 422, "row 2 of the batch has none"),
        (b"{}", {"Content-Type": "application/json"}, 422, "row 1 of the batch has none"),
        (b'{"when": null}', {"Content-Type": "application/json"}, 422, "row 1 of the batch has none"),
        (b'{"when": "2026-03-02T00:00:40"}\n{"x": 1}\nnull', {"Content-Type": "application/json"}, 422, "row 3 of the batch"),
        (b'{"x": "\xff\xfe"}', {"Content-Type": "application/x-ndjson"}, 422, "set aside"),
        (b'{"x": ' + b"[" * 5_000, {"Content-Type": "application/x-ndjson"}, 422, "set aside"),
        (b"x,x\n1,2\n", {"Content-Type": "text/csv"}, 422, "different names"),
        (b"z\n1\n", {"Content-Type": "text/csv"}, 422, "the rows must have the columns seen before"),
        (b"x" * 300_001, {"Content-Type": "text/csv"}, 413, "at most 300,000 bytes"),
        (gzip.compress(b"\0" * (30 << 20)), {"Content-Type": "text/csv", "Content-Encoding": "gzip"}, 413, "20,971,520 bytes"),
        (WIDE, {"Content-Type": "text/csv"}, 413, "50 columns"),
        (b"z\n" + b"1\n" * 60_000, {"Content-Type": "text/csv"}, 413, "50,000 rows"),
        (b"a", {"Content-Type": "text/csv", "Batch-Id": "x" * 201}, 400, "at most 200 characters"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_refused_with_the_reason(client, body, headers, status, told):
    before = client.get("/streams/rides").json()
    answer = client.post("/streams/rides/rows", content=body, headers=headers)
    assert answer.status_code == status, answer.text
    assert told in answer.json()["error"]
    after = client.get("/streams/rides").json()
    assert after["rows"] == before["rows"]
    assert after["aside"] == before["aside"] + (status == 422)


def test_a_stream_that_is_not_there(client):
    answer = post(client, b"x\n1\n", stream="other")
    assert answer.status_code == 404
    assert "/streams lists them" in answer.json()["error"]


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_that_is_too_large_is_refused_while_it_comes(client, chunked):
    pieces = (b"x" * 10_000 for _ in range(1_000))
    body = pieces if chunked else b"".join(pieces)
    assert post(client, body).status_code == 413


def test_a_batch_that_takes_too_much_memory_to_decode_ends_no_process_but_its_own(client):
    wide = pa.table({"when": rows(1, n=1)["when"], "x": pa.array(["y" * (150 << 20)]), "y": [0.0]})
    media_type, body = body_of(wide, "parquet")
    packed = pa.compress(body, "zstd", asbytes=True)
    assert len(packed) < 300_000
    assert post(client, packed, media_type, Content_Encoding="zstd").status_code == 413
    assert send(client, 7).status_code == 200


def test_a_body_that_comes_too_slowly_is_given_up(service):
    with socket.create_connection((service.url.split(":")[1].strip("/"), int(service.url.rsplit(":", 1)[1]))) as slow:
        slow.sendall(
            b"POST /streams/rides/rows HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/csv\r\nContent-Length: 1000\r\n\r\nx,y"
        )
        slow.settimeout(60.0)
        assert slow.recv(4_096).startswith(b"HTTP/1.1 408 ")


@pytest.mark.parametrize("start", [b"", b"GET /hea", b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-More: "])
def test_headers_that_do_not_come_are_not_waited_for(service, start):
    with socket.create_connection((service.url.split(":")[1].strip("/"), int(service.url.rsplit(":", 1)[1]))) as slow:
        slow.sendall(start)
        slow.settimeout(60.0)
        assert slow.recv(4_096) == b""  # closed


def test_what_a_stream_cannot_keep_up_with_comes_again_later(tmp_path, monkeypatch):
    with running(settings_of(tmp_path, limits=Limits(queue_rows=600))) as service, client_of(service) as client:
        intake, gate = service.service.streams["rides"]._intake, threading.Event()
        taken = intake.taken
        monkeypatch.setattr(intake, "taken", lambda group: (gate.wait(60), taken(group))[1])
        with ThreadPoolExecutor(1) as pool:
            first = pool.submit(send, client, 0)
            while client.get("/streams/rides").json()["waiting_rows"] == 0:
                time.sleep(0.05)
            answer = send(client, 1)
            assert answer.status_code == 429
            assert answer.headers["Retry-After"] == "1"
            assert "500 rows wait" in answer.json()["error"]
            gate.set()
            assert first.result().status_code == 200
        assert send(client, 1).json()["rows"] == 500


def test_what_becomes_of_a_batch_that_nobody_waits_for_any_more_is_not_printed(tmp_path, monkeypatch, caplog):
    """Its error may quote rows, also of a stream that drops columns."""
    monkeypatch.setattr("supersample.live.http.rows._PATIENCE", 0.1)
    stream = StreamSettings("rides", {"time": "when", "every": "10s", "drop": ["who"]})
    with running(settings_of(tmp_path, stream)) as service, client_of(service) as client:
        stream, gate = service.service.streams["rides"], threading.Event()
        taken = stream._intake.taken
        monkeypatch.setattr(stream._intake, "taken", lambda group: (gate.wait(60), taken(group))[1])
        answer = post(client, b"person 7\n1\n")
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
        gate.set()
        while stream.waiting_rows:
            time.sleep(0.05)
        assert post(client, b"when,x\n").status_code == 422  # so the event loop has seen the error of the first one
        gc.collect()
        assert client.get("/health").status_code == 200
    assert not [record for record in caplog.records if record.name == "asyncio"]


@pytest.mark.parametrize("given", ["mine", None])
def test_where_no_process_decodes_rows_can_be_sent_again_under_the_id_of_the_answer(service, client, monkeypatch, given):
    def none(*_):
        raise UnavailableError("no process that decodes could be started")

    before, headers = client.get("/streams/rides").json()["rows"], {} if given is None else {"Batch_Id": given}
    media_type, body = body_of(rows(3, n=5))
    with monkeypatch.context() as patched:
        patched.setattr(service.service.decoders, "decode", none)
        answer = post(client, body, media_type, **headers)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    batch_id = answer.json()["batch_id"]
    assert batch_id == given or given is None
    repeated = [post(client, body, media_type, Batch_Id=batch_id).json()["repeated"] for _ in range(2)]
    assert repeated == [False, True]
    assert client.get("/streams/rides").json()["rows"] == before + 5


def test_numbers_of_text_are_floats_whatever_the_first_batch_holds(tmp_path):
    with running(settings_of(tmp_path)) as service, client_of(service) as client:
        first = b'{"when": "2026-03-02T00:00:00", "x": 1, "z": null}\n'
        assert post(client, first, "application/x-ndjson").status_code == 200
        assert post(client, b'{"when": "2026-03-02T00:00:01", "x": 1.5}\n', "application/x-ndjson").status_code == 200
        assert service.service.streams["rides"].schema().field("x").type == pa.float64()


def test_types_of_the_first_rows_hold_what_comes_later(tmp_path):
    """Fractions of a second after whole ones, and values in columns that had none."""
    with running(settings_of(tmp_path)) as service, client_of(service) as client:
        for body in (
            b'{"when": "2026-03-02T00:00:00", "x": null, "y": null, "z": null}\n',
            b'{"when": "2026-03-02T00:00:01.5", "x": 1, "y": "2026-03-02T00:00:00"}\n',
            b'{"when": "2026-03-02T00:00:01.123456", "x": 1.5, "y": "2026-03-02T00:00:00.5"}\n',
        ):
            assert post(client, body, "application/x-ndjson").json()["rows"] == 1
        assert post(client, b"when,x,y,z\n2026-03-02 00:00:02.25,,,\n2026-03-02 00:00:02.5,,,high\n").json()["rows"] == 2
        assert service.service.streams["rides"].schema().types == [
            pa.timestamp("us"),
            pa.float64(),
            pa.timestamp("us"),
            pa.string(),
        ]
        answer = post(client, b'{"when": "2026-03-02T00:00:03", "x": "many"}\n', "application/x-ndjson")
        assert "the columns have the types of the rows before, when (timestamp[us]), x (double)" in answer.json()["error"]
        assert client.get("/streams/rides").json()["rows"] == 5


@pytest.mark.parametrize("unit", ["s", "ms"])
def test_times_of_arrow_may_get_fractions(tmp_path, unit):
    with running(settings_of(tmp_path)) as service, client_of(service) as client:
        for kind, value in ((pa.timestamp(unit), 1), (pa.timestamp("us"), 1_250_000), (pa.timestamp("ns"), 1_500_000_000)):
            media_type, body = body_of(pa.table({"when": pa.array([value], kind), "x": [0.5]}))
            assert post(client, body, media_type).json()["rows"] == 1


def test_bytes_of_bodies_are_counted_and_let_go(service, client):
    rng = np.random.default_rng(0)
    for status in (413, 422, 200):
        body = {413: b"x" * 300_001, 422: rng.bytes(1_000), 200: body_of(rows(2, n=3), "csv")[1]}[status]
        assert post(client, body).status_code == status
    for _ in range(100):  # an answer may come a moment before the count
        if service.service.bodies._held == 0:
            break
        time.sleep(0.05)
    assert service.service.bodies._held == 0
