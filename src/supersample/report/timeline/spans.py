"""The blocks of a history as the page shows them: one by one, or neighbours together where there are too many."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from supersample import profile as profiles
from supersample._typing import Floats
from supersample.history.block import Block
from supersample.history.rules import Rules
from supersample.history.timeline import Timeline, all_blocks
from supersample.profile import Profile

__all__ = ["MOST_SPANS", "Span", "spans_of"]

#: Spans on a page.
MOST_SPANS = 400


@dataclass(frozen=True)
class Span:
    """A block, or neighbouring blocks together.

    late: rows that came after their block was closed. phases: the first phase of the season that it covers, and how many.
    profile: of all columns. n_in_time, sums: rows that came in time, and the sums of their features at the kernel's own scale.
    """

    start: float
    end: float
    rows: int
    late: int
    n_blocks: int
    phases: tuple[int, int]
    profile: Profile
    n_in_time: int
    sums: Floats


def spans_of(state: Timeline, most: int = MOST_SPANS) -> tuple[Span, ...]:
    """Return all blocks in the order of time, at most so many spans, or one more for each change: none spans a change."""
    held = [each for each in all_blocks(state) if each.n_seen]
    step, cuts = -(-len(held) // most), {alarm.change for alarm in state.alarms}
    groups: list[list[Block]] = []
    for block in held:
        if not groups or len(groups[-1]) == step or block.start in cuts:
            groups.append([])
        groups[-1].append(block)
    size = state.waves.maps[0].n_features
    return tuple(_span(group, state, size) for group in groups)


def _span(blocks: Sequence[Block], state: Timeline, size: int) -> Span:
    start, end = blocks[0].start, max(each.end for each in blocks)
    ticks = [each.tick() for each in blocks]
    return Span(
        start=start,
        end=end,
        rows=sum(each.n_seen for each in blocks),
        late=sum(each.n_late for each in blocks),
        n_blocks=len(blocks),
        phases=_phases(start, end, state.rules),
        profile=reduce(profiles.merge, (_whole(each, state) for each in blocks)),
        n_in_time=sum(int(count) for count, _ in ticks),
        sums=np.sum([sums[:size] for _, sums in ticks], axis=0),
    )


def _whole(block: Block, state: Timeline) -> Profile:
    """Return the profile of all columns of a block, in their order; the values of redacted ones are not there."""
    found = {each.name: each for each in (*block.profile.columns, *block.redacted.columns)}
    return Profile(tuple(found[name] for name in state.schema.names))


def _phases(start: float, end: float, rules: Rules) -> tuple[int, int]:
    if rules.season is None:
        return 0, 1
    step = rules.season / rules.n_phases
    return rules.phase_of(start), min(rules.n_phases, max(1, round((end - start) / step)))
