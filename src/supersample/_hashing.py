"""Hashes of the values of Arrow columns and NumPy arrays; the same value has the same hash on every machine."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from supersample._compiled import hashing
from supersample._typing import Floats

__all__ = ["Hashes", "hash_numbers", "hash_texts", "hash_words"]

#: One hash for each value.
Hashes = npt.NDArray[np.uint64]


def hash_texts(column: pa.Array) -> Hashes:
    """Return the hash of each text by its UTF-8 bytes, or of each value of a binary column; anything for missing values.

    >>> hash_texts(pa.array(["a", "b", "a"])).tolist()
    [6774081908283191102, 3918140811610257722, 6774081908283191102]
    """
    column = column.cast(pa.large_binary())
    _, offsets, data = column.buffers()
    out = np.empty(len(column), dtype=np.uint64)
    if offsets is not None and len(column):
        places = np.frombuffer(offsets, dtype=np.int64)[column.offset : column.offset + len(column) + 1]
        hashing.hash_bytes(places, np.frombuffer(data or b"", dtype=np.uint8), out)
    return out


def hash_numbers(values: Floats) -> Hashes:
    """Return the hash of each float64 by its bits; -0.0 is taken for 0.0, and all NaN are alike."""
    out = np.empty(values.size, dtype=np.uint64)
    hashing.hash_numbers(values, out)
    return out


def hash_words(words: Hashes) -> Hashes:
    """Return the hash of each word of 64 bits; different words have different hashes."""
    out = np.empty(words.size, dtype=np.uint64)
    hashing.hash_words(words, out)
    return out
