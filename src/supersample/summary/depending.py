"""How many independent rows a summary's rows are worth in tests, jointly and by column."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from supersample._text import about, plural
from supersample._typing import Floats
from supersample.discrepancy.variance_factor import beyond_chance, variance_factor
from supersample.selection.stream import background
from supersample.selection.stream.dependence import Level, Measured
from supersample.selection.stream.lifecycle import Stream, drain
from supersample.summary.state import Running

__all__ = [
    "ColumnFactors", "Factors", "Measures", "dependence_told", "drained", "factors_of", "measured_in_sample", "measures_of",
    "shaped",
]  # fmt: skip

#: Background rows from which the dimensions of the coordinates are estimated.
_SAMPLE = 1000


@dataclass(frozen=True)
class ColumnFactors:
    """The factors of a column's values, of its missing ones, and of how far numbers spread."""

    values: float = 1.0
    missing: float = 1.0
    spread: float = 1.0

    @property
    def largest(self) -> float:
        """The larger one of values and missing ones; that of the spread has its own tests."""
        return max(self.values, self.missing)


@dataclass(frozen=True)
class Factors:
    """How many times larger variances of means are than those of independent rows; 1 where no dependence was found.

    joint: of the features of all columns together. groups: of each group of coordinates (`Encoding.groups`). columns: by name.
    share: the background sample's share of all rows.
    """

    joint: float = 1.0
    groups: tuple[float, ...] = ()
    columns: Mapping[str, ColumnFactors] = field(default_factory=dict)
    share: float = 1.0

    def of(self, name: str) -> ColumnFactors:
        """Return the factors of a column; those of all together for one that is not in the kernel."""
        return self.columns.get(name, ColumnFactors(self.joint, self.joint))

    def of_sample(self, drawn: Collection[str]) -> "Factors":
        """Return the factors where the joint test, and the counts of the columns `drawn`, are of the sample alone."""
        columns = {
            name: replace(each, values=self.sampled(each.values), spread=self.sampled(each.spread)) if name in drawn else each
            for name, each in self.columns.items()
        }
        return replace(self, joint=self.sampled(self.joint), columns=columns)

    def sampled(self, factor: float) -> float:
        """Return the factor of a mean over the background sample, given that of a mean over all rows.

        Of n rows with factor v, m are drawn at random: two of them are neighbours m / n times as often.
        """
        return 1.0 + (factor - 1.0) * self.share


class Measures(NamedTuple):
    """What was measured of a summary's rows: of the features, and of each group of coordinates, none where there was no place.

    columns: the groups of the values of each column and of its missing ones. squares: of the coordinate of each number, about
    its mean, by the background sample. share: as in `Factors`.
    """

    joint: Measured
    groups: tuple[tuple[Measured, ...], ...]
    columns: Mapping[str, tuple[int, int]]
    squares: Mapping[str, Measured]
    share: float


def measures_of(state: Running, held: Stream) -> Measures | None:
    """Return what was measured of a state, given its drained stream; None if dependence was not measured."""
    if held.dependence is None:
        return None
    points = held.background.rows.points[:_SAMPLE]
    joint, groups = held.dependence.measured(held.fixed_plan.feature_map.transform(points), points)
    squares = {name: measured_in_sample(values, held) for name, values in _squares(state, held)}
    return Measures(joint, groups, state.encoding.groups(), squares, len(held.background.rows) / max(held.n_used, 1))


def _squares(state: Running, held: Stream) -> Iterator[tuple[str, Floats]]:
    """Yield each number with the squares of its coordinate about its mean, of the rows of the background sample."""
    starts = np.cumsum((0, *state.encoding.group_widths()))
    kinds = {note.name: note.kind for note in state.encoding.notes}
    shares, points = held.background.shares(), held.background.rows.points
    for name, (group, _) in state.encoding.groups().items():
        if kinds[name] == "number":
            values = points[:, starts[group]]
            yield name, (values - shares @ values) ** 2


def measured_in_sample(values: Floats, held: Stream) -> Measured:
    """Return what the background sample shows of some numbers, one for each of its rows: blocks of 1, 2, 4, ... of these."""
    positions = held.background.rows.positions
    centred = values - values.mean()
    variance = float(centred @ centred) / max(values.size, 1)
    if not variance > 0:
        return Measured((), 1.0)
    scale = values.size / (float(positions.max()) + 1.0)
    levels = []
    for level in range(max(1, values.size.bit_length() - 1)):
        blocks = (positions * scale).astype(np.int64) >> level
        counts = np.bincount(blocks).astype(np.float64)
        sums = np.bincount(blocks, weights=centred)
        number = float(counts.sum() ** 2 / (counts @ counts))
        ratio = float(sums @ sums) / (values.size * variance) * number / max(number - 1.0, 0.5)
        levels.append(Level(1 << level, number, ratio))
    return Measured(tuple(levels), 1.0)


def drained(state: Running) -> Stream:
    """Return the stream of a settled state with all rows taken in and its background sample at its size."""
    held = drain(state.stream)
    return replace(held, background=background.settled(held.background, held.settings.n_background))


