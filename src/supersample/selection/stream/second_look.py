"""The second look: when a result is read, rows that were rejected early in the stream are considered again.

It works on the rows in the state and does not change the state.
"""

from typing import NamedTuple

import numpy as np

from supersample._typing import Floats, Indices
from supersample.embedding import moments
from supersample.kernels import Kernel
from supersample.selection.greedy import greedy_criticisms
from supersample.selection.pool import ExactPool, kernel_block
from supersample.selection.stream.calibration import Target
from supersample.selection.stream.criticisms import COPY, Criticisms
from supersample.selection.stream.plan import Plan
from supersample.selection.stream.polish import polish
from supersample.selection.stream.reservoir import Reservoir
from supersample.selection.stream.rows import Rows
from supersample.selection.stream.state import Stream

__all__ = ["Looked", "exchanged", "second_look"]

#: Largest kernel matrix between the selected points and the pool, in elements, for an exact second look.
_MOST_EXACT = 1 << 26
_MOST_ROUNDS = 5
#: Where more than this share of the variance is between parts of the stream, its end differs from its beginning; another start
#: needs a background of at least so many times the points.
_SORTED, _ENOUGH = 0.1, 2


class Looked(NamedTuple):
    """Prototypes, criticisms by their witness and log det, and E k(x, .) at the rows of the background.

    exact: whether that is by the kernel; else it is by features.
    """

    rows: Rows
    criticisms: Rows
    witness: Floats
    pull: Floats
    exact: bool


def second_look(state: Stream, rows: Rows, more: Rows, target: Target) -> Looked:
    """Improve prototypes by swaps with the background (and `more` rows), and choose criticisms from all of these.

    The target is the background itself, weighted so that its mean features are those of the whole stream. Discrepancy and
    witness are measured by the exact kernel, so that the features of the stream do not limit the selection. The background must
    be settled. If the kernel matrix is too large, the background is offered to the reservoir by the stream's own step.
    """
    plan = state.plan
    assert plan is not None
    count = state.settings.n_held_criticisms
    sample = state.background.rows
    others = Rows.joined(more, sample)
    if _starts_anew(state):
        others = Rows.joined(rows, others)
        rows = exchanged(state, sample.take(slice(0, len(rows))), sample.take(slice(len(rows), None))).rows
    _, unique = np.unique(np.concatenate([rows.positions, others.positions]), return_index=True)
    pool = Rows.joined(rows, others).take(np.concatenate([np.arange(len(rows)), np.sort(unique[unique >= len(rows)])]))
    if len(rows) * len(pool) > _MOST_EXACT:
        return _by_features(state, plan, rows, pool.take(slice(len(rows), None)), more, target, count)
    candidates = ExactPool(plan.kernel, pool.points)
    chosen = np.arange(len(rows))
    places = _places(pool, sample)
    pull = candidates.embed(places, target.weights)
    if len(rows) == state.settings.n_prototypes:
        chosen = polish(candidates, pull, chosen, state.settings.seed.child("second look").generator())
    prototypes = pool.take(chosen)
    if count == 0:
        return Looked(prototypes, pool.take(np.empty(0, dtype=np.int64)), np.empty(0), pull[places], exact=True)
    witness = pull - candidates.embed(chosen, np.full(len(chosen), 1.0 / len(chosen)))
    return Looked(prototypes, *_criticisms(plan.kernel, prototypes, pool, witness, count, more), pull[places], exact=True)


def _starts_anew(state: Stream) -> bool:
    """Return whether the swaps start from a reservoir of the background, a random sample, and not from the stream's.

    Late rows of the stream find a full reservoir. Where they are unlike all others, too few get in, and the swaps mend the MMD
    but not the tail (docs/decisions/005).
    """
    enough = len(state.background.rows) >= _ENOUGH * len(state.reservoir.rows)
    return enough and state.dependence is not None and state.dependence.drift() > _SORTED


def _criticisms(kernel: Kernel, prototypes: Rows, pool: Rows, witness: Floats, count: int, held: Rows) -> tuple[Rows, Floats]:
    """Choose criticisms from the pool: the better of a greedy choice and those held, improved by exchange until none enters."""

    def block(some: Indices, others: Indices) -> Floats:
        return kernel_block(kernel, pool.points[some], pool.points[others])

    free = ~np.isin(pool.positions, prototypes.positions)
    size = np.abs(witness)
    greedy = greedy_criticisms(block, witness, kernel.diagonal(pool.points), count, free, copy=COPY)
    starts = [greedy]
    kept = np.flatnonzero(free & np.isin(pool.positions, held.positions))
    if kept.size == greedy.size:
        starts.append(kept)
    blank = np.empty((len(pool), 0), dtype=np.float32)  # features are not needed: the witness values are known
    sets = [Criticisms.of(start.size, pool.take(start), blank[start], kernel) for start in starts]
    sizes = [size[start] for start in starts]
    best = int(np.argmax([each.objective(mine) for each, mine in zip(sets, sizes, strict=True)]))
    chosen, mine = sets[best], sizes[best]
    candidates = np.flatnonzero(free)
    if greedy.size == count > 0:
        for _ in range(_MOST_ROUNDS):
            if chosen.exchange(kernel, pool.take(candidates), blank[candidates], size[candidates], mine) == 0:
                break
    found = _places(pool, chosen.rows)
    found = found[np.argsort(-size[found], kind="stable")]
    return pool.take(found), witness[found]


def _places(pool: Rows, rows: Rows) -> Indices:
    """Return the places in the pool of some of its rows."""
    order = np.argsort(pool.positions)
    return np.asarray(order[np.searchsorted(pool.positions[order], rows.positions)], dtype=np.int64)


def _by_features(state: Stream, plan: Plan, rows: Rows, others: Rows, more: Rows, target: Target, count: int) -> Looked:
    """Offer the background by the stream's own step, and score the criticisms by features."""
    reservoir = exchanged(state, rows, others)
    displaced = rows.take(np.flatnonzero(~np.isin(rows.positions, reservoir.rows.positions)))
    pool = Rows.joined(displaced, others)
    pull = np.asarray(target.features @ target.mean, dtype=np.float64)
    if count == 0 or len(pool) == 0:
        return Looked(reservoir.rows, pool.take(np.empty(0, dtype=np.int64)), np.empty(0), pull, exact=False)
    mean_gap = state.moments.mean() - reservoir.features.mean(axis=0, dtype=np.float64)
    witness = plan.feature_map.transform(pool.points) @ mean_gap
    found = _criticisms(plan.kernel, reservoir.rows, pool, np.asarray(witness, dtype=np.float64), count, more)
    return Looked(reservoir.rows, *found, pull, exact=False)


def exchanged(state: Stream, rows: Rows, others: Rows) -> Reservoir:
    """Return a reservoir of `rows`, offered the others by the stream's own step until none enters. O(D) for each pair."""
    assert state.plan is not None
    transform = state.plan.feature_map.transform
    reservoir = Reservoir.empty(len(rows), state.width, state.plan.feature_map.n_features)
    reservoir.fill(rows, transform(rows.points).astype(np.float32))
    seed = state.settings.seed.child("second look")
    features = transform(others.points).astype(np.float32)
    norms = moments.squared_norms(features).astype(np.float32)
    mean = state.moments.mean()
    for _ in range(_MOST_ROUNDS):
        free = np.flatnonzero(~np.isin(others.positions, reservoir.rows.positions))
        offered = reservoir.offer(others.take(free), features[free], norms[free], mean, state.n_used, use_tree=False, seed=seed)
        if offered.swaps == 0:
            break
    return reservoir
