"""The watch over a stream of ticks: segments, what was measured of them, and the limits that follow from it.

State and pure functions. A tick is a few rows, or a span of time: how many rows, the sum of their features, and their phase
where the stream has a season. Segments are joined as they age, at most four of each length, so that their number grows with
the logarithm of the ticks. After each tick every boundary between two segments is a possible change
(Kalinke and Gavioli-Akilagun 2025).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from supersample._checks import MOST, require
from supersample._compiled import change_scan
from supersample._random import Seed
from supersample._stored import FLAG, FLOATS, INDICES, INTEGER, NUMBER, stored
from supersample._typing import Floats, Indices
from supersample.history.thresholds import (
    LEVELS,
    NO_LIMITS,
    Spread,
    asymptotic_limits,
    chance,
    dependence_of,
    exact_limits,
)  # fmt: skip

__all__ = [
    "MOST_OF_A_LENGTH", "Found", "Sample", "Watch", "advance", "boundaries", "init", "located", "restarted", "ticks_kept",
]  # fmt: skip

#: Segments of each length, at most.
MOST_OF_A_LENGTH = 4
#: Room for segments: of 2^60 ticks.
_ROOM = (MOST_OF_A_LENGTH + 1) * 60
#: Lengths of blocks of ticks, 1 to 2^(_LENGTHS - 1), over which residuals are summed.
_LENGTHS = 24
#: The 95% point of the likelihood ratio of a moment of change (Eo and Morley 2015).
_LIKELY = 7.78


class Sample(NamedTuple):
    """Features of some rows since the last change, less the means of their phases, and the variance of each group of them."""

    residuals: Floats
    variances: Floats


class Found(NamedTuple):
    """A change that was found: how many of the latest ticks came after it, and the fewest and most that may have.

    gap: the distance of the mean features before and after, an MMD, in the group that shows it best. evidence: over the limit,
    above 1.
    """

    ticks_after: int
    between: tuple[int, int]
    gap: float
    evidence: float


@stored(
    "Watch",
    {
        "n_phases": INTEGER, "probability": NUMBER, "exact": FLAG, "least": NUMBER, "warm_up": NUMBER, "sums": FLOATS,
        "sizes": FLOATS, "ticks": INDICES, "squares": FLOATS, "counts": INDICES, "held": FLOATS, "busy": INDICES,
        "limits": FLOATS, "factors": FLOATS, "next_look": NUMBER,
    },
)  # fmt: skip
@dataclass(frozen=True)
class Watch:
    """Segments of a stream in the order of time, sums of residuals, and limits.

    probability: that of passing a limit by chance, for one boundary. exact: limits that hold for any law. least: the smallest
    gap of means that matters. warm_up: rows before anything is looked at. sums: segments x phases x D. squares, counts, held,
    busy: as of `_compiled.change_scan.add_residual`. limits: of each group, empty until there are enough rows. factors: by
    how much more means vary than those of independent rows, of each group. next_look: the number of rows
    at which limits are computed again.
    """

    n_phases: int
    probability: float
    exact: bool
    least: float
    warm_up: float
    sums: Floats
    sizes: Floats
    ticks: Indices
    squares: Floats
    counts: Indices
    held: Floats
    busy: Indices
    limits: Floats
    factors: Floats
    next_look: float = 0.0

    @property
    def n_rows(self) -> float:
        """Rows since the last change."""
        return float(self.sizes.sum())

    @property
    def n_groups(self) -> int:
        """Groups of equal size that features stand in."""
        return self.factors.size

    @property
    def rows_a_tick(self) -> float:
        """The mean number of rows of a tick."""
        return self.n_rows / max(int(self.ticks.sum()), 1)

    def ticks_since(self) -> Indices:
        """Return how many ticks each segment and all after it have."""
        return np.cumsum(self.ticks[::-1])[::-1]

    def means(self) -> Floats:
        """Return the mean features of each phase, 0 where it has no rows."""
        sizes = self.sizes.sum(axis=0)
        return np.asarray(self.sums.sum(axis=0) / np.maximum(sizes, 1.0)[:, None])

    def check(self, dimensions: int) -> None:
        """Refuse a watch that no stream leads to."""
        segments = self.ticks.size
        require(self.n_phases >= 1 and 0 < self.probability < 1 and self.least >= 0, "the watch is impossible")
        require(self.sums.shape == (segments, self.n_phases, dimensions), "the watch is of other features")
        require(self.sizes.shape == (segments, self.n_phases) and bool((self.sizes >= 0).all()), "the watch is impossible")
        require(bool((self.ticks > 0).all() and (self.ticks < MOST >> 8).all()) and segments < _ROOM, "the watch is impossible")
        groups = self.n_groups
        require(self.counts.shape == self.busy.shape == (_LENGTHS,), "the watch is incomplete")
        require(self.squares.shape == (_LENGTHS, dimensions) and groups > 0 == dimensions % groups, "the watch is incomplete")
        require(self.limits.size == 0 or self.limits.shape == (groups, LEVELS), "the watch is incomplete")
        require(self.factors.shape == (groups,) and bool((self.factors >= 1).all()), "the watch is impossible")
        require(self.held.shape == (_LENGTHS, dimensions), "the watch is incomplete")
        require(bool(np.isin(self.busy, (0, 1)).all() and (self.counts >= 0).all()), "the watch is impossible")
        require(bool((self.squares >= 0).all() and (self.limits > 0).all()), "the watch is impossible")
        finite = (self.sums, self.sizes, self.squares, self.held, self.limits)
        require(all(bool(np.isfinite(each).all()) for each in finite), "the watch is not finite")


def init(
    dimensions: int, run_length: float, *, groups: int = 1, n_phases: int = 1, exact: bool = False, least: float = 0.0,
    warm_up: float = 200.0,
) -> Watch:  # fmt: skip
    """Return the watch over nothing. run_length: in ticks. groups: of equal size, that features stand in."""
    probability = chance(run_length, MOST_OF_A_LENGTH) / groups
    return Watch(
        n_phases, probability, exact, least, warm_up, np.empty((0, n_phases, dimensions)), np.empty((0, n_phases)),
        np.empty(0, dtype=np.int64), np.zeros((_LENGTHS, dimensions)), np.zeros(_LENGTHS, dtype=np.int64),
        np.zeros((_LENGTHS, dimensions)), np.zeros(_LENGTHS, dtype=np.int64),
        exact_limits(probability, groups) if exact else NO_LIMITS, np.ones(groups), warm_up,
    )  # fmt: skip


def advance(
    state: Watch, tick_sums: Floats, tick_sizes: Floats, phases: Indices, sample: Callable[[int, Watch], Sample], seed: Seed
) -> tuple[Watch, Floats, Found | None]:
    """Return the watch after more ticks, the evidence after each of them, and the first change found, if any.

    Ticks after the one that showed a change are not taken. sample: returns a sample of the rows up to a tick, given by its
    place among those passed and the watch after it. It is asked for where limits are computed, whenever the rows have doubled,
    and at a change.
    """
    evidence: list[Floats] = []
    start = 0
    while start < len(tick_sizes):
        stop = _until(state, tick_sizes, start)
        state, own = _scanned(state, tick_sums[start:stop], tick_sizes[start:stop], phases[start:stop])
        evidence.append(own)
        start += len(own)
        if own[-1] > 1.0:
            return state, np.concatenate(evidence), located(state, float(own[-1]), sample(start - 1, state))
        if not state.exact and state.n_rows >= state.next_look:
            state = _looked(state, sample(start - 1, state), seed)
    return state, np.concatenate(evidence) if evidence else np.empty(0), None


def located(state: Watch, evidence: float, sample: Sample) -> Found:
    """Return the likeliest change among the boundaries between segments, and between which ones it lies 19 times in 20.

    Where a gap is large enough to matter in some group, it is one of these.

    A boundary belongs to these if its T^2 is less than the largest by at most _LIKELY times the variance of the features in
    the direction of the change: the likelihood ratio of two moments of a change in a mean (Eo and Morley 2015).
    """
    squares, gaps = boundaries(state)
    limits = state.limits[:, -1] if state.limits.size else np.ones(state.n_groups)
    ratios = squares / limits
    matters = np.square(gaps).reshape(len(gaps), state.n_groups, -1).sum(axis=2) >= state.least**2
    if matters.any():
        ratios = np.where(matters, ratios, -1.0)
    best, group = np.unravel_index(int(np.argmax(ratios)), ratios.shape)
    size = gaps.shape[1] // state.n_groups
    part = slice(int(group) * size, (int(group) + 1) * size)
    direction = gaps[best, part]
    length = float(np.sqrt(direction @ direction))
    along = sample.residuals[:, part] @ (direction / length)
    variance = float(state.factors[group]) * float(along @ along) / max(len(along) - 1, 1)
    near = np.flatnonzero(squares[:, group] >= squares[best, group] - _LIKELY * variance)
    ends = np.append(state.ticks_since(), 0)
    # It may lie anywhere within the segments on both sides of these boundaries.
    between = int(ends[near.max() + 2]), int(ends[near.min()])
    return Found(int(ends[best + 1]), between, length, evidence)


def boundaries(state: Watch) -> tuple[Floats, Floats]:
    """Return T^2 of each group, and the gap of the means, at each boundary between two segments, the oldest first."""
    newer, sizes = np.cumsum(state.sums[::-1], axis=0)[::-1][1:], np.cumsum(state.sizes[::-1], axis=0)[::-1][1:]
    total, total_sizes = state.sums.sum(axis=0), state.sizes.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        weights = np.nan_to_num(sizes * (total_sizes - sizes) / total_sizes)
        apart = newer / sizes[..., None] - (total - newer) / (total_sizes - sizes)[..., None]
    whole = np.maximum(weights.sum(axis=1), np.finfo(np.float64).tiny)
    gaps = np.einsum("bp,bpd->bd", weights, np.where(weights[..., None] > 0, apart, 0.0)) / whole[:, None]
    squares = np.square(gaps).reshape(len(gaps), state.n_groups, -1).sum(axis=2) * whole[:, None]
    return squares, gaps


def ticks_kept(state: Watch, found: Found) -> int:
    """Return how many of the latest ticks later ones are compared with after a change.

    With a season a change is placed by phases that both sides have, and it is often a period until they have one. What may be
    from before it would be a second change in the next period, so only ticks that are surely from after it are kept, or the
    last one.
    """
    return found.ticks_after if state.n_phases == 1 else max(found.between[0], 1)


def restarted(state: Watch, found: Found) -> Watch:
    """Return the watch with the segments since a change alone, as of `ticks_kept`; what was learned of dependence stays.

    How much rows vary may have changed, too: until that is known, limits are those that hold for any law. One number a tick has
    no such limits, and keeps those it has.
    """
    kept = state.ticks_since() <= ticks_kept(state, found)
    after = replace(state, sums=state.sums[kept], sizes=state.sizes[kept], ticks=state.ticks[kept])
    if state.sums.shape[2] > 1 and not state.exact:
        return replace(after, limits=_any_law(after), next_look=max(state.warm_up, after.n_rows + 1.0))
    return replace(after, next_look=max(state.warm_up, 2.0 * after.n_rows, 2.0 * state.n_phases))


def _any_law(state: Watch) -> Floats:
    """Return limits that hold for any law, for rows that depend on those before them as much as is known."""
    return exact_limits(state.probability, state.n_groups) * state.factors[:, None]


def _until(state: Watch, tick_sizes: Floats, start: int) -> int:
    """Return the end of the ticks to take before limits are computed."""
    rows = state.n_rows + np.cumsum(tick_sizes[start:])
    return start + min(int(np.searchsorted(rows, state.next_look)) + 1, len(rows))


def _looked(state: Watch, sample: Sample, seed: Seed) -> Watch:
    """Return the watch with limits from what is known now; none as long as dependence may reach further than was seen."""
    groups, known, factors, limits = state.n_groups, True, [], []
    squares = np.split(state.squares, groups, axis=1)
    for place, rows in enumerate(np.split(sample.residuals, groups, axis=1)):
        spread = Spread(squares[place], state.counts.astype(np.float64), state.rows_a_tick)
        found = dependence_of(spread, rows, float(sample.variances[place]))
        known &= found.known
        factors.append(found.factor)
        limits.append(asymptotic_limits(rows, found, state.probability, seed.child(place)))
    after = replace(state, next_look=2.0 * state.n_rows)
    if not known and (state.limits.size == 0 or np.array_equal(state.limits, _any_law(state))):
        # A change within the first rows looks like dependence, too: the next look is at what comes from now on.
        return _forgotten(after) if max(factors) > 1.0 else after
    return replace(after, factors=np.array(factors), limits=np.array(limits))


def _forgotten(state: Watch) -> Watch:
    """Return the watch without its estimate of dependence."""
    names = ("squares", "counts", "held", "busy")
    return replace(state, **{name: np.zeros_like(getattr(state, name)) for name in names})


def _scanned(state: Watch, tick_sums: Floats, tick_sizes: Floats, phases: Indices) -> tuple[Watch, Floats]:
    dimensions, held = tick_sums.shape[1], state.ticks.size
    room = min(held + len(tick_sizes), _ROOM)
    sums = np.empty((room, state.n_phases, dimensions))
    sizes, ticks = np.empty((room, state.n_phases)), np.empty(room, dtype=np.int64)
    sums[:held], sizes[:held], ticks[:held] = state.sums, state.sizes, state.ticks
    squares, counts, waiting, busy = state.squares.copy(), state.counts.copy(), state.held.copy(), state.busy.copy()
    evidence, best = np.zeros(len(tick_sizes)), np.full(len(tick_sizes), -1)
    taken, held = change_scan.scan(
        np.ascontiguousarray(tick_sums), tick_sizes, phases, sums, sizes, ticks, held, MOST_OF_A_LENGTH, state.limits,
        state.least, squares, counts, waiting, busy, evidence, best,
    )  # fmt: skip
    after = replace(
        state, sums=sums[:held].copy(), sizes=sizes[:held].copy(), ticks=ticks[:held].copy(), squares=squares, counts=counts,
        held=waiting, busy=busy,
    )  # fmt: skip
    return after, evidence[:taken]
