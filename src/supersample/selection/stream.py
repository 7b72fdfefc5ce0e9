"""The stream: one pass, fixed memory, the M points nearest in mean embedding to everything seen (SSR section 3).

State and pure functions: `init`, `update`, `merge`, `finish`. Rows are taken in by chunks that are fixed by their position in
the stream, so how they arrive leaves no trace; what does not fill a chunk waits in the state. Reading works on a copy.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from supersample._threads import BLOCK_ROWS, ahead, cut, one_blas_thread
from supersample._typing import Features, Floats, Indices
from supersample.embedding import moments
from supersample.embedding.moments import Moments
from supersample.errors import MismatchError
from supersample.selection import background
from supersample.selection.background import Background
from supersample.selection.critic import explain
from supersample.selection.criticisms import Criticisms
from supersample.selection.greedy import greedy_criticisms
from supersample.selection.plan import WARM_UP, Plan, Settings, check_settings, make_plan
from supersample.selection.pool import ExactPool, kernel_block
from supersample.selection.reservoir import Offered, Reservoir, Singles
from supersample.selection.rows import Rows
from supersample.selection.second_look import exchanged, second_look
from supersample.selection.state import Stream

__all__ = ["Selected", "Stream", "drain", "finish", "fix_plan", "has_weight", "init", "merge", "update"]

#: Rows of a chunk; a multiple of the rows of a block of features.
CHUNK = 8 * BLOCK_ROWS
#: mu is brought up to date this often: after a sixteenth of what was seen, at first after so many rows.
_REFRESH_SHARE, _SMALLEST_BLOCK = 16, 8


@dataclass(frozen=True)
class Selected:
    """What a stream gives at the end: the chosen rows in stream order, and what is needed to judge them.

    Criticisms stand by falling |witness|; each with its signed witness value, its nearest prototype (a place in `rows`) and
    the share of the data nearer to it than to any prototype.
    """

    plan: Plan
    rows: Rows
    criticisms: Rows
    witness: Floats
    nearest: Indices
    shares: Floats
    background: Background
    moments: Moments
    held_out: Moments
    n_seen: int
    histogram: Indices


def init(settings: Settings, width: int, plan: Plan | None = None) -> Stream:
    """Return a stream that has seen nothing; with another stream's plan, it can be merged with that stream."""
    check_settings(settings, width)
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
        Criticisms.empty(settings.n_criticisms, width, 0),
        background.init(width),
    )
    return state if plan is None else _begin(state, plan)


def has_weight(state: Stream) -> bool:
    """Say whether any row of positive weight was seen."""
    return state.n_used > 0 or len(state.pending) > 0


@one_blas_thread()
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
        state = _begin(state, make_plan(state.settings, waiting.take(slice(0, WARM_UP))))
    whole = len(waiting) - len(waiting) % CHUNK
    if whole:
        state = _take_in(state, waiting.take(slice(0, whole)))
    return replace(state, pending=waiting.take(slice(whole, None)).copy())


@one_blas_thread()
def fix_plan(state: Stream) -> Stream:
    """Return the stream with its warm-up ended, whatever it has seen so far; nothing else changes."""
    if state.plan is not None or len(state.pending) == 0:
        return state
    begun = _begin(state, make_plan(state.settings, state.pending))
    whole = len(state.pending) - len(state.pending) % CHUNK
    if whole:
        begun = _take_in(begun, state.pending.take(slice(0, whole)))
    return replace(begun, pending=state.pending.take(slice(whole, None)).copy())


@one_blas_thread()
def drain(state: Stream) -> Stream:
    """Return the stream with nothing waiting: what a stream that ends here has."""
    if len(state.pending) == 0:
        return state
    if state.plan is None:
        state = _begin(state, make_plan(state.settings, state.pending))
    return replace(_take_in(state, state.pending), pending=Rows.none(state.width))


@one_blas_thread()
def finish(state: Stream) -> Selected | None:
    """Return the selection: reservoir and criticisms after a second look. None if no row of positive weight was seen."""
    state = drain(state)
    plan = state.plan
    if plan is None or len(state.reservoir.rows) == 0:
        return None
    state = replace(state, background=background.settled(state.background, state.settings.n_background))
    rows, others, witness = second_look(state, state.reservoir.rows, state.criticisms.rows)
    rows = rows.take(np.argsort(rows.positions, kind="stable"))
    # Shares are those of the background: chosen rows join it with none.
    sample = state.background
    seen = ExactPool(plan.kernel, np.concatenate([rows.points, others.points, sample.rows.points]))
    weights = np.concatenate([np.zeros(len(rows) + len(others)), sample.shares()])
    places = np.arange(len(rows) + len(others))
    nearest, shares = explain(seen, weights, places[: len(rows)], places[len(rows) :])
    return Selected(
        plan, rows, others, witness, nearest, shares, sample, state.moments, state.held_out, state.n_seen,
        state.reservoir.histogram,
    )  # fmt: skip


