"""NumPy's `.npy` files, read a block of rows at a time: never whole, and never unpickled."""

import math
import os
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from supersample.errors import InputError
from supersample.records.sources.base import MAX_BYTES, MAX_ROWS, Batches, Positions, sound
from supersample.records.sources.matrices import array_batch

__all__ = ["Stored", "npy_batches", "npy_outline", "npy_picked", "npy_rows"]

_LABEL = "the array"


@dataclass(frozen=True)
class Stored:
    """An array in a file: where its values begin, their type and shape, and whether columns lie one after the other."""

    start: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    by_column: bool

    @property
    def n_rows(self) -> int:
        """The length of the first dimension."""
        return self.shape[0]

    @property
    def row_bytes(self) -> int:
        """Bytes of one row."""
        return self.dtype.itemsize * math.prod(self.shape[1:])

    @property
    def schema(self) -> pa.Schema:
        """The columns that the array has as a table."""
        if len(self.shape) > 2:
            array_batch(np.broadcast_to(np.empty((), self.dtype), self.shape), _LABEL)  # refuses it by its shape
        return array_batch(np.empty((0, *self.shape[1:]), self.dtype), _LABEL).schema


def npy_outline(file: BinaryIO) -> Stored:
    """Return what the header of a file says; raise InputError for Python objects, which would have to be unpickled."""
    shape, by_column, dtype = _header(file)
    if dtype.hasobject:
        raise InputError(
            "source must be an array of numbers, text or times, got one of Python objects, which would have to be unpickled; "
            "save it with a plain dtype, or write a table"
        )
    stored = Stored(file.tell(), dtype, shape, by_column and len(shape) == 2)
    if not shape or min(shape) < 0 or stored.row_bytes == 0:
        raise InputError(
            f"source: an array must have rows and columns, got shape {shape} and type {dtype}; save a table of numbers"
        )
    size = file.seek(0, os.SEEK_END)
    if size - stored.start < stored.n_rows * stored.row_bytes:
        raise InputError(
            f"source: an array of shape {shape} and type {dtype} must have {stored.n_rows * stored.row_bytes:,} bytes, got "
            f"{size - stored.start:,}; the file is cut short: write it again"
        )
    return stored


def npy_batches(file: BinaryIO, stored: Stored, skip: int) -> Batches:
    """Yield batches from row `skip` on."""
    step = max(1, min(MAX_ROWS, MAX_BYTES // stored.row_bytes))
    for first in range(skip, stored.n_rows, step):
        yield from sound(array_batch(npy_rows(file, stored, first, min(stored.n_rows, first + step)), _LABEL))


def npy_picked(file: BinaryIO, stored: Stored, positions: Positions) -> Batches:
    """Yield the rows at these positions."""
    step = max(1, min(MAX_ROWS, MAX_BYTES // stored.row_bytes))
    for start in range(0, len(positions), step):
        rows = [npy_rows(file, stored, place, place + 1) for place in positions[start : start + step].tolist()]
        yield from sound(array_batch(np.concatenate(rows), _LABEL))


def npy_rows(file: BinaryIO, stored: Stored, first: int, end: int) -> npt.NDArray[Any]:
    """Read the rows from `first` to before `end`."""
    rows = end - first
    if not stored.by_column:
        data = _read(file, stored.start + first * stored.row_bytes, rows * stored.row_bytes)
        return np.frombuffer(data, stored.dtype).reshape(rows, *stored.shape[1:])
    wide = stored.dtype.itemsize
    columns = [
        np.frombuffer(_read(file, stored.start + (place * stored.n_rows + first) * wide, rows * wide), stored.dtype)
        for place in range(stored.shape[1])
    ]
    return np.stack(columns, axis=1)


def _header(file: BinaryIO) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(file)
    shape, by_column, dtype = np.lib.format.read_array_header_2_0(file)
    if version == (3, 0) and dtype.names:  # as version 2, but with names in UTF-8
        dtype.names = tuple(name.encode("latin1").decode("utf-8") for name in dtype.names)
    return shape, by_column, dtype


def _read(file: BinaryIO, start: int, size: int) -> bytes:
    file.seek(start)
    data = file.read(size)
    if len(data) < size:
        raise EOFError(f"{size - len(data):,} bytes are missing")
    return data
