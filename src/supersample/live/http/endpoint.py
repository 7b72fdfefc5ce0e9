"""What an end point is: a route, the right that it needs, what it takes and gives. Routes and description come from this."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from starlette.requests import Request
from starlette.responses import Response

from supersample._plain import plain
from supersample._text import did_you_mean
from supersample.errors import InputError
from supersample.live.stream import Stream

if TYPE_CHECKING:
    from supersample.live.http.security import Guard
    from supersample.live.service import Service

__all__ = ["Asked", "Body", "BodyError", "Endpoint", "NotFoundError", "Parameter", "Right", "answer", "failure"]

#: What a caller may do: nothing special, read, send rows, or decide about alarms.
Right = Literal["open", "read", "send", "admin"]
#: Bytes of a body of JSON, which hold 2,200 characters that are escaped twelve bytes each, and those for which a slow sender
#: gets another second.
_SMALL, _SLOWEST = 32_768, 64 << 10


class NotFoundError(LookupError):
    """What was asked for is not there."""


class BodyError(Exception):
    """A body is not read to its end. status: that of HTTP, 413 if it is too large, 408 if it comes too slowly."""

    def __init__(self, status: int, reason: str) -> None:
        """Keep the status."""
        super().__init__(reason)
        self.status = status


@dataclass(frozen=True)
class Parameter:
    """A parameter in the path or the query. schema: of JSON Schema, with a `type`.

    is_time: whether it is a time of a stream; the description adds in which form the streams of the service count time.
    """

    name: str
    about: str
    schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "string"})
    where: Literal["path", "query", "header"] = "query"
    required: bool = False
    is_time: bool = False

    def value(self, text: str) -> Any:
        """Return the value that a text stands for; refuse one that the schema does not allow."""
        kind = self.schema.get("type")
        try:
            found: Any = int(text) if kind == "integer" else float(text) if kind == "number" else text
        except ValueError:
            raise InputError(f"{self.name} must be {_an(kind)}, got {text[:80]!r}") from None
        low, high = self.schema.get("minimum"), self.schema.get("maximum")
        if kind in ("integer", "number") and not ((low is None or found >= low) and (high is None or found <= high)):
            raise InputError(f"{self.name} must be {_an(kind)} from {low} to {high}, got {text[:80]!r}")
        if kind == "string" and not self.schema.get("minLength", 0) <= len(found) <= self.schema.get("maxLength", 1_000):
            raise InputError(f"{self.name} must be a text of at most {self.schema.get('maxLength', 1_000)} characters")
        return found


@dataclass(frozen=True)
class Body:
    """A body that is no form of rows: its media type and its schema."""

    schema: Mapping[str, Any]
    media_type: str = "application/json"


@dataclass(frozen=True)
class Endpoint:
    """A line of the registry.

    gives: a schema of JSON, or a media type other than JSON. statuses: those beside 200, and why. others: by status, what an
    answer beside 200 may hold instead of an error: a schema of JSON, or a media type.
    """

    method: Literal["GET", "POST"]
    path: str
    right: Right
    handler: "Callable[[Asked], Awaitable[Response]]"
    about: str
    parameters: tuple[Parameter, ...] = ()
    body: Body | None = None
    rows: bool = False
    gives: Mapping[str, Any] | str = field(default_factory=lambda: {"type": "object"})
    statuses: Mapping[int, str] = field(default_factory=dict)
    others: Mapping[int, Mapping[str, Any] | str] = field(default_factory=dict)


@dataclass(frozen=True)
class Asked:
    """A request that may be answered: who asks was checked, and its parameters are of their types."""

    service: "Service"
    request: Request
    values: Mapping[str, Any]
    rights: frozenset[Right]
    guard: "Guard"

    @property
    def stream(self) -> Stream:
        """The stream that the path names."""
        found = self.service.streams.get(self.values["name"])
        if found is None:
            raise NotFoundError("there is no stream of that name; /streams lists them")
        return found

    async def body(self, most: int, came: Callable[[int], None] = lambda _: None) -> bytearray:
        """Return the body, at most so many bytes; raise BodyError if there are more, or if they come too slowly.

        came: told of bytes before they are held.
        """
        too_large = BodyError(413, f"a body may have at most {most:,} bytes here; send a smaller one")
        declared, seconds = self.request.headers.get("content-length", ""), self.service.settings.limits.seconds
        if declared.isdecimal() and int(declared) > most:
            raise too_large
        body, loop = bytearray(), asyncio.get_running_loop()
        try:
            async with asyncio.timeout(seconds) as deadline:
                start = loop.time()
                async for piece in self.request.stream():
                    if len(body) + len(piece) > most:
                        raise too_large
                    came(len(piece))
                    body += piece
                    deadline.reschedule(start + seconds + len(body) / _SLOWEST)
        except TimeoutError:
            raise BodyError(408, "the body came too slowly; send it again, or a smaller one") from None
        return body

    async def json(self, known: Mapping[str, type | tuple[type, ...]]) -> dict[str, Any]:
        """Return a small body of JSON, whose fields and types are known; none means no fields."""
        body = await self.body(_SMALL)
        try:
            values = json.loads(body) if body else {}
            json.dumps(values, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise InputError("the body must hold whole characters, and has one half of a surrogate pair") from None
        except (ValueError, RecursionError) as error:
            raise InputError(f"the body must be a JSON object: {error}") from error
        if not isinstance(values, dict):
            raise InputError("the body must be a JSON object")
        for name, value in values.items():
            if name not in known:
                raise InputError(f"the body has no field {name[:80]!r}{did_you_mean(name, list(known))}")
            if not isinstance(value, known[name]) or (isinstance(value, bool) and bool not in _types(known[name])):
                raise InputError(f"the field {name!r} of the body is of another type")
        return values


def answer(value: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return an answer of JSON."""
    text = json.dumps(plain(value), ensure_ascii=False, allow_nan=False)
    body = text.encode(errors="replace")
    return Response(body, status, {"Cache-Control": "no-store", **(headers or {})}, media_type="application/json")


def failure(
    status: int, reason: str, headers: Mapping[str, str] | None = None, more: Mapping[str, str] | None = None
) -> Response:  # fmt: skip
    """Return an answer that says why something was not done. more: what else it tells."""
    return answer({"error": " ".join(reason.split()), **(more or {})}, status, headers)


def _types(kind: type | tuple[type, ...]) -> tuple[type, ...]:
    return kind if isinstance(kind, tuple) else (kind,)


def _an(kind: Any) -> str:
    return {"integer": "a whole number", "number": "a number"}.get(str(kind), "a text")
