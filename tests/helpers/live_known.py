"""Requests of which the right answer is known: what they ask for is refused for one reason, or is as it should be."""

import gzip
from collections.abc import Callable
from typing import NamedTuple

from live_answers import CLOSED, asked, check_sound, request
from live_rows import rows
from live_services import TOKENS, body_of

__all__ = ["KNOWN", "ROWS", "Known"]

#: Rows of a good batch, which is sent to a stream of its own.
ROWS = 20


class Known(NamedTuple):
    """A kind of request. ask: takes the address of the service and a number of its own, and fails if an answer is wrong."""

    name: str
    ask: Callable[[str, int], None]


def _with(token, **more):
    return {"Authorization": f"Bearer {token}", **{name.replace("_", "-"): value for name, value in more.items()}}


def _expect(status, *made, token="", also=lambda _: None, **how):
    """Return a function that asks, and checks the status of the answer."""

    def ask(url, number):
        method, path, *rest = made
        headers = (_with(token) if token else {}) | (rest[0] if rest else {})
        answer = asked(url, request(method, path, headers, *rest[1:]), **how)
        assert answer.status == status, (status, made[:2], answer)
        check_sound(answer)
        also(answer)

    return ask


def _says(**values):
    """Return a function that checks fields of an answer of JSON."""

    def check(answer):
        assert answer.json().items() >= values.items(), answer

    return check


def _challenged(answer):
    assert answer.headers["www-authenticate"] == "Bearer", answer


def _good(url, number):
    """Send a good batch, by turns at once and after `100 Continue`, and once more."""
    media_type, body = body_of(rows(number, n=ROWS))
    headers = _with(TOKENS["send"], Content_Type=media_type, Batch_Id=f"good-{number}")
    for repeated in (False, True):
        waits = number % 2 == 1 and not repeated
        sent = request("POST", "/streams/good/rows", headers | ({"Expect": "100-continue"} if waits else {}), body)
        answer = asked(url, sent, waits=waits)
        assert answer.status == 200, answer
        told = {"stream": "good", "batch_id": f"good-{number}", "rows": 0 if repeated else ROWS, "repeated": repeated}
        assert answer.json() == told, answer


def _slow_head(url, _):
    """Send the start of a request, and a byte now and then."""
    assert asked(url, b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: ", drip=0.2) == CLOSED


def _large_head(url, _):
    """Send headers without an end; the connection may be closed before the refusal is read."""
    answer = asked(url, request("GET", "/health", {"X": "y" * 300_000}))
    assert answer == CLOSED or answer.status in (400, 431), answer


def _listener(url, number):
    """Listen to events, and go away without a word."""
    answer = asked(url, request("GET", "/events", _with(TOKENS["read"])), reset=True)
    assert answer.status == 200, answer
    assert answer.headers["content-type"].startswith("text/event-stream"), answer


SEND, READ, ADMIN = (TOKENS[right] for right in ("send", "read", "admin"))
_ROWS, _CSV, _NDJSON = "/streams/rides/rows", {"Content-Type": "text/csv"}, {"Content-Type": "application/x-ndjson"}
_PARQUET, _GZIP = {"Content-Type": "application/vnd.apache.parquet"}, {"Content-Encoding": "gzip"}
_EVIL, _FOREIGN = "evil.example", {"Origin": "https://evil.example"}

KNOWN = (
    Known("a good batch, twice", _good),
    Known("no token", _expect(401, "GET", "/streams/rides", also=_challenged)),
    Known("no token, rows", _expect(401, "POST", _ROWS, _CSV, b"when,x\n2026-03-02,1\n", also=_challenged)),
    Known("a wrong token", _expect(401, "GET", "/metrics", token=READ[:-1], also=_challenged)),
    Known("a wrong token, rows", _expect(401, "POST", _ROWS, _CSV, b"when,x\n2026-03-02,1\n", token="x" * 40)),
    Known("rows by a reader", _expect(403, "POST", _ROWS, _CSV, b"when,x\n2026-03-02,1\n", token=READ)),
    Known("rows by an administrator", _expect(403, "POST", _ROWS, _CSV, b"when,x\n2026-03-02,1\n", token=ADMIN)),
    Known("results for a sender", _expect(403, "GET", "/streams/good", token=SEND)),
    Known("a decision by a reader", _expect(403, "POST", "/streams/good/alarms/1/normal", token=READ)),
    Known("another host", _expect(403, "GET", "/health", {}, b"", _EVIL)),
    Known("another site", _expect(403, "POST", _ROWS, {**_CSV, **_FOREIGN}, b"when,x\n2026-03-02,1\n", token=SEND)),
    Known("health", _expect(200, "GET", "/health", also=_says(status="ok"))),
    Known("no rows in a stream that got none", _expect(200, "GET", "/streams/rides", token=READ, also=_says(rows=0))),
    Known("no such stream", _expect(404, "GET", "/streams/none/ticks", token=READ)),
    Known("rows for no such stream", _expect(404, "POST", "/streams/none/rows", _CSV, b"x\n1\n", token=SEND)),
    Known("a script for a name", _expect(404, "GET", "/streams/%3Cscript%3E", token=READ)),
    Known("a way out of the folder", _expect(404, "GET", "/page/..%2f..%2fsettings.py")),
    Known("another method", _expect(405, "PUT", "/streams", token=READ)),
    Known("a number below those allowed", _expect(400, "GET", "/streams/good/ticks?limit=-1", token=READ)),
    Known("a bomb", _expect(413, "POST", _ROWS, _NDJSON | _GZIP, gzip.compress(b"\0" * 5_000_000, 9), token=SEND)),
    Known("a body too large", _expect(413, "POST", _ROWS, _CSV, b"x" * 30_000, token=SEND)),
    Known(
        "a body that says it is too large", _expect(413, "POST", _ROWS, _CSV, b"x", "localhost", 10**12, token=SEND, drip=0.2)
    ),
    Known("no format", _expect(415, "POST", _ROWS, {"Content-Type": "text/html"}, b"<b>", token=SEND)),
    Known("no encoding", _expect(415, "POST", _ROWS, _CSV | {"Content-Encoding": "br"}, b"x", token=SEND)),
    Known("rows that cannot be read", _expect(422, "POST", _ROWS, _PARQUET, b"PAR1" + b"\7" * 90 + b"PAR1", token=SEND)),
    Known("rows without the time", _expect(422, "POST", _ROWS, _CSV, b"x\n1\n", token=SEND)),
    Known("a slow body", _expect(408, "POST", _ROWS, _CSV, b"x", "localhost", 1_000, token=SEND, drip=0.2)),
    Known("slow headers", _slow_head),
    Known("headers that are too large", _large_head),
    Known("a listener that goes away", _listener),
)
