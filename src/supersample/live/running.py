"""Run a service until it is told to end: open it, listen, and at the end take in what waits, save, and close."""

import asyncio
import socket
import threading
from collections.abc import Callable

from supersample.errors import InputError
from supersample.live.service import Service
from supersample.live.settings import ServerSettings, ServiceSettings

__all__ = ["Running"]

#: Seconds between two looks at whether to end; a signal is only seen between them on some systems.
_LOOK = 0.5


class Running:
    """A service with its web server in a thread. url: where it is; its port is the one that was found if 0 was asked for."""

    def __init__(self, settings: ServiceSettings, told: Callable[..., None]) -> None:
        from supersample.live.http.serving import server_of

        self.service = Service(settings, told)
        self._server = server_of(self.service)
        self._socket = _listening(settings.server)
        scheme = "https" if settings.server.certificate is not None else "http"
        host = f"[{settings.server.host}]" if ":" in settings.server.host else settings.server.host
        self.url = f"{scheme}://{host}:{self._socket.getsockname()[1]}"
        self.ending = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="http", daemon=True)

    def start(self) -> None:
        """Open the streams, then answer requests."""
        try:
            self.service.start()
        except BaseException:
            self._socket.close()
            raise
        self._thread.start()

    def wait(self) -> None:
        """Return when `ending` is set, when the sources that end the service have ended, or when the web server did."""
        while not (self.ending.is_set() or self.service.done.is_set() or not self._thread.is_alive()):
            self.ending.wait(_LOOK)

    def stop(self) -> None:
        """Answer the requests under way, take in what waits, save, and close."""
        self.service.hub.close()
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()
        self.service.stop()

    @property
    def trouble(self) -> str:
        """Why a history could not be saved at the end; empty if all were."""
        return "; ".join(each.trouble for each in self.service.streams.values() if each.trouble)

    def _serve(self) -> None:
        asyncio.run(self._server.serve(sockets=[self._socket]))


def _listening(server: ServerSettings) -> socket.socket:
    """Return a socket that listens, so that a port in use is an error before anything is opened."""
    family = socket.AF_INET6 if ":" in server.host else socket.AF_INET
    try:
        return socket.create_server((server.host, server.port), family=family, backlog=256)
    except (OSError, OverflowError) as error:
        raise InputError(
            f"host and port must be an address that this machine can listen at, got {server.host}:{server.port}: {error}; "
            "choose another port"
        ) from error
