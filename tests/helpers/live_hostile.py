"""Requests that mean harm, or make no sense: what a service answers to them is a refusal, never a fault."""

import argparse
import gzip
import json
import socket
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from live_services import TOKENS, client_of, running, settings_of
from supersample.live.settings import Limits

__all__ = ["attack"]

#: What a request may be answered with; an empty answer is a closed connection.
EXPECTED = {100, 200, 303, 400, 401, 403, 404, 405, 408, 413, 414, 415, 422, 429, 431, 501, 503}
_PATHS = (
    "/", "/streams", "/streams/rides", "/streams/rides/rows", "/streams/rides/ticks?limit=-1",
    "/streams/rides/compare?first_start=%00",
    "/streams/rides/alarms/1/normal", "/streams/../../etc/passwd", "/streams/%2e%2e%2fetc", "/streams/" + "x" * 3_000, "/login",
    "/metrics", "/streams/rides/set-aside/99999999999999999999", "//", "/%ff%fe", "/streams/rides/profile?start=9999999-01-01",
    "http://evil.example/streams", "*", "/streams/rides/ticks?" + "&".join(f"a{each}=1" for each in range(300)), "",
)  # fmt: skip
_KINDS = (
    "application/x-ndjson", "text/csv", "application/vnd.apache.arrow.stream", "application/vnd.apache.parquet", "text/html",
    "", "x" * 500,
)  # fmt: skip


def body_of(rng):
    """Return a body: a bomb, a broken encoding, noise, or next to nothing."""
    bomb = (
        b"[" * int(rng.integers(1, 3_000)),
        b'{"a":' * 500,
        b"\0" * 5_000,
        b"a,a\n1,2\n",
        b'{"x": "\xff"}\n',
        b"",
        b"x" * 30_000,
    )
    kind = int(rng.integers(0, 4))
    chosen = bomb[int(rng.integers(0, len(bomb)))]
    packed = gzip.compress(b"\0" * int(rng.integers(1, 3_000_000)), 1)
    return (chosen, packed, rng.bytes(int(rng.integers(0, 2_000))), b"PAR1" + rng.bytes(200) + b"PAR1")[kind]


def request_of(rng):
    """Return the bytes of a request."""

    def choose(*values):
        return values[int(rng.integers(0, len(values)))]

    body, token = body_of(rng), choose("", "wrong", "x" * 5_000, TOKENS["read"], TOKENS["send"], TOKENS["admin"], "\xff")
    methods = "GET", "POST", "POST", "PUT", "DELETE", "BREW", "get", "G ET"
    first = f"{choose(*methods)} {choose(*_PATHS)} HTTP/{choose('1.1', '1.0', '9.9', 'x')}"
    lines = [
        first,
        f"Host: {choose('localhost', 'localhost', 'localhost', 'evil.example', '')}",
        f"Content-Type: {choose(*_KINDS)}",
        f"Content-Length: {choose(len(body), len(body), len(body), 10**12, -1, 'many')}",
        "Connection: close",
    ]
    if rng.random() < 0.5:  # everything is right but the body
        lines[:2] = ["POST /streams/rides/rows HTTP/1.1", "Host: localhost"]
        lines[3], token = f"Content-Length: {len(body)}", TOKENS["send"]
    more = (
        f"Authorization: Bearer {token}",
        f"Content-Encoding: {choose('gzip', 'zstd', 'br', 'gzip, gzip')}",
        "X: " + "y" * 40_000,
        f"Cookie: supersample_session={'z' * 100}",
        "Origin: https://evil.example",
        "Transfer-Encoding: chunked",
        "Batch-Id: \x01",
        "Expect: 100-continue",
        "Upgrade: websocket",
        f"Batch-Id: {'b' * 300}",
        "no colon",
    )
    lines += [each for each in more[:1] if rng.random() < 0.8] + [each for each in more[1:] if rng.random() < 0.1]
    whole = "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body
    return whole[: int(rng.integers(1, len(whole)))] if rng.random() < 0.1 else whole


def status_of(url, request):
    """Send a request, and return the status of its answer; 0 if the connection was closed without one."""
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port), timeout=60.0) as found:
        try:
            found.sendall(request)
            head, _, body = request.partition(b"\r\n\r\n")
            if f"Content-Length: {len(body)}\r\n".encode() not in head or b"chunked" in head:
                found.shutdown(socket.SHUT_WR)  # the service would wait for more
            answer = found.recv(65_536)
        except (ConnectionError, BrokenPipeError):
            return 0
    assert answer[:5] in (b"", b"HTTP/"), answer[:100]
    return int(answer[9:12]) if answer else 0


def attack(folder, count, seed=0):
    """Send so many requests to a service; return how often each status came, after checking that all is as before."""
    rng = np.random.default_rng(seed)
    limits = Limits(body=20_000, decoded=1 << 20, seconds=2.0)
    found = {}
    with running(settings_of(Path(folder), tokens=TOKENS, limits=limits)) as service:
        for _ in range(count):
            request = request_of(rng)
            status = status_of(service.url, request)
            assert status in EXPECTED or status == 0, (status, request[:500])
            found[status] = found.get(status, 0) + 1
        with client_of(service, TOKENS["read"]) as client:
            assert client.get("/health").json() == {"status": "ok"}
            assert client.get("/ready").json() == {"status": "ready"}
            assert client.get("/streams/rides").json()["rows"] == 0
        for _ in range(200):  # what was cut off is noticed a moment later
            if service.service.bodies._held == 0:
                break
            time.sleep(0.05)
        assert service.service.bodies._held == 0, service.service.bodies._held
        assert service.service.streams["rides"].waiting_rows == 0
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        print(json.dumps(attack(place, asked.requests, asked.seed), sort_keys=True))  # noqa: T201
