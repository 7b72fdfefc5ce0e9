"""Column names of data that have them."""

from typing import Any

import numpy as np
import numpy.typing as npt

from supersample.errors import InputError, InputTypeError, MismatchError

__all__ = ["check_names"]


def check_names(data: Any, expected: npt.NDArray[np.object_] | None) -> npt.NDArray[np.object_] | None:
    """Return the column names of a frame if all are strings, else None; refuse names that differ from `expected`."""
    names = _names_of(data)
    if expected is not None and names is not None and list(names) != list(expected):
        raise MismatchError(
            f"X must have the same columns in the same order as before, {list(expected)}; got {list(names)}. The feature names "
            f"should match those that were passed during fit"
        )
    return names


def _names_of(data: Any) -> npt.NDArray[np.object_] | None:
    columns = getattr(data, "column_names", getattr(data, "columns", None))  # pyarrow's `columns` are the columns themselves
    if columns is None or isinstance(data, np.ndarray) or not hasattr(columns, "__iter__"):
        return None
    listed = list(columns)
    names: npt.NDArray[np.object_] = np.empty(len(listed), dtype=object)
    names[:] = listed
    kinds = sorted({type(name).__name__ for name in names})
    if len(kinds) > 1 and "str" in kinds:
        raise InputTypeError(
            f"X must have column names that are all strings, or none that is, got names of the types {', '.join(kinds)}; "
            f"rename them, as with X.columns = X.columns.astype(str)"
        )
    if kinds != ["str"]:
        return None
    if len(set(names)) < len(names):
        raise InputError(f"X must have columns of different names, got {_twice(names)!r} more than once; rename one")
    return names


def _twice(names: npt.NDArray[np.object_]) -> Any:
    return next(name for place, name in enumerate(names) if name in names[:place])
