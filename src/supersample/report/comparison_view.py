"""Everything the page of a comparison shows, as plain data."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from supersample._text import about
from supersample._typing import Floats
from supersample.profile import ColumnProfile
from supersample.records.sources import RESERVED
from supersample.report import words
from supersample.report.cells import clean
from supersample.report.distributions import Distribution, distribution_of
from supersample.report.gallery import Gallery, gallery_of
from supersample.report.inputs import Encodes, as_read, encoded, kinds_of, map_words, plane_of, reading_order, sample_words
from supersample.report.numbers import shares_of
from supersample.report.pictures import picture_columns
from supersample.report.projection import Cloud, Map, points_of
from supersample.report.ranking import unusual, usual_of
from supersample.report.view import Fact, NoteGroup, note_groups
from supersample.summary import Comparison, Summary
from supersample.summary.apart import APART
from supersample.summary.comparison import gain_in_words
from supersample.summary.summary import common_ground

__all__ = ["ChangeLine", "ComparisonView", "change_lines", "facts_of", "verdict_of", "view_of_comparison"]

#: Rows of each side, columns charted, and columns listed.
MOST_ROWS, MOST_CHARTS, MOST_LINES = 24, 12, 300
#: Columns of the rows that say how many times as common their kind is.
_GAIN = ["_ratio", "_count", "_other", "_like"]


@dataclass(frozen=True)
class ChangeLine:
    """What one column contributes to the difference; `what` changed is empty if nothing was found."""

    name: str
    share: float
    mmd: str
    pvalue: str
    what: str


@dataclass(frozen=True)
class ComparisonView:
    """What the page of a comparison shows."""

    title: str
    left: str
    right: str
    differs: bool
    notes: tuple[NoteGroup, ...]
    verdict: str
    meaning: str
    facts: tuple[Fact, ...]
    columns: tuple[ChangeLine, ...]
    n_columns: int
    distributions: tuple[Distribution, ...]
    samples: tuple[str, str]
    left_rows: Gallery
    right_rows: Gallery
    map: Map
    small_print: tuple[Fact, ...]


def view_of_comparison(
    left: Summary, right: Summary, title: str | None = None, comparison: Comparison | None = None
) -> ComparisonView:
    """Gather what the page of two summaries shows; the comparison is made here unless it is given."""
    compared = left.compare(right) if comparison is None else comparison
    names = clean(left.source, 80), clean(right.source, 80)
    verdict, meaning = verdict_of(compared)
    both = _both(left, right, compared)
    map_, order = _map_and_order(both, left.n_seen + right.n_seen)
    left_rows, right_rows = _galleries(both, compared, order)
    return ComparisonView(
        title=clean(title or f"{names[0]} and {names[1]}", 160),
        left=names[0],
        right=names[1],
        differs=compared.pvalue <= 0.05,
        notes=note_groups(compared.notes),
        verdict=verdict,
        meaning=meaning,
        facts=facts_of(compared, names),
        columns=change_lines(compared)[:MOST_LINES],
        n_columns=len(compared.columns),
        distributions=_distributions(both, compared),
        samples=(sample_words(len(left.background), left.n_seen), sample_words(len(right.background), right.n_seen)),
        left_rows=left_rows,
        right_rows=right_rows,
        map=map_,
        small_print=(
            Fact("Kernel", clean(words.shortened(repr(compared.kernel)), 200), "says how alike two rows are, of either side"),
            Fact("Left", words.count(left.n_seen, "row"), f"prototypes at MMD {words.certified(left.mmd, left.mmd_error)}"),
            Fact("Right", words.count(right.n_seen, "row"), f"prototypes at MMD {words.certified(right.mmd, right.mmd_error)}"),
            *(Fact("Rows", "in tests", clean(each, 200)) for each in compared.corrected_in_words()),
            Fact("p-values of columns", "adjusted", "for the number of tests, so that 5% holds for all of them together"),
        ),
    )


def verdict_of(compared: Comparison) -> tuple[str, str]:
    """Say whether the two differ, and what that means; the columns and pairs that changed are named."""
    return words.verdict(
        compared.pvalue,
        [clean(name, 40) for name in compared.changed],
        [clean(each.in_words(), 120) for each in compared.pairs_at(0.05)],
        len(compared.columns),
        at_least=compared.at_least,
    )


def facts_of(compared: Comparison, names: tuple[str, str]) -> tuple[Fact, ...]:
    """Return the numbers of a comparison, with what each is."""
    return (
        Fact("rows on the left", words.count(compared.n_left), names[0] + _counted(compared, 0)),
        Fact("rows on the right", words.count(compared.n_right), names[1] + _counted(compared, 1)),
        Fact("MMD between them", words.amount(compared.mmd), "0 would be alike in every smooth average"),
        Fact("p-value", words.probability(compared.pvalue), "of all tests together; under 0.05 speaks against chance"),
    )


def change_lines(compared: Comparison) -> tuple[ChangeLine, ...]:
    """Return what each column contributes to the difference, the clearest change first."""
    return tuple(
        ChangeLine(
            clean(column.name, 60),
            column.share,
            words.amount(column.mmd),
            words.probability(column.pvalue),
            clean(column.what, 200) if column.name in compared.changed else "",
        )
        for column in compared.columns
    )


def _counted(compared: Comparison, side: int) -> str:
    """Say as how many rows a side counts in tests, if these are fewer since rows depend on those before them."""
    if compared.effective_rows is None or compared.dependence[side] == 1.0:
        return ""
    return f"; in tests about {about(compared.effective_rows[side])}, since rows depend on those before them"


@dataclass(frozen=True)
class _Both:
    """The background samples of both sides.

    encoder: what turns their rows into points. tables: as it takes them. measured: with numbers, times and truth values where
    text holds them. profiles: of all rows, which say how that text is read.
    """

    encoder: Encodes
    tables: tuple[pa.Table, pa.Table]
    measured: tuple[pa.Table, pa.Table]
    kinds: dict[str, str]
    profiles: tuple[Sequence[ColumnProfile] | None, Sequence[ColumnProfile] | None]

    @property
    def shares(self) -> tuple[Floats, Floats]:
        """The share of its side that each row represents."""
        return shares_of(self.tables[0]), shares_of(self.tables[1])


def _both(left: Summary, right: Summary, compared: Comparison) -> _Both:
    """Return the samples as they were compared: of summaries that were made apart, in one encoding and the columns of both."""
    profiles = left.column_profiles, right.column_profiles
    if any(note.kind == APART for note in compared.notes):
        ground = common_ground(left, right)
        tables = ground.samples()
        return _Both(ground, tables, tables, kinds_of(ground.columns, tables[0]), profiles)
    tables = left.background, right.background.select(left.background.column_names)
    measured = as_read(tables[0], profiles[0]), as_read(tables[1], profiles[1])
    return _Both(left, tables, measured, kinds_of(left.columns, tables[0]), profiles)


def _map_and_order(both: _Both, n_seen: int) -> tuple[Map, list[str]]:
    """Project both sides onto one plane, each with half of the weight, and order the columns by it."""
    shares = np.concatenate([0.5 * each for each in both.shares])
    rows, measured = (pa.concat_tables(each, promote_options="permissive") for each in (both.tables, both.measured))
    plane, places = plane_of(both.encoder, rows, shares)
    placed, on_left = plane.place(encoded(both.encoder, rows.take(places))), np.asarray(places) < len(both.tables[0])
    clouds = Cloud("left", "left", points_of(placed[on_left])), Cloud("right", "right", points_of(placed[~on_left]))
    order = reading_order(both.kinds, measured.take(places), placed, shares[places])
    return Map(clouds, plane.shown, map_words(plane.shown, len(places), n_seen)), order


def _distributions(both: _Both, compared: Comparison) -> tuple[Distribution, ...]:
    # Columns that differ by themselves come first; if there are none, the strongest are still shown.
    names = sorted((column.name for column in compared.columns), key=lambda name: name not in compared.changed)
    # Columns left out of the kernel were not tested; if they have few values, a chart of them still helps.
    names += [name for name, kind in both.kinds.items() if kind == "left out"]
    charts = (
        distribution_of(name, both.kinds.get(name, "left out"), both.measured, both.shares, ("on the left", "on the right"))
        for name in names
    )
    found = [replace(chart, name=clean(chart.name, 60)) for chart in charts if chart is not None]
    return tuple(found[:MOST_CHARTS])


def _galleries(both: _Both, compared: Comparison, order: Sequence[str]) -> tuple[Gallery, Gallery]:
    """Return the rows that are more common on one side, each with what would be unusual about it on the other."""
    rows = compared.left_rows, compared.right_rows
    pictures = picture_columns([both.tables[0].select(list(order)), *rows], 2 * MOST_ROWS)
    made = []
    for table, place, side in zip(rows, (1, 0), ("the right", "the left"), strict=True):
        usual = usual_of(both.measured[place], both.kinds, both.shares[place], side)
        said = [f"Rows like it are {clean(gain_in_words(each), 300)}." for each in table.select(_GAIN).to_pylist()]
        read = as_read(table, both.profiles[1 - place])
        names = [*order, *(name for name in table.column_names if name not in order and name not in RESERVED)]
        made.append(
            gallery_of(
                table,
                names,
                pictures,
                most=MOST_ROWS,
                why=said.__getitem__,
                unusual=lambda row, rows=read, usual=usual: unusual(rows.slice(row, 1), usual),  # type: ignore[misc]
            )
        )
    return made[0], made[1]
