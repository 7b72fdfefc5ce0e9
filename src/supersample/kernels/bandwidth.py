"""Bandwidths, and the median heuristic: the typical distance between two rows, from a bounded sample."""

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import pdist

from supersample._random import as_seed
from supersample._stored import NUMBER, any_of, one_of, tuple_of
from supersample._typing import PointsLike, RandomState
from supersample._validation import check_points
from supersample.device.arrays import home_of
from supersample.device.checks import check_device_points, host_rows
from supersample.errors import InputError, InputTypeError

__all__ = ["BANDWIDTH", "SAMPLE_ROWS", "Bandwidth", "check_bandwidth", "median_distance"]

Bandwidth = float | tuple[float, ...] | Literal["median"]
#: The stored form of a `Bandwidth`.
BANDWIDTH = any_of(NUMBER, tuple_of(NUMBER), one_of("median"))

#: Rows in the sample: half a million pairs, whose median is within about one part in a hundred of the whole.
SAMPLE_ROWS = 1000


def median_distance(points: PointsLike, *, metric: Literal["l1", "l2"] = "l2", random_state: RandomState = None) -> float:
    """Return the median distance between two different rows of a sample of at most 1,000 rows.

    If more than half of the pairs are equal, as in heavily tied data, the median would be zero, and equal pairs are left out.
    Costs O(1000^2 d) whatever the size of `points`.

    >>> median_distance([[0.0], [1.0], [3.0]])
    2.0
    """
    home = home_of(points=points)
    given = (
        check_points(points, "points", min_rows=2) if home is None else check_device_points(points, "points", home, min_rows=2)
    )
    chosen = np.arange(given.shape[0])
    if chosen.size > SAMPLE_ROWS:
        drawn = as_seed(random_state).child("median").generator().choice(chosen.size, SAMPLE_ROWS, replace=False)
        chosen = np.sort(drawn)
    rows = (given[chosen] if home is None else host_rows(given, chosen, home)).astype(np.float64)
    pairs = pdist(rows, "cityblock" if metric == "l1" else "euclidean")
    median = float(np.median(pairs))
    if np.isinf(median):
        raise InputError(
            f"points must lie so near that float64 holds their distances, got rows that reach {np.abs(rows).max():.3g}; scale "
            f"them, for bandwidth='median' as for a number"
        )
    if median > 0:
        return median
    different = pairs[pairs > 0]
    if different.size == 0:
        raise InputError(
            f"bandwidth='median': all {rows.shape[0]} sampled rows are equal, so there is no distance to take the median "
            f"of; pass a bandwidth as a number"
        )
    return float(np.median(different))


def check_bandwidth(value: Any, name: str) -> Bandwidth:
    """Return the bandwidth of the kernel `name` as a float or a tuple of floats, all positive, or as the word "median"."""
    if isinstance(value, str):
        if value != "median":
            raise InputError(f"bandwidth of {name} must be a positive number, one a column, or 'median', got {value!r}")
        return "median"
    try:
        array: npt.NDArray[Any] = np.asarray(value)
    except ValueError as error:
        raise InputTypeError(f"bandwidth of {name} must be a positive number, one a column, or 'median'") from error
    if array.dtype.kind not in "iuf" or array.ndim > 1 or array.size == 0:
        raise InputTypeError(f"bandwidth of {name} must be a positive number, one a column, or 'median', got {value!r}")
    if not bool(np.all(np.isfinite(array) & (array > 0))):
        raise InputError(f"bandwidth of {name} must be positive and finite, got {value!r}")
    return tuple(float(width) for width in array) if array.ndim else float(array)
