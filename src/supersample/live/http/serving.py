"""The web server: uvicorn with limits on connections and on waiting."""

import asyncio
import itertools
import logging
from typing import TYPE_CHECKING, Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from supersample.errors import InputError
from supersample.live.http.app import application

if TYPE_CHECKING:
    from supersample.live.service import Service

__all__ = ["server_of"]

#: Bytes of the headers of a request, and seconds for which a connection without a request is kept.
_HEADERS, _KEPT = 32 << 10, 30
#: Seconds for requests under way when the service ends.
_GRACE = 5


class _Patient(H11Protocol):
    """HTTP that closes connections: one whose headers do not come, and one without a request where there are too many.

    uvicorn waits for headers for ever, and counts connections only when a request comes.
    """

    seconds, most = 20.0, 200
    _late: asyncio.TimerHandle | None = None
    #: The order in which connections came to have no request; a clock would give some of them the same time.
    _turns = itertools.count()
    _turn = 0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._turn = next(self._turns)
        if len(self.connections) > self.most:
            self._make_room()
        self._watch()

    def on_response_complete(self) -> None:
        self._turn = next(self._turns)
        super().on_response_complete()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP, if nothing has been answered yet; what the application still says goes nowhere.

        uvicorn would try to send a second answer, either here or for the application, and print a traceback: anybody could
        fill the log.
        """
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.close()

    @property
    def _idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _make_room(self) -> None:
        """End the connection that has had no request for longest; where all have one, this one will be told so."""
        idle = [each for each in self.connections if isinstance(each, _Patient) and each is not self and each._idle]
        if idle:
            # Last of all one whose answer is still being sent.
            longest = min(idle, key=lambda each: (each.transport.get_write_buffer_size() > 0, each._turn))
            self.connections.discard(longest)
            longest.transport.abort()

    def _watch(self) -> None:
        """Watch while there is no request, or not all of its headers; from the first byte on, not from the latest."""
        if not self._idle:
            self._forget()
        elif self._late is None:
            self._late = self.loop.call_later(self.seconds, self._close)

    def _forget(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _close(self) -> None:
        self._late = None
        if not self.transport.is_closing():
            self.transport.close()


def _is_told(record: logging.LogRecord) -> bool:
    """Return whether a line of uvicorn is worth saying: that the end of the service cut an answer off is no fault."""
    return not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))


def server_of(service: "Service") -> uvicorn.Server:
    """Return the server of a service; `run` on a socket, and `should_exit` to end."""
    server, limits = service.settings.server, service.settings.limits
    patient = type("Patient", (_Patient,), {"seconds": limits.seconds, "most": limits.connections})
    logger = logging.getLogger("uvicorn.error")
    logger.setLevel(logging.ERROR)
    logger.addFilter(_is_told)  # the same one each time, so that it is there once
    config = uvicorn.Config(
        application(service), host=server.host, port=server.port, http=patient, ws="none", lifespan="off", interface="asgi3",
        log_config=None, access_log=False, server_header=False, proxy_headers=False,
        limit_concurrency=limits.connections + 1,  # uvicorn refuses what reaches it
        timeout_keep_alive=_KEPT, timeout_graceful_shutdown=_GRACE, h11_max_incomplete_event_size=_HEADERS,
        ssl_certfile=server.certificate, ssl_keyfile=server.key,
    )  # fmt: skip
    try:
        config.load()
    except (OSError, ValueError) as error:
        raise InputError(f"certificate and key must be files of a certificate in PEM and of its key: {error}") from error
    return uvicorn.Server(config)
