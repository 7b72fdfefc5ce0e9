"""What the alarms on a stream are worth: how late they are, what they miss, and how many are raised elsewhere."""

from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Score", "score"]


class Score(NamedTuple):
    """Rows from each change to its alarm, 1 for the first row after it and None without one; and the alarms for no change."""

    delays: list[int | None]
    elsewhere: int


def score(alarms: Sequence[int], changes: Sequence[int], horizon: int, end: int) -> Score:
    """Return the score of the first `end` rows of a stream.

    The first alarm in the `horizon` rows after a change is for it, and every other one is for none. Changes whose horizon ends
    later are left out, with their alarms.
    """
    delays: list[int | None] = []
    counted = 0
    for change in changes:
        inside = [alarm for alarm in alarms if change <= alarm < change + horizon]
        if change + horizon <= end:
            delays.append(inside[0] - change + 1 if inside else None)
            counted += bool(inside)
        else:
            counted += len(inside)
    return Score(delays, len(alarms) - counted)
