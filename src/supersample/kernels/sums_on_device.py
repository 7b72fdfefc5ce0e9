"""Sums of kernel values over many pairs of points of a device, in tiles that fit; no Gram matrix is held."""

from typing import Any

import numpy as np

from supersample._threads import cut
from supersample._typing import Floats
from supersample.device.arrays import Array, Home
from supersample.kernels.base import Kernel
from supersample.kernels.on_device import DeviceKernel, Prepared

__all__ = ["embedded", "embedded_own", "gram_on_host", "quadratic_form"]

#: Columns of a tile.
_TILE = 1 << 12


def embedded(kernel: DeviceKernel, left: Prepared, right: Prepared, weights: Array) -> Array:
    """Return sum_j weights_j k(x_i, y_j) for each x: values of the kernel's type, sums of the weights' type."""
    xp = kernel.xp
    narrow = xp.astype(weights, kernel.dtype)
    found = []
    for rows in kernel.blocks(left, min(right.size, _TILE)):
        mine = left.rows(rows)
        total = xp.zeros(rows.stop - rows.start, dtype=weights.dtype, device=kernel.home.device)
        for columns in cut(right.size, _TILE):
            total = total + xp.astype(kernel.block(mine, right.rows(columns)) @ narrow[columns], weights.dtype)
        found.append(total)
    return xp.concat(found)


def embedded_own(kernel: DeviceKernel, points: Prepared, weights: Array) -> Array:
    """Return the same where x and y are the same points: each tile serves its rows and, turned, its columns."""
    xp, home = kernel.xp, kernel.home
    narrow = xp.astype(weights, kernel.dtype)
    z = xp.zeros_like(weights)
    for rows in kernel.blocks(points, min(points.size, _TILE)):
        mine, total = points.rows(rows), xp.zeros(rows.stop - rows.start, dtype=weights.dtype, device=home.device)
        for columns in cut(points.size, _TILE):
            if columns.stop <= rows.start:
                continue
            # Columns from this block's own rows on; those before were the rows of an earlier block.
            start = max(columns.start, rows.start)
            within = slice(start, min(columns.stop, rows.stop)) if start < rows.stop else None
            values = kernel.block(mine, points.rows(slice(start, columns.stop)))
            total = total + xp.astype(values @ narrow[start : columns.stop], weights.dtype)
            after = start if within is None else within.stop
            if after < columns.stop:
                turned = narrow[rows] @ values[:, after - start :]
                z = home.add(z, slice(after, columns.stop), xp.astype(turned, weights.dtype))
        z = home.add(z, rows, total)
    return z


def quadratic_form(kernel: DeviceKernel, left: Prepared, right: Prepared, a: Array, b: Array, *, symmetric: bool) -> float:
    """Return sum_ij a_i b_j k(x_i, y_j); if symmetric, x and y are the same and the terms i = j are left out."""
    xp = kernel.xp
    if not symmetric:
        return float(xp.sum(a * embedded(kernel, left, right, b)))
    own = a * b * xp.astype(kernel.diagonal(left), a.dtype)
    return float(xp.sum(a * embedded_own(kernel, left, b)) - xp.sum(own))


def gram_on_host(kernel: Kernel, left: Array, right: Array, home: Home, origin: Any) -> Floats:
    """Return the exact Gram block of two small sets of points, in float64 on the host."""
    on_device = kernel.on_device(home, home.wide, np.asarray(origin))
    return np.asarray(home.host(on_device.block(on_device.prepare(left), on_device.prepare(right))), dtype=np.float64)
