"""Evidence and volume along time: one value for each closed block, thinned to what a screen can show."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from supersample._typing import Floats
from supersample.history.timeline import Ticks
from supersample.report.timeline.scale import TimeScale
from supersample.report.timeline.spans import Span

__all__ = ["MOST_POINTS", "Overview", "Steps", "late_steps", "overview_of"]

#: Values along the axis.
MOST_POINTS = 800


@dataclass(frozen=True)
class Steps:
    """Values that hold from one place of the axis to another; NaN where there are none."""

    low: Floats
    high: Floats
    values: Floats


@dataclass(frozen=True)
class Overview:
    """What is drawn along the whole axis.

    evidence, volume: over the alarm threshold. rows: those of a block that came in time. n_together: how many
    blocks share a value of these, at most; of evidence it is the largest of theirs, of rows the mean.
    """

    evidence: Steps
    volume: Steps
    rows: Steps
    n_together: int


def overview_of(ticks: Ticks, every: float, scale: TimeScale, most: int = MOST_POINTS) -> Overview:
    """Return evidence and rows of all closed blocks that lie on the axis."""
    seen = (ticks.starts >= scale.times[0]) & (ticks.starts < scale.times[-1])
    starts = ticks.starts[seen]
    sizes, evidence, volume = ticks.sizes[seen], ticks.evidence[seen], ticks.volume[seen]
    low, high = scale.place(starts), scale.place(starts + every)
    step = max(1, -(-starts.size // most))
    edges = np.arange(0, starts.size, step)

    def steps(values: Floats, together: Callable[[Floats], float]) -> Steps:
        found = [together(values[first : first + step]) for first in edges]
        return Steps(low[edges], high[np.minimum(edges + step, starts.size) - 1], np.array(found))

    return Overview(
        steps(evidence, lambda part: float(part.max())),
        steps(volume, lambda part: float(part.max())),
        steps(sizes, lambda part: float(part.mean())),
        step,
    )


def late_steps(spans: Sequence[Span], scale: TimeScale, every: float) -> Steps:
    """Return the rows of a block that came late, on average over each span."""
    starts, ends = (np.array([getattr(each, name) for each in spans]) for name in ("start", "end"))
    late = np.array([each.late for each in spans]) * every / (ends - starts)
    return Steps(scale.place(starts), scale.place(ends), late)
