"""Whether the rows of a history follow a cycle of a day or a week that its season does not cover.

Without `season=`, a cycle is a change every morning, or it makes rows look dependent and hides true changes. So blocks one
period apart are compared with blocks that stand elsewhere in it: half a day for a day, three days for a week, which a daily
cycle does not reach. Drift and single changes move blocks that are further apart at least as much as nearer ones.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from supersample._typing import Floats, Indices
from supersample.history.timeline import Timeline, all_blocks
from supersample.summary.notes import Note

__all__ = ["cycle_note"]

#: Pairs of blocks at each distance, at least.
_FEWEST = 12
#: What blocks one period apart may differ by, as a share of what the others do; and standard errors between the two.
_SHARE, _ERRORS = 0.5, 6.0


@dataclass(frozen=True)
class _Period:
    """A period in seconds, a distance at which blocks stand elsewhere in it, the longest block that shows it, and words."""

    seconds: float
    other: float
    longest: float
    name: str
    words: str
    season: str


_PERIODS = (
    _Period(604_800.0, 259_200.0, 86_400.0, "weekly", "a week apart are far more alike than three days apart", "7d"),
    _Period(86_400.0, 43_200.0, 21_600.0, "daily", "a day apart are far more alike than half a day apart", "1d"),
)


class _Spans(NamedTuple):
    """Spans in the order of time, and how far two of them are apart, given by their places, less what chance gives."""

    starts: Floats
    lengths: Floats
    apart: Callable[[Indices, Indices], Floats]


def cycle_note(state: Timeline) -> Note | None:
    """Return a note on the longest cycle that the season of a history does not cover; None if there is none to be seen."""
    rules = state.rules
    if not rules.clock:
        return None
    sides = (("what rows hold", _contents(state)), ("how many rows there are", _volumes(state)))
    for period in _PERIODS:
        if rules.season is not None and rules.season >= period.seconds:
            return None
        for what, spans in sides:
            if spans is not None and _follows(spans, period):
                return Note(
                    "cycle",
                    rules.time,
                    f"blocks {period.words}, so {what} follows a {period.name} cycle; pass season={period.season!r}, or the "
                    f"cycle looks like a change, or hides one",
                )
    return None


def _contents(state: Timeline) -> _Spans | None:
    """Return the blocks that are held by their mean features, which are of length one in each group."""
    held = [each for each in all_blocks(state) if each.in_time.n_seen]
    if not held:
        return None
    ticks = [each.tick() for each in held]
    rows = np.array([count for count, _ in ticks])
    means = np.array([sums for _, sums in ticks]) / rows[:, None]
    overall = rows @ means / rows.sum()
    variance = max(state.waves.n_groups - float(overall @ overall), 0.0)

    def apart(left: Indices, right: Indices) -> Floats:
        chance = variance * (1.0 / rows[left] + 1.0 / rows[right])
        return np.asarray(np.square(means[left] - means[right]).sum(axis=1) - chance)

    starts, ends = (np.array([getattr(each, name) for each in held]) for name in ("start", "end"))
    return _Spans(starts, ends - starts, apart)


def _volumes(state: Timeline) -> _Spans | None:
    """Return all closed blocks by the roots of their numbers of rows, which vary by about 1/4."""
    if not state.rules.volume or not state.ticks.starts.size:
        return None
    order = np.argsort(state.ticks.starts, kind="stable")
    roots = np.sqrt(state.ticks.sizes[order])

    def apart(left: Indices, right: Indices) -> Floats:
        return np.asarray(np.square(roots[left] - roots[right]) - 0.5)

    return _Spans(state.ticks.starts[order], np.full(order.size, state.rules.every), apart)


def _follows(spans: _Spans, period: _Period) -> bool:
    """Return whether spans one period apart are far more alike than others, over one whole period at least."""
    same, others = (_distances(spans, lag, period.longest) for lag in (period.seconds, period.other))
    if min(same.size, others.size) < _FEWEST or _covered(spans, period) < period.seconds:
        return False
    error = np.sqrt(same.var(ddof=1) / same.size + others.var(ddof=1) / others.size)
    gap = float(others.mean() - same.mean())
    return bool(same.mean() < _SHARE * others.mean() and gap > _ERRORS * error)


def _distances(spans: _Spans, lag: float, longest: float) -> Floats:
    return spans.apart(*_pairs(spans, lag, longest))


def _covered(spans: _Spans, period: _Period) -> float:
    """Return how much time the spans take that have one a period later."""
    left, _ = _pairs(spans, period.seconds, period.longest)
    return float(spans.lengths[left].sum())


def _pairs(spans: _Spans, lag: float, longest: float) -> tuple[Indices, Indices]:
    """Return the places of spans of one length, no longer than `longest`, that begin so far apart."""
    near = 1e-6 * spans.lengths
    places = np.minimum(np.searchsorted(spans.starts, spans.starts + lag - near), spans.starts.size - 1)
    fits = np.abs(spans.starts[places] - spans.starts - lag) <= near
    fits &= (np.abs(spans.lengths[places] - spans.lengths) <= near) & (spans.lengths <= longest)
    left = np.flatnonzero(fits)
    return left, places[left]
