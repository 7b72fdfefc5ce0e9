"""Slow, obvious twins of what a profile is made of."""

import math
import struct

_WORD = (1 << 64) - 1


def hash_of_word(word):
    """The finaliser of SplitMix64 after one step, in whole numbers of Python."""
    z = (word + 0x9E3779B97F4A7C15) & _WORD
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _WORD
    return z ^ (z >> 31)


def hash_of_number(value):
    if math.isnan(value):
        return hash_of_word(0x7FF8000000000000)
    return hash_of_word(int.from_bytes(struct.pack("<d", value + 0.0), "little"))


def hash_of_bytes(data):
    state = hash_of_word(len(data))
    for start in range(0, len(data), 8):
        state = hash_of_word(state ^ int.from_bytes(data[start : start + 8], "little"))
    return state
