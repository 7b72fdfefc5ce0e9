"""State as plain values: a tree of numbers, strings, lists and named records, with its arrays stored separately.

Only classes that declare their stored fields (`_stored.py`) can be written or read; a tree that names another class, or holds
anything but the fields of its class, is refused. Nothing is evaluated or imported by name. Points of rows are not written: they
follow from the table's rows and its encoding.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from supersample._stored import form_named, form_of
from supersample._typing import Floats, Indices
from supersample.errors import InputError
from supersample.features import FeatureMap
from supersample.kernels import Function

__all__ = ["pack", "unpack"]

Arrays = list[np.ndarray[Any, Any]]
PointsAt = Callable[[Indices], Floats]

#: The keys of a tree that name a class, and the keys that hold its fields.
_FIELDS = {"record": "fields", "map": "parts"}


def pack(value: Any, arrays: Arrays) -> Any:
    """Return a tree that JSON can hold; arrays are appended to `arrays` and referred to by their index."""
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
    form = form_of(value)
    if form is not None:
        held = {name: getattr(value, name) for name in form.fields}
        written = [name for name in held if name not in form.later or held[name] is not form.later[name]]
        fields = {name: pack(held[name], arrays) for name in written}
        return {form.tag: form.name, _FIELDS[form.tag]: fields}
    if isinstance(value, tuple):
        return {"tuple": [pack(each, arrays) for each in value]}
    raise InputError(_unstorable(value))


def unpack(tree: Any, arrays: Arrays, points_at: PointsAt | None = None) -> Any:
    """Return what `pack` was given; raises KeyError, TypeError or ValueError on anything else.

    points_at: returns the points of the rows at given positions of the stream.
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
    tag = "map" if "map" in tree else "record"
    form = form_named(tree[tag])
    if form.tag != tag:
        raise TypeError(f"{form.name} is no {tag}")
    values = {**form.absent, **form.later}
    values |= {name: unpack(each, arrays, points_at) for name, each in tree[_FIELDS[tag]].items()}
    form.check(values)
    if form.rebuilt is not None:
        if points_at is None:
            raise ValueError(f"{form.name} have no place here")
        missing, known = form.rebuilt
        values[missing] = points_at(values[known])
    return form.make(**values)


def _unstorable(value: Any) -> str:
    if isinstance(value, FeatureMap):
        name = type(value).__name__
        return (
            f"features: a map of your own ({name}) cannot be stored until it is registered: see "
            f"supersample.features.register, or use one of supersample.features"
        )
    what = f"the kernel function {value.name!r}" if isinstance(value, Function) else f"a {type(value).__name__}"
    return (
        f"{what} cannot be stored: a file holds names and numbers, no code; make it a class and register it (see "
        f"supersample.kernels.register), or use one of supersample's own"
    )


def _place(index: Any, length: int) -> int:
    if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < length:
        raise ValueError(f"there is no array {index!r}")
    return index
