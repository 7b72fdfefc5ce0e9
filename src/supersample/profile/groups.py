"""Counts by group of the values of a category, or of the texts with a word of each group: 1,024 by the last bits of a hash.

Where a column has more than 256 different values, the counts of single values are bounds. Those of groups stay exact: they do
not depend on the order of rows or on batches, and those of two data sets together are their sums. Nothing is learned, so that
the groups of any two profiles are the same. Up to 256 different values nothing is kept: their counts are exact, and those of
groups follow from them. So no row is missed when a column passes 256.

Of free text, in which hardly a value occurs twice, the texts are counted that have a word of a group, each once in a group.

HyperLogLog reads a hash from its first bit on, so that its registers and the groups go by different bits.
"""

import numpy as np
import pyarrow as pa

from supersample._checks import require
from supersample._compiled import sketches
from supersample._hashing import Hashes, hash_texts
from supersample._typing import Indices
from supersample.profile.frequent import Frequent
from supersample.records.encoding.text import words_in_parts

__all__ = ["GROUPED", "GROUPS", "WORDED", "add", "check", "check_words", "group_counts", "group_of", "merge", "with_words"]

#: Groups of values: 8 kB a column. The number is part of the file format.
GROUPS = 1024
#: The roles of columns whose values are compared by their counts, however many there are.
GROUPED = ("category", "constant")
#: The role of columns whose texts are counted by their words.
WORDED = "text"
#: Texts that are taken apart at a time: as many as are encoded at a time, so that their words are found once.
_ROWS = 4096


def group_of(hashes: Hashes) -> Indices:
    """Return the group of each hash."""
    return (hashes & np.uint64(GROUPS - 1)).astype(np.int64)


def group_counts(held: Frequent, groups: Indices | None) -> Indices | None:
    """Return how many values each group has; None if that is not known, as in profiles of earlier versions."""
    if not held.exact:
        return groups
    counts = np.zeros(GROUPS, dtype=np.int64)
    np.add.at(counts, group_of(held.hashes.view(np.uint64)), held.counts)
    return counts


def add(before: Frequent, groups: Indices | None, after: Frequent, hashes: Hashes) -> Indices | None:
    """Return the groups that are kept after more values, given by their hashes, which took the frequent ones to `after`."""
    known = None if after.exact else group_counts(before, groups)
    return None if known is None else known + np.bincount(group_of(hashes), minlength=GROUPS)


def with_words(texts: pa.Array) -> Indices:
    """Return how many texts, none of them missing, have a word of each group."""
    counts = np.zeros(GROUPS, dtype=np.int64)
    texts = _readable(texts.cast(pa.large_string()))
    for start in range(0, len(texts), _ROWS):
        codes = texts.slice(start, _ROWS).dictionary_encode()
        repeats = np.bincount(codes.indices.to_numpy(), minlength=len(codes.dictionary)).astype(np.int64)
        for part, words in words_in_parts(codes.dictionary):
            groups = group_of(hash_texts(words.different))[words.places]
            sketches.count_owners(words.owners, groups, repeats[part], np.full(GROUPS, -1, dtype=np.int64), counts)
    return counts


def _readable(texts: pa.Array) -> pa.Array:
    """Return texts with bytes that are no UTF-8 replaced, as in values that are kept."""
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        texts = pa.array(
            [each.decode("utf-8", "replace") for each in texts.cast(pa.large_binary()).to_pylist()], pa.large_string()
        )
    return texts


def merge(
    left: tuple[Frequent, Indices | None], right: tuple[Frequent, Indices | None], both: Frequent
) -> Indices | None:  # fmt: skip
    """Return the groups that are kept of two data sets together, whose frequent values are `both`."""
    counts = group_counts(*left), group_counts(*right)
    return None if both.exact or counts[0] is None or counts[1] is None else counts[0] + counts[1]


def check_words(groups: Indices, n_values: int) -> None:
    """Refuse counts of texts by their words that this number of texts cannot have."""
    possible = groups.shape == (GROUPS,) and int(groups.min()) >= 0 and int(groups.max()) <= n_values
    require(possible and sum(groups.tolist()) >= n_values, "the counts of texts by their words are impossible")


def check(groups: Indices, held: Frequent, n_values: int) -> None:
    """Refuse groups that this number of values, and the frequent ones among them, cannot have."""
    require(groups.shape == (GROUPS,) and int(groups.min()) >= 0, "the counts of groups of values are impossible")
    require(not held.exact and sum(groups.tolist()) == n_values, "groups of values are of another number of values")
    least = np.zeros(GROUPS, dtype=np.int64)
    np.add.at(least, group_of(held.hashes.view(np.uint64)), held.counts)
    require(bool((least <= groups).all()), "frequent values are more than their groups have")
