"""The state of a history: blocks of rows along time, the clock, and the watch over them. Pure functions: `init`, `update`.

The result depends on the order in which rows arrive, and not on how they were batched: rows wait in their block and are taken
in by thousands, and a block is closed at the very row that moves the clock past its end.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
import pyarrow as pa

from supersample import profile as profiles
from supersample._compiled import clock
from supersample._random import Seed
from supersample._threads import one_blas_thread
from supersample._typing import Floats, Indices
from supersample.history.alarm import Alarm
from supersample.history.block import Block, add, empty
from supersample.history.ladder import Ladder, ladder_of
from supersample.history.lookout import Context, Lookout, closed, start
from supersample.history.rules import Rules
from supersample.history.waves import Waves, waves_of
from supersample.summary.state import Maps, Request, times_of

__all__ = [
    "UNTIMED", "Open", "Ticks", "Timeline", "all_blocks", "blocks_of", "closed_before", "dated", "drained", "init", "update",
]  # fmt: skip

#: Rows of a block that are taken in at a time.
_CHUNK = 4096
#: Blocks without rows that are counted in a gap, at most: its first ones, so that its beginning is the moment of a change.
_MOST_EMPTY = 1000
#: Closed blocks of which rows and evidence are remembered: the latest ones.
_MOST_TICKS = 100_000
#: Times are at most so many blocks from zero, so that each block has a number of its own; others count as missing.
_FURTHEST = 2.0**52
#: The first and the last day that a calendar has, with room for a month, in seconds since 1970.
_CALENDAR = -62_000_000_000.0, 253_000_000_000.0
#: The number under which `blocks_of` returns the rows without a time.
UNTIMED = -(1 << 62)


@dataclass(frozen=True)
class Open:
    """A block that still takes rows: those taken in, and those that wait."""

    block: Block
    waiting: tuple[pa.RecordBatch, ...] = ()
    n_waiting: int = 0


@dataclass(frozen=True)
class Ticks:
    """What is remembered of the latest closed blocks: when each began, its rows, and the evidence of a change after it.

    evidence, volume: over the line at which an alarm is raised.
    """

    starts: Floats = field(default_factory=lambda: np.empty(0))
    sizes: Floats = field(default_factory=lambda: np.empty(0))
    evidence: Floats = field(default_factory=lambda: np.empty(0))
    volume: Floats = field(default_factory=lambda: np.empty(0))

    def joined(self, rows: Sequence[tuple[float, float, float, float]]) -> "Ticks":
        """Return these and more, the oldest forgotten."""
        columns = np.array(rows, dtype=np.float64).reshape(-1, 4).T
        parts = (self.starts, self.sizes, self.evidence, self.volume)
        return Ticks(*(np.concatenate([old, new])[-_MOST_TICKS:] for old, new in zip(parts, columns, strict=True)))


@dataclass(frozen=True)
class Timeline:
    """Everything that is needed to go on.

    blocks: those that are closed, in the order of time, joined as they age. open: the others, by their number. places, counts:
    the clock, as of `_compiled.clock.place_rows`, which may be in doubt after a far jump. n_late: rows that came after their
    block was closed.
    """

    rules: Rules
    request: Request
    schema: pa.Schema
    maps: Maps
    waves: Waves
    ladder: Ladder
    lookout: Lookout
    seed: Seed
    blocks: tuple[Block, ...] = ()
    open: Mapping[int, Open] = field(default_factory=dict)
    places: Floats = field(default_factory=lambda: np.zeros(8))
    counts: Indices = field(default_factory=lambda: np.zeros(8, dtype=np.int64))
    n_seen: int = 0
    n_late: int = 0
    ticks: Ticks = field(default_factory=Ticks)
    alarms: tuple[Alarm, ...] = ()

    @property
    def context(self) -> Context:
        """What its blocks have in common."""
        return Context(self.rules, self.request, self.schema, self.maps, self.waves, self.seed)

    @property
    def n_untimed(self) -> int:
        """Rows without a time; they went to the block of the clock."""
        return int(self.counts[4])

    @property
    def n_ahead(self) -> int:
        """Rows so far ahead of the clock that they did not move it, until others agreed."""
        return int(self.counts[3])

    @property
    def n_behind(self) -> int:
        """Rows in a row, the latest ones, that came after their block was closed."""
        return int(self.counts[7])

    @property
    def now(self) -> float:
        """The clock."""
        return float(self.places[0])


def init(rules: Rules, request: Request, schema: pa.Schema, maps: Maps) -> Timeline:
    """Return a history that has seen nothing."""
    seed = request.settings.seed.child("history")
    ladder = ladder_of(rules.every, clock=rules.clock, keep=rules.keep, season=rules.season)
    plan = maps.plan
    waves = waves_of(plan.kernel, seed.child("waves"), otherwise=plan.held_out)
    return Timeline(rules, request, schema, maps, waves, ladder, start(rules, maps, waves), seed)


@one_blas_thread()  # once for all blocks: they are small, and to change the number of threads for each takes time
def update(state: Timeline, batch: pa.RecordBatch) -> Timeline:
    """Return the history after more rows with its schema; the given state does not change."""
    rules = state.rules
    if rules.time is None:
        times = np.arange(state.n_seen, state.n_seen + batch.num_rows, dtype=np.float64)
    else:
        times = _times(state, batch)
        known = np.flatnonzero(~np.isnan(times))
        if not state.counts[2] and known.size:  # rows before the first time go to its block
            first = int(known[0])
            state = dated(update(state, batch.slice(0, first)) if first else state, float(times[first]))
            batch, times = batch.slice(first), times[first:]
    places, counts = state.places.copy(), state.counts.copy()
    blocks, done = np.empty(len(times), dtype=np.int64), np.empty(len(times), dtype=np.int64)
    before = int(counts[0])
    clock.place_rows(times, rules.every, rules.lateness, rules.reach, places, counts, blocks, done)
    if rules.time is None:
        done = blocks.copy()  # a block of rows is closed by the first row of the next one
        counts[0] = int(blocks[-1])
    for first, last in pairwise([0, *(np.flatnonzero(np.diff(done)) + 1).tolist(), len(done)]):
        if done[first] > before and state.n_seen + first > 0:
            state = closed_before(state, before, int(done[first]))
        before = int(done[first])
        state = _placed(state, batch.slice(first, last - first), blocks[first:last], before)
    return replace(state, places=places, counts=counts, n_seen=state.n_seen + batch.num_rows)


def dated(state: Timeline, time: float) -> Timeline:
    """Return a history none of whose rows has a time with these in the block of a time."""
    every, number = state.rules.every, int(np.floor(time / state.rules.every))
    held = state.open.get(0)
    if held is None:
        return state
    block = replace(held.block, start=number * every, end=(number + 1) * every)
    return replace(state, open={number: replace(held, block=block)})


def all_blocks(state: Timeline) -> tuple[Block, ...]:
    """Return all blocks in the order of time, the open ones with the rows that wait."""
    held = [drained(state, number, each).block for number, each in state.open.items()]
    return tuple(sorted((*state.blocks, *held), key=lambda each: each.start))


def blocks_of(state: Timeline, batches: Iterable[pa.RecordBatch]) -> dict[int, Block]:
    """Return the blocks of some rows by themselves, by number; that of rows without a time is UNTIMED."""
    found: dict[int, Block] = {}
    for batch in batches:
        times = _times(state, batch)
        missing = np.isnan(times)
        blocks = np.where(missing, UNTIMED, np.floor(np.where(missing, 0.0, times) / state.rules.every).astype(np.int64))
        for number in np.unique(blocks).tolist():
            rows = np.flatnonzero(blocks == number)
            part = batch if rows.size == batch.num_rows else batch.take(pa.array(rows))
            own = found.get(number) or _empty(state, 0 if number == UNTIMED else number)
            found[number] = _added(state, number, _with_redacted(own, part), state.request.options.masked(part))
    return found


def _times(state: Timeline, batch: pa.RecordBatch) -> Floats:
    """Return the times of rows, NaN where there is none, or none that a history could have."""
    rules = state.rules
    assert rules.time is not None
    times = times_of(state.maps.encoding, batch, rules.time)
    low, high = _CALENDAR if rules.clock else (-_FURTHEST * rules.every, _FURTHEST * rules.every)
    return np.where((times > low) & (times < high), times, np.nan)


def _placed(state: Timeline, batch: pa.RecordBatch, blocks: Indices, closed_before: int) -> Timeline:
    """Put rows, in the order of their arrival, into their blocks."""
    opened, late = dict(state.open), 0
    for number in np.unique(blocks).tolist():
        rows = np.flatnonzero(blocks == number)
        part = batch if rows.size == batch.num_rows else batch.take(pa.array(rows))
        if number < closed_before:
            state, late = _with_late(state, number, part), late + rows.size
            continue
        held = opened.get(number) or Open(_empty(state, number))
        held = replace(held, block=_with_redacted(held.block, part))
        opened[number] = _with_waiting(state, number, held, state.request.options.masked(part))
    return replace(state, open=opened, n_late=state.n_late + late)


def _with_waiting(state: Timeline, number: int, held: Open, part: pa.RecordBatch) -> Open:
    """Return an open block with more rows; whole chunks are taken in."""
    held = Open(held.block, (*held.waiting, part), held.n_waiting + part.num_rows)
    while held.n_waiting >= _CHUNK:
        rows = _combined(held.waiting)
        block = _added(state, number, held.block, rows.slice(0, _CHUNK))
        rest = rows.slice(_CHUNK)
        held = Open(block, (rest,) if rest.num_rows else (), rest.num_rows)
    return held


def drained(state: Timeline, number: int, held: Open) -> Open:
    """Return an open block with all its rows taken in."""
    return Open(_added(state, number, held.block, _combined(held.waiting))) if held.n_waiting else held


def _added(state: Timeline, number: int, block: Block, rows: pa.RecordBatch, *, late: bool = False) -> Block:
    return add(block, state.maps, state.waves, rows, _salt(state, number), late=late)


def _with_redacted(block: Block, rows: pa.RecordBatch) -> Block:
    """Return a block that has counted the values which are not kept; after that, nobody sees them."""
    return replace(block, redacted=profiles.update(block.redacted, rows)) if block.redacted.columns else block


def _with_late(state: Timeline, number: int, rows: pa.RecordBatch) -> Timeline:
    """Return the history with rows of a closed block, or of one that was joined since; a span without rows gets a block."""
    time, masked = number * state.rules.every, state.request.options.masked(rows)
    for place, each in enumerate(state.blocks):
        if each.start <= time < each.end:
            changed = _added(state, number, _with_redacted(each, rows), masked, late=True)
            return replace(state, blocks=(*state.blocks[:place], changed, *state.blocks[place + 1 :]))
    fresh = _added(state, number, _with_redacted(_empty(state, number), rows), masked, late=True)
    return replace(state, blocks=tuple(sorted((*state.blocks, fresh), key=lambda each: each.start)))


def closed_before(state: Timeline, since: int, number: int) -> Timeline:
    """Close all blocks before a number, and look whether something changed."""
    every, opened = state.rules.every, dict(state.open)
    if not state.ticks.starts.size:  # without a row, no block precedes the first row
        since = max(since, min(opened, default=number))
    for each in _numbers(opened, since, number, volume=state.rules.volume):
        held = opened.pop(each, None)
        block = None if held is None else drained(state, each, held).block
        state = replace(state, blocks=state.blocks if block is None else _inserted(state.blocks, block), open=opened)
        found = closed(state.lookout, state.context, state.blocks, each * every, block)
        state = replace(
            state, lookout=found.lookout, alarms=(*state.alarms, *found.alarms), ticks=state.ticks.joined([found.tick])
        )
    cuts = [alarm.change for alarm in state.alarms]
    return replace(state, blocks=state.ladder.aged(state.blocks, number * every, cuts))


def _numbers(opened: Mapping[int, Open], since: int, number: int, *, volume: bool) -> list[int]:
    """Return the blocks to close, in the order of time; those without rows, too, if the volume is watched."""
    found = {each for each in opened if each < number}
    if volume:
        found |= set(range(since, min(number, since + _MOST_EMPTY)))
    return sorted(found)


def _inserted(blocks: tuple[Block, ...], block: Block) -> tuple[Block, ...]:
    if not blocks or blocks[-1].start < block.start:
        return (*blocks, block)
    return tuple(sorted((*blocks, block), key=lambda each: each.start))


def _empty(state: Timeline, number: int) -> Block:
    every = state.rules.every
    return empty(state.request, state.schema, state.maps, state.waves, number * every, (number + 1) * every)


def _combined(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    return batches[0] if len(batches) == 1 else pa.Table.from_batches(batches).combine_chunks().to_batches()[0]


def _salt(state: Timeline, number: int) -> int:
    """Return a number that tells the draws of one block from those of others."""
    return int(state.seed.child("sample").child(number % (1 << 32)).sequence().generate_state(1, np.uint64)[0])
