"""Checks of the arguments of public functions: points, weights, numbers and choices.

Every public function passes its arguments through here, so that bad input gives the same messages everywhere and internal
functions need no checks.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from supersample._text import plural
from supersample._typing import Floats, Points, PointsLike, Weights
from supersample.errors import InputError, InputTypeError, MismatchError

__all__ = [
    "check_count",
    "check_flag",
    "check_log_weights",
    "check_points",
    "check_same_width",
    "check_weights",
    "choose",
    "host_array",
    "require_extent",
    "require_two_dimensions",
    "shares",
    "to_host",
]

#: How a user brings an array of each library to the host.
_TO_HOST = {"torch": "{}.detach().cpu().numpy()", "cupy": "{}.get()"}


def check_points(points: PointsLike, name: str, *, min_rows: int = 1, width: int | None = None) -> Points:
    """Return `points` as a C-ordered n x d array of float32 or float64, or raise an error that says what is wrong.

    float32 stays float32; every other real type becomes float64. One-dimensional input is refused, since its shape would be a
    guess.
    """
    if scipy.sparse.issparse(points):
        raise InputTypeError(
            f"{name} must be a dense array, got a sparse {type(points).__name__}; pass {name}.toarray(), or reduce its "
            f"width first"
        )
    if isinstance(points, np.ma.MaskedArray):
        raise InputTypeError(
            f"{name} must be a plain array, got a masked one; fill the masked entries or drop their rows first"
        )
    try:
        array = host_array(points, name)
    except ValueError as error:
        raise InputError(f"{name} must be a rectangular array of numbers: {error}") from error
    require_two_dimensions(array.shape, name, width)
    array = _as_real(array, name)
    require_extent(array.shape, name, min_rows, width)
    _refuse_non_finite(array, name)
    return np.ascontiguousarray(array)


def host_array(values: Any, name: str) -> npt.NDArray[Any]:
    """Return values as a NumPy array; refuse an array that NumPy cannot read, such as one that lies on a GPU."""
    try:
        return np.asarray(values)
    except (TypeError, RuntimeError) as error:
        if not hasattr(values, "dtype"):
            raise
        where = f"{type(values).__name__} on {getattr(values, 'device', 'another device')}"
        raise InputTypeError(
            f"{name} must be an array that NumPy can read here, got {where} ({error}); pass "
            f"{to_host(values, name, 'a NumPy copy of {}')}"
        ) from error


def to_host(values: Any, name: str, otherwise: str = "numpy.asarray({})") -> str:
    """Return the expression that brings an array to the host. otherwise: of libraries without one of their own."""
    package = type(values).__module__.partition(".")[0]
    return _TO_HOST.get(package, otherwise).format(name)


def require_two_dimensions(shape: tuple[int, ...], name: str, width: int | None) -> None:
    """Refuse an array that is no table of rows and columns."""
    if len(shape) == 2:
        return
    hint = f"pass np.reshape({name}, (-1, 1)) for one column or np.reshape({name}, (1, -1)) for one row"
    if width is not None:
        shaped = f"np.reshape({name}, (-1, {width})), " if math.prod(shape) % width == 0 else ""
        hint = f"pass {shaped}rows of {plural(width, 'column')}"
    raise InputError(
        f"{name} must have two dimensions (rows, columns), got {len(shape)} with shape {shape}. Reshape your data: {hint}"
    )


def require_extent(shape: tuple[int, ...], name: str, min_rows: int, width: int | None) -> None:
    """Refuse a table without columns, with too few rows, or of another width than is wanted."""
    if shape[1] == 0:
        raise InputError(f"{name} must have columns, got 0 feature(s) (shape={shape}) while a minimum of 1 is required.")
    if shape[0] < min_rows:
        raise InputError(
            f"{name} must have at least {min_rows} row{'s' * (min_rows != 1)}, got {shape[0]} sample(s) (shape={shape}); pass "
            f"more rows"
        )
    if width is not None and shape[1] != width:
        raise MismatchError(
            f"{name} must have {plural(width, 'column')} as what it is used with, got {shape[1]}; pass the same columns in the "
            f"same order"
        )


def check_same_width(left: Any, right: Any, left_name: str, right_name: str) -> None:
    """Refuse two point arrays of different width."""
    if left.shape[1] != right.shape[1]:
        raise MismatchError(
            f"{left_name} and {right_name} must have the same number of columns, got {left.shape[1]} and "
            f"{right.shape[1]}; pass the same columns of both"
        )


def check_weights(weights: npt.ArrayLike, n_rows: int, name: str, *, all_zero: bool = False, first: int = 0) -> Weights:
    """Return `weights` as n_rows non-negative float64 numbers, at least one of them positive unless `all_zero` is set.

    first: the number of the first row, for messages.
    """
    array = _as_weights(weights, n_rows, name)
    _refuse_non_finite(array, name, first)
    if bool((array < 0).any()):
        row = int(np.argmax(array < 0))
        raise InputError(
            f"{name} must not be negative, got {array[row]} in row {first + row}; drop such rows or give them a weight of 0"
        )
    if not all_zero and not bool((array > 0).any()):
        raise InputError(
            f"{name} must hold at least one positive weight, got {n_rows} zeros; leave {name} out to weigh all rows alike"
        )
    return array


def shares(weights: Weights | None, n_rows: int) -> Weights:
    """Return checked weights divided by their sum, or equal shares if there are no weights."""
    if weights is None:
        return np.full(n_rows, 1.0 / n_rows)
    # Dividing by the largest first keeps the sum of weights near the end of the float64 range finite.
    relative = weights / weights.max()
    return np.asarray(relative / relative.sum())


def check_log_weights(log_weights: npt.ArrayLike, n_rows: int, name: str) -> Floats:
    """Return `log_weights` as n_rows float64 numbers; minus infinity is a weight of zero."""
    array = _as_weights(log_weights, n_rows, name)
    bad = np.isnan(array) | (array == np.inf)
    if bool(bad.any()):
        row = int(np.argmax(bad))
        raise InputError(
            f"{name} must hold finite numbers, or minus infinity for a weight of zero, got {array[row]} in row {row}; drop "
            f"such rows"
        )
    if bool((np.abs(np.where(np.isfinite(array), array, 0.0)) > 1e15).any()):
        raise InputError(
            f"{name} must lie within plus or minus 1e15, since beyond that logarithms have no digits left; subtract the "
            f"largest from all"
        )
    return array


def check_count(value: Any, name: str, *, minimum: int = 1) -> int:
    """Return `value` as an int of at least `minimum`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InputTypeError(f"{name} must be a whole number, got {type(value).__name__} {value!r}")
    if value < minimum:
        raise InputError(f"{name} must be at least {minimum}, got {value}")
    return int(value)


