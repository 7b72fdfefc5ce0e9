"""Requests that mean harm, or make no sense, put together at random: the answer is a refusal, never a fault."""

import gzip

from live_services import TOKENS

__all__ = ["EXPECTED", "request_of"]

#: What a request may be answered with; 0 is a connection that was closed without an answer.
EXPECTED = {0, 200, 303, 400, 401, 403, 404, 405, 408, 413, 414, 415, 422, 429, 431, 501, 503}
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
