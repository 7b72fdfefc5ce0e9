"""Two histories as one, and blocks that are looked at again: what the lookout sees in them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from supersample._compiled.clock import AGREEING, MEMORY, STEPS
from supersample._typing import Floats
from supersample.embedding import moments
from supersample.errors import MismatchError
from supersample.history.alarm import Alarm
from supersample.history.block import Block, joined
from supersample.history.lookout import start, with_content, with_volume
from supersample.history.rules import Rules
from supersample.history.timeline import UNTIMED, Open, Ticks, Timeline, all_blocks, closed_before, dated, drained
from supersample.records.encoding import require_same

__all__ = ["absorbed", "looked_again", "merged"]


def looked_again(state: Timeline, rules: Rules) -> tuple[Alarm, ...]:
    """Return the alarms of content that the closed blocks held now would have raised by other rules."""
    lookout, alarms, seen = start(rules, state.maps, state.waves), [], []
    context = state.context._replace(rules=rules)
    for block in _within_phases(state.blocks, rules):
        seen.append(block)
        lookout, _, _, alarm = with_content(lookout, context, seen, block.start, block)
        alarms += [] if alarm is None else [alarm]
    return tuple(alarms)


def merged(left: Timeline, right: Timeline) -> Timeline:
    """Return the history of both: blocks of overlapping spans are joined; alarms are those of both, and those between them.

    A change that both saw is one alarm, the one noticed first.
    """
    if left.rules != right.rules or left.schema != right.schema:
        raise MismatchError("the two histories have different rules or columns and cannot be merged; make both with the same")
    require_same(left.maps.encoding, right.maps.encoding)
    same = all(getattr(left.maps.plan, name) == getattr(right.maps.plan, name) for name in ("feature_map", "held_out"))
    if not same or left.waves.maps != right.waves.maps:
        raise MismatchError(
            "the two histories have different kernels or features and cannot be merged; make both with like= one summary, and "
            "the same random_state"
        )
    left, right = _without_doubt(left), _without_doubt(right)
    if left.counts[2] == 0 < right.counts[2]:
        left = dated(left, right.now)
    elif right.counts[2] == 0 < left.counts[2]:
        right = dated(right, left.now)
    newer = left if left.now >= right.now else right
    blocks = _overlapping((*all_blocks(left), *all_blocks(right)))
    edge = int(newer.counts[0]) * left.rules.every
    past = tuple(each for each in blocks if each.start < edge)
    state = replace(
        newer,
        blocks=past,
        open={round(each.start / left.rules.every): Open(each) for each in blocks if each.start >= edge},
        n_seen=left.n_seen + right.n_seen,
        n_late=left.n_late + right.n_late,
        counts=newer.counts + np.array([0, 0, 0, *(left.counts + right.counts - newer.counts)[3:5], 0, 0, 0]),
        alarms=_seen_once(left.alarms, right.alarms),
    )
    # Blocks are joined to longer ones afterwards, since the place where the two histories meet may be a change.
    state = _watched_again(state, _ticks_of(left, right, edge))
    return replace(state, blocks=newer.ladder.aged(past, edge, [each.change for each in state.alarms]))


def absorbed(state: Timeline, found: Mapping[int, Block]) -> Timeline:
    """Return the history with blocks of rows that were read elsewhere, by number, as of `timeline.blocks_of`.

    Rows of blocks that are closed count as late. Rows without a time go to the block of the clock.
    """
    state = _without_doubt(state)
    every, rules = state.rules.every, state.rules
    known, edge = bool(state.counts[2]), int(state.counts[0])
    numbers = sorted(set(found) - {UNTIMED})
    now, usual, n_ahead = _clock_after(state, found, numbers)
    if numbers and not known:
        state = dated(state, now)
    blocks, untimed = {number: found[number] for number in numbers}, found.get(UNTIMED)
    if untimed is not None:
        number = int(np.floor(now / every))
        own = replace(untimed, start=number * every, end=(number + 1) * every)
        blocks[number] = joined([blocks[number], own]) if number in blocks else own
    opened, late = dict(state.open), 0
    for number, own in sorted(blocks.items()):
        if known and number < edge:
            late += own.n_seen
            own = replace(own, n_late=own.n_seen, in_time=moments.init(state.waves.n_features))
            state = replace(state, blocks=tuple(_overlapping((*state.blocks, own))))
            continue
        held = opened.get(number)
        opened[number] = Open(own if held is None else joined([drained(state, number, held).block, own]))
    n_rows, n_untimed = sum(each.n_seen for each in blocks.values()), 0 if untimed is None else untimed.n_seen
    places, counts = state.places.copy(), state.counts.copy()
    places[0], places[4] = now, usual
    counts[2:5] += np.array([n_rows - n_untimed, n_ahead, n_untimed])
    counts[7] = counts[7] + late if late == n_rows else 0
    state = replace(
        state, open=opened, places=places, counts=counts, n_seen=state.n_seen + n_rows, n_late=state.n_late + late
    )  # fmt: skip
    if not counts[2]:
        return state
    first = edge if known else min(opened)
    counts[0] = max(int(np.floor((now - rules.lateness) / every)), first)
    return closed_before(state, first, int(counts[0])) if counts[0] > first else state


def _without_doubt(state: Timeline) -> Timeline:
    """Return the history as before a jump of the clock that is in doubt; the rows that led it there wait in open blocks."""
    if not state.counts[5]:
        return state
    places, counts = state.places.copy(), state.counts.copy()
    places[0], counts[1], counts[5:7] = places[5], 0, 0
    return replace(state, places=places, counts=counts)


def _clock_after(state: Timeline, found: Mapping[int, Block], numbers: Sequence[int]) -> tuple[float, float, int]:
    """Return the clock and its usual steps after blocks, and how many rows are so far ahead that they did not move it.

    As for rows one by one, it moves far ahead only where enough rows agree, those of earlier frames among them, and what is
    far follows from the steps so far; a block counts as rows that are equally far apart.
    """
    every, now, usual = state.rules.every, state.now, float(state.places[4])
    sizes = {number: held.block.n_seen + held.n_waiting for number, held in state.open.items() if number * every > now}
    for number in numbers:
        sizes[number] = sizes.get(number, 0) + found[number].n_seen
    order = sorted(sizes)
    if not state.counts[2] and order:
        now = order[0] * every
    left = sum(sizes.values())
    for place, number in enumerate(order):
        if number * every - now > max(state.rules.reach, usual) and left < AGREEING:
            return now, usual, sum(found[each].n_seen for each in order[place:] if each in found)
        after = max(now, number * every)
        usual += (STEPS * (after - now) / sizes[number] - usual) * (1.0 - (1.0 - 1.0 / MEMORY) ** sizes[number])
        now = after
        left -= sizes[number]
    return now, usual, 0


def _overlapping(blocks: Sequence[Block]) -> list[Block]:
    """Join blocks whose spans overlap."""
    found: list[Block] = []
    for each in sorted(blocks, key=lambda block: (block.start, -block.end)):
        if found and each.start < found[-1].end:
            found[-1] = joined([found[-1], each])
        else:
            found.append(each)
    return found


def _within_phases(blocks: Sequence[Block], rules: Rules) -> Iterator[Block]:
    """Yield the blocks that lie within one phase of the season; those that were joined since span several."""
    longest = np.inf if rules.season is None else rules.season / rules.n_phases
    return (each for each in blocks if each.end - each.start <= longest)


def _ticks_of(left: Timeline, right: Timeline, edge: float) -> Ticks:
    """Return the closed blocks of both, with the rows of both, and the larger evidence."""
    rows = [np.column_stack(tuple(vars(each.ticks).values())) for each in (left, right)]
    past = [drained(each, number, held).block for each in (left, right) for number, held in each.open.items()]
    rows.append(np.array([(each.start, each.tick()[0], 0.0, 0.0) for each in past if each.start < edge]).reshape(-1, 4))
    every = np.concatenate(rows)
    starts, places = np.unique(every[:, 0], return_inverse=True)
    sizes, evidence = np.zeros(starts.size), np.zeros((starts.size, 2))
    np.add.at(sizes, places, every[:, 1])
    np.maximum.at(evidence, places, every[:, 2:])
    return Ticks(starts, sizes, evidence[:, 0].copy(), evidence[:, 1].copy())


def _seen_once(left: Sequence[Alarm], right: Sequence[Alarm]) -> tuple[Alarm, ...]:
    """Return the alarms of both in the order in which they were raised; of two sides that saw one change, the first alarm."""
    found: list[tuple[Alarm, int]] = []
    matched: set[int] = set()
    sides = [(alarm, side) for side, alarms in enumerate((left, right)) for alarm in alarms]
    for alarm, side in sorted(sides, key=lambda each: _order(each[0])):
        twins = (place for place, (other, of) in enumerate(found) if of != side and _may_be_one(other, alarm))
        twin = next((place for place in twins if place not in matched), None)
        if twin is None:
            found.append((alarm, side))
        else:
            matched.add(twin)
    return tuple(alarm for alarm, _ in found)


def _order(alarm: Alarm) -> tuple[float, str, float]:
    return alarm.at, alarm.kind, alarm.change


def _may_be_one(left: Alarm, right: Alarm) -> bool:
    """Return whether two alarms are of one kind and may be of one moment."""
    return left.kind == right.kind and left.between[0] <= right.between[1] and right.between[0] <= left.between[1]


def _watched_again(state: Timeline, ticks: Ticks) -> Timeline:
    """Return the history with a lookout over what it holds since the last changes, and alarms that neither side could raise.

    Content is that of its blocks, volume that of the blocks as they were closed. Between two known changes the lookout starts
    afresh, so that it finds those that are not known yet.
    """
    alarms = list(state.alarms)
    blocks = list(_within_phases(state.blocks, state.rules))
    fresh = start(state.rules, state.maps, state.waves)
    content = volume = fresh
    found = level = 0.0

    def noted(alarm: Alarm | None, evidence: Floats, time: float) -> None:
        if alarm is not None and not any(_may_be_one(alarm, each) for each in state.alarms):
            alarms.append(alarm)
            place = np.searchsorted(ticks.starts, time)
            evidence[place : place + 1] = alarm.evidence

    first = _first_after(state.alarms, "content", [each.start for each in blocks])
    for place, block in enumerate(blocks):
        content = fresh if place in first else content
        content, _, found, alarm = with_content(content, state.context, blocks[: place + 1], block.start, block)
        noted(alarm, ticks.evidence, block.start)
    if state.rules.volume:
        first = _first_after(state.alarms, "volume", ticks.starts.tolist())
        for place, (time, size) in enumerate(zip(ticks.starts.tolist(), ticks.sizes.tolist(), strict=True)):
            volume = fresh if place in first else volume
            volume, level, alarm = with_volume(volume, state.context, time, size)
            noted(alarm, ticks.volume, time)
    if ticks.starts.size:
        ticks.evidence[-1], ticks.volume[-1] = found, level
    lookout = replace(
        content, volume=volume.volume, volume_starts=volume.volume_starts, volumes=volume.volumes, n_ticks=ticks.starts.size
    )
    return replace(state, lookout=lookout, ticks=ticks, alarms=tuple(sorted(alarms, key=_order)))


def _first_after(alarms: Sequence[Alarm], kind: str, starts: Sequence[float]) -> set[int]:
    """Return the places of the first of some blocks after each known change of a kind."""
    return {int(np.searchsorted(starts, each.change)) for each in alarms if each.kind == kind}
