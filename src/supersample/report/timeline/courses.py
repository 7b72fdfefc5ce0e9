"""The course of each column along the spans of a history: quartiles of numbers, shares of frequent values, missing values."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from supersample._typing import Floats, Indices
from supersample.profile import ColumnProfile, Profile
from supersample.profile import wording as said
from supersample.report import words
from supersample.report.cells import clean
from supersample.report.columns import shown_by_value
from supersample.report.shapes import Axis, axis_of, class_counts
from supersample.report.timeline.spans import Span

__all__ = ["Course", "Lengths", "Quartiles", "Values", "course_of", "courses_of"]

#: Columns on the page, and spans times columns: what is embedded grows with it.
MOST_COLUMNS, MOST_CELLS = 60, 12_000
#: Frequent values of a column, and of one with a few different numbers.
MOST_VALUES, FEW = 8, 12
#: Roles of columns whose values say nothing about a course.
_SILENT = ("id", "constant", "weight")
#: Characters of a value.
_LONGEST = 40


@dataclass(frozen=True)
class Quartiles:
    """Numbers or times: quartiles and means of each span, NaN where it has no values, and its counts in common classes.

    quartiles: spans x 3. axis, counts: classes of equal width on an axis that holds all values; spans x classes.
    finite: how many values a mean and the counts are of. form: how numbers are written: as a number, a moment (seconds since
    1970), a time of day, or a duration (both in seconds).
    """

    quartiles: Floats
    axis: Axis
    counts: Indices
    means: Floats
    finite: Indices
    form: str

    @property
    def edges(self) -> Floats:
        """The borders of the classes."""
        return self.axis.values(np.linspace(0.0, 1.0, self.counts.shape[1] + 1))


@dataclass(frozen=True)
class Values:
    """Frequent values: how many rows of each span have each. exact: whether counts are, else they may be too low."""

    labels: tuple[str, ...]
    counts: Indices
    exact: bool


@dataclass(frozen=True)
class Lengths:
    """Texts or vectors: their mean length in each span, NaN where it has none, and of how many; unit: what is counted."""

    means: Floats
    numbers: Indices
    unit: str


@dataclass(frozen=True)
class Course:
    """One column along the spans. rows, absent: rows of each span, and those without a value that can be read.

    named: whether an alarm names it. whole: what all rows together hold, in words.
    """

    name: str
    role: str
    type: str
    named: bool
    rows: Indices
    absent: Indices
    of: Quartiles | Values | Lengths | None
    whole: str

    @property
    def missing(self) -> Floats:
        """The share of rows of each span without a value."""
        return np.asarray(self.absent / np.maximum(self.rows, 1))

    @property
    def missing_share(self) -> float:
        """The share of all rows without a value."""
        return float(self.absent.sum() / max(int(self.rows.sum()), 1))


def courses_of(
    spans: Sequence[Span], whole: Profile, named: Sequence[str], time: str | None
) -> tuple[tuple[Course, ...], int]:  # fmt: skip
    """Return the courses of the columns, those that alarms name first, and how many columns there are.

    whole: of all spans together. named: columns that alarms name, the latest first. time: the column of times, left out.
    """
    columns = [each for each in whole.columns if each.name != time]
    first = list(dict.fromkeys(named))
    order = sorted(columns, key=lambda each: (each.name not in first, each.role in _SILENT))
    order.sort(key=lambda each: first.index(each.name) if each.name in first else len(first))
    most = min(MOST_COLUMNS, max(1, MOST_CELLS // len(spans)))
    parts = [{column.name: column for column in span.profile.columns} for span in spans]
    found = (course_of(each, [part[each.name] for part in parts], named=each.name in first) for each in order[:most])
    return tuple(found), len(columns)


def course_of(whole: ColumnProfile, parts: Sequence[ColumnProfile], *, named: bool) -> Course:
    """Return the course of a column, given by its profile over all rows and over each span."""
    found: Quartiles | Values | Lengths | None = None
    if whole.role in _SILENT:
        found = None
    elif shown_by_value(whole):
        found = _values(whole, parts) or _lengths(whole, parts)
    elif whole.numbers is not None and whole.numbers.minimum is not None:
        found = _quartiles(whole, parts)
    else:
        found = _lengths(whole, parts)
    return Course(
        name=clean(whole.name, 80),
        role=whole.role,
        type=clean(whole.type, 40),
        named=named,
        rows=np.array([each.rows for each in parts], dtype=np.int64),
        absent=np.array([each.missing + each.unreadable for each in parts], dtype=np.int64),
        of=found,
        whole=_whole_words(whole, found),
    )


def _quartiles(whole: ColumnProfile, parts: Sequence[ColumnProfile]) -> Quartiles:
    axis, n_classes = axis_of(whole)
    quartiles = [[_number(each.quantile(share)) for share in (0.25, 0.5, 0.75)] for each in parts]
    clock = whole.form.clock
    form = "number" if not clock else "duration" if clock == "duration" else "clock" if clock.startswith("time3") else "moment"
    return Quartiles(
        quartiles=np.array(quartiles, dtype=np.float64),
        axis=axis,
        counts=np.array([_whole_counts(class_counts(each, axis, n_classes)) for each in parts], dtype=np.int64),
        means=np.array([_number(each.mean) for each in parts], dtype=np.float64),
        finite=np.array([0 if each.numbers is None else each.numbers.moments.count for each in parts], dtype=np.int64),
        form=form,
    )


def _whole_counts(counts: Floats) -> Indices:
    """Return counts of classes, some of which are parts of rows, as whole numbers with the same sum."""
    whole: Indices = np.rint(np.concatenate([[0.0], np.cumsum(counts)])).astype(np.int64)
    return np.diff(whole)


def _number(value: float | None) -> float:
    return np.nan if value is None else value


def _values(whole: ColumnProfile, parts: Sequence[ColumnProfile]) -> Values | None:
    assert whole.frequent is not None
    few = whole.numbers is not None and whole.frequent.exact
    top = whole.top(FEW if few else MOST_VALUES)
    if not top:
        return None
    hashes = whole.frequent.hashes[: len(top)].tolist()
    order = list(range(len(top)))
    if few and whole.role == "number":
        order.sort(key=lambda place: float(top[place].value))
    labels = tuple(_label(whole, top[place].value) for place in order)
    counts = np.zeros((len(parts), len(top)), dtype=np.int64)
    for row, part in zip(counts, parts, strict=True):
        assert part.frequent is not None
        held = dict(zip(part.frequent.hashes.tolist(), part.frequent.counts.tolist(), strict=True))
        row[:] = [held.get(hashes[place], 0) for place in order]
    return Values(labels, counts, all(part.frequent is not None and part.frequent.exact for part in parts))


def _label(column: ColumnProfile, value: str) -> str:
    text = value.removesuffix(".0") if column.form.family == "real" else value
    return clean(text, _LONGEST) or "(empty)"


def _lengths(whole: ColumnProfile, parts: Sequence[ColumnProfile]) -> Lengths | None:
    if whole.norms is not None:
        numbers = [0 if each.norms is None else each.norms.count for each in parts]
        return Lengths(np.array([_number(each.mean) for each in parts]), np.array(numbers, dtype=np.int64), "Euclidean length")
    if whole.lengths is None or whole.form.family != "text":
        return None
    totals = np.array([0 if each.lengths is None else each.lengths.total for each in parts], dtype=np.float64)
    numbers = [each.count for each in parts]
    with np.errstate(invalid="ignore", divide="ignore"):
        return Lengths(totals / np.array(numbers), np.array(numbers, dtype=np.int64), "length in characters")


def _whole_words(column: ColumnProfile, found: Quartiles | Values | Lengths | None) -> str:
    """Say what all rows together hold."""
    absent = (column.missing + column.unreadable) / max(1, column.rows)
    gaps = f" Missing in {words.percent(absent)} of the rows." if absent else ""
    if isinstance(found, Quartiles):
        low, middle, high = (said.quantile_text(column, share) for share in (0.25, 0.5, 0.75))
        return f"Median {middle}, quartiles {low} and {high} over all rows.{gaps}"
    if isinstance(found, Values):
        shown = int(found.counts.sum())
        rest = (column.count - shown) / max(1, column.rows)
        others = f" Other values in {'at most ' * (not found.exact)}{words.percent(rest)} of the rows." if rest > 0 else ""
        return f"{said.distinct_text(column)} different values.{others}{gaps}"
    if isinstance(found, Lengths):
        whole = column.mean if column.norms is not None else column.lengths and column.lengths.total / max(1, column.count)
        return f"Mean {found.unit} {words.amount(whole or 0.0)} over all rows.{gaps}"
    why = {"id": "An id: its values are not followed.", "constant": "One value only.", "redacted": "Its values are masked."}
    return (why.get(column.role, "Its values are not followed.") + gaps).strip()
