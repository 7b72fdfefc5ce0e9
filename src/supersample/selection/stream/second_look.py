"""The second look: when a result is read, rows that were rejected early in the stream are considered again.

It works on the rows in the state and does not change the state.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from supersample._random import Seed
from supersample._typing import Floats, Indices
from supersample.embedding import moments
from supersample.kernels import Kernel
from supersample.kernels.singles import SingleGram
from supersample.selection.greedy import greedy_criticisms
from supersample.selection.pool import ExactPool, embedded, embedded_own, kernel_block
from supersample.selection.stream import background
from supersample.selection.stream.anneal import anneal, low_rank
from supersample.selection.stream.calibration import Target
from supersample.selection.stream.criticisms import COPY, Criticisms
from supersample.selection.stream.exchange import exchange
from supersample.selection.stream.plan import Plan
from supersample.selection.stream.polish import polish
from supersample.selection.stream.relevance import Relevance
from supersample.selection.stream.reservoir import Reservoir
from supersample.selection.stream.rows import Rows
from supersample.selection.stream.spaced import spaced
from supersample.selection.stream.state import Stream

__all__ = ["FEW", "SecondLook", "Sought", "exchanged", "second_look", "target_rows"]

#: Up to this many points all kernel values between them and the pool are held; of more, they are computed block by block.
FEW = 300
#: What a kernel value costs beside a product of coordinates, in such products. Most of these for the swaps of one round, and
#: for E k(x, .) at the pool: each some seconds of one core (docs/decisions/033).
_OVERHEAD, _MOST_FOR_SWAPS, _MOST_FOR_PULL = 50, 1.2e11, 4e11
#: Rows of the background that stand for the stream: for each point, at least, and at most if there are fewer points.
_TARGET_FOR_EACH, _LEAST_TARGET, _MOST_TARGET = 4, 10_000, 20_000
_MOST_ROUNDS = 5
#: Where more than this share of the variance is between parts of the stream, its end differs from its beginning; another start
#: needs a background of at least so many times the points.
_SORTED, _ENOUGH = 0.1, 2


class SecondLook(NamedTuple):
    """Prototypes, criticisms by their witness and log det, and E k(x, .) at the rows of the target.

    exact: whether that is by the kernel; else it is by features.
    """

    rows: Rows
    criticisms: Rows
    witness: Floats
    pull: Floats
    exact: bool


def target_rows(state: Stream) -> int:
    """Return how many rows of the background stand for the stream: all, if they are all rows, or else some for each point.

    Fewer, if that takes too many kernel values.
    """
    sample, size = state.matched[0], state.settings.n_prototypes
    complete = not np.isfinite(sample.next_mantissa)
    wanted = len(sample.rows) if complete else max(min(_TARGET_FOR_EACH * size, _MOST_TARGET), size)
    most = int(_MOST_FOR_PULL / ((len(sample.rows) + size) * (state.width + _OVERHEAD)))
    return max(_LEAST_TARGET, min(wanted, most))


def second_look(state: Stream, rows: Rows, more: Rows, target: Target) -> SecondLook:
    """Improve prototypes by swaps with the background (and `more` rows), and choose criticisms from all of these.

    The target is rows of the background, weighted so that their mean features are those of the whole stream. Discrepancy and
    witness are measured by the exact kernel, so that the features of the stream do not limit the selection. The background must
    be settled. If that takes too many kernel values, the background is offered to the reservoir by the stream's own step.
    """
    count, plan = state.settings.n_held_criticisms, state.fixed_plan
    sample = state.background.rows if state.near is None else _like_target(state.near, state.settings.n_background)
    goal = sample.take(slice(0, len(target.weights)))
    sample = sample.without(state.before)
    few, others = len(rows) <= FEW, Rows.joined(more, sample)
    if _starts_anew(state) and len(sample) >= len(rows):
        others = Rows.joined(rows, others)
        start = sample.take(slice(0, len(rows)))
        rows = exchanged(state, start, sample.take(slice(len(rows), None))).rows if few else start
    _, unique = np.unique(np.concatenate([rows.positions, others.positions]), return_index=True)
    unique = np.sort(unique[unique >= len(rows)])
    if not few:
        room = int(_MOST_FOR_SWAPS / (len(rows) * (state.width + _OVERHEAD))) - len(rows)
        if room < len(rows) and state.settings.min_distance is None:
            return _by_features(state, plan, rows, Rows.joined(rows, others).take(unique), more, target, count)
        # The rows of the target come first of the sample, if they are rows of the stream.
        unique = unique[: max(room, len(others) - len(sample) + len(goal) if state.aim is None else len(rows))]
    pool = Rows.joined(rows, others).take(np.concatenate([np.arange(len(rows)), unique]))
    within = state.aim is None and bool(np.isin(goal.positions, pool.positions).all())
    places = _places(pool, goal) if within else None
    sought = Sought(plan.kernel, target, places, state.before)
    improve = len(rows) == state.settings.n_prototypes and state.settings.min_distance is None
    look = _few if few else _many
    chosen, pull = look(sought, pool.points, len(rows), state.settings.seed.child("second look"), improve)
    if state.settings.min_distance is not None:
        size, least = state.settings.n_prototypes, state.settings.min_distance
        wanted = partial(sought.lacking, pool.points, pull=pull)
        chosen = spaced(plan.kernel, pool.points, wanted, size, least, state.before)
    prototypes = pool.take(chosen)
    there = np.empty(0) if state.aim is not None else _pull_within(plan.kernel, target, pull, places)
    if count == 0 or len(chosen) == 0:
        return SecondLook(prototypes, pool.take(np.empty(0, dtype=np.int64)), np.empty(0), there, exact=True)
    witness = pull - embedded(plan.kernel, pool.points, prototypes.points, np.full(len(chosen), 1.0 / len(chosen)))
    return SecondLook(prototypes, *_criticisms(plan.kernel, prototypes, pool, witness, count, more), there, exact=True)


def _pull_within(kernel: Kernel, target: Target, pull: Floats, places: Indices | None) -> Floats:
    """Return E k(x, .) at the rows of the target, which are rows of the stream."""
    return embedded_own(kernel, target.points, target.weights) if places is None else pull[places]


class Sought(NamedTuple):
    """What points of a pool are to match.

    places: where the rows of the target stand in the pool; None if they are not rows of it. before: points chosen before.
    """

    kernel: Kernel
    target: Target
    places: Indices | None
    before: Floats

    def lacking(self, points: Floats, size: int, pull: Floats) -> Floats:
        """Return ((M + c) E k(x, target) - sum of c k(x, b)) / M: the pull on M points beside c that were chosen before."""
        count = len(self.before)
        if count == 0:
            return pull
        held = embedded(self.kernel, points, self.before, np.ones(count))
        return np.asarray(((size + count) * pull - held) / size)


def _few(sought: Sought, points: Floats, size: int, seed: Seed, improve: bool) -> tuple[Indices, Floats]:
    """Return the chosen points of a pool that begins with those held, and E k(x, target) at all of them."""
    kernel, target = sought.kernel, sought.target
    candidates, chosen = ExactPool(kernel, points), np.arange(size)
    if sought.places is None:
        pull = embedded(kernel, points, target.points, target.weights)
    else:
        pull = candidates.embed(sought.places, target.weights)
    if improve:
        annealed = _annealed(sought, points, size, seed)
        start = chosen if annealed is None else annealed
        chosen = polish(candidates, sought.lacking(points, size, pull), start, seed.generator())
    return chosen, pull


def _many(sought: Sought, points: Floats, size: int, seed: Seed, improve: bool) -> tuple[Indices, Floats]:
    """Return the same, with kernel values in float32 that are computed when they are needed."""
    gram, chosen, target = SingleGram(sought.kernel, points), np.arange(size), sought.target
    if sought.places is None:
        pull = embedded(sought.kernel, points, target.points, target.weights)
    else:
        pull, others = np.empty(len(points)), np.setdiff1d(np.arange(len(points)), sought.places)
        pull[sought.places] = gram.embed_own(sought.places, target.weights)
        pull[others] = gram.embed(sought.places, target.weights, others)
    if improve:
        annealed = _annealed(sought, points, size, seed)
        chosen = exchange(gram, sought.lacking(points, size, pull), chosen if annealed is None else annealed)
    return chosen, pull


def _annealed(sought: Sought, points: Floats, size: int, seed: Seed) -> Indices | None:
    """Return points to start the descent from, if the kernel has a low rank on the pool and on what it is to match."""
    count, target, before = points.shape[0], sought.target, sought.before
    if count == size:
        return None
    outside = before if sought.places is not None else np.concatenate([target.points, before])
    found = low_rank(sought.kernel, np.concatenate([points, outside]) if len(outside) else points, size, seed.child("low rank"))
    if found is None:
        return None
    rows, beyond = found.features[:count], found.features[count:].astype(np.float64)
    there = beyond[: len(target.points)] if sought.places is None else found.features[sought.places].astype(np.float64)
    mean = target.weights @ there
    if len(before):
        mean = ((size + len(before)) * mean - beyond[len(beyond) - len(before) :].sum(axis=0)) / size
    return anneal(found._replace(features=rows), mean, np.arange(size), seed.child("anneal"))


def _like_target(near: Relevance, size: int) -> Rows:
    """Return the rows of the stream that are like the target."""
    return background.settled(near.sample, size).rows


def _starts_anew(state: Stream) -> bool:
    """Return whether the swaps start from a random sample, and not from the stream's reservoir.

    Late rows of the stream find a full reservoir. Where they differ from all rows before, too few get in, and swaps lower the
    MMD but do not bring the tail back (docs/decisions/005).
    """
    enough = len(state.background.rows) >= _ENOUGH * len(state.reservoir.rows) and state.aim is None
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


def _by_features(state: Stream, plan: Plan, rows: Rows, others: Rows, more: Rows, target: Target, count: int) -> SecondLook:
    """Offer the background by the stream's own step, and score the criticisms by features."""
    reservoir = exchanged(state, rows, others)
    displaced = rows.take(np.flatnonzero(~np.isin(rows.positions, reservoir.rows.positions)))
    pool = Rows.joined(displaced, others)
    pull = np.asarray(plan.feature_map.transform(target.points) @ target.mean, dtype=np.float64)
    if count == 0 or len(pool) == 0:
        return SecondLook(reservoir.rows, pool.take(np.empty(0, dtype=np.int64)), np.empty(0), pull, exact=False)
    mean_gap = state.goal() - reservoir.features.mean(axis=0, dtype=np.float64)
    witness = plan.feature_map.transform(pool.points) @ mean_gap
    found = _criticisms(plan.kernel, reservoir.rows, pool, np.asarray(witness, dtype=np.float64), count, more)
    return SecondLook(reservoir.rows, *found, pull, exact=False)


def exchanged(state: Stream, rows: Rows, others: Rows) -> Reservoir:
    """Return a reservoir of `rows`, offered the others by the stream's own step until none enters. O(D) for each pair."""
    assert state.plan is not None
    transform = state.plan.feature_map.transform
    reservoir = Reservoir.empty(len(rows), state.width, state.plan.feature_map.n_features)
    reservoir.fill(rows, transform(rows.points).astype(np.float32))
    seed = state.settings.seed.child("second look")
    features = transform(others.points).astype(np.float32)
    norms = moments.squared_norms(features).astype(np.float32)
    mean = state.goal()
    for _ in range(_MOST_ROUNDS):
        free = np.flatnonzero(~np.isin(others.positions, reservoir.rows.positions))
        offered = reservoir.offer(
            others.take(free), features[free], norms[free], mean, state.n_used, use_tree=state.settings.use_tree, seed=seed
        )
        if offered.taken.size == 0:
            break
    return reservoir
