"""The OpenAPI description, made of the same registry as the routes."""

from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

from supersample.live.decoding.formats import ENCODINGS, MEDIA_TYPES
from supersample.live.http.endpoint import Endpoint

__all__ = ["described", "operation_id"]

_ERROR = {
    "type": "object", "required": ["error"], "additionalProperties": False,
    "properties": {
        "error": {"type": "string"},
        "batch_id": {"type": "string", "description": "Of rows: the Batch-Id under which to send them again"},
    },
}  # fmt: skip


#: The forms of a time, by whether the stream counts time by a clock: a date, or a date and a time, else a number.
_TIMES: Mapping[bool, Sequence[Mapping[str, str]]] = {
    True: ({"format": "date-time"}, {"format": "date"}), False: ({"pattern": r"^-?[0-9]{1,15}(\.[0-9]{1,15})?$"},),
}  # fmt: skip


def described(endpoints: Sequence[Endpoint], *, asks: bool, clocks: Iterable[bool]) -> dict[str, Any]:
    """Return the description of the end points. asks: whether the service asks for tokens. clocks: of each stream."""
    times = [form for clock in sorted(set(clocks), reverse=True) for form in _TIMES[clock]]
    paths: dict[str, dict[str, Any]] = {}
    for each in endpoints:
        paths.setdefault(each.path, {})[each.method.lower()] = _operation(each, times, asks=asks)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "supersample watch",
            "version": version("supersample"),
            "description": "Streams watched by a service: rows go in, verdicts and alarms come out. Times are ISO text in UTC, "
            "or numbers where a stream counts time so; noticed, closed, received and until are seconds since 1970.",
        },
        "paths": paths,
        "components": {
            "schemas": {"Error": _ERROR},
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "For reading, sending or administration"}
            },
        },
    }


def _operation(endpoint: Endpoint, times: Sequence[Mapping[str, str]], *, asks: bool) -> dict[str, Any]:
    wrong = {
        400: "The request cannot be understood", 403: "The request comes from another site, or by another name",
        500: "A fault of the service",
    }  # fmt: skip
    if endpoint.right != "open":
        wrong |= {401: "A token is needed", 403: "The token does not allow this, or the request comes from another site"}
    if endpoint.rows or endpoint.body is not None:
        wrong |= {408: "The body came too slowly", 413: "The body is too large"}
    found: dict[str, Any] = {
        "summary": endpoint.about,
        "operationId": operation_id(endpoint),
        "parameters": [
            {
                "name": each.name,
                "in": each.where,
                "required": each.required,
                "description": each.about,
                "schema": {**each.schema, "anyOf": times} if each.is_time else dict(each.schema),
            }
            for each in endpoint.parameters
        ],
        "responses": {
            "200": {"description": "Done", "content": _content(endpoint.gives)},
            **{
                str(status): _other(status, about, endpoint.others.get(status))
                for status, about in sorted((wrong | dict(endpoint.statuses)).items())
            },
        },
    }
    if endpoint.right != "open":
        if asks:
            found["security"] = [{"token": []}]
        found["x-right"] = endpoint.right
    if endpoint.rows:
        content: dict[str, Any] = {each: {"schema": {"type": "string", "format": "binary"}} for each in MEDIA_TYPES}
        row = {"type": "object", "minProperties": 1, "description": "A row; more of them, one a line"}
        content["application/json"] = {"schema": row}
        found["requestBody"] = {
            "required": True,
            "content": content,
            "description": f"Content-Encoding may be {' or '.join(ENCODINGS)}. A body must hold a row of its format, and a row "
            "of JSON or CSV a value: one that holds none, such as an empty one, is answered 422, as is any other whose rows "
            "cannot be used",
        }
    elif endpoint.body is not None:
        content = {endpoint.body.media_type: {"schema": dict(endpoint.body.schema)}}
        found["requestBody"] = {"required": bool(endpoint.body.schema.get("required")), "content": content}
    return found


def operation_id(endpoint: Endpoint) -> str:
    """Return the name of an end point, by which answers are counted."""
    return endpoint.handler.__name__.strip("_")


def _content(gives: Mapping[str, Any] | str) -> dict[str, Any]:
    if isinstance(gives, str):
        return {gives: {"schema": {"type": "string"}}}
    return {"application/json": {"schema": dict(gives)}}


def _other(status: int, about: str, gives: Mapping[str, Any] | str | None) -> dict[str, Any]:
    found: dict[str, Any] = {"description": about}
    if status >= 400:
        error = _content({"$ref": "#/components/schemas/Error"})
        if gives is None or isinstance(gives, str):
            found["content"] = error if gives is None else error | _content(gives)
        else:
            found["content"] = _content({"anyOf": [dict(gives), {"$ref": "#/components/schemas/Error"}]})
    return found
