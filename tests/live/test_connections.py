"""Connections: what does not come is not waited for, and those without a request leave room for others."""

import logging
import socket
from contextlib import ExitStack

import pytest

from live_services import client_of, running, settings_of
from supersample.live.settings import Limits


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    limits = Limits(seconds=0.5, connections=3)
    with running(settings_of(tmp_path_factory.mktemp("state"), limits=limits)) as found:
        yield found


@pytest.fixture
def connect(service):
    """Open a connection, send the start of a request."""
    port = int(service.url.rsplit(":", 1)[1])
    with ExitStack() as held:

        def start(first=b""):
            found = held.enter_context(socket.create_connection(("127.0.0.1", port), timeout=60.0))
            found.sendall(first)
            return found

        yield start


def post(path, body=b"", length=1_000):
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/csv\r\nContent-Length: {length}\r\n\r\n"
    return head.encode() + body


def answered(connection):
    """Return all that comes until the connection is closed."""
    found = b""
    try:
        while piece := connection.recv(65_536):
            found += piece
    except ConnectionResetError:
        pass
    return found


@pytest.mark.parametrize(
    "path", ["/login", "/streams/rides/alarms/1/normal", "/streams/rides/alarms/1/snooze", "/streams/rides/rows"]
)
def test_no_body_is_waited_for(connect, path):
    found = answered(connect(post(path, b"x")))
    assert found.startswith(b"HTTP/1.1 408 ")
    assert b"came too slowly" in found


def test_a_body_that_nobody_reads_is_not_waited_for_either(connect):
    slow = connect(post("/streams/none/nothing", b"x"))
    assert slow.recv(65_536).startswith(b"HTTP/1.1 404 ")
    slow.sendall(b"x")
    answered(slow)  # it ends


@pytest.mark.parametrize("path", ["/login", "/streams/rides/alarms/1/normal"])
def test_a_small_body_has_a_limit(service, path):
    with client_of(service) as client:
        answer = client.post(path, content=b"x" * 40_000)
        assert answer.status_code == 413
        assert "a body may have at most" in answer.json()["error"]


def chunked(method, path):
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/csv\r\nTransfer-Encoding: chunked\r\n\r\n"
    return head.encode()


@pytest.fixture(scope="module")
def unhurried(tmp_path_factory):
    """A service that does not give up a connection, however slow the test is."""
    with running(settings_of(tmp_path_factory.mktemp("unhurried"), limits=Limits(seconds=600.0))) as found:
        yield found


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/streams/rides/rows", 400),
        ("POST", "/streams/none/nothing", 404),
        ("GET", "/health", 200),
        ("GET", "/events", 200),
    ],
)
def test_what_is_no_http_is_answered_once_and_prints_nothing(unhurried, caplog, capfd, method, path, status, at_once):
    """It comes with the request, before the application answers, or behind it: without an answer, with one, in one."""
    bad = b"zzz\r\nabc"
    with socket.create_connection(("127.0.0.1", int(unhurried.url.rsplit(":", 1)[1])), timeout=60.0) as connection:
        connection.sendall(chunked(method, path) + (bad if at_once else b""))
        found = connection.recv(65_536) if not at_once and status != 400 else b""
        if not at_once:
            connection.sendall(bad)
        found += answered(connection)
    assert found.count(b"HTTP/1.1 ") == 1
    assert found.startswith(b"HTTP/1.1 400 " if at_once else f"HTTP/1.1 {status} ".encode())
    assert not [each for each in caplog.records if each.levelno >= logging.ERROR]
    assert capfd.readouterr().err == ""


def test_connections_without_a_request_leave_room(service, connect, monkeypatch):
    """Twice as many as there may be, none of which sends anything: the oldest are closed, and a request is answered."""
    monkeypatch.setattr(service._server.config.http, "seconds", 600.0)
    idle = [connect() for _ in range(6)]
    with client_of(service) as client:
        assert client.get("/health").status_code == 200
        assert all(answered(each) == b"" for each in idle[:4])
        assert client.get("/health").status_code == 200  # by the same connection
    assert len(service._server.server_state.connections) <= 3


def test_where_every_connection_has_a_request_another_one_is_told_so(service, connect, monkeypatch):
    monkeypatch.setattr(service._server.config.http, "seconds", 600.0)
    with ExitStack() as held:
        for _ in range(3):
            listener = held.enter_context(client_of(service))
            lines = held.enter_context(listener.stream("GET", "/events")).iter_lines()
            next(lines)
            held.callback(lines.close)
        with client_of(service) as client:
            answer = client.get("/health")
            assert (answer.status_code, "Retry-After" in answer.headers) == (503, False)
            assert answer.headers["Content-Type"].startswith("text/plain")
