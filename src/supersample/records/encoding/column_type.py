"""Column types: how a column of a table becomes coordinates of the kernel. One class each, found through one registry."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import pyarrow as pa

from supersample._registry import Registry
from supersample._stored import FLAG, NUMBER, TEXT, FieldKind, UnknownNameError, form_of, kind_of, stored
from supersample._text import one_line
from supersample._typing import Floats
from supersample.errors import InputError, InputTypeError
from supersample.records.encoding.values import plain_storage

__all__ = ["COLUMN_TYPES", "FURTHEST", "ColumnType", "LeftOut", "built_in", "column_from_plain", "own_types", "register"]

#: Vectors, and numbers in files of format 1, are clipped at this many scales, so that no column makes a row an outlier.
FURTHEST = 10.0


@dataclass(frozen=True)
class LeftOut:
    """Why a column does not enter the kernel, in words that follow its name: "looks like an id"."""

    why: str


@dataclass(frozen=True)
class ColumnType(ABC):
    """The coordinates of one column of a table in the kernel; what its class says of columns, and what was learned from one.

    name: the column; weight: how many ordinary columns it counts for; missing: whether one of its coordinates marks missing
    values. Two typical different values lie at a squared distance of 2 times the weight, whatever the type.
    """

    #: The name that the class is registered under.
    label: ClassVar[str]
    #: Whether it is one of the package's own; what others write is checked.
    _built_in: ClassVar[bool] = False

    name: str
    weight: float
    missing: bool

    @classmethod
    @abstractmethod
    def learn(cls, name: str, column: pa.Array, weight: float, *, forced: bool) -> "Self | LeftOut | None":
        """Return how a column enters the kernel, from some of its rows; why it does not; or None if it is of another type.

        forced: the user named the column, so even ids and text enter.
        """

    @abstractmethod
    def takes(self, kind: pa.DataType) -> bool:
        """Return whether columns of an Arrow type can be encoded; of an extension type, the storage type is asked for."""

    @abstractmethod
    def encode(self, column: pa.Array, out: Floats) -> Floats | None:
        """Write the coordinates of the values (n x size); return 1.0 where a value is missing, else 0.0; None if none is."""

    @property
    def size(self) -> int:
        """The number of coordinates, not counting the one that marks missing values."""
        return 1

    @property
    def furthest(self) -> float:
        """An upper bound of the absolute value of a coordinate, for a weight of 1."""
        return FURTHEST

    @property
    def called(self) -> str:
        """The kind of its values, as shown to users."""
        return self.label

    def check_values(self) -> None:  # noqa: B027  most types have nothing to check
        """Raise InputError if a field read from a file holds an impossible value."""

    @property
    def width(self) -> int:
        """The number of coordinates."""
        return self.size + int(self.missing)

    @property
    def reach(self) -> float:
        """An upper bound of the absolute value of its coordinates."""
        return float(np.sqrt(self.weight)) * max(1.0, self.furthest)

    def check(self, kind: pa.DataType) -> None:
        """Raise InputError if no column of this Arrow type can have given these coordinates."""
        storage = kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind
        if not self.takes(storage):
            raise InputError(f"column {self.name!r} of type {kind} cannot be a {self.called}")
        if not (np.isfinite(self.weight) and self.weight > 0):
            raise InputError(f"column {self.name!r} must have a finite and positive weight")
        self.check_values()

    def fill(self, column: pa.Array, out: Floats) -> Floats | None:
        """Write the coordinates of a column into `out` (n x width).

        Return 1.0 for each missing value that no coordinate marks and 0.0 for the others; None means that there are none.
        """
        encode = self.encode if self._built_in else self._encode_checked
        absent = encode(plain_storage(column), out[:, : self.size])
        if self.missing:
            out[:, -1] = 0.0 if absent is None else absent
            absent = None
        if self.weight != 1.0:
            out *= np.sqrt(self.weight)
        return absent

    def _encode_checked(self, column: pa.Array, out: Floats) -> Floats | None:
        """Encode by a class that a user wrote; name it in all that goes wrong."""
        who = f"column {self.name!r}: its column type {self.label!r}"
        out[...] = np.nan
        try:
            absent = self.encode(column, out)
        except Exception as error:
            cause = f"{type(error).__name__}: {one_line(error)}"
            raise InputError(f"{who} cannot encode it ({cause}); correct its encode()") from error
        if not bool(np.isfinite(out).all()):
            raise InputError(f"{who} must write a finite number into every coordinate, and did not; correct its encode()")
        largest = float(np.abs(out).max(initial=0.0))
        if largest > self.furthest:
            raise InputError(
                f"{who} must write numbers of size at most furthest = {self.furthest:g}, got {largest:g}; clip or scale them "
                f"in encode(), or raise furthest"
            )
        if absent is not None and (np.shape(absent) != (len(column),) or not bool(np.isin(absent, (0.0, 1.0)).all())):
            raise InputError(f"{who} must return None, or 0.0 or 1.0 for each row, and did not; correct its encode()")
        return absent

    def to_plain(self) -> dict[str, Any]:
        """Return the name of the class and its fields as plain values."""
        form = form_of(self)
        assert form is not None
        values = {field: getattr(self, field) for field in form.fields}
        return {"label": self.label} | {key: list(each) if isinstance(each, tuple) else each for key, each in values.items()}


C = TypeVar("C", bound=ColumnType)

#: The types that a column may have; the one that was registered last is asked first.
COLUMN_TYPES: Registry[type[ColumnType]] = Registry("column type")
_PLAIN = (float, int, str, bool, tuple)


def register(label: str, **fields: Any) -> Callable[[type[C]], type[C]]:
    """Register a column type: it is asked before all that were registered earlier, and summaries that use it can be stored.

    fields: the fields of the class beyond those of ColumnType, each with the type of its values: float, int, str, bool or tuple
    (of numbers or text). A file holds the name alone: the process that loads it must have registered the class before.

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> import pyarrow as pa
    >>> import supersample as ss
    >>> @ss.columns.register("angle")
    ... @dataclass(frozen=True)
    ... class Angle(ss.columns.ColumnType):
    ...     size, furthest = 2, 1.0
    ...
    ...     @classmethod
    ...     def learn(cls, name, column, weight, *, forced):
    ...         return cls(name, weight, missing=False) if name.endswith("_angle") else None
    ...
    ...     def takes(self, kind):
    ...         return pa.types.is_floating(kind)
    ...
    ...     def encode(self, column, out):
    ...         values = column.to_numpy(zero_copy_only=False)
    ...         out[:, 0], out[:, 1] = np.nan_to_num(np.cos(values)), np.nan_to_num(np.sin(values))
    ...         return np.isnan(values).astype(float)
    >>> table = pa.table({"wind_angle": np.linspace(0.0, 6.0, 50)})
    >>> [(column.kind, column.width) for column in ss.summarize(table, 5, random_state=0).columns]
    [('angle', 2)]
    """

    def add(cls: type[C]) -> type[C]:
        if not (isinstance(cls, type) and issubclass(cls, ColumnType)):
            raise InputTypeError(f"register must decorate a class that extends supersample.columns.ColumnType, got {cls!r}")
        for field, given in fields.items():
            if given not in _PLAIN:
                raise InputTypeError(f"{field} must be given as float, int, str, bool or tuple, got {given!r}")
        return _added(cls, label, label, {field: kind_of(field, given) for field, given in fields.items()})

    return add


def built_in(label: str, stored_name: str, **fields: FieldKind) -> Callable[[type[C]], type[C]]:
    """Register a column type of the package, with the name that files have for it."""

    def add(cls: type[C]) -> type[C]:
        cls._built_in = True
        return _added(cls, label, stored_name, fields)

    return add


def _added(cls: type[C], label: str, stored_name: str, fields: Mapping[str, FieldKind]) -> type[C]:
    COLUMN_TYPES.add(label, cls)
    cls.label = label
    return stored(stored_name, {"name": TEXT, "weight": NUMBER, "missing": FLAG, **fields})(cls)


def own_types() -> dict[str, type[ColumnType]]:
    """Return the column types that users registered, the last one first."""
    return {label: cls for label, cls in reversed(list(COLUMN_TYPES.items())) if not cls._built_in}


def column_from_plain(plain: Mapping[str, Any]) -> ColumnType:
    """Return what `to_plain` described."""
    label = plain["label"]
    if isinstance(label, str) and label not in COLUMN_TYPES:
        raise UnknownNameError(label)
    fields = {key: tuple(value) if isinstance(value, list) else value for key, value in plain.items() if key != "label"}
    cls: Callable[..., ColumnType] = COLUMN_TYPES[label]
    return cls(**fields)
