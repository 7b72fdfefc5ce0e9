"""What is known of a stream as plain values of JSON: ticks, alarms, profiles, prototypes, comparisons of two ranges."""

import math
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import pyarrow as pa

from supersample._plain import as_rows
from supersample.errors import InputError
from supersample.history import Alarm, Period
from supersample.history.timeline import Timeline
from supersample.history.times import number_of, shown_time
from supersample.live.alarm_book import Decision
from supersample.live.stream import Stream
from supersample.live.verdict import shown_text, time_text
from supersample.summary.comparison import gain_in_words

__all__ = ["alarm_of", "alarms_of", "comparison_of", "profile_of", "prototypes_of", "ticks_of"]

#: Ticks that "now" is, at least; with a season, a whole one.
_NOW = 24


def ticks_of(stream: Stream, start: str | None, end: str | None, limit: int) -> dict[str, Any]:
    """Return the latest ticks of a range as columns, the oldest first."""
    state = _state(stream)
    low, high = (_number(_bound(each, state, name), state, name) for each, name in ((start, "start"), (end, "end")))
    rows = stream.alarms.ticks(low, high, limit)
    columns: list[list[Any]] = [list(each) for each in zip(*rows, strict=True)] if rows else [[] for _ in range(6)]
    starts, sizes, evidence, volume, late, closed = columns
    return {
        "every": state.rules.every,
        "start": [time_text(each, state.rules) for each in starts],
        "rows": sizes,
        "evidence": evidence,
        "volume_evidence": volume,
        "late_rows": late,
        "closed": closed,
    }


def alarms_of(stream: Stream) -> dict[str, Any]:
    """Return all alarms without their rows."""
    state = stream.timeline
    if state is None:
        return {"alarms": []}
    known = zip(stream.alarms.decisions(), state.alarms, strict=False)
    return {"alarms": [_alarm(alarm, decision, state) for decision, alarm in known]}


def alarm_of(stream: Stream, number: int) -> dict[str, Any] | None:
    """Return one alarm with rows of before and after, None if there is none of that number."""
    state, decisions = stream.timeline, stream.alarms.decisions()
    if state is None or not 0 < number <= min(len(state.alarms), len(decisions)):
        return None
    alarm = state.alarms[number - 1]
    columns = [{name: getattr(each, name) for name in ("name", "difference", "pvalue", "what")} for each in alarm.columns]
    pairs = [{name: getattr(each, name) for name in ("columns", "before", "after", "pvalue")} for each in alarm.pairs]
    return _alarm(alarm, decisions[number - 1], state) | {
        "columns": columns, "pairs": pairs, "before": _rows(alarm.before), "after": _rows(alarm.after),
        "before_words": _words(alarm.before), "after_words": _words(alarm.after),
    }  # fmt: skip


def comparison_of(stream: Stream, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what differs between two ranges."""
    state = _state(stream)
    first, second = (
        [_bound(values.get(f"{side}_{end}"), state, f"{side}_{end}") for end in ("start", "end")]
        for side in ("first", "second")
    )
    found = stream.history.compare(first, second, at_least=values.get("at_least") or 0.0)
    return {
        "pvalue": found.pvalue,
        "joint": None if found.joint is None else found.joint.pvalue,
        "mmd": found.mmd,
        "sentence": str(found),
        "columns": [{name: getattr(each, name) for name in ("name", "difference", "pvalue", "what")} for each in found.columns],
        "pairs": [{name: getattr(each, name) for name in ("columns", "before", "after", "pvalue")} for each in found.pairs],
        "first_rows": _rows(found.left_rows),
        "second_rows": _rows(found.right_rows),
        "first_words": _words(found.left_rows),
        "second_words": _words(found.right_rows),
    }


def profile_of(stream: Stream, start: str | None, end: str | None) -> dict[str, Any]:
    """Return the statistics of all rows of a range, column by column."""
    state = _state(stream)
    period = stream.history.between(_bound(start, state, "start"), _bound(end, state, "end"))
    return _span(period) | {"columns": as_rows(period.profile)}


def prototypes_of(stream: Stream) -> dict[str, Any]:
    """Return the prototypes of now, and those of the reference: all rows before now since the last change."""
    state = _state(stream)
    every, rules = state.rules.every, state.rules
    ticks = max(_NOW, 0 if rules.season is None else round(rules.season / every))
    begin = max((each.change for each in state.alarms), default=-math.inf)
    middle = shown_time(max(state.now - (ticks - 1) * every, begin), rules)
    found: dict[str, Any] = {"now": _summary(stream.history.between(middle)), "reference": None}
    with suppress(InputError):  # a stream that is new, or has just changed, has no rows before now
        start = shown_time(begin, rules) if math.isfinite(begin) else None
        found["reference"] = _summary(stream.history.between(start, middle))
    return found


def _summary(found: Period) -> dict[str, Any]:
    rows = {"prototypes": _rows(found.prototypes), "criticisms": _rows(found.criticisms)}
    return _span(found) | {"mmd": found.mmd} | rows


def _span(found: Period) -> dict[str, Any]:
    return {"start": shown_text(found.start), "end": shown_text(found.end), "rows": found.n_seen}


def _alarm(alarm: Alarm, decision: Decision, state: Timeline) -> dict[str, Any]:
    rules = state.rules
    return {
        "number": decision.number,
        "kind": alarm.kind,
        "change": time_text(alarm.change, rules),
        "between": [time_text(each, rules) for each in alarm.between],
        "at": time_text(alarm.at, rules),
        "noticed": decision.noticed,
        "mmd": alarm.mmd,
        "evidence": alarm.evidence,
        "changed": list(alarm.changed),
        "what": alarm.in_words(),
        "state": decision.state,
        "until": decision.until,
        "by": decision.by,
        "note": decision.note,
        "updated": decision.updated,
    }


def _rows(table: pa.Table | None) -> list[dict[str, Any]]:
    return [] if table is None else as_rows(table)


def _words(table: pa.Table | None) -> list[str]:
    """Return what is said of rows that show what changed, once each; nothing where none stand out."""
    told = [gain_in_words(row) for row in _rows(table) if row.get("_like") is not None]
    return list(dict.fromkeys(told))


def _state(stream: Stream) -> Timeline:
    state = stream.timeline
    if state is None:
        raise InputError("the stream still learns from its first rows how columns become points; ask again when it has more")
    return state


def _bound(text: str | None, state: Timeline, name: str) -> Any:
    """Return a bound of a range as `History.between` takes it; refuse one that it would refuse, under its name here."""
    if text is None:
        return None
    found: Any = text
    if not state.rules.clock:
        try:
            found = float(text)
        except ValueError:
            raise InputError(f"{name} must be a number, as the stream counts time, got {text[:80]!r}") from None
    number_of(found, state.rules, name)
    return found


def _number(bound: Any, state: Timeline, name: str) -> float | None:
    return None if bound is None else number_of(bound, state.rules, name)