@one_blas_thread()
def merge(left: Stream, right: Stream) -> Stream:
    """Return one stream for both, as if `right` had come after `left`: moments added, points selected anew from both.

    Both must have the same plan, so one of them must have been begun with the other's.
    """
    _require_same_settings(left, right)
    left, right = drain(left), drain(right)
    if right.plan is None or left.plan is None:
        some, none = (left, right) if right.plan is None else (right, left)
        shift = none.n_seen if some is right else 0
        return _shifted(replace(some, n_seen=some.n_seen + none.n_seen), shift)
    _require_same_plan(left.plan, right.plan)
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
    both = held = Rows.joined(left.reservoir.rows, right.reservoir.rows)
    if len(both) > size:
        # Begin with points of each in proportion to the weight it brings, evenly spread over its slots.
        first = left.reservoir.rows
        shares = moments.weight_share(left.moments, right.moments)
        mine = min(len(first), max(size - len(right.reservoir.rows), round(size * shares)))
        kept = np.concatenate([_spread(len(first), mine), len(first) + _spread(len(right.reservoir.rows), size - mine)])
        rest = np.setdiff1d(np.arange(len(both)), kept)
        both = exchanged(merged, both.take(kept), both.take(rest)).rows  # the second look is taken when a result is read
    reservoir = Reservoir.empty(size, left.width, left.plan.feature_map.n_features)
    if len(both):
        reservoir.fill(both, left.plan.feature_map.transform(both.points).astype(np.float32))
    reservoir.histogram = left.reservoir.histogram + right.reservoir.histogram
    merged = replace(merged, reservoir=reservoir)
    return replace(
        merged, criticisms=_merged_criticisms(merged, Rows.joined(left.criticisms.rows, right.criticisms.rows, held))
    )


def _merged_criticisms(merged: Stream, rows: Rows) -> Criticisms:
    """Return the best criticisms of both streams and of the prototypes they lost, by the witness of the merged stream."""
    plan, count = merged.plan, merged.settings.n_criticisms
    assert plan is not None
    rows = rows.take(np.flatnonzero(~np.isin(rows.positions, merged.reservoir.rows.positions)))
    if count == 0 or len(rows) == 0:
        return Criticisms.empty(count, merged.width, plan.feature_map.n_features)
    features = plan.feature_map.transform(rows.points).astype(np.float32)
    witness = features @ (merged.moments.mean() - merged.reservoir.features.mean(axis=0, dtype=np.float64))
    chosen = greedy_criticisms(
        lambda some, others: kernel_block(plan.kernel, rows.points[some], rows.points[others]),
        witness, plan.kernel.diagonal(rows.points), count, np.ones(len(rows), dtype=np.bool_),
    )  # fmt: skip
    return Criticisms.of(count, rows.take(chosen), features[chosen], plan.kernel)


def _begin(state: Stream, plan: Plan) -> Stream:
    n_features = plan.feature_map.n_features
    return replace(
        state,
        plan=plan,
        moments=moments.init(n_features),
        held_out=moments.init(plan.held_out.n_features),
        reservoir=Reservoir.empty(state.settings.n_prototypes, state.width, n_features),
        criticisms=Criticisms.empty(state.settings.n_criticisms, state.width, n_features),
    )


class _Chunk(NamedTuple):
    """Rows with what can be computed of them without knowing the reservoir."""

    rows: Rows
    features: Features
    norms: Floats
    held_out: Features


def _see(plan: Plan, rows: Rows) -> _Chunk:
    features = plan.feature_map.transform(rows.points)
    constant = plan.feature_map.squared_norm
    norms = moments.squared_norms(features) if constant is None else np.full(len(rows), constant)
    return _Chunk(rows, features, norms, plan.held_out.transform(rows.points))


def _take_in(state: Stream, rows: Rows) -> Stream:
    """Take in rows chunk by chunk; while one is offered to the reservoir, the features of the next are computed."""
    plan = state.plan
    assert plan is not None
    state = replace(state, reservoir=state.reservoir.copy(), criticisms=state.criticisms.copy())
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
            offered = reservoir.offer(
                rows.take(slice(start, stop)), singles[start:stop], norms[start:stop], sums.mean(), n_used,
                use_tree=settings.use_tree, seed=seed,
            )  # fmt: skip
            if settings.n_criticisms:
                _criticise(state, offered, rows.take(slice(start, stop)), singles[start:stop])
        start = stop
    return replace(state, moments=sums, held_out=held_out, background=sample, n_used=n_used, chunks=state.chunks + 1)


def _criticise(state: Stream, offered: Offered, rows: Rows, features: Singles) -> None:
    """Offer to the criticisms what the reservoir did not take, and what it dropped (OPC Algorithm 2)."""
    assert state.plan is not None
    kernel = state.plan.kernel
    state.criticisms.offer(kernel, rows, features, offered.witness, offered.taken)
    if len(offered.dropped):
        state.criticisms.offer(kernel, offered.dropped, offered.dropped_features, offered.witness)


def _require_same_settings(left: Stream, right: Stream) -> None:
    if left.width != right.width:
        raise MismatchError(f"the two streams have rows of {left.width} and {right.width} columns and cannot be merged")
    for name in ("n_prototypes", "n_criticisms"):
        mine, theirs = getattr(left.settings, name), getattr(right.settings, name)
        if mine != theirs:
            raise MismatchError(
                f"the two streams have {name} {mine} and {theirs} and cannot be merged; use the same number for both"
            )


def _require_same_plan(left: Plan, right: Plan) -> None:
    for what, mine, theirs in (
        ("feature maps", left.feature_map, right.feature_map),
        ("held-out features", left.held_out, right.held_out),
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
    reservoir, criticisms = state.reservoir.copy(), state.criticisms.copy()
    reservoir.rows, criticisms.rows = reservoir.rows.shifted(by), criticisms.rows.shifted(by)
    sample = background.settled(state.background, state.settings.n_background)
    return replace(state, reservoir=reservoir, criticisms=criticisms, background=sample.shifted(by))


def _spread(n: int, count: int) -> Indices:
    spread: Indices = np.floor(np.arange(count) * (n / max(count, 1))).astype(np.int64)
    return spread
