"""How much of a target the rows of a source can match at all."""

from dataclasses import dataclass

import numpy as np

from supersample._checks import FURTHEST, require
from supersample._stored import FLAG, INTEGER, NUMBER, stored
from supersample.selection.pool import embedded
from supersample.selection.stream import background
from supersample.selection.stream.calibration import target_of
from supersample.selection.stream.lifecycle import Stream
from supersample.selection.stream.prototype_weights import prototype_weights
from supersample.selection.stream.rows import Rows

__all__ = ["Reach", "reach_of"]

#: Rows of the target that stand for it, and that are looked at; rows of the source that are weighted to match it.
_TARGET, _ROWS, _WEIGHTED = 5000, 2000, 2000
#: Where the source gives less than this part of the mass that the target has near a row, the row is out of reach.
_LEAST = 0.5


@stored("Reach", {"n_rows": INTEGER, "weighted": FLAG, "source_mmd": NUMBER, "beyond": NUMBER, "looked_at": INTEGER})
@dataclass(frozen=True)
class Reach:
    """What a source has of a target.

    n_rows: rows of the target; weighted: whether they count differently. source_mmd: MMD between all rows of the source and the
    target, by held-out features. beyond: the share of the target that lies where `looked_at` rows of the source, weighted to
    match it as well as they can, give less than half of the mass that it has there, by the kernel.
    """

    n_rows: int
    weighted: bool
    source_mmd: float
    beyond: float
    looked_at: int

    def check(self, k0_root: float) -> None:
        """Refuse what no source and target can have."""
        require(self.n_rows > 0 and self.looked_at > 0, "the target has no rows")
        require(0.0 <= self.beyond <= 1.0, "the share of the target that is out of reach is impossible")
        require(0.0 <= self.source_mmd <= FURTHEST * k0_root, "the distance of the target is impossible")


def reach_of(state: Stream, chosen: Rows) -> Reach | None:
    """Return what a drained stream has of its target, beside the rows that were chosen; None if it has no target.

    O(rows^2 d) for some thousand rows.
    """
    aim, near, plan = state.aim, state.near, state.fixed_plan
    if aim is None or near is None:
        return None
    like = background.settled(near.sample, state.settings.n_background).rows
    both = np.concatenate([chosen.positions, like.positions])
    _, first = np.unique(both, return_index=True)
    points = np.concatenate([chosen.points, like.points])[np.sort(first)[: max(_WEIGHTED, len(chosen))]]
    sample = aim.sample.first(_TARGET)
    target, shares = target_of(sample, plan.feature_map, aim.moments.mean()), sample.shares()
    weights = prototype_weights(plan.kernel, points, target)
    rows, part = target.points[:_ROWS], shares[:_ROWS] / shares[:_ROWS].sum()
    there = embedded(plan.kernel, rows, target.points, target.weights)
    given = embedded(plan.kernel, rows, points, weights)
    gap = state.held_out.mean() - aim.held_out.mean()
    return Reach(
        n_rows=aim.n_rows,
        weighted=bool(shares.min() != shares.max()),
        source_mmd=float(np.sqrt(gap @ gap)),
        beyond=float(min(1.0, part[given < _LEAST * there].sum())),
        looked_at=len(points),
    )
