"""Matrix products of blocks in which each row's result is the same wherever the row stands, to the bit.

BLAS need not give that: the float32 product of OpenBLAS for Haswell and Zen processors adds up the rows 6 to 11 of every 12 in
another order than the rows 0 to 5. What a row's features are would then depend on how its stream was cut into batches.
"""

from functools import cache

import numpy as np

from supersample._threads import BLOCK_ROWS
from supersample._typing import Reals

__all__ = ["row_product"]


def row_product(rows: Reals, matrix: Reals, out: Reals | None = None) -> Reals:
    """Return rows @ matrix for a block of BLOCK_ROWS rows; a row's result does not depend on its place or on the other rows.

    In the dtype of `rows` where the BLAS in use gives that (tried once for each shape), else in float64 (about twice the time),
    and at worst row by row. BLAS must be limited to one thread.
    """
    if out is None:
        out = np.empty((rows.shape[0], matrix.shape[1]), dtype=rows.dtype)
    for dtype in (rows.dtype, np.dtype(np.float64)):
        if _is_row_independent(dtype.name, matrix.shape, matrix.flags.c_contiguous):
            wide = out if dtype == out.dtype else None
            product = np.matmul(rows.astype(dtype, copy=False), matrix.astype(dtype, copy=False), out=wide)
            if product is not out:
                out[...] = product
            return out
    for place, row in enumerate(rows):
        out[place] = row.copy() @ matrix
    return out


@cache
def _is_row_independent(dtype: str, shape: tuple[int, int], by_rows: bool) -> bool:
    """Return whether equal rows have equal products at all places of a block, with a matrix of this shape and layout."""
    generator = np.random.default_rng(0)
    matrix = generator.standard_normal(shape if by_rows else shape[::-1]).astype(dtype)
    row = generator.standard_normal((1, shape[0])).astype(dtype)
    products = np.matmul(np.repeat(row, BLOCK_ROWS, axis=0), matrix if by_rows else matrix.T)
    return bool((products == products[0]).all())
