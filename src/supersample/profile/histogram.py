"""A histogram over any range of numbers, from which quantiles follow with a bounded relative error.

A bucket is a sign and the first bits of the float64 |x - centre|: its power of two and some of the bits that follow, at first
all of them. When more than 3,072 buckets are in use, one bit less is kept, which joins neighbours in pairs (as Epicoco, Melle,
Cafaro and Pulimeno 2020 do with logarithms, UDDSketch). Whether that happens depends on the set of values only: the buckets of
some values are never more than those of all of them. So the histogram is the same for every order of the values, and however
parts were merged. A million normal values keep 6 bits after the power of two: an error of at most 1/64 of the distance from the
centre, and of a tenth of that as a rule, because a value is placed in its bucket by its rank.
Bits instead of logarithms make it the same on every machine. They cost 1.44 times as many buckets at the same error, because
buckets between two powers of two have equal widths.
"""

from dataclasses import dataclass, field

import numpy as np

from supersample._checks import MOST, require
from supersample._compiled import sketches
from supersample._stored import INDICES, INTEGER, NUMBER, stored
from supersample._typing import Floats, Indices

__all__ = ["MOST_BUCKETS", "Histogram", "aligned", "counts_at", "merge", "of"]

#: Buckets in use, at most.
MOST_BUCKETS = 3072
#: Bits of a float64 after its power of two.
_FRACTION_BITS = 52
#: With two powers of two in a bucket there are fewer buckets than are allowed.
_MOST_LEVEL = _FRACTION_BITS + 1
#: The bits of infinity, to which a difference of two finite numbers can round.
_INFINITY = 0x7FF << _FRACTION_BITS
#: Buckets that lost this many bits are narrower than a twelfth digit, and are taken for their end near the centre.
_EXACT_LEVEL = 12
_SLOTS = 8192
#: So many values need a small table only.
_FEW = 256


def _nothing() -> Indices:
    return np.zeros(0, dtype=np.int64)


@stored("LogHistogram", {"centre": NUMBER, "level": INTEGER, "keys": INDICES, "counts": INDICES})
@dataclass(frozen=True)
class Histogram:
    """Counts of finite values by bucket, in the order of the values.

    level: how many bits were given up, the last first. keys: as `_compiled.sketches.bucket_key` computes them.
    """

    centre: float
    level: int = 0
    keys: Indices = field(default_factory=_nothing)
    counts: Indices = field(default_factory=_nothing)

    @property
    def error(self) -> float:
        """The largest error of a quantile, relative to its distance from the centre.

        2^(level - 52): the width of a bucket relative to its near end. It is 3 at level 53, where a bucket spans a factor of 4,
        which takes values at more than 1,500 powers of two.
        """
        return 3.0 if self.level == _MOST_LEVEL else float(2.0 ** (self.level - _FRACTION_BITS))

    def edges(self) -> tuple[Floats, Floats]:
        """Return the least and the largest value that each bucket can hold, without the centre's rounding."""
        outer = self.keys < 0
        sizes = np.where(outer, ~self.keys, self.keys)
        near, far = self._distance(sizes), self._distance(sizes + 1)
        with np.errstate(over="ignore"):
            return np.where(outer, self.centre - far, self.centre + near), np.where(
                outer, self.centre - near, self.centre + far
            )

    def _distance(self, sizes: Indices) -> Floats:
        """Return the numbers whose first bits are given; infinite where a shift would pass the bits of infinity."""
        last = _INFINITY >> self.level
        return np.where(sizes > last, _INFINITY, np.minimum(sizes, last) << self.level).view(np.float64)

    def order_statistic(self, rank: int, *, whole: bool) -> float:
        """Return about the value of this rank, from 0 on: one in the bucket of the exact value, placed by its rank there.

        whole: whether all values are whole numbers, so that this one is too.
        """
        ends = np.cumsum(self.counts)
        at = int(np.searchsorted(ends, rank, side="right"))
        low, high = (float(each[at]) for each in self.edges())
        share = (rank - (ends[at] - self.counts[at]) + 0.5) / self.counts[at]
        if self.keys[at] in (0, -1) or self.level <= _EXACT_LEVEL:  # one number: the centre, or one with few bits lost
            share = 0.0 if self.keys[at] >= 0 else 1.0
        value = low + (high - low) * float(share) if np.isfinite(high - low) else low if np.isfinite(low) else high
        if not whole:
            return value
        first, last = np.ceil(low), np.floor(high)
        return float(np.clip(np.rint(value), first, last)) if first <= last else value

    def check(self, n_values: int) -> None:
        """Refuse buckets that this number of values cannot have."""
        require(bool(np.isfinite(self.centre)) and 0 <= self.level <= _MOST_LEVEL, "a histogram has an impossible scale")
        keys, counts = self.keys, self.counts
        require(keys.ndim == 1 and keys.shape == counts.shape and keys.size <= MOST_BUCKETS, "a histogram has odd buckets")
        require(bool((keys[1:] > keys[:-1]).all()), "the buckets of a histogram are out of order")
        furthest = _INFINITY >> self.level
        require(bool((keys >= ~furthest).all() and (keys <= furthest).all()), "a bucket of a histogram is impossible")
        require(bool((counts >= 1).all() and (counts <= MOST).all()), "a histogram counts what is not there")
        require(sum(counts.tolist()) == n_values, "a histogram is of another number of values")

    def key_of(self, value: float) -> int:
        """Return the bucket of a value."""
        return int(sketches.bucket_key(value, self.centre, self.level))


