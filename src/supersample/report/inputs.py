"""What the pages read from a summary: its tables once, the kinds of its columns, and the plane of its map."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc

from supersample._typing import Floats
from supersample.profile import ColumnProfile
from supersample.records.encoding import ColumnNote
from supersample.records.sources import RESERVED
from supersample.report import words
from supersample.report.numbers import shares_of
from supersample.report.projection import Plane, evenly, fit_plane
from supersample.report.ranking import rank_columns
from supersample.summary import Summary

__all__ = [
    "Encodes", "Parts", "as_read", "encoded", "kinds_of", "map_words", "plane_of", "read", "reading_order", "sample_words",
]  # fmt: skip

#: The most points on the map, and the most numbers in memory to fit its plane.
MOST_POINTS, MOST_NUMBERS = 1_200, 6_000_000
#: Columns up to this number keep their own order.
FEW_COLUMNS = 8


class Encodes(Protocol):
    """What turns rows into points: a summary, or the encoding that two of them are compared in."""

    @property
    def columns(self) -> tuple[ColumnNote, ...]:
        """How each column is used."""
        ...

    def encode(self, rows: pa.Table) -> Floats:
        """Return rows as points of the kernel."""
        ...


@dataclass(frozen=True)
class Parts:
    """The tables of a summary, with the shares of the background and the kinds of the columns.

    measured: the background with numbers, times and truth values where text holds them. sample: words for what it is.
    prototypes: largest share first; prototype_rows: their positions in the stream, in the summary's own order, which `_nearest`
    of the criticisms refers to.
    """

    background: pa.Table
    measured: pa.Table
    sample: str
    shares: Floats
    prototypes: pa.Table
    prototype_rows: tuple[int, ...]
    criticisms: pa.Table
    kinds: dict[str, str]


def read(summary: Summary) -> Parts:
    """Read each table of a summary once, since it is built again on every access."""
    background, prototypes = summary.background, summary.prototypes
    order = pc.sort_indices(prototypes, sort_keys=[("_share", "descending"), ("_row", "ascending")])
    return Parts(
        background,
        as_read(background, summary.column_profiles),
        sample_words(len(background), summary.n_seen),
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


def as_read(table: pa.Table, columns: Sequence[ColumnProfile] | None) -> pa.Table:
    """Return a table with the numbers, times and truth values that columns of text were read as."""
    for column in columns or ():
        if column.reading is not None and column.name in table.column_names:
            read = [column.reading.read(chunk)[0] for chunk in table.column(column.name).chunks]
            kind = column.reading.read(pa.nulls(0, table.schema.field(column.name).type))[0].type
            table = table.set_column(table.column_names.index(column.name), column.name, pa.chunked_array(read, kind))
    return table


def sample_words(n_rows: int, n_seen: int) -> str:
    """Say what the rows of a background sample are.

    >>> sample_words(5_000, 30_000), sample_words(600, 600)
    ('a random sample of 5,000 rows', 'all 600 rows')
    """
    return f"all {words.count(n_rows, 'row')}" if n_rows >= n_seen else f"a random sample of {words.count(n_rows, 'row')}"


def encoded(summary: Encodes, table: pa.Table) -> Floats:
    """Return rows of a summary's tables as points of its kernel."""
    return summary.encode(table.select([name for name in table.column_names if name not in RESERVED]))


def plane_of(summary: Encodes, rows: pa.Table, shares: Floats) -> tuple[Plane, Sequence[int]]:
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


def map_words(shown: float, n_points: int, n_seen: int) -> str:
    """Describe what a map shows and what it hides."""
    caution = " Points far apart in the data may lie close together here." if shown < 0.7 else ""
    rows = f"All {words.count(n_points, 'row')}" if n_points >= n_seen else f"{words.count(n_points, 'row')} drawn at random"
    return (
        f"{rows}, laid flat along the two directions in which a random sample of the data varies most. "
        f"These show {words.percent(shown)} of its variance.{caution}"
    )
