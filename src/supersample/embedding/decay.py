"""Decay of old rows: forward decay (Cormode, Shkapenyuk, Srivastava and Xu 2009), mergeable, in one pass.

A row at time t has the weight 2^((t - L) / half-life). The landmark L is a common factor, which no mean depends on, so that
nothing is scaled again as time passes. Weights have exponents of their own, so that they neither overflow nor underflow.
"""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from supersample._checks import MOST, require
from supersample._compiled import clock as compiled
from supersample._durations import is_duration, seconds_of
from supersample._stored import FLAG, FLOATS, INDICES, NUMBER, stored
from supersample._typing import Floats, Indices
from supersample.embedding.moments import ONE, ScaledWeight, ScaledWeights
from supersample.errors import InputError, InputTypeError, MismatchError

__all__ = ["Decay", "apart", "check_half_life", "check_times", "merge", "weigh"]

_EPOCH, _START = np.datetime64(0, "us"), datetime(1970, 1, 1, tzinfo=UTC)


def _at_rest() -> Floats:
    return np.zeros(3)


def _nothing_counted() -> Indices:
    return np.zeros(5, dtype=np.int64)


@stored("Decay", {"half_life": NUMBER, "by_time": FLAG, "places": FLOATS, "counts": INDICES})
@dataclass(frozen=True)
class Decay:
    """A half-life, in rows or in the unit of the rows' times, and the clock that the rows have set.

    A row's time in rows is its position. The clock is the latest time seen, but for rows far ahead of all others:
    `_compiled.clock.decayed` has the rule, and says what places and counts are.
    """

    half_life: float
    by_time: bool = False
    places: Floats = field(default_factory=_at_rest)
    counts: Indices = field(default_factory=_nothing_counted)

    @property
    def offset(self) -> int:
        """The exponent of a row's weight at time 0."""
        return int(self.counts[0])

    @property
    def n_ahead(self) -> int:
        """Rows that were more than a half-life ahead of the clock when they came."""
        return int(self.counts[3])

    @property
    def n_untimed(self) -> int:
        """Rows without a time; they count as of the moment when they came."""
        return int(self.counts[4])

    def check(self) -> None:
        """Refuse a clock that no rows have set."""
        require(np.isfinite(self.half_life) and self.half_life > 0, "the half-life is impossible")
        require(
            self.places.shape == (3,) and not bool(np.isnan(self.places).any() or np.isinf(self.places[0])),
            "the clock is impossible",
        )
        require(self.counts.shape == (5,) and bool((np.abs(self.counts) < MOST).all()), "the clock is impossible")
        require(bool((self.counts[2:] >= 0).all()), "the clock is impossible")
        require(abs(int(self.counts[1])) < compiled.AGREEING, "the clock is impossible")


def check_half_life(value: Any, *, by_time: bool) -> float:
    """Return a half-life as a number: of rows, of seconds if it is a duration, else in the unit of the times."""
    if is_duration(value):
        if not by_time:
            raise InputError(f"half_life must be a number of rows where rows have no time, got {value!r}; pass time= as well")
        return seconds_of(value, "half_life")
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise InputTypeError(f"half_life must be a number of rows or a duration such as '7d', got {type(value).__name__}")
    if not (np.isfinite(value) and value > 0):
        raise InputError(f"half_life must be a positive number, got {value}; leave it out if rows are to keep their weight")
    return float(value)


