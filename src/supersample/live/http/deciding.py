"""What people decide about alarms: somebody deals with it, it is the new normal, later."""

import asyncio
import time
from typing import Any

from starlette.responses import Response

from supersample.errors import InputError
from supersample.live.alarm_book import State
from supersample.live.http.endpoint import Asked, Body, Endpoint, NotFoundError, answer
from supersample.live.http.reading import NAME, NUMBER
from supersample.live.views import alarm_of

__all__ = ["ENDPOINTS"]

_WHO = {"by": {"type": "string", "maxLength": 200}, "note": {"type": "string", "maxLength": 2_000}}
_LONGEST = 30 * 24.0
_BODY = Body({"type": "object", "properties": _WHO, "additionalProperties": False})
_SNOOZE = Body(
    {
        "type": "object", "required": ["hours"], "additionalProperties": False,
        "properties": {**_WHO, "hours": {"type": "number", "exclusiveMinimum": 0, "maximum": _LONGEST}},
    }
)  # fmt: skip


async def _acknowledge(asked: Asked) -> Response:
    """Say that somebody deals with an alarm."""
    return await _decided(asked, "acknowledged", await asked.json({"by": str, "note": str}))


async def _normal(asked: Asked) -> Response:
    """Say that rows since the change are as they should be."""
    return await _decided(asked, "normal", await asked.json({"by": str, "note": str}))


async def _reopen(asked: Asked) -> Response:
    """Take back what was said."""
    return await _decided(asked, "open", await asked.json({"by": str, "note": str}))


async def _snooze(asked: Asked) -> Response:
    """Leave an alarm for later."""
    values = await asked.json({"by": str, "note": str, "hours": (int, float)})
    hours = values.pop("hours", 0)
    if not 0 < hours <= _LONGEST:
        raise InputError(f"the body must have hours, more than 0 and at most {_LONGEST:g}")
    return await _decided(asked, "snoozed", values, time.time() + 3600.0 * hours)


async def _decided(asked: Asked, state: State, values: dict[str, Any], until: float | None = None) -> Response:
    for name, most in (("by", 200), ("note", 2_000)):
        if len(values.get(name, "")) > most:
            raise InputError(f"the field {name!r} of the body may have at most {most:,} characters")
    stream, number = asked.stream, asked.values["number"]
    if alarm_of(stream, number) is None:
        raise NotFoundError("the stream has no alarm of that number")
    # In a thread, since the stream may be writing, and other requests must not wait for its disk.
    await asyncio.to_thread(stream.alarms.decide, number, state, until=until, **values)
    asked.service.hub.announce(stream.name)
    found = alarm_of(stream, number)
    assert found is not None
    return answer(found)


ENDPOINTS = tuple(
    Endpoint(
        "POST", f"/streams/{{name}}/alarms/{{number}}/{word}", "admin", handler, about, (NAME, NUMBER), body=body,
        statuses={404: "No such stream or alarm"},
    )
    for word, handler, about, body in (
        ("acknowledge", _acknowledge, "Somebody deals with it; the stream counts as changed until it is normal", _BODY),
        ("normal", _normal, "Rows since the change are as they should be: the stream is the same again", _BODY),
        ("snooze", _snooze, "Leave the alarm for some hours; then it is open again", _SNOOZE),
        ("reopen", _reopen, "Take back what was decided", _BODY),
    )
)  # fmt: skip
