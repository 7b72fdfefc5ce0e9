"""What a history is asked to be: its spans of time, its season, and when an alarm is raised."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from supersample._checks import require
from supersample._durations import duration_text, is_duration, seconds_of
from supersample._stored import FLAG, NUMBER, TEXT, optional, stored
from supersample._validation import check_count, choose
from supersample.errors import InputError, InputTypeError

__all__ = ["Rules", "rules_of", "ticks_of"]

#: Phases that a season is cut into, at most.
_MOST_PHASES = 288
#: Between two rows the clock may move by so many blocks, or the lateness, without a doubt; by more where rows are far apart.
_REACH = 2.0
#: Ticks between false alarms where nothing else is asked for.
_RUN_LENGTH = 10_000


@stored(
    "Rules",
    {
        "time": optional(TEXT), "every": NUMBER, "lateness": NUMBER, "season": optional(NUMBER), "keep": optional(NUMBER),
        "run_length": NUMBER, "exact": FLAG, "at_least": NUMBER, "volume": FLAG, "clock": FLAG,
    },
)  # fmt: skip
@dataclass(frozen=True)
class Rules:
    """The arguments of a history, in seconds, or in rows (time is None), or in the unit of a column of numbers.

    run_length: ticks between false alarms. clock: whether times are dates and times.
    """

    time: str | None
    every: float
    lateness: float
    season: float | None
    keep: float | None
    run_length: float
    exact: bool
    at_least: float
    volume: bool
    clock: bool

    def check(self) -> None:
        """Refuse rules that no history has."""
        spans = (self.every, self.season, self.keep, self.run_length)
        require(all(each is None or (np.isfinite(each) and each > 0) for each in spans), "the spans are impossible")
        require(np.isfinite(self.lateness) and self.lateness >= 0 <= self.at_least <= 2, "the rules are impossible")

    @property
    def reach(self) -> float:
        """How far ahead of the clock a row may be without doubt about its time, at least."""
        return max(_REACH * self.every, self.lateness)

    @property
    def n_phases(self) -> int:
        """Phases of the season; 1 without one."""
        return 1 if self.season is None else min(_MOST_PHASES, round(self.season / self.every))

    def phase_of(self, start: float) -> int:
        """Return the phase of a block that begins at a time."""
        if self.season is None:
            return 0
        return min(int((start % self.season) * self.n_phases / self.season), self.n_phases - 1)

    def text(self, time: float) -> str:
        """Write a time of the history."""
        if not self.clock:
            return f"{time:,.15g}"
        stamp = np.datetime64(round(time * 1e6), "us")
        short = str(stamp.astype("M8[s]")).replace("T", " ") if time == int(time) else str(stamp).replace("T", " ")
        return short.removesuffix(":00") if short.endswith(":00") and time % 60 == 0 else short


def rules_of(
    *, time: Any, every: Any, season: Any, keep: Any, lateness: Any, run_length: Any, guarantee: Any, at_least: Any, volume: Any
) -> Rules:
    """Check the arguments of a history."""
    if time is not None and not isinstance(time, str):
        raise InputTypeError(f"time must be the name of a column, or None to count rows, got {type(time).__name__}")
    clock = is_duration(every)
    if time is None and clock:
        raise InputError(f"every must be a number of rows where time is None, got {every!r}; pass time= as well")
    span = seconds_of(every, "every") if clock else float(check_count(every, "every"))
    if clock and span < 1.0 and (1.0 / span) % 1.0:
        raise InputError(f"every must be a whole number of seconds, or go into one, got {every!r}")

    def length(value: Any, name: str, least: float) -> float | None:
        if value is None:
            return None
        found = seconds_of(value, name) if clock else float(check_count(value, name, minimum=0))
        if found < least:
            shown = duration_text(least) if clock else f"{least:g}"
            raise InputError(f"{name} must be at least {shown}, got {value!r}; every is {every!r}")
        return found

    late = length(lateness, "lateness", 0.0)
    cycle = length(season, "season", 2.0 * span)
    if cycle is not None and cycle % span:
        raise InputError(f"season must be a whole number of blocks, got {season!r} with every={every!r}")
    choose(guarantee, "guarantee", ("asymptotic", "exact"))
    if isinstance(at_least, bool) or not isinstance(at_least, int | float) or not 0 <= at_least <= 2:
        raise InputError(f"at_least must be a number from 0 to 2, an MMD, got {at_least!r}")
    if not isinstance(volume, bool):
        raise InputTypeError(f"volume must be True or False, got {type(volume).__name__}")
    return Rules(
        time=time,
        every=span,
        lateness=(0.0 if time is None else span) if late is None else late,
        season=cycle,
        keep=length(keep, "keep", 2.0 * span),
        run_length=ticks_of(run_length, span, clock=clock),
        exact=guarantee == "exact",
        at_least=float(at_least),
        volume=volume and time is not None,
        clock=clock,
    )


def ticks_of(run_length: Any, span: float, *, clock: bool) -> float:
    """Return a run length in blocks: a duration, or a number of blocks."""
    if run_length is None:
        return float(_RUN_LENGTH)
    if clock and is_duration(run_length):
        return max(seconds_of(run_length, "run_length") / span, 2.0)
    return float(check_count(run_length, "run_length", minimum=2))
