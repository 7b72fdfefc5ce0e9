"""Merge two streams: moments are added, points are selected again from those that both hold."""

from dataclasses import replace

import numpy as np

from supersample._threads import one_blas_thread
from supersample._typing import Indices
from supersample.embedding import decay, moments
from supersample.embedding.decay import apart
from supersample.embedding.moments import ONE, ScaledWeight
from supersample.errors import MismatchError
from supersample.selection.greedy import greedy_criticisms
from supersample.selection.pool import kernel_block
from supersample.selection.stream import background, dependence, rare, relevance
from supersample.selection.stream.aim import same_aim
from supersample.selection.stream.criticisms import Criticisms
from supersample.selection.stream.dependence import Dependence
from supersample.selection.stream.lifecycle import drain
from supersample.selection.stream.plan import Plan
from supersample.selection.stream.rare import Rare
from supersample.selection.stream.relevance import Relevance
from supersample.selection.stream.reservoir import Reservoir
from supersample.selection.stream.rows import Rows
from supersample.selection.stream.second_look import exchanged
from supersample.selection.stream.state import Stream

__all__ = ["merge"]


@one_blas_thread()
def merge(left: Stream, right: Stream) -> Stream:
    """Return one stream for both, as if `right` had come after `left`: moments added, points selected again from both.

    Both must have the same plan, so one of them must have been created with the other's plan. Neither changes. Costs at most
    O(M^2 D) for each of a few rounds of swaps between the two reservoirs, for any number of rows seen.
    """
    _require_same_settings(left, right)
    _require_same_aim(left, right)
    left, right = drain(left), drain(right)
    if right.plan is None or left.plan is None:
        some, none = (left, right) if right.plan is None else (right, left)
        shift = none.n_seen if some is right else 0
        factor, clock = apart(none.decay, some.decay, shift), decay.merge(left.decay, right.decay)
        return _weighed(_shifted(replace(some, n_seen=some.n_seen + none.n_seen, decay=clock), shift), factor)
    _require_same_plan(left.plan, right.plan)
    right = _weighed(_shifted(right, left.n_seen), apart(left.decay, right.decay, left.n_seen))
    merged = replace(
        left,
        n_seen=left.n_seen + right.n_seen,
        n_used=left.n_used + right.n_used,
        chunks=max(left.chunks, right.chunks),
        moments=moments.merge(left.moments, right.moments),
        held_out=moments.merge(left.held_out, right.held_out),
        background=background.merge(left.background, right.background, left.settings.n_background),
        dependence=_merged_dependence(left, right),
        decay=decay.merge(left.decay, right.decay),
    )
    merged = replace(merged, near=_merged_near(merged, left, right))
    merged = replace(merged, reservoir=_merged_reservoir(merged, left, right), rare=_merged_rare(merged, left, right))
    held = (left.criticisms.rows, right.criticisms.rows, left.reservoir.rows, right.reservoir.rows)
    return replace(merged, criticisms=_merged_criticisms(merged, Rows.joined(*held)))


def _merged_dependence(left: Stream, right: Stream) -> Dependence | None:
    """Return the block sums of both streams; None unless both have them, of the same groups of coordinates."""
    mine, theirs = left.dependence, right.dependence
    return None if mine is None or theirs is None or mine.widths != theirs.widths else dependence.merge(mine, theirs)


def _merged_near(merged: Stream, left: Stream, right: Stream) -> Relevance | None:
    """Return the rows of both that are like the target, with the relevance fitted on a sample of both."""
    if left.near is None or right.near is None or merged.aim is None:
        return None
    near = relevance.merge(left.near, right.near, merged.settings.n_background)
    if merged.n_used == 0:
        return near
    return relevance.renewed(near, merged.background, merged.aim, merged.fixed_plan.feature_map)


def _merged_reservoir(merged: Stream, left: Stream, right: Stream) -> Reservoir:
    """Return a reservoir of points of both streams, chosen by the moments of the merged one."""
    assert merged.plan is not None
    size, first, second = merged.settings.n_prototypes, left.reservoir.rows, right.reservoir.rows
    rows = Rows.joined(first, second)
    if len(rows) > size:
        # Start with points of each stream in proportion to its weight, evenly spread over its slots.
        share = moments.weight_share(left.moments, right.moments)
        mine = min(len(first), max(size - len(second), round(size * share)))
        kept = np.concatenate([_spread(len(first), mine), len(first) + _spread(len(second), size - mine)])
        rest = np.setdiff1d(np.arange(len(rows)), kept)
        rows = exchanged(merged, rows.take(kept), rows.take(rest)).rows  # the second look is taken when a result is read
    reservoir = Reservoir.empty(size, merged.width, merged.plan.feature_map.n_features)
    if len(rows):
        reservoir.fill(rows, merged.plan.feature_map.transform(rows.points).astype(np.float32))
    reservoir.histogram = left.reservoir.histogram + right.reservoir.histogram
    return reservoir


