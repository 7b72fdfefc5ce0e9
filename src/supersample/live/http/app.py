"""The web application: every request is checked, its parameters are read, and every error is answered in one form."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from supersample._durations import is_duration
from supersample.errors import InputError, SupersampleError
from supersample.live.batch import FullError
from supersample.live.http.description import described, operation_id
from supersample.live.http.endpoint import Asked, BodyError, Endpoint, NotFoundError, failure
from supersample.live.http.registry import ENDPOINTS
from supersample.live.http.security import Guard

if TYPE_CHECKING:
    from supersample.live.service import Service

__all__ = ["application"]

#: Nothing but the service's own scripts and styles runs, and nothing is loaded from elsewhere.
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    # Not "no-referrer": then the Origin of a form of our own page would be "null".
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


def application(service: "Service") -> Starlette:
    """Return the web application of a service."""
    guard = Guard(service.settings.server)
    routes = [
        Route(each.path, _handler(each, service, guard), methods=[each.method], name=operation_id(each)) for each in ENDPOINTS
    ]
    for route, each in zip(routes, ENDPOINTS, strict=True):
        route.methods = {each.method}  # no HEAD, which would listen to events for ever
    for each in ENDPOINTS:  # what is alerted on is shown from 0 on: a counter that appears as 1 looks as if it had not grown
        for status in (413, 500) if each.rows else (500,):
            service.metrics.expect(operation_id(each), status)
    app = Starlette(routes=routes, exception_handlers={HTTPException: _refused})
    clocks = [is_duration(each.history.get("every")) for each in service.settings.streams]
    app.state.description = described(ENDPOINTS, asks=guard.asks, clocks=clocks)
    app.router.redirect_slashes = False
    return app


def _handler(endpoint: Endpoint, service: "Service", guard: Guard) -> Callable[[Request], Awaitable[Response]]:
    name = operation_id(endpoint)

    async def handle(request: Request) -> Response:
        found = await _answered(endpoint, service, guard, request)
        service.metrics.answered(name, found.status_code)
        found.headers.update(_HEADERS)
        return found

    return handle


async def _answered(endpoint: Endpoint, service: "Service", guard: Guard, request: Request) -> Response:
    """Return the answer to a request, whatever is wrong with it."""
    try:
        strange = guard.stranger(request)
        if strange:
            return failure(403, strange)
        rights = guard.rights(request)
        if endpoint.right not in rights:
            if rights == {"open"}:
                return failure(401, "a token is needed, as Authorization: Bearer TOKEN", {"WWW-Authenticate": "Bearer"})
            return failure(403, f"the token does not allow this; it takes one for {endpoint.right!r}")
        return await endpoint.handler(Asked(service, request, _values(endpoint, request), rights, guard))
    except NotFoundError as error:
        return failure(404, str(error.args[0]))
    except BodyError as error:  # what is left of it is not read, so that the connection cannot be used again
        return failure(error.status, str(error), {"Connection": "close"})
    except FullError as error:
        return failure(429, str(error), {"Retry-After": f"{error.retry_after:.0f}"})
    except SupersampleError as error:
        return failure(400, str(error))
    except ClientDisconnect:
        return failure(400, "the connection was closed before the body had come")
    except asyncio.CancelledError:  # uvicorn ends what takes long when the service ends; nothing else cancels a request
        return failure(503, "the service is being closed; ask again later", {"Connection": "close"})
    except Exception as error:  # a fault of the program, after which the body may be unread
        service.fault(operation_id(endpoint), error)
        reason = f"a fault of the service ({type(error).__name__}); its log says where"
        return failure(500, reason, {"Connection": "close"})


def _values(endpoint: Endpoint, request: Request) -> dict[str, Any]:
    """Return the parameters of a request; refuse those that the end point does not have."""
    given: dict[str, dict[str, str]] = {
        "path": dict(request.path_params), "query": dict(request.query_params), "header": {},
    }  # fmt: skip
    known = {each.name for each in endpoint.parameters if each.where == "query"}
    for name in given["query"]:
        if name not in known:
            raise InputError(f"there is no parameter {name[:80]!r} here; known: {', '.join(sorted(known)) or 'none'}")
    found = {}
    for each in endpoint.parameters:
        text = request.headers.get(each.name) if each.where == "header" else given[each.where].get(each.name)
        if text is not None:
            found[each.name] = each.value(text)
    return found


async def _refused(_: Request, error: Exception) -> Response:
    """Answer where no route fits."""
    assert isinstance(error, HTTPException)
    told = {404: "there is nothing here; /openapi.json lists what there is", 405: "this method is not for this address"}
    return failure(error.status_code, told.get(error.status_code, error.detail), {**_HEADERS, **(error.headers or {})})
