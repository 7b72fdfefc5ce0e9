"""Matrix products of blocks in which each row's result is the same wherever the row stands, to the bit.

BLAS need not give that. In the float32 product of OpenBLAS for Haswell and Zen processors the first and last eight of every 320
columns are added up in one order for rows 0 to 5 of every 12 and in another for the rest. What a row's features are would then
depend on how its stream was cut into batches.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from supersample._threads import BLOCK_ROWS
from supersample._typing import Reals

__all__ = ["RowProduct"]

#: Columns multiplied at a time, and columns of zeros on either side of them whose products are thrown away.
_PIECE, _FRAME = 288, 16
#: Pieces without the rows of zeros at their end are worth while if they save this share of the products.
_SAVED = 0.1
#: Different rows that a product is tried with, each at every place of a block.
_TRIED = 3

_Work = Callable[[Reals, Reals], None]


class RowProduct:
    """rows @ matrix for blocks of BLOCK_ROWS rows; a row's result does not depend on its place or on the other rows.

    In the dtype of the rows where the BLAS in use gives that (tried once for each shape): by the whole matrix, or by pieces of
    its columns between zeros; else in float64 (about twice the time), and at worst row by row. Of a triangular matrix the
    pieces leave out the zeros. BLAS must be limited to one thread.
    """

    def __init__(self, matrix: Reals) -> None:
        self.matrix = matrix
        self._works: dict[np.dtype[Any], _Work] = {}

    def __call__(self, rows: Reals, out: Reals | None = None) -> Reals:
        """Return the product of a block, written to `out` if given."""
        if out is None:
            out = np.empty((rows.shape[0], self.matrix.shape[1]), dtype=rows.dtype)
        work = self._works.get(rows.dtype)
        if work is None:
            work = self._works[rows.dtype] = _work(self.matrix, rows.dtype)
        work(rows, out)
        return out

    def __reduce__(self) -> tuple[type["RowProduct"], tuple[Reals]]:
        """Return what a copy elsewhere is made of: its BLAS is tried there."""
        return RowProduct, (self.matrix,)


def _work(matrix: Reals, dtype: np.dtype[Any]) -> _Work:
    """Return the fastest product in which rows are independent of each other."""
    for working in (dtype, np.dtype(np.float64)):
        right = matrix.astype(working, copy=False)
        whole = [(0, right)]
        pieces = [(start, _without_zeros(right[:, start : start + _PIECE])) for start in range(0, right.shape[1], _PIECE)]
        if sum(piece.size for _, piece in pieces) < (1.0 - _SAVED) * right.size:
            whole = pieces
        framed = [(start, np.pad(piece, ((0, 0), (_FRAME, _FRAME)))) for start, piece in pieces]
        for frame, parts in ((0, whole), (_FRAME, framed)):
            if all(_is_row_independent(working.name, part.shape, bool(part.flags.c_contiguous), frame) for _, part in parts):
                return _by_parts(parts, frame, working)
    return _by_rows(matrix)


def _by_parts(parts: list[tuple[int, Reals]], frame: int, working: np.dtype[Any]) -> _Work:
    def multiply(rows: Reals, out: Reals) -> None:
        rows = rows.astype(working, copy=False)
        for start, part in parts:
            stop = start + part.shape[1] - 2 * frame
            if frame or out.dtype != working:
                out[:, start:stop] = np.matmul(rows[:, : part.shape[0]], part)[:, frame : frame + stop - start]
            else:
                np.matmul(rows[:, : part.shape[0]], part, out=out[:, start:stop])

    return multiply


def _by_rows(matrix: Reals) -> _Work:
    def multiply(rows: Reals, out: Reals) -> None:
        for place, row in enumerate(rows):
            out[place] = row.copy() @ matrix

    return multiply


def _without_zeros(piece: Reals) -> Reals:
    """Return some columns without the rows of zeros at their end."""
    some = np.flatnonzero(piece.any(axis=1))
    return np.ascontiguousarray(piece[: some[-1] + 1 if some.size else 1])


@cache
def _is_row_independent(dtype: str, shape: tuple[int, int], by_rows: bool, frame: int = 0) -> bool:
    """Return whether equal rows have equal products at all places of a block, with a matrix of this shape and layout.

    frame: the columns on either side whose products are not used.
    """
    generator = np.random.default_rng(0)
    matrix = generator.standard_normal(shape if by_rows else shape[::-1]).astype(dtype)
    matrix = matrix if by_rows else matrix.T
    for row in generator.standard_normal((_TRIED, 1, shape[0])).astype(dtype):
        products = np.matmul(np.repeat(row, BLOCK_ROWS, axis=0), matrix)[:, frame : shape[1] - frame]
        if not bool((products == products[0]).all()):
            return False
    return True
