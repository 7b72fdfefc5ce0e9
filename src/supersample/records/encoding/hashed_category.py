"""Columns of categories: a unit vector for each value, seeded by a hash of the value."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import pyarrow as pa

from supersample._hashing import hash_words
from supersample._typing import Floats
from supersample.records.encoding.column_type import ColumnType, built_in
from supersample.records.encoding.values import fill_by_value, hashes_of, is_text

__all__ = ["HashedCategory"]

#: Coordinates of a category: unlike values lie at a squared distance of 2 with a standard deviation of 2 / sqrt(_WIDTH).
_WIDTH = 32
#: What two bits of a hash stand for: the means of the quarters of a standard normal, up to a factor.
_LEVELS = np.array([-1.2711, -0.3247, 0.3247, 1.2711])


@built_in("hashed", "HashedCategory")
@dataclass(frozen=True)
class HashedCategory(ColumnType):
    """A unit vector for each value, drawn by a stable hash of column and value.

    Nothing is learned, so values that the first rows do not show are told apart like all others, in any order of rows and on
    either side of a comparison.
    """

    @classmethod
    def learn(cls, name: str, column: pa.Array, weight: float, *, forced: bool) -> Self | None:  # noqa: ARG003
        """Take text, whole numbers and booleans."""
        return cls(name, weight, column.null_count > 0) if _is_label(column.type) else None

    @property
    def size(self) -> int:
        """The same for every column."""
        return _WIDTH

    @property
    def furthest(self) -> float:
        """The vectors have length 1."""
        return 1.0

    @property
    def called(self) -> str:
        """The kind of its values, as shown to users."""
        return "category"

    def takes(self, kind: pa.DataType) -> bool:
        """Return whether a type holds text, whole numbers or booleans."""
        return _is_label(kind)

    def encode(self, column: pa.Array, out: Floats) -> Floats | None:
        """Write the vector of each value; missing ones become 0."""
        return fill_by_value(column, self._vectors, out)

    def _vectors(self, values: pa.Array) -> Floats:
        """Return the vectors of some values."""
        mixed = hash_words(hashes_of(values) ^ hashes_of(pa.array([self.name])))
        bits = (mixed[:, None] >> np.arange(0, 2 * _WIDTH, 2, dtype=np.uint64)) & np.uint64(3)
        vectors = _LEVELS[bits.astype(np.intp)]
        return np.asarray(vectors / np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None])


def _is_label(kind: pa.DataType) -> bool:
    return is_text(kind) or bool(pa.types.is_integer(kind) or pa.types.is_boolean(kind))
