"""A uniform random sample of the stream, in proportion to weight where there are weights: what may have been missed.

Each row draws an exponential time divided by its weight; the rows with the smallest times are kept (Efraimidis and Spirakis
2006). Samples of two streams merge by keeping the smallest of both.
"""

from dataclasses import dataclass

import numpy as np

from supersample._random import Seed
from supersample._typing import Floats, Indices
from supersample.selection.rows import Rows

__all__ = ["Background", "init", "merge", "update"]


@dataclass(frozen=True)
class Background:
    """The rows kept, sorted by their times, and the smallest time that was left out.

    Times are mantissa * 2^exponent, so that scaling all weights by a power of two changes nothing but the exponents.
    """

    rows: Rows
    mantissas: Floats
    exponents: Indices
    next_mantissa: float
    next_exponent: int

    def shares(self) -> Floats:
        """Return what share of the stream each kept row stands for: weight / P(kept), made to sum to one.

        P(kept) = 1 - exp(-weight * t) for t the smallest time left out. While nothing was left out, these are the weights.
        """
        weights = self.rows.relative_weights()
        if np.isfinite(self.next_mantissa):
            shift = self.rows.exponents + self.next_exponent
            rates = np.ldexp(self.rows.mantissas * self.next_mantissa, np.clip(shift, -2000, 2000))
            # For small rates weight / rate is the same for all rows; expm1 keeps that to the last digit.
            weights = weights / -np.expm1(-rates)
        return np.asarray(weights / weights.sum())


def init(width: int) -> Background:
    """Return the sample of no rows."""
    return Background(Rows.none(width), np.empty(0), np.empty(0, dtype=np.int64), np.inf, 0)


def update(state: Background, rows: Rows, size: int, seed: Seed) -> Background:
    """Return the sample after some more rows of positive weight; `seed` belongs to these rows alone."""
    times = seed.generator().standard_exponential(len(rows))
    mantissas, exponents = np.frexp(times / rows.mantissas)
    exponents = exponents - rows.exponents
    if np.isfinite(state.next_mantissa):
        # Most rows of a long stream come after the last kept one: look closer only at the others.
        early = np.flatnonzero(
            (exponents < state.next_exponent) | ((exponents == state.next_exponent) & (mantissas < state.next_mantissa))
        )
        if early.size == 0:
            return state
        rows, mantissas, exponents = rows.take(early), mantissas[early], exponents[early]
    return _keep_smallest(
        Rows.joined(state.rows, rows),
        np.concatenate([state.mantissas, mantissas]),
        np.concatenate([state.exponents, exponents]),
        (state.next_mantissa, state.next_exponent),
        size,
    )


def merge(left: Background, right: Background, size: int) -> Background:
    """Return the sample of both streams together."""
    limits = [(state.next_mantissa, state.next_exponent) for state in (left, right) if np.isfinite(state.next_mantissa)]
    return _keep_smallest(
        Rows.joined(left.rows, right.rows),
        np.concatenate([left.mantissas, right.mantissas]),
        np.concatenate([left.exponents, right.exponents]),
        min(limits, key=lambda time: (time[1], time[0]), default=(np.inf, 0)),
        size,
    )


def _keep_smallest(rows: Rows, mantissas: Floats, exponents: Indices, limit: tuple[float, int], size: int) -> Background:
    order = np.lexsort((mantissas, exponents))
    if np.isfinite(limit[0]):
        late = (exponents > limit[1]) | ((exponents == limit[1]) & (mantissas >= limit[0]))
        order = order[~late[order]]
    if order.size > size:
        limit = (float(mantissas[order[size]]), int(exponents[order[size]]))
        order = order[:size]
    return Background(rows.take(order), mantissas[order], exponents[order], *limit)
