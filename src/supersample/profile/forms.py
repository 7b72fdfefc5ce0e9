"""What a profile makes of each Arrow type: which values it measures, by which bits it tells them apart, how it writes them.

A form follows from the text of a type, so that a profile read from a file has it too.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from supersample._typing import Floats, Indices
from supersample.profile.frequent import Value
from supersample.records.encoding.values import numbers_of

__all__ = ["Family", "Form", "form_of"]

#: What the values of a column are to a profile.
Family = Literal["whole", "real", "decimal", "text", "vector", "other"]

#: The types of floating-point numbers, and the NumPy types that write them with no more digits than they have.
_REALS: dict[str, Callable[[float], np.floating[Any]]] = {"halffloat": np.float16, "float": np.float32, "double": np.float64}
_NUMBER = r"u?int(8|16|32|64)|halffloat|float|double|bool|decimal\d+\(\d+, -?\d+\)"
_LIST = re.compile(rf"(fixed_size_|large_)?list<[^<>]*: ({_NUMBER})( not null)?>(\[\d+\])?")
_TIME = re.compile(r"(date32|date64|timestamp|time32|time64|duration)\[(day|s|ms|us|ns)(?:, tz=(.*))?\]")
_DECIMAL = re.compile(r"decimal\d+\(\d+, (-?\d+)\)")
#: How many of each unit make a second.
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_DAY = 86_400
_WORD = (1 << 64) - 1
#: No decimal has more than 76 digits.
_DECIMALS = 10**76
#: Times that are further from 1970, in seconds, are written without their fractions: these would pass 64 bits.
_FAR = 1 << 43


@dataclass(frozen=True)
class Form:
    """What a profile makes of a type.

    name: the type as text. clock: what a whole number counts, if it is a time: "date32", "timestamp" and so on, else "".
    unit: the unit of such a count. zone: the zone that a time of UTC is shown in. scale: digits of a decimal after its point.
    """

    name: str
    family: Family
    clock: str = ""
    unit: str = ""
    zone: str = ""
    scale: int = 0

    @property
    def measured(self) -> bool:
        """Whether values have a minimum, a mean and quantiles."""
        return self.family in ("whole", "real", "decimal")

    @property
    def is_time(self) -> bool:
        """Whether values are days, moments or times of day; durations are numbers of seconds."""
        return self.clock not in ("", "duration")

    @property
    def told_apart(self) -> bool:
        """Whether different values are counted, and the frequent ones held."""
        return self.measured or self.family == "text"

    @property
    def has_lengths(self) -> bool:
        """Whether values are texts, or lists of numbers."""
        return self.family in ("text", "vector")

    def words(self, column: pa.Array) -> Indices:
        """Return the whole numbers of a column without missing values, as int64, with the same bits if unsigned."""
        if self.name == "bool":
            column = column.cast(pa.uint8())
        elif self.clock in ("date32", "time32"):
            column = column.cast(pa.int32())
        if self.name == "uint64":
            return np.asarray(column.to_numpy(zero_copy_only=False)).view(np.int64)
        if column.type != pa.int64():
            column = column.cast(pa.int64())
        return np.asarray(column.to_numpy(zero_copy_only=False))

    def floats(self, column: pa.Array) -> Floats:
        """Return the values of a column without missing values as float64; times in seconds."""
        if self.family == "decimal":  # by its digits: Arrow's own conversion of decimals does not round to the nearest
            column = column.cast(pa.string()).cast(pa.float64())
        return np.asarray(numbers_of(column), dtype=np.float64)

    def whole(self, word: int) -> int:
        """Return the whole number of a word."""
        return word & _WORD if self.name == "uint64" else word

    def holds(self, value: float) -> bool:
        """Return whether a value of the column can be this finite number, counted as `text` reads it."""
        if self.family == "real":
            return type(value) is float and math.isfinite(value)
        if type(value) is not int:
            return False
        if self.family == "decimal":
            return abs(value) < _DECIMALS
        return 0 <= value <= _WORD if self.name == "uint64" else -(1 << 63) <= value < 1 << 63

    def number(self, value: Value | float) -> float:
        """Return a kept value, or an extreme, as the float64 that `floats` gives for it."""
        if self.family == "real":
            return _real(value) if isinstance(value, int) else float(value)
        if self.family == "decimal":
            return float(value if isinstance(value, str) else self.text(value))
        count = self.whole(int(value))
        if self.clock == "date32":
            return count * float(_DAY)
        if self.clock:
            parts = _PER_SECOND[self.unit]
            return float(count // parts) + (count % parts) / parts
        return float(count)

    def value_text(self, value: Value) -> str:
        """Return a value that was kept as text."""
        if isinstance(value, str):
            return value
        return self.text(_real(value) if self.family == "real" else self.whole(value))

    def text(self, value: float) -> str:
        """Return a number of the column as text: its digits, a decimal with all its places, times by ISO 8601 (UTC with a Z).

        value: a float64, or a whole number that counts units: of time, or of the last place of a decimal.
        """
        if self.family == "real":
            return str(_REALS[self.name](value))
        if self.family == "decimal":
            digits = Decimal(int(value)).as_tuple()
            return f"{Decimal((digits.sign, digits.digits, -self.scale)):f}"
        if self.name == "bool":
            return "true" if value else "false"
        return self._time_text(int(value)) if self.clock else str(int(value))

    def _time_text(self, count: int) -> str:
        if self.clock == "date32":
            return str(np.datetime64(count, "D"))
        if self.clock == "duration":
            return f"{count} {self.unit}"
        parts = _PER_SECOND[self.unit]
        unit = "s" if count % parts == 0 else self.unit
        moment = str(np.array(count // parts if unit == "s" else count, dtype=f"datetime64[{unit}]"))
        if self.clock in ("time32", "time64"):
            return moment.partition("T")[2]
        if self.clock == "date64":
            return moment.partition("T")[0]
        return moment + "Z" * bool(self.zone)

    def seconds_text(self, seconds: float) -> str:
        """Return a time that is given in seconds, such as a mean or a quantile, as text, to the microsecond."""
        if self.clock == "duration":
            return f"{seconds!r} s"
        if self.clock == "date32":
            return self._time_text(round(seconds / _DAY))
        unit = "us" if abs(seconds) < _FAR else "s"
        return replace(self, unit=unit)._time_text(round(seconds * _PER_SECOND[unit]))


@lru_cache(maxsize=1024)
def form_of(name: str) -> Form:
    """Return the form of a type, given as text.

    >>> form_of("timestamp[ms, tz=UTC]").text(1_718_000_000_000)
    '2024-06-10T06:13:20Z'
    """
    if name in _REALS:
        return Form(name, "real")
    if re.fullmatch(r"u?int(8|16|32|64)|bool", name):
        return Form(name, "whole")
    if decimal := _DECIMAL.fullmatch(name):
        return Form(name, "decimal", scale=int(decimal[1]))
    if time := _TIME.fullmatch(name):
        return Form(name, "whole", clock=time[1], unit=time[2], zone=time[3] or "")
    if name in ("string", "large_string", "string_view"):
        return Form(name, "text")
    return Form(name, "vector" if _LIST.fullmatch(name) else "other")


def _real(word: int) -> float:
    return float(np.int64(word).view(np.float64))
