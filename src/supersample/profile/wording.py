"""What a profile says of a column, in a few words each: for terminals and pages."""

from supersample._text import amount
from supersample.profile.column import ColumnProfile, Counted

__all__ = ["count_text", "distinct_text", "maximum_text", "minimum_text", "quantile_text", "span_of", "value_text"]

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
    """Write a mean, a quantile or another number of a column with a few digits; times as times, as finely as they span."""
    form = column.form
    if form.clock == "duration":
        return f"{amount(value, 4)} s"
    if form.clock:
        return _short_time(form.seconds_text(value), span_of(column))
    whole = form.family == "whole" and abs(value) < _LONG and value == int(value)
    return f"{int(value):,}" if whole else amount(value, 4)


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
    if form.clock and form.clock != "duration":
        return _short_time(text, span_of(column))
    return text if form.name == "bool" else value_text(column, form.number(finite))


def _short_time(text: str, span: float) -> str:
    day, separator, clock = text.partition("T")
    if not separator:  # a day, or a time of day
        return text.partition(".")[0] if span > _MINUTE else text
    if span > _DAYS:
        return day
    return f"{day} {clock.partition('.')[0].rstrip('Z') if span > _MINUTE else clock}"
