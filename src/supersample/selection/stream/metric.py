"""Distances by which rows are near one another."""

from collections.abc import Callable

import numpy as np

from supersample._threads import cut
from supersample._typing import Floats
from supersample.errors import InputTypeError
from supersample.kernels import Kernel
from supersample.selection.pool import kernel_block

__all__ = ["EQUAL", "distances_to", "nearest", "squares_to"]

#: Rows nearer than this are equal: a distance by products has about half of the digits.
EQUAL = 1e-6
_PART = 256


def distances_to(kernel: Kernel, points: Floats) -> Callable[[Floats], Floats]:
    """Return a function of other points: all their distances to these, over the bandwidths, or the kernel's if it has none."""
    squares = squares_to(kernel, points)

    def between(others: Floats) -> Floats:
        found = squares(others)
        return np.sqrt(np.maximum(found, 0.0, out=found), out=found)  # in place: these are the largest arrays of a reading

    return between


def squares_to(kernel: Kernel, points: Floats) -> Callable[[Floats], Floats]:
    """Return the like for squared distances; those of equal points may be below zero by rounding."""
    try:
        scaled = kernel.scale(points)
    except InputTypeError:
        norms = kernel.diagonal(points)
        return lambda others: kernel_block(kernel, others, points) * -2.0 + kernel.diagonal(others)[:, None] + norms
    # About the middle of the points, where products lose fewer digits.
    middle = np.median(scaled, axis=0) if len(scaled) else 0.0
    scaled = scaled - middle
    right = np.column_stack([-2.0 * scaled, np.ones(len(scaled)), (scaled**2).sum(axis=1)]).T

    def between(others: Floats) -> Floats:
        left = kernel.scale(others) - middle
        # |x - y|^2 = |x|^2 + |y|^2 - 2 x.y as one product.
        return np.asarray(np.column_stack([left, (left**2).sum(axis=1), np.ones(len(left))]) @ right)

    return between


def nearest(distances: Callable[[Floats], Floats], points: Floats) -> Floats:
    """Return the smallest of the distances of each point."""
    return np.concatenate([np.empty(0), *(distances(points[part]).min(axis=1) for part in cut(len(points), _PART))])
