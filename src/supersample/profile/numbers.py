"""The part of a profile that measures: extremes, signs, moments and quantiles of numbers, truth values and times."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from supersample._checks import require
from supersample._stored import INTEGER, NUMBER, any_of, instance_of, optional, stored
from supersample._typing import Floats, Indices, Mask
from supersample.profile import histogram, moments
from supersample.profile.forms import Form
from supersample.profile.frequent import Frequent
from supersample.profile.histogram import Histogram, counts_at
from supersample.profile.moments import Moments

__all__ = ["Measured", "Numbers", "add", "merge", "quantile", "value_counts"]


class Measured(NamedTuple):
    """Values as float64, times in seconds, and the extremes of the finite ones as `Numbers` keeps them."""

    floats: Floats
    minimum: int | float | None
    maximum: int | float | None


_EXTREME = optional(any_of(INTEGER, NUMBER))


@stored(
    "NumberProfile",
    {
        "minimum": _EXTREME,
        "maximum": _EXTREME,
        "zeros": INTEGER,
        "negatives": INTEGER,
        "lowest": INTEGER,
        "highest": INTEGER,
        "moments": instance_of(Moments),
        "histogram": instance_of(Histogram),
    },
)
@dataclass(frozen=True)
class Numbers:
    """Statistics of the numbers of a column, as float64 (times in seconds), except for the extremes.

    minimum, maximum: of the finite values; exact. A time or a decimal is counted in units of its type, as `Form.text` reads it.
    zeros, negatives: how many values are zero, and below zero; lowest, highest: how many are minus and plus infinity.
    """

    minimum: int | float | None
    maximum: int | float | None
    zeros: int
    negatives: int
    lowest: int
    highest: int
    moments: Moments
    histogram: Histogram

    @classmethod
    def none(cls, centre: float) -> "Numbers":
        """Return the statistics of no values."""
        return cls(None, None, 0, 0, 0, 0, Moments(), Histogram(centre))

    @property
    def count(self) -> int:
        """How many values there were, infinite ones included."""
        return self.lowest + self.moments.count + self.highest

    @property
    def infinite(self) -> int:
        """How many values are infinite, of either sign."""
        return self.lowest + self.highest

    def check(self, form: Form, n_values: int) -> None:
        """Refuse statistics that no values of this form and number have."""
        counts = (self.zeros, self.negatives, self.lowest, self.highest)
        require(min(counts) >= 0 and self.count == n_values, "the numbers are of another number of values")
        require(form.family == "real" or self.lowest == self.highest == 0, "whole numbers are infinite")
        self.moments.check()
        self.histogram.check(self.moments.count)
        some = self.moments.count > 0
        require((self.minimum is not None) == (self.maximum is not None) == some, "there are extremes of no numbers")
        if self.minimum is None or self.maximum is None:
            require(self.zeros == 0 and self.negatives == self.lowest, "the signs of numbers do not add up")
            return
        require(form.holds(self.minimum) and form.holds(self.maximum), "the extremes are no values of the column")
        least, largest = form.number(self.minimum), form.number(self.maximum)
        require(-math.inf < least <= largest < math.inf, "the extremes are out of order")
        ends = (self.histogram.key_of(least), self.histogram.key_of(largest))
        require(ends == (self.histogram.keys[0], self.histogram.keys[-1]), "the extremes are outside the histogram")
        finite = self.negatives - self.lowest
        require(0 <= finite <= self.moments.count - self.zeros, "the signs of numbers do not add up")
        positive = finite + self.zeros < self.moments.count
        require((finite > 0) == (least < 0) and positive == (largest > 0), "the signs of numbers do not add up")
        total, count = self.moments.total.fraction(), self.moments.count
        require(count * Fraction(least) <= total <= count * Fraction(largest), "the mean is outside the extremes")


def add(state: Numbers, values: Measured, repeats: Indices | None) -> Numbers:
    """Return the statistics after more values, none of them NaN; repeats: how often each occurs, once if None."""
    floats, finite = values.floats, np.isfinite(values.floats)
    times = None if repeats is None else repeats[finite]
    more = Numbers(
        values.minimum,
        values.maximum,
        _count(floats == 0.0, repeats),
        _count(floats < 0.0, repeats),
        _count(floats == -np.inf, repeats),
        _count(floats == np.inf, repeats),
        moments.of(floats[finite], times),
        histogram.of(floats[finite], state.histogram.centre, state.histogram.level, times),
    )
    return merge(state, more)


def merge(left: Numbers, right: Numbers) -> Numbers:
    """Return the statistics of both data sets together; the order of the two does not matter."""
    return Numbers(
        min(_present(left.minimum, right.minimum), default=None),
        max(_present(left.maximum, right.maximum), default=None),
        left.zeros + right.zeros,
        left.negatives + right.negatives,
        left.lowest + right.lowest,
        left.highest + right.highest,
        moments.merge(left.moments, right.moments),
        histogram.merge(left.histogram, right.histogram),
    )


def _count(chosen: Mask, repeats: Indices | None) -> int:
    return int(np.count_nonzero(chosen) if repeats is None else repeats[chosen].sum())


def _present(*values: int | float | None) -> list[int | float]:
    return [value for value in values if value is not None]


def quantile(state: Numbers, frequent: Frequent, form: Form, share: float) -> float:
    """Return the quantile as pandas and NumPy define it, interpolated between the two values around (n - 1) share.

    Exact if all values are held; else each of the two is off by at most `Histogram.error` times its distance from the centre.
    """
    if state.count == 0:
        return math.nan
    place = (state.count - 1) * share
    low = _of_rank(state, frequent, form, math.floor(place))
    high = _of_rank(state, frequent, form, math.ceil(place))
    part = place - math.floor(place)
    if not math.isfinite(high - low):
        return low if part < 0.5 else high
    return low + (high - low) * part


def value_counts(frequent: Frequent, form: Form) -> tuple[Floats, Indices]:
    """Return the numbers of a column whose values are all held, in increasing order, and how often each occurs."""
    numbers = np.array([form.number(value) for value in frequent.values], dtype=np.float64)
    values = np.unique(numbers)
    return values, counts_at(numbers, frequent.counts, values)


def _of_rank(state: Numbers, frequent: Frequent, form: Form, rank: int) -> float:
    if frequent.exact:
        values, counts = value_counts(frequent, form)
        return float(values[np.searchsorted(np.cumsum(counts), rank, side="right")])
    if rank < state.lowest:
        return -math.inf
    if state.minimum is None or state.maximum is None or rank >= state.lowest + state.moments.count:
        return math.inf
    about = state.histogram.order_statistic(rank - state.lowest, whole=form.family == "whole" and not form.clock)
    return min(max(about, form.number(state.minimum)), form.number(state.maximum))
