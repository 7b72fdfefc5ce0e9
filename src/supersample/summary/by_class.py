"""Rows with labels: how many rows each class has in a subset, and the rows of any kind of table at given places."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from supersample._typing import Indices
from supersample.errors import InputError, MismatchError

__all__ = ["divide", "places_of_classes", "taken"]


def places_of_classes(y: Any, n: int) -> list[Indices]:
    """Return the places of the rows of each class, classes in sorted order; refuse what are not the classes of n rows."""
    labels: npt.NDArray[Any] = np.asarray(y)
    if labels.ndim != 1:
        raise InputError(f"y must have one dimension, the class of each row, got shape {labels.shape}; pass one label a row")
    if labels.size != n:
        raise MismatchError(f"y must have one label for each of the {n} rows of X, got {labels.size}; pass those of X")
    if not _are_classes(labels):
        raise InputError(
            f"y must hold the class of each row, got {labels.dtype} values that are none; pass whole numbers, truth values or "
            f"text, without missing ones; cut other numbers into classes first"
        )
    classes = np.unique(labels, return_inverse=True)[1]
    order = np.argsort(classes, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(classes[order])) + 1)


def _are_classes(labels: npt.NDArray[Any]) -> bool:
    """Return whether values are labels that can be told apart and sorted; missing ones are not."""
    if labels.dtype.kind == "f":
        return bool(np.isfinite(labels).all() and (labels == np.round(labels)).all())
    if labels.dtype.kind != "O":
        return labels.dtype.kind in "biuUST"
    try:  # None and the missing values of pandas do not compare, NaN does not equal itself
        return bool((labels == labels).all()) and None not in labels and np.unique(labels).size > 0
    except TypeError:
        return False


def divide(total: int, counts: Indices) -> Indices:
    """Divide rows over classes in proportion to their counts, one at least for each.

    One row after the other goes to the class that lacks most to its proportion. total: from the number of classes to the sum of
    counts; then no class is given more rows than it has.

    >>> divide(10, np.array([900, 95, 5])).tolist()
    [8, 1, 1]
    """
    parts = total * counts / counts.sum()
    given: Indices = np.ones(counts.size, dtype=np.int64)
    for _ in range(total - counts.size):
        given[np.argmax(parts - given)] += 1
    return given


def taken(data: Any, rows: Indices) -> Any:
    """Return some rows, or some labels, as the kind of container that they came in."""
    if hasattr(data, "iloc"):
        return data.iloc[rows]
    if isinstance(data, pa.Table | pa.ChunkedArray | pa.Array):
        return data.take(pa.array(rows))
    if isinstance(data, list | tuple):
        return type(data)(data[row] for row in rows.tolist())
    return data[rows] if hasattr(data, "__getitem__") else np.asarray(data)[rows]
