"""Everything a page shows, as plain data: no markup here, and nothing is worked out after this."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from supersample._typing import Floats
from supersample.report import words
from supersample.report.cells import clean
from supersample.report.distributions import Distribution, distribution_of
from supersample.report.gallery import RESERVED, Gallery, gallery_of
from supersample.report.numbers import shares_of
from supersample.report.pictures import picture_columns
from supersample.report.projection import Cloud, Map, Plane, evenly, fit_plane, points_of
from supersample.report.shape import Column, Summarised
from supersample.report.telling import by_telling, unusual, usual_of

__all__ = ["ColumnLine", "Fact", "SummaryView", "Trace", "view_of"]

#: Cards shown of a longer list.
MOST_PROTOTYPES, MOST_CRITICISMS = 200, 60
#: Columns whose spread is charted.
MOST_CHARTS = 36
#: Points of the background on the map, and numbers held to find it.
MOST_POINTS, MOST_NUMBERS = 1_200, 8_000_000
#: Columns listed in the table of how they were read.
MOST_LINES = 300


@dataclass(frozen=True)
class Fact:
    """A number that stands by itself, and what it is."""

    label: str
    value: str
    about: str = ""


@dataclass(frozen=True)
class Trace:
    """MMD against the rows seen."""

    rows: tuple[int, ...]
    mmd: tuple[float, ...]
    error: tuple[float, ...]
    random_mmd: tuple[float, ...]


@dataclass(frozen=True)
class ColumnLine:
    """How one column was read."""

    name: str
    type: str
    kind: str
    counts: str
    note: str


@dataclass(frozen=True)
class SummaryView:
    """What the page of one summary shows."""

    title: str
    source: str
    headline: str
    meaning: str
    facts: tuple[Fact, ...]
    prototypes: Gallery
    criticisms: Gallery
    map: Map
    distributions: tuple[Distribution, ...]
    not_charted: str
    trace: Trace
    columns: tuple[ColumnLine, ...]
    n_columns: int
    small_print: tuple[Fact, ...]


def view_of(summary: Summarised, title: str | None = None) -> SummaryView:
    """Gather what the page of a summary shows."""
    background, shares = summary.background, shares_of(summary.background)
    kinds = kinds_of(summary.columns, background)
    plane, map_rows = plane_of(summary, background, shares)
    seen = background.take(map_rows)
    order = reading_order(seen, kinds, plane, summary.encode(seen), shares[map_rows])
    prototypes = _largest_first(summary.prototypes)
    charts, not_charted = _distributions(kinds, order, (background, prototypes), (shares, shares_of(prototypes)))
    n_prototypes = len(summary.prototypes)
    return SummaryView(
        title=clean(title or summary.source, 120),
        source=clean(summary.source, 120),
        headline=words.headline(n_prototypes, summary.n_seen, summary.mmd, summary.mmd_error, summary.random_mmd),
        meaning=words.meaning(n_prototypes, summary.n_seen, summary.mmd, summary.random_mmd),
        facts=_facts(summary),
        **_galleries(summary, prototypes, kinds, order, shares),
        map=_map(summary, plane, map_rows, prototypes),
        distributions=charts,
        not_charted=not_charted,
        trace=_trace(summary),
        columns=tuple(_line(column) for column in summary.columns[:MOST_LINES]),
        n_columns=len(summary.columns),
        small_print=_small_print(summary),
    )


def kinds_of(columns: Sequence[Column], table: pa.Table) -> dict[str, str]:
    """Return the kind of each column of the user, in the order of the table."""
    kinds = {column.name: column.kind for column in columns}
    return {name: kinds.get(name, "left out") for name in table.column_names if name not in RESERVED}


def plane_of(summary: Summarised, rows: pa.Table, shares: Floats) -> tuple[Plane, Sequence[int]]:
    """Fit the map to as many rows as there is room for, and return it with the rows that it shows."""
    width = max(1, sum(column.width for column in summary.columns))
    fitted = evenly(len(rows), max(MOST_POINTS, min(5_000, MOST_NUMBERS // width)) if width <= 6_000 else MOST_POINTS // 2)
    part = shares[fitted]
    plane = fit_plane(summary.encode(rows.take(fitted)), part / part.sum())
    return plane, [fitted[place] for place in evenly(len(fitted), MOST_POINTS)]


def reading_order(table: pa.Table, kinds: Mapping[str, str], plane: Plane, encoded: Floats, shares: Floats) -> list[str]:
    """Return the order in which columns are shown: their own where they are few, else the most telling first."""
    if len(kinds) <= 8:
        return list(kinds)
    return by_telling(table, kinds, plane.place(encoded), shares / shares.sum())


def _largest_first(prototypes: pa.Table) -> pa.Table:
    return prototypes.take(pc.sort_indices(prototypes, sort_keys=[("_weight", "descending"), ("_row", "ascending")]))


def _galleries(
    summary: Summarised, prototypes: pa.Table, kinds: Mapping[str, str], order: Sequence[str], shares: Floats
) -> dict[str, Gallery]:
    criticisms = summary.criticisms
    shown = min(len(prototypes), MOST_PROTOTYPES) + min(len(criticisms), MOST_CRITICISMS)
    pictures = picture_columns([summary.background.drop_columns(["_row", "_weight"]), prototypes, criticisms], shown)
    usual = usual_of(summary.background, kinds, shares)
    rows = summary.prototypes.column("_row").to_pylist()
    return {
        "prototypes": gallery_of(prototypes, order, pictures, most=MOST_PROTOTYPES),
        "criticisms": gallery_of(
            criticisms,
            order,
            pictures,
            most=MOST_CRITICISMS,
            why=lambda place: _why(criticisms.slice(place, 1).to_pylist()[0], rows),
            unusual=lambda place: unusual(criticisms.slice(place, 1), usual),
        ),
    }


def _why(criticism: Mapping[str, Any], rows: Sequence[int]) -> str:
    amount = "too little" if criticism["_witness"] >= 0 else "too much"
    nearer = words.percent(criticism["_weight"])
    return (
        f"The prototypes have {amount} here: {nearer} of the data is nearer to this row than to any prototype. "
        f"Nearest prototype: row {rows[criticism['_nearest']]:,}."
    )


def _facts(summary: Summarised) -> tuple[Fact, ...]:
    n_prototypes, n_criticisms = len(summary.prototypes), len(summary.criticisms)
    facts = [
        Fact("rows seen", words.count(summary.n_seen)),
        Fact("prototypes", words.count(n_prototypes), "real rows that stand for the rest"),
        Fact("criticisms", words.count(n_criticisms), "real rows that the prototypes miss"),
    ]
    if 0 < summary.mmd < summary.random_mmd:
        ratio = summary.random_mmd / summary.mmd
        facts.append(Fact("times closer than chance", words.times(ratio), f"than {n_prototypes:,} rows drawn at random"))
    return tuple(facts)


def _map(summary: Summarised, plane: Plane, map_rows: Sequence[int], prototypes: pa.Table) -> Map:
    def placed(table: pa.Table) -> tuple[tuple[float, float], ...]:
        return points_of(plane.place(summary.encode(table))) if len(table) else ()

    clouds = (
        Cloud("data", "data", placed(summary.background.take(map_rows))),
        Cloud("prototypes", "prototypes, larger where they stand for more", placed(prototypes), tuple(shares_of(prototypes))),
        Cloud("criticisms", "criticisms", placed(summary.criticisms)),
    )
    return Map(clouds, plane.shown, map_words(plane.shown, len(map_rows)))


def map_words(shown: float, n_points: int) -> str:
    """Say what a map shows and what it hides."""
    caution = " Points far apart in the data may lie close together here." if shown < 0.7 else ""
    return (
        f"{n_points:,} rows of the background sample, laid flat along the two directions in which the data varies most. "
        f"These show {words.percent(shown)} of its variance.{caution}"
    )


def _distributions(
    kinds: Mapping[str, str], order: Sequence[str], tables: tuple[pa.Table, pa.Table], shares: tuple[Floats, Floats]
) -> tuple[tuple[Distribution, ...], str]:
    charts: list[Distribution] = []
    vectors, too_many = [], 0
    for name in order:
        if kinds[name] == "vector":
            vectors.append(clean(name, 40))
        elif len(charts) >= MOST_CHARTS:
            too_many += kinds[name] not in ("left out", "weight")
        elif (chart := distribution_of(name, kinds[name], tables, shares, ("the data", "the prototypes"))) is not None:
            charts.append(replace(chart, name=clean(chart.name, 60)))
    notes = []
    if vectors:
        notes.append(f"Not charted, because {'each value is a vector' if len(vectors) == 1 else 'their values are vectors'}: ")
        notes[-1] += words.listed(vectors) + "."
    if too_many:
        notes.append(f"The {len(charts)} most telling columns are charted; {too_many:,} more are not.")
    return tuple(charts), " ".join(notes)


def _trace(summary: Summarised) -> Trace:
    readings = [(r.rows, r.mmd, r.error, r.random_mmd) for r in summary.history]
    if not readings or readings[-1][0] < summary.n_seen:
        readings.append((summary.n_seen, summary.mmd, summary.mmd_error, summary.random_mmd))
    rows, mmd, error, random_mmd = zip(*readings, strict=True)
    return Trace(rows, mmd, error, random_mmd)


def _line(column: Column) -> ColumnLine:
    if column.kind in ("left out", "weight"):
        counts = "not in the kernel"
    else:
        counts = words.count(column.width, "number") + ("" if column.weight == 1 else f", weight {words.amount(column.weight)}")
    return ColumnLine(clean(column.name, 60), clean(column.type, 60), column.kind, counts, clean(column.note, 160))


def _small_print(summary: Summarised) -> tuple[Fact, ...]:
    width = sum(column.width for column in summary.columns)
    facts = [
        Fact(
            "Kernel", clean(repr(summary.kernel), 200), f"says how alike two rows are, on {words.count(width, 'number')} a row"
        ),
        Fact("MMD", words.certified(summary.mmd, summary.mmd_error), "held out: judged by features that the choice never saw"),
        Fact("MMD of random rows", words.amount(summary.random_mmd), "expected of as many rows drawn uniformly from the data"),
        Fact(
            "Bound",
            words.amount(summary.bound()),
            "MMD is below this with a probability of 95%, whatever the data; it is loose",
        ),
    ]
    if np.isfinite(summary.energy) and summary.energy < 0.9995:
        facts.append(
            Fact("Energy", words.percent(summary.energy), "of the kernel is seen exactly; the rest through random features")
        )
    facts.append(
        Fact("Background", words.count(len(summary.background), "row"), "a uniform sample of the data: charts and map show it")
    )
    return tuple(facts)
