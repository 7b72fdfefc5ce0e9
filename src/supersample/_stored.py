"""A registry of stored classes: the name of a class in files, its fields, and the values that each field may hold.

The codec of files looks classes up here by name. A file holds names only; a name that is not registered is refused. Type
annotations are not used: their values differ between versions of Python and NumPy, and files must not.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from supersample.errors import InputError, InputTypeError

__all__ = [
    "BYTES", "DTYPE", "FLAG", "FLOATS", "INDICES", "INTEGER", "NUMBER", "REALS", "SINGLES", "TEXT", "FieldKind", "Form",
    "UnknownNameError", "any_of", "check_fields", "foreign_modules", "form_named", "form_of",
    "instance_of", "kind_of", "one_of", "optional",
    "stored", "tuple_of",
]  # fmt: skip

T = TypeVar("T")

#: Whole numbers up to this size are exact as float64.
_EXACT = 1 << 53


class FieldKind(NamedTuple):
    """The kind of values that a stored field may hold: its name for messages, and a test of a value."""

    name: str
    fits: Callable[[Any], bool]


@dataclass(frozen=True)
class Form:
    """The stored form of a class.

    tag: what the class is, "record" or "map" (of features).
    make: builds an object from the fields by name.
    rebuilt: a field that is not stored, and the field from which the reader of a file restores it.
    absent: the values of fields that files of earlier formats do not have. later: fields added since, and the values with
    which they are left out of a file, so that files without them stay as they were.
    """

    name: str
    cls: type
    fields: Mapping[str, FieldKind]
    tag: Literal["record", "map"]
    make: Callable[..., Any]
    rebuilt: tuple[str, str] | None
    absent: Mapping[str, Any]
    later: Mapping[str, Any]

    def check(self, values: Mapping[str, Any]) -> None:
        """Refuse values whose names or kinds differ from those of the fields."""
        if values.keys() != self.fields.keys():
            raise TypeError(f"{self.name} must have the fields {', '.join(self.fields)}, not {', '.join(values)}")
        for field, kind in self.fields.items():
            if not kind.fits(values[field]):
                raise TypeError(f"{self.name}.{field} must be {kind.name}, not {type(values[field]).__name__}")


class UnknownNameError(LookupError):
    """A stored name that no class was registered under."""


_BY_NAME: dict[str, Form] = {}
_BY_CLASS: dict[type, Form] = {}


def stored(
    name: str,
    fields: Mapping[str, FieldKind],
    *,
    tag: Literal["record", "map"] = "record",
    make: str | None = None,
    rebuilt: tuple[str, str] | None = None,
    absent: Mapping[str, Any] | None = None,
    later: Mapping[str, Any] | None = None,
) -> Callable[[type[T]], type[T]]:
    """Register the decorated class under a permanent name: files that hold the name must stay readable.

    make: the class method that builds an object from the fields by name; by default the class itself. absent: the values of
    fields that files of earlier formats do not have. later: fields added since the present format, and the plain values with
    which they are not written.

    >>> @stored("Example", {"size": INTEGER})
    ... @dataclass(frozen=True)
    ... class Example:
    ...     size: int
    >>> form_named("Example").cls is Example
    True
    """

    def register(cls: type[T]) -> type[T]:
        taken = _BY_NAME.get(name)
        if taken is not None and (taken.cls.__module__, taken.cls.__qualname__) != (cls.__module__, cls.__qualname__):
            raise InputError(f"the name {name!r} is taken by {taken.cls.__module__}.{taken.cls.__qualname__}; choose another")
        form = Form(name, cls, fields, tag, cls if make is None else getattr(cls, make), rebuilt, absent or {}, later or {})
        _BY_NAME[name] = _BY_CLASS[cls] = form
        return cls

    return register


def form_named(name: Any) -> Form:
    """Return the form that was registered under a name; UnknownNameError if none was."""
    if isinstance(name, str) and name not in _BY_NAME:
        raise UnknownNameError(name)
    return _BY_NAME[name]


def form_of(value: Any) -> Form | None:
    """Return the form of an object's own class, None if it has none; forms are not inherited."""
    return _BY_CLASS.get(type(value))


