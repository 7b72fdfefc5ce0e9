"""Columns of free text: hashed words and character n-grams, nothing learned."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import csr_array

from supersample._hashing import hash_words
from supersample._typing import Floats, Indices
from supersample.records.encoding.column_type import ColumnType, LeftOut, built_in
from supersample.records.encoding.text_role import text_role
from supersample.records.encoding.values import fill_by_value, is_text

__all__ = ["Text", "Words", "text_vectors", "words_in_parts", "words_of"]

#: Coordinates of a text: one for each bit of a hash.
_WIDTH = 64
#: Words of at least this many letters count in full, shorter ones in proportion: most of them are grammar.
_FULL_WORD = 6
#: Vectors of words and their weights are rounded to multiples of these, so that sums of them are exact in any order.
_VECTOR_STEP, _WEIGHT_STEP = 2.0**-20, 2.0**-10
#: What stands between words: all but letters, marks, digits, and symbols such as emoji.
_BETWEEN = r"[^\p{L}\p{M}\p{N}\p{So}]+"
#: Hashed columns of scikit-learn's vectoriser, before the projection.
_HASHED = 2**22
#: Texts that are taken apart at a time, in bytes, so that long ones do not fill the memory.
_BYTES = 1 << 20
#: The projections of words and of n-grams differ, so that the word "late" and a part of "chocolate" are not alike.
_WORD_SEED, _PART_SEED = 0x9E3779B97F4A7C15, 0xD1B54A32D192ED03

#: Vectors of words that were met, and how many at most: they take 20 MB.
_met: dict[str, Floats] = {}
_MOST_MET = 1 << 15
#: Texts that were taken apart last, with their words, and of how many blocks: those of a batch as it is read, some 5 MB.
_lately: tuple[tuple[pa.Array, tuple[tuple[slice, "Words"], ...]], ...] = ()
_BLOCKS_KEPT = 4


@built_in("text", "Text")
@dataclass(frozen=True)
class Text(ColumnType):
    """A unit vector of 64 coordinates for each text; 0 for one without words.

    Each word is the sum of two unit vectors, of the word itself and of its character n-grams (3 to 5, with word boundaries).
    Both are hashed by scikit-learn's HashingVectorizer and projected with random signs. A text is the sum of its words, each
    weighted by the root of its count and by its length, and scaled to a length of 1. Texts without a common word lie at a
    squared distance of about 2.

    The coordinates of a text do not depend on the texts beside it, on the machine, or on the order of sums: all sums are of
    whole numbers. Each distinct word of a block is hashed once; the rest is a product of a sparse matrix with 64 columns.
    """

    @classmethod
    def learn(cls, name: str, column: pa.Array, weight: float, *, forced: bool) -> Self | LeftOut | None:
        """Take columns whose values are text of several words, and neither categories nor ids unless forced to."""
        if not is_text(column.type):
            return None
        found = pc.value_counts(column.cast(pa.large_string()).drop_null())
        counts = np.asarray(found.field("counts").to_numpy(), dtype=np.int64)
        if not forced and text_role(found.field("values"), counts, name) != "text":
            return None
        return cls(name, weight, column.null_count > 0)

    @property
    def size(self) -> int:
        """The width of the projection."""
        return _WIDTH

    @property
    def furthest(self) -> float:
        """Vectors have a length of 1 or 0."""
        return 1.0

    def takes(self, kind: pa.DataType) -> bool:
        """Return whether a type holds text."""
        return is_text(kind)

    def encode(self, column: pa.Array, out: Floats) -> Floats | None:
        """Write the vector of each text; missing texts become 0."""
        return fill_by_value(column.cast(pa.large_string()), text_vectors, out)


def text_vectors(texts: pa.Array) -> Floats:
    """Return the vectors of texts, n x 64."""
    out = np.zeros((len(texts), _WIDTH))
    for part, words in words_in_parts(texts):
        out[part] = _sums(words)
    # One coordinate after the other: each row's sum is then taken in the same order however many rows there are.
    squares = np.zeros(len(texts))
    for coordinate in out.T:
        squares += coordinate * coordinate
    out /= np.sqrt(np.where(squares > 0.0, squares, 1.0))[:, None]
    return out


class Words(NamedTuple):
    """The words of some texts: each different one once, and for each word of the texts whose it is, and which."""

    n_texts: int
    different: pa.Array
    owners: Indices
    places: Indices


def words_in_parts(texts: pa.Array) -> Iterable[tuple[slice, Words]]:
    """Return the words of texts in large strings, none of them missing, with the places of the texts, a part at a time.

    The words of the last blocks are kept, unless they are long: the encoding and the profile of a column ask for the same ones.
    """
    global _lately
    for known, words in _lately:
        if known.equals(texts):
            return words
    found = ((part, words_of(texts.slice(part.start, part.stop - part.start))) for part in _parts(texts))
    if texts.get_total_buffer_size() > _BYTES:
        return found
    kept = tuple(found)
    _lately = (*_lately[1 - _BLOCKS_KEPT :], (texts, kept))
    return kept


def _parts(texts: pa.Array) -> Iterator[slice]:
    """Yield the places of texts in parts that are taken apart at a time, so that long ones do not fill the memory."""
    sizes = pc.binary_length(texts).to_numpy(zero_copy_only=False)
    parts = np.cumsum(sizes) // _BYTES
    edges = np.flatnonzero(np.diff(parts, prepend=-1, append=parts[-1:] + 1)) if len(texts) else np.zeros(1, dtype=np.int64)
    for start, stop in pairwise(edges.tolist()):
        yield slice(start, stop)


def words_of(texts: pa.Array) -> Words:
    """Return the words of texts, none of them missing, in small letters; a text without words has an empty one."""
    plain = pc.replace_substring_regex(pc.utf8_lower(texts), pattern=_BETWEEN, replacement=" ")
    lists = pc.split_pattern(pc.utf8_trim_whitespace(plain), pattern=" ")
    words = lists.flatten().dictionary_encode()
    owners = np.repeat(np.arange(len(texts)), pc.list_value_length(lists).to_numpy(zero_copy_only=False))
    return Words(len(texts), words.dictionary, owners, words.indices.to_numpy(zero_copy_only=False))


def _sums(words: Words) -> Floats:
    """Return the weighted sums of the vectors of each text's words: whole numbers of steps, so exact."""
    entries = (np.ones(len(words.places)), (words.owners, words.places))
    counts: Any = csr_array(entries, shape=(words.n_texts, len(words.different)))
    counts.sum_duplicates()
    lengths = pc.utf8_length(words.different).to_numpy(zero_copy_only=False)
    weights = np.minimum(lengths / _FULL_WORD, 1.0)
    counts.data = np.rint(np.sqrt(counts.data) * weights[counts.indices] / _WEIGHT_STEP)
    return np.asarray(counts @ _word_vectors(words.different.to_pylist()))


