"""State as plain values: a tree of numbers, strings, lists and named records, with its arrays set apart.

Only the classes listed here can be written or come back; a tree that names any other, or that holds anything but the fields of
its class, is refused. Nothing is evaluated or imported by name. Points of rows are not written: they follow from the table's
rows and its encoding.
"""

import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from typing import Any

import numpy as np

from supersample._random import Seed
from supersample._typing import Floats, Indices
from supersample.embedding.moments import Moments
from supersample.errors import InputError
from supersample.features import Fastfood, FeatureMap, Fourier, Landmark, Nystroem
from supersample.features.judge import Judge
from supersample.features.kernels import Cauchy, Function, Gaussian, Laplacian, Matern, Sum
from supersample.selection.background import Background, Timed
from supersample.selection.criticisms import Criticisms
from supersample.selection.plan import Plan, Settings
from supersample.selection.reservoir import Reservoir
from supersample.selection.rows import Rows
from supersample.selection.state import Stream
from supersample.selection.tree import Tree
from supersample.summary.outcome import Outcome, Reading

__all__ = ["pack", "require_types", "unpack"]

Arrays = list[np.ndarray[Any, Any]]
PointsAt = Callable[[Indices], Floats]

_RECORDS: dict[str, type] = {
    each.__name__: each
    for each in (
        Seed, Moments, Background, Timed, Criticisms, Plan, Settings, Reservoir, Rows, Stream, Tree, Outcome, Reading,
        Gaussian, Laplacian, Cauchy, Matern, Sum,
    )
}  # fmt: skip
#: Arguments of the maps that are made anew, seed apart.
_WAVES: dict[str, tuple[Callable[..., FeatureMap], tuple[str, ...]]] = {
    "Fourier": (Fourier, ("kernel", "n_features", "form", "frequencies", "dtype", "origin")),
    "Fastfood": (Fastfood, ("kernel", "n_features", "form", "dtype", "origin")),
    "Judge": (Judge, ("kernel", "n_features", "dtype", "origin")),
}


def pack(value: Any, arrays: Arrays) -> Any:
    """Return a tree that JSON can hold; arrays are appended to `arrays` and named by their place."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else {"float": repr(float(value))}
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, np.dtype):
        return {"dtype": value.name}
    if isinstance(value, np.ndarray):
        arrays.append(np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<")))
        return {"array": len(arrays) - 1}
    if isinstance(value, FeatureMap):
        return _pack_map(value, arrays)
    name = type(value).__name__
    if _RECORDS.get(name) is type(value):
        kept = [each for each in _field_names(value) if (name, each) != ("Rows", "points")]
        return {"record": name, "fields": {each: pack(getattr(value, each), arrays) for each in kept}}
    if isinstance(value, tuple):
        return {"tuple": [pack(each, arrays) for each in value]}
    what = f"the kernel function {value.name!r}" if isinstance(value, Function) else f"a {name}"
    raise InputError(
        f"{what} cannot be stored: only what a file can describe can; use a kernel or feature map of supersample's"
    )


def unpack(tree: Any, arrays: Arrays, points_at: PointsAt | None = None) -> Any:
    """Return what `pack` was given; raises KeyError, TypeError or ValueError on anything else.

    points_at: gives the points of rows at some positions of the stream.
    """
    if not isinstance(tree, Mapping):
        if isinstance(tree, list):
            raise TypeError("a list has no meaning here")
        return tree
    if "float" in tree:
        return float(tree["float"])
    if "dtype" in tree:
        return np.dtype({"float32": np.float32, "float64": np.float64}[tree["dtype"]])
    if "array" in tree:
        return arrays[_place(tree["array"], len(arrays))]
    if "tuple" in tree:
        return tuple(unpack(each, arrays, points_at) for each in tree["tuple"])
    if "map" in tree:
        return _unpack_map(tree["map"], {key: unpack(each, arrays, points_at) for key, each in tree["parts"].items()})
    kind = _RECORDS[tree["record"]]
    values = {key: unpack(each, arrays, points_at) for key, each in tree["fields"].items()}
    if kind is Rows:
        if points_at is None:
            raise ValueError("rows have no place here")
        values["points"] = points_at(values["positions"])
    _require_types(kind, values)
    return kind(**values)


def require_types(value: Any) -> None:
    """Refuse a dataclass that holds anything but what its fields declare."""
    _require_types(type(value), {each.name: getattr(value, each.name) for each in fields(value)})


def _require_types(kind: type, values: Mapping[str, Any]) -> None:
    for name, expected in _declared(kind).items():
        if (name in values) and not _fits(values[name], expected):
            raise TypeError(f"{kind.__name__}.{name} must be {expected}, not {type(values[name]).__name__}")


@cache
def _declared(kind: type) -> Mapping[str, Any]:
    return typing.get_type_hints(kind)


def _pack_map(value: FeatureMap, arrays: Arrays) -> Any:
    name = type(value).__name__
    if type(value) is Landmark:
        parts: dict[str, Any] = {"spanned": value.spanned, "waves": value.waves, "overlap": value.overlap}
    elif type(value) is Nystroem:
        parts = {each: getattr(value, each) for each in ("kernel", "landmarks", "whitening", "tolerance", "dtype")}
    elif name in _WAVES:
        parts = {each: getattr(value, each) for each in (*_WAVES[name][1], "seed")}
    else:
        raise InputError(f"features: a map of your own ({name}) cannot be stored; use one of supersample.features")
    return {"map": name, "parts": {key: pack(each, arrays) for key, each in parts.items()}}


def _unpack_map(name: str, parts: dict[str, Any]) -> FeatureMap:
    if name == "Landmark":
        return Landmark.restored(**parts)
    if name == "Nystroem":
        return Nystroem.restored(**parts)
    make, _ = _WAVES[name]
    seed = parts.pop("seed")
    return make(**parts, random_state=seed.sequence())


def _field_names(value: Any) -> list[str]:
    return list(getattr(value, "_fields", ())) or [each.name for each in fields(value)]


def _place(index: Any, length: int) -> int:
    if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < length:
        raise ValueError(f"there is no array {index!r}")
    return index


def _fits(value: Any, expected: Any) -> bool:
    """Say whether a value is of the type that its field declares."""
    origin, arguments = typing.get_origin(expected), typing.get_args(expected)
    if expected is Any:
        return True
    if origin is typing.Literal:
        return value in arguments
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, each) for each in arguments)
    if origin is np.ndarray:
        return isinstance(value, np.ndarray) and value.dtype == _dtype_of(arguments[1])
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return all(_fits(each, arguments[0]) for each in value)
        return len(value) == len(arguments) and all(map(_fits, value, arguments))
    if expected is float:
        return isinstance(value, float) or (type(value) is int and abs(value) <= 1 << 53)  # beyond, it is no float of ours
    if expected is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if expected is None or expected is type(None):
        return value is None
    return isinstance(expected, type) and isinstance(value, expected)


def _dtype_of(expected: Any) -> Any:
    return typing.get_args(expected)[0]
