"""Weighted means over rows: of a column, or of a function of the rows."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from supersample._text import did_you_mean
from supersample._typing import Floats
from supersample.errors import InputError, InputTypeError
from supersample.records.encoding.values import is_numeric, numbers_of
from supersample.records.reading import Reading

__all__ = ["mean_of"]

_HINT = "it is called with a pyarrow Table, whose to_pandas() gives a frame"


def mean_of(
    f: str | Callable[[pa.Table], npt.ArrayLike],
    rows: pa.Table,
    weights: Floats,
    schema: pa.Schema,
    readings: Mapping[str, Reading],
) -> Any:
    """Return sum_i w_i f(x_i), a number or an array; for a column of `schema`, the weighted mean of its present values.

    Durations are in seconds. readings: how columns of text that hold numbers are read.
    """
    if isinstance(f, str):
        return _mean_of_column(f, rows, weights, schema, readings.get(f))
    if not callable(f):
        raise InputTypeError(f"f must be the name of a column or a function of a table, got {type(f).__name__}")
    values = f(rows)
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputTypeError(f"f must give numbers, got values of {np.asarray(values).dtype} type; {_HINT}") from error
    if array.ndim == 0 or array.shape[0] != rows.num_rows:
        raise InputError(f"f must give one value for each of the {rows.num_rows} prototypes, got shape {array.shape}; {_HINT}")
    mean = np.tensordot(weights, array, axes=1)
    return float(mean) if mean.ndim == 0 else mean


def _mean_of_column(name: str, rows: pa.Table, weights: Floats, schema: pa.Schema, reading: Reading | None) -> float:
    if name not in schema.names:
        suggestion = did_you_mean(name, schema.names)
        raise InputError(f"f must name a column ({', '.join(schema.names)}) or be a function, got {name!r}{suggestion}")
    kind = schema.field(name).type if reading is None else reading.type
    if not (is_numeric(kind) or pa.types.is_duration(kind)):
        raise InputTypeError(f"f must name a column of numbers, got {name!r} of type {kind}; pass a function: {_HINT}")
    chunks = [chunk if reading is None else reading.read(chunk)[0] for chunk in rows.column(name).chunks]
    values = np.concatenate([numbers_of(chunk) for chunk in chunks]).astype(np.float64)
    there = ~np.isnan(values)
    if not there.any():
        raise InputError(f"f must name a column with values, got {name!r}, which is missing in all of the prototypes")
    total = 1.0 if there.all() else float(weights[there].sum())
    if not total > 0:
        raise InputError(f"weights must be positive in sum where {name!r} has values, and are not; use weighting='uniform'")
    return float(weights[there] @ values[there] / total)
