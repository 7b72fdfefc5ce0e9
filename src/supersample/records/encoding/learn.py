"""Learn from the first rows of a table how each of its columns enters the kernel."""

import re
from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from supersample._typing import Floats
from supersample.records.encoding.blocks import Block, Category, Number, Vector
from supersample.records.encoding.columns import is_list, is_number, is_text, numbers_of, plain_storage, vectors_of

__all__ = ["LeftOut", "learn_block"]

#: How many values of a category, the most frequent ones, have a coordinate of their own at most.
_MOST_VALUES = 50
#: Strings longer than this on average are text.
_LONGEST_LABEL = 64
#: Columns with fewer values than this are too short to tell ids from categories.
_ENOUGH = 20
#: If more than this share of a column's strings are distinct, they are ids, or text if their mean length exceeds _ID_LENGTH.
_NEARLY_ALL, _ID_LENGTH = 0.9, 40
#: The longest vector that enters the kernel.
_LONGEST_VECTOR = 4096
#: The distance between the quartiles, and between the 5% and 95% points, of the standard normal.
_NORMAL_QUARTILES, _NORMAL_TAILS = 1.349, 3.29
_ID_NAME = re.compile(r"(^|[\W_])(id|ids|key|uuid|guid|rowid|index)$|[a-z]Id$", re.IGNORECASE)


class LeftOut(str):
    """Why a column does not enter the kernel."""


def learn_block(name: str, column: pa.Array, weight: float, *, forced: bool) -> Block | LeftOut:
    """Return how a column enters the kernel, or why it does not.

    forced: the user named the column, so even ids and text enter, as numbers and categories.
    """
    column = plain_storage(column)
    kind = column.type
    missing = column.null_count > 0
    if column.null_count == len(column):
        return LeftOut("holds nothing but missing values in the first rows")
    if pa.types.is_boolean(kind):
        return Number(name, weight, missing, "boolean", 0.0, float(np.sqrt(0.5)))
    if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
        return _number(name, weight, "time", numbers_of(column).astype(np.float64))
    if is_number(kind) or pa.types.is_decimal(kind):
        values = numbers_of(column).astype(np.float64)
        # Some libraries pass integers with missing values as floats; floats without missing values are meant as floats.
        whole = pa.types.is_integer(kind) or bool(np.isnan(values).any())
        if whole and not forced and _counts_rows(name, values):
            return LeftOut("looks like an id: every value differs")
        return _number(name, weight, "number", values)
    if is_text(kind):
        return _category(name, weight, missing, column.cast(pa.large_string()), forced=forced)
    if is_list(kind):
        return _vector(name, weight, missing, column)
    return LeftOut(f"values of type {kind} have no place in a kernel")


def _number(name: str, weight: float, kind: str, values: Floats) -> Block | LeftOut:
    missing = bool(np.isnan(values).any())
    finite = values[np.isfinite(values)]
    if finite.size == 0:
        return LeftOut("holds no finite number in the first rows")
    if kind == "number" and bool(np.isin(finite, (0.0, 1.0)).all()):
        return Number(name, weight, missing, "boolean", 0.0, float(np.sqrt(0.5)))
    centre = 2.0 * float(np.median(finite / 2.0))  # halves: the sum of two huge numbers overflows
    scale = _scale(finite, centre)
    if scale is None:
        # A single value has no scale: later values can only be encoded as equal, larger or smaller.
        return Number(name, weight, missing, kind, centre, float(np.finfo(np.float64).tiny), float(np.sqrt(2.0)))
    return Number(name, weight, missing, kind, centre, scale)


def _scale(values: Floats, centre: float) -> float | None:
    """Return a scale that is 1 for standard normal values and robust to a few outliers; None for equal values."""
    low, quarter, upper, high = np.quantile(values / 2.0, (0.05, 0.25, 0.75, 0.95))
    unlike = np.abs(values / 2.0 - centre / 2.0)
    unlike = unlike[unlike > 0]
    others = float(np.median(unlike)) if unlike.size else 0.0
    for half in ((upper - quarter) / _NORMAL_QUARTILES, (high - low) / _NORMAL_TAILS, others):
        # Differences that are rounding errors of a large number are no scale.
        if half > 1e-14 * abs(centre) and half > np.finfo(np.float64).tiny:
            return float(2.0 * min(half, np.finfo(np.float64).max / 2.0))
    return None


def _counts_rows(name: str, values: Floats) -> bool:
    """Return whether whole numbers are ids: all different, and either consecutive or in a column named like an id."""
    finite = values[np.isfinite(values)]
    if finite.size < _ENOUGH or bool((finite != np.floor(finite)).any()) or np.unique(finite).size < finite.size:
        return False
    steps = np.diff(finite)
    return bool(np.abs(steps).max() == 1.0 and np.ptp(steps) == 0.0) or _ID_NAME.search(name) is not None


def _category(name: str, weight: float, missing: bool, column: pa.Array, *, forced: bool) -> Block | LeftOut:
    counts: Mapping[str, int] = {each["values"]: each["counts"] for each in pc.value_counts(column.drop_null()).to_pylist()}
    present = sum(counts.values())
    length = sum(len(value) * count for value, count in counts.items()) / present
    if not forced and length > _LONGEST_LABEL:
        return LeftOut(f"looks like text: {length:.0f} characters on average")
    if not forced and present >= _ENOUGH and len(counts) > _NEARLY_ALL * present:
        what = "text" if length > _ID_LENGTH else "an id"
        return LeftOut(f"looks like {what}: {len(counts):,} different values in {present:,} rows")
    frequent = sorted(counts, key=lambda value: (-counts[value], value))[:_MOST_VALUES]
    return Category(name, weight, missing, tuple(sorted(frequent)))


def _vector(name: str, weight: float, missing: bool, column: pa.Array) -> Block | LeftOut:
    kind = column.type
    if not is_number(kind.value_type):
        return LeftOut(f"lists of {kind.value_type} have no place in a kernel")
    lengths = {len(value) for value in column.drop_null()}
    if len(lengths) > 1 or lengths == {0}:
        return LeftOut("its lists differ in length" if len(lengths) > 1 else "its lists are empty")
    (length,) = lengths
    if length > _LONGEST_VECTOR:
        return LeftOut(f"its lists are long: {length:,} numbers, at most {_LONGEST_VECTOR:,} enter the kernel")
    values, _ = vectors_of(column, length, name)
    values[~np.isfinite(values)] = np.nan
    held = ~np.isnan(values)
    if not held.any():
        return LeftOut("holds no finite number in the first rows")
    # Divide before summing: sums of the largest float64 numbers would overflow.
    count = np.maximum(held.sum(axis=0), 1)
    centre = np.where(held, values / count, 0.0).sum(axis=0)
    gaps = np.where(held, values - centre, 0.0)
    largest = float(np.abs(gaps).max())
    spread = largest * float(np.sqrt((((gaps / largest) ** 2).sum(axis=0) / count).sum())) if largest > 0 else 0.0
    scale = spread if np.isfinite(spread) and spread > np.finfo(np.float64).tiny else 1.0
    return Vector(name, weight, missing, tuple(centre.tolist()), scale)
