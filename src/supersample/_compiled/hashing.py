"""A 64-bit hash of texts and numbers that is the same on every machine and in every release.

Words of 64 bits go through the finaliser of SplitMix64 (Steele, Lea and Flood 2014), a permutation in which each bit of the
input changes each bit of the output with a probability near one half. Different words therefore have different hashes, and so
have different texts of one length of at most 8 bytes; others coincide with a probability of 2^-64. Bytes are read with shifts,
the lowest first, so that the order of bytes of a machine does not matter. The hash has no key, so texts of equal hashes can
be made on purpose.
"""

import numba
import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

# The first is 2^64 divided by the golden ratio; it keeps zero from being its own hash.
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
#: The word of every NaN.
_NAN = np.uint64(0x7FF8000000000000)


@numba.njit(cache=True, nogil=True, fastmath=False)
def hash_word(word: np.uint64) -> np.uint64:
    """Return the hash of 64 bits; no two words share one."""
    z = np.uint64(word) + _STEP
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return z ^ (z >> np.uint64(31))


@numba.njit(cache=True, nogil=True, fastmath=False)
def number_word(value: np.float64) -> np.uint64:
    """Return the 64 bits of a number; -0.0 has those of 0.0, and every NaN has the same."""
    if value == 0.0:
        return np.uint64(0)
    if value != value:
        return _NAN
    return np.float64(value).view(np.uint64)


@numba.njit(cache=True, nogil=True, fastmath=False)
def hash_words(words: Words, out: Words) -> None:
    """Fill out[i] with the hash of words[i]."""
    for i in range(words.size):
        out[i] = hash_word(words[i])


@numba.njit(cache=True, nogil=True, fastmath=False)
def hash_numbers(values: Floats, out: Words) -> None:
    """Fill out[i] with the hash of values[i], as `number_word` reads it."""
    for i in range(values.size):
        out[i] = hash_word(number_word(values[i]))


@numba.njit(cache=True, nogil=True, fastmath=False)
def hash_bytes(offsets: Integers, data: Bytes, out: Words) -> None:
    """Fill out[i] with the hash of data[offsets[i]:offsets[i + 1]].

    The length is hashed first, then 8 bytes at a time, each word combined with the hash so far; the last word is filled up with
    zeros.
    """
    for i in range(out.size):
        start = offsets[i]
        stop = offsets[i + 1]
        state = hash_word(np.uint64(stop - start))
        while start + 8 <= stop:
            word = np.uint64(0)
            for k in range(8):
                word |= np.uint64(data[start + k]) << np.uint64(8 * k)
            state = hash_word(np.uint64(state) ^ word)
            start += 8
        if start < stop:
            word = np.uint64(0)
            for k in range(stop - start):
                word |= np.uint64(data[start + k]) << np.uint64(8 * k)
            state = hash_word(np.uint64(state) ^ word)
        out[i] = state
