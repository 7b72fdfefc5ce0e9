"""Durations that users write, such as "15m" or "7d", in seconds."""

import re
from datetime import timedelta
from typing import Any

import numpy as np

from supersample.errors import InputError, InputTypeError

__all__ = ["UNITS", "duration_text", "is_duration", "seconds_of"]

#: Seconds of each unit.
UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 604_800.0}
_WRITTEN = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(ms|s|m|min|h|d|w)\s*")
_HINT = "pass a text such as '90s', '15m', '1h', '7d' or '2w', or a timedelta"


def is_duration(value: Any) -> bool:
    """Return whether a value is meant as a duration, and not as a number."""
    return isinstance(value, str | timedelta | np.timedelta64)


def seconds_of(value: Any, name: str) -> float:
    """Return a duration in seconds; refuse what is not a duration, or not positive.

    >>> seconds_of("15m", "every"), seconds_of(timedelta(hours=1), "every")
    (900.0, 3600.0)
    """
    if isinstance(value, str):
        written = _WRITTEN.fullmatch(value)
        if written is None:
            raise InputError(f"{name} must be a duration, got {value!r}; {_HINT}")
        seconds = float(written[1]) * UNITS["m" if written[2] == "min" else written[2]]
    elif isinstance(value, timedelta):
        seconds = value.total_seconds()
    elif isinstance(value, np.timedelta64):
        seconds = float(value / np.timedelta64(1, "ns")) * 1e-9
    else:
        raise InputTypeError(f"{name} must be a duration, got {type(value).__name__}; {_HINT}")
    if not (np.isfinite(seconds) and seconds > 0):
        raise InputError(f"{name} must be longer than nothing, got {value!r}; {_HINT}")
    return seconds


def duration_text(seconds: float) -> str:
    """Write a duration in the largest unit that it is a whole number of.

    >>> duration_text(900.0), duration_text(86_400.0), duration_text(0.25)
    ('15m', '1d', '250ms')
    """
    for unit in ("w", "d", "h", "m", "s", "ms"):
        count = seconds / UNITS[unit]
        if abs(count - round(count)) <= 1e-9 * count and not (unit == "w" and count % 1):
            return f"{round(count)}{unit}"
    return f"{seconds:g}s"
