"""The lookout of a history: whether closed blocks show a change of what rows hold, or of how many there are."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from supersample._checks import require
from supersample._random import Seed
from supersample._stored import FLOATS, INDICES, INTEGER, instance_of, optional, stored
from supersample._typing import Floats, Indices
from supersample.history import watch
from supersample.history.alarm import Alarm, what_changed
from supersample.history.block import Block, joined, running
from supersample.history.rules import Rules
from supersample.history.watch import Found, Sample, Watch
from supersample.history.waves import Waves
from supersample.selection.stream.plan import WARM_UP
from supersample.summary.comparing import compare
from supersample.summary.state import Maps, Request

__all__ = ["Closed", "Context", "Lookout", "closed", "matched", "start", "with_content", "with_volume"]

#: Rows of a sample since the last change by which limits are computed, and ticks of which the volume is.
_SAMPLE, _VOLUMES = 512, 512
#: Rows, and ticks of volume, before limits are computed; at four times as many ticks 16 blocks of eight show dependence.
_WARM_UP, _WARM_UP_TICKS = 200.0, 33.0
#: What roots of volumes vary by at least; 1/4 for independent rows. One row less is no change, however regular they come.
_LEAST_VARIANCE = 0.01
#: Rows on each side that it takes to say what changed.
_FEWEST = 5


class Context(NamedTuple):
    """What blocks of a history have in common."""

    rules: Rules
    request: Request
    schema: pa.Schema
    maps: Maps
    waves: Waves
    seed: Seed


@stored(
    "Lookout",
    {
        "content": instance_of(Watch), "volume": optional(instance_of(Watch)), "points": FLOATS, "phases": INDICES,
        "keys": FLOATS, "places": FLOATS, "starts": FLOATS, "volume_starts": FLOATS, "volumes": FLOATS, "n_ticks": INTEGER,
    },
)  # fmt: skip
@dataclass(frozen=True)
class Lookout:
    """The watch over content and volume since the last change of each.

    points, phases, keys, places: a uniform sample of the rows, the phase of each, the draws that it was taken by, and the
    starts of their blocks. starts, volume_starts: of the segments of both watches. volumes: roots of the numbers of rows of the
    latest ticks, and their phases.
    """

    content: Watch
    volume: Watch | None
    points: Floats
    phases: Indices
    keys: Floats
    places: Floats
    starts: Floats
    volume_starts: Floats
    volumes: Floats
    n_ticks: int = 0

    def check(self, rules: Rules, n_features: int, width: int) -> None:
        """Refuse a lookout that no blocks lead to."""
        for held, size in ((self.content, n_features), (self.volume, 1)):
            if held is not None:
                held.check(size)
                require(held.n_phases == rules.n_phases, "the lookout has other phases")
        count = self.keys.size
        require(self.points.shape == (count, width) and bool(np.isfinite(self.points).all()), "the lookout is incomplete")
        require(self.phases.shape == self.places.shape == (count,), "the lookout is incomplete")
        require(bool(((self.phases >= 0) & (self.phases < rules.n_phases)).all()), "the lookout has other phases")
        require(self.volumes.ndim == 2 and self.volumes.shape[1] == 2, "the lookout is incomplete")
        times = (self.keys, self.places, self.starts, self.volume_starts, self.volumes)
        require(all(bool(np.isfinite(each).all()) for each in times), "the lookout is not finite")
        sides = ((self.content, self.starts), (self.volume, self.volume_starts))
        fits = all(own.shape == (0 if held is None else held.ticks.size,) for held, own in sides)
        require(fits, "the lookout has other ticks")
        phases = self.volumes[:, 1]
        require(bool(((phases >= 0) & (phases < rules.n_phases)).all()), "the lookout has other phases")

    def by_segments(self) -> "Lookout":
        """Return the lookout of a file of the first histories, which held the start of every tick since a change."""
        fewer = {}
        for name, held in (("starts", self.content), ("volume_starts", self.volume)):
            starts = getattr(self, name)
            if held is not None and starts.shape == (int(held.ticks.sum()),):
                require(bool((held.ticks > 0).all()), "the lookout has other ticks")
                fewer[name] = starts[starts.size - held.ticks_since()]
        return replace(self, **fewer)


class Closed(NamedTuple):
    """What follows from a closed block: alarms, and start, rows and evidence of the tick."""

    lookout: Lookout
    alarms: tuple[Alarm, ...]
    tick: tuple[float, float, float, float]


def start(rules: Rules, maps: Maps, waves: Waves) -> Lookout:
    """Return the lookout over nothing."""
    options: dict[str, Any] = {"n_phases": rules.n_phases, "exact": rules.exact}
    content = watch.init(
        waves.n_features, rules.run_length, groups=waves.n_groups, least=rules.at_least, warm_up=_WARM_UP, **options
    )  # fmt: skip
    volume = watch.init(1, rules.run_length, n_phases=rules.n_phases, warm_up=_WARM_UP_TICKS) if rules.volume else None
    none = np.empty(0)
    return Lookout(
        content, volume, np.empty((0, maps.encoding.width)), np.empty(0, dtype=np.int64), none, none, none, none,
        np.empty((0, 2)),
    )  # fmt: skip


def closed(state: Lookout, context: Context, blocks: Sequence[Block], time: float, block: Block | None) -> Closed:
    """Return the lookout after the block that begins at a time is closed; None if it has no rows.

    blocks: all that are closed, this one included.
    """
    alarms: list[Alarm] = []
    size = evidence = volume = 0.0
    if block is not None:
        state, size, evidence, alarm = with_content(state, context, blocks, time, block)
        alarms += [] if alarm is None else [alarm]
    if state.volume is not None:
        state, volume, alarm = with_volume(state, context, time, size)
        alarms += [] if alarm is None else [alarm]
    return Closed(replace(state, n_ticks=state.n_ticks + 1), tuple(alarms), (time, size, evidence, volume))


def with_content(
    state: Lookout, context: Context, blocks: Sequence[Block], time: float, block: Block
) -> tuple[Lookout, float, float, Alarm | None]:
    """Look whether a block that begins at a time shows a change of what rows hold; return its rows and the evidence, too."""
    phase = context.rules.phase_of(time)
    size, sums = block.tick()
    if not size:
        return state, 0.0, 0.0, None
    state = _with_sample(state, block, phase)
    held, evidence, found = watch.advance(
        state.content, sums[None], np.array([size]), np.array([phase]),
        lambda _, after: _residuals(state, after, context.waves), context.seed,
    )  # fmt: skip
    state = replace(state, content=held, starts=_starts_after(state.starts, state.content, held, time))
    if found is None:
        return state, size, float(evidence[-1]), None
    alarm = _content_alarm(state, context, blocks, found, time + context.rules.every)
    return _restarted(state, found), size, float(evidence[-1]), alarm


def matched(left: Sequence[Block], right: Sequence[Block], rules: Rules) -> tuple[list[Block], list[Block]]:
    """Return the blocks of both sides of whose phases the other side has at least half."""
    if rules.season is None:
        return list(left), list(right)
    sides = [[(each, _phases(each, rules)) for each in side] for side in (left, right)]
    seen = [set().union(*(phases for _, phases in side)) for side in sides]

    def fitting(side: list[tuple[Block, set[int]]], others: set[int]) -> list[Block]:
        return [each for each, phases in side if 2 * len(phases & others) >= len(phases)]

    return fitting(sides[0], seen[1]), fitting(sides[1], seen[0])


def _phases(block: Block, rules: Rules) -> set[int]:
    """Return the phases that the span of a block covers."""
    assert rules.season is not None
    step = rules.season / rules.n_phases
    count = min(rules.n_phases, max(1, round((block.end - block.start) / step)))
    return {rules.phase_of(block.start + place * step) for place in range(count)}


def _content_alarm(state: Lookout, context: Context, blocks: Sequence[Block], found: Found, now: float) -> Alarm:
    """Return the alarm; what changed is told by the blocks before and after, of the same phases."""
    starts, every = state.starts, context.rules.every
    change = _moment(starts, state.content, found.ticks_after, every)
    told: dict[str, Any] = {}
    before = [each for each in blocks if starts[0] <= each.start < change]
    after = [each for each in blocks if each.start >= change]
    left, right = matched(before, after, context.rules)
    if sum(each.n_used for each in left) >= _FEWEST <= sum(each.n_used for each in right):
        first, second = (
            running(joined(side, WARM_UP), context.request, context.schema, context.maps) for side in (left, right)
        )
        told = what_changed(compare(first, second), first.kept.table, second.kept.table)
    return Alarm("content", now, change, _between(starts, state.content, found, every), found.gap, found.evidence, **told)


def _starts_after(starts: Floats, before: Watch, after: Watch, time: float) -> Floats:
    """Return the starts of the segments of a watch after one more tick: of those that were joined, that of the first."""
    since = np.append(before.ticks_since() + 1, 1)
    return np.append(starts, time)[np.isin(since, after.ticks_since())]


def _moment(starts: Floats, held: Watch, ticks: int, every: float) -> float:
    """Return when the latest so many ticks began, as many as some segments have; with 0 of them, when the last one ended."""
    return float(starts[held.ticks_since() <= ticks][0]) if ticks else float(starts[-1]) + every


def _between(starts: Floats, held: Watch, found: Found, every: float) -> tuple[float, float]:
    """Return the earliest and the latest moment of a change."""
    few, many = found.between
    return _moment(starts, held, many, every), _moment(starts, held, few, every)


def _restarted(state: Lookout, found: Found) -> Lookout:
    """Return the lookout over what came since a change."""
    starts = state.starts[state.content.ticks_since() <= watch.ticks_kept(state.content, found)]
    own = state.places >= starts[0]
    return replace(
        state, content=watch.restarted(state.content, found), starts=starts, points=state.points[own],
        phases=state.phases[own], keys=state.keys[own], places=state.places[own],
    )  # fmt: skip


def _with_sample(state: Lookout, block: Block, phase: int) -> Lookout:
    """Return the lookout with a block's rows among those that the sample is drawn from."""
    kept = block.sample.kept
    draws = np.ldexp(kept.mantissas * kept.rows.mantissas, kept.exponents + kept.rows.exponents)  # of rows of weight one
    keys = np.concatenate([state.keys, draws])
    order = np.argsort(keys, kind="stable")[:_SAMPLE]
    return replace(
        state,
        points=np.concatenate([state.points, kept.rows.points])[order],
        phases=np.concatenate([state.phases, np.full(len(draws), phase)])[order],
        keys=keys[order],
        places=np.concatenate([state.places, np.full(len(draws), block.start)])[order],
    )


