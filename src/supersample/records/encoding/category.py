"""Columns of text with few values: one coordinate for each."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from supersample._stored import TEXT, tuple_of
from supersample._typing import Floats
from supersample.records.encoding.column_type import ColumnType, LeftOut, built_in
from supersample.records.encoding.values import is_text

__all__ = ["Category"]

#: How many values of a category, the most frequent ones, have a coordinate of their own at most.
_MOST_VALUES = 50
#: Strings longer than this on average are text.
_LONGEST_LABEL = 64
#: Columns with fewer values than this are too short to tell ids from categories.
_ENOUGH = 20
#: If more than this share of a column's strings are distinct, they are ids, or text if their mean length exceeds _ID_LENGTH.
_NEARLY_ALL, _ID_LENGTH = 0.9, 40


@built_in("category", "Category", values=tuple_of(TEXT))
@dataclass(frozen=True)
class Category(ColumnType):
    """One coordinate for each known value, and one for all other values."""

    values: tuple[str, ...]

    @classmethod
    def learn(cls, name: str, column: pa.Array, weight: float, *, forced: bool) -> Self | LeftOut | None:
        """Take text, but neither ids nor long text unless forced to."""
        if not is_text(column.type):
            return None
        missing, column = column.null_count > 0, column.cast(pa.large_string())
        counts: Mapping[str, int] = {each["values"]: each["counts"] for each in pc.value_counts(column.drop_null()).to_pylist()}
        present = sum(counts.values())
        length = sum(len(value) * count for value, count in counts.items()) / present
        if not forced and length > _LONGEST_LABEL:
            return LeftOut(f"looks like text: {length:.0f} characters on average")
        if not forced and present >= _ENOUGH and len(counts) > _NEARLY_ALL * present:
            what = "text" if length > _ID_LENGTH else "an id"
            return LeftOut(f"looks like {what}: {len(counts):,} different values in {present:,} rows")
        frequent = sorted(counts, key=lambda value: (-counts[value], value))[:_MOST_VALUES]
        return cls(name, weight, missing, tuple(sorted(frequent)))

    @property
    def size(self) -> int:
        """One for each known value, and one for all others."""
        return len(self.values) + 1

    @property
    def furthest(self) -> float:
        """Coordinates are 0 or 1."""
        return 1.0

    def takes(self, kind: pa.DataType) -> bool:
        """Return whether a type holds text."""
        return is_text(kind)

    def encode(self, column: pa.Array, out: Floats) -> Floats | None:
        """Write 1 at the place of each row's value."""
        known = pa.array(self.values, type=pa.large_string())
        absent = column.is_null().to_numpy(zero_copy_only=False)
        places = pc.index_in(column.cast(pa.large_string()), value_set=known).fill_null(len(self.values))
        rows = np.flatnonzero(~absent)
        out[...] = 0.0
        out[rows, places.to_numpy(zero_copy_only=False)[rows]] = 1.0
        return np.asarray(absent, dtype=np.float64)
