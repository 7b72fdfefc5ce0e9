"""The start of a summary that is to match a target: its encoding, maps and rows are the target's."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from supersample._typing import Floats
from supersample.embedding import MeanEmbedding
from supersample.errors import InputError, InputTypeError, MismatchError, SupersampleError
from supersample.measures import Empirical, Measure
from supersample.records.encoding import adopted
from supersample.records.sources import Source, open_source, without
from supersample.records.sources.base import OtherTypeError
from supersample.selection.stream.plan import WARM_UP
from supersample.summary import state as states
from supersample.summary.aiming import aim_of, refuse_own_maps, refuse_with_target
from supersample.summary.row_store import RowStore
from supersample.summary.state import Maps, Request, Running, State, WarmUp
from supersample.summary.summary import Summary

__all__ = ["Reader", "aimed_state"]

#: Draws that stand for a measure without rows of its own.
_DRAWS = 20_000

#: Reads a source into a state, for a request.
Reader = Callable[[Source, Request], State]


def aimed_state(given: Source, request: Request, target: Any, read: Reader) -> WarmUp:
    """Return the empty state of a summary of `given` whose rows are to match a target."""
    refuse_with_target(request.settings, "criticisms")
    if isinstance(target, Summary):
        _refuse_options_of_target(request)
        found = target._ready().settled
        theirs = found.request.settings
        refuse_own_maps(request.settings, found.stream.fixed_plan)
        mine = replace(request.settings, kernel=theirs.kernel, features=theirs.features, n_features=theirs.n_features)
        request = replace(request, settings=mine)
    else:
        found = _read_target(given, request, target, read)
    plan, aim = aim_of(found)
    kept = request.options.kept(given.schema)
    encoding = adopted(found.encoding, _some_rows(given, kept, found), request.options)
    try:
        encoding.check(kept)
    except InputError as error:
        raise MismatchError(f"the source and the target have columns of other types: {error}") from error
    hidden = states.unredacted(request, kept)
    return WarmUp(request, kept, RowStore.none(kept), Maps(encoding, plan), hidden, aim)


def _some_rows(given: Source, kept: pa.Schema, found: Running) -> pa.Table:
    """Return rows by which columns that the target lacks are recognised; none are needed if it lacks none."""
    if given.sample is not None:
        return given.sample(WARM_UP).select(kept.names)
    extra = [name for name in kept.names if name not in {block.name for block in found.encoding.blocks}]
    if extra:
        raise InputError(
            f"the source is a stream with columns that are not matched with the target, {extra[:8]}, and what they hold cannot "
            f"be seen before it is read; leave them out with drop=, or pass a file or a table"
        )
    return pa.Table.from_batches([], kept)


def _read_target(given: Source, request: Request, target: Any, read: Reader) -> Running:
    """Summarise the target in the columns that it shares with the source."""
    options = request.options
    chosen = options.check(options.kept(given.schema))
    aside = {options.weight, options.label, *options.redact}
    wanted = [name for name, share in chosen.items() if share > 0.0 and name not in aside]
    try:
        opened = _opened(request, target, wanted)
    except SupersampleError as error:
        message = str(error)
        raise type(error)(message if message.startswith("target") else f"target: {message}") from error
    names = [name for name in opened.schema.names if name in wanted]
    lacking = [] if options.columns is None else [name for name in wanted if name not in names]
    if names and lacking:
        raise MismatchError(
            f"columns must name columns that the target has, too, {opened.schema.names[:8]}, got {lacking[0]!r}; leave it out "
            f"of columns, or add it to the target"
        )
    if not names:
        raise MismatchError(
            f"target must share columns with the source that can be matched, got {opened.schema.names[:8]} beside "
            f"{given.schema.names[:8]}; rename them in one of the two"
        )
    weight = options.weight if options.weight in opened.schema.names else None
    narrow = without(opened, [name for name in opened.schema.names if name not in names and name != weight])
    types = None if options.types is None else {name: kind for name, kind in options.types.items() if name in names}
    columns = None if options.columns is None else {name: chosen[name] for name in names}
    own = replace(options, columns=columns, types=types, label=None, drop=(), redact=(), weight=weight, time=None)
    settings = replace(request.settings, seed=request.settings.seed.child("target"))
    while True:
        try:
            return states.settle(read(narrow, Request(settings, own)))
        except OtherTypeError as error:
            if narrow.as_text is None:
                raise InputError(f"target: {error}") from error
            narrow = narrow.as_text(error.columns)  # as for a source: a value far into a file is no number
        except SupersampleError as error:
            raise type(error)(f"target: {error}") from error


def _opened(request: Request, target: Any, wanted: Sequence[str]) -> Source:
    """Return the rows of the target; those of a measure have the columns that are wanted."""
    if isinstance(target, MeanEmbedding):
        raise InputTypeError(
            "target must have rows, got a MeanEmbedding, which has none; pass the rows that it was made of, a Summary of them, "
            "or a measure"
        )
    if not isinstance(target, Measure):
        return open_source(target)
    points = _points_of(target, request)
    if len(wanted) != points.shape[1]:
        raise MismatchError(
            f"target is a {target!r}, and the source has {len(wanted)} columns to match, {wanted[:8]}; name as many with "
            f"columns="
        )
    return open_source(pa.table(dict(zip(wanted, points.T, strict=True))))


def _points_of(target: Measure, request: Request) -> Floats:
    """Return the rows of a measure, if they have equal weights, or draws from it."""
    if isinstance(target, Empirical) and target.weights.min() == target.weights.max():
        return target.points
    return np.asarray(target.sample(_DRAWS, request.settings.seed.child("target").child("draws").sequence()))


def _refuse_options_of_target(request: Request) -> None:
    """Refuse what the target has decided already about columns."""
    options = request.options
    for name, value, default in (
        ("columns", options.columns, None),
        ("types", options.types, None),
        ("times", options.times, "ignore"),
    ):
        if value != default:
            raise InputError(
                f"{name} must be left out where target is a Summary, which has its own, got {value!r}; leave it out, or pass "
                f"the rows of the target in place of the Summary"
            )
