"""Distances by which rows are near one another."""

from collections.abc import Callable

import numpy as np

from supersample._threads import cut
from supersample._typing import Floats
from supersample.errors import InputTypeError
from supersample.kernels import Kernel
from supersample.selection.pool import kernel_block

__all__ = ["EQUAL", "distances_to", "nearest"]

#: Rows nearer than this are equal: a distance by products has about half of the digits.
EQUAL = 1e-6
_PART = 256


def distances_to(kernel: Kernel, points: Floats) -> Callable[[Floats], Floats]:
    """Return a function of other points: all their distances to these, over the bandwidths, or the kernel's if it has none."""
    try:
        scaled = kernel.scale(points)
    except InputTypeError:
        norms = kernel.diagonal(points)
        return lambda others: _rooted(kernel_block(kernel, others, points), kernel.diagonal(others), norms)
    # About the middle of the points, where products lose fewer digits.
    middle = np.median(scaled, axis=0) if len(scaled) else 0.0
    scaled = scaled - middle
    norms = (scaled**2).sum(axis=1)

    def between(others: Floats) -> Floats:
        left = kernel.scale(others) - middle
        return _rooted(left @ scaled.T, (left**2).sum(axis=1), norms)

    return between


def nearest(distances: Callable[[Floats], Floats], points: Floats) -> Floats:
    """Return the smallest of the distances of each point."""
    return np.concatenate([np.empty(0), *(distances(points[part]).min(axis=1) for part in cut(len(points), _PART))])


def _rooted(products: Floats, own: Floats, other: Floats) -> Floats:
    squares = np.multiply(products, -2.0, out=products)  # in place: these are the largest arrays of a reading
    squares += own[:, None]
    squares += other
    return np.sqrt(np.maximum(squares, 0.0, out=squares), out=squares)
