"""The page at `/`, the same for everybody and without anything of the data, and the files that it loads."""

import functools
import hashlib
from collections.abc import Mapping
from importlib.resources import files
from typing import NamedTuple

from starlette.responses import Response

from supersample.live.http.endpoint import Asked, Endpoint, NotFoundError, Parameter, answer
from supersample.report.palette import css_variables

__all__ = ["ENDPOINTS", "shell"]

_SCRIPTS = (
    "alarms.js", "along.js", "charts.js", "columns.js", "compare.js", "dom.js", "login.js", "main.js", "overview.js",
    "service.js", "stream.js", "tables.js", "words.js",
)  # fmt: skip
_WRONG = '<p role="alert" id="wrong">'


class _File(NamedTuple):
    content: bytes
    media_type: str
    tag: str


async def _session(asked: Asked) -> Response:
    """Tell what the caller may do, so that the page shows no more than that."""
    return answer({"rights": sorted(asked.rights - {"open"}), "login": asked.guard.asks})


async def _file(asked: Asked) -> Response:
    """Give a file of the page. The name is looked up in a table, and never names a file of the system."""
    found = _files().get(asked.values["file"])
    if found is None:
        raise NotFoundError("the page has no such file")
    headers = {"ETag": found.tag, "Cache-Control": "no-cache"}
    if asked.request.headers.get("if-none-match") == found.tag:
        return Response(status_code=304, headers=headers)
    return Response(found.content, headers=headers, media_type=found.media_type)


def shell(*, wrong: bool = False) -> str:
    """Return the page without anything in it; its script asks for the user's rights. wrong: an invalid token was given."""
    text = _own("page.html").decode()
    return text.replace(f"{_WRONG}</p>", f"{_WRONG}That is no token for reading.</p>") if wrong else text


@functools.cache
def _files() -> Mapping[str, _File]:
    """Return the files that the page loads, by name."""
    found = {name: _of(_own(name), "text/javascript") for name in _SCRIPTS}
    return found | {"style.css": _of(_style().encode(), "text/css"), "icon.svg": _of(_own("icon.svg"), "image/svg+xml")}


def _style() -> str:
    """Return the style: the colours and the styles of the written pages, then what only this page has."""
    written = files("supersample.report") / "templates"
    light, dark = css_variables(dark=False), css_variables(dark=True)
    return "\n".join(
        [
            f":root {{ color-scheme: light; {light} }}",
            f"@media screen and (prefers-color-scheme: dark) {{ :root {{ color-scheme: dark; {dark} }} }}",
            *((written / name).read_text(encoding="utf-8") for name in ("style.css", "timeline.css")),
            _own("live.css").decode(),
        ]
    )


def _own(name: str) -> bytes:
    return (files("supersample.live") / "page" / name).read_bytes()


def _of(content: bytes, media_type: str) -> _File:
    return _File(content, media_type, f'"{hashlib.sha256(content).hexdigest()[:32]}"')


_NAME = Parameter("file", "The name of a file of the page", {"type": "string", "maxLength": 64}, "path", required=True)

ENDPOINTS = (
    Endpoint(
        "GET",
        "/session",
        "open",
        _session,
        "What the caller may do, and whether the service asks for tokens",
        gives={
            "type": "object",
            "required": ["rights", "login"],
            "properties": {"rights": {"type": "array", "items": {"type": "string"}}, "login": {"type": "boolean"}},
        },
    ),
    Endpoint(
        "GET", "/page/{file}", "open", _file, "A script or the style of the page", (_NAME,), gives="*/*",
        statuses={304: "The caller has it already", 404: "No such file"},
    ),
)  # fmt: skip
