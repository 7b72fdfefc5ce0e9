"""The distribution of a column of numbers over all rows, from its profile: classes of equal width over the whole range."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from supersample._text import amount
from supersample._typing import Floats
from supersample.profile import ColumnProfile
from supersample.profile.wording import value_text

__all__ = ["Axis", "Shape", "axis_of", "class_counts", "compact", "counted_in", "shape_of", "spread_over"]

#: Classes of a distribution.
CLASSES = 32
#: An axis is compressed if 90% of the values would take less than this share of it.
CROWDED = 1 / 8
#: One of positive numbers also if half of the values would take less than this.
HALF_CROWDED = 1 / 16
#: The quartile distance and the 5% to 95% range of the standard normal.
_QUARTILES, _MIDDLE = 1.349, 3.29
#: Whole numbers that span more than this are cut like other numbers.
_MOST_WHOLE = 4096
#: The width of an axis in characters of its labels, and the least distance between two of them.
_WIDTH, _GAP = 46, 2


class Axis(NamedTuple):
    """A scale from its low end, at 0, to its high end, at 1.

    kind: "even", "log", or "symlog": even near the centre, by the asinh of the distance from it in units of `scale` elsewhere.
    """

    kind: Literal["even", "log", "symlog"]
    low: float
    high: float
    centre: float = 0.0
    scale: float = 1.0

    def place(self, values: Floats) -> Floats:
        """Return where values lie on the axis, from 0 to 1; those beyond its ends at the ends."""
        low, high = (float(self._bent(np.array(end))) for end in (self.low, self.high))
        if not high > low:
            return np.full(np.shape(values), 0.5)
        placed: Floats = (self._bent(np.clip(values, self.low, self.high)) - low) / (high - low)
        return np.clip(placed, 0.0, 1.0)

    def values(self, places: Floats) -> Floats:
        """Return the values at places of the axis: what `place` takes to them."""
        low, high = (float(self._bent(np.array(end))) for end in (self.low, self.high))
        bent = low + np.asarray(places) * (high - low)
        if self.kind == "log":
            found = np.exp(bent)
        elif self.kind == "symlog":
            found = self.centre + self.scale * np.sinh(bent)
        else:
            found = bent * (max(abs(self.low), abs(self.high)) or 1.0)
        return np.clip(found, self.low, self.high)

    def _bent(self, values: Floats) -> Floats:
        if self.kind == "log":
            return np.asarray(np.log(values))
        if self.kind == "symlog":
            return np.asarray(np.arcsinh(values / self.scale - self.centre / self.scale))
        size = max(abs(self.low), abs(self.high)) or 1.0  # differences of the largest numbers would be infinite
        return np.asarray(values / size)


@dataclass(frozen=True)
class Shape:
    """Shares of all rows, and of the prototypes, in the same classes.

    first, second: shares of all rows and of all prototypes; missing and infinite values count in the whole and in no class.
    ticks: places on the axis, from 0 to 1, with their labels. scale: words for the axis; empty for an even one.
    """

    first: tuple[float, ...]
    second: tuple[float, ...]
    ticks: tuple[tuple[float, str], ...]
    scale: str


def shape_of(column: ColumnProfile, values: Floats, weights: Floats) -> Shape | None:
    """Return the distribution of a column of numbers over all rows, and that of some weighted rows, NaN where missing.

    None without finite values. The classes are filled from the histogram of the profile, or from its values where it holds all
    of them. A bucket that two classes share is split between them by width.
    """
    ends = _ends(column)
    if ends is None or column.numbers is None or column.frequent is None:
        return None
    axis, n_classes = axis_of(column)
    edges = np.linspace(0.0, 1.0, n_classes + 1)
    counts = class_counts(column, axis, n_classes)
    drawn = np.isfinite(values)
    second = counted_in(axis.place(values[drawn]), edges, weights[drawn])
    first = counts / max(1, column.rows)
    return Shape(tuple(first.tolist()), tuple(second.tolist()), _ticks(axis, column), _scale_words(axis, column))


def class_counts(column: ColumnProfile, axis: Axis, n_classes: int) -> Floats:
    """Return how many finite values of a column lie in each class of an axis, which may be that of more rows.

    They are exact where the profile holds all values; else a bucket of it that two classes share is split by width.
    """
    if column.numbers is None or column.frequent is None or not column.numbers.moments.count:
        return np.zeros(n_classes)
    edges = np.linspace(0.0, 1.0, n_classes + 1)
    if column.frequent.exact:
        held = np.array([column.form.number(value) for value in column.frequent.values])
        finite = np.isfinite(held)
        return counted_in(axis.place(held[finite]), edges, column.frequent.counts[finite].astype(np.float64))
    low, high = (axis.place(each) for each in column.numbers.histogram.edges())
    return spread_over(low, high, column.numbers.histogram.counts.astype(np.float64), edges)


def axis_of(column: ColumnProfile) -> tuple[Axis, int]:
    """Return the axis of a column with finite values, and how many classes it is cut into.

    It holds the whole range. Where a few far values would press the others together it is logarithmic, or, if there are zeros
    or negative numbers, logarithmic far from zero or from the median.
    """
    ends = _ends(column)
    assert ends is not None
    low, high = ends
    if not column.form.clock and (crowded := _crowded(column, low, high)) is not None:
        return crowded, CLASSES
    n_values = high - low + 1.0
    if _is_whole(column) and n_values <= _MOST_WHOLE:
        width = math.ceil(n_values / CLASSES)
        n_classes = math.ceil(n_values / width)
        return Axis("even", low - 0.5, low - 0.5 + n_classes * width), n_classes
    return Axis("even", low, high), CLASSES if high > low else 1


def _crowded(column: ColumnProfile, low: float, high: float) -> Axis | None:
    """Return a compressed axis for a column whose values are crowded on an even one."""
    points = [column.quantile(share) for share in (0.05, 0.25, 0.5, 0.75, 0.95)]
    if any(each is None or not math.isfinite(each) for each in points):
        return None
    first, lower, median, upper, last = (float(each or 0.0) for each in points)
    half = high / 2 - low / 2  # the range of the largest numbers would be infinite
    pressed = last / 2 - first / 2 < CROWDED * half
    if low > 0 and (pressed or upper / 2 - lower / 2 < HALF_CROWDED * half):
        return Axis("log", low, high)
    if not pressed:
        return None
    scales = ((upper - lower) / _QUARTILES, (last - first) / _MIDDLE, high / 1e3 - low / 1e3)
    scale = next((each for each in scales if 0 < each < math.inf), 0.0)
    centre = 0.0 if low == 0 else median
    return Axis("symlog", low, high, centre, scale) if scale > 0 and math.isfinite(high / scale - low / scale) else None


def _ends(column: ColumnProfile) -> tuple[float, float] | None:
    numbers = column.numbers
    if numbers is None or numbers.minimum is None or numbers.maximum is None:
        return None
    return column.form.number(numbers.minimum), column.form.number(numbers.maximum)


def _is_whole(column: ColumnProfile) -> bool:
    form, held = column.form, column.frequent
    if form.clock or held is None:
        return False
    return form.family == "whole" or (held.exact and all(form.number(value).is_integer() for value in held.values))


def counted_in(places: Floats, edges: Floats, weights: Floats) -> Floats:
    """Return the sum of weights in each class between edges; values beyond the ends count in the outermost classes."""
    classes = np.clip(np.searchsorted(edges, places, "right") - 1, 0, edges.size - 2)
    return np.bincount(classes, weights, edges.size - 1).astype(np.float64)


def spread_over(low: Floats, high: Floats, counts: Floats, edges: Floats) -> Floats:
    """Return the counts of buckets, given by their ends, in classes: the difference of their cumulated counts at the edges."""
    ends = np.cumsum(counts)
    known = np.column_stack([low, high]).ravel(), np.column_stack([ends - counts, ends]).ravel()
    below = np.interp(edges, *known)
    below[0], below[-1] = 0.0, ends[-1]
    return np.diff(below)


def _scale_words(axis: Axis, column: ColumnProfile) -> str:
    if axis.kind == "even":
        return ""
    if axis.kind == "log":
        return "Logarithmic scale."
    return f"Scale even near {value_text(column, axis.centre)}, logarithmic far from it."


def _ticks(axis: Axis, column: ColumnProfile) -> tuple[tuple[float, str], ...]:
    if column.form.clock:
        wanted: Sequence[float] = [axis.low, axis.high, axis.low / 2 + axis.high / 2]
        labels = [value_text(column, each) for each in wanted]
    else:
        low, high = (each for each in _ends(column) or (axis.low, axis.high))
        wanted = _candidates(axis, low, high)
        labels = [compact(each) for each in wanted]
    places = axis.place(np.array(wanted)).tolist()
    taken: list[tuple[float, float]] = []
    ticks = []
    for place, label in zip(places, labels, strict=True):
        half = len(label) / 2
        middle = min(max(place * _WIDTH, half), _WIDTH - half)  # labels at the ends are moved inwards
        if all(middle + half + _GAP <= left or middle - half - _GAP >= right for left, right in taken):
            taken.append((middle - half, middle + half))
            ticks.append((place, label))
    return tuple(sorted(ticks))


def _candidates(axis: Axis, low: float, high: float) -> Sequence[float]:
    """Return numbers to label, the most wanted first; fewer are labelled where there is no room."""
    if not high / 4 - low / 4 > 0:
        return [low]
    if axis.kind == "even":
        step = _round_step(high / 4 - low / 4)
        first = math.ceil(low / step)
        found = [place * step for place in range(first, first + 9)]
        return [each for each in found if low <= each <= high] or [low, high]
    first, last = math.floor(math.log10(axis.scale if axis.kind == "symlog" else low)), math.ceil(math.log10(_size(axis)))
    powers = [float(10.0**power) for power in range(max(first, -300), min(last, 300) + 1)]
    if axis.kind == "log":
        inside = [each for each in powers if low <= each <= high]
        spread = _thinned(inside)
        halves = [factor * each for each in powers for factor in (2.0, 5.0) if low <= factor * each <= high]
        return [*spread, *inside, *halves] if len(inside) < 3 else [*spread, *inside]
    signed = [axis.centre, *(each for power in reversed(powers) for each in (power, -power))]
    return [each for each in signed if low <= each <= high]


def _size(axis: Axis) -> float:
    return max(abs(axis.low), abs(axis.high))


def _thinned(numbers: Sequence[float]) -> Sequence[float]:
    """Return some of many numbers at even distances, so that what is labelled is even too."""
    return numbers[:: max(1, math.ceil(len(numbers) / 5))]


def _round_step(least: float) -> float:
    """Return the least of 1, 2, 2.5 and 5 times a power of ten that is not below a number."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1.0, 2.0, 2.5, 5.0, 10.0) if factor * power >= least * (1 - 1e-9))


def compact(value: float) -> str:
    """Write a number for an axis, with letters for thousands, millions and so on.

    >>> compact(-25_000), compact(0.25), compact(3e12)
    ('-25k', '0.25', '3tn')
    """
    for size, letter in ((1e12, "tn"), (1e9, "bn"), (1e6, "m"), (1e3, "k")):
        if max(size, 1e4) <= abs(value) < 1e15:  # 2,024 may be a year
            return amount(value / size) + letter
    return amount(value, 4)
