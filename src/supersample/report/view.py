"""Everything a page shows, as plain data: no markup here, and nothing is computed after this."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from supersample._typing import Floats
from supersample.errors import InputError
from supersample.records.encoding import ColumnNote
from supersample.report import words
from supersample.report.cells import clean
from supersample.report.columns import ColumnCard, cards_of
from supersample.report.distributions import Distribution, distribution_of
from supersample.report.gallery import Gallery, gallery_of
from supersample.report.inputs import Parts, as_read, encoded, map_words, plane_of, read, reading_order
from supersample.report.numbers import shares_of
from supersample.report.panels import PANELS
from supersample.report.pictures import picture_columns
from supersample.report.projection import Cloud, Map, Plane, points_of
from supersample.report.ranking import added_by, unusual, usual_of
from supersample.summary import Summary
from supersample.summary.notes import Note, grouped
from supersample.summary.outcome import said_as_good_as
from supersample.summary.summary import counts_alike

__all__ = [
    "ColumnLine", "Fact", "NoteGroup", "SummaryView", "Trace", "headline_of", "note_groups", "view_of", "why_shown",
]  # fmt: skip

#: Cards shown of a longer list.
MOST_PROTOTYPES, MOST_CRITICISMS = 200, 60
#: Columns whose spread is charted, of a summary without a profile.
MOST_CHARTS = 36
#: Characters of a note.
LONGEST_NOTE = 400
#: Columns listed in the table of how they were read.
MOST_LINES = 300


@dataclass(frozen=True)
class Fact:
    """A single number, and what it is."""

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

    @property
    def drawn(self) -> tuple[bool, ...]:
        """Which readings can be drawn on logarithmic scales."""
        return tuple(0 < mmd < np.inf and 0 < other < np.inf for mmd, other in zip(self.mmd, self.random_mmd, strict=True))

    @property
    def is_drawn(self) -> bool:
        """Whether there are enough of them for a line."""
        return sum(self.drawn) > 1


@dataclass(frozen=True)
class ColumnLine:
    """How one column was read."""

    name: str
    type: str
    kind: str
    counts: str
    note: str


@dataclass(frozen=True)
class NoteGroup:
    """Notes of one kind: a single one with its column, or several that are listed below a line of words."""

    kind: str
    column: str
    words: str
    notes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class SummaryView:
    """What the page of one summary shows.

    cards: one for each column, from the profile of all rows. A summary of an earlier version has none; then distributions are
    those of a sample, and there is none otherwise. sample: words for the background sample.
    """

    title: str
    source: str
    headline: str
    meaning: str
    facts: tuple[Fact, ...]
    prototypes: Gallery
    criticisms: Gallery
    map: Map
    cards: tuple[ColumnCard, ...]
    notes: tuple[NoteGroup, ...]
    sample: str
    n_rows: int
    has_target: bool
    is_weighted: bool
    distributions: tuple[Distribution, ...]
    not_charted: str
    trace: Trace
    columns: tuple[ColumnLine, ...]
    n_columns: int
    small_print: tuple[Fact, ...]
    #: What a panel alone shows, by the panel's name.
    own: Mapping[str, Any]


def view_of(summary: Summary, title: str | None = None) -> SummaryView:
    """Gather what the page of a summary shows."""
    parts = read(summary)
    plane, places = plane_of(summary, parts.background, parts.shares)
    sample = encoded(summary, parts.background.take(places))
    coordinates = plane.place(sample)
    order = reading_order(parts.kinds, parts.measured.take(places), coordinates, parts.shares[places])
    notes = summary.notes
    profiles = summary.column_profiles
    charts, not_charted = ((), "") if profiles is not None else _distributions(parts, order)
    prototypes, criticisms = _galleries(summary, parts, order, sample)
    headline, meaning = headline_of(summary, len(parts.prototypes))
    return SummaryView(
        title=clean(title or summary.source, 120),
        source=clean(summary.source, 120),
        headline=headline,
        meaning=meaning,
        facts=_facts(parts, summary.n_seen, summary.n_target),
        prototypes=prototypes,
        criticisms=criticisms,
        map=_map(summary, parts, plane, coordinates),
        cards=() if profiles is None else cards_of(
            profiles, order, (summary.columns, notes), parts.prototypes, parts.background
        ),
        notes=note_groups(notes),
        sample=parts.sample,
        n_rows=summary.n_seen,
        has_target=summary.n_target is not None,
        is_weighted=not counts_alike(summary),
        distributions=charts,
        not_charted=not_charted,
        trace=_trace(summary),
        columns=tuple(_line(column) for column in summary.columns[:MOST_LINES]),
        n_columns=len(summary.columns),
        small_print=_small_print(summary, parts.sample),
        own={name: panel.data(summary) for name, panel in PANELS.items()},
    )  # fmt: skip


def headline_of(summary: Summary, n_prototypes: int) -> tuple[str, str]:
    """Say how many rows represent how many, how good they are, and what the measure of that means."""
    n_target = summary.n_target
    good = said_as_good_as(summary.as_good_as, n_prototypes, summary.n_seen if n_target is None else n_target)
    measured = summary.mmd, summary.mmd_error, summary.random_mmd
    return (
        words.headline(n_prototypes, summary.n_seen, good, n_target),
        words.meaning(n_prototypes, summary.n_seen, *measured, n_target=n_target),
    )


def note_groups(notes: Sequence[Note]) -> tuple[NoteGroup, ...]:
    """Put notes of one kind together where there are many of them."""
    return tuple(_group(group) for group in grouped(notes))


def _group(group: tuple[Note, ...]) -> NoteGroup:
    first = group[0]
    if len(group) == 1:
        return NoteGroup(first.kind, clean(first.column or "", 60), clean(first.text, LONGEST_NOTE))
    notes = tuple((clean(note.column or "", 60), clean(note.text, LONGEST_NOTE)) for note in group)
    names = [name for name, _ in notes if name]
    return NoteGroup(first.kind, "", f"{words.count(len(group), 'column')}: {words.listed(names)}", notes)


def _galleries(summary: Summary, parts: Parts, order: Sequence[str], sample: Floats) -> tuple[Gallery, Gallery]:
    """Return prototypes and criticisms as cards. sample: the points of some background rows."""
    prototypes, criticisms = parts.prototypes, parts.criticisms
    measured = as_read(criticisms, summary.column_profiles)
    # Each criticism is drawn with its nearest prototype beside it.
    shown = min(len(prototypes), MOST_PROTOTYPES) + 2 * min(len(criticisms), MOST_CRITICISMS)
    pictures = picture_columns([parts.background.select(list(parts.kinds)), prototypes, criticisms], shown)
    usual = usual_of(parts.measured, parts.kinds, parts.shares)
    reasons = criticisms.select(["_kind", "_share", "_nearest"]).to_pylist()
    points = encoded(summary, criticisms.slice(0, MOST_CRITICISMS)) if len(criticisms) else sample[:0]
    added = added_by(summary.columns, points, sample)
    first = gallery_of(prototypes, order, pictures, most=MOST_PROTOTYPES)
    drawn = {card.row: card.pictures for card in first.cards}
    second = gallery_of(
        criticisms,
        order,
        pictures,
        most=MOST_CRITICISMS,
        why=lambda place: why_shown(reasons[place], parts.prototype_rows),
        unusual=lambda place: unusual(measured.slice(place, 1), usual, added[place]),
        nearest=lambda place: drawn.get(parts.prototype_rows[reasons[place]["_nearest"]], ()),
    )
    return first, second


def why_shown(criticism: Mapping[str, Any], rows: Sequence[int]) -> str:
    """Say what a criticism is; rows: the positions of the prototypes, as `_nearest` counts them."""
    what = {
        "missed": "Missed: it stands for a group apart that no prototype shows.",
        "rare": "Rare: few rows are like it.",
    }[criticism["_kind"]]
    nearer = words.percent(criticism["_share"]) if criticism["_share"] > 0 else "Almost none"
    return (
        f"{what} {nearer} of the data is nearer to this row than to any prototype. "
        f"Nearest prototype: row {rows[criticism['_nearest']]:,}."
    )


def _facts(parts: Parts, n_seen: int, n_target: int | None) -> tuple[Fact, ...]:
    rest = "the rest" if n_target is None else "the target"
    return (
        Fact("rows seen" if n_seen != 1 else "row seen", words.count(n_seen)),
        Fact("columns", words.count(len(parts.kinds))),
        Fact("prototypes", words.count(len(parts.prototypes)), f"real rows that stand for {rest}"),
        Fact("criticisms", words.count(len(parts.criticisms)), "real rows that the prototypes do not show"),
    )


def _map(summary: Summary, parts: Parts, plane: Plane, coordinates: Floats) -> Map:
    placed = [
        points_of(plane.place(encoded(summary, table))) if len(table) else () for table in (parts.prototypes, parts.criticisms)
    ]
    clouds = (
        Cloud("data", "data", points_of(coordinates)),
        Cloud(
            "prototypes",
            "prototypes, larger where they stand for more",
            placed[0],
            tuple(shares_of(parts.prototypes, "_share")),
        ),
        Cloud("criticisms", "criticisms", placed[1]),
    )
    return Map(clouds, plane.shown, map_words(plane.shown, len(coordinates), summary.n_seen))


def _distributions(parts: Parts, order: Sequence[str]) -> tuple[tuple[Distribution, ...], str]:
    tables = parts.background, parts.prototypes
    where = f"in {parts.sample}", "in the prototypes"
    shares = parts.shares, shares_of(parts.prototypes)  # the weights of which MMD is the distance
    charts: list[Distribution] = []
    vectors, too_many = [], 0
    for name in order:
        kind = parts.kinds[name]
        if kind == "vector":
            vectors.append(clean(name, 40))
        elif len(charts) >= MOST_CHARTS:
            too_many += kind not in ("left out", "weight")
        elif (chart := distribution_of(name, kind, tables, shares, where)) is not None:
            charts.append(replace(chart, name=clean(chart.name, 60)))
    notes = []
    if vectors:
        why = "each value is a vector" if len(vectors) == 1 else "their values are vectors"
        notes.append(f"Not charted, because {why}: {words.listed(vectors)}.")
    if too_many:
        notes.append(f"The {len(charts)} most telling columns are charted; {too_many:,} more are not.")
    return tuple(charts), " ".join(notes)


def _trace(summary: Summary) -> Trace:
    readings = [(r.rows, r.mmd, r.error, r.random_mmd) for r in summary.mmd_path]
    if not readings or readings[-1][0] < summary.n_seen:
        readings.append((summary.n_seen, summary.mmd, summary.mmd_error, summary.random_mmd))
    rows, mmd, error, random_mmd = zip(*readings, strict=True)
    return Trace(rows, mmd, error, random_mmd)


def _line(column: ColumnNote) -> ColumnLine:
    if not column.used:
        counts = "not in the kernel"
    else:
        counts = words.count(column.width, "number") + ("" if column.weight == 1 else f", weight {words.amount(column.weight)}")
    return ColumnLine(clean(column.name, 60), clean(column.type, 60), column.kind, counts, clean(column.note, 160))


def _small_print(summary: Summary, sample: str) -> tuple[Fact, ...]:
    width = sum(column.width for column in summary.columns)
    whole, shares = ("the data", "the shares of rows, ") if summary.n_target is None else ("the target", "")
    facts = [
        Fact(
            "Kernel",
            clean(words.shortened(repr(summary.kernel)), 200),
            f"says how alike two rows are, by {words.count(width, 'number')} a row",
        ),
        Fact("Features", words.count(summary.feature_map.n_features), "numbers a row in which the choice was made"),
        Fact(
            "MMD",
            words.certified(summary.mmd, summary.mmd_error),
            "of the prototypes with their weights, judged by features kept from the choice",
        ),
        Fact("MMD of equal weights", words.amount(summary.uniform_mmd), "all prototypes counting alike"),
        Fact("MMD of random rows", words.amount(summary.random_mmd), f"as many rows, drawn at random from {whole}"),
        Fact("Background", sample, f"behind the map, {shares}and which columns go together"),
    ]
    try:
        bound = summary.bound()
    except InputError:  # kernels without frequencies have no bound
        bound = 0.0
    if bound > summary.mmd + 2.0 * summary.mmd_error:  # else MMD is exact, and so is its bound
        said = "with a probability of at least 95%, MMD is at most this, whatever the data"
        facts.insert(3, Fact("Bound", words.amount(bound), said))
    if np.isfinite(summary.energy) and summary.energy < 0.9995:
        said = "of the kernel's energy is spanned by the landmarks; the rest is seen through random features"
        facts.insert(2, Fact("Energy", words.percent(summary.energy), said))
    return tuple(facts)
