"""What a column of text is: a category, free text, or an id."""

import re
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["is_id_name", "text_role"]

#: Columns with fewer values than this are too short to tell ids and text from categories by how many of them differ.
_ENOUGH = 20
#: Values of several words that are longer than this on average, in characters, are text however often they are repeated.
_LONG = 40
#: If more than this share of the values are distinct, they are ids; if words make them up, text needs only the second share.
_NEARLY_ALL, _MOST = 0.9, 0.5
#: A column named like an id is one even if this share of its values are distinct.
_NAMED = 0.1
#: Text has at least this many words on average; names of people have two, and are as good as ids where they all differ.
_WORDS = 2.5
#: A word begins with letters, not digits: "row 17 of 40" has two. In scripts without spaces, two characters count for a word.
_WORD = r"(?:^|\s)[^\s\p{N}]*\p{L}[^\s\p{N}]*"
_UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]{2}"
_ID_NAME = re.compile(r"(^|[\W_])(?i:id|ids|key|uuid|guid|rowid|index|hash|token)$|[a-z](Id|ID|Key)$")


def is_id_name(name: str) -> bool:
    """Return whether a column is named like an id.

    >>> [is_id_name(name) for name in ("id", "order_id", "userId", "paid", "idea")]
    [True, True, True, False, False]
    """
    return _ID_NAME.search(name) is not None


def text_role(values: pa.Array, counts: npt.NDArray[np.int64], name: str) -> Literal["category", "text", "id"]:
    """Return what a column of text is.

    values, counts: its distinct values, and how many of the rows seen have each. Ids (uuids, hashes, codes, names of people)
    are one word or two, and nearly all different, or named like ids and not often repeated. Text is several words: long, or
    mostly different. All else is a category.

    >>> text_role(pa.array(["it came late and the box was torn", "I want my money back"]), np.array([12, 9]), "note")
    'category'
    >>> text_role(pa.array([f"C-{place:06d}" for place in range(100)]), np.ones(100, dtype=np.int64), "customer")
    'id'
    """
    rows = int(counts.sum())
    length = _mean(pc.utf8_length(values), counts)
    words = pc.add(*(pc.count_substring_regex(values, pattern=pattern) for pattern in (_WORD, _UNSPACED)))
    worded = _mean(words, counts) >= _WORDS
    distinct = len(values) / max(rows, 1) if rows >= _ENOUGH else 0.0
    if worded and (length > _LONG or distinct > _MOST):
        return "text"
    if not worded and (distinct > _NEARLY_ALL or (distinct > _NAMED and is_id_name(name))):
        return "id"
    return "category"


def _mean(numbers: pa.Array, counts: npt.NDArray[np.int64]) -> float:
    return float(counts @ numbers.to_numpy(zero_copy_only=False)) / max(int(counts.sum()), 1)
