"""The profile of one column: what was counted and measured, and what follows from it."""

import math
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import pyarrow as pa

from supersample._checks import MOST, require
from supersample._hashing import hash_words
from supersample._stored import BYTES, INDICES, INTEGER, TEXT, FieldKind, instance_of, optional, stored
from supersample._typing import Bytes, Indices
from supersample.profile import distinct, groups, numbers
from supersample.profile.forms import Form, form_of
from supersample.profile.frequent import COUNTERS, Frequent
from supersample.profile.lengths import Lengths
from supersample.profile.moments import Moments
from supersample.profile.numbers import Numbers
from supersample.records.encoding.options import REDACTED

__all__ = ["ColumnProfile", "Counted", "Reads"]


class Reads(Protocol):
    """How a column of text is read as numbers, times or truth values."""

    def read(self, column: pa.Array) -> tuple[pa.Array, int]:
        """Return the values, null where missing or unreadable, and how many are unreadable."""
        ...


@dataclass(frozen=True)
class Counted:
    """A frequent value as text, how often it occurs, and whether that is a lower bound."""

    value: str
    count: int
    at_least: bool


#: Readings are stored by their own classes, which this package does not import.
_READING = FieldKind("a way to read text", lambda value: callable(getattr(value, "read", None)))


@stored(
    "ColumnProfile",
    {
        "name": TEXT,
        "type": TEXT,
        "role": TEXT,
        "values": TEXT,
        "reading": optional(_READING),
        "count": INTEGER,
        "missing": INTEGER,
        "unreadable": INTEGER,
        "registers": optional(BYTES),
        "frequent": optional(instance_of(Frequent)),
        "numbers": optional(instance_of(Numbers)),
        "lengths": optional(instance_of(Lengths)),
        "norms": optional(instance_of(Moments)),
        "groups": optional(INDICES),
    },
    later={"groups": None},
)
@dataclass(frozen=True)
class ColumnProfile:
    """Statistics of all values of a column.

    type: the Arrow type of the column; values: that of the values measured, which differs where text is read as something else.
    count: values that are there; missing: null or NaN; unreadable: text that the reading could not read. Rows are the sum.
    registers, frequent: of numbers, times, truth values and texts. numbers: of all of these but texts.
    lengths: of texts, in characters, and of lists of numbers. norms: Euclidean lengths of such lists, where finite.
    groups: of categories of more than 256 values, how many fall into each group; of free text, how many texts have a word of
    each group. None in profiles of earlier versions.
    """

    name: str
    type: str
    role: str
    values: str
    reading: Reads | None
    count: int
    missing: int
    unreadable: int
    registers: Bytes | None
    frequent: Frequent | None
    numbers: Numbers | None
    lengths: Lengths | None
    norms: Moments | None
    groups: Indices | None = None

    @property
    def form(self) -> Form:
        """What the values are to a profile."""
        return form_of(self.values)

    @property
    def centre(self) -> float | None:
        """The number around which quantiles are accurate; None for columns without them."""
        return None if self.numbers is None else self.numbers.histogram.centre

    @property
    def rows(self) -> int:
        """Rows seen."""
        return self.count + self.missing + self.unreadable

    @property
    def distinct(self) -> int | None:
        """How many different values there are; None for lists and other types whose values are not told apart."""
        if self.registers is None:
            return None
        if self.frequent is not None and self.frequent.exact:
            return self.frequent.hashes.size
        least = min(self.count, 1) if self.frequent is None else COUNTERS + 1
        return round(min(max(distinct.estimate(self.registers), least), self.count, self._possible))

    @property
    def _possible(self) -> float:
        """How many different values there can be between the extremes."""
        if self.numbers is None or self.form.family != "whole" or self.numbers.minimum is None or self.numbers.maximum is None:
            return math.inf
        return self.numbers.maximum - self.numbers.minimum + 1

    @property
    def distinct_error(self) -> float | None:
        """The relative standard error of `distinct`; 0 if it is exact, as it is up to 256 different values."""
        if self.registers is None:
            return None
        return 0.0 if self.frequent is not None and self.frequent.exact else distinct.ERROR

    @property
    def minimum(self) -> str | None:
        """The least value as text, exact, minus infinity included; None without numbers or times."""
        return None if self.numbers is None else self._extreme(self.numbers.lowest, -math.inf, self.numbers.minimum)

    @property
    def maximum(self) -> str | None:
        """The largest value as text, exact, infinity included; None without numbers or times."""
        return None if self.numbers is None else self._extreme(self.numbers.highest, math.inf, self.numbers.maximum)

    def _extreme(self, n_infinite: int, infinite: float, finite: int | float | None) -> str | None:
        value = infinite if n_infinite else finite
        if value is None and self.count > 0:  # all values are infinite, of the other sign
            value = -infinite
        return None if value is None else self.form.text(value)

    @property
    def mean(self) -> float | None:
        """The mean of the finite values, or of the lengths of vectors, rounded once; times in seconds."""
        return _known(None if self._moments is None else self._moments.mean)

    @property
    def sd(self) -> float | None:
        """Their standard deviation, with the divisor n - 1, rounded once."""
        return _known(None if self._moments is None else self._moments.sd)

    @property
    def _moments(self) -> Moments | None:
        return self.norms if self.numbers is None else self.numbers.moments

    def quantile(self, share: float) -> float | None:
        """Return a quantile as pandas defines it, within `quantile_error`; times in seconds."""
        if self.numbers is None or self.frequent is None:
            return None
        return _known(numbers.quantile(self.numbers, self.frequent, self.form, share))

    @property
    def quantile_error(self) -> float | None:
        """The largest error of a quantile, relative to its distance from the centre; 0 up to 256 different values."""
        if self.numbers is None or self.frequent is None:
            return None
        return 0.0 if self.frequent.exact else self.numbers.histogram.error

    @property
    def group_counts(self) -> Indices | None:
        """How many values of a category fall into each group, in all rows; None of other columns, or if it is not known."""
        if self.frequent is None or self.role not in groups.GROUPED:
            return None
        return groups.group_counts(self.frequent, self.groups)

    @property
    def word_counts(self) -> Indices | None:
        """How many texts have a word of each group, in all rows; None of other columns, or if it is not known."""
        return self.groups if self.role == groups.WORDED else None

    @property
    def top_error(self) -> int | None:
        """By how much counts of frequent values may be too low."""
        return None if self.frequent is None else self.frequent.lowered

    def top(self, most: int = 10) -> tuple[Counted, ...]:
        """Return values that are certain to be more frequent than any other, the most frequent first; there may be none."""
        if self.frequent is None:
            return ()
        held = zip(self.frequent.values[: self.frequent.certain(most)], self.frequent.counts.tolist(), strict=False)
        return tuple(Counted(self.form.value_text(value), count, not self.frequent.exact) for value, count in held)

    def without_rare(self, min_count: int) -> "ColumnProfile":
        """Return the profile without texts that were counted less often."""
        if self.frequent is None or self.form.measured:
            return self
        often = int((self.frequent.counts >= min_count).sum())  # the most frequent come first
        return replace(self, frequent=replace(self.frequent, values=self.frequent.values[:often]))

    def text_of(self, value: float) -> str:
        """Return a mean or quantile of the column as text; one of times as a time."""
        return self.form.seconds_text(value) if self.form.clock else repr(value)

    def check(self) -> None:
        """Refuse contents that no column has."""
        counts = (self.count, self.missing, self.unreadable)
        require(all(0 <= each <= MOST for each in counts), f"the counts of column {self.name!r} are impossible")
        read = self.reading is not None
        require(read or self.unreadable == 0, f"column {self.name!r} has unreadable values, but is not read")
        plain = self.type == self.values or self.type.startswith("extension<")
        require(read or plain, f"column {self.name!r} has values of another type, but is not read")
        form = self.form
        parts = (self.registers, self.frequent, self.numbers, self.lengths, self.norms)
        shown = self.role != REDACTED
        values = (form.told_apart and shown, form.measured and shown, form.has_lengths, form.family == "vector" and shown)
        wanted = (form.told_apart, *values)
        found = tuple(each is not None for each in parts)
        require(found == wanted, f"column {self.name!r} has other statistics than {self.values} can have")
        if self.registers is not None:
            distinct.check(self.registers, self.count)
        if self.registers is not None and self.frequent is not None:
            self.frequent.check(self.count)
            self._check_values(form, self.registers, self.frequent)
        if self.groups is not None and self.role == groups.WORDED and form.family == "text":
            groups.check_words(self.groups, self.count)
        elif self.groups is not None:
            require(self.frequent is not None and self.role in groups.GROUPED, f"column {self.name!r} has groups of values")
            groups.check(self.groups, self.frequent or Frequent(), self.count)
        if self.numbers is not None:
            self.numbers.check(form, self.count)
        if self.lengths is not None:
            self.lengths.check(self.count)
        if self.norms is not None:
            self.norms.check()
            require(self.norms.count <= self.count, f"column {self.name!r} has more lengths than vectors")

    def _check_values(self, form: Form, registers: Bytes, held: Frequent) -> None:
        """Refuse frequent values that are not those of their hashes, and hashes that the registers do not know."""
        hashes = held.hashes.view(np.uint64)
        known = distinct.add(distinct.none(), hashes)
        fits = bool((known == registers).all()) if held.exact else bool((known <= registers).all())
        require(fits, f"column {self.name!r} has frequent values that were not counted")
        words = [each for each in held.values if isinstance(each, int)]
        wanted = len(held.values) if form.family in ("whole", "real") else 0
        require(len(words) == wanted, f"column {self.name!r} has frequent values of another type")
        require(all(-(1 << 63) <= each < 1 << 63 for each in words), f"column {self.name!r} has impossible frequent values")
        same = hash_words(np.array(words, dtype=np.int64).view(np.uint64)) == hashes[: len(words)]
        require(bool(same.all()), f"column {self.name!r} has frequent values that were not counted")
        if form.measured:
            numbers = [form.number(each) for each in held.values]
            require(not any(map(math.isnan, numbers)), f"column {self.name!r} has frequent values that are no numbers")


def _known(value: float | None) -> float | None:
    """Return None for NaN, the statistic of too few values."""
    return None if value is None or math.isnan(value) else value
