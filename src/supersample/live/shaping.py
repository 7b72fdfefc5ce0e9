"""Rows as they come, made fit for the history: columns that are dropped, absent, or numbers of several kinds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from supersample.live.batch import RefusedError
from supersample.records.encoding.options import ColumnOptions
from supersample.records.sources.nested import flat_fields, flattened

__all__ = ["Shape", "misfit"]

#: Whole numbers up to here are the same as floats.
_EXACT = 1 << 53
#: What a column that so far holds nothing but missing values is, by what the user says that it is.
_EMPTY = {"number": pa.float64(), "boolean": pa.bool_(), "category": pa.string(), "text": pa.string()}


@dataclass(frozen=True)
class Shape:
    """What a stream does to rows before it takes them in.

    dropped: columns that are removed, and kept nowhere. types: what columns are, as users say. whole: columns whose whole
    numbers stay whole, whatever comes later.
    """

    dropped: tuple[str, ...] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    whole: frozenset[str] = frozenset()

    @classmethod
    def of(cls, options: ColumnOptions, time: str | None, drop: Sequence[str] = ()) -> "Shape":
        """Return what follows from the options of a history, its column of times, and columns that it never sees."""
        types = dict(options.types or {})
        whole = {name for name, kind in types.items() if kind in ("id", "category")}
        whole |= {name for name in (time, options.label) if name}
        return cls((*drop, *options.drop), types, frozenset(whole))

    def fitted(self, table: pa.Table, schema: pa.Schema | None, *, filled: bool) -> pa.Table:
        """Return rows in the columns of those seen before, with all rows in one batch.

        filled: the rows come as text: a column that all of them lack is missing, and whole numbers are floats, since the next
        batch may have fractions where this one happens to have none. So times have microseconds in any case.
        """
        options, known = ColumnOptions(drop=self.dropped), schema if schema is not None else pa.schema([])
        batches = [options.rest(flattened(each, known)) for each in table.combine_chunks().to_batches()]
        if not batches or batches[0].num_columns == 0:
            raise RefusedError("the batch must have a row and a column that is not dropped, and has none; send some rows")
        rows = self._typed(pa.Table.from_batches(batches), known, text=filled)
        rows = _with_absent(rows, known if filled else options.gone(known))
        if filled:
            _check_not_empty(rows)
        return rows

    def _typed(self, rows: pa.Table, known: pa.Schema, *, text: bool) -> pa.Table:
        """Return rows whose columns without a type so far have one that holds what may come."""
        fixed = {each.name for each in known if not pa.types.is_null(each.type)}
        for place, each in enumerate(rows.schema):
            if each.name in fixed:
                continue
            kind = each.type
            if text and pa.types.is_integer(kind) and each.name not in self.whole and _fits(rows.column(place)):
                kind = pa.float64()
            elif pa.types.is_timestamp(kind) and kind.unit in ("s", "ms"):
                kind = pa.timestamp("us", kind.tz)  # the next moment may have a fraction of a second
            elif pa.types.is_null(kind):
                kind = _EMPTY.get(self.types.get(each.name, ""), kind)
            if kind != each.type:
                rows = rows.set_column(place, each.with_type(kind), rows.column(place).cast(kind))
        return rows


def _fits(column: pa.ChunkedArray) -> bool:
    """Return whether no digit is lost if whole numbers become floats."""
    least, most = (each.as_py() for each in pc.min_max(column).values())
    return least is None or (least >= -_EXACT and most <= _EXACT)


def _with_absent(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    for each in schema:
        if each.name not in rows.column_names:
            rows = rows.append_column(each, pa.nulls(rows.num_rows, each.type))
    return rows


def _check_not_empty(rows: pa.Table) -> None:
    """Refuse rows of text that say nothing: what absent columns are filled with is not what anybody observed."""
    if any(column.null_count == 0 for column in rows.columns):
        return
    filled = reduce(pc.or_, (pc.is_valid(column) for column in rows.columns))
    place = pc.index(filled, False).as_py()
    if place >= 0:
        raise RefusedError(
            f"each row must have a value in a column that is not dropped, and row {place + 1:,} of the batch has none; "
            "leave such rows out"
        )


def misfit(rows: pa.Table, known: pa.Schema | None, dropped: Sequence[str]) -> str:
    """Say how rows differ from a schema without anything that they hold: without a header, even names of columns are values."""
    flat = pa.schema(flat_fields(rows.schema))  # a field of a structure may be dropped
    fields = {each.name: each.type for each in ColumnOptions(drop=tuple(dropped)).kept(flat)}
    expected = {} if known is None else {each.name: each.type for each in known}
    missing = [name for name in expected if name not in fields]
    other = [f"{name} ({kind})" for name, kind in expected.items() if fields.get(name, kind) != kind]
    unknown = len(fields.keys() - expected.keys()) if expected else 0
    found = [
        f"missing columns: {', '.join(missing)}" if missing else "",
        f"columns not seen before: {unknown}" if unknown else "",
        f"columns of another type than before: {', '.join(other)}" if other else "",
    ]
    said = "; ".join(each for each in found if each) or "a value cannot be used"
    return f"{said}; values are not shown, since the stream drops or redacts columns"
