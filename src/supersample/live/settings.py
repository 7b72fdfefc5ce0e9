"""What a service is asked to be; each field has the value of a service on one's own computer."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from supersample.errors import InputError

__all__ = ["Limits", "ServerSettings", "ServiceSettings", "SourceSettings", "StreamSettings", "WebhookSettings", "check_name"]

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


@dataclass(frozen=True)
class Limits:
    """What one request, and all of them together, may ask for.

    body, decoded: bytes of a body as it comes, and after it is decompressed and decoded. memory: bytes that a process which
    decodes may take beside the program itself. seconds: for the headers, for the body, and for decoding, each.
    queue_rows, queue_bytes: what may wait for a stream. connections: open at a time. listeners: of events, at a time.
    """

    body: int = 64 << 20
    decoded: int = 256 << 20
    memory: int = 1 << 30
    columns: int = 2_000
    rows: int = 1_000_000
    seconds: float = 20.0
    queue_rows: int = 200_000
    queue_bytes: int = 256 << 20
    connections: int = 200
    listeners: int = 50
    decoders: int = 2


@dataclass(frozen=True)
class SourceSettings:
    """One source of a stream: its kind, a line of `live.sources.registry.SOURCES`, and the options of that kind."""

    name: str
    kind: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class StreamSettings:
    """A named stream. history: arguments of `ss.History`. remember: seconds for which ids of batches are known."""

    name: str
    history: Mapping[str, Any]
    sources: tuple[SourceSettings, ...] = ()
    title: str = ""
    save_seconds: float = 5.0
    remember: float = 7 * 86_400.0


@dataclass(frozen=True)
class WebhookSettings:
    """Where alarms are sent to; the secret signs them, and never leaves the process."""

    url: str
    secret: str = field(default="", repr=False)
    streams: tuple[str, ...] = ()


@dataclass(frozen=True)
class ServerSettings:
    """Where the service listens. tokens: by right ("read", "send", "admin"); empty means that no token is asked for."""

    host: str = "127.0.0.1"
    port: int = 8125
    certificate: Path | None = None
    key: Path | None = None
    allowed_hosts: tuple[str, ...] = ()
    tokens: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class ServiceSettings:
    """A service: its folder, its streams, and how it is reached."""

    folder: Path
    streams: tuple[StreamSettings, ...]
    server: ServerSettings = field(default_factory=ServerSettings)
    limits: Limits = field(default_factory=Limits)
    webhooks: tuple[WebhookSettings, ...] = ()


def check_name(name: str, what: str) -> str:
    """Refuse a name that is not safe as a folder, a label and a part of an address on every system."""
    if not _NAME.fullmatch(name):
        raise InputError(
            f"{what} must be named by at most 64 small letters, digits, '-' and '_', the first no mark, got {name!r}"
        )
    return name
