"""Dates and times in text: year first, month first, day first, and months by their English names.

Parts are taken out by patterns and put together by arithmetic, not by strptime: its names of months depend on the locale, and
it exists in several dialects. Years have four digits; times with an offset are converted to UTC.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from supersample.records.reading.texts import agreeing, enough, groups_of

__all__ = ["FORMS", "recognise_times", "times_in"]

_CLOCK = (
    r"(?:(?:[Tt]| |, ?)(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:[.,](?P<fraction>[0-9]{1,9}))?)?"
    r" ?(?P<half>(?i:[ap]\.?m\.?)?) ?(?P<zone>(?:Z|z|UTC|GMT|[-+][0-9]{2}(?::?[0-9]{2})?)?))?"
)
_WEEKDAY = r"(?:(?i:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?i:day)?\.?,? )?"
_YEAR, _TWO = r"(?P<year>[0-9]{4})", "[0-9]{1,2}"
_MONTH, _DAY = r"(?P<name>[A-Za-z]{3,9})\.?", rf"(?P<day>{_TWO})(?:st|nd|rd|th|\.)?"
#: The forms of a date with the patterns of each; "numeric" is either month or day first.
_PATTERNS: Final = {
    "year-month-day": rf"^{_YEAR}(?P<apart>[-/.])(?P<month>{_TWO})(?P<again>[-/.])(?P<day>{_TWO}){_CLOCK}$",
    "numeric": rf"^(?P<one>{_TWO})(?P<apart>[-/.])(?P<two>{_TWO})(?P<again>[-/.]){_YEAR}{_CLOCK}$",
    "month day, year": rf"^{_WEEKDAY}{_MONTH}[- ]{_DAY}(?:, ?|[- ]){_YEAR}{_CLOCK}$",
    "day month year": rf"^{_WEEKDAY}{_DAY}[- /]?{_MONTH}(?:, ?|[- /]){_YEAR}{_CLOCK}$",
}
_NAMES = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_MONTHS = {name: place for place, full in enumerate(_NAMES, start=1) for name in (full, full[:3])} | {"sept": 9}
_MONTH_FIRST = tuple(f"month{mark}day{mark}year" for mark in "/-.")
_DAY_FIRST = tuple(f"day{mark}month{mark}year" for mark in "/-.")
_WITH_CLOCK = " hour:minute"
_DATES = ("year-month-day", "month day, year", "day month year", *_MONTH_FIRST, *_DAY_FIRST)
#: What a column of dates or times may look like.
FORMS: Final = tuple(date + clock for date in _DATES for clock in ("", _WITH_CLOCK))

Integers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
_DAY_US = 86_400_000_000


def times_in(texts: pa.Array, form: str) -> pa.Array:
    """Return tidied texts as timestamps of microseconds, null where they are no time.

    Dates with the year first or a month's name are read whatever the form; which of two numbers is the month is for the form to
    say, and if it does not, they are null.
    """
    found = np.full(len(texts), np.iinfo(np.int64).min)
    for name, rows, parts in _matches(texts):
        if name != "numeric":
            found[rows] = _microseconds(parts)
        elif form.startswith(_MONTH_FIRST + _DAY_FIRST):
            found[rows] = _microseconds(_ordered(parts, month_first=form.startswith(_MONTH_FIRST)))
    return pa.array(found.view("M8[us]"), mask=found == np.iinfo(np.int64).min)


def recognise_times(texts: pa.Array, counts: Integers, least: float) -> tuple[str, str] | None:
    """Return the form of a column of times, and a note; None if the column holds no times.

    texts, counts: the distinct values, and how many rows have each; least: the share of rows that must parse.
    """
    month_first = _parsed(texts, _MONTH_FIRST[0])
    day_first = _parsed(texts, _DAY_FIRST[0])
    agreed = agreeing(month_first, day_first, counts)
    if agreed is None:
        return None
    parsed = month_first if agreed[0] else day_first
    if not enough(parsed, counts, least):
        return None
    texts, counts = texts.filter(pa.array(parsed)), counts[parsed]
    seen = {name: (rows, parts) for name, rows, parts in _matches(texts)}
    sizes = {name: int(counts[rows].sum()) for name, (rows, _) in seen.items()}
    notes = []
    if "numeric" in seen:
        rows, parts = seen["numeric"]
        mark = _most(parts["apart"], counts[rows])
        first = agreed[0] if agreed[1] else mark != "."
        form = (_MONTH_FIRST if first else _DAY_FIRST)["/-.".index(mark)]
        if not agreed[1]:
            notes.append(f"no value tells the day from the month; read as {form}")
    else:
        form = max(sizes, key=lambda name: sizes[name])
    main = "numeric" if "numeric" in seen else form
    others = [name for name in seen if name != main]
    if others:
        notes.append(f"some are written {' or '.join(others)}, and read as such")
    if any(pc.any(pc.not_equal(parts["hour"], "")).as_py() for _, parts in seen.values()):
        form += _WITH_CLOCK
    notes.extend(_zone_notes([parts["zone"] for _, parts in seen.values()], len(texts)))
    return form, "; ".join(notes)


def _matches(texts: pa.Array) -> Iterator[tuple[str, Integers, dict[str, pa.Array]]]:
    """Yield each form that some texts have: its name, the places of those texts, and their parts. No text has two."""
    for name, pattern in _PATTERNS.items():
        rows = np.flatnonzero(pc.match_substring_regex(texts, pattern=pattern).to_numpy(zero_copy_only=False))
        if rows.size:
            yield name, rows, groups_of(texts.take(pa.array(rows)), pattern)


def _parsed(texts: pa.Array, form: str) -> Mask:
    return _flags(times_in(texts, form).is_valid())


def _ordered(parts: dict[str, pa.Array], *, month_first: bool) -> dict[str, pa.Array]:
    month, day = ("one", "two") if month_first else ("two", "one")
    return parts | {"month": parts[month], "day": parts[day]}


def _most(marks: pa.Array, rows: Integers) -> str:
    """Return the mark that most rows have."""
    given = np.array(marks.to_pylist())
    return max("/-.", key=lambda mark: int(rows[given == mark].sum()))


def _microseconds(parts: dict[str, pa.Array]) -> Integers:
    """Return microseconds since 1970, the smallest int64 where the parts make no time."""
    year, day = _integers(parts["year"]), _integers(parts["day"])
    month = _months(parts["name"]) if "name" in parts else _integers(parts["month"])
    hour, minute, second = (_integers(parts[part]) for part in ("hour", "minute", "second"))
    fraction = _integers(pc.utf8_slice_codeunits(pc.utf8_rpad(parts["fraction"], 6, "0"), 0, 6))
    good = (year >= 1) & (month >= 1) & (month <= 12) & (day >= 1)
    months = np.where(good, (year - 1970) * 12 + month - 1, 0)
    begin, after = (places.astype("M8[M]").astype("M8[D]").astype(np.int64) for places in (months, months + 1))
    good &= day <= after - begin
    if "apart" in parts:
        good &= _flags(pc.equal(parts["apart"], parts["again"]))
    hour, known_half = _hours(hour, parts["half"])
    shift, known = _offsets(parts["zone"])
    good &= known_half & known & (hour <= 23) & (minute <= 59) & (second <= 59)
    clock = ((hour * 60 + minute - shift) * 60 + second) * 1_000_000 + fraction
    return np.where(good, (begin + day - 1) * _DAY_US + clock, np.iinfo(np.int64).min)


def _integers(texts: pa.Array) -> Integers:
    """Return digits as integers, and a part that is not there as 0."""
    filled = pc.if_else(pc.equal(texts, ""), "0", texts)
    return np.asarray(filled.cast(pa.int64()).to_numpy(zero_copy_only=False))


def _months(names: pa.Array) -> Integers:
    """Return the numbers of English months, 0 for other words."""
    places = pc.index_in(pc.utf8_lower(names), value_set=pa.array(_MONTHS, pa.large_string())).fill_null(len(_MONTHS))
    return np.asarray(np.array([*_MONTHS.values(), 0])[places.to_numpy(zero_copy_only=False)])


def _hours(hours: Integers, halves: pa.Array) -> tuple[Integers, Mask]:
    """Return hours of 0 to 23 for those of a half of the day, and whether the hour and its half go together."""
    afternoon, morning = (_flags(pc.starts_with(halves, pattern=letter, ignore_case=True)) for letter in "pa")
    stated = afternoon | morning
    of_day = np.where(stated, hours % 12 + np.where(afternoon, 12, 0), hours)
    return of_day, ~stated | ((hours >= 1) & (hours <= 12))


def _flags(mask: pa.Array) -> Mask:
    return np.asarray(mask.to_numpy(zero_copy_only=False), dtype=np.bool_)


def _offsets(zones: pa.Array) -> tuple[Integers, Mask]:
    """Return the minutes by which each zone is ahead of UTC, and whether there is such a zone."""
    coded = zones.dictionary_encode()
    minutes = [_minutes_ahead(zone) for zone in coded.dictionary.to_pylist()]
    places = coded.indices.to_numpy(zero_copy_only=False)
    return np.array([each or 0 for each in minutes])[places], np.array([each is not None for each in minutes])[places]


def _minutes_ahead(zone: str) -> int | None:
    digits = zone[1:].replace(":", "")
    if not digits.isdigit():
        return 0
    hours, minutes = int(digits[:2]), int(digits[2:] or 0)
    if hours > 23 or minutes > 59:
        return None
    return (-1 if zone[0] == "-" else 1) * (60 * hours + minutes)


def _zone_notes(zones: list[pa.Array], n_texts: int) -> list[str]:
    """Say that times were converted, and that some do not state their offset."""
    stated = [zone for each in zones for zone in each.to_pylist() if zone]
    notes = []
    if any(_minutes_ahead(zone) for zone in stated):
        notes.append("converted to UTC")
    if stated and len(stated) < n_texts:
        notes.append("values without an offset are taken as UTC")
    return notes
