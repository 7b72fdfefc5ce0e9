"""Categories as files of format 1 hold them: one coordinate for each value. No new column is encoded so."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from supersample._stored import TEXT, tuple_of
from supersample._typing import Floats
from supersample.records.encoding.column_type import ColumnType, built_in
from supersample.records.encoding.values import is_text

__all__ = ["Category"]


@built_in("category", "Category", values=tuple_of(TEXT))
@dataclass(frozen=True)
class Category(ColumnType):
    """One coordinate for each known value, and one for all other values."""

    values: tuple[str, ...]

    @classmethod
    def learn(cls, name: str, column: pa.Array, weight: float, *, forced: bool) -> None:  # noqa: ARG003
        """Take no column: `HashedCategory` takes those of text."""
        return

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
