"""Moments, spans and lengths of time of a history in words."""

from supersample._durations import UNITS, duration_text
from supersample._text import about, amount
from supersample.history.rules import Rules
from supersample.report import words
from supersample.report.cells import clean

__all__ = ["axis_words", "length_words", "long_words", "moment", "short", "stretch"]

#: Names of the units of time, the longest first.
_NAMES = {"w": "week", "d": "day", "h": "hour", "m": "minute", "s": "second", "ms": "millisecond"}
_YEAR = 365.25 * UNITS["d"]


def moment(time: float, rules: Rules) -> str:
    """Write a moment as part of a sentence: a date and time, a row, or a value of the column of times."""
    text = rules.text(time)
    if rules.clock:
        return text
    return f"row {text}" if rules.time is None else f"{clean(rules.time, 40)} = {text}"


def short(time: float, rules: Rules) -> str:
    """Write a moment for an axis: a day alone at midnight."""
    text = rules.text(time)
    return text.removesuffix(" 00:00") if rules.clock else text


def stretch(start: float, end: float, rules: Rules) -> str:
    """Write a span of the history as part of a sentence; the end is not included."""
    if rules.clock:
        return f"{rules.text(start)} to {rules.text(end)}"
    if rules.time is None:
        return f"row {rules.text(start)} to row {rules.text(end - 1.0)}"
    return f"{clean(rules.time, 40)} from {rules.text(start)} to {rules.text(end)}"


def length_words(length: float, rules: Rules) -> str:
    """Write the length of a block, or of another span.

    >>> from supersample.history.rules import rules_of
    >>> asked = dict(season=None, keep=None, lateness=None, run_length=None, guarantee="exact", at_least=0.0, volume=True)
    >>> by_clock, by_rows = rules_of(time="when", every="15m", **asked), rules_of(time=None, every=100, **asked)
    >>> length_words(900.0, by_clock), length_words(86_400.0, by_clock), length_words(1.0, by_rows)
    ('15 minutes', '1 day', '1 row')
    """
    if not rules.clock:
        return words.count(round(length), "row") if rules.time is None else amount(length)
    number, unit = _parted(duration_text(length))
    if unit == "w" and number < 2:
        number, unit = 7, "d"
    return words.count(number, _NAMES[unit]) if unit else f"{amount(length)} seconds"


def long_words(length: float, rules: Rules) -> str:
    """Write about how long a long span is, in years, days, hours, minutes or seconds, or in rows."""
    if not rules.clock:
        return f"about {about(length)} rows" if rules.time is None else f"about {about(length)}"
    if length >= 2 * _YEAR:
        return f"about {about(length / _YEAR)} years"
    unit = next((each for each in ("d", "h", "m") if length >= 2 * UNITS[each]), "s")
    return f"about {about(length / UNITS[unit])} {_NAMES[unit]}s"


def axis_words(rules: Rules, *, is_even: bool) -> str:
    """Say what the time axis is."""
    what = "Times with a zone are shown in UTC." if rules.clock else ""
    bent = "Old blocks are longer, and long blocks and gaps are drawn narrower for their time." if not is_even else ""
    return " ".join(filter(None, [what, bent]))


def _parted(text: str) -> tuple[int, str]:
    digits = text.rstrip("wdhms")
    unit = text[len(digits) :]
    return (int(digits), unit) if digits.isdigit() and unit in _NAMES else (0, "")
