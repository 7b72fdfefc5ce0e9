"""Columns of numbers, booleans and times: one coordinate."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import pyarrow as pa

from supersample._stored import NUMBER, one_of, optional
from supersample._typing import Floats
from supersample.errors import InputError
from supersample.records.encoding.column_type import FURTHEST, ColumnType, LeftOut, built_in
from supersample.records.encoding.values import is_number, is_numeric, numbers_of

__all__ = ["Number"]

#: Numbers further than this many scales from the centre are compressed, and reach this far at most.
_KNEE, _COMPRESSED = 5.0, 40.0
#: The distance between the quartiles, and between the 5% and 95% points, of the standard normal.
_NORMAL_QUARTILES, _NORMAL_TAILS = 1.349, 3.29


@built_in(
    "number", "Number",
    kind=one_of("number", "boolean", "time"), centre=NUMBER, scale=NUMBER, furthest=NUMBER, knee=optional(NUMBER),
)  # fmt: skip
@dataclass(frozen=True)
class Number(ColumnType):
    """A number, a boolean or a time: z = (value - centre) / scale, within [-furthest, furthest].

    kind: the kind of values, as shown to users: "number", "boolean" or "time".
    knee: where |z| is larger, it is compressed to knee + asinh(|z| - knee), so that far values keep their order and no single
    column decides how unlike two rows are. None: no compression, as in files of format 1 and for columns of one value.
    """

    kind: str
    centre: float
    scale: float
    furthest: float = FURTHEST
    knee: float | None = None

    @classmethod
    def learn(cls, name: str, column: pa.Array, weight: float, *, forced: bool) -> Self | LeftOut | None:  # noqa: ARG003
        """Take booleans, times and numbers."""
        kind = column.type
        if pa.types.is_boolean(kind):
            return cls(name, weight, column.null_count > 0, "boolean", 0.0, float(np.sqrt(0.5)))
        timed = pa.types.is_temporal(kind) and not pa.types.is_interval(kind)
        if not (timed or is_number(kind) or pa.types.is_decimal(kind)):
            return None
        called = "time" if timed and not pa.types.is_duration(kind) else "number"
        return cls._scaled(name, weight, called, numbers_of(column).astype(np.float64))

    @classmethod
    def _scaled(cls, name: str, weight: float, kind: str, values: Floats) -> Self | LeftOut:
        missing = bool(np.isnan(values).any())
        finite = values[np.isfinite(values)]
        if finite.size == 0:
            return LeftOut("holds no finite number in the rows looked at")
        if kind == "number" and bool(np.isin(finite, (0.0, 1.0)).all()):
            return cls(name, weight, missing, "boolean", 0.0, float(np.sqrt(0.5)))
        centre = 2.0 * float(np.median(finite / 2.0))  # halves: the sum of two huge numbers overflows
        scale = _scale(finite, centre)
        if scale is None:
            # A single value has no scale: later values can only be encoded as equal, larger or smaller.
            return cls(name, weight, missing, kind, centre, float(np.finfo(np.float64).tiny), float(np.sqrt(2.0)))
        return cls(name, weight, missing, kind, centre, scale, _COMPRESSED, _KNEE)

    @property
    def called(self) -> str:
        """The kind of its values, as shown to users."""
        return self.kind

    def takes(self, kind: pa.DataType) -> bool:
        """Return whether a type holds times if this is a column of times, or else numbers or booleans."""
        if self.kind == "time":
            return bool(pa.types.is_temporal(kind) and not pa.types.is_interval(kind))
        return is_numeric(kind) or bool(pa.types.is_duration(kind))

    def check_values(self) -> None:
        """Refuse a scale that is invalid."""
        numbers = np.array([self.centre, self.scale, self.furthest], dtype=np.float64)
        shaped = 0 < self.furthest <= FURTHEST if self.knee is None else 0 < self.knee < self.furthest <= _COMPRESSED
        if not (self.scale > 0 and shaped and bool(np.isfinite(numbers).all())):
            raise InputError(f"column {self.name!r} must have a finite centre and a positive scale")

    def encode(self, column: pa.Array, out: Floats) -> Floats | None:
        """Centre, scale and compress the numbers; missing ones become 0."""
        values = numbers_of(column)
        own = out[:, 0]
        with np.errstate(over="ignore"):
            np.subtract(values, self.centre, out=own)
            own /= self.scale
        if self.knee is not None:
            far = np.abs(own) > self.knee
            if far.any():
                own[far] = np.sign(own[far]) * (self.knee + np.arcsinh(np.abs(own[far]) - self.knee))
        np.maximum(own, -self.furthest, out=own)
        np.minimum(own, self.furthest, out=own)
        if np.issubdtype(values.dtype, np.integer):
            return None
        absent = np.isnan(own)
        if not absent.any():
            return None
        own[absent] = 0.0
        return absent.astype(np.float64)


def _scale(values: Floats, centre: float) -> float | None:
    """Return a scale that is 1 for standard normal values and robust to a few outliers; None for equal values."""
    low, quarter, upper, high = np.quantile(values / 2.0, (0.05, 0.25, 0.75, 0.95))
    unlike = np.abs(values / 2.0 - centre / 2.0)
    unlike = unlike[unlike > 0]
    others = float(np.median(unlike)) if unlike.size else 0.0
    for half in ((upper - quarter) / _NORMAL_QUARTILES, (high - low) / _NORMAL_TAILS, others):
        # Differences that are rounding errors of a large number are no scale.
        if half > 1e-14 * abs(centre) and half > np.finfo(np.float64).tiny:
            return float(2.0 * min(half, np.finfo(np.float64).max / 2.0))
    return None
