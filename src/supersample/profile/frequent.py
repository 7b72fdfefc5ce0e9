"""The most frequent values of a column, with bounds on their counts (Misra and Gries 1982).

At most 256 counters, one for each value that is held. Values are counted one after the other, so batches do not matter. When a
value finds no counter, all counters are lowered by one. So a count is never too high, and too low by at most `lowered`, which
is at most n / 257. As long as there are at most 256 different values nothing is lowered, and all counts are exact.
Two summaries merge by adding counters and lowering all by the 257th largest, which keeps the bound (Agarwal, Cormode, Huang,
Phillips, Wei and Yi 2012).

A value that is not held occurs at most `lowered` times. So values with a higher count are certain to be more frequent than any
that is not held, and only these are kept as values; others are counted by hash alone. This loses nothing: a count that passes
the bound later rises when its value is there to be kept, or by a merge with counts of which one had passed its own bound.
A column of ids or free text thus keeps no values at all after some hundreds of rows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from supersample._checks import MOST, require
from supersample._compiled import sketches
from supersample._hashing import Hashes
from supersample._stored import INDICES, INTEGER, TEXT, any_of, stored, tuple_of
from supersample._typing import Indices

__all__ = ["COUNTERS", "LONGEST", "Frequent", "Tally", "Value", "add", "merge", "shortened"]

#: A value as it is kept: text, or the 64 bits of a number as a whole number.
Value = str | int

#: Values that can be held.
COUNTERS = 256
#: Characters of a text that are kept; one that was cut ends in an ellipsis and is longer by it.
LONGEST = 200
_SLOTS = 4 * COUNTERS


def _nothing() -> Indices:
    return np.zeros(0, dtype=np.int64)


@stored("FrequentValues", {"hashes": INDICES, "counts": INDICES, "lowered": INTEGER, "values": tuple_of(any_of(INTEGER, TEXT))})
@dataclass(frozen=True)
class Frequent:
    """Held hashes (as int64) with their counts, the largest first, equal ones by hash.

    lowered: how much too low a count may be.
    values: those of the hashes whose count is above `lowered`, which come first.
    """

    hashes: Indices = field(default_factory=_nothing)
    counts: Indices = field(default_factory=_nothing)
    lowered: int = 0
    values: tuple[Value, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether all values are held and all counts are exact."""
        return self.lowered == 0

    def certain(self, most: int) -> int:
        """Return how many of the first values, at most so many, are certain to be more frequent than all others.

        They are if the last of them has a higher count than the next one can really have.
        """
        size = len(self.values)
        if self.exact or size == 0:
            return min(most, size)
        counts = self.counts[: size + 1]
        following = np.append(counts[1:], 0)[:size] if counts.size == size else counts[1:]
        apart = np.flatnonzero(counts[:size] > following + self.lowered)
        return int(apart[apart < most][-1]) + 1 if (apart < most).any() else 0

    def check(self, n_values: int) -> None:
        """Refuse counts that this number of values cannot have."""
        hashes, counts = self.hashes, self.counts
        require(
            hashes.ndim == 1 and hashes.shape == counts.shape and hashes.size <= COUNTERS, "frequent values and counts differ"
        )
        require(np.unique(hashes).size == hashes.size, "a frequent value is there twice")
        require(bool((counts >= 1).all() and (counts <= MOST).all()) and 0 <= self.lowered <= MOST, "a count is impossible")
        require(bool((_order(hashes, counts) == np.arange(hashes.size)).all()), "frequent values are out of order")
        # Each time that all counters were lowered, one more value than there are counters was dropped.
        total = sum(counts.tolist())
        fits = total == n_values if self.exact else total + self.lowered * (COUNTERS + 1) <= n_values
        require(fits, "frequent values are more than there are values")
        require(len(self.values) == int((counts > self.lowered).sum()), "frequent values and counts differ")
        require(all(len(each) <= LONGEST + 1 for each in self.values if isinstance(each, str)), "a frequent value is too long")


class Tally(NamedTuple):
    """Where each different value of some rows stands once, and how often it occurs there."""

    places: Indices
    repeats: Indices


def add(state: Frequent, hashes: Hashes, value_at: Callable[[Indices], Sequence[Value]]) -> tuple[Frequent, Tally | None]:
    """Return the summary after more values, and their tally if all of them found a counter.

    The values are given by their hashes; `value_at` returns some of them by place.
    """
    held, counts = np.zeros(COUNTERS, dtype=np.uint64), np.zeros(COUNTERS, dtype=np.int64)
    rows = np.full(COUNTERS, -1, dtype=np.int64)
    n_held = state.hashes.size
    held[:n_held], counts[:n_held] = state.hashes.view(np.uint64), state.counts
    before = counts.copy()
    slots = np.empty(_SLOTS, dtype=np.int64)
    n_held, lowered = sketches.count_frequent(hashes, held, counts, rows, n_held, slots)
    tally = None if lowered else Tally(rows[rows >= 0], (counts - before)[rows >= 0])
    found = held[:n_held].view(np.int64), counts[:n_held]
    order = _order(*found)
    hashes_after, counts_after, rows_after = found[0][order], found[1][order], rows[:n_held][order]
    bound = state.lowered + lowered
    known = dict(zip(state.hashes.tolist(), state.values, strict=False))
    kept = hashes_after[counts_after > bound].tolist()
    new = [place for place, each in enumerate(kept) if each not in known]
    fresh = value_at(rows_after[np.array(new, dtype=np.int64)]) if new else ()
    known |= zip((kept[place] for place in new), fresh, strict=True)
    return Frequent(hashes_after, counts_after, bound, tuple(known[each] for each in kept)), tally


def merge(left: Frequent, right: Frequent) -> Frequent:
    """Return the summary of both data sets together; the order of the two does not matter."""
    hashes, places = np.unique(np.concatenate([left.hashes, right.hashes]), return_inverse=True)
    counts = np.zeros(hashes.size, dtype=np.int64)
    np.add.at(counts, places, np.concatenate([left.counts, right.counts]))
    cut = int(np.sort(counts)[-COUNTERS - 1]) if counts.size > COUNTERS else 0
    held = counts > cut
    hashes, counts = hashes[held], counts[held] - cut
    order = _order(hashes, counts)
    hashes, counts = hashes[order], counts[order]
    bound = left.lowered + right.lowered + cut
    known = {
        key: value for each in (left, right) for key, value in zip(each.hashes.tolist(), each.values, strict=False)
    }  # fmt: skip
    return Frequent(hashes, counts, bound, tuple(known[each] for each in hashes[counts > bound].tolist()))


def shortened(text: str) -> str:
    """Return a text as it is kept: at most LONGEST characters, and an ellipsis if there were more."""
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"


def _order(hashes: Indices, counts: Indices) -> Indices:
    return np.lexsort((hashes, -counts))
