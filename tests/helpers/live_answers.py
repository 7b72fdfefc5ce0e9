"""Requests as bytes, and their answers: read past `100 Continue`, to their end, and looked at for what no answer may hold."""

import json
import socket
import struct
import sys
import time
from typing import NamedTuple
from urllib.parse import urlsplit

from live_services import TOKENS

__all__ = ["CLOSED", "Answer", "asked", "check_sound", "request"]

#: Seconds until a service that does not answer is at fault.
_PATIENCE = 60.0
#: What makes closing a connection break it off; two integers, of the size that the system has.
_RESET = struct.pack("hh" if sys.platform == "win32" else "ii", 1, 0)
#: What uvicorn says by itself, where a request is none.
_OWN = (b"Invalid HTTP request received.", b"Service Unavailable")


class Answer(NamedTuple):
    """An answer; status 0 means that the connection was closed without one."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self):
        """Return the values of the body."""
        return json.loads(self.body)


CLOSED = Answer(0, {}, b"")


def request(method, path, headers=None, body=b"", host="localhost", length=None):
    """Return the bytes of a request on a connection of its own."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    if body or length is not None or method == "POST":
        lines.append(f"Content-Length: {len(body) if length is None else length}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def asked(url, sent, *, drip=0.0, reset=False, waits=False):
    """Send a request on a connection of its own, and return its answer.

    drip: seconds between single bytes that follow until there is an answer. reset: whether to break the connection off once the
    first bytes of an answer are there. waits: whether the body is sent only after `100 Continue`.
    """
    parts = urlsplit(url)
    head, whole, body = sent.partition(b"\r\n\r\n")
    says = f"Content-Length: {len(body)}\r\n".encode() in head + b"\r\n" or b"Content-Length" not in head
    with socket.create_connection((parts.hostname, parts.port), timeout=_PATIENCE) as found:
        try:
            found.sendall(head + b"\r\n\r\n" if waits else sent)
            if waits:
                assert found.recv(65_536).startswith(b"HTTP/1.1 100 ")
                found.sendall(body)
            elif drip:
                return _dripped(found, drip)
            elif not (whole and says) or b"chunked" in head:
                found.shutdown(socket.SHUT_WR)  # the service would wait for more
            answer = _read(found, whole=not reset)
        except (ConnectionError, BrokenPipeError):
            return CLOSED
        if reset:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        return answer


def _dripped(found, seconds):
    """Return the answer that comes while single bytes are sent."""
    end = time.monotonic() + _PATIENCE
    found.settimeout(seconds)
    while True:
        assert time.monotonic() < end, "the service waits for ever"
        try:
            return _read(found)
        except TimeoutError:
            found.sendall(b"x")


def _read(found, *, whole=True):
    """Read an answer: as long as its headers say, or to the end of the connection; without `whole` only its beginning."""
    data = b""
    while True:
        head, apart, body = data.partition(b"\r\n\r\n")
        if apart and head.startswith(b"HTTP/1.1 100"):
            data = body
            continue
        if apart:
            fields = dict(line.split(": ", 1) for line in head.decode("latin-1").split("\r\n")[1:])
            headers = {name.lower(): value for name, value in fields.items()}
            length = headers.get("content-length")
            chunked = headers.get("transfer-encoding") == "chunked" and body.endswith(b"\r\n0\r\n\r\n")
            if chunked or (length is not None and len(body) >= int(length)) or (body and not whole):
                return Answer(int(head[9:12]), headers, body)
        piece = found.recv(65_536)
        if not piece:
            assert data[:5] in (b"", b"HTTP/"), data[:100]
            return Answer(int(head[9:12]), headers if apart else {}, body) if data else CLOSED
        data += piece


def check_sound(answer):
    """Fail where an answer holds what none may: a secret, a fault of the program, an error in no form that is described."""
    text = answer.body.decode(errors="replace")
    assert not any(token in text for token in TOKENS.values()), text[:500]
    assert "Traceback" not in text, text[:2_000]
    assert "root:" not in text, text[:500]
    assert "server" not in answer.headers, answer.headers
    if answer.status < 400 or any(each in answer.body for each in _OWN):
        return
    assert "default-src 'none'" in answer.headers["content-security-policy"], answer
    if answer.headers["content-type"].startswith("text/html"):
        assert answer.status == 403, answer  # of the form by which one logs in
        assert "<script>" not in text, text[:500]
        return
    values = answer.json()
    assert isinstance(values["error"], str), answer
    assert set(values) <= {"error", "batch_id"}, answer
