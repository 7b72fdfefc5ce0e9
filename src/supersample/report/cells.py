"""One value of a table as a short line of text."""

import unicodedata
from typing import Any

import pyarrow as pa

from supersample._text import number_text

__all__ = ["MISSING", "clean", "text_of"]

#: Shown in place of a missing value.
MISSING = "\u2013"
#: The longest line shown for a value.
LONGEST = 80
#: Characters that change the direction of the text around them.
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f")


def text_of(scalar: Any, longest: int = LONGEST) -> str:
    """Write an Arrow value as text that is safe to show and never too long."""
    try:
        return clean(_plain(scalar), longest)
    except (ValueError, OverflowError, TypeError, pa.ArrowException):
        return "(unreadable)"  # bytes that are not UTF-8, times outside the calendar


def clean(text: str, longest: int = LONGEST) -> str:
    """Replace characters that would disturb the line around them, and cut what is too long."""
    cut = text[: longest + 1]
    shown = "".join(" " if c in "\n\t\r" else "\ufffd" if c in _TURNING or unicodedata.category(c) == "Cc" else c for c in cut)
    return shown if len(text) <= longest else shown[: longest - 1].rstrip() + "…"


def _plain(scalar: Any) -> str:
    if not scalar.is_valid:
        return MISSING
    kind = scalar.type
    if pa.types.is_temporal(kind) and not pa.types.is_duration(kind) and not pa.types.is_interval(kind):
        return _moment(str(scalar.cast(pa.string()).as_py()))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return _sequence(scalar)
    return _python(scalar.as_py())


def _python(value: Any) -> str:
    if value is None:
        return MISSING
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return number_text(value, 6)
    if isinstance(value, bytes):
        return f"({len(value):,} bytes)"
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_python(each)}" for key, each in list(value.items())[:20])
    if isinstance(value, list):
        return "[" + ", ".join(_python(each) for each in value[:20]) + "]"
    return str(value)


def _sequence(scalar: Any) -> str:
    size = len(scalar)
    first = ", ".join(_plain(scalar[place]) for place in range(min(size, 3)))
    return f"[{first}]" if size <= 3 else f"[{first}, … {size:,} values]"


def _moment(text: str) -> str:
    if "." in text:
        head, _, tail = text.partition(".")
        digits = tail.rstrip("Z").rstrip("0")
        text = head + ("." + digits if digits else "") + ("Z" if tail.endswith("Z") else "")
    return text.removesuffix(" 00:00:00")
