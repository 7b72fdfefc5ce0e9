"""The coordinates that one column of a table becomes: a number, a one-hot block, or a vector."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from supersample._stored import FLAG, NUMBER, TEXT, one_of, stored, tuple_of
from supersample._typing import Floats
from supersample.errors import InputError
from supersample.records.encoding.columns import is_list, is_number, is_numeric, is_text, numbers_of, plain_storage, vectors_of

__all__ = ["Block", "Category", "Number", "Vector", "block_of"]

#: Numbers are clipped at this many scales from the centre, so that no single column makes a row an outlier.
FURTHEST = 10.0
#: Stored fields of every block.
_SHARED = {"name": TEXT, "weight": NUMBER, "missing": FLAG}


@dataclass(frozen=True)
class Block(ABC):
    """The coordinates of one column of the table in the kernel.

    name: the column; weight: how many ordinary columns it counts for; missing: whether one of its coordinates marks missing
    values. Two typical different values lie at a squared distance of 2 times the weight, whatever the kind.
    """

    label: ClassVar[str]

    name: str
    weight: float
    missing: bool

    @property
    def width(self) -> int:
        """The number of coordinates."""
        return self._own_width + int(self.missing)

    @property
    def _own_width(self) -> int:
        return 1

    @property
    def called(self) -> str:
        """The kind of its values, as shown to users."""
        return self.label

    @property
    def reach(self) -> float:
        """An upper bound of the absolute value of its coordinates."""
        return float(np.sqrt(self.weight)) * max(1.0, self._furthest)

    @property
    def _furthest(self) -> float:
        return FURTHEST

    @abstractmethod
    def takes(self, kind: pa.DataType) -> bool:
        """Return whether columns of a type can be encoded; of an extension type, pass the storage type."""

    def check(self, kind: pa.DataType) -> None:
        """Raise InputError if no column of this type can have produced this block."""
        numbers = np.array([self.weight, *self._numbers()], dtype=np.float64)
        storage = kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind
        if not self.takes(storage):
            raise InputError(f"column {self.name!r} of type {kind} cannot be a {self.label}")
        if not (self.weight > 0 and bool(np.isfinite(numbers).all()) and self._is_scaled):
            raise InputError(f"column {self.name!r} must have a finite centre and a positive scale and weight")

    @property
    def _is_scaled(self) -> bool:
        return True

    def _numbers(self) -> tuple[float, ...]:
        return ()

    def fill(self, column: pa.Array, out: Floats) -> Floats | None:
        """Write the coordinates of a column into `out` (n x width).

        Return 1.0 for each missing value that no coordinate marks and 0.0 for the others; None means that there are none.
        """
        absent = self._fill(plain_storage(column), out)
        if self.missing:
            out[:, -1] = 0.0 if absent is None else absent
            absent = None
        if self.weight != 1.0:
            out *= np.sqrt(self.weight)
        return absent

    @abstractmethod
    def _fill(self, column: pa.Array, out: Floats) -> Floats | None:
        """Write the coordinates of the values; return 1.0 where one is missing and 0.0 elsewhere; None means that none is."""

    def to_plain(self) -> dict[str, Any]:
        """Return the block as plain values."""
        return {"label": self.label, "name": self.name, "weight": self.weight, "missing": self.missing}


@stored(
    "Number",
    {**_SHARED, "kind": one_of("number", "boolean", "time"), "centre": NUMBER, "scale": NUMBER, "furthest": NUMBER},
)
@dataclass(frozen=True)
class Number(Block):
    """A number, a boolean or a time: (value - centre) / scale, clipped to [-furthest, furthest].

    kind: the kind of values, as shown to users: "number", "boolean" or "time".
    """

    label: ClassVar[str] = "number"

    kind: str
    centre: float
    scale: float
    furthest: float = FURTHEST

    @property
    def called(self) -> str:
        """The kind of its values, as shown to users."""
        return self.kind

    @property
    def _furthest(self) -> float:
        return self.furthest

    def takes(self, kind: pa.DataType) -> bool:
        """Return whether a type holds times if this is a block of times, or else numbers or booleans."""
        if self.kind == "time":
            return bool(pa.types.is_temporal(kind) and not pa.types.is_interval(kind))
        return is_numeric(kind)

    @property
    def _is_scaled(self) -> bool:
        return self.scale > 0 and 0 < self.furthest <= FURTHEST and self.kind in ("number", "boolean", "time")

    def _numbers(self) -> tuple[float, ...]:
        return (self.centre, self.scale, self.furthest)

    def _fill(self, column: pa.Array, out: Floats) -> Floats | None:
        values = numbers_of(column)
        own = out[:, 0]
        with np.errstate(over="ignore"):
            np.subtract(values, self.centre, out=own)
            own /= self.scale
        np.maximum(own, -self.furthest, out=own)
        np.minimum(own, self.furthest, out=own)
        if np.issubdtype(values.dtype, np.integer):
            return None
        absent = np.isnan(own)
        if not absent.any():
            return None
        own[absent] = 0.0
        return absent.astype(np.float64)

    def to_plain(self) -> dict[str, Any]:
        """Return the block as plain values."""
        return {**super().to_plain(), "kind": self.kind, "centre": self.centre, "scale": self.scale, "furthest": self.furthest}


@stored("Category", {**_SHARED, "values": tuple_of(TEXT)})
@dataclass(frozen=True)
class Category(Block):
    """One coordinate for each known value, and one for all other values."""

    label: ClassVar[str] = "category"

    values: tuple[str, ...]

    @property
    def _own_width(self) -> int:
        return len(self.values) + 1

    @property
    def _furthest(self) -> float:
        return 1.0

    def takes(self, kind: pa.DataType) -> bool:
        """Return whether a type holds text."""
        return is_text(kind)

    def _fill(self, column: pa.Array, out: Floats) -> Floats | None:
        known = pa.array(self.values, type=pa.large_string())
        absent = column.is_null().to_numpy(zero_copy_only=False)
        places = pc.index_in(column.cast(pa.large_string()), value_set=known).fill_null(len(self.values))
        rows = np.flatnonzero(~absent)
        out[...] = 0.0
        out[rows, places.to_numpy(zero_copy_only=False)[rows]] = 1.0
        return np.asarray(absent, dtype=np.float64)

    def to_plain(self) -> dict[str, Any]:
        """Return the block as plain values."""
        return {**super().to_plain(), "values": list(self.values)}


@stored("Vector", {**_SHARED, "centre": tuple_of(NUMBER), "scale": NUMBER})
@dataclass(frozen=True)
class Vector(Block):
    """A list of numbers of one length, such as an embedding or an image: (value - centre) / scale with one scale for all."""

    label: ClassVar[str] = "vector"

    centre: tuple[float, ...]
    scale: float

    @property
    def _own_width(self) -> int:
        return len(self.centre)

    def takes(self, kind: pa.DataType) -> bool:
        """Return whether a type holds lists of numbers."""
        return is_list(kind) and is_number(kind.value_type)

    @property
    def _is_scaled(self) -> bool:
        return self.scale > 0 and len(self.centre) > 0

    def _numbers(self) -> tuple[float, ...]:
        return (*self.centre, self.scale)

    def _fill(self, column: pa.Array, out: Floats) -> Floats | None:
        values, absent = vectors_of(column, len(self.centre), self.name)
        values -= np.array(self.centre)
        values /= self.scale
        np.clip(values, -FURTHEST, FURTHEST, out=values)
        np.nan_to_num(values, copy=False, nan=0.0)
        out[:, : len(self.centre)] = values
        return absent

    def to_plain(self) -> dict[str, Any]:
        """Return the block as plain values."""
        return {**super().to_plain(), "centre": list(self.centre), "scale": self.scale}


def block_of(plain: Mapping[str, Any]) -> Block:
    """Return the block that `to_plain` described."""
    fields = {key: tuple(value) if isinstance(value, list) else value for key, value in plain.items() if key != "label"}
    block: Block = {"number": Number, "category": Category, "vector": Vector}[plain["label"]](**fields)
    return block
