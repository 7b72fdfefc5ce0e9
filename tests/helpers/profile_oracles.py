"""Slow, obvious twins of what a profile is made of."""

import math
import struct
from collections import Counter
from fractions import Fraction

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


def registers_of(hashes):
    """HyperLogLog registers by the bits of each hash as text."""
    registers = [0] * 4096
    for each in hashes:
        bits = f"{each:064b}"
        at, rest = int(bits[:12], 2), bits[12:]
        registers[at] = max(registers[at], rest.index("1") + 1 if "1" in rest else 53)
    return registers


def distinct_of(registers):
    """Ertl's estimate as one formula: 4096^2 / (2 ln 2) over the sum of the parts of all ranks."""
    counts = Counter(registers)
    empty, full = counts[0] / 4096, 1 - counts[53] / 4096
    sigma = math.inf if empty == 1 else empty + sum(empty ** (2**k) * 2 ** (k - 1) for k in range(1, 40))
    tau = 0 if full in (0, 1) else (1 - full - sum((1 - full ** (2**-k)) ** 2 / 2**k for k in range(1, 40))) / 3
    parts = 4096 * sigma + sum(counts[rank] / 2**rank for rank in range(1, 53)) + 4096 * tau / 2**52
    return 4096**2 / (2 * math.log(2) * parts)


def merged_counts(left, right, counters):
    """Return the counts of both together, lowered by the largest that finds no counter, and by how much."""
    both = Counter(left) + Counter(right)
    cut = sorted(both.values(), reverse=True)[counters] if len(both) > counters else 0
    return {value: count - cut for value, count in both.items() if count > cut}, cut


def misra_gries(values, counters):
    """Return the counts of held values, and how often all were lowered."""
    held, lowered = {}, 0
    for value in values:
        if value in held or len(held) < counters:
            held[value] = held.get(value, 0) + 1
        else:
            held = {each: count - 1 for each, count in held.items() if count > 1}
            lowered += 1
    return held, lowered


def exact_moments(values):
    """Return the sum, the sum of squares and the variance (divisor n - 1) as fractions."""
    numbers = [Fraction(value) for value in values]
    total, squares = sum(numbers), sum(number * number for number in numbers)
    n = len(numbers)
    mean = total / n if n else 0
    return total, squares, sum((number - mean) ** 2 for number in numbers) / (n - 1) if n > 1 else None


def buckets(values, centre, most):
    """Return the least number of bits to give up, and the counts by bucket, tried from the first."""
    for level in range(64):
        keys = Counter(_key(value - centre, level) for value in values)
        if len(keys) <= most:
            return level, sorted(keys.items())
    raise AssertionError("two powers of two in a bucket are always enough")


def _key(distance, level):
    size = int.from_bytes(struct.pack(">d", abs(distance)), "big") >> level
    return -size - 1 if distance < 0 else size


def around(values, share):
    """Return the two values around a quantile, and how far it is from the first to the second."""
    ordered = sorted(values)
    place = (len(ordered) - 1) * share
    return ordered[math.floor(place)], ordered[math.ceil(place)], place % 1
