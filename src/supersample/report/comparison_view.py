"""Everything the page of a comparison shows, as plain data."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from supersample._text import about
from supersample._typing import Floats
from supersample.errors import InputTypeError
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
from supersample.summary.comparison import gain_in_words, level_in_words
from supersample.summary.summary import common_ground, counts_alike

__all__ = ["ChangeLine", "ComparisonView", "change_lines", "facts_of", "names_of", "verdict_of", "view_of_comparison"]

#: Rows of each side, columns charted, and columns listed.
MOST_ROWS, MOST_CHARTS, MOST_LINES = 24, 12, 300
#: Sources that are named by their type alone.
_TYPE = r"(the [^+]+|dict|a list of \d+ batches|(numpy|pandas|polars|pyarrow|duckdb|datasets|torch)\.\w+)"
_IN_MEMORY = re.compile(rf"{_TYPE}( \+ {_TYPE})*")
#: Columns of the rows that say how many times as common their kind is.
_GAIN = ["_ratio", "_count", "_other", "_known", "_like"]


@dataclass(frozen=True)
class ChangeLine:
    """What was found in one column; `what` changed, or why nothing is said to have."""

    name: str
    difference: str
    pvalue: str
    what: str
    changed: bool


@dataclass(frozen=True)
class ComparisonView:
    """What the page of a comparison shows.

    left, right: what the sides are called in a sentence. sides: the same in a legend. at_least: the smallest difference that
    was to count, empty if all were. charted: which rows the charts are of.
    """

    title: str
    left: str
    right: str
    sides: tuple[str, str]
    differs: bool
    at_least: str
    notes: tuple[NoteGroup, ...]
    verdict: str
    meaning: str
    facts: tuple[Fact, ...]
    columns: tuple[ChangeLine, ...]
    n_columns: int
    distributions: tuple[Distribution, ...]
    charted: str
    samples: tuple[str, str]
    left_rows: Gallery
    right_rows: Gallery
    map: Map
    small_print: tuple[Fact, ...]


def view_of_comparison(
    left: Summary,
    right: Summary,
    title: str | None = None,
    comparison: Comparison | None = None,
    names: tuple[str, str] | None = None,
) -> ComparisonView:
    """Gather what the page of two summaries shows; the comparison is made here unless it is given.

    names: what the two sides are called; their sources unless given.
    """
    called = names_of(left, right, names)
    compared = left.compare(right) if comparison is None else comparison
    verdict, meaning = verdict_of(compared)
    both = _both(left, right, compared)
    map_, order = _map_and_order(both, left.n_seen + right.n_seen)
    left_rows, right_rows = _galleries(both, compared, order)
    charts = _distributions(both, compared)
    samples = sample_words(len(left.background), left.n_seen), sample_words(len(right.background), right.n_seen)
    return ComparisonView(
        title=clean(title or f"{called[0] or 'left'} and {called[1] or 'right'}", 160),
        left=called[0] or "the left side",
        right=called[1] or "the right side",
        sides=(f"left{called[0] and f': {called[0]}'}", f"right{called[1] and f': {called[1]}'}"),
        differs=compared.rejects(compared.level),
        at_least=words.amount(compared.at_least) if compared.at_least > 0 else "",
        notes=note_groups(compared.notes),
        verdict=verdict,
        meaning=meaning,
        facts=facts_of(compared, called),
        columns=change_lines(compared)[:MOST_LINES],
        n_columns=len(compared.columns),
        distributions=charts,
        charted=_charted(charts, samples),
        samples=samples,
        left_rows=left_rows,
        right_rows=right_rows,
        map=map_,
        small_print=(
            Fact("Kernel", clean(words.shortened(repr(compared.kernel)), 200), "says how alike two rows are, of either side"),
            Fact("Left", words.count(left.n_seen, "row"), f"prototypes at MMD {words.certified(left.mmd, left.mmd_error)}"),
            Fact("Right", words.count(right.n_seen, "row"), f"prototypes at MMD {words.certified(right.mmd, right.mmd_error)}"),
            *(Fact("Rows", "in tests", clean(each, 200)) for each in compared.corrected_in_words()),
            Fact(
                "p-values of columns",
                "adjusted",
                f"for the number of tests, so that {level_in_words(compared.level)} holds for all of them together",
            ),
        ),
    )


def names_of(left: Summary, right: Summary, names: tuple[str, str] | None = None) -> tuple[str, str]:
    """Return what two sides are called: as asked for, or as their sources; nothing for a table in memory, which has no name."""
    if names is None:
        found = ["" if _IN_MEMORY.fullmatch(each.source) else clean(each.source, 80) for each in (left, right)]
        return found[0], found[1]
    if isinstance(names, str) or len(names) != 2 or not all(isinstance(each, str) for each in names):
        raise InputTypeError(f"names must be two texts, one for each side, got {names!r}; pass names=('week 1', 'week 2')")
    return clean(names[0], 80), clean(names[1], 80)


def verdict_of(compared: Comparison) -> tuple[str, str]:
    """Say whether the two differ, and what that means; the columns and pairs that changed are named."""
    return words.verdict(
        compared.pvalue,
        [clean(name, 40) for name in compared.changed],
        [clean(each.in_words(), 120) for each in compared.pairs_at(compared.level)],
        len(compared.columns),
        compared.level,
        at_least=compared.at_least,
        smaller=[clean(each, 60) for each in compared.smaller_in_words()],
        counts=compared.n_counting > 0,
    )


def facts_of(compared: Comparison, names: tuple[str, str]) -> tuple[Fact, ...]:
    """Return the numbers of a comparison, with what each is."""
    sides = ["; ".join(filter(None, [name, _counted(compared, side)])) for side, name in enumerate(names)]
    pvalue = Fact(
        "p-value",
        words.probability(compared.pvalue),
        f"of all tests together; at most {compared.level:.3g} speaks against chance",
    )
    if compared.n_counting == 0:
        pvalue = Fact("p-value", "none", f"no test found a difference of at least {words.amount(compared.at_least)}")
    return (
        Fact("rows on the left", words.count(compared.n_left), sides[0]),
        Fact("rows on the right", words.count(compared.n_right), sides[1]),
        Fact("MMD between them", words.amount(compared.mmd), "0 would be alike in every smooth average"),
        pvalue,
    )


def change_lines(compared: Comparison) -> tuple[ChangeLine, ...]:
    """Return what was found in each column, the clearest change first.

    A column that differs by less than was to count has no p-value: none of its tests count.
    """
    changed, limit = set(compared.changed), compared.at_least
    return tuple(
        ChangeLine(
            clean(column.name, 60),
            words.amount(column.difference),
            words.probability(column.pvalue) if column.difference >= limit else "not counted",
            clean(column.what, 200) if column.name in changed else words.not_changed(column.difference, limit),
            column.name in changed,
        )
        for column in compared.columns
    )


def _counted(compared: Comparison, side: int) -> str:
    """Say as how many rows a side counts in the joint test, if these are fewer since rows depend on those before them."""
    if compared.effective_rows is None or compared.dependence[side] == 1.0:
        return ""
    return f"jointly about {about(compared.effective_rows[side])}, since rows depend on those before them"


@dataclass(frozen=True)
class _Both:
    """The background samples of both sides.

    encoder: what turns their rows into points. tables: as it takes them. measured: with numbers, times and truth values where
    text holds them. profiles: of all rows, which say how that text is read. weighted: whether rows count by weights, or lose
    them with time, which profiles do not know.
    """

    encoder: Encodes
    tables: tuple[pa.Table, pa.Table]
    measured: tuple[pa.Table, pa.Table]
    kinds: dict[str, str]
    profiles: tuple[Sequence[ColumnProfile] | None, Sequence[ColumnProfile] | None]
    weighted: bool

    def profiles_of(self, name: str) -> tuple[ColumnProfile, ColumnProfile] | None:
        """Return the profiles of a column, if both sides have counted all of their rows alike."""
        found = [next((each for each in side or () if each.name == name), None) for side in self.profiles]
        return None if self.weighted or found[0] is None or found[1] is None else (found[0], found[1])

    @property
    def shares(self) -> tuple[Floats, Floats]:
        """The share of its side that each row represents."""
        return shares_of(self.tables[0]), shares_of(self.tables[1])


def _both(left: Summary, right: Summary, compared: Comparison) -> _Both:
    """Return the samples as they were compared: of summaries that were made apart, in one encoding and the columns of both."""
    profiles = left.column_profiles, right.column_profiles
    weighted = not (counts_alike(left) and counts_alike(right))
    if any(note.kind == APART for note in compared.notes):
        ground = common_ground(left, right)
        tables = ground.samples()
        return _Both(ground, tables, tables, kinds_of(ground.columns, tables[0]), profiles, weighted)
    tables = left.background, right.background.select(left.background.column_names)
    measured = as_read(tables[0], profiles[0]), as_read(tables[1], profiles[1])
    return _Both(left, tables, measured, kinds_of(left.columns, tables[0]), profiles, weighted)


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
        distribution_of(
            name,
            both.kinds.get(name, "left out"),
            both.measured,
            both.shares,
            ("on the left", "on the right"),
            both.profiles_of(name),
        )
        for name in names
    )
    found = [replace(chart, name=clean(chart.name, 60)) for chart in charts if chart is not None]
    return tuple(found[:MOST_CHARTS])


def _charted(charts: Sequence[Distribution], samples: tuple[str, str]) -> str:
    """Say which rows the charts are of."""
    drawn = [each.name for each in charts if not each.counted]
    rows = f"{samples[0]} on the left and {samples[1]} on the right"
    if len(drawn) == len(charts):
        return f"The charts, and the means and shares below them, are those of {rows}."
    but = f"; of {words.listed(drawn)}, those of {rows}" if drawn else ""
    return f"The charts, and the means and shares below them, are those of all rows{but}."


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
