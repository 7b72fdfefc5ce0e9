"""What is said of a stream first: whether it is as it was, since when, and on what evidence."""

import math
import time
from datetime import datetime
from typing import Any

from supersample._text import plural
from supersample.history.rules import Rules
from supersample.history.times import shown_time
from supersample.live.stream import Stream
from supersample.selection.stream.plan import WARM_UP

__all__ = ["shown_text", "status_of", "time_text"]


def time_text(value: float | None, rules: Rules) -> Any:
    """Return a time as a history counts it as JSON has it: ISO text in UTC, or a number."""
    return None if value is None or not math.isfinite(value) else shown_text(shown_time(value, rules))


def shown_text(shown: Any) -> Any:
    """Return a time as users of a history see it as JSON has it."""
    return f"{shown.isoformat()}Z" if isinstance(shown, datetime) else shown


def status_of(stream: Stream) -> dict[str, Any]:
    """Return the status of a stream as plain values; it is cheap."""
    state, now = stream.timeline, time.time()
    decisions = stream.alarms.decisions()
    found: dict[str, Any] = {
        "name": stream.name,
        "title": stream.settings.title or stream.name,
        "verdict": "learning",
        "since": None,
        "sentence": "",
        "evidence": 0.0,
        "volume_evidence": 0.0,
        "watching": False,
        "rows": stream.history.n_seen,
        "late_rows": 0,
        "waiting_rows": stream.waiting_rows,
        "last_row": None,
        "last_received": stream.last_received,
        "ticks": 0,
        "alarms": len(decisions),
        "open_alarms": sum(each.is_open(now) for each in decisions),
        "alarm": None,
        "trouble": stream.trouble,
        **stream.ledger.counts(),
    }
    if state is None:
        found["sentence"] = f"learning: {stream.history.n_seen:,} of the first {WARM_UP:,} rows are there"
        return found
    rules, ticks = state.rules, state.ticks
    standing = [each for each in decisions if each.stands(now) and each.number <= len(state.alarms)]
    since = state.alarms[-1].change if state.alarms else float(ticks.starts[0]) if ticks.starts.size else None
    found |= {
        "verdict": "changed" if standing else "same",
        "evidence": float(ticks.evidence[-1]) if ticks.evidence.size else 0.0,
        "volume_evidence": float(ticks.volume[-1]) if ticks.volume.size else 0.0,
        "watching": bool(state.lookout.content.limits.size),
        "late_rows": state.n_late,
        "last_row": time_text(state.now, rules) if state.n_seen else None,
        "ticks": state.lookout.n_ticks,
    }
    if standing:
        alarm = state.alarms[standing[-1].number - 1]
        found["alarm"], since = standing[-1].number, alarm.change
    found["since"] = time_text(since, rules)
    found["sentence"] = _sentence(found, known=bool(standing) and standing[-1].state == "acknowledged")
    return found


def _sentence(found: dict[str, Any], *, known: bool) -> str:
    if not found["ticks"]:
        return f"{plural(found['rows'], 'row')}, and no block of time is over yet"
    if not found["watching"]:
        return f"same as far as can be told: {plural(found['ticks'], 'block')} are too few to know what is usual"
    evidence = max(found["evidence"], found["volume_evidence"])
    shown = f"evidence of {'another' if found['verdict'] == 'changed' else 'a'} change: {evidence:.0%} of the alarm threshold"
    dealt = ", somebody deals with it" if known else ""
    return f"{found['verdict']} since {found['since']}{dealt}; {shown}"
