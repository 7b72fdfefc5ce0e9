"""What a profile keeps of the hashes and sizes of values: registers, frequent hashes, and buckets of a histogram."""

import numba
import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

#: The first bits of a hash choose a register; the others are 52.
REGISTER_BITS = 12
_INDEX_SHIFT = np.uint64(64 - REGISTER_BITS)
_REST_SHIFT = np.uint64(REGISTER_BITS)
_TOP = np.uint64(63)
_ZERO = np.uint64(0)
_ONE = np.uint64(1)
#: The largest rank: all 52 bits are zero.
MOST_RANK = 64 - REGISTER_BITS + 1
#: 2^64 divided by the golden ratio spreads the keys of buckets over a table.
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
#: Values by which it is found how many bits of a key are too many, at most.
_LOOKED_AT = 8192


@numba.njit(cache=True, nogil=True, fastmath=False)
def raise_registers(hashes: Words, registers: Bytes) -> None:
    """Raise the register that the first 12 bits of each hash choose to the rank of the other bits.

    The rank is the place of the first bit that is one, from 1 on, and 53 if there is none.
    """
    for i in range(hashes.size):
        at = np.int64(hashes[i] >> _INDEX_SHIFT)
        rest = hashes[i] << _REST_SHIFT
        held = np.int64(registers[at])
        if held > 0 and (rest >> np.uint64(64 - held)) != _ZERO:
            continue  # a bit among the first `held` is one: the rank is not higher
        rank = 1
        while rank < MOST_RANK and (rest >> _TOP) == _ZERO:
            rest = rest << _ONE
            rank += 1
        registers[at] = rank


@numba.njit(cache=True, nogil=True, fastmath=False)
def _seat(held: Words, n_held: int, slots: Integers) -> None:
    """Fill the table `slots` with the places of the held hashes, -1 elsewhere."""
    slots[:] = -1
    for j in range(n_held):
        slot = np.int64(held[j] & np.uint64(slots.size - 1))
        while slots[slot] >= 0:
            slot = (slot + 1) & (slots.size - 1)
        slots[slot] = j


@numba.njit(cache=True, nogil=True, fastmath=False)
def count_frequent(
    hashes: Words, held: Words, counts: Integers, rows: Integers, n_held: int, slots: Integers
) -> tuple[int, int]:
    """Count hashes one after the other in as many counters as `held` has places (Misra and Gries 1982).

    A hash that finds no counter is dropped, and lowers all counters by one; counters at zero are free again. Returns how many
    counters are in use, and how often all were lowered. rows: filled with the last row of each hash, if one was seen.
    slots: scratch, a power of two at least twice as long as `held`.
    """
    _seat(held, n_held, slots)
    lowered = 0
    mask = slots.size - 1
    for i in range(hashes.size):
        word = hashes[i]
        slot = np.int64(word & np.uint64(mask))
        while slots[slot] >= 0 and held[slots[slot]] != word:
            slot = (slot + 1) & mask
        place = slots[slot]
        if place >= 0:
            counts[place] += 1
            rows[place] = i
        elif n_held < held.size:
            held[n_held] = word
            counts[n_held] = 1
            rows[n_held] = i
            slots[slot] = n_held
            n_held += 1
        else:
            lowered += 1
            left = 0
            for j in range(n_held):
                if counts[j] > 1:
                    held[left] = held[j]
                    counts[left] = counts[j] - 1
                    rows[left] = rows[j]
                    left += 1
            n_held = left
            _seat(held, n_held, slots)
    return n_held, lowered


@numba.njit(cache=True, nogil=True, fastmath=False)
def count_owners(owners: Integers, groups: Integers, repeats: Integers, seen: Integers, counts: Integers) -> None:
    """Count the different owners of each group, each as often as it is repeated.

    owners: in increasing order, beside the group of something that each has. seen: as many places as there are groups, -1
    before.
    """
    for i in range(owners.size):
        group = groups[i]
        if seen[group] != owners[i]:
            seen[group] = owners[i]
            counts[group] += repeats[owners[i]]


