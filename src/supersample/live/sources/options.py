"""Options of a source, checked."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from supersample._text import did_you_mean
from supersample.errors import InputError

__all__ = ["check_options", "path_of", "text_format"]


def check_options(kind: str, options: Mapping[str, Any], known: Sequence[str]) -> None:
    """Refuse options that a kind of source does not have."""
    for name in options:
        if name not in known:
            told = did_you_mean(name, list(known))
            raise InputError(f"a source of kind {kind!r} has no option {name!r}{told}; known: {', '.join(known)}")


def path_of(kind: str, options: Mapping[str, Any]) -> Path:
    """Return the path that a source must have."""
    if not isinstance(options.get("path"), str):
        raise InputError(f"a source of kind {kind!r} must have a path, got {options.get('path')!r}")
    return Path(options["path"])


def text_format(options: Mapping[str, Any], default: str) -> str:
    """Return what lines of text are."""
    form = options.get("format", default)
    if form not in ("ndjson", "csv"):
        raise InputError(f"format must be 'ndjson' or 'csv', got {form!r}")
    return str(form)
