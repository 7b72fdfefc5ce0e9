"""How blocks are joined as they age: minutes into hours, hours into days, days into months; of rows, pairs of equal length.

What is joined depends on the clock and on the blocks alone. Blocks on two sides of a change are never joined.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise

from supersample._durations import UNITS
from supersample.history.block import Block, joined

__all__ = ["Ladder", "ladder_of"]

_HOUR, _DAY = UNITS["h"], UNITS["d"]
_MONTH = 31 * _DAY
#: Spans that blocks of time are joined to, with how long those of the span before are kept beside it, at least.
_SPANS = ((_HOUR, 6 * _HOUR), (_DAY, 7 * _DAY), (_MONTH, 62 * _DAY))
#: Blocks of rows of each length, at most.
_MOST_OF_A_LENGTH = 8


@dataclass(frozen=True)
class Ladder:
    """The spans that blocks are joined to, and how long each is kept.

    every: the span of a new block, in seconds or rows. by_rows: whether time is the number of rows. keep: the age at which
    blocks are dropped, None for never. least: the age below which new blocks are never joined.
    """

    every: float
    by_rows: bool
    keep: float | None = None
    least: float = 0.0

    def aged(self, blocks: Sequence[Block], now: float, cuts: Sequence[float]) -> tuple[Block, ...]:
        """Return closed blocks, in the order of time, as they are held at a time; cuts: moments that none is joined across."""
        kept = tuple(each for each in blocks if self.keep is None or each.end > now - self.keep)
        return self._paired(kept, cuts) if self.by_rows else self._by_calendar(kept, now, cuts)

    def _by_calendar(self, blocks: tuple[Block, ...], now: float, cuts: Sequence[float]) -> tuple[Block, ...]:
        shorter = self.every
        for span, age in _SPANS:
            if span <= shorter or (span < _MONTH and span % shorter):
                continue
            blocks = _grouped(blocks, shorter, span, now - max(age, self.least if shorter == self.every else 0.0), cuts)
            shorter = span
        return blocks

    def _paired(self, blocks: tuple[Block, ...], cuts: Sequence[float]) -> tuple[Block, ...]:
        """Join the two oldest neighbours of a length while there are more than eight of it."""
        found, length = list(blocks), self.every
        while any(each.end - each.start >= length for each in found):
            places = [place for place, each in enumerate(found) if each.end - each.start == length]
            pairs = [left for left, right in pairwise(places) if right == left + 1 and found[right].start not in cuts]
            if len(places) > _MOST_OF_A_LENGTH and pairs:
                found[pairs[0] : pairs[0] + 2] = [joined(found[pairs[0] : pairs[0] + 2])]
                continue
            length *= 2
        return tuple(found)


def ladder_of(every: float, *, by_rows: bool, keep: float | None, season: float | None) -> Ladder:
    """Return the ladder for blocks of a span. With a season, new blocks are kept for two of them, to compare phases by."""
    return Ladder(every, by_rows, keep, 0.0 if season is None else 2.0 * season)


def _grouped(blocks: tuple[Block, ...], shorter: float, span: float, before: float, cuts: Sequence[float]) -> tuple[Block, ...]:
    """Join blocks of a span or less that lie in one longer span which has ended before a moment."""
    oldest = next((each for each in blocks if each.end - each.start <= shorter), None)
    if oldest is None or _end_of(oldest.start, span) > before:
        return blocks
    out: list[Block] = []
    group: list[Block] = []
    ends = float("-inf")
    for each in blocks:
        own = _end_of(each.start, span) if each.end - each.start <= shorter else float("inf")
        if group and (own != ends or each.start in cuts):
            out.append(joined(group))
            group = []
        if own <= before:
            group.append(each)
            ends = own
        else:
            out.append(each)
    return (*out, joined(group)) if group else tuple(out)


def _end_of(time: float, span: float) -> float:
    """Return the end of the hour, day or month (of the calendar, in UTC) that a time lies in."""
    if span < _MONTH:
        return (time // span + 1.0) * span
    day = datetime.fromtimestamp(time, UTC)
    after = (day.year + day.month // 12, day.month % 12 + 1)
    return datetime(*after, 1, tzinfo=UTC).timestamp()
