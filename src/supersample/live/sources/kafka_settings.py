"""What a source of Kafka is asked for, and what the client library is told; secrets come from a file or the environment."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from supersample._files import read_file
from supersample.errors import InputError
from supersample.live.decoding.formats import FORMATS
from supersample.live.sources.options import check_options

__all__ = ["KafkaSettings", "kafka_settings"]

_OPTIONS = (
    "servers",
    "topics",
    "format",
    "columns",
    "timestamp",
    "start",
    "group",
    "settings",
    "settings_file",
    "settings_env",
)
#: What the source decides itself, and why.
_OWN = {
    "bootstrap.servers": "give it as servers",
    "group.id": "give it as group",
    "enable.auto.commit": "offsets are kept with the rows, in the state of the stream",
    "enable.auto.offset.store": "offsets are kept with the rows, in the state of the stream",
    "auto.offset.reset": "give start; offsets that are gone later are said",
    "enable.partition.eof": "a stream has no end",
    "group.instance.id": "partitions are assigned, and nothing is rebalanced",
    "group.protocol": "partitions are assigned, and nothing is rebalanced",
    "group.remote.assignor": "partitions are assigned, and nothing is rebalanced",
    "partition.assignment.strategy": "partitions are assigned, and nothing is rebalanced",
}
#: Parts of the names of settings that are secret.
_SECRET = ("password", "secret", "key.pem", "oauthbearer.config", "passphrase")
#: Told to the library unless the user says something else: a bound on what it reads ahead, and no lines of its own.
_USUAL = {"queued.max.messages.kbytes": 16_384, "log_level": 0}
_FIXED = {
    "enable.auto.commit": False, "enable.auto.offset.store": False, "auto.offset.reset": "error", "enable.partition.eof": False,
    # A stream whose disk is full may not ask for hours.
    "max.poll.interval.ms": 86_400_000,
}  # fmt: skip


@dataclass(frozen=True)
class KafkaSettings:
    """topics: as they are named. client: what the library is told; it may hold secrets. group: whether one was asked for."""

    topics: tuple[str, ...]
    form: str
    header: bytes
    timestamp: str
    start: str
    group: str
    client: Mapping[str, Any]

    def __repr__(self) -> str:
        """Leave out what is told to the library."""
        return f"KafkaSettings(topics={self.topics!r}, form={self.form!r}, start={self.start!r}, group={self.group!r})"


def kafka_settings(options: Mapping[str, Any], environment: Mapping[str, str] = os.environ) -> KafkaSettings:
    """Return what options mean, or refuse them.

    servers: "host:port", or several with commas. topics: a name or a list. format: a format of bodies, "ndjson" by default.
    columns: the names of the columns, for CSV, whose messages have no header.
    timestamp: a column that gets the time at which Kafka was given the message.
    start: "beginning" or "end", for a stream that has read nothing yet.
    group: a group that offsets are written to, for programs that watch how far readers are behind.
    settings, settings_file, settings_env: of librdkafka, as a table, as a file of `name=value`, and by names of environment
    variables.
    """
    check_options("kafka", options, _OPTIONS)
    form = options.get("format", "ndjson")
    if form not in FORMATS:
        raise InputError(f"format must be one of {', '.join(FORMATS)}, got {form!r}")
    start = options.get("start", "beginning")
    if start not in ("beginning", "end"):
        raise InputError(f"start must be 'beginning' or 'end', got {start!r}")
    group = _text(options, "group")
    client = {**_USUAL, **_of_user(options, environment), **_FIXED, "group.id": group or "supersample"}
    if servers := _text(options, "servers"):
        client["bootstrap.servers"] = servers
    if not client.get("bootstrap.servers"):
        raise InputError("a source of kind 'kafka' must have servers, such as 'broker:9092', and has none")
    return KafkaSettings(
        _topics(options.get("topics")), form, _header(form, options.get("columns")), _text(options, "timestamp"), start, group,
        client,
    )  # fmt: skip


def _topics(given: Any) -> tuple[str, ...]:
    topics = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, list | tuple) else ()
    if not topics or not all(isinstance(each, str) and each for each in topics):
        raise InputError(f"topics must be the name of a topic, or a list of names, got {given!r}")
    for each in topics:
        if each.startswith("^"):
            raise InputError(
                f"topics must be names, got the pattern {each!r}; name each topic, since a pattern needs a rebalance"
            )
    if len(set(topics)) < len(topics):
        raise InputError(f"topics must name each topic once, got {', '.join(topics)}; its messages would be counted twice")
    return topics


def _header(form: str, columns: Any) -> bytes:
    if form != "csv":
        if columns is not None:
            raise InputError(f"columns must be left out where format is {form!r}, whose messages name their columns")
        return b""
    names = columns if isinstance(columns, list | tuple) else ()
    if not names or not all(isinstance(each, str) and not set(each) & set(',"\r\n') for each in names):
        raise InputError(f"columns must be a list of names where format is 'csv', without commas or quotes, got {columns!r}")
    return ",".join(names).encode() + b"\n"


def _of_user(options: Mapping[str, Any], environment: Mapping[str, str]) -> dict[str, Any]:
    """Return the user's settings of the library."""
    plain, named = options.get("settings", {}), options.get("settings_env", {})
    for name, each in (("settings", plain), ("settings_env", named)):
        if not isinstance(each, Mapping):
            raise InputError(f"{name} must be a table of settings of librdkafka, got {each!r}")
    for name in plain:
        if any(part in name for part in _SECRET):
            raise InputError(f"settings must hold no secrets, got {name!r}; move it to settings_file or settings_env")
    found = {**_of_file(_text(options, "settings_file")), **plain}
    for name, variable in named.items():
        if not environment.get(str(variable)):
            raise InputError(f"the environment variable {variable!r}, which settings_env names for {name!r}, is not set")
        found[name] = environment[str(variable)]
    for name in found:
        if name in _OWN and not (name == "bootstrap.servers" and name not in plain and name not in named):
            raise InputError(f"the setting {name!r} must be left out: {_OWN[name]}")
    return found


def _of_file(path: str) -> dict[str, str]:
    if not path:
        return {}
    found = {}
    for number, line in enumerate(read_file(Path(path), "settings_file").decode(errors="replace").splitlines(), 1):
        name, equals, value = (part.strip() for part in line.partition("="))
        if not name or name.startswith("#"):
            continue
        if not equals:
            raise InputError(f"each line of settings_file must be name=value, and line {number} is not")  # it may be a secret
        found[name] = value
    return found


def _text(options: Mapping[str, Any], name: str) -> str:
    found = options.get(name, "")
    if not isinstance(found, str):
        raise InputError(f"{name} must be a text, got {found!r}")
    return found