def _merged_rare(merged: Stream, left: Stream, right: Stream) -> Rare:
    """Return the candidates for rare rows of both, by the mean of both together."""
    if merged.n_used == 0:
        return left.rare
    return rare.merge(left.rare, right.rare, merged.moments.mean(), merged.n_used, merged.fixed_plan.feature_map)


def _merged_criticisms(merged: Stream, rows: Rows) -> Criticisms:
    """Return the best criticisms from both streams' criticisms and dropped prototypes, by the witness of the merged stream."""
    plan, count = merged.plan, merged.settings.n_held_criticisms
    assert plan is not None
    rows = rows.take(np.flatnonzero(~np.isin(rows.positions, merged.reservoir.rows.positions)))
    if count == 0 or len(rows) == 0:
        return Criticisms.empty(count, merged.width, plan.feature_map.n_features)
    features = plan.feature_map.transform(rows.points).astype(np.float32)
    witness = features @ (merged.goal() - merged.reservoir.features.mean(axis=0, dtype=np.float64))
    chosen = greedy_criticisms(
        lambda some, others: kernel_block(plan.kernel, rows.points[some], rows.points[others]),
        witness, plan.kernel.diagonal(rows.points), count, np.ones(len(rows), dtype=np.bool_),
    )  # fmt: skip
    return Criticisms.of(count, rows.take(chosen), features[chosen], plan.kernel)


def _require_same_settings(left: Stream, right: Stream) -> None:
    if left.width != right.width:
        raise MismatchError(
            f"the two streams have rows of {left.width} and {right.width} columns and cannot be merged; use "
            f"the same columns for both"
        )
    for name in ("n_prototypes", "n_criticisms", "regularizer"):
        mine, theirs = getattr(left.settings, name), getattr(right.settings, name)
        if mine != theirs:
            raise MismatchError(
                f"the two streams have {name} {mine} and {theirs} and cannot be merged; use the same number for both"
            )


def _require_same_aim(left: Stream, right: Stream) -> None:
    if not same_aim(left.aim, right.aim):
        raise MismatchError(
            "the two streams match different targets and cannot be merged; make the second one from the first, with "
            "empty_like() or like="
        )
    mine, theirs = left.settings, right.settings
    alike = mine.min_distance == theirs.min_distance and np.array_equal(left.before, right.before)
    if not alike:
        raise MismatchError(
            "the two streams differ in include or min_distance and cannot be merged; make the second one from the first, with "
            "empty_like() or like="
        )


def _require_same_plan(left: Plan, right: Plan) -> None:
    for what, mine, theirs in (
        ("feature maps", left.feature_map, right.feature_map),
        ("held-out features", left.held_out, right.held_out),
    ):
        if mine != theirs:
            raise MismatchError(
                f"the two streams have different {what} ({mine!r} and {theirs!r}) and cannot be merged: each fixed its own "
                f"bandwidth and features from its first rows; make the second one from the first, with empty_like()"
            )


def _shifted(state: Stream, by: int) -> Stream:
    """Return a stream whose rows stand `by` places later."""
    if by == 0:
        return state
    reservoir, criticisms = state.reservoir.copy(), state.criticisms.copy()
    reservoir.rows, criticisms.rows = reservoir.rows.shifted(by), criticisms.rows.shifted(by)
    sample = background.settled(state.background, state.settings.n_background)
    return replace(
        state, reservoir=reservoir, criticisms=criticisms, background=sample.shifted(by), rare=state.rare.shifted(by),
        near=None if state.near is None else state.near.shifted(by, state.settings.n_background),
    )  # fmt: skip


def _weighed(state: Stream, factor: ScaledWeight) -> Stream:
    """Return a stream with the weights of all its rows multiplied by a factor; nothing may be pending."""
    if factor == ONE:
        return state
    reservoir, criticisms = state.reservoir.copy(), state.criticisms.copy()
    reservoir.rows, criticisms.rows = reservoir.rows.weighed(factor), criticisms.rows.weighed(factor)
    sample = background.settled(state.background, state.settings.n_background)
    return replace(
        state, moments=state.moments.scaled(factor), held_out=state.held_out.scaled(factor), background=sample.scaled(factor),
        reservoir=reservoir, criticisms=criticisms, rare=replace(state.rare, rows=state.rare.rows.weighed(factor)),
        dependence=None if state.dependence is None else state.dependence.scaled(factor),
    )  # fmt: skip


def _spread(n: int, count: int) -> Indices:
    """Return `count` of n places, evenly spread."""
    spread: Indices = np.floor(np.arange(count) * (n / max(count, 1))).astype(np.int64)
    return spread