def check_flag(value: Any, name: str) -> bool:
    """Return `value` if it is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise InputTypeError(f"{name} must be True or False, got {type(value).__name__} {value!r}")
    return bool(value)


def choose(value: Any, name: str, choices: tuple[str, ...]) -> str:
    """Return `value` if it is one of the named choices."""
    if not isinstance(value, str) or value not in choices:
        came = repr(value) if isinstance(value, str) else type(value).__name__
        raise InputError(f"{name} must be one of {', '.join(map(repr, choices))}, got {came}")
    return value


def _as_real(array: npt.NDArray[Any], name: str) -> Points:
    kind = array.dtype.kind
    if kind == "c":
        raise InputError(f"{name}: Complex data not supported; pass real and imaginary parts as separate columns")
    if kind == "O":
        try:
            return array.astype(np.float64)
        except (OverflowError, TypeError, ValueError) as error:
            raise InputTypeError(
                f"{name} must hold numbers, got dtype object with an entry that is not a number ({error}); encode text and "
                f"categories as numbers first"
            ) from error
    if kind not in "biuf":
        raise InputTypeError(
            f"{name} must hold numbers, got dtype {array.dtype}; encode text, categories and dates as numbers first"
        )
    with np.errstate(over="ignore"):  # values that float64 cannot hold become infinite, and are refused as such
        return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)


def _as_weights(weights: npt.ArrayLike, n_rows: int, name: str) -> Floats:
    array = host_array(weights, name)
    if array.dtype.kind not in "biuf":
        raise InputTypeError(f"{name} must hold numbers, got dtype {array.dtype}; convert them first, as with .astype(float)")
    if array.shape != (n_rows,):
        raise MismatchError(
            f"{name} must be one-dimensional with one weight for each of the {n_rows} rows, got shape {array.shape}; pass "
            f"as many as there are rows"
        )
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(array, dtype=np.float64)


def _refuse_non_finite(array: npt.NDArray[Any], name: str, first: int = 0) -> None:
    # A finite sum proves that all values are finite; otherwise the array is searched, since a sum may also overflow.
    with np.errstate(over="ignore", invalid="ignore"):
        if array.dtype.kind != "f" or bool(np.isfinite(array.sum(dtype=np.float64))):
            return
    bad = ~np.isfinite(array)
    if not bool(bad.any()):
        return
    position = tuple(int(axis[0]) for axis in np.nonzero(bad))
    what = "NaN" if np.isnan(array[position]) else "infinity"
    where = f"row {first + position[0]}" + (f", column {position[1]}" if len(position) > 1 else "")
    raise InputError(
        f"{name} contains {what} ({int(bad.sum())} value{'s' * (int(bad.sum()) != 1)} not finite, the first in {where}); "
        f"drop or impute such rows first"
    )
