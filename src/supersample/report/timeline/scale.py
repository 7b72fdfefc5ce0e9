"""Where moments stand on the time axis of the page.

Old blocks are joined to hours, days and months, so that a year has as many blocks of hours in its last week as there are days
before. On an even axis the last week, which people look at first, would have a fiftieth of the width. So a block is as wide as
the square root of its length: hours, days and months have about a third of a year each. Blocks of one length make an even axis.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from supersample._typing import Floats

__all__ = ["TimeScale", "scale_of"]

#: All gaps without rows take at most this share of the axis.
_MOST_GAPS = 0.25


@dataclass(frozen=True)
class TimeScale:
    """Moments in increasing order, and their places from 0 to 1; between them, and beyond, the axis is even.

    is_even: whether places grow with time everywhere alike.
    """

    times: Floats
    places: Floats
    is_even: bool

    def place(self, times: Floats) -> Floats:
        """Return the places of moments; those before the first and after the last stand at the ends."""
        return np.interp(times, self.times, self.places)

    def at(self, time: float) -> float:
        """Return the place of one moment."""
        return float(self.place(np.array([time]))[0])


def scale_of(spans: Sequence[tuple[float, float]]) -> TimeScale:
    """Return the axis of spans in the order of time, which do not overlap.

    >>> scale_of([(0.0, 4.0), (4.0, 5.0), (5.0, 6.0)]).places.tolist()
    [0.0, 0.5, 0.75, 1.0]
    """
    lengths = np.array([end - start for start, end in spans])
    widths = np.sqrt(lengths / lengths.min())
    times, steps, gaps = [spans[0][0]], [], []
    for place, (start, end) in enumerate(spans):
        if start > times[-1]:
            # A gap counts as blocks of the length before it.
            steps.append((start - times[-1]) / lengths[place - 1] * widths[place - 1])
            gaps.append(len(steps) - 1)
            times.append(start)
        steps.append(float(widths[place]))
        times.append(end)
    sizes = np.array(steps)
    most = _MOST_GAPS / (1.0 - _MOST_GAPS) * float(widths.sum())
    total = float(sizes[gaps].sum()) if gaps else 0.0
    shortened = total > most
    if shortened:
        sizes[gaps] *= most / total
    places = np.concatenate([[0.0], np.cumsum(sizes) / sizes.sum()])
    return TimeScale(np.array(times), places, is_even=not shortened and bool(np.ptp(lengths) <= 1e-9 * lengths.max()))
