"""Who may do what: tokens by right, the session of the page, and requests that come from other sites."""

import hmac
import secrets
import time
from collections.abc import Mapping
from urllib.parse import urlsplit

from starlette.requests import Request

from supersample.errors import InputError
from supersample.live.http.endpoint import Right
from supersample.live.settings import ServerSettings

__all__ = ["COOKIE", "LOOPBACK", "Guard"]

COOKIE = "supersample_session"
LOOPBACK = ("127.0.0.1", "::1", "localhost")
#: What each right includes.
_INCLUDES: Mapping[Right, frozenset[Right]] = {
    "open": frozenset({"open"}), "read": frozenset({"open", "read"}), "send": frozenset({"open", "send"}),
    "admin": frozenset({"open", "read", "admin"}),
}  # fmt: skip
#: Seconds after which one logs in again, sessions at a time, and the fewest characters of a token.
_SESSION, _MOST_SESSIONS, _SHORTEST = 12 * 3600.0, 1_000, 16


class Guard:
    """Decides about requests. Tokens are compared in constant time, and never leave it."""

    def __init__(self, settings: ServerSettings) -> None:
        self._tokens: dict[Right, bytes] = {right: text.encode() for right, text in settings.tokens.items() if text}  # type: ignore[misc]
        for right, token in self._tokens.items():
            if len(token) < _SHORTEST:
                raise InputError(
                    f"the token for {right!r} must have at least {_SHORTEST} characters; make one with: openssl rand -hex 24"
                )
        if len(set(self._tokens.values())) < len(self._tokens):
            raise InputError("tokens must differ from each other, so that one right does not bring another")
        self._open = settings.host in LOOPBACK and not self._tokens
        if settings.host not in LOOPBACK and not self._tokens:
            raise InputError(
                f"host {settings.host!r} can be reached from other machines, so it needs tokens: set SUPERSAMPLE_READ_TOKEN, "
                f"SUPERSAMPLE_SEND_TOKEN and SUPERSAMPLE_ADMIN_TOKEN, or name files that hold them in the configuration"
            )
        self._hosts = {each.lower() for each in (*settings.allowed_hosts, *LOOPBACK, settings.host)}
        self._any_host = settings.host in ("0.0.0.0", "::") and not settings.allowed_hosts  # noqa: S104
        self._sessions: dict[str, tuple[Right, float]] = {}
        self.secure = settings.certificate is not None

    @property
    def asks(self) -> bool:
        """Whether tokens are asked for."""
        return not self._open

    def stranger(self, request: Request) -> str:
        """Return why a request comes from another site, or by a name that is not ours; empty if it does not.

        A page of another site can make a browser send requests to a service on loopback; it cannot choose the Host that a name
        of its own leads to, nor hide its Origin.
        """
        host = request.headers.get("host", "")
        name = _name_of(host)
        if name is None or not (self._any_host or name in self._hosts):
            return "the Host of the request is not one that this service answers to; see allowed_hosts"
        origin = request.headers.get("origin")
        if origin is not None:
            parts = urlsplit(origin) if origin.isascii() else None
            if parts is None or parts.scheme not in ("http", "https") or parts.netloc.lower() != host.lower():
                return "requests from pages of other sites are refused"
        if request.headers.get("sec-fetch-site") in ("cross-site", "same-site"):
            navigates = request.method == "GET" and request.headers.get("sec-fetch-mode") == "navigate"
            if not navigates:
                return "requests from pages of other sites are refused"
        return ""

    def rights(self, request: Request) -> frozenset[Right]:
        """Return what a request may do."""
        if self._open:
            return frozenset({"open", "read", "send", "admin"})
        kind, _, given = request.headers.get("authorization", "").partition(" ")
        if given:
            return self._of_token(given) if kind.lower() == "bearer" else frozenset({"open"})
        held = self._sessions.get(request.cookies.get(COOKIE, ""))
        if held is None or held[1] < time.monotonic():
            return frozenset({"open"})
        return _INCLUDES[held[0]]

    def log_in(self, token: str) -> str | None:
        """Return the name of a new session for a token that may read, None for any other."""
        rights = self._of_token(token.strip())
        if "read" not in rights:
            return None
        now = time.monotonic()
        self._sessions = {name: each for name, each in self._sessions.items() if each[1] > now}
        while len(self._sessions) >= _MOST_SESSIONS:
            self._sessions.pop(next(iter(self._sessions)))
        name = secrets.token_urlsafe(32)
        self._sessions[name] = ("admin" if "admin" in rights else "read", now + _SESSION)
        return name

    def log_out(self, request: Request) -> None:
        """End the session of a request."""
        self._sessions.pop(request.cookies.get(COOKIE, ""), None)

    def _of_token(self, given: str) -> frozenset[Right]:
        found: frozenset[Right] = frozenset({"open"})
        text = given.strip().encode(errors="replace")
        for right, token in self._tokens.items():  # all of them, so that the time says nothing
            if hmac.compare_digest(text, token):
                found |= _INCLUDES[right]
        return found


def _name_of(host: str) -> str | None:
    """Return the name of a Host header without its port."""
    try:
        return urlsplit(f"//{host}").hostname if host and not any(mark in host for mark in "/\\@?#% ") else None
    except ValueError:
        return None
