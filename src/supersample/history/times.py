"""Times of a history as users write and see them, and as it counts them: seconds since 1970, rows, or a column's numbers."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pyarrow as pa

from supersample.errors import InputError, InputTypeError
from supersample.history.alarm import Alarm
from supersample.history.rules import Rules

__all__ = ["number_of", "shown_alarm", "shown_time", "shown_times"]


def number_of(value: Any, rules: Rules, name: str) -> float:
    """Return a time as the history counts it; times without a zone are UTC."""
    if not rules.clock:
        if isinstance(value, bool) or not isinstance(value, int | float | np.number):
            raise InputTypeError(f"{name} must be a number, as the history counts time, got {value!r}")
        return float(value)
    try:
        if isinstance(value, str):
            value = datetime.fromisoformat(value)
        if isinstance(value, date) and not isinstance(value, datetime):
            value = datetime(value.year, value.month, value.day, tzinfo=UTC)
        if isinstance(value, datetime):
            return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
        return float(np.datetime64(value, "us").astype(np.int64)) / 1e6
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be a date, a time or a text such as '2026-01-03 12:00', got {value!r}") from error


def shown_time(value: float, rules: Rules) -> Any:
    """Return a time as users see it: a datetime in UTC without a zone, or a number."""
    if rules.clock:
        return datetime.fromtimestamp(value, UTC).replace(tzinfo=None)
    return int(value) if value == int(value) else value


def shown_times(values: Sequence[float], rules: Rules) -> pa.Array:
    """Return a column of times as users see them."""
    shown = [shown_time(each, rules) for each in values]
    return pa.array(shown, type=pa.timestamp("us")) if rules.clock else pa.array([float(each) for each in shown])


def shown_alarm(alarm: Alarm, rules: Rules) -> Alarm:
    """Return an alarm with its times as users see them."""
    first, last = (shown_time(each, rules) for each in alarm.between)
    return replace(alarm, at=shown_time(alarm.at, rules), change=shown_time(alarm.change, rules), between=(first, last))
