"""What the pages read from a summary: its tables once, the kinds of its columns, and the plane of its map."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from supersample._typing import Floats
from supersample.records.encoding import ColumnNote
from supersample.records.sources import RESERVED
from supersample.report import words
from supersample.report.numbers import shares_of
from supersample.report.projection import Plane, evenly, fit_plane
from supersample.report.ranking import rank_columns
from supersample.summary import Summary

__all__ = ["Parts", "encoded", "kinds_of", "map_words", "plane_of", "read", "reading_order"]

#: The most points on the map, and the most numbers in memory to fit its plane.
MOST_POINTS, MOST_NUMBERS = 1_200, 6_000_000
#: Columns up to this number keep their own order.
FEW_COLUMNS = 8


@dataclass(frozen=True)
class Parts:
    """The tables of a summary, with the shares of the background and the kinds of the columns.

    prototypes: largest share first; prototype_rows: their positions in the stream, in the summary's own order, which `_nearest`
    of the criticisms refers to.
    """

    background: pa.Table
    shares: Floats
    prototypes: pa.Table
    prototype_rows: tuple[int, ...]
    criticisms: pa.Table
    kinds: dict[str, str]


def read(summary: Summary) -> Parts:
    """Read each table of a summary once, since it is built again on every access."""
    background, prototypes = summary.background, summary.prototypes
    order = pc.sort_indices(prototypes, sort_keys=[("_weight", "descending"), ("_row", "ascending")])
    return Parts(
        background,
        shares_of(background),
        prototypes.take(order),
        tuple(prototypes.column("_row").to_pylist()),
        summary.criticisms,
        kinds_of(summary.columns, background),
    )


def kinds_of(columns: Sequence[ColumnNote], table: pa.Table) -> dict[str, str]:
    """Return the kind of each of the user's columns, in the order of the table."""
    kinds = {column.name: column.kind if column.used or column.kind == "weight" else "left out" for column in columns}
    return {name: kinds.get(name, "left out") for name in table.column_names if name not in RESERVED}


def encoded(summary: Summary, table: pa.Table) -> Floats:
    """Return rows of a summary's tables as points of its kernel."""
    return summary.encode(table.select([name for name in table.column_names if name not in RESERVED]))


def plane_of(summary: Summary, rows: pa.Table, shares: Floats) -> tuple[Plane, Sequence[int]]:
    """Fit the map to as many rows as memory allows, and return it with the places of the rows that it shows."""
    width = 1 + sum(column.width for column in summary.columns)
    fitted = evenly(len(rows), max(500, MOST_NUMBERS // width))
    part = shares[fitted]
    plane = fit_plane(encoded(summary, rows.take(fitted)), part / part.sum())
    return plane, [fitted[place] for place in evenly(len(fitted), MOST_POINTS)]


def reading_order(kinds: Mapping[str, str], table: pa.Table, coordinates: Floats, shares: Floats) -> list[str]:
    """Return the order in which columns are shown: their own if they are few, else the most informative first."""
    if len(kinds) <= FEW_COLUMNS:
        return list(kinds)
    return rank_columns(table, kinds, coordinates, shares / shares.sum())


def map_words(shown: float, n_points: int) -> str:
    """Describe what a map shows and what it hides."""
    caution = " Points far apart in the data may lie close together here." if shown < 0.7 else ""
    return (
        f"{n_points:,} rows of the background sample, laid flat along the two directions in which the data varies most. "
        f"These show {words.percent(shown)} of its variance.{caution}"
    )
