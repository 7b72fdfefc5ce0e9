"""How a column of text is read: recognised on its first rows, then fixed, stored, and applied to all rows."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from supersample._checks import require
from supersample._stored import TEXT, one_of, stored
from supersample.records.reading import numbers, times, truths
from supersample.records.reading.texts import LEAST, LEAST_ASKED, absent, as_text, tidied

__all__ = ["Reading", "recognise"]

_FORMS = {"number": numbers.FORMS, "time": times.FORMS, "boolean": truths.FORMS}
_READERS = {"number": numbers.numbers_in, "time": times.times_in, "boolean": truths.truths_in}
_TYPES = {"number": pa.float64(), "time": pa.timestamp("us"), "boolean": pa.bool_()}
_CALLED = {"number": "numbers", "time": "dates", "boolean": "truth values"}


@stored("ColumnReading", {"kind": one_of("number", "time", "boolean"), "form": TEXT, "unit": TEXT, "note": TEXT})
@dataclass(frozen=True)
class Reading:
    """How a column stored as text is read.

    kind: "number", "time" or "boolean".
    form: what its values look like, such as "1,234.56", "month/day/year" or "yes/no"; it fixes the decimal mark, or the order
    of day and month.
    unit: the unit that most numbers carry, such as "$" or "%"; a percentage is read as the number before the sign.
    note: what users should know beyond that, or nothing.
    """

    kind: str
    form: str
    unit: str = ""
    note: str = ""

    def check(self) -> None:
        """Raise a ValueError if no column can be read like this."""
        require(self.kind in _FORMS, f"a column can be read as one of {', '.join(_FORMS)}, not as {self.kind}")
        require(self.form in _FORMS[self.kind], f"a column of kind {self.kind} has a form of its own, not {self.form}")

    @property
    def type(self) -> pa.DataType:
        """The Arrow type of the values that are read."""
        return _TYPES[self.kind]

    @property
    def has_hours(self) -> bool:
        """Whether the times have hours, and are not dates alone."""
        return "hour" in self.form

    @property
    def words(self) -> str:
        """What the column holds, in words that follow its name and a verb: "numbers stored as text (1,234.56)"."""
        if self.kind == "number":
            return f"numbers stored as text ({numbers.unit_shown(self.form, self.unit)})"
        called = "times" if self.has_hours else _CALLED[self.kind]
        return f"{called} stored as text ({self.form})"

    def read(self, column: pa.Array) -> tuple[pa.Array, int]:
        """Return the values as float64, timestamp[us] or bool, and how many could not be read.

        Null, and words that stand for it ("", "-", "?", "NA", "N/A", "#N/A", "NaN", "None", "null", in any case), become null.
        What cannot be read becomes null too, and is counted. Each distinct value of the column is parsed once.
        """
        coded = as_text(column).dictionary_encode()
        texts = tidied(coded.dictionary)
        values = _READERS[self.kind](texts, self.form)
        unreadable = pc.and_not(values.is_null(), absent(texts))
        count = pc.sum(unreadable.take(coded.indices)).as_py() or 0
        return values.take(coded.indices), int(count)


def recognise(column: pa.Array, asked: str | None = None) -> Reading | None:
    """Return how a column of text is to be read, from some of its rows; None if it is to stay text.

    asked: the kind that users say it has; then half of its values must parse, and no other kind is tried. Else at least 95% of
    the rows that are not missing must parse. All must follow one convention: one decimal mark, one order of day and month.
    Digits with superfluous leading zeros ("00123") are codes, and if more than 1% of the rows hold such, the column does.
    """
    found = pc.value_counts(tidied(as_text(column).drop_null()))
    texts, counts = found.field("values"), np.asarray(found.field("counts").to_numpy(), dtype=np.int64)
    present = pc.invert(absent(texts))
    texts, counts = texts.filter(present), counts[present.to_numpy(zero_copy_only=False)]
    if len(texts) == 0:
        return None
    least = LEAST if asked is None else LEAST_ASKED
    if asked in (None, "boolean") and (truth := truths.recognise_truths(texts, counts, least)) is not None:
        return Reading("boolean", truth)
    if asked in (None, "number") and (number := numbers.recognise_numbers(texts, counts, least)) is not None:
        return Reading("number", *number)
    if asked in (None, "time") and (time := times.recognise_times(texts, counts, least)) is not None:
        return Reading("time", time[0], note=time[1])
    return None
