"""What changed in a column of free text: by counts of the texts of all rows that have a word of a group.

Samples see changes of many words at once, by one kernel for all of the text; counts see a single word that grows, in all rows.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from supersample._hashing import hash_texts
from supersample._typing import Floats, Indices
from supersample.discrepancy.count_tests import Factors
from supersample.discrepancy.group_tests import clearest_group
from supersample.profile import ColumnProfile
from supersample.profile.groups import group_of
from supersample.records.encoding.text import words_in_parts
from supersample.summary.change_words import named, percents
from supersample.summary.column_tests import Finding

__all__ = ["change_of_words"]

#: The weight of the answer: that of the one from samples.
_WEIGHT = 4.0


def change_of_words(
    left: ColumnProfile,
    right: ColumnProfile,
    samples: Sequence[pa.Array],
    shares: Sequence[Floats],
    min_count: int,
    factors: Factors,
) -> Finding | None:
    """Return whether the share of texts with a word of some group changed; None if words were not counted.

    samples: some texts of both sides and their shares, among whose words one of the group is looked for that changed the same
    way. A word in fewer texts than min_count of either sample is not named.
    """
    if left.word_counts is None or right.word_counts is None:
        return None
    counts, sizes = (left.word_counts, right.word_counts), (left.count, right.count)
    pvalue, place = clearest_group(counts[0], sizes[0], counts[1], sizes[1], factors)
    each = [count / max(size, 1) for count, size in zip(counts, sizes, strict=True)]
    before, after = float(each[0][place]), float(each[1][place])
    word = _word_of(place, after - before, samples, shares, min_count)
    told = "one of some words" if word is None else f"{named(word, quoted=True)} or other words of its group"
    return Finding(pvalue, _WEIGHT, float(np.abs(each[1] - each[0]).max()), f"texts with {told} {percents(before, after)}")


def _word_of(
    group: int, gap: float, samples: Sequence[pa.Array], shares: Sequence[Floats], min_count: int
) -> str | None:  # fmt: skip
    """Return the word of a group whose share of the texts changed most in samples, the same way as that of the group."""
    found: dict[str, Floats] = {}
    often: dict[str, Indices] = {}
    for side, (texts, share) in enumerate(zip(samples, shares, strict=True)):
        for word, weight, count in _words(texts, share, group):
            found.setdefault(word, np.zeros(2))[side] += weight
            often.setdefault(word, np.zeros(2, dtype=np.int64))[side] += count
    gaps = {
        word: float(each[1] - each[0]) * np.sign(gap) for word, each in found.items() if word and often[word].max() >= min_count
    }
    best = max(gaps, key=lambda word: (gaps[word], word), default=None)
    return best if best is not None and gaps[best] > 0 else None


def _words(texts: pa.Array, shares: Floats, group: int) -> list[tuple[str, float, int]]:
    """Return the words of a group in some texts, each with the share of the texts that have it, and their number."""
    there = np.flatnonzero(texts.is_valid().to_numpy(zero_copy_only=False))
    texts = texts.take(pa.array(there)).cast(pa.large_string())
    out: list[tuple[str, float, int]] = []
    for part, words in words_in_parts(texts):
        inside = np.flatnonzero(group_of(hash_texts(words.different)) == group)
        for place in inside.tolist():
            owners = np.unique(words.owners[words.places == place])
            weight = float(shares[there[part]][owners].sum())
            out.append((words.different[place].as_py(), weight, int(owners.size)))
    return out