def _word_vectors(words: list[str]) -> Floats:
    """Return the vectors of words; those met lately are not hashed again, since a language has few words and repeats them."""
    found = [_met.get(word) for word in words]
    new = [word for word, vector in zip(words, found, strict=True) if vector is None]
    if not new:
        return np.array(found)
    fresh = dict(zip(new, _hashed_vectors(new), strict=True))
    if len(_met) + len(fresh) > _MOST_MET:
        _met.clear()
    if len(fresh) <= _MOST_MET:
        _met.update(fresh)
    return np.array([fresh[word] if vector is None else vector for word, vector in zip(words, found, strict=True)])


def _hashed_vectors(words: list[str]) -> Floats:
    """Return the vector of each word in whole numbers of steps."""
    whole, parts = (hasher.transform(words) for hasher in _hashers())
    vectors = _projected(whole, _WORD_SEED) / np.sqrt(_WIDTH)
    grams = _projected(parts, _PART_SEED)
    squares = np.einsum("ij,ij->i", grams, grams)  # of whole numbers, so exact
    vectors += grams / np.sqrt(np.where(squares > 0.0, squares, 1.0))[:, None]
    return np.asarray(np.rint(vectors / _VECTOR_STEP))


def _projected(hashed: Any, seed: int) -> Floats:
    """Return the sums of the signs of each row's hashed columns, each as often as it occurs."""
    used, places = np.unique(hashed.indices, return_inverse=True)
    compact: Any = csr_array((hashed.data, places, hashed.indptr), shape=(hashed.shape[0], len(used)))
    return np.asarray(compact @ _signs(used, seed))


def _signs(columns: npt.NDArray[np.integer[Any]], seed: int) -> Floats:
    """Return 64 signs for each column: the bits of a hash of its place."""
    # The hash of a word begins with a step of its own, which is taken back here.
    mixed = hash_words((columns.astype(np.uint64) + np.uint64(1)) * np.uint64(seed) - np.uint64(_WORD_SEED))
    bits = (mixed[:, None] >> np.arange(_WIDTH, dtype=np.uint64)) & np.uint64(1)
    return 2.0 * bits.astype(np.float64) - 1.0


@cache
def _hashers() -> tuple[Any, Any]:
    """Return the vectorisers of whole words and of their n-grams; imported late, since few tables hold text."""
    from sklearn.feature_extraction.text import HashingVectorizer

    plain: dict[str, Any] = {"n_features": _HASHED, "norm": None, "alternate_sign": False, "lowercase": False}
    grams = HashingVectorizer(analyzer="char_wb", ngram_range=(3, 5), **plain)
    return HashingVectorizer(analyzer=_itself, **plain), grams


def _itself(word: str) -> list[str]:
    return [word] if word else []
