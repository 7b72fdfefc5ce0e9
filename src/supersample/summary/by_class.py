"""Rows with labels: how many rows each class has in a subset, and the rows of any kind of table at given places."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from supersample._text import plural
from supersample._typing import Indices
from supersample._validation import check_count
from supersample.errors import InputError, InputTypeError, MismatchError

__all__ = ["chosen_by_class", "divide", "taken"]


def chosen_by_class(
    y: Any, n: int, total: Any, quotas: Any, choose_from: Callable[[Indices, int, int, Indices], Indices]
) -> tuple[Indices, str]:
    """Return rows of each class, in order: in proportion to their counts, or as many as `quotas` says; and what is missing.

    choose_from: chooses at most so many of the rows at some places, for the class of this number, beside the rows chosen
    before. The smallest class comes first, so that it has the most room.
    """
    classes, places = _places_of_classes(y, n)
    counts = np.array([each.size for each in places])
    sizes = _shared(check_count(total, "n_prototypes"), n, counts) if quotas is None else _given(quotas, classes, counts)
    chosen: Indices = np.empty(0, dtype=np.int64)
    short: list[str] = []
    for place in np.argsort(counts, kind="stable").tolist():
        if sizes[place] == 0:
            continue
        found = choose_from(places[place], int(sizes[place]), place, chosen)
        chosen = np.concatenate([chosen, found])
        if found.size < sizes[place]:
            short.append(f"{found.size:,} of {plural(int(sizes[place]), 'row')} of class {classes[place]!s}")
    return np.sort(chosen), f"fewer rows than asked for: {', '.join(short)}" if short else ""


def _shared(wanted: int, n: int, counts: Indices) -> Indices:
    if wanted < counts.size:
        raise InputError(
            f"n_prototypes must be at least the number of classes of y, {counts.size}, so that each is represented, got "
            f"{wanted}; ask for more rows, or join classes"
        )
    return divide(min(wanted, n), counts)


def _given(quotas: Any, classes: npt.NDArray[Any], counts: Indices) -> Indices:
    """Return the number of rows of each class that a mapping gives; refuse what the classes do not have."""
    if not isinstance(quotas, Mapping):
        raise InputTypeError(
            f"quotas must be a mapping of classes to numbers of rows, such as {{'a': 10, 'b': 5}}, got "
            f"{type(quotas).__name__}; None divides n_prototypes in proportion"
        )
    known = [each.item() if isinstance(each, np.generic) else each for each in classes]
    unknown, missing = [each for each in quotas if each not in known], [each for each in known if each not in quotas]
    if unknown or missing:
        what = f"has {unknown[0]!r}, which is no class of y" if unknown else f"has no number for class {missing[0]!r} of y"
        raise InputError(f"quotas {what}; give each class its number of rows, 0 for none")
    sizes = np.array([check_count(quotas[each], f"quotas[{each!r}]", minimum=0) for each in known], dtype=np.int64)
    if (sizes > counts).any():
        place = int(np.argmax(sizes > counts))
        raise InputError(
            f"quotas asks for {sizes[place]} rows of class {known[place]!r}, which has {counts[place]}; ask for fewer"
        )
    if not sizes.any():
        raise InputError("quotas must ask for at least one row, got 0 for every class")
    return sizes


def _places_of_classes(y: Any, n: int) -> tuple[npt.NDArray[Any], list[Indices]]:
    """Return the classes, sorted, and the places of the rows of each; refuse what are not the classes of n rows."""
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
    found, classes = np.unique(labels, return_inverse=True)
    order = np.argsort(classes, kind="stable")
    return found, np.split(order, np.flatnonzero(np.diff(classes[order])) + 1)


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