def factors_of(mine: Measures, theirs: Measures | None = None) -> Factors:
    """Return the factors of one summary's rows; theirs: of the rows that they are compared with."""
    n_tests = _n_tests(mine)
    whole = variance_factor(mine.joint, n_tests, () if theirs is None else (theirs.joint,))
    others: dict[int, tuple[Measured, ...]] = {}
    for name, places in mine.columns.items():
        if theirs is not None and name in theirs.columns:
            others |= {place: theirs.groups[other] for place, other in zip(places, theirs.columns[name], strict=True)}
    each = [
        max((variance_factor(measured, n_tests, others.get(place, ())) for measured in group), default=whole)
        for place, group in enumerate(mine.groups)
    ]
    spreads = {
        name: 1.0 + (variance_factor(own, n_tests, _of(theirs, name)) - 1.0) / mine.share for name, own in mine.squares.items()
    }
    columns = {
        name: ColumnFactors(each[values], each[missing], max(each[values], spreads.get(name, 1.0)))
        for name, (values, missing) in mine.columns.items()
    }
    return Factors(whole, tuple(each), columns, mine.share)


def _beyond_chance(measures: Measures, held: Stream) -> Iterator[str]:
    """Yield the columns whose values depend on those before them by more than chance."""
    assert held.dependence is not None  # there are measures
    coordinates, groups = held.dependence.coordinates(held.background.rows.points)
    squares = (coordinates - coordinates.mean(axis=0)) ** 2
    for name, (place, _) in measures.columns.items():
        own = squares[:, groups == place]
        parts = (own.sum(axis=1), *(own.T if own.shape[1] > 1 else ()))
        known = zip(measures.groups[place], parts, strict=False)  # nothing is measured of groups without a place
        if any(beyond_chance(measured, _n_tests(measures), part) for measured, part in known):
            yield name


def _n_tests(measures: Measures) -> int:
    return 1 + sum(len(group) for group in measures.groups) + len(measures.squares)


def _of(measures: Measures | None, name: str) -> tuple[Measured, ...]:
    """Return what was measured of the squares of a column, if anything was."""
    return (measures.squares[name],) if measures is not None and name in measures.squares else ()


def shaped(features: Floats, state: Running, held: Stream, factors: Factors) -> Floats:
    """Return the features of background rows, changed so that their covariance has the shape of that of means; the trace stays.

    The variance of a mean grows in the directions of the columns that depend on earlier rows, and less in others. So what the
    coordinates of the columns and the squares of numbers explain of the features, by least squares, is stretched by their
    factors, and the rest by one factor, with which the trace grows by the joint factor. Where all factors are equal, nothing
    changes.
    """
    shares, dependence = held.background.shares(), held.dependence
    spreads = {name: each.spread for name, each in factors.columns.items() if each.spread > each.values}
    if dependence is None or (not spreads and max(factors.joint, *factors.groups, 1.0) == 1.0):
        return features
    coordinates, groups = dependence.coordinates(held.background.rows.points)
    squares = [(values, spreads[name]) for name, values in _squares(state, held) if name in spreads]
    coordinates = np.column_stack([coordinates, *(values for values, _ in squares)])
    if not 0 < 2 * coordinates.shape[1] < len(features):
        return features
    stretch = np.sqrt([*np.array(factors.groups)[groups], *(factor for _, factor in squares)])
    roots = np.sqrt(shares)[:, None]
    centre = shares @ features
    rest, known = roots * (features - centre), roots * (coordinates - shares @ coordinates)
    slopes = np.linalg.lstsq(known, rest, rcond=1e-8)[0]
    whole = float((rest * rest).sum())
    grown = (known * stretch) @ slopes
    rest -= known @ slopes
    left, own = float((rest * rest).sum()), float((grown * grown).sum())
    rest *= np.sqrt(max(1.0, (factors.joint * whole - own) / left)) if left > 0 else 1.0
    grown += rest
    total = float((grown * grown).sum())
    return centre + grown / roots * np.sqrt(whole / total) if total > 0 else features


def dependence_told(state: Running) -> Iterator[tuple[str, str | None, str]]:
    """Say that rows depend on those before them, of all columns together or else of single ones: kind, column and text.

    Tests count fewer rows wherever a factor is above 1. A single column is named only where chance cannot explain its factor.
    """
    held = drained(state)
    measures = measures_of(state, held)
    if measures is None:
        text = "the summary was saved by an earlier version, which did not look whether rows depend on those before them"
        yield "dependence not measured", None, f"{text}: tests take them to be independent"
        return
    factors = factors_of(measures)
    rows, seen = held.moments.effective_rows, plural(state.n_seen, "row")
    found: dict[str | None, float] = {None: factors.joint}
    if factors.joint == 1.0:
        found |= {name: factors.columns[name].values for name in _beyond_chance(measures, held)}
    for name, factor in found.items():
        who, where = ("rows", "in tests") if name is None else ("its values", "in its tests")
        text = f"{who} depend on those before them, or are sorted: {seen} count as about {about(rows / factor)} {where}"
        if factor > 1.0:
            yield "dependent rows", name, f"{text}; shuffled files hide this"
