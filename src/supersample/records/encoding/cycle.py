"""Columns of times as places in the day and in the week."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from supersample._stored import FLAG
from supersample._typing import Floats
from supersample.records.encoding.column_type import ColumnType, built_in
from supersample.records.encoding.values import numbers_of

__all__ = ["Cycle"]

_DAY = 86_400.0
#: 1970-01-01 was a Thursday: weeks begin on Mondays.
_MONDAY = 3 * _DAY


@built_in("cycle", "Cycle", hours=FLAG, days=FLAG)
@dataclass(frozen=True)
class Cycle(ColumnType):
    """The hour of the day and the day of the week as points on circles, in the time zone of the column.

    hours, days: which of the two the column has: dates have no hour, times of day have no date.
    """

    hours: bool
    days: bool

    @classmethod
    def learn(cls, name: str, column: pa.Array, weight: float, *, forced: bool) -> Self | None:  # noqa: ARG003
        """Take dates, times of day and timestamps."""
        kind = column.type
        hours, days = _has_hours(kind), _has_days(kind)
        return cls(name, weight, column.null_count > 0, hours, days) if hours or days else None

    @property
    def size(self) -> int:
        """Two for each circle."""
        return 2 * (self.hours + self.days)

    @property
    def furthest(self) -> float:
        """Coordinates lie on circles of radius 1 or less."""
        return 1.0

    @property
    def called(self) -> str:
        """The kind of its values, as shown to users."""
        return "time"

    def takes(self, kind: pa.DataType) -> bool:
        """Return whether a type has the hours and days that the circles need."""
        return (not self.hours or _has_hours(kind)) and (not self.days or _has_days(kind)) and (self.hours or self.days)

    def encode(self, column: pa.Array, out: Floats) -> Floats | None:
        """Write cosine and sine of the place in the day, then of the day in the week; missing times become 0."""
        local = pc.local_timestamp(column) if pa.types.is_timestamp(column.type) and column.type.tz else column
        seconds = numbers_of(local).astype(np.float64)
        absent = np.isnan(seconds)
        turns = [seconds / _DAY] if self.hours else []
        turns += [np.floor((seconds + _MONDAY) / _DAY) / 7.0] if self.days else []
        radius = np.sqrt(1.0 / len(turns))
        for place, turn in enumerate(turns):
            angle = 2.0 * np.pi * np.where(absent, 0.0, turn % 1.0)
            out[:, 2 * place], out[:, 2 * place + 1] = radius * np.cos(angle), radius * np.sin(angle)
        if not absent.any():
            return None
        out[absent] = 0.0
        return absent.astype(np.float64)


def _has_hours(kind: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(kind) or pa.types.is_time(kind))


def _has_days(kind: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(kind) or pa.types.is_date(kind))
