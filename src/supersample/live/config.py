"""The configuration of a service: a file of TOML, and tokens from the environment or from files, never from arguments."""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from supersample._files import read_file
from supersample._text import did_you_mean
from supersample.errors import InputError
from supersample.live.settings import (
    Limits,
    ServerSettings,
    ServiceSettings,
    SourceSettings,
    StreamSettings,
    WebhookSettings,
    check_name,
)

__all__ = ["RIGHTS", "read_config", "tokens_of"]

RIGHTS = ("read", "send", "admin")
_TOP = ("folder", "server", "limits", "webhooks", "streams")
_SERVER = ("host", "port", "certificate", "key", "allowed_hosts", "token_files")
_STREAM = ("title", "save_seconds", "remember_days", "sources")
#: Options of sources that name files or folders.
_PATHS = ("path", "settings_file")
_WEBHOOK = ("url", "secret_file", "secret_env", "streams")


def read_config(path: Path, environment: Mapping[str, str] = os.environ) -> ServiceSettings:
    """Return the settings that a file describes; relative paths are those from the folder of the file."""
    try:
        given = tomllib.loads(read_file(path, "config").decode())
    except (ValueError, RecursionError) as error:
        raise InputError(f"config must name a file of TOML, got {str(path)!r}: {error}") from error
    _check_names(given, _TOP, "the configuration")
    streams = given.get("streams", {})
    if not isinstance(streams, dict) or not streams:
        raise InputError("the configuration must have a table [streams.NAME] for each stream, and has none")
    server = _table(given, "server", _SERVER)
    base = path.parent
    return ServiceSettings(
        folder=base / str(given.get("folder", "live")),
        streams=tuple(_stream(name, each, base) for name, each in streams.items()),
        server=ServerSettings(
            host=str(server.get("host", "127.0.0.1")),
            port=_whole(server.get("port", 8125), "server.port"),
            certificate=_path(server.get("certificate"), base),
            key=_path(server.get("key"), base),
            allowed_hosts=tuple(map(str, server.get("allowed_hosts", ()))),
            tokens=tokens_of(environment, server.get("token_files", {}), base),
        ),
        limits=_limits(given.get("limits", {})),
        webhooks=tuple(_webhook(each, base, environment) for each in given.get("webhooks", ())),
    )


def tokens_of(environment: Mapping[str, str], files: Mapping[str, str] | None = None, base: Path = Path()) -> dict[str, str]:
    """Return the token of each right: that of its file, or of SUPERSAMPLE_READ_TOKEN and so on; left out if there is none."""
    found = {}
    for right in RIGHTS:
        token = environment.get(f"SUPERSAMPLE_{right.upper()}_TOKEN", "").strip()
        if files and right in files:
            token = read_file(base / files[right], f"server.token_files.{right}").decode(errors="replace").strip()
        if token:
            found[right] = token
    return found


def _stream(name: str, given: Any, base: Path) -> StreamSettings:
    if not isinstance(given, dict):
        raise InputError(f"streams.{name} must be a table, got {given!r}")
    check_name(name, "a stream")
    history = {key: value for key, value in given.items() if key not in _STREAM}
    if "every" not in history:
        raise InputError(f"streams.{name} must have every, the span of a block, such as '1h'")
    if "like" in history:
        history["like"] = str(base / str(history["like"]))
    sources = []
    for place, each in enumerate(given.get("sources", ()), 1):
        if not isinstance(each, dict) or not isinstance(each.get("kind"), str):
            raise InputError(f"each source of streams.{name} must be a table with a kind, got {each!r}")
        options = {key: value for key, value in each.items() if key not in ("kind", "name")}
        options |= {key: str(base / str(options[key])) for key in _PATHS if key in options}
        # The name is what positions are kept under, so it must not depend on where the source stands in the file.
        own = check_name(str(each.get("name", each["kind"] if place == 1 else f"{each['kind']}-{place}")), "a source")
        sources.append(SourceSettings(own, each["kind"], options))
    if len({each.name for each in sources}) < len(sources):
        raise InputError(f"the sources of streams.{name} must have different names; give each a name")
    return StreamSettings(
        name, history, tuple(sources), str(given.get("title", "")), float(given.get("save_seconds", 5.0)),
        86_400.0 * float(given.get("remember_days", 7.0)),
    )  # fmt: skip


def _webhook(given: Any, base: Path, environment: Mapping[str, str]) -> WebhookSettings:
    if not isinstance(given, dict) or not str(given.get("url", "")).startswith(("https://", "http://")):
        raise InputError("each of webhooks must have a url that begins with https:// or http://")
    _check_names(given, _WEBHOOK, "webhooks")
    secret = ""
    if "secret_env" in given:
        secret = environment.get(str(given["secret_env"]), "")
        if not secret:
            raise InputError(
                f"the environment variable {given['secret_env']!r} of a webhook must hold its secret, and does not"
            )
    if "secret_file" in given:
        secret = read_file(base / str(given["secret_file"]), "webhooks.secret_file").decode(errors="replace").strip()
    return WebhookSettings(str(given["url"]), secret, tuple(map(str, given.get("streams", ()))))


def _limits(given: Any) -> Limits:
    known = {field.name: field.type for field in fields(Limits)}
    if not isinstance(given, dict):
        raise InputError("limits must be a table")
    _check_names(given, tuple(known), "limits")
    for name, value in given.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
            raise InputError(f"limits.{name} must be a number above 0, got {value!r}")
    values: dict[str, Any] = {name: float(value) if name == "seconds" else int(value) for name, value in given.items()}
    return Limits(**values)


def _table(given: Mapping[str, Any], name: str, known: tuple[str, ...]) -> dict[str, Any]:
    found = given.get(name, {})
    if not isinstance(found, dict):
        raise InputError(f"{name} must be a table")
    _check_names(found, known, name)
    return found


def _check_names(given: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    for name in given:
        if name not in known:
            raise InputError(f"{where} has no setting {name!r}{did_you_mean(name, list(known))}; known: {', '.join(known)}")


def _path(given: Any, base: Path) -> Path | None:
    return None if given is None else base / str(given)


def _whole(given: Any, name: str) -> int:
    if isinstance(given, bool) or not isinstance(given, int) or not 0 <= given < 1 << 16:
        raise InputError(f"{name} must be the number of a port, got {given!r}")
    return given
