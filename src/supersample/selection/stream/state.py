"""The state of a stream: plain data, sufficient to continue."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from supersample._checks import FURTHEST, MOST, require
from supersample._stored import INTEGER, instance_of, optional, stored
from supersample._typing import Indices
from supersample.embedding.decay import Decay
from supersample.embedding.moments import Moments
from supersample.selection.stream.background import Background
from supersample.selection.stream.criticisms import Criticisms
from supersample.selection.stream.dependence import Dependence
from supersample.selection.stream.plan import CHUNK, WARM_UP, Plan, Settings
from supersample.selection.stream.rare import Rare
from supersample.selection.stream.reservoir import Reservoir
from supersample.selection.stream.rows import Rows

__all__ = ["Stream"]


@stored(
    "Stream",
    {
        "settings": instance_of(Settings),
        "width": INTEGER,
        "plan": optional(instance_of(Plan)),
        "n_seen": INTEGER,
        "n_used": INTEGER,
        "chunks": INTEGER,
        "pending": instance_of(Rows),
        "moments": instance_of(Moments),
        "held_out": instance_of(Moments),
        "reservoir": instance_of(Reservoir),
        "criticisms": instance_of(Criticisms),
        "background": instance_of(Background),
        "rare": optional(instance_of(Rare)),
        "dependence": optional(instance_of(Dependence)),
        "decay": optional(instance_of(Decay)),
    },
    make="restored",
    absent={"rare": None, "dependence": None},
    later={"decay": None},
)
@dataclass(frozen=True)
class Stream:
    """The complete state of a stream. Until the warm-up is over there is no plan, and all rows wait in `pending`.

    n_seen counts all rows, n_used the processed rows of positive weight, and chunks the processed chunks. Rows of low density
    are kept in `rare`, or else `criticisms` by their witness: see Settings.regularizer. dependence: None if it was not
    measured, as in files of earlier formats. decay: the clock by which old rows lose weight; None if they keep it.
    """

    settings: Settings
    width: int
    plan: Plan | None
    n_seen: int
    n_used: int
    chunks: int
    pending: Rows
    moments: Moments
    held_out: Moments
    reservoir: Reservoir
    criticisms: Criticisms
    background: Background
    rare: Rare
    dependence: Dependence | None = None
    decay: Decay | None = None

    @classmethod
    def restored(cls, *, criticisms: Criticisms, rare: Rare | None, settings: Settings, **fields: Any) -> "Stream":
        """Return a stream from its stored fields; formats 1 and 2 have criticisms, which now are candidates for rare rows."""
        if rare is None:
            first = np.argsort(criticisms.rows.positions)[: settings.n_rare]
            rare = Rare(settings.n_rare, criticisms.rows.take(first), np.zeros(first.size))  # scored with the next rows
            criticisms = Criticisms.empty(0, criticisms.rows.points.shape[1], criticisms.features.shape[1])
        return cls(criticisms=criticisms, rare=rare, settings=settings, **fields)

    @property
    def fixed_plan(self) -> Plan:
        """The plan of a stream whose warm-up is over."""
        assert self.plan is not None
        return self.plan

    def check(self, positions: Indices) -> None:
        """Refuse a stream that cannot be continued; `positions` are those of all its rows."""
        counts = (self.n_used, self.n_seen - self.n_used - len(self.pending), self.chunks)
        require(
            all(each >= 0 for each in counts) and max(self.n_seen, self.chunks) < MOST, "the numbers of rows are impossible"
        )
        require(self.n_seen > (int(positions[-1]) if positions.size else -1), "rows stand beyond the end of the stream")
        require(len(self.pending) < (WARM_UP if self.plan is None else CHUNK), "more rows wait than can")
        clock, asked = self.decay, self.settings
        same = clock is None if asked.half_life is None else clock is not None and clock.by_time == asked.by_time
        require(same and (clock is None or clock.half_life == asked.half_life), "clock and settings differ")
        if clock is not None:
            clock.check()
        sample, reservoir, criticisms = self.background, self.reservoir, self.criticisms
        require(reservoir.size == self.settings.n_prototypes, "the reservoir has another size than was asked for")
        require(criticisms.size == self.settings.n_held_criticisms, "the criticisms have another number than was asked for")
        require(self.rare.size == self.settings.n_rare, "the rare rows have another number than is kept")
        parts = (
            self.pending,
            reservoir.rows,
            criticisms.rows,
            self.rare.rows,
            *(part.rows for part in (sample.kept, *sample.waiting)),
        )
        for rows in parts:
            rows.check(self.width)
        n_features, n_held_out = (
            (0, 0) if self.plan is None else (self.plan.feature_map.n_features, self.plan.held_out.n_features)
        )
        started = self.plan is not None and self.n_used > 0
        require(started == (self.n_used > 0) == (len(reservoir.rows) > 0), "rows were taken in, and none is held")
        require(
            started == any(len(part.rows) > 0 for part in (sample.kept, *sample.waiting)), "the background sample is missing"
        )
        require(started or len(criticisms.rows) + len(self.rare.rows) == 0, "there are criticisms of nothing")
        self.rare.check()
        kernel = None if self.plan is None else self.plan.kernel
        largest = 1.0 if kernel is None else FURTHEST * float(np.sqrt(kernel.largest))
        self.moments.check(n_features, self.n_used, largest)
        self.held_out.check(n_held_out, self.n_used, largest)
        if self.dependence is not None:
            self.dependence.check(n_features, self.width, self.n_used, largest)
        sample.check()
        reservoir.check(n_features, kernel)
        criticisms.check(n_features, kernel)
