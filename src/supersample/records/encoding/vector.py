"""Columns of lists of numbers of one length, such as embeddings and images."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import pyarrow as pa

from supersample._stored import NUMBER, tuple_of
from supersample._typing import Floats
from supersample.errors import InputError
from supersample.records.encoding.column_type import FURTHEST, ColumnType, LeftOut, built_in
from supersample.records.encoding.values import is_list, is_number, vectors_of

__all__ = ["Vector"]

#: The longest vector that enters the kernel.
_LONGEST_VECTOR = 4096


@built_in("vector", "Vector", centre=tuple_of(NUMBER), scale=NUMBER)
@dataclass(frozen=True)
class Vector(ColumnType):
    """A list of numbers of one length: (value - centre) / scale with one scale for all."""

    centre: tuple[float, ...]
    scale: float

    @classmethod
    def learn(cls, name: str, column: pa.Array, weight: float, *, forced: bool) -> Self | LeftOut | None:  # noqa: ARG003
        """Take lists of numbers that have one length."""
        kind = column.type
        if not is_list(kind):
            return None
        if not is_number(kind.value_type):
            return LeftOut(f"lists of {kind.value_type} have no place in a kernel")
        lengths = {len(value) for value in column.drop_null()}
        if len(lengths) > 1 or lengths == {0}:
            return LeftOut("its lists differ in length" if len(lengths) > 1 else "its lists are empty")
        (length,) = lengths
        if length > _LONGEST_VECTOR:
            return LeftOut(f"its lists are long: {length:,} numbers, at most {_LONGEST_VECTOR:,} enter the kernel")
        values, _ = vectors_of(column, length, name)
        values[~np.isfinite(values)] = np.nan
        held = ~np.isnan(values)
        if not held.any():
            return LeftOut("holds no finite number in the rows looked at")
        # Divide before summing: sums of the largest float64 numbers would overflow.
        count = np.maximum(held.sum(axis=0), 1)
        centre = np.where(held, values / count, 0.0).sum(axis=0)
        gaps = np.where(held, values - centre, 0.0)
        largest = float(np.abs(gaps).max())
        spread = largest * float(np.sqrt((((gaps / largest) ** 2).sum(axis=0) / count).sum())) if largest > 0 else 0.0
        scale = spread if np.isfinite(spread) and spread > np.finfo(np.float64).tiny else 1.0
        return cls(name, weight, column.null_count > 0, tuple(centre.tolist()), scale)

    @property
    def size(self) -> int:
        """One for each number."""
        return len(self.centre)

    def takes(self, kind: pa.DataType) -> bool:
        """Return whether a type holds lists of numbers."""
        return is_list(kind) and is_number(kind.value_type)

    def check_values(self) -> None:
        """Refuse a scale that is invalid."""
        numbers = np.array([*self.centre, self.scale], dtype=np.float64)
        if not (self.scale > 0 and self.centre and bool(np.isfinite(numbers).all())):
            raise InputError(f"column {self.name!r} must have a finite centre and a positive scale")

    def encode(self, column: pa.Array, out: Floats) -> Floats | None:
        """Centre, scale and clip the numbers; missing ones become 0."""
        values, absent = vectors_of(column, len(self.centre), self.name)
        values -= np.array(self.centre)
        values /= self.scale
        np.clip(values, -FURTHEST, FURTHEST, out=values)
        np.nan_to_num(values, copy=False, nan=0.0)
        out[...] = values
        return absent
