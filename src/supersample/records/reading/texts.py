"""Text before it is parsed: spaces and signs made alike, words for missing values, and how much of a column must parse."""

from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["LEAST", "LEAST_ASKED", "MISSING", "absent", "agreeing", "as_text", "enough", "groups_of", "tidied"]

#: The share of a column's present rows that must parse for the column to be read; and if users say what it holds.
LEAST, LEAST_ASKED = 0.95, 0.5
#: What stands for a missing value in a column that is read, in any case.
MISSING: Final = ("", "-", "?", "na", "n/a", "#n/a", "nan", "none", "null")

#: Spaces of all widths, and what is typed in place of a minus sign or an apostrophe.
_ALIKE = ((r"[\s\x{00A0}\x{2000}-\x{200A}\x{202F}\x{205F}\x{3000}]+", " "), (r"\x{2212}", "-"), (r"[\x{2019}\x{02BC}]", "'"))


def as_text(column: pa.Array) -> pa.Array:
    """Return a column of any type of text, dictionaries included, as large strings."""
    return column.cast(pa.large_string())


def tidied(texts: pa.Array) -> pa.Array:
    """Return texts with one plain space for each run of spaces, none at the ends, and plain signs."""
    if not pc.any(pc.match_substring_regex(texts, pattern="[^!-~]")).as_py():
        return texts
    for pattern, plain in _ALIKE:
        texts = pc.replace_substring_regex(texts, pattern=pattern, replacement=plain)
    return pc.utf8_trim_whitespace(texts)


def absent(texts: pa.Array) -> pa.Array:
    """Return which tidied texts stand for a missing value."""
    return pc.is_in(pc.utf8_lower(texts), value_set=pa.array(MISSING, type=pa.large_string()))


def groups_of(texts: pa.Array, pattern: str) -> dict[str, pa.Array]:
    """Return the named groups of a pattern for each text: empty text if a group took no part, null if nothing matches."""
    found = pc.extract_regex(texts, pattern=pattern)
    matched = found.is_valid()
    nothing = pa.scalar(None, pa.large_string())
    names = [found.type.field(place).name for place in range(found.type.num_fields)]
    return {name: pc.if_else(matched, found.field(place), nothing) for place, name in enumerate(names)}


def enough(parsed: npt.NDArray[np.bool_], counts: npt.NDArray[np.int64], least: float) -> bool:
    """Return whether the distinct values that parse make up at least the share `least` of the rows."""
    return bool(counts[parsed].sum() >= least * counts.sum())


def agreeing(
    first: npt.NDArray[np.bool_], second: npt.NDArray[np.bool_], counts: npt.NDArray[np.int64]
) -> tuple[bool, bool] | None:
    """Return whether the first of two conventions holds, and whether a value decided it; None if the values disagree.

    first, second: which distinct values parse under each convention. Those that parse under both decide nothing; of the rows of
    the others, at least `LEAST` must be for one convention. If no value decides, the first one is taken.
    """
    ours, theirs = int(counts[first & ~second].sum()), int(counts[second & ~first].sum())
    if max(ours, theirs) < LEAST * (ours + theirs):
        return None
    return ours >= theirs, ours + theirs > 0
