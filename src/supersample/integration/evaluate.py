"""Calls of a user's function, one point at a time or all at once, with checks of the returned values."""

from collections.abc import Callable
from typing import Any

import numpy as np

from supersample._typing import Floats
from supersample.errors import InputError, InputTypeError

__all__ = ["values_of"]


def values_of(f: Callable[[Any], Any], points: Floats, *, vectorized: bool) -> Floats:
    """Return f at each point; f gets copies, so that it cannot change the points."""
    if points.shape[0] == 0:
        return np.empty(0)
    return _finite(_all_at_once(f, points) if vectorized else _one_by_one(f, points), points)


def _one_by_one(f: Callable[[Any], Any], points: Floats) -> Floats:
    try:
        return np.array([float(f(point.copy())) for point in points])
    except (IndexError, TypeError, ValueError) as error:
        raise InputTypeError(
            f"f is called with one point, an array of shape {points[0].shape}, and must return one number; that failed with: "
            f"{error}. Set vectorized=True if f takes all points as rows"
        ) from error


def _all_at_once(f: Callable[[Any], Any], points: Floats) -> Floats:
    values = np.asarray(f(points.copy()))
    if values.dtype.kind not in "biufO":
        raise InputTypeError(f"f must return real numbers, got dtype {values.dtype}")
    if values.shape != (points.shape[0],):
        raise InputError(
            f"f must return {points.shape[0]} numbers for {points.shape[0]} rows, got shape {values.shape}; set "
            f"vectorized=False if it takes one point"
        )
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputTypeError(f"f must return real numbers, got dtype object: {error}") from error


def _finite(values: Floats, points: Floats) -> Floats:
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise InputError(f"f must return finite numbers, got {values[bad[0]]} at {points[bad[0]].tolist()}")
    return values
