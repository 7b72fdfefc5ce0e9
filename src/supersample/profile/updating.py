"""The profile of one column as it begins, takes in rows, and is merged with another."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from supersample._compiled import exact
from supersample._hashing import Hashes, hash_texts, hash_words
from supersample._typing import Floats, Indices
from supersample.errors import InputError, MismatchError
from supersample.profile import distinct, frequent, groups, lengths, moments, numbers
from supersample.profile.column import ColumnProfile, Reads
from supersample.profile.forms import Form, form_of
from supersample.profile.frequent import Frequent, Value, shortened
from supersample.profile.lengths import Lengths
from supersample.profile.moments import Moments
from supersample.profile.numbers import Measured, Numbers
from supersample.records.encoding.options import REDACTED
from supersample.records.encoding.values import numbers_of, plain_storage

__all__ = ["ColumnPlan", "begin", "floats_of", "merge", "texts_of", "update"]


class ColumnPlan(NamedTuple):
    """What a profile must know about a column beforehand.

    role: what the column is taken for, such as "number" or "id"; it is kept, and changes nothing here, but for "redacted": no
    value of such a column is kept, so that it has counts and lengths only.
    reading: how its text is read, if it is.
    centre: a number among its values, such as the median of some rows, in seconds for times; quantiles near it are the
    most accurate. The profiles of two data sets can be merged only if they have the same one.
    """

    name: str
    type: pa.DataType
    role: str
    reading: Reads | None = None
    centre: float = 0.0


class _Values(NamedTuple):
    """Values of a column, none of them missing, as the sketches take them.

    hashes: by which they are told apart. kept: some of them by place, as they are kept. measured: the same, as numbers.
    """

    hashes: Hashes
    kept: Callable[[Indices], Sequence[Value]]
    measured: Callable[[Indices | slice], Measured] | None


def begin(plan: ColumnPlan) -> ColumnProfile:
    """Return the profile of a column without rows."""
    if not math.isfinite(plan.centre):
        raise InputError(
            f"centre of column {plan.name!r} must be a finite number, got {plan.centre!r}; pass 0.0 if none is known"
        )
    stored_as = plan.type.storage_type if isinstance(plan.type, pa.BaseExtensionType) else plan.type
    column = pa.nulls(0, stored_as)
    if plan.reading is not None:
        column, _ = plan.reading.read(column)
    form, shown = form_of(str(column.type)), plan.role != REDACTED
    return ColumnProfile(
        name=plan.name,
        type=str(plan.type),
        role=plan.role,
        values=form.name,
        reading=plan.reading,
        count=0,
        missing=0,
        unreadable=0,
        registers=distinct.none() if form.told_apart else None,
        frequent=Frequent() if form.told_apart and shown else None,
        numbers=Numbers.none(plan.centre) if form.measured and shown else None,
        lengths=Lengths() if form.has_lengths else None,
        norms=Moments() if form.family == "vector" and shown else None,
        groups=np.zeros(groups.GROUPS, dtype=np.int64) if form.family == "text" and plan.role == groups.WORDED else None,
    )


def update(state: ColumnProfile, column: pa.Array) -> ColumnProfile:
    """Return the profile after more rows of the column; the given one is not changed. O(n)."""
    if str(column.type) != state.type:
        raise MismatchError(
            f"column {state.name!r} must be of type {state.type}, as in the rows profiled before, got {column.type}; give it "
            f"one type in all rows"
        )
    column, unreadable = plain_storage(column), 0
    if state.reading is not None:
        column, unreadable = state.reading.read(column)
    if str(column.type) != state.values:
        raise MismatchError(
            f"column {state.name!r} must hold values of type {state.values}, as in the rows profiled before, got {column.type};"
            f" give it one type in all rows"
        )
    present = _present(column, state.form)
    after = replace(
        state,
        count=state.count + len(present),
        missing=state.missing + len(column) - unreadable - len(present),
        unreadable=state.unreadable + unreadable,
    )
    if len(present) == 0:
        return after
    if state.form.told_apart:
        after = _with_values(after, present)
    if after.lengths is not None:
        sizes = _sizes(present)
        after = replace(after, lengths=lengths.merge(after.lengths, lengths.of(sizes)))
        if after.norms is not None:
            after = replace(after, norms=moments.merge(after.norms, _norms(present, sizes)))
    return after


def floats_of(state: ColumnProfile, column: pa.Array) -> Floats:
    """Return some rows of a column of numbers or times as its profile measures them: times in seconds, NaN where missing."""
    return np.asarray(state.form.floats(_read(state, column)), dtype=np.float64)


def texts_of(state: ColumnProfile, column: pa.Array) -> list[str | None]:
    """Return some rows of a column as `ColumnProfile.top` writes their values; None where they are missing."""
    column = _read(state, column)
    there = column.is_valid().to_numpy(zero_copy_only=False)
    if state.form.family == "real":
        there &= ~np.isnan(column.cast(pa.float64()).to_numpy(zero_copy_only=False))
    places = np.flatnonzero(there)
    texts: list[str | None] = [None] * len(column)
    if places.size:
        values = _VALUES[state.form.family](state.form, _present(column, state.form))
        for place, value in zip(places.tolist(), values.kept(np.arange(places.size)), strict=True):
            texts[place] = state.form.value_text(value)
    return texts


def _read(state: ColumnProfile, column: pa.Array) -> pa.Array:
    column = plain_storage(column)
    return column if state.reading is None else state.reading.read(column)[0]


def merge(left: ColumnProfile, right: ColumnProfile) -> ColumnProfile:
    """Return the profile of both data sets together; the order of the two does not matter."""
    _require_alike(left, right)
    values = _both(frequent.merge, left.frequent, right.frequent)
    return replace(
        left,
        count=left.count + right.count,
        missing=left.missing + right.missing,
        unreadable=left.unreadable + right.unreadable,
        registers=_both(np.maximum, left.registers, right.registers),
        frequent=values,
        numbers=_both(numbers.merge, left.numbers, right.numbers),
        lengths=_both(lengths.merge, left.lengths, right.lengths),
        norms=_both(moments.merge, left.norms, right.norms),
        groups=_groups_of_both(left, right, values),
    )


def _groups_of_both(left: ColumnProfile, right: ColumnProfile, values: Frequent | None) -> Indices | None:
    if left.role == groups.WORDED:
        return None if left.groups is None or right.groups is None else left.groups + right.groups
    if left.frequent is None or right.frequent is None or values is None or left.role not in groups.GROUPED:
        return None
    return groups.merge((left.frequent, left.groups), (right.frequent, right.groups), values)


def _both(join: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    return None if left is None else join(left, right)


def _require_alike(left: ColumnProfile, right: ColumnProfile) -> None:
    for what in ("name", "type", "role", "values", "reading", "centre"):
        mine, other = getattr(left, what), getattr(right, what)
        if mine != other:
            raise MismatchError(
                f"the profiles of column {left.name!r} must have the same {what} to be merged, got {mine!r} and {other!r}; "
                f"make the second one with summarize(..., like=first)"
            )


def _present(column: pa.Array, form: Form) -> pa.Array:
    """Return the values that are not missing: neither null nor NaN."""
    if column.null_count:
        column = column.drop_null()
    if form.family == "real":
        column = column.cast(pa.float64())
        missing = np.isnan(column.to_numpy())
        if missing.any():
            column = column.filter(pa.array(~missing))
    return column


def _with_values(state: ColumnProfile, column: pa.Array) -> ColumnProfile:
    """Return the profile after more values, none of them missing.

    Where they are few different ones, everything but their number is computed from one of each.
    """
    values = _VALUES[state.form.family](state.form, column)
    held, measured, grouped = state.frequent, state.numbers, state.groups
    places: Indices | slice = slice(None)
    repeats = None
    if state.frequent is not None:
        held, tally = frequent.add(state.frequent, values.hashes, values.kept)
        places, repeats = (places, None) if tally is None else tally
        if state.role in groups.GROUPED:
            grouped = groups.add(state.frequent, state.groups, held, values.hashes)
        elif state.role == groups.WORDED and grouped is not None:
            grouped = grouped + groups.with_words(column)
    if measured is not None and values.measured is not None:
        measured = numbers.add(measured, values.measured(places), repeats)
    registers = None if state.registers is None else distinct.add(state.registers, values.hashes[places])
    return replace(state, registers=registers, frequent=held, numbers=measured, groups=grouped)


def _whole_values(form: Form, column: pa.Array) -> _Values:
    words = form.words(column)

    def measured(places: Indices | slice) -> Measured:
        counts = (words.view(np.uint64) if form.name == "uint64" else words)[places]
        floats = form.floats(_taken(column, places)) if form.clock else counts.astype(np.float64)
        return Measured(floats, int(counts.min()), int(counts.max()))

    return _Values(hash_words(words.view(np.uint64)), partial(_words_at, words), measured)


def _real_values(form: Form, column: pa.Array) -> _Values:
    all_floats = form.floats(column) + 0.0  # turns -0.0 into 0.0, which it equals
    words = all_floats.view(np.int64)

    def measured(places: Indices | slice) -> Measured:
        floats = all_floats[places]
        finite = floats[np.isfinite(floats)]
        return Measured(floats, float(finite.min()), float(finite.max())) if finite.size else Measured(floats, None, None)

    return _Values(hash_words(words.view(np.uint64)), partial(_words_at, words), measured)


def _decimal_values(form: Form, column: pa.Array) -> _Values:
    texts = column.cast(pa.string())

    def measured(places: Indices | slice) -> Measured:
        some = _taken(column, places)
        ends = pc.min_max(some).as_py()
        return Measured(form.floats(some), _last_places(ends["min"]), _last_places(ends["max"]))

    return _Values(hash_texts(texts), partial(_texts_at, texts), measured)


def _text_values(_: Form, column: pa.Array) -> _Values:
    return _Values(hash_texts(column), partial(_texts_at, column), None)


_VALUES: dict[str, Callable[[Form, pa.Array], _Values]] = {
    "whole": _whole_values, "real": _real_values, "decimal": _decimal_values, "text": _text_values,
}  # fmt: skip


def _taken(column: pa.Array, places: Indices | slice) -> pa.Array:
    return column if isinstance(places, slice) else column.take(pa.array(places))


def _words_at(words: Indices, rows: Indices) -> Sequence[Value]:
    found: list[int] = words[rows].tolist()
    return found


def _texts_at(column: pa.Array, rows: Indices) -> Sequence[Value]:
    """Return some texts of a column as they are kept; bytes that are no UTF-8 are replaced."""
    chosen = column.take(pa.array(rows)).cast(pa.binary())
    return [shortened(each.decode("utf-8", "replace")) for each in chosen.to_pylist()]


def _last_places(value: Decimal) -> int:
    """Return a decimal as a whole number of units of its last place."""
    sign, digits, _ = value.as_tuple()
    whole = int("".join(map(str, digits)))
    return -whole if sign else whole


def _sizes(column: pa.Array) -> Indices:
    """Return the length of each text, in characters, or of each list."""
    kind = column.type
    if pa.types.is_fixed_size_list(kind):
        return np.full(len(column), kind.list_size, dtype=np.int64)
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    measured = pc.list_value_length(column) if is_list else pc.utf8_length(column)
    return np.asarray(measured.to_numpy(zero_copy_only=False), dtype=np.int64)


def _norms(column: pa.Array, sizes: Indices) -> Moments:
    """Return the moments of the Euclidean lengths of lists of numbers; those with a missing or infinite number are left out."""
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    values = np.asarray(numbers_of(column.flatten()), dtype=np.float64)
    found = np.empty(sizes.size)
    exact.norms(offsets, values, found)
    return moments.of(found[np.isfinite(found)])
