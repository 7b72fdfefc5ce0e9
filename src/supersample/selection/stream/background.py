"""A random sample of the stream: uniform, or in proportion to the weights of the rows.

Each row draws an exponential time divided by its weight; the rows with the smallest times are kept (Efraimidis and Spirakis
2006). Samples of two streams merge by keeping the smallest of both.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from supersample._checks import MOST_EXPONENT, require, within
from supersample._stored import FLOATS, INDICES, INTEGER, NUMBER, instance_of, stored, tuple_of
from supersample._typing import Floats, Indices
from supersample.embedding.moments import ScaledWeight
from supersample.selection.stream.rows import Rows

__all__ = ["Background", "Timed", "init", "merge", "settled", "update"]

#: Range of exponents of the generator's exponential draws.
_LEAST_DRAW, _MOST_DRAW = -70, 10

#: Batches of early rows that may wait before the sample is cut back to its size.
_MOST_WAITING = 64


@stored("Timed", {"rows": instance_of(Rows), "mantissas": FLOATS, "exponents": INDICES})
class Timed(NamedTuple):
    """Rows and their times, mantissa * 2^exponent: scaling all weights by a power of two changes only the exponents."""

    rows: Rows
    mantissas: Floats
    exponents: Indices

    def before(self, mantissa: float, exponent: int) -> npt.NDArray[np.bool_]:
        """Return which rows come before a time."""
        earlier = self.exponents < exponent
        return np.asarray(earlier | ((self.exponents == exponent) & (self.mantissas < mantissa)))

    def take(self, chosen: Indices) -> "Timed":
        """Return some of the rows."""
        return Timed(self.rows.take(chosen), self.mantissas[chosen], self.exponents[chosen])


@stored(
    "Background",
    {"kept": instance_of(Timed), "next_mantissa": NUMBER, "next_exponent": INTEGER, "waiting": tuple_of(instance_of(Timed))},
)
@dataclass(frozen=True)
class Background:
    """The kept rows sorted by time, the smallest time left out, and later rows with smaller times that wait to be merged.

    They wait in a tuple, so that a chunk copies only the few rows that it adds.
    """

    kept: Timed
    next_mantissa: float = np.inf
    next_exponent: int = 0
    waiting: tuple[Timed, ...] = ()

    @property
    def rows(self) -> Rows:
        """The rows kept."""
        return self.kept.rows

    def shares(self) -> Floats:
        """Return the share of the stream that each kept row represents: weight / P(kept), scaled to sum to one.

        P(kept) = 1 - exp(-weight * t) for t the smallest time left out. If nothing was left out, these are the weights.
        """
        weights = self.rows.relative_weights()
        if np.isfinite(self.next_mantissa):
            shift = self.rows.exponents + self.next_exponent
            rates = np.ldexp(self.rows.mantissas * self.next_mantissa, np.clip(shift, -2000, 1000))
            # For small rates weight / rate is the same for all rows; expm1 keeps that to the last digit.
            weights = weights / -np.expm1(-rates)
        return np.asarray(weights / weights.sum())

    def first(self, count: int) -> "Background":
        """Return the sample that would have been kept if it were of this size at most; nothing may be waiting."""
        if count >= len(self.rows):
            return self
        kept = self.kept
        part = kept.take(np.arange(count))
        return Background(part, float(kept.mantissas[count]), int(kept.exponents[count]))

    def shifted(self, by: int) -> "Background":
        """Return the sample with positions `by` rows later; nothing may be waiting."""
        return replace(self, kept=self.kept._replace(rows=self.rows.shifted(by)))

    def scaled(self, factor: ScaledWeight) -> "Background":
        """Return the sample of the same rows with all weights multiplied by a factor; nothing may be waiting."""
        mantissas, shifts = np.frexp(self.kept.mantissas / factor.mantissa)
        kept = Timed(self.rows.weighed(factor), mantissas, self.kept.exponents - factor.exponent + shifts)
        if not np.isfinite(self.next_mantissa):
            return replace(self, kept=kept)
        mantissa, shift = np.frexp(self.next_mantissa / factor.mantissa)
        return replace(
            self, kept=kept, next_mantissa=float(mantissa), next_exponent=self.next_exponent - factor.exponent + int(shift)
        )

    def check(self) -> None:
        """Refuse times that cannot be drawn for the rows' weights."""
        limit = self.next_mantissa, self.next_exponent
        require(limit[0] == np.inf or 0 < limit[0] < 1, "the background sample is impossible")
        require(abs(limit[1]) <= MOST_EXPONENT, "the background sample is impossible")
        for part in (self.kept, *self.waiting):
            times, powers = part.mantissas, part.exponents
            require(times.shape == powers.shape == part.rows.positions.shape, "the background sample is incomplete")
            possible = bool(((times >= 0) & (times < 1)).all()) and within(powers, MOST_EXPONENT)
            require(possible, "the background sample is impossible")
            draws = powers + part.rows.exponents
            drawn = (times == 0) | ((draws >= _LEAST_DRAW) & (draws <= _MOST_DRAW))
            require(bool(drawn.all()), "times of the background sample do not belong to their weights")
            late = (powers > limit[1]) | ((powers == limit[1]) & (times > limit[0]))
            require(limit[0] == np.inf or not bool(late.any()), "the background sample has rows that were left out")


def init(width: int) -> Background:
    """Return the sample of no rows."""
    return Background(Timed(Rows.none(width), np.empty(0), np.empty(0, dtype=np.int64)))


def update(state: Background, rows: Rows, size: int, times: Floats) -> Background:
    """Return the sample after more rows of positive weight. times: an exponential draw for each row."""
    mantissas, exponents = np.frexp(times / rows.mantissas)
    drawn = Timed(rows, mantissas, exponents - rows.exponents)
    if np.isfinite(state.next_mantissa):
        early = np.flatnonzero(drawn.before(state.next_mantissa, state.next_exponent))
        if early.size == 0:
            return state
        drawn = drawn.take(early)
    else:
        drawn = drawn._replace(rows=rows.copy())  # rows may be a view of the caller's array, which may change later
    state = replace(state, waiting=(*state.waiting, drawn))
    n_waiting = sum(len(part.rows) for part in state.waiting)
    return settled(state, size) if n_waiting > size or len(state.waiting) > _MOST_WAITING else state


def settled(state: Background, size: int) -> Background:
    """Return the sample with nothing waiting and at most `size` rows."""
    return state if not state.waiting else _keep_smallest((state.kept, *state.waiting), _limit(state), size)


def merge(left: Background, right: Background, size: int) -> Background:
    """Return the sample of both streams together."""
    first, second = settled(left, size), settled(right, size)
    limit = min(_limit(first), _limit(second), key=lambda time: (not np.isfinite(time[0]), time[1], time[0]))
    return _keep_smallest((first.kept, second.kept), limit, size)


def _limit(state: Background) -> tuple[float, int]:
    return state.next_mantissa, state.next_exponent


def _keep_smallest(parts: Sequence[Timed], limit: tuple[float, int], size: int) -> Background:
    joined = Timed(
        Rows.joined(*(part.rows for part in parts)),
        np.concatenate([part.mantissas for part in parts]),
        np.concatenate([part.exponents for part in parts]),
    )
    order = np.lexsort((joined.mantissas, joined.exponents))
    if np.isfinite(limit[0]):
        order = order[joined.before(*limit)[order]]
    if order.size > size:
        following = order[size]
        limit = (float(joined.mantissas[following]), int(joined.exponents[following]))
        order = order[:size]
    return Background(joined.take(order), *limit)
