"""The average over rows that each count for a share of the data: of a column, or of a function of the rows."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from supersample._typing import Floats
from supersample.errors import InputError, InputTypeError

__all__ = ["Quantity", "mean_of"]

#: What can be averaged: the name of a column of numbers, or a function of a table that gives a value for each row.
Quantity = str | Callable[[pa.Table], npt.ArrayLike]


def mean_of(f: Quantity, rows: pa.Table, weights: Floats, columns: Sequence[str]) -> Any:
    """Return sum_i w_i f(x_i), a number or an array; f may name one of `columns`."""
    if isinstance(f, str):
        if f not in columns:
            raise InputError(f"f must name a column ({', '.join(columns)}) or be a function, got {f!r}")
        values: Any = rows.column(f).to_numpy()
    elif callable(f):
        values = f(rows)
    else:
        raise InputTypeError(f"f must be the name of a column or a function of a table, got {type(f).__name__}")
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputTypeError(f"f must give numbers, got values of {np.asarray(values).dtype} type") from error
    if array.ndim == 0 or array.shape[0] != rows.num_rows:
        raise InputError(f"f must give one value for each of the {rows.num_rows} prototypes, got shape {array.shape}")
    mean = np.tensordot(weights, array, axes=1)
    return float(mean) if mean.ndim == 0 else mean
