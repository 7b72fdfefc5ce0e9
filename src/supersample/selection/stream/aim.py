"""The target of a stream that is to match another distribution: its rows, mean features and held-out mean features."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from supersample._checks import MOST, require
from supersample._stored import FLOATS, INDICES, INTEGER, NUMBER, instance_of, stored
from supersample._threads import cut, one_blas_thread
from supersample._typing import Floats, Indices
from supersample._validation import check_points
from supersample.embedding import MeanEmbedding, moments
from supersample.embedding.moments import Moments, scale_weights
from supersample.errors import InputTypeError, MismatchError
from supersample.measures import Empirical, Measure
from supersample.selection.stream import background
from supersample.selection.stream.background import Background, Timed
from supersample.selection.stream.plan import CHUNK, WARM_UP, Plan, Settings, check_settings, make_plan
from supersample.selection.stream.rows import Rows

__all__ = ["Aim", "aim_at", "rows_of_target", "same_aim"]

#: Draws that stand for a measure without rows of its own.
_DRAWS = 20_000


@stored(
    "Aim",
    {
        "points": FLOATS, "mantissas": FLOATS, "exponents": INDICES, "times": FLOATS, "time_exponents": INDICES,
        "next_mantissa": NUMBER, "next_exponent": INTEGER, "moments": instance_of(Moments), "held_out": instance_of(Moments),
    },
    make="restored",
)  # fmt: skip
@dataclass(frozen=True)
class Aim:
    """The target of a stream: what a stream over its rows would hold. Its rows are not rows of the stream that it is for.

    sample: a settled random sample of its rows, in proportion to their weights. moments, held_out: of all of them.
    """

    sample: Background
    moments: Moments
    held_out: Moments

    @property
    def points(self) -> Floats:
        """The rows of the sample."""
        return self.sample.rows.points

    @property
    def mantissas(self) -> Floats:
        """Their weights."""
        return self.sample.rows.mantissas

    @property
    def exponents(self) -> Indices:
        """The exponents of these."""
        return self.sample.rows.exponents

    @property
    def times(self) -> Floats:
        """The times that they were drawn by."""
        return self.sample.kept.mantissas

    @property
    def time_exponents(self) -> Indices:
        """The exponents of these."""
        return self.sample.kept.exponents

    @property
    def next_mantissa(self) -> float:
        """The smallest time left out."""
        return self.sample.next_mantissa

    @property
    def next_exponent(self) -> int:
        """The exponent of it."""
        return self.sample.next_exponent

    @property
    def n_rows(self) -> int:
        """How many rows of positive weight the target has."""
        return self.moments.n_seen

    @classmethod
    def restored(
        cls, *, points: Floats, mantissas: Floats, exponents: Indices, times: Floats, time_exponents: Indices,
        next_mantissa: float, next_exponent: int, **sums: Any,
    ) -> "Aim":  # fmt: skip
        """Return a target from its stored fields."""
        require(points.ndim == 2, "the target has no rows")
        rows = Rows(points, np.arange(len(points), dtype=np.int64), mantissas, exponents)
        return cls(Background(Timed(rows, times, time_exponents), next_mantissa, next_exponent), **sums)

    @classmethod
    def of_stream(cls, sample: Background, sums: Moments, held_out: Moments) -> "Aim":
        """Return the rows that a stream has seen, as it holds them, for the target of another."""
        rows = replace(sample.rows, positions=np.arange(len(sample.rows), dtype=np.int64))
        return cls(replace(sample, kept=sample.kept._replace(rows=rows)), sums, held_out)

    def check(self, plan: Plan, width: int, largest: float) -> None:
        """Refuse a target that no rows can have."""
        rows = self.sample.rows
        rows.check(width)
        require(0 < len(rows) <= self.n_rows < MOST and bool(np.isfinite(rows.points).all()), "the target has impossible rows")
        self.sample.check()
        self.moments.check(plan.feature_map.n_features, self.n_rows, largest)
        self.held_out.check(plan.held_out.n_features, self.n_rows, largest)


def rows_of_target(target: Any, width: int, settings: Settings) -> Rows:
    """Return a target's checked rows, with their weights: its own, or draws from it."""
    if isinstance(target, MeanEmbedding):
        raise InputTypeError(
            "target must have rows, by which the MMD is measured, got a MeanEmbedding, which has none; pass the rows that it "
            "was made of, a Summary of them, or a measure"
        )
    if isinstance(target, str | Path):
        raise InputTypeError(
            f"target must be rows, a measure or a Summary, got {type(target).__name__}; for rows in a file use "
            f"summarize(..., target={str(target)!r})"
        )
    weights = None
    if isinstance(target, Measure):
        if target.dimension != width:
            raise MismatchError(f"target must have the {width} columns of X, got a {target!r}; pass the same columns of both")
        if isinstance(target, Empirical):
            target, weights = target.points, target.weights
        else:
            target = target.sample(_DRAWS, settings.seed.child("target").child("draws").sequence())
    points = check_points(target, "target", width=width).astype(np.float64)
    mantissas, exponents = scale_weights(np.ones(len(points)) if weights is None else weights)
    rows = Rows(points, np.arange(len(points), dtype=np.int64), mantissas, exponents)
    return rows.take(np.flatnonzero(mantissas > 0))


@one_blas_thread()
def aim_at(rows: Rows, settings: Settings) -> tuple[Plan, Aim]:
    """Return the plan that fits some rows, and these rows as a target. O(n (d D))."""
    width = rows.points.shape[1]
    check_settings(settings, width)
    seed = settings.seed.child("target")
    some = np.sort(seed.child("warm-up").generator().permutation(len(rows))[:WARM_UP])
    plan = make_plan(replace(settings, seed=seed), rows.take(some))
    sums, held_out = moments.init(plan.feature_map.n_features), moments.init(plan.held_out.n_features)
    sample = background.init(width)
    for place, part in enumerate(cut(len(rows), CHUNK)):
        chunk = rows.take(part)
        sums = moments.update(sums, plan.feature_map.transform(chunk.points), chunk.weights)
        nothing = np.zeros(len(chunk))
        held_out = moments.update(held_out, plan.held_out.transform(chunk.points), chunk.weights, norms=nothing)
        times = seed.child("background").child(place).generator().standard_exponential(len(chunk))
        sample = background.update(sample, chunk, settings.n_background, times)
    return plan, Aim.of_stream(background.settled(sample, settings.n_background), sums, held_out)


def same_aim(left: Aim | None, right: Aim | None) -> bool:
    """Return whether two streams match the same distribution, or both their own."""
    if left is None or right is None or left is right:
        return left is right
    return bool(np.array_equal(left.points, right.points) and np.array_equal(left.moments.sums(), right.moments.sums()))
