"""Checks of points, weights and samples that lie on a device: the same messages as for those of the host."""

from typing import Any

import numpy as np

from supersample._typing import Floats, Indices
from supersample._validation import check_points, require_extent, require_two_dimensions
from supersample.device.arrays import Array, Home
from supersample.errors import InputError, InputTypeError

__all__ = ["check_device_points", "host_rows", "refuse", "spread_rows"]


def check_device_points(points: Array, name: str, home: Home, *, min_rows: int = 1, width: int | None = None) -> Array:
    """Return points as an n x d array of float32 or float64 on their device, or raise an error that says what is wrong.

    float32 and float64 stay; half precision becomes float32, whole numbers and truth values float64. O(n d), one reading of the
    device.
    """
    xp = home.xp
    shape = tuple(int(size) for size in points.shape)
    require_two_dimensions(shape, name, width)
    array = points.detach() if home.kind == "torch" else points
    if str(array.dtype).rpartition(".")[2] in ("float16", "bfloat16"):
        array = xp.astype(array, xp.float32)
    if xp.isdtype(array.dtype, "complex floating"):
        raise InputError(f"{name}: Complex data not supported; pass real and imaginary parts as separate columns")
    if not xp.isdtype(array.dtype, "real floating"):
        array = xp.astype(array, home.wide)
    require_extent(shape, name, min_rows, width)
    # The largest size is finite only if all values are: one number tells.
    if not np.isfinite(float(xp.max(xp.abs(array)))):
        check_points(home.host(array), name)  # says which
        raise InputError(f"{name} contains values that are not finite; drop or impute such rows first")
    return array if home.kind != "torch" else array.contiguous()


def host_rows(points: Array, places: Indices, home: Home) -> Any:
    """Copy some rows to the host, in their own type."""
    return home.host(home.xp.take(points, home.array(places), axis=0))


def spread_rows(points: Array, count: int, home: Home) -> Floats:
    """Copy at most `count` rows to the host in float64, evenly spaced: those that kernel functions are tested on."""
    n = int(points.shape[0])
    return np.asarray(host_rows(points, np.linspace(0, n - 1, min(count, n)).astype(np.int64), home), dtype=np.float64)


def refuse(home: Home | None, what: str, instead: str) -> None:
    """Refuse an option that works on the host only."""
    if home is not None:
        raise InputTypeError(f"{what} works on the CPU only, and the rows are those of {home}; {instead}")
