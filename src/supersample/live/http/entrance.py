"""Every path but those of rows and results: health, metrics, events, the API description, login, and the page."""

import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any
from urllib.parse import parse_qs

from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse

from supersample._plain import plain
from supersample.errors import InputError
from supersample.live.http import page
from supersample.live.http.endpoint import Asked, Body, Endpoint, answer
from supersample.live.http.security import COOKIE
from supersample.live.verdict import status_of

__all__ = ["ENDPOINTS"]

#: Bytes of the form by which one logs in.
_FORM = 2_048
_HTML = "text/html"


async def _health(_: Asked) -> Response:
    """Tell that the process answers."""
    return answer({"status": "ok"})


async def _ready(asked: Asked) -> Response:
    """Tell whether every stream takes rows in; what keeps it from that is said to those who may read."""
    trouble = asked.service.ready()
    told = {"streams": trouble} if trouble and "read" in asked.rights else {}
    return answer({"status": "not ready" if trouble else "ready", **told}, 503 if trouble else 200)


async def _metrics(asked: Asked) -> Response:
    """Give the metrics to Prometheus."""
    body, media_type = asked.service.metrics.text()
    return Response(body, headers={"Content-Type": media_type, "Cache-Control": "no-store"})


async def _openapi(asked: Asked) -> Response:
    """Describe the end points."""
    return answer(asked.request.app.state.description)


async def _events(asked: Asked) -> Response:
    """Send the status of streams that have changed, for as long as somebody listens."""
    streams = asked.service.streams
    news = asked.service.hub.listen(set(streams))
    first = await anext(news, None)  # once started it ends by itself, also where no listener is left

    async def lines() -> AsyncIterator[bytes]:
        names = first
        try:
            async with aclosing(news):
                while names is not None:
                    # No name is a sign of life. A slow listener may take long for each, so the right is looked at again.
                    for name in sorted(names) or [""]:
                        if "read" not in asked.guard.rights(asked.request):  # the session is over
                            return
                        yield _event("status", status_of(streams[name])) if name else b": still here\n\n"
                    names = await anext(news, None)
        except Exception as error:  # the answer is under way: it can only be ended
            asked.service.fault("events", error)

    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(lines(), media_type="text/event-stream", headers=headers)


def _event(kind: str, value: dict[str, Any]) -> bytes:
    return f"event: {kind}\ndata: {json.dumps(plain(value), ensure_ascii=False, allow_nan=False)}\n\n".encode(errors="replace")


async def _login(asked: Asked) -> Response:
    """Begin a session of the page."""
    body = await asked.body(_FORM)
    try:
        token = parse_qs(body.decode("ascii", errors="replace"), max_num_fields=4).get("token", [""])[0]
    except ValueError as error:
        raise InputError("the form must have the field token, and has too many fields") from error
    session = asked.guard.log_in(token)
    if session is None:
        return HTMLResponse(page.shell(wrong=True), 403, {"Cache-Control": "no-store"})
    found = RedirectResponse("/", 303)
    found.set_cookie(COOKIE, session, httponly=True, samesite="strict", secure=asked.guard.secure, path="/")
    return found


async def _logout(asked: Asked) -> Response:
    """End the session of the page."""
    asked.guard.log_out(asked.request)
    found = RedirectResponse("/", 303)
    found.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict", secure=asked.guard.secure)
    return found


async def _page(_: Asked) -> Response:
    """Show the page; without its script it has nothing of the data, so that everybody may have it."""
    return HTMLResponse(page.shell(), headers={"Cache-Control": "no-store"})


_TOKEN = Body(
    {"type": "object", "required": ["token"], "properties": {"token": {"type": "string"}}, "additionalProperties": False},
    "application/x-www-form-urlencoded",
)

_READY = {
    "type": "object", "required": ["status"], "additionalProperties": False,
    "properties": {
        "status": {"type": "string", "enum": ["ready", "not ready"]},
        "streams": {"type": "object", "additionalProperties": {"type": "string"}},
    },
}  # fmt: skip

ENDPOINTS = (
    Endpoint("GET", "/", "open", _page, "The page, which asks for a token if the service does", gives=_HTML),
    Endpoint(
        "POST",
        "/login",
        "open",
        _login,
        "Begin a session of the page",
        body=_TOKEN,
        gives=_HTML,
        statuses={303: "Logged in", 403: "No such token, or the request comes from another site, or by another name"},
        others={403: _HTML},
    ),
    Endpoint("POST", "/logout", "open", _logout, "End the session of the page", gives=_HTML, statuses={303: "Logged out"}),
    Endpoint("GET", "/health", "open", _health, "Whether the process answers"),
    Endpoint(
        "GET",
        "/ready",
        "open",
        _ready,
        "Whether every stream takes rows in",
        gives=_READY,
        statuses={503: "A stream does not"},
        others={503: _READY},
    ),
    Endpoint("GET", "/metrics", "read", _metrics, "Metrics for Prometheus", gives="text/plain"),
    Endpoint("GET", "/openapi.json", "open", _openapi, "This description"),
    Endpoint(
        "GET",
        "/events",
        "read",
        _events,
        "Server-sent events: the status of each stream, whenever it changes",
        gives="text/event-stream",
        statuses={429: "Too many listeners"},
    ),
)
