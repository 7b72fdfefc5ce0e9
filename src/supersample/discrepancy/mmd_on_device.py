"""The exact MMD^2 of samples that lie on a device, in float64 there; and that of small blocks of their rows."""

import math

import numpy as np

from supersample._typing import Floats, Indices, Weights
from supersample._validation import shares
from supersample.device.arrays import Array, Home
from supersample.discrepancy.two_samples import TwoSamples
from supersample.errors import InputError
from supersample.kernels import Kernel
from supersample.kernels.on_device import DeviceKernel, Prepared
from supersample.kernels.sums_on_device import quadratic_form

__all__ = ["block_values_on", "exact_on"]

#: Kernel values of a batch of blocks at a time.
_AT_ONCE = 1 << 22


def exact_on(
    home: Home, samples: TwoSamples, wx: Weights | None, wy: Weights | None, kernel: Kernel, *, unbiased: bool
) -> float:
    """Return MMD^2 by all pairs of rows, in tiles; half of those within a sample are computed, and count twice."""
    on_device = kernel.on_device(home, home.wide, samples.origin)
    prepared = [on_device.prepare(rows) for rows in (samples.x, samples.y)]
    hosted = [shares(weights, points.size) for weights, points in zip((wx, wy), prepared, strict=True)]
    given = [home.array(each) for each in hosted]
    within = 0.0
    for points, share, weights in zip(prepared, hosted, given, strict=True):
        total = quadratic_form(on_device, points, points, weights, weights, symmetric=True)
        if unbiased:
            pairs = 1.0 - math.fsum(share * share)
            if not pairs > 1e-12:
                raise InputError(
                    "estimator='unbiased' needs at least two rows of positive weight in each of X and Y, got one; use "
                    "estimator='biased'"
                )
            within += total / pairs
        else:
            within += total + float(home.xp.sum(weights * weights * on_device.diagonal(points)))
    return within - 2.0 * quadratic_form(on_device, *prepared, *given, symmetric=False)


def block_values_on(home: Home, samples: TwoSamples, kernel: Kernel, *, linear: bool, paired: bool) -> Floats:
    """Return what `blocks.block_values` does, a block at a time or, where blocks are small, many of them by one Gram matrix.

    Block b holds rows b, b + B, b + 2 B, ... of both samples, or, if paired, consecutive rows.
    """
    on_device = kernel.on_device(home, home.wide, samples.origin)
    x, y = (on_device.prepare(rows) for rows in (samples.x, samples.y))
    smaller = min(x.size, y.size)
    rows_a_block = 2 if linear else max(2, math.isqrt(smaller))
    n_blocks = max(1, smaller // rows_a_block)
    if paired:
        x, y = (each.rows(slice(0, n_blocks * rows_a_block)) for each in (x, y))
    together = max(1, min(n_blocks, math.isqrt(_AT_ONCE) // (2 + x.size // n_blocks + y.size // n_blocks)))
    found = []
    for start in range(0, n_blocks, together):
        blocks = np.arange(start, min(start + together, n_blocks))
        found.append(
            _values(home, on_device, _of(x, blocks, n_blocks, home, paired), _of(y, blocks, n_blocks, home, paired), paired)
        )
    return np.concatenate(found)


def _of(points: Prepared, blocks: Indices, n_blocks: int, home: Home, consecutive: bool) -> tuple[Prepared, Array]:
    """Return the rows of some blocks, one block after the other, and the block of each row."""
    if consecutive:
        size = points.size // n_blocks
        places = (blocks[:, None] * size + np.arange(size)).ravel()
        return points.take(home.array(places), home.xp), home.array(np.repeat(blocks, size))
    rows = [np.arange(each, points.size, n_blocks) for each in blocks.tolist()]
    places = np.concatenate(rows)
    return points.take(home.array(places), home.xp), home.array(np.repeat(blocks, [each.size for each in rows]))


def _values(home: Home, kernel: DeviceKernel, x: tuple[Prepared, Array], y: tuple[Prepared, Array], paired: bool) -> Floats:
    """Return the unbiased MMD^2 of each block, from kernel values between all rows of these blocks."""
    xp = home.xp
    parts = []
    for (left, of_left), (right, of_right), same in ((x, x, True), (y, y, True), (x, y, False)):
        first = xp.min(of_left)
        count = int(xp.max(of_left) - first) + 1
        alike = of_left[:, None] == of_right[None, :]
        if same or paired:  # without pairs of a row with itself, or of rows of the same number
            alike = alike & (home.places(left.size)[:, None] != home.places(right.size)[None, :])
        values = kernel.block(left, right)
        sums = xp.sum(xp.where(alike, values, xp.zeros_like(values)), axis=1)
        pairs = xp.sum(xp.astype(alike, home.wide), axis=1)
        members = xp.astype(home.places(count)[:, None] == (of_left - first)[None, :], home.wide)
        parts.append(home.floats(members @ sums) / home.floats(members @ pairs))
    return np.asarray(parts[0] + parts[1] - 2.0 * parts[2])
