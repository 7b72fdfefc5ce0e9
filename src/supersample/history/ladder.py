"""How blocks are joined as they age: minutes into hours, hours into days, days into months; of numbers, twice and twice again.

What is joined depends on the clock and on the blocks alone. Blocks on two sides of a change are never joined.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from supersample._durations import UNITS
from supersample.history.block import Block, joined

__all__ = ["Ladder", "ladder_of"]

_HOUR, _DAY = UNITS["h"], UNITS["d"]
_MONTH = 31 * _DAY
#: Spans that blocks of time are joined to, with how long those of the span before are kept beside it, at least.
_SPANS = ((_HOUR, 6 * _HOUR), (_DAY, 7 * _DAY), (_MONTH, 62 * _DAY))
#: Blocks of numbers are joined in twos at this age, in their own length: then there are at most eight of each length.
_AGE = 6


@dataclass(frozen=True)
class Ladder:
    """The spans that blocks are joined to, and how long each is kept.

    every: the span of a new block. clock: whether times are dates and times, with a calendar; else they are numbers, or the
    number of rows. keep: the age at which blocks are dropped, None for never. least: the age below which blocks are never
    joined.
    """

    every: float
    clock: bool
    keep: float | None = None
    least: float = 0.0

    def aged(self, blocks: Sequence[Block], now: float, cuts: Sequence[float]) -> tuple[Block, ...]:
        """Return closed blocks, in the order of time, as they are held at a time; cuts: moments that none is joined across."""
        kept = tuple(each for each in blocks if self.keep is None or each.end > now - self.keep)
        shorter = self.every
        for span, age in self._spans(now - kept[0].start if kept else 0.0):
            kept = _grouped(kept, shorter, span, now - max(age, self.least), cuts, calendar=self.clock)
            shorter = span
        return kept

    def _spans(self, longest: float) -> Iterator[tuple[float, float]]:
        """Yield the spans that blocks are joined to, up to a length, and how long those of the span before are kept."""
        if self.clock:
            shorter = self.every
            for span, age in _SPANS:
                if span > shorter and (span == _MONTH or span % shorter == 0):
                    yield span, age
                    shorter = span
            return
        span = 2.0 * self.every
        while span < longest:
            yield span, _AGE * span / 2.0
            span *= 2.0


def ladder_of(every: float, *, clock: bool, keep: float | None, season: float | None) -> Ladder:
    """Return the ladder for blocks of a span. With a season, blocks are joined after two of them, to compare phases by."""
    return Ladder(every, clock, keep, 0.0 if season is None else 2.0 * season)


def _grouped(
    blocks: tuple[Block, ...], shorter: float, span: float, before: float, cuts: Sequence[float], *, calendar: bool
) -> tuple[Block, ...]:
    """Join blocks of a span or less that lie in one longer span which has ended before a moment."""
    oldest = next((each for each in blocks if each.end - each.start <= shorter), None)
    if oldest is None or _end_of(oldest.start, span, calendar=calendar) > before:
        return blocks
    out: list[Block] = []
    group: list[Block] = []
    ends = float("-inf")
    for each in blocks:
        fits = each.end - each.start <= shorter
        own = _end_of(each.start, span, calendar=calendar) if fits else float("inf")
        if group and (own != ends or each.start in cuts):
            out.append(joined(group))
            group = []
        if own <= before:
            group.append(each)
            ends = own
        else:
            out.append(each)
    return (*out, joined(group)) if group else tuple(out)


def _end_of(time: float, span: float, *, calendar: bool) -> float:
    """Return the end of the span that a time lies in; with a calendar, of the hour, day or month (in UTC)."""
    if span < _MONTH or not calendar:
        return (time // span + 1.0) * span
    day = datetime.fromtimestamp(time, UTC)
    after = (day.year + day.month // 12, day.month % 12 + 1)
    return datetime(*after, 1, tzinfo=UTC).timestamp()
