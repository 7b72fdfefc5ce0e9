"""The stream: one pass, fixed memory, the M points nearest in mean embedding to everything seen (SSR section 3).

State and pure functions: `init`, `update`, `merge`, `finish`. Rows are taken in by chunks that are fixed by their position in
the stream, so how they arrive leaves no trace; what does not fill a chunk waits in the state. Reading works on a copy.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from supersample._threads import BLOCK_ROWS, ahead, cut, map_blocks, one_blas_thread
from supersample._typing import Features, Floats, Indices
from supersample.embedding import moments
from supersample.embedding.moments import Moments
from supersample.errors import MismatchError
from supersample.selection import background
from supersample.selection.background import Background
from supersample.selection.calibration import calibrate
from supersample.selection.plan import WARM_UP, Plan, Settings, make_plan
from supersample.selection.polish import polish
from supersample.selection.reservoir import Reservoir
from supersample.selection.rows import Rows

__all__ = ["Selected", "Stream", "drain", "finish", "has_weight", "init", "merge", "update"]

#: Rows of a chunk; a multiple of the rows of a block of features.
CHUNK = 8 * BLOCK_ROWS
#: mu is brought up to date this often: after a sixteenth of what was seen, at first after so many rows.
_REFRESH_SHARE, _SMALLEST_BLOCK = 16, 8
#: Elements of the kernel matrix between the chosen points and the pool up to which the exact second look is taken.
_MOST_EXACT = 1 << 26
_MOST_ROUNDS = 3


@dataclass(frozen=True)
class Stream:
    """Everything that is needed to go on. Until the warm-up is over there is no plan, and all rows wait in `pending`.

    n_seen counts all rows, n_used those of positive weight that were taken in; chunks counts chunks begun.
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
    background: Background


@dataclass(frozen=True)
class Selected:
    """What a stream gives at the end: the chosen rows in stream order, and what is needed to judge them."""

    plan: Plan
    rows: Rows
    background: Background
    moments: Moments
    held_out: Moments
    n_seen: int
    histogram: Indices


def init(settings: Settings, width: int, plan: Plan | None = None) -> Stream:
    """Return a stream that has seen nothing; with another stream's plan, it can be merged with that stream."""
    state = Stream(
        settings,
        width,
        None,
        0,
        0,
        0,
        Rows.none(width),
        moments.init(0),
        moments.init(0),
        Reservoir.empty(settings.n_prototypes, width, 0),
        background.init(width),
    )
    return state if plan is None else _begin(state, plan)


def has_weight(state: Stream) -> bool:
    """Say whether any row of positive weight was seen."""
    return state.n_used > 0 or len(state.pending) > 0


def update(state: Stream, rows: Rows) -> Stream:
    """Return the stream after some more rows, positions counting from 0 within `rows`; the state passed in stays as it was.

    Rows of weight zero are counted, and otherwise as if they had not been there.
    """
    some = np.flatnonzero(rows.mantissas > 0)
    arrived = (rows if some.size == len(rows) else rows.take(some)).shifted(state.n_seen)
    state = replace(state, n_seen=state.n_seen + len(rows))
    waiting = Rows.joined(state.pending, arrived) if len(state.pending) else arrived
    if state.plan is None:
        if len(waiting) < WARM_UP:
            return replace(state, pending=waiting.copy())
        state = _begin(state, make_plan(state.settings, waiting.points[:WARM_UP]))
    whole = len(waiting) - len(waiting) % CHUNK
    if whole:
        state = _take_in(state, waiting.take(slice(0, whole)))
    return replace(state, pending=waiting.take(slice(whole, None)).copy())


def drain(state: Stream) -> Stream:
    """Return the stream with nothing waiting: what a stream that ends here has."""
    if len(state.pending) == 0:
        return state
    if state.plan is None:
        state = _begin(state, make_plan(state.settings, state.pending.points))
    return replace(_take_in(state, state.pending), pending=Rows.none(state.width))


def finish(state: Stream) -> Selected | None:
    """Return the selection: the reservoir after a second look at the background. None if no row of positive weight was seen."""
    state = drain(state)
    plan = state.plan
    if plan is None or len(state.reservoir.rows) == 0:
        return None
    state = replace(state, background=background.settled(state.background, state.settings.n_background))
    rows = state.reservoir.rows
    if state.reservoir.is_full:
        rows = _second_look(state, rows)
    order = np.argsort(rows.positions, kind="stable")
    return Selected(
        plan, rows.take(order), state.background, state.moments, state.held_out, state.n_seen, state.reservoir.histogram
    )