def _residuals(state: Lookout, after: Watch, waves: Waves) -> Sample:
    """Return the sampled rows' features less the means of their phases, and the variance of each group."""
    return _centred(waves.transform(state.points) - after.means()[state.phases], waves.n_groups)


def _centred(residuals: Floats, groups: int) -> Sample:
    squares = np.square(residuals).sum(axis=0).reshape(groups, -1).sum(axis=1)
    return Sample(residuals, squares / max(len(residuals) - 1, 1))


def with_volume(state: Lookout, context: Context, time: float, size: float) -> tuple[Lookout, float, Alarm | None]:
    """Look whether the number of rows changed, by those of a block; return the evidence, too.

    Roots of counts vary about alike, however large they are.
    """
    rules = context.rules
    assert state.volume is not None
    phase = rules.phase_of(time)
    volumes = np.concatenate([state.volumes, [[np.sqrt(size), float(phase)]]])[-_VOLUMES:]

    def sample(_: int, after: Watch) -> Sample:
        apart = volumes[:, :1] - after.means()[volumes[:, 1].astype(np.int64)]
        signs = np.where(apart == 0, 1.0 - 2.0 * (np.arange(len(apart)) % 2)[:, None], np.sign(apart))
        free = len(apart) / max(len(apart) - np.unique(volumes[:, 1]).size, 1)  # each phase has its own mean
        return _centred(signs * np.sqrt(np.square(apart) * free + _LEAST_VARIANCE), 1)

    before = _without_season(state.volume) if size else state.volume
    held, evidence, found = watch.advance(
        before, np.array([[np.sqrt(size)]]), np.ones(1), np.array([phase]), sample, context.seed.child("volume")
    )
    starts = _starts_after(state.volume_starts, state.volume, held, time)
    if found is None:
        return replace(state, volume=held, volumes=volumes, volume_starts=starts), float(evidence[-1]), None
    alarm = Alarm(
        "volume", time + rules.every, _moment(starts, held, found.ticks_after, rules.every),
        _between(starts, held, found, rules.every), _times_as_many(volumes, found.ticks_after), found.evidence,
    )  # fmt: skip
    kept = watch.ticks_kept(held, found)
    starts = starts[held.ticks_since() <= kept]
    after = replace(state, volume=watch.restarted(held, found), volume_starts=starts, volumes=volumes[-kept:])
    return after, float(evidence[-1]), alarm


def _without_season(held: Watch) -> Watch:
    """Return a watch that has seen nothing but blocks without rows since a change, as if they had been of all phases alike.

    No rows are no rows at any hour: the first rows after an outage are not to wait for the hours at which it began.
    """
    if held.sums.any():
        return held
    return replace(held, sizes=np.repeat(held.sizes.mean(axis=1, keepdims=True), held.n_phases, axis=1))


def _times_as_many(volumes: Floats, ticks: int) -> float:
    """Return the rows of the latest ticks over those of the ticks before, of the same phases where there are any."""
    counts, phases = volumes[:, 0] ** 2, volumes[:, 1]
    before, after = slice(None, -ticks), slice(-ticks, None)
    usual = [counts[before][phases[before] == phase] for phase in phases[after]]
    overall = float(counts[before].mean()) if len(counts) > ticks else 0.0
    expected = sum(float(each.mean()) if each.size else overall for each in usual)
    return float(counts[after].sum() / expected) if expected > 0 else np.inf