@numba.njit(cache=True, nogil=True, fastmath=False)
def _slot_of(key: np.int64, keys: Integers, counts: Integers) -> np.int64:
    """Return the slot of a bucket in an open table, or the free slot where it belongs; a free slot has a count of zero."""
    mask = keys.size - 1
    slot = np.int64((np.uint64(key) * _SPREAD) >> np.uint64(40)) & mask
    while counts[slot] > 0 and keys[slot] != key:
        slot = (slot + 1) & mask
    return slot


@numba.njit(cache=True, nogil=True, fastmath=False)
def bucket_key(value: float, centre: float, shift: int) -> np.int64:
    """Return the bucket of a value: the first bits of the float64 |value - centre|, with all bits turned below the centre.

    The bits of positive float64 are in the order of the numbers, so keys are in the order of the values, whatever the shift.
    """
    distance = value - centre
    if distance < 0.0:
        return ~(np.float64(-distance).view(np.int64) >> shift)
    return np.float64(abs(distance)).view(np.int64) >> shift


@numba.njit(cache=True, nogil=True, fastmath=False)
def bits_to_drop(keys: Integers, most: int) -> int:
    """Return the fewest bits without which keys, given in order, are at most `most` different ones.

    Neighbours become one key when the highest bit in which they differ is dropped.
    """
    apart = np.zeros(65, dtype=np.int64)  # neighbours by that bit, counted from 1; 64: on two sides of the centre
    for i in range(1, keys.size):
        bits = keys[i] ^ keys[i - 1]
        place = 64 if bits < 0 else 0
        while bits > 0:
            bits >>= 1
            place += 1
        apart[place] += 1
    left = keys.size - apart[0]
    drop = 0
    while left > most:
        drop += 1
        left -= apart[drop]
    return drop


@numba.njit(cache=True, nogil=True, fastmath=False)
def fill_buckets(
    values: Floats, repeats: Integers, centre: float, shift: int, most: int, keys: Integers, counts: Integers
) -> int:
    """Count values by bucket in an open table, and drop as few bits of all keys as it takes when more than `most` are in use.

    Returns the shift reached. repeats: how often each value is counted; empty means once. keys, counts: zeros, with 2^q places,
    more than `most`. The buckets depend on the set of values only: a bit is dropped just if some of the values need more than
    `most` buckets with it, and then all of them do.
    """
    used = 0
    looked = False
    repeated = repeats.size > 0
    for i in range(values.size):
        key = bucket_key(values[i], centre, shift)
        slot = _slot_of(key, keys, counts)
        if counts[slot] == 0:
            keys[slot] = key
            used += 1
        counts[slot] += repeats[i] if repeated else np.int64(1)
        while used > most:
            # The first time, as many as some of the values need in the end: one at a time is slow from zero on.
            drop = 1
            if not looked:
                some = np.empty(min(values.size, _LOOKED_AT), dtype=np.int64)
                for j in range(some.size):
                    some[j] = bucket_key(values[j], centre, shift)
                some.sort()
                drop = max(drop, bits_to_drop(some, most))
                looked = True
            shift += drop
            old_keys = keys.copy()
            old_counts = counts.copy()
            counts[:] = 0
            used = 0
            for j in range(old_keys.size):
                if old_counts[j] > 0:
                    key = old_keys[j] >> drop
                    slot = _slot_of(key, keys, counts)
                    if counts[slot] == 0:
                        keys[slot] = key
                        used += 1
                    counts[slot] += old_counts[j]
    return shift


@numba.njit(cache=True, nogil=True, fastmath=False)
def join_buckets(
    left: Integers,
    left_counts: Integers,
    left_shift: int,
    right: Integers,
    right_counts: Integers,
    right_shift: int,
    keys: Integers,
    counts: Integers,
) -> int:
    """Fill `keys` and `counts` with the buckets of two histograms, each shifted by so many bits, in order; return how many.

    Keys of both stand in order, and a shift keeps it; those that become equal are added up.
    """
    used = 0
    i = 0
    j = 0
    while i < left.size or j < right.size:
        from_left = j == right.size or (i < left.size and (left[i] >> left_shift) <= (right[j] >> right_shift))
        if from_left:
            key = left[i] >> left_shift
            count = left_counts[i]
            i += 1
        else:
            key = right[j] >> right_shift
            count = right_counts[j]
            j += 1
        if used > 0 and keys[used - 1] == key:
            counts[used - 1] += count
        else:
            keys[used] = key
            counts[used] = count
            used += 1
    return used