def check_times(times: Any, n_rows: int, half_life: Any, name: str) -> Floats:
    """Return one time a row as a number, in seconds for dates and times, NaN where there is none.

    A half-life that is a duration needs dates and times, one that is a number needs numbers.
    """
    array = np.asarray(times)
    if array.shape != (n_rows,):
        raise InputError(f"{name} must have one time for each of the {n_rows} rows, got shape {array.shape}")
    if array.dtype == object and all(isinstance(each, datetime) or each is None for each in array):
        utc = [None if each is None else each if each.tzinfo else each.replace(tzinfo=UTC) for each in array]
        gap = np.datetime64("NaT", "us")
        array = np.array([gap if each is None else _EPOCH + (each - _START) for each in utc], dtype="M8[us]")
    clock = array.dtype.kind == "M"
    if not clock and array.dtype.kind not in "iuf":
        raise InputTypeError(f"{name} must hold times or numbers, got {array.dtype}; parse texts first (pandas.to_datetime)")
    if clock != is_duration(half_life):
        wanted, came = ("a duration such as '7d'", "dates and times") if clock else ("a number", "numbers")
        raise InputError(f"half_life must be {wanted} where {name} holds {came}, got {half_life!r}")
    if not clock:
        numbers = array.astype(np.float64)
        if bool(np.isinf(numbers).any()):
            raise InputError(f"{name} must hold finite numbers, or NaN for rows without a time, got infinity")
        return numbers
    counts = array.astype("M8[us]").astype(np.int64)
    return np.where(np.isnat(array), np.nan, counts // 1_000_000 + counts % 1_000_000 * 1e-6)


def weigh(state: Decay, weights: ScaledWeights, first: int, times: Floats | None) -> tuple[Decay, ScaledWeights]:
    """Return the weights of more rows, the first of them at position `first`, multiplied by their decay, and the clock after.

    times: those of the rows, NaN where there is none; used only if the half-life is one of time.
    """
    mantissas, exponents = weights.mantissas.copy(), weights.exponents.copy()
    if not state.by_time:
        turns, places = np.divmod(np.arange(first, first + mantissas.size, dtype=np.float64), state.half_life)
        mantissas, shifts = np.frexp(mantissas * np.exp2(places / state.half_life))
        some = mantissas > 0
        return state, ScaledWeights(mantissas, np.where(some, exponents + turns.astype(np.int64) + shifts, exponents))
    assert times is not None
    after = replace(state, places=state.places.copy(), counts=state.counts.copy())
    compiled.decayed(times, state.half_life, after.places, after.counts, mantissas, exponents)
    return after, ScaledWeights(mantissas, exponents)


def apart(left: Decay | None, right: Decay | None, shift: int) -> ScaledWeight:
    """Return the factor that brings weights of `right` to the scale of `left`.

    shift: the rows before those of `right`. A half-life in rows counts them; one of time needs no more than a common landmark.
    """
    if left is None or right is None or (left.half_life, left.by_time) != (right.half_life, right.by_time):
        if left is right is None:
            return ONE
        raise MismatchError(
            f"the two have different half-lives ({_in_words(left)} and {_in_words(right)}) and cannot be merged; "
            f"use the same for both"
        )
    if left.by_time:
        started = bool(left.counts[2]) and bool(right.counts[2])
        return ScaledWeight(1.0, left.offset - right.offset if started else 0)
    whole, rest = divmod(shift, left.half_life)
    mantissa, exponent = np.frexp(np.exp2(rest / left.half_life))
    return ScaledWeight(float(mantissa), int(exponent) + int(whole))


def merge(left: Decay | None, right: Decay | None) -> Decay | None:
    """Return the clock of both; that of `right` goes on as if its rows had come after. Both must be on the scale of `left`."""
    if left is None or right is None or not left.by_time:
        return left
    if not left.counts[2] or not right.counts[2]:
        some, none = (right, left) if right.counts[2] else (left, right)
        counts = some.counts.copy()
        counts[4] += none.n_untimed
        return replace(some, counts=counts)
    counts = left.counts + right.counts
    counts[0], counts[1] = left.offset, 0
    return replace(left, places=np.array([max(left.places[0], right.places[0]), 0.0, 0.0]), counts=counts)


def _in_words(state: Decay | None) -> str:
    return "none" if state is None else f"{state.half_life:g} {'in time' if state.by_time else 'rows'}"
