"""Ranges of a history: which blocks belong to one, and the summary of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from supersample.errors import InputError, InputTypeError
from supersample.history import timeline
from supersample.history.block import Block, joined, running
from supersample.history.timeline import Timeline
from supersample.history.times import number_of, shown_time
from supersample.selection.stream.plan import WARM_UP
from supersample.summary.snapshot import Snapshot
from supersample.summary.summary import Summary

__all__ = ["Period", "as_pair", "blocks_within", "period_of"]


class Period(Summary):
    """The summary of a range of a history. start, end: the bounds that it really has, those of whole blocks.

    `_row` of its rows is their place among the rows of the range, block by block, and not in the data that they came from.
    """

    def __init__(self, snapshot: Snapshot, source: str, start: Any, end: Any) -> None:
        super().__init__(snapshot, source)
        self.start, self.end = start, end


def period_of(state: Timeline, blocks: Sequence[Block], source: str) -> Period:
    """Return the summary of some blocks."""
    whole = joined(blocks, WARM_UP)
    rules = state.rules
    found = running(whole, state.request, state.schema, state.maps)
    name = f"{source}, {rules.text(whole.start)} to {rules.text(whole.end)}"
    return Period(Snapshot(found, found), name, *(shown_time(each, rules) for each in (whole.start, whole.end)))


def blocks_within(state: Timeline, start: Any, end: Any, *names: str) -> list[Block]:
    """Return the blocks that have at least half of their span in a range."""
    low, high = (
        default if each is None else number_of(each, state.rules, name)
        for each, name, default in ((start, names[0], -np.inf), (end, names[1], np.inf))
    )
    if not low < high:
        raise InputError(f"{names[0]} must lie before {names[1]}, got {start!r} and {end!r}")
    held = timeline.all_blocks(state)
    found = [each for each in held if 2 * (min(each.end, high) - max(each.start, low)) >= each.end - each.start]
    found = [each for each in found if each.n_used]
    if not found:
        rules = state.rules
        span = f"{rules.text(held[0].start)} to {rules.text(held[-1].end)}" if held else "nothing"
        raise InputError(f"there are no rows from {start!r} to {end!r}; the history holds {span}")
    return found


def as_pair(given: Any, name: str) -> tuple[Any, Any]:
    """Return start and end of a range, or refuse what is no pair."""
    if isinstance(given, str) or not isinstance(given, Sequence) or len(given) != 2:
        raise InputTypeError(f"{name} must be a pair of start and end, got {given!r}; pass ('2026-01-01', '2026-01-02')")
    return given[0], given[1]
