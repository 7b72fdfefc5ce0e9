"""Alarms and ticks of a stream as people deal with them: when they were noticed, and what was decided about each alarm.

What an alarm says, its columns and rows, stays in the history; here it is known by its number.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from supersample.errors import InputError
from supersample.history.timeline import Timeline
from supersample.history.times import shown_alarm
from supersample.live.database import Database

if TYPE_CHECKING:
    from supersample.live.intake import Outgoing

__all__ = ["AlarmBook", "Decision", "State"]

#: Ticks that are kept, and seconds for which a delivery is kept once it is done.
_MOST_TICKS, _DONE = 1_000_000, 30 * 86_400.0
#: What was decided about an alarm: nothing yet; somebody deals with it; rows since are as they should be; later.
State = Literal["open", "acknowledged", "normal", "snoozed"]


@dataclass(frozen=True)
class Decision:
    """What is known of an alarm beside what it says.

    number: from 1 on, in the order in which alarms were raised. noticed: seconds since 1970 on the clock of the service.
    """

    number: int
    noticed: float
    state: State
    until: float | None
    by: str
    note: str
    updated: float | None

    def stands(self, now: float) -> bool:
        """Return whether the alarm says that the stream is not as it should be."""
        return self.state == "acknowledged" or self.is_open(now)

    def is_open(self, now: float) -> bool:
        """Return whether nobody deals with the alarm: nothing was decided, or it was snoozed until a time that is over."""
        return self.state == "open" or (self.state == "snoozed" and (self.until or 0.0) <= now)


class AlarmBook:
    """Alarms, ticks and what was decided, in the database of a stream."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def record(self, run: Any, state: Timeline | None, now: float, outgoing: "Outgoing | None") -> None:
        """Write alarms and ticks that are new, within a transaction of the caller."""
        if state is None:
            return
        known = run.execute("SELECT COALESCE(MAX(number), 0) FROM alarms").fetchone()[0]
        for number, alarm in enumerate(state.alarms[known:], known + 1):
            run.execute(
                "INSERT INTO alarms (number, kind, change, raised, noticed) VALUES (?, ?, ?, ?, ?)",
                (number, alarm.kind, alarm.change, alarm.at, now),
            )
            for target, body in outgoing(number, shown_alarm(alarm, state.rules)) if outgoing else ():
                run.execute(
                    "INSERT INTO deliveries (alarm, target, body, due) VALUES (?, ?, ?, ?)", (number, target, body, now)
                )
        ticks, count = state.ticks, state.lookout.n_ticks
        seen = run.execute("SELECT COALESCE(MAX(number), 0) FROM ticks").fetchone()[0]
        new = min(max(count - seen, 0), len(ticks.starts))
        columns = zip(
            *(each[len(ticks.starts) - new :].tolist() for each in (ticks.starts, ticks.sizes, ticks.evidence, ticks.volume)),
            strict=True,
        )
        run.executemany(
            "INSERT OR REPLACE INTO ticks (number, start, rows, evidence, volume, late, closed) VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(count - new + place + 1, *each, state.n_late, now) for place, each in enumerate(columns)],
        )
        run.execute("DELETE FROM ticks WHERE number <= ?", (count - _MOST_TICKS,))

    def trim(self, run: Any, state: Timeline | None) -> None:
        """Forget alarms and ticks that the history does not have: rows that showed them were never acknowledged."""
        alarms, ticks = (0, 0) if state is None else (len(state.alarms), state.lookout.n_ticks)
        for table, number in (("alarms", alarms), ("ticks", ticks), ("deliveries", alarms)):
            column = "alarm" if table == "deliveries" else "number"
            run.execute(f"DELETE FROM {table} WHERE {column} > ?", (number,))  # noqa: S608

    def decisions(self) -> list[Decision]:
        """Return all alarms, the first one first."""
        rows = self._database.rows("SELECT number, noticed, state, until, by, note, updated FROM alarms ORDER BY number")
        return [Decision(*each) for each in rows]

    def decide(self, number: int, state: State, *, until: float | None = None, by: str = "", note: str = "") -> Decision:
        """Say what is to be done about an alarm; the latest word holds."""
        with self._database.transaction() as run:
            changed = run.execute(
                "UPDATE alarms SET state = ?, until = ?, by = ?, note = ?, updated = ? WHERE number = ?",
                (state, until, by, note, time.time(), number),
            )
            if changed.rowcount == 0:
                raise InputError(f"number must be that of an alarm of this stream, got {number}; look at the list of alarms")
        return self.decisions()[number - 1]

    def due(self, now: float, target: str) -> list[tuple[int, bytes, int]]:
        """Return deliveries to a target that are due: number, body, attempts so far."""
        return [
            (number, bytes(body), attempts)
            for number, body, attempts in self._database.rows(
                "SELECT id, body, attempts FROM deliveries WHERE delivered IS NULL AND due <= ? AND target = ? "
                "ORDER BY id LIMIT 100",
                (now, target),
            )
        ]

    def give_up_others(self, targets: Sequence[str], reason: str) -> int:
        """Give up all deliveries to other targets than these, and return how many there were."""
        marks = ",".join("?" * len(targets))
        with self._database.transaction() as run:
            done = run.execute(
                f"UPDATE deliveries SET delivered = ?, reason = ? WHERE delivered IS NULL AND target NOT IN ({marks})",  # noqa: S608
                (time.time(), reason, *targets),
            )
        return done.rowcount

    def delivered(self, number: int, *, given_up: str = "") -> None:
        """Say that a delivery is done, or that it is given up and why."""
        now = time.time()
        with self._database.transaction() as run:
            run.execute("UPDATE deliveries SET delivered = ?, reason = ? WHERE id = ?", (now, given_up, number))
            run.execute("DELETE FROM deliveries WHERE delivered < ?", (now - _DONE,))

    def postponed(self, number: int, due: float, reason: str) -> None:
        """Say that a delivery failed, why, and when to try again."""
        with self._database.transaction() as run:
            run.execute(
                "UPDATE deliveries SET attempts = attempts + 1, due = ?, reason = ? WHERE id = ?", (due, reason, number)
            )

    def ticks(self, start: float | None, end: float | None, limit: int) -> list[tuple[Any, ...]]:
        """Return the latest ticks of a range, in the order of time: start, rows, evidence, volume, late rows, when closed."""
        low, high = float("-inf") if start is None else start, float("inf") if end is None else end
        found = self._database.many_rows(
            "SELECT start, rows, evidence, volume, late, closed FROM ticks WHERE start >= ? AND start < ? "
            "ORDER BY number DESC LIMIT ?",
            (low, high, limit),
        )
        return found[::-1]
