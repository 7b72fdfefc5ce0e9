"""Truth values in text: yes and no, true and false, on and off."""

from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from supersample.records.reading.texts import enough

__all__ = ["FORMS", "recognise_truths", "truths_in"]

#: The words for true and for false, in any case, that one form takes.
_WORDS: Final = {
    "yes/no": (("yes", "y"), ("no", "n")),
    "true/false": (("true", "t"), ("false", "f")),
    "on/off": (("on",), ("off",)),
}
FORMS: Final = tuple(_WORDS)
#: If all values are one and the same truth value, at least this many rows must state it, and by a whole word.
_ENOUGH_ALIKE = 20


def truths_in(texts: pa.Array, form: str) -> pa.Array:
    """Return tidied texts as booleans, null where a text is not one of the form's words."""
    yes, no = (pc.is_in(pc.utf8_lower(texts), value_set=pa.array(words, pa.large_string())) for words in _WORDS[form])
    return pc.if_else(pc.or_(yes, no), yes, pa.scalar(None, pa.bool_()))


def recognise_truths(texts: pa.Array, counts: npt.NDArray[np.int64], least: float) -> str | None:
    """Return the form of a column of truth values: both of them occur, or one of them in 20 rows as a whole word.

    texts, counts: the distinct values, and how many rows have each; least: the share of rows that must parse. A letter alone
    may be a code: if all that a column says is "T", nothing tells that it means "true".
    """
    for form in FORMS:
        truths = truths_in(texts, form)
        parsed = np.asarray(truths.is_valid().to_numpy(zero_copy_only=False), dtype=np.bool_)
        if not parsed.any() or not enough(parsed, counts, least):
            continue
        whole = np.asarray(pc.greater(pc.utf8_length(texts), 1).to_numpy(zero_copy_only=False), dtype=np.bool_)
        if len(truths.drop_null().unique()) == 2 or int(counts[parsed & whole].sum()) >= _ENOUGH_ALIKE:
            return form
    return None