def merge(left: Stream, right: Stream) -> Stream:
    """Return one stream for both, as if `right` had come after `left`: moments added, points selected anew from both.

    Both must have the same plan, so one of them must have been begun with the other's.
    """
    left, right = drain(left), drain(right)
    if right.plan is None or left.plan is None:
        some, none = (left, right) if right.plan is None else (right, left)
        shift = none.n_seen if some is right else 0
        return _shifted(replace(some, n_seen=some.n_seen + none.n_seen), shift)
    _require_same_plan(left, right)
    right = _shifted(right, left.n_seen)
    size = left.settings.n_prototypes
    merged = replace(
        left,
        n_seen=left.n_seen + right.n_seen,
        n_used=left.n_used + right.n_used,
        chunks=max(left.chunks, right.chunks),
        moments=moments.merge(left.moments, right.moments),
        held_out=moments.merge(left.held_out, right.held_out),
        background=background.merge(left.background, right.background, left.settings.n_background),
    )
    both = Rows.joined(left.reservoir.rows, right.reservoir.rows)
    if len(both) > size:
        # Begin with points of each in proportion to the weight it brings, evenly spread over its slots.
        first = left.reservoir.rows
        shares = moments.weight_share(left.moments, right.moments)
        mine = min(len(first), max(size - len(right.reservoir.rows), round(size * shares)))
        kept = np.concatenate([_spread(len(first), mine), len(first) + _spread(len(right.reservoir.rows), size - mine)])
        rest = np.setdiff1d(np.arange(len(both)), kept)
        both = _second_look(merged, both.take(kept), both.take(rest))
    reservoir = Reservoir.empty(size, left.width, left.plan.feature_map.n_features)
    reservoir.fill(both, left.plan.feature_map.transform(both.points).astype(np.float32))
    reservoir.histogram = left.reservoir.histogram + right.reservoir.histogram
    return replace(merged, reservoir=reservoir)


def _begin(state: Stream, plan: Plan) -> Stream:
    n_features = plan.feature_map.n_features
    return replace(
        state,
        plan=plan,
        moments=moments.init(n_features),
        held_out=moments.init(plan.held_out.n_features),
        reservoir=Reservoir.empty(state.settings.n_prototypes, state.width, n_features),
    )


class _Chunk(NamedTuple):
    """Rows with what can be computed of them without knowing the reservoir."""

    rows: Rows
    features: Features
    norms: Floats
    held_out: Features


def _see(plan: Plan, rows: Rows) -> _Chunk:
    features = plan.feature_map.transform(rows.points)
    return _Chunk(rows, features, moments.squared_norms(features), plan.held_out.transform(rows.points))


def _take_in(state: Stream, rows: Rows) -> Stream:
    """Take in rows chunk by chunk; while one is offered to the reservoir, the features of the next are computed."""
    plan = state.plan
    assert plan is not None
    state = replace(state, reservoir=state.reservoir.copy())
    with one_blas_thread():
        for chunk in ahead(lambda part: _see(plan, rows.take(part)), cut(len(rows), CHUNK)):
            state = _take_in_chunk(state, chunk)
    return state