def of(values: Floats, centre: float, level: int = 0, repeats: Indices | None = None) -> Histogram:
    """Return the histogram of finite values, with at least this many bits given up; repeats: how often each occurs, or once."""
    slots = _SLOTS if values.size > _FEW else 2 * _FEW
    keys, counts = np.zeros(slots, dtype=np.int64), np.zeros(slots, dtype=np.int64)
    times = _nothing() if repeats is None else repeats
    level = sketches.fill_buckets(values, times, centre, level, MOST_BUCKETS, keys, counts)
    used = np.flatnonzero(counts)
    order = used[np.argsort(keys[used])]
    return Histogram(centre, level, keys[order], counts[order])


def aligned(left: Histogram, right: Histogram) -> tuple[Histogram, Histogram]:
    """Return both over all buckets that either of them has, where counts may be 0; both have the same centre."""
    level = max(left.level, right.level)
    shifted = [each.keys >> (level - each.level) for each in (left, right)]
    keys = np.union1d(*shifted)
    counts = [counts_at(own, each.counts, keys) for own, each in zip(shifted, (left, right), strict=True)]
    return Histogram(left.centre, level, keys, counts[0]), Histogram(left.centre, level, keys, counts[1])


def counts_at(keys: Indices | Floats, counts: Indices, wanted: Indices | Floats) -> Indices:
    """Return the counts of some keys among all that are wanted, which increase; those of equal keys are added."""
    out = np.zeros(wanted.size, dtype=np.int64)
    np.add.at(out, np.searchsorted(wanted, keys), counts)
    return out


def merge(left: Histogram, right: Histogram) -> Histogram:
    """Return the histogram of both data sets together; both have the same centre. The order of the two does not matter."""
    level, room = max(left.level, right.level), left.keys.size + right.keys.size
    keys, counts = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    shifts = level - left.level, level - right.level
    used = sketches.join_buckets(left.keys, left.counts, shifts[0], right.keys, right.counts, shifts[1], keys, counts)
    if used > MOST_BUCKETS:
        drop = sketches.bits_to_drop(keys[:used], MOST_BUCKETS)
        some, none = keys[:used].copy(), _nothing()
        used = sketches.join_buckets(some, counts[:used].copy(), drop, none, none, 0, keys, counts)
        level += drop
    return Histogram(left.centre, level, keys[:used].copy(), counts[:used].copy())
