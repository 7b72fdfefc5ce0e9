"""Permutations of labels drawn on a device from a seed of the host: counts of each block there, which rows by a hash here.

A counter-based hash gives each row of each resample a number, and the rows with the smallest numbers of a block are those of
the first sample. It needs whole numbers that wrap around, and no generator of any library.
"""

from collections.abc import Iterator

import numpy as np

from supersample._random import Seed
from supersample._typing import Indices
from supersample.device.arrays import Array, Home

__all__ = ["dealt_labels"]

#: Multipliers and shifts of the finalizer of SplitMix64 (Steele, Lea and Flood 2014), as signed numbers.
_STEP, _FIRST, _SECOND = -7046029254386353131, -4658895280553007687, -7723592293110705685
_SHIFTS = (30, 27, 31)
#: Low bits that hold the row, so that no two numbers of a block are equal.
_ROW_BITS = 20
#: Labels drawn at a time.
_AT_ONCE = 1 << 26


def dealt_labels(home: Home, sizes: tuple[int, int], n_columns: int, block_rows: int, seed: Seed) -> Iterator[Array]:
    """Yield, for each block of pooled rows, 1 where a row is in the first sample (rows x columns), else 0.

    The number of rows of each block in the first sample is hypergeometric, given the blocks before it; then all choices of so
    many rows are alike.
    """
    generator = seed.generator()
    key = int(generator.integers(-(2**62), 2**62))
    left = np.array([[sizes[0]] * n_columns, [sizes[1]] * n_columns])
    step = min(block_rows, 1 << _ROW_BITS, max(1, _AT_ONCE // n_columns))
    for start in range(0, sum(sizes), step):
        rows = min(step, sum(sizes) - start)
        mine = generator.hypergeometric(left[0], left[1], rows)
        left[0] -= mine
        left[1] -= rows - mine
        yield _chosen(home, key, start, rows, mine)


def _chosen(home: Home, key: int, start: int, rows: int, counts: Indices) -> Array:
    """Mark in each column as many rows as `counts` says."""
    xp = home.xp
    places = xp.astype(home.places(rows), xp.int64)
    columns = xp.astype(home.places(int(counts.size)), xp.int64)
    numbers = _hashed(key + (places + start)[:, None] * int(counts.size) + columns[None, :])
    numbers = (numbers // (1 << _ROW_BITS)) * (1 << _ROW_BITS) + places[:, None]
    ordered = xp.sort(numbers, axis=0)
    limits = xp.take_along_axis(ordered, home.array(np.maximum(counts - 1, 0))[None, :], axis=0)
    chosen = (numbers <= limits) & (home.array(counts)[None, :] > 0)
    return xp.astype(chosen, home.single)


def _hashed(numbers: Array) -> Array:
    """Return well-mixed numbers of 64 bits; products wrap around."""
    numbers = numbers * _STEP
    for shift, factor in zip(_SHIFTS, (_FIRST, _SECOND, 1), strict=True):
        numbers = (numbers ^ _shifted(numbers, shift)) * factor
    return numbers


def _shifted(numbers: Array, by: int) -> Array:
    """Shift right, and fill with zeros: that of signed numbers repeats the sign."""
    return (numbers >> by) & ((1 << (64 - by)) - 1)
