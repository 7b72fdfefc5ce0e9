"""The state of a stream: plain data, sufficient to continue."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from supersample._checks import FURTHEST, MOST, require, within
from supersample._stored import FLOATS, INTEGER, instance_of, optional, stored
from supersample._typing import Floats, Indices
from supersample.embedding.decay import Decay
from supersample.embedding.moments import Moments
from supersample.selection.stream.aim import Aim
from supersample.selection.stream.background import Background
from supersample.selection.stream.criticisms import Criticisms
from supersample.selection.stream.dependence import Dependence
from supersample.selection.stream.plan import CHUNK, WARM_UP, Plan, Settings
from supersample.selection.stream.rare import Rare
from supersample.selection.stream.relevance import Relevance
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
        "aim": optional(instance_of(Aim)),
        "near": optional(instance_of(Relevance)),
        "included": optional(FLOATS),
    },
    make="restored",
    absent={"rare": None, "dependence": None},
    later={"decay": None, "aim": None, "near": None, "included": None},
)
@dataclass(frozen=True)
class Stream:
    """The complete state of a stream. Until the warm-up is over there is no plan, and all rows wait in `pending`.

    n_seen counts all rows, n_used the processed rows of positive weight, and chunks the processed chunks. Rows of low density
    are kept in `rare`, or else `criticisms` by their witness: see Settings.regularizer. dependence: None if it was not
    measured, as in files of earlier formats. decay: the clock by which old rows lose weight; None if they keep it.
    aim: what the points are to match in place of the stream, and near: rows of the stream that are like it; None without one.
    included: the sum of the features of the points chosen before; None if there are none.
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
    aim: Aim | None = None
    near: Relevance | None = None
    included: Floats | None = None

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

    def goal(self, mean: Floats | None = None) -> Floats:
        """Return the mean features that the held points are to have: the target's, or else `mean`, that of the rows so far.

        Points chosen before count beside the M others, so these are to have what the former lack:
        ((M + c) mean - sum of c features) / M.
        """
        wanted = self.aim.moments.mean() if self.aim is not None else self.moments.mean() if mean is None else mean
        if self.included is None or self.settings.include is None:
            return wanted
        size, before = self.settings.n_prototypes, len(self.settings.include)
        return np.asarray(((size + before) * wanted - self.included) / size)

    @property
    def before(self) -> Floats:
        """The points chosen before."""
        return np.empty((0, self.width)) if self.settings.include is None else self.settings.include

    @property
    def matched(self) -> tuple[Background, Moments, Moments]:
        """What the points are to match: rows drawn from it, its mean features and its held-out mean features."""
        if self.aim is None:
            return self.background, self.moments, self.held_out
        return self.aim.sample, self.aim.moments, self.aim.held_out

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
        near = () if self.near is None else (self.near.sample.kept, *self.near.sample.waiting)
        require(reservoir.size == self.settings.n_prototypes, "the reservoir has another size than was asked for")
        require(criticisms.size == self.settings.n_held_criticisms, "the criticisms have another number than was asked for")
        require(self.rare.size == self.settings.n_rare, "the rare rows have another number than is kept")
        parts = (
            self.pending,
            reservoir.rows,
            criticisms.rows,
            self.rare.rows,
            *(part.rows for part in (sample.kept, *sample.waiting, *near)),
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
        self._check_aim(n_features, largest)
        reservoir.check(n_features, kernel)
        criticisms.check(n_features, kernel)

    def _check_aim(self, n_features: int, largest: float) -> None:
        """Refuse a target without its plan, and included points without their features."""
        require((self.aim is None) == (self.near is None), "a target and the rows that are like it belong together")
        if self.aim is not None and self.near is not None:
            require(self.plan is not None and self.decay is None, "the target has no features")
            self.aim.check(self.fixed_plan, self.width, largest)
            self.near.check(n_features)
        wanted = self.plan is not None and self.settings.include is not None
        require((self.included is not None) == wanted, "the included rows have no features")
        if self.included is not None and self.settings.include is not None:
            require(self.settings.include.shape[1] == self.width, "the included rows have another width")
            fits = self.included.shape == (n_features,) and within(self.included, len(self.settings.include) * largest)
            require(fits, "the included rows have impossible features")
