"""Everything the page of a comparison shows, as plain data."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from supersample._text import about
from supersample.report import words
from supersample.report.cells import clean
from supersample.report.distributions import Distribution, distribution_of
from supersample.report.gallery import Gallery, gallery_of
from supersample.report.inputs import as_read, encoded, kinds_of, map_words, plane_of, reading_order, sample_words
from supersample.report.numbers import shares_of
from supersample.report.pictures import picture_columns
from supersample.report.projection import Cloud, Map, points_of
from supersample.report.ranking import unusual, usual_of
from supersample.report.view import Fact
from supersample.summary import Comparison, Summary

__all__ = ["ChangeLine", "ComparisonView", "change_lines", "facts_of", "verdict_of", "view_of_comparison"]

#: Rows of each side, columns charted, and columns listed.
MOST_ROWS, MOST_CHARTS, MOST_LINES = 24, 12, 300


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
    map_, order = _map_and_order(left, right)
    left_rows, right_rows = _sides(left, right, compared, order)
    return ComparisonView(
        title=clean(title or f"{names[0]} and {names[1]}", 160),
        left=names[0],
        right=names[1],
        differs=compared.pvalue <= 0.05,
        verdict=verdict,
        meaning=meaning,
        facts=facts_of(compared, names),
        columns=change_lines(compared)[:MOST_LINES],
        n_columns=len(compared.columns),
        distributions=_distributions(left, right, compared),
        samples=(sample_words(len(left.background), left.n_seen), sample_words(len(right.background), right.n_seen)),
        left_rows=left_rows,
        right_rows=right_rows,
        map=map_,
        small_print=(
            Fact(
                "Kernel", clean(words.shortened(repr(left.kernel)), 200), "says how alike two rows are; both summaries share it"
            ),
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


def _map_and_order(left: Summary, right: Summary) -> tuple[Map, list[str]]:
    """Project both sides onto one plane, each with half of the weight, and order the columns by it."""
    tables = left.background, right.background.select(left.background.column_names)
    shares = np.concatenate([0.5 * shares_of(table) for table in tables])
    both = pa.concat_tables(tables, promote_options="permissive")
    plane, places = plane_of(left, both, shares)
    seen = both.take(places)
    placed, on_left = plane.place(encoded(left, seen)), np.asarray(places) < len(tables[0])
    clouds = Cloud("left", "left", points_of(placed[on_left])), Cloud("right", "right", points_of(placed[~on_left]))
    order = reading_order(kinds_of(left.columns, both), as_read(seen, left.column_profiles), placed, shares[places])
    return Map(clouds, plane.shown, map_words(plane.shown, len(places), left.n_seen + right.n_seen)), order


def _distributions(left: Summary, right: Summary, compared: Comparison) -> tuple[Distribution, ...]:
    kinds = kinds_of(left.columns, left.background)
    tables = as_read(left.background, left.column_profiles), as_read(right.background, left.column_profiles)
    shares = shares_of(tables[0]), shares_of(tables[1])
    # Columns that differ by themselves come first; if there are none, the strongest are still shown.
    names = sorted((column.name for column in compared.columns), key=lambda name: name not in compared.changed)
    # Columns left out of the kernel were not tested; if they have few values, a chart of them still helps.
    names += [name for name, kind in kinds.items() if kind == "left out"]
    charts = (
        distribution_of(name, kinds.get(name, "left out"), tables, shares, ("on the left", "on the right")) for name in names
    )
    found = [replace(chart, name=clean(chart.name, 60)) for chart in charts if chart is not None]
    return tuple(found[:MOST_CHARTS])


def _sides(left: Summary, right: Summary, compared: Comparison, order: Sequence[str]) -> tuple[Gallery, Gallery]:
    """Return the rows that are more common on one side, each with what would be unusual about it on the other."""
    rows = compared.left_rows, compared.right_rows
    pictures = picture_columns([left.background.select(list(order)), *rows], 2 * MOST_ROWS)
    made = []
    for table, other, side in zip(rows, (right, left), ("the right", "the left"), strict=True):
        sample, measured = as_read(other.background, other.column_profiles), as_read(table, other.column_profiles)
        usual = usual_of(sample, kinds_of(other.columns, sample), shares_of(sample), side)
        made.append(
            gallery_of(
                table,
                order,
                pictures,
                most=MOST_ROWS,
                unusual=lambda place, rows=measured, usual=usual: unusual(rows.slice(place, 1), usual),  # type: ignore[misc]
            )
        )
    return made[0], made[1]
