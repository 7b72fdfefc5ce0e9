"""Rows as they come, made fit for the history: columns that are dropped, absent, or numbers of several kinds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from supersample.live.batch import RefusedError
from supersample.records.encoding.options import ColumnOptions
from supersample.records.sources.nested import flattened

__all__ = ["Shape"]

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
    def of(cls, history: Mapping[str, Any]) -> "Shape":
        """Return what follows from the arguments of a history."""
        types = dict(history.get("types") or {})
        whole = {name for name, kind in types.items() if kind in ("id", "category")}
        whole |= {str(history[name]) for name in ("time", "label") if history.get(name)}
        return cls(tuple(history.get("drop") or ()), types, frozenset(whole))

    def fitted(self, table: pa.Table, schema: pa.Schema | None, *, filled: bool) -> pa.Table:
        """Return rows in the columns of those seen before, with all rows in one batch.

        filled: the rows come as text: a column that all of them lack is missing, and whole numbers are floats, since the next
        batch may have fractions where this one happens to have none.
        """
        options, known = ColumnOptions(drop=self.dropped), schema if schema is not None else pa.schema([])
        batches = [options.rest(flattened(each, known)) for each in table.combine_chunks().to_batches()]
        if not batches or batches[0].num_columns == 0:
            raise RefusedError("the batch must have a row and a column that is not dropped, and has none; send some rows")
        rows = pa.Table.from_batches(batches)
        if not filled:
            return rows
        return self._first(rows) if schema is None else _with_absent(rows, schema)

    def _first(self, rows: pa.Table) -> pa.Table:
        for place, each in enumerate(rows.schema):
            kind = each.type
            if pa.types.is_integer(kind) and each.name not in self.whole and _fits(rows.column(place)):
                kind = pa.float64()
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