def foreign_modules() -> list[str]:
    """Return the modules outside this package whose classes are registered; classes of a script itself are in none."""
    names = {form.cls.__module__ for form in _BY_NAME.values()}
    return sorted(name for name in names if name != "__main__" and not name.startswith("supersample."))


def check_fields(value: Any) -> None:
    """Refuse an object whose fields hold values of other kinds than its class declares."""
    form = _BY_CLASS[type(value)]
    form.check({field: getattr(value, field) for field in form.fields})


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, float) or (_is_integer(value) and abs(value) <= _EXACT)


def _array_of(*dtypes: npt.DTypeLike) -> FieldKind:
    names = [np.dtype(each) for each in dtypes]
    shown = " or ".join(each.name for each in names)
    return FieldKind(f"an array of {shown}", lambda value: isinstance(value, np.ndarray) and value.dtype in names)


INTEGER = FieldKind("a whole number", _is_integer)
NUMBER = FieldKind("a number", _is_number)
TEXT = FieldKind("text", lambda value: isinstance(value, str))
FLAG = FieldKind("true or false", lambda value: isinstance(value, bool))
DTYPE = FieldKind("float32 or float64", lambda value: isinstance(value, np.dtype) and value in (np.float32, np.float64))
FLOATS = _array_of(np.float64)
SINGLES = _array_of(np.float32)
REALS = _array_of(np.float32, np.float64)
INDICES = _array_of(np.int64)
BYTES = _array_of(np.uint8)
_ARRAY = _array_of(np.float64, np.float32, np.int64)


def kind_of(field: str, given: Any, *bases: type) -> FieldKind:
    """Return the kind of values that a plain type, or a class that extends one of `bases`, stands for."""
    if isinstance(given, FieldKind):
        return given
    if isinstance(given, type) and issubclass(given, bases):
        return instance_of(given)
    if given not in _PLAIN:
        shown = ", ".join(each.__name__ for each in _PLAIN)
        raise InputTypeError(f"{field} must be given as one of the types {shown}, got {given!r}")
    return _PLAIN[given]


def instance_of(cls: type) -> FieldKind:
    """Allow objects of a class."""
    return FieldKind(f"a {cls.__name__}", lambda value: isinstance(value, cls))


def one_of(*words: str) -> FieldKind:
    """Allow some words."""
    return FieldKind(f"one of {', '.join(map(repr, words))}", lambda value: isinstance(value, str) and value in words)


def optional(kind: FieldKind) -> FieldKind:
    """Allow None too."""
    return FieldKind(f"{kind.name} or nothing", lambda value: value is None or kind.fits(value))


def any_of(*kinds: FieldKind) -> FieldKind:
    """Allow values of any of some kinds."""
    return FieldKind(" or ".join(kind.name for kind in kinds), lambda value: any(kind.fits(value) for kind in kinds))


def tuple_of(*kinds: FieldKind, repeated: bool = True) -> FieldKind:
    """Allow tuples of one kind of any length, or, with repeated=False, of just these kinds in order."""
    shown = ", ".join(kind.name for kind in kinds)
    if not repeated:
        return FieldKind(f"a tuple ({shown})", lambda value: isinstance(value, tuple) and _each_fits(value, kinds))
    only = kinds[0]
    return FieldKind(f"a tuple of {shown}", lambda value: isinstance(value, tuple) and all(map(only.fits, value)))


def _each_fits(values: tuple[Any, ...], kinds: Iterable[FieldKind]) -> bool:
    wanted = tuple(kinds)
    return len(values) == len(wanted) and all(kind.fits(value) for kind, value in zip(wanted, values, strict=True))


#: The kinds of values that plain types stand for.
_PLAIN: dict[type, FieldKind] = {
    float: NUMBER, int: INTEGER, str: TEXT, bool: FLAG, tuple: tuple_of(any_of(NUMBER, TEXT)), np.ndarray: _ARRAY,
}  # fmt: skip
