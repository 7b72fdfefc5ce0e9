"""What is known of streams: status, ticks, alarms, ranges, profiles, prototypes, and what was set aside."""

import asyncio
from collections.abc import Callable
from typing import Any

from starlette.responses import Response

from supersample.live.batch import FullError
from supersample.live.http.endpoint import Asked, Endpoint, NotFoundError, Parameter, answer
from supersample.live.verdict import status_of
from supersample.live.views import alarm_of, alarms_of, comparison_of, profile_of, prototypes_of, ticks_of

__all__ = ["ENDPOINTS"]

NAME = Parameter("name", "The name of a stream", {"type": "string", "maxLength": 64}, "path", required=True)
NUMBER = Parameter(
    "number", "The number of an alarm, from 1 on", {"type": "integer", "minimum": 1, "maximum": 2**31}, "path", required=True
)
_TIME = {"type": "string", "maxLength": 64}
_START = Parameter("start", "From this time on, as ISO text in UTC, or as the stream counts time", _TIME, is_time=True)
_END = Parameter("end", "Before this time", _TIME, is_time=True)
_MISSING = {404: "No such stream"}
_COMPUTED = {**_MISSING, 429: "Too much is being computed"}
_SIDES = tuple(
    Parameter(
        f"{side}_{end}",
        f"The {end} of the {side} range; none means the {'first' if end == 'start' else 'last'} row",
        _TIME,
        is_time=True,
    )
    for side in ("first", "second")
    for end in ("start", "end")
)


async def _streams(asked: Asked) -> Response:
    """List all streams."""
    return answer({"streams": [status_of(each) for each in asked.service.streams.values()]})


async def _status(asked: Asked) -> Response:
    """Tell the verdict on a stream."""
    return answer(status_of(asked.stream))


async def _ticks(asked: Asked) -> Response:
    """Tell the evidence along time."""
    values = asked.values
    return await _read(
        asked, lambda: answer(ticks_of(asked.stream, values.get("start"), values.get("end"), values.get("limit", 2_000)))
    )


async def _alarms(asked: Asked) -> Response:
    """List the alarms."""
    return await _read(asked, lambda: answer(alarms_of(asked.stream)))


async def _alarm(asked: Asked) -> Response:
    """Tell everything of an alarm."""

    def found() -> Response:
        values = alarm_of(asked.stream, asked.values["number"])
        if values is None:
            raise NotFoundError("the stream has no alarm of that number")
        return answer(values)

    return await _read(asked, found)


async def _compare(asked: Asked) -> Response:
    """Compare two ranges."""
    return await _computed(asked, lambda: comparison_of(asked.stream, asked.values))


async def _profile(asked: Asked) -> Response:
    """Tell the statistics of the columns."""
    values = asked.values
    return await _computed(asked, lambda: profile_of(asked.stream, values.get("start"), values.get("end")))


async def _prototypes(asked: Asked) -> Response:
    """Tell the prototypes of now and of the reference."""
    return await _computed(asked, lambda: prototypes_of(asked.stream))


async def _aside(asked: Asked) -> Response:
    """List what was set aside."""
    return await _read(asked, lambda: answer({"batches": asked.stream.ledger.aside()}))


async def _content(asked: Asked) -> Response:
    """Give the first bytes of a batch that was set aside, as they came."""

    def found() -> Response:
        batches = asked.stream.ledger.aside(asked.values["number"])
        if not batches or batches[0]["content"] is None:
            raise NotFoundError("nothing is kept of that batch")
        headers = {"Content-Disposition": "attachment; filename=batch.bin", "Cache-Control": "no-store"}
        return Response(batches[0]["content"], 200, headers, "application/octet-stream")

    return await _read(asked, found)


async def _read(asked: Asked, work: Callable[[], Response]) -> Response:
    """Look up what may be long in a thread, since other requests must not wait for it."""
    return await asyncio.get_running_loop().run_in_executor(asked.service.reading, work)


async def _computed(asked: Asked, work: Callable[[], dict[str, Any]]) -> Response:
    """Do what takes a while, one thing at a time, so that rows come first; refuse it if too much waits already."""
    service = asked.service
    if service.computations.locked():
        raise FullError("too many comparisons, profiles and prototypes are asked for; ask again later", 5.0)
    async with service.computations:
        return await asyncio.get_running_loop().run_in_executor(service.computing, lambda: answer(work()))


ENDPOINTS = (
    Endpoint("GET", "/streams", "read", _streams, "All streams with their verdicts"),
    Endpoint(
        "GET", "/streams/{name}", "read", _status, "The verdict on a stream, and what it rests on", (NAME,), statuses=_MISSING
    ),
    Endpoint(
        "GET",
        "/streams/{name}/ticks",
        "read",
        _ticks,
        "Evidence, rows and late rows of the latest closed blocks of a range",
        (NAME, _START, _END, Parameter("limit", "Blocks at most", {"type": "integer", "minimum": 1, "maximum": 100_000})),
        statuses=_MISSING,
    ),
    Endpoint("GET", "/streams/{name}/alarms", "read", _alarms, "All alarms, the first one first", (NAME,), statuses=_MISSING),
    Endpoint(
        "GET",
        "/streams/{name}/alarms/{number}",
        "read",
        _alarm,
        "What changed, with rows of before and after",
        (NAME, NUMBER),
        statuses={404: "No such stream or alarm"},
    ),
    Endpoint(
        "GET",
        "/streams/{name}/compare",
        "read",
        _compare,
        "Compare two ranges",
        (
            NAME,
            *_SIDES,
            Parameter(
                "at_least", "The smallest difference that counts, as an MMD", {"type": "number", "minimum": 0, "maximum": 2}
            ),
        ),
        statuses=_COMPUTED,
    ),
    Endpoint(
        "GET",
        "/streams/{name}/profile",
        "read",
        _profile,
        "Statistics of all rows of a range",
        (NAME, _START, _END),
        statuses=_COMPUTED,
    ),
    Endpoint(
        "GET",
        "/streams/{name}/prototypes",
        "read",
        _prototypes,
        "Prototypes and criticisms of now, and of the rows before now",
        (NAME,),
        statuses=_COMPUTED,
    ),
    Endpoint(
        "GET",
        "/streams/{name}/set-aside",
        "read",
        _aside,
        "Batches that could not be used, and why",
        (NAME,),
        statuses=_MISSING,
    ),
    Endpoint(
        "GET",
        "/streams/{name}/set-aside/{number}",
        "read",
        _content,
        "The first 64 KiB of such a batch, as they came",
        (NAME, NUMBER),
        gives="application/octet-stream",
        statuses={404: "No such stream or batch, or nothing of it is kept"},
    ),
)
