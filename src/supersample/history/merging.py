"""Two histories as one, and blocks that are looked at again: what the lookout sees in them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from supersample.embedding import moments
from supersample.errors import MismatchError
from supersample.history.alarm import Alarm
from supersample.history.block import Block, joined
from supersample.history.lookout import closed, start
from supersample.history.rules import Rules
from supersample.history.timeline import Open, Ticks, Timeline, all_blocks, closed_before, drained
from supersample.records.encoding import require_same

__all__ = ["absorbed", "looked_again", "merged"]


def looked_again(state: Timeline, rules: Rules) -> tuple[Alarm, ...]:
    """Return the alarms that the closed blocks held now would have raised by other rules; those that span phases raise none."""
    lookout, alarms, seen = start(rules, state.maps, state.waves), [], []
    context = state.context._replace(rules=rules)
    longest = np.inf if rules.season is None else rules.season / rules.n_phases
    for block in state.blocks:
        if block.end - block.start <= longest:
            seen.append(block)
            found = closed(lookout, context, seen, block.start, block)
            lookout = found.lookout
            alarms += [each for each in found.alarms if each.kind == "content"]
    return tuple(alarms)


def merged(left: Timeline, right: Timeline) -> Timeline:
    """Return the history of both: blocks of overlapping spans are joined, alarms are those of both."""
    if left.rules != right.rules or left.schema != right.schema:
        raise MismatchError("the two histories have different rules or columns and cannot be merged; make both with the same")
    require_same(left.maps.encoding, right.maps.encoding)
    same = all(getattr(left.maps.plan, name) == getattr(right.maps.plan, name) for name in ("feature_map", "held_out"))
    if not same or left.waves.maps != right.waves.maps:
        raise MismatchError(
            "the two histories have different kernels or features and cannot be merged; make both with like= one summary, and "
            "the same random_state"
        )
    newer = left if left.now >= right.now else right
    blocks = _overlapping((*all_blocks(left), *all_blocks(right)))
    edge = int(newer.counts[0]) * left.rules.every
    alarms = sorted((*left.alarms, *right.alarms), key=lambda each: (each.at, each.kind))
    past = tuple(each for each in blocks if each.start < edge)
    state = replace(
        newer,
        blocks=newer.ladder.aged(past, edge, [each.change for each in alarms]),
        open={round(each.start / left.rules.every): Open(each) for each in blocks if each.start >= edge},
        n_seen=left.n_seen + right.n_seen,
        n_late=left.n_late + right.n_late,
        counts=newer.counts + np.array([0, 0, 0, *(left.counts + right.counts - newer.counts)[3:]]),
        alarms=tuple(alarms),
    )
    return _watched_again(state)


def absorbed(state: Timeline, found: Mapping[int, Block], n_untimed: int) -> Timeline:
    """Return the history with blocks of rows that were read elsewhere, by number; it is then as late as the latest of them.

    Rows of blocks that are closed count as late.
    """
    every, rules = state.rules.every, state.rules
    opened, edge, late = dict(state.open), int(state.counts[0]), 0
    n_rows = sum(each.n_seen for each in found.values())
    for number in sorted(found):
        own = found[number]
        if state.n_seen and number < edge:
            late += own.n_seen
            own = replace(own, n_late=own.n_seen, in_time=moments.init(state.waves.n_features))
            state = replace(state, blocks=tuple(_overlapping((*state.blocks, own))))
            continue
        held = opened.get(number)
        opened[number] = Open(own if held is None else joined([drained(state, number, held).block, own]))
    newest = max(found)
    places, counts = state.places.copy(), state.counts.copy()
    places[0] = max(places[0], newest * every) if state.n_seen else newest * every
    counts[2:] += np.array([n_rows, 0, n_untimed])
    after = int(np.floor((places[0] - rules.lateness) / every))
    first = edge if state.n_seen else min(opened)
    counts[0] = max(after, first)
    state = replace(
        state, open=opened, places=places, counts=counts, n_seen=state.n_seen + n_rows, n_late=state.n_late + late
    )  # fmt: skip
    return closed_before(state, first, int(counts[0])) if counts[0] > first else state


def _overlapping(blocks: Sequence[Block]) -> list[Block]:
    """Join blocks whose spans overlap."""
    found: list[Block] = []
    for each in sorted(blocks, key=lambda block: (block.start, -block.end)):
        if found and each.start < found[-1].end:
            found[-1] = joined([found[-1], each])
        else:
            found.append(each)
    return found


def _watched_again(state: Timeline) -> Timeline:
    """Return the history with a lookout over its blocks since the last change; they raise no alarm."""
    last = max((each.change for each in state.alarms if each.kind == "content"), default=-np.inf)
    lookout, rows = start(state.rules, state.maps, state.waves), []
    for block in (each for each in state.blocks if each.start >= last):
        found = closed(lookout, state.context, (), block.start, block)
        lookout = found.lookout
        rows.append(found.tick)
    return replace(state, lookout=lookout, ticks=Ticks().joined(rows))