def _take_in_chunk(state: Stream, chunk: _Chunk) -> Stream:
    """Take in a chunk; the state's reservoir is changed in place, being a copy already."""
    settings, reservoir, rows = state.settings, state.reservoir, chunk.rows
    seed = settings.seed.child("stream").child(settings.stream)
    held_out = moments.update(state.held_out, chunk.held_out, rows.weights, norms=np.zeros(len(rows)))
    sample = background.update(state.background, rows, settings.n_background, seed.child("background").child(state.chunks))
    singles, norms = chunk.features.astype(np.float32, copy=False), chunk.norms.astype(np.float32)
    sums, n_used = state.moments, state.n_used
    start = 0
    while start < len(rows):
        stop = min(len(rows), start + max(_SMALLEST_BLOCK, n_used // _REFRESH_SHARE))
        part = slice(start, stop)
        block = rows.take(part)
        sums = moments.update(sums, chunk.features[part], block.weights, norms=chunk.norms[part])
        start += reservoir.fill(block, singles[part])
        n_used += len(block)
        if start < stop:
            reservoir.offer(
                rows.take(slice(start, stop)), singles[start:stop], norms[start:stop], sums.mean(), n_used,
                use_tree=settings.use_tree, seed=seed,
            )  # fmt: skip
        start = stop
    return replace(state, moments=sums, held_out=held_out, background=sample, n_used=n_used, chunks=state.chunks + 1)


def _second_look(state: Stream, rows: Rows, more: Rows | None = None) -> Rows:
    """Improve a selection by swaps with rows of the background, which may have been rejected too early in the stream.

    The target is the background itself, weighted so that its mean features are those of the whole stream; its discrepancy is
    measured by the exact kernel, so that the selection is not bound to the features that steered the stream.
    """
    assert state.plan is not None
    sample = state.background
    others = sample.rows if more is None else Rows.joined(more, sample.rows)
    _, unique = np.unique(np.concatenate([rows.positions, others.positions]), return_index=True)
    pool = Rows.joined(rows, others).take(np.concatenate([np.arange(len(rows)), np.sort(unique[unique >= len(rows)])]))
    if len(rows) * len(pool) > _MOST_EXACT:
        return _offer_again(state, rows, pool.take(slice(len(rows), None)))
    weights = calibrate(state.plan.feature_map.transform(sample.rows.points), sample.shares(), state.moments.mean())
    pull = _embed(state, pool.points, sample.rows.points, weights)
    generator = state.settings.seed.child("second look").generator()
    return pool.take(polish(state.plan.kernel, pool.points, pull, np.arange(len(rows)), generator))


def _embed(state: Stream, points: Floats, sample: Floats, weights: Floats) -> Floats:
    """Return sum_i weights_i k(x, sample_i) for each point, in blocks on all cores."""
    assert state.plan is not None
    rows_of = state.plan.kernel.against(sample)
    parts = map_blocks(lambda rows: rows_of(points[rows]) @ weights, cut(points.shape[0], BLOCK_ROWS))
    return np.concatenate(parts)


def _offer_again(state: Stream, rows: Rows, others: Rows) -> Rows:
    """Offer the background by the stream's own step, for reservoirs too large for the exact second look."""
    assert state.plan is not None
    transform = state.plan.feature_map.transform
    reservoir = Reservoir.empty(len(rows), state.width, state.plan.feature_map.n_features)
    reservoir.fill(rows, transform(rows.points).astype(np.float32))
    seed = state.settings.seed.child("second look")
    features = transform(others.points).astype(np.float32)
    norms = moments.squared_norms(features).astype(np.float32)
    with one_blas_thread():
        for _ in range(_MOST_ROUNDS):
            if not reservoir.offer(
                others, features, norms, state.moments.mean(), state.n_used, use_tree=state.settings.use_tree, seed=seed
            ):
                break
    return reservoir.rows


def _require_same_plan(left: Stream, right: Stream) -> None:
    assert left.plan is not None
    assert right.plan is not None
    if left.width != right.width:
        raise MismatchError(f"the two streams have rows of {left.width} and {right.width} columns and cannot be merged")
    if left.settings.n_prototypes != right.settings.n_prototypes:
        raise MismatchError(
            f"the two streams keep {left.settings.n_prototypes} and {right.settings.n_prototypes} prototypes and cannot be "
            f"merged; use the same number for both"
        )
    for what, mine, theirs in (
        ("feature maps", left.plan.feature_map, right.plan.feature_map),
        ("held-out features", left.plan.held_out, right.plan.held_out),
    ):
        if mine != theirs:
            raise MismatchError(
                f"the two streams have different {what} ({mine!r} and {theirs!r}) and cannot be merged: each fixed its own "
                f"bandwidth and features from its first rows; make the second one from the first, with sibling()"
            )


def _shifted(state: Stream, by: int) -> Stream:
    """Return a stream whose rows stand `by` places later."""
    if by == 0:
        return state
    reservoir = state.reservoir.copy()
    reservoir.rows = reservoir.rows.shifted(by)
    sample = background.settled(state.background, state.settings.n_background)
    return replace(state, reservoir=reservoir, background=sample.shifted(by))


def _spread(n: int, count: int) -> Indices:
    spread: Indices = np.floor(np.arange(count) * (n / max(count, 1))).astype(np.int64)
    return spread
