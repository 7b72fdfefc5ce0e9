"""The stream: one pass and fixed memory, M points whose mean embedding is near that of all rows seen.

It implements section 3 of Paige, Sejdinovic and Wood 2016.

State and pure functions: `init`, `update`, `finish`; `merge` is in `merging.py`. Rows are processed in chunks fixed by their
position in the stream, so the result does not depend on the batches; rows that do not fill a chunk wait in the state. Reading a
result works on a copy.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from supersample._random import Seed
from supersample._threads import ahead, cut, one_blas_thread
from supersample._typing import Features, Floats, Indices
from supersample.embedding import decay, moments
from supersample.embedding.decay import Decay
from supersample.embedding.moments import Moments
from supersample.kernels import Kernel
from supersample.selection.pool import ExactPool, embedded, embedded_own, explain, is_rounded
from supersample.selection.stream import background, dependence, rare, relevance
from supersample.selection.stream.aim import Aim
from supersample.selection.stream.background import Background
from supersample.selection.stream.calibration import Control, Target, target_of
from supersample.selection.stream.criticisms import Criticisms
from supersample.selection.stream.missed_and_rare import KINDS, missed_and_rare
from supersample.selection.stream.plan import CHUNK, WARM_UP, Plan, Settings, check_settings, make_plan
from supersample.selection.stream.prototype_weights import prototype_weights
from supersample.selection.stream.relevance import Relevance
from supersample.selection.stream.reservoir import Offered, Reservoir, Singles
from supersample.selection.stream.rows import Rows
from supersample.selection.stream.second_look import FEW, second_look, target_rows
from supersample.selection.stream.state import Stream

__all__ = ["Selected", "Stream", "arrived", "drain", "finish", "fix_plan", "has_weight", "init", "update"]

#: Rows of the background by which weights are solved and MMD is measured, unless it is the whole stream.
_NEAR = 10_000
#: Rounding error of an MMD^2 by kernel values in float32, as a share of k(x, x).
_ROUNDED = 1e-8
#: A row that has lost half of its weight so many times is no criticism any more.
_FORGOTTEN = 6
#: mu is updated after each further sixteenth of the rows that count, and at least _SMALLEST_BLOCK rows.
_REFRESH_SHARE, _SMALLEST_BLOCK = 16, 8


@dataclass(frozen=True)
class Selected:
    """The result of a stream: the selected rows in stream order with their weights, and the data needed to evaluate them.

    Each criticism has its kind (an index into `missed_and_rare.KINDS`), its signed witness value, its nearest prototype (a
    place in `rows`) and the share of the data nearer to it than to any prototype. control: the background, to measure by.
    With a target, the background, the held-out moments and the control are those of the target, and the weights end with those
    of the points chosen before (`before`), if there are any; `drawn` are the rows drawn from the stream itself.
    """

    plan: Plan
    rows: Rows
    weights: Floats
    criticisms: Rows
    kinds: Indices
    witness: Floats
    nearest: Indices
    shares: Floats
    background: Background
    moments: Moments
    held_out: Moments
    n_seen: int
    histogram: Indices
    control: Control | None
    drawn: Background
    before: Floats

    @property
    def points(self) -> Floats:
        """All chosen points, those chosen before at the end."""
        return np.concatenate([self.rows.points, self.before])


def init(
    settings: Settings, width: int, plan: Plan | None = None, widths: Sequence[int] = (), aim: Aim | None = None
) -> Stream:
    """Return a stream that has seen nothing; with another stream's plan, it can be merged with that stream.

    aim: what its points are to match in place of its rows, with the plan that was made for it.
    widths: the numbers of coordinates of the groups that a point consists of, whose dependence on earlier rows is measured
    one by one; empty for that of the features alone.
    """
    check_settings(settings, width)
    state = Stream(
        settings=settings,
        width=width,
        plan=None,
        n_seen=0,
        n_used=0,
        chunks=0,
        pending=Rows.none(width),
        moments=moments.init(0),
        held_out=moments.init(0),
        reservoir=Reservoir.empty(settings.n_prototypes, width, 0),
        criticisms=Criticisms.empty(settings.n_held_criticisms, width, 0),
        background=background.init(width),
        rare=rare.init(settings.n_rare, width),
        dependence=dependence.init(0, widths),
        decay=None if settings.half_life is None else Decay(settings.half_life, settings.by_time),
        aim=aim,
    )
    return state if plan is None else _begin(state, plan)


def has_weight(state: Stream) -> bool:
    """Return whether any row of positive weight was seen."""
    return state.n_used > 0 or len(state.pending) > 0


@one_blas_thread()
def update(state: Stream, rows: Rows, times: Floats | None = None) -> Stream:
    """Return the stream after more rows, with positions counted from 0 within `rows`; the given state does not change.

    Rows of weight zero are counted, and otherwise ignored. times: those of the rows, NaN where there is none, if the half-life
    is one of time.
    """
    if state.decay is not None:
        clock, weights = decay.weigh(state.decay, rows.weights, state.n_seen, times)
        rows, state = replace(rows, mantissas=weights.mantissas, exponents=weights.exponents), replace(state, decay=clock)
    return arrived(state, rows)


@one_blas_thread()
def arrived(state: Stream, rows: Rows) -> Stream:
    """Return the stream after more rows whose weights have decayed already."""
    some = np.flatnonzero(rows.mantissas > 0)
    fresh = (rows if some.size == len(rows) else rows.take(some)).shifted(state.n_seen)
    state = replace(state, n_seen=state.n_seen + len(rows))
    waiting = Rows.joined(state.pending, fresh) if len(state.pending) else fresh
    if state.plan is None:
        if len(waiting) < WARM_UP:
            return replace(state, pending=waiting.copy())
        state = _begin(state, make_plan(state.settings, waiting.take(slice(0, WARM_UP))))
    return _take_in_whole_chunks(state, waiting)


@one_blas_thread()
def fix_plan(state: Stream) -> Stream:
    """Return the stream with its warm-up ended after the rows seen so far; nothing else changes."""
    if state.plan is not None or len(state.pending) == 0:
        return state
    return _take_in_whole_chunks(_begin(state, make_plan(state.settings, state.pending)), state.pending)


@one_blas_thread()
def drain(state: Stream) -> Stream:
    """Return the stream with all pending rows processed, as at the end of the stream."""
    if len(state.pending) == 0:
        return state
    if state.plan is None:
        state = _begin(state, make_plan(state.settings, state.pending))
    return replace(_take_in(state, state.pending), pending=Rows.none(state.width))


@one_blas_thread()
def finish(state: Stream) -> Selected | None:
    """Return the selection: reservoir and criticisms after a second look. None if there is no row that may be chosen."""
    state = drain(state)
    plan = state.plan
    if plan is None or len(state.reservoir.rows) == 0:
        return None
    state = replace(state, background=background.settled(state.background, state.settings.n_background))
    whole, sums, held_out = state.matched
    sample = whole.first(target_rows(state))
    target = target_of(sample, plan.feature_map, sums.mean())
    looked = second_look(state, state.reservoir.rows, state.criticisms.rows, target)
    if len(looked.rows) == 0:
        return None
    rows = looked.rows.take(np.argsort(looked.rows.positions, kind="stable"))
    near = target if target.complete else target.of(sample.first(_NEAR))
    before = state.before
    points = np.concatenate([rows.points, before])
    weights = prototype_weights(plan.kernel, points, near)
    if state.settings.n_rare:
        others, kinds, witness = _two_kinds(state, Rows.joined(rows, _apart(before)), weights, sample, target, looked.pull)
    else:
        others, witness = looked.criticisms, looked.witness
        kinds = np.full(len(others), KINDS.index("witness"))
    known = state.aim is None and near is target and (len(rows) <= FEW or is_rounded(target.points, target.points))
    control = _control(plan.kernel, points, near, looked.pull if known else None) if looked.exact else None
    # Shares are those of the sample; selected rows are added to the pool with share 0.
    seen = ExactPool(plan.kernel, np.concatenate([rows.points, others.points, sample.rows.points]))
    spread = np.concatenate([np.zeros(len(rows) + len(others)), sample.shares()])
    places = np.arange(len(rows) + len(others))
    nearest, shares = explain(seen, spread, places[: len(rows)], places[len(rows) :])
    if state.settings.n_rare:  # missed groups in the order of the shares that are shown
        order = np.lexsort((np.where(kinds == KINDS.index("missed"), -shares, 0.0), kinds))
        others, witness, nearest, shares = others.take(order), witness[order], nearest[order], shares[order]
    return Selected(
        plan, rows, weights, others, kinds, witness, nearest, shares, whole, state.moments, held_out,
        state.n_seen, state.reservoir.histogram, control, state.background, before,
    )  # fmt: skip


def _two_kinds(
    state: Stream, rows: Rows, weights: Floats, sample: Background, target: Target, pull: Floats
) -> tuple[Rows, Indices, Floats]:
    """Return missed and rare rows, the kind of each, and its witness E k(x, .) - sum_s w_s k(s, .) beyond the prototypes' own.

    rows: the prototypes, and after them the points chosen before.
    Both measures have mass one, so a constant may be taken off: that of the prototypes is their weighted mean.
    """
    kernel = state.fixed_plan.kernel

    def witness(points: Floats, pulls: Floats) -> Floats:
        return pulls - embedded(kernel, points, rows.points, weights)

    def pulls(points: Floats) -> Floats:
        return embedded(kernel, points, target.points, target.weights)

    usual = float(weights @ witness(rows.points, pulls(rows.points)))
    there = witness(target.points, pull) - usual
    low = _recent(state, state.rare.rows).without(state.before)
    if len(low):  # where the prototypes have too much already, nothing is left out
        low = low.take(np.flatnonzero(witness(low.points, pulls(low.points)) >= usual))
    found = missed_and_rare(kernel, rows, sample, low, there, state.settings.n_criticisms)
    points = found.rows.points
    return found.rows, found.kinds, witness(points, pulls(points)) - usual


def _apart(points: Floats) -> Rows:
    """Return points as rows that are none of the stream."""
    count = len(points)
    return Rows(points, -1 - np.arange(count, dtype=np.int64), np.full(count, 0.5), np.ones(count, dtype=np.int64))


def _control(kernel: Kernel, points: Floats, target: Target, pull: Floats | None) -> Control:
    """Return the target to measure points by; pull: E k(x, target) at its rows, if known as exactly."""
    if pull is None:
        pull = embedded_own(kernel, target.points, target.weights)
    there = embedded(kernel, points, *target[:2])
    control = Control(target.points, target.weights, float(target.weights @ pull), there, target.complete)
    return control._replace(rounding=_ROUNDED) if is_rounded(target.points, target.points) else control


def _recent(state: Stream, rows: Rows) -> Rows:
    """Return rows without those that have lost nearly all of their weight since they came."""
    if state.decay is None or len(rows) == 0:
        return rows
    latest = state.moments.exponent
    return rows.take(np.flatnonzero(rows.exponents > latest - _FORGOTTEN))


def _begin(state: Stream, plan: Plan) -> Stream:
    n_features = plan.feature_map.n_features
    return replace(
        state,
        plan=plan,
        moments=moments.init(n_features),
        held_out=moments.init(plan.held_out.n_features),
        reservoir=Reservoir.empty(state.settings.n_prototypes, state.width, n_features),
        criticisms=Criticisms.empty(state.settings.n_held_criticisms, state.width, n_features),
        dependence=None if state.dependence is None else dependence.init(n_features, state.dependence.widths),
        near=None if state.aim is None else relevance.init(state.width, n_features),
        included=_feature_sum(plan, state.settings.include),
    )


def _feature_sum(plan: Plan, points: Floats | None) -> Floats | None:
    return None if points is None else np.asarray(plan.feature_map.transform(points).sum(axis=0, dtype=np.float64))


class _Chunk(NamedTuple):
    """Rows with the features that do not depend on the reservoir."""

    rows: Rows
    features: Features
    norms: Floats
    held_out: Features


def _see(plan: Plan, rows: Rows) -> _Chunk:
    features = plan.feature_map.transform(rows.points)
    constant = plan.feature_map.squared_norm
    norms = moments.squared_norms(features) if constant is None else np.full(len(rows), constant)
    return _Chunk(rows, features, norms, plan.held_out.transform(rows.points))


def _take_in_whole_chunks(state: Stream, waiting: Rows) -> Stream:
    """Process as many rows as fill whole chunks; the others become the pending rows."""
    whole = len(waiting) - len(waiting) % CHUNK
    if whole:
        state = _take_in(state, waiting.take(slice(0, whole)))
    return replace(state, pending=waiting.take(slice(whole, None)).copy())


def _take_in(state: Stream, rows: Rows) -> Stream:
    """Process rows chunk by chunk; while one is offered to the reservoir, the features of the next are computed."""
    plan = state.plan
    assert plan is not None
    state = replace(state, reservoir=state.reservoir.copy(), criticisms=state.criticisms.copy())
    for chunk in ahead(lambda part: _see(plan, rows.take(part)), cut(len(rows), CHUNK)):
        state = _take_in_chunk(state, chunk)
    return replace(state, rare=rare.settled(state.rare))


def _take_in_chunk(state: Stream, chunk: _Chunk) -> Stream:
    """Process a chunk; the state's reservoir is changed in place, since it is already a copy."""
    settings, reservoir, rows = state.settings, state.reservoir, chunk.rows
    seed = settings.seed.child("stream").child(settings.stream)
    held_out = moments.update(state.held_out, chunk.held_out, rows.weights, norms=np.zeros(len(rows)))
    times = seed.child("background").child(state.chunks).generator().standard_exponential(len(rows))
    sample = background.update(state.background, rows, settings.n_background, times)
    depending = None if state.dependence is None else dependence.update(state.dependence, chunk.features, rows)
    singles, norms = chunk.features.astype(np.float32, copy=False), chunk.norms.astype(np.float32)
    sums, n_used = state.moments, state.n_used
    free = None if len(state.before) == 0 else ~rows.among(state.before)
    start = 0
    while start < len(rows):
        recent = n_used if state.decay is None else int(min(n_used, sums.effective_rows))
        stop = min(len(rows), start + max(_SMALLEST_BLOCK, recent // _REFRESH_SHARE))
        part = slice(start, stop)
        block = rows.take(part)
        sums = moments.update(sums, chunk.features[part], block.weights, norms=chunk.norms[part])
        n_used += len(block)
        own = part if free is None else start + np.flatnonzero(free[part])
        filled = reservoir.fill(rows.take(own), singles[own])
        left = slice(start + filled, stop) if isinstance(own, slice) else own[filled:]
        rest = rows.take(left)
        if len(rest):
            offered = reservoir.offer(
                rest, singles[left], norms[left], state.goal(sums.mean()), n_used,
                use_tree=settings.use_tree, seed=seed, keep_dropped=settings.n_held_criticisms > 0,
            )  # fmt: skip
            if offered.dropped is not None:
                _criticise(state, offered, rest, singles[left])
        start = stop
    low = rare.update(state.rare, rows, chunk.features, sums.mean(), n_used, state.fixed_plan.feature_map)
    return replace(
        state, moments=sums, held_out=held_out, background=sample, rare=low, dependence=depending, n_used=n_used,
        chunks=state.chunks + 1, near=None if state.near is None else _nearer(replace(state, background=sample), chunk, seed),
    )  # fmt: skip


def _nearer(state: Stream, chunk: _Chunk, seed: Seed) -> Relevance | None:
    """Return the rows that are like the target after a chunk of which the background has its part already."""
    near, size = state.near, state.settings.n_background
    if near is None or state.aim is None:
        return None
    if relevance.is_due(state.chunks):
        seen = background.settled(state.background, size)
        near = relevance.renewed(near, seen, state.aim, state.fixed_plan.feature_map)
    times = seed.child("near").child(state.chunks).generator().standard_exponential(len(chunk.rows))
    return relevance.update(near, chunk.rows, chunk.features, size, times)


def _criticise(state: Stream, offered: Offered, rows: Rows, features: Singles) -> None:
    """Offer the rows that the reservoir did not take, and the points that it dropped, to the criticisms.

    Algorithm 2 of the draft Online Prototypes and Criticisms, which offers the rows alone; a dropped prototype is a row, too.
    """
    assert state.plan is not None
    kernel = state.plan.kernel
    state.criticisms.offer(kernel, rows, features, offered.witness, offered.taken)
    if offered.dropped is not None and len(offered.dropped.rows):
        state.criticisms.offer(kernel, *offered.dropped, offered.witness)
