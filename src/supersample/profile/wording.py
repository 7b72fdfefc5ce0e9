"""What a profile says of a column, in a few words each: for terminals and pages."""

import math

import pyarrow as pa

from supersample._text import amount
from supersample.profile.column import ColumnProfile, Counted

__all__ = ["count_text", "distinct_text", "maximum_text", "minimum_text", "quantile_text", "sd_text", "span_of", "value_text"]

#: Digits of a number, and how many of them there are at most to tell values of a narrow column apart.
_DIGITS, _MOST_DIGITS = 4, 15
#: Whole numbers from this size on are written with an exponent.
_LONG = 10**15
#: Times are written as days if they span more than three, and without fractions of seconds if they span more than a minute.
_DAYS, _MINUTE = 3 * 86_400, 60


def distinct_text(column: ColumnProfile) -> str:
    """Say how many different values there are; estimates are rounded to three digits and called so."""
    if column.distinct is None:
        return ""
    if not column.distinct_error:
        return f"{column.distinct:,}"
    rounded = int(round(column.distinct, 3 - len(str(column.distinct))))
    return f"about {min(rounded, column.count):,}"


def count_text(value: Counted) -> str:
    """Say how often a value occurs."""
    return f"{'at least ' * value.at_least}{value.count:,}"


def minimum_text(column: ColumnProfile) -> str:
    """Write the least value of a column; nothing without numbers or times."""
    return _extreme(column, column.minimum, None if column.numbers is None else column.numbers.minimum)


def maximum_text(column: ColumnProfile) -> str:
    """Write the largest value of a column; nothing without numbers or times."""
    return _extreme(column, column.maximum, None if column.numbers is None else column.numbers.maximum)


def quantile_text(column: ColumnProfile, share: float) -> str:
    """Write a quantile of a column; nothing without numbers or times."""
    found = column.quantile(share)
    return "" if found is None else value_text(column, found)


def value_text(column: ColumnProfile, value: float) -> str:
    """Write a mean, a quantile or another number of a column; times as times, in their zone and as finely as they span.

    Numbers have four digits, or more where these would not tell values apart that differ by a hundredth of the deviation.
    """
    form = column.form
    if form.is_time:
        return _in_zone(column, value) if form.zone else _short_time(form.seconds_text(value), span_of(column))
    whole = form.family == "whole" and not form.clock and abs(value) < _LONG and value == int(value)
    text = f"{int(value):,}" if whole else amount(value, _digits(value, column.sd))
    return f"{text} s" if form.clock else text


def sd_text(column: ColumnProfile) -> str:
    """Write the standard deviation of a column; nothing for fewer than two values."""
    return "" if column.sd is None else amount(column.sd, _DIGITS) + " s" * (column.form.clock == "duration")


def span_of(column: ColumnProfile) -> float:
    """Return the distance between the least and the largest finite number of a column; 0 without two of them."""
    numbers = column.numbers
    if numbers is None or numbers.minimum is None or numbers.maximum is None:
        return 0.0
    return column.form.number(numbers.maximum) - column.form.number(numbers.minimum)


def _extreme(column: ColumnProfile, text: str | None, finite: int | float | None) -> str:
    if text is None:
        return ""
    if text in ("inf", "-inf") or finite is None:
        return amount(float(text))
    form = column.form
    if form.is_time and not form.zone:
        return _short_time(text, span_of(column))
    return text if form.name == "bool" else value_text(column, form.number(finite))


def _digits(value: float, sd: float | None) -> int:
    """Return how many digits to write, given the standard deviation of the column.

    >>> _digits(2020.52, 1.7), _digits(2020.52, 800.0), _digits(5.0, None)
    (6, 4, 4)
    """
    if not sd or not value or not math.isfinite(value) or not math.isfinite(sd):
        return _DIGITS
    return min(max(math.ceil(math.log10(abs(value)) - math.log10(sd)) + 2, _DIGITS), _MOST_DIGITS)


def _in_zone(column: ColumnProfile, seconds: float) -> str:
    """Write a moment in the zone of its column, or in UTC where Python does not know the zone or the year."""
    span = span_of(column)
    seconds = round(seconds) if span > _MINUTE else seconds
    try:
        moment = pa.scalar(round(seconds * 10**6), pa.timestamp("us", column.form.zone)).as_py()
    except (ValueError, KeyError, OverflowError, pa.ArrowException):
        return f"{_short_time(column.form.seconds_text(seconds).rstrip('Z'), span)} UTC"
    return _short_time(moment.isoformat(), span)


def _short_time(text: str, span: float) -> str:
    day, separator, clock = text.partition("T")
    if not separator:  # a day, or a time of day
        return text.partition(".")[0] if span > _MINUTE else text
    if span > _DAYS:
        return day
    return f"{day} {clock.partition('.')[0].rstrip('Z') if span > _MINUTE else clock}"
