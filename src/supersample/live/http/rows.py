"""Rows by POST: the body is read within its limits, decoded elsewhere, and acknowledged once it is durable."""

import asyncio
import secrets
from contextlib import suppress
from functools import partial
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.responses import Response

from supersample.live.batch import Batch, FullError, RefusedError, Taken, UnavailableError, Unread
from supersample.live.decoding import DecodingError
from supersample.live.decoding.formats import ENCODINGS, FORMATS, MEDIA_TYPES
from supersample.live.http.endpoint import Asked, BodyError, Endpoint, Parameter, answer, failure

__all__ = ["ENDPOINTS"]

#: Seconds until a batch that waits for a full disk is answered; it may be sent again then.
_PATIENCE = 60.0
#: Seconds and bytes for which a body that is too large is read on.
_LISTENS, _HEARD = 2.0, 64 << 20
_NAME = Parameter("name", "The name of a stream", {"type": "string", "maxLength": 64}, "path", required=True)
_BATCH_ID = Parameter(
    "Batch-Id", "Names these rows; sent again under the same name, they are acknowledged and not counted",
    {"type": "string", "minLength": 1, "maxLength": 200}, "header",
)  # fmt: skip


async def _rows(asked: Asked) -> Response:
    """Take in the rows of a body."""
    stream, service, headers = asked.stream, asked.service, asked.request.headers
    media_type = headers.get("content-type", "").split(";")[0].strip().lower()
    encoding = headers.get("content-encoding", "").strip().lower().replace("identity", "")
    if media_type not in MEDIA_TYPES:
        return failure(415, f"Content-Type must be one of {', '.join(MEDIA_TYPES)}, got {media_type[:80]!r}")
    if encoding and encoding not in ENCODINGS:
        return failure(415, f"Content-Encoding must be one of {', '.join(ENCODINGS)}, got {encoding[:80]!r}")
    batch_id = asked.values.get("Batch-Id") or secrets.token_hex(12)
    again = {"batch_id": batch_id}  # who has given no id needs it to send the same rows once more
    try:
        body = await _read(asked)
    except BodyError as error:
        if error.status == 413:
            await _discarded(asked)
        raise
    except FullError as error:
        return failure(429, str(error), {**_later(error.retry_after), "Connection": "close"}, again)
    try:
        form = MEDIA_TYPES[media_type]
        given = await _decoded(asked, body, form, encoding, batch_id)
        taken = await _durable(asked, given)
    except FullError as error:
        return failure(429, str(error), _later(error.retry_after), again)
    except (UnavailableError, TimeoutError) as error:
        reason = str(error) or "the stream cannot write at the moment; send the batch again with the same id"
        return failure(503, reason, _later(5.0), again)
    except asyncio.CancelledError:  # the service ends; the rows may be durable or not
        return failure(503, "the service is being closed; send the batch again later, with the same id", _later(5.0), again)
    except DecodingError as error:
        return failure(413, str(error))
    except RefusedError as error:
        return failure(422, f"the batch was set aside: {error}", None, again)
    finally:
        service.bodies.left(len(body))
    return answer({"stream": stream.name, "batch_id": batch_id, "rows": taken.rows, "repeated": taken.repeated})


def _later(seconds: float) -> dict[str, str]:
    return {"Retry-After": f"{seconds:.0f}"}


async def _read(asked: Asked) -> bytearray:
    """Return the body as it comes; it counts among all bodies that are held until `left`."""
    bodies, held = asked.service.bodies, 0

    def came(size: int) -> None:
        nonlocal held
        bodies.came(size)
        held += size

    try:
        return await asked.body(asked.service.settings.limits.body, came)
    except BaseException:
        bodies.left(held)
        raise


async def _discarded(asked: Asked) -> None:
    """Read on for a while, and keep nothing: who is still sending does not see the answer if the connection is closed."""
    size = 0
    with suppress(TimeoutError, ClientDisconnect, RuntimeError):  # the last: all of it came
        async with asyncio.timeout(_LISTENS):
            async for piece in asked.request.stream():
                size += len(piece)
                if size > _HEARD:
                    return


async def _decoded(asked: Asked, body: bytearray, form: str, encoding: str, batch_id: str) -> Batch | Unread:
    """Return the rows of a body, or why it cannot be read."""
    stream, text = asked.stream, FORMATS[form].text
    work = partial(asked.service.decoders.decode, body, form, encoding, stream.schema() if text else None)
    try:
        table = await asyncio.get_running_loop().run_in_executor(asked.service.decoding, work)
    except DecodingError as error:
        if error.over:
            raise
        return Unread(batch_id, str(error), bytes(body), plain=error.plain)
    return Batch(batch_id, table, filled=text)


async def _durable(asked: Asked, given: Any) -> Taken:
    """Return what became of a batch; raise TimeoutError if that takes long, while it stays on its way."""
    future = asyncio.wrap_future(asked.stream.take(given))
    future.add_done_callback(_looked_at)
    done, _ = await asyncio.wait({future}, timeout=_PATIENCE)
    if not done:
        raise TimeoutError
    return future.result()


def _looked_at(future: "asyncio.Future[Taken]") -> None:
    """Look at the error of a batch that nobody waits for any more; asyncio would print it, with values of its rows."""
    if not future.cancelled():
        future.exception()


ENDPOINTS = (
    Endpoint(
        "POST", "/streams/{name}/rows", "send", _rows, "Send rows; the answer comes once they are durable",
        (_NAME, _BATCH_ID), rows=True,
        gives={
            "type": "object", "required": ["stream", "batch_id", "rows", "repeated"],
            "properties": {
                "stream": {"type": "string"}, "batch_id": {"type": "string"}, "rows": {"type": "integer"},
                "repeated": {"type": "boolean"},
            },
        },
        statuses={
            404: "No such stream",
            413: "The body is too large, as it comes or once it is decoded, or takes too long to decode; nothing of it is kept",
            415: "No such format",
            422: "The rows cannot be used; the batch was set aside with the reason", 429: "The stream cannot keep up",
            503: "The stream cannot write at the moment",
        },
    ),
)  # fmt: skip
