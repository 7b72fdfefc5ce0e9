"""The distributions of one column in two groups of rows: shares in the same classes.

They are those of all rows where profiles have counted these, else those of samples.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from supersample._text import number_text
from supersample._typing import Floats
from supersample.profile import ColumnProfile
from supersample.profile.frequent import Value
from supersample.report.cells import clean, text_of
from supersample.report.numbers import Labels, as_labels, as_numbers, is_moment
from supersample.report.shapes import counted_in, spread_over
from supersample.report.words import amount, clock, percent

__all__ = ["Distribution", "Scale", "distribution_of"]

#: Classes of a histogram.
CLASSES = 16
#: Numbers with at most this many distinct values are shown value by value.
FEW = 10
#: A column that was left out of the kernel is charted if it has at most this many distinct values.
FEW_LEFT_OUT = 12
#: The longest list of labels; the others are shown together.
MOST_LABELS = 8
#: This share of the data at each end is gathered in the outermost classes, so that a few far values do not flatten the rest.
TAIL = 0.005
#: Beyond this the difference of two numbers may be infinite.
LARGEST = 1e307

#: Characters of a label.
LONGEST = 40

Scale = Literal["number", "day", "clock"]
#: The profiles of one column in both groups.
Counted = tuple[ColumnProfile, ColumnProfile]


@dataclass(frozen=True)
class Distribution:
    """Shares of two groups in the same classes.

    edges: the borders of a histogram, or empty; labels: the values of bars, or empty. scale: what the edges are: numbers, days
    since 1970 (dates and timestamps), or seconds since midnight (times of day).
    gap: half the sum of the absolute differences, 0 if the groups are distributed alike and 1 if they share nothing.
    counted: whether shares and words are of all rows, by profiles; else they are of samples.
    """

    name: str
    edges: tuple[float, ...]
    labels: tuple[str, ...]
    first: tuple[float, ...]
    second: tuple[float, ...]
    gap: float
    scale: Scale
    words: str
    counted: bool = False


def distribution_of(
    name: str,
    kind: str,
    tables: tuple[pa.Table, pa.Table],
    shares: tuple[Floats, Floats],
    groups: tuple[str, str],
    profiles: Counted | None = None,
) -> Distribution | None:
    """Return the distributions of a column in two tables, or None for columns that are neither numbers nor labels.

    groups: words for each table in a sentence, such as "in the data". profiles: of all rows that the tables are samples of.
    """
    left_out = kind == "left out"
    kind = _kind_to_chart(kind, tables[0].column(name))
    chart = _spread(name, kind, tables, shares, groups)
    if chart is not None and profiles is not None:
        chart = _of_all_rows(chart, profiles, groups) or chart
    return replace(chart, words=chart.words + " Not in the kernel.") if left_out and chart is not None else chart


def _spread(
    name: str, kind: str, tables: tuple[pa.Table, pa.Table], shares: tuple[Floats, Floats], groups: tuple[str, str]
) -> Distribution | None:
    if kind not in ("number", "time", "category", "boolean"):
        return None
    columns = [table.column(name) for table in tables]
    if kind in ("category", "boolean"):
        return _bars(name, [_counted(as_labels(each), share) for each, share in zip(columns, shares, strict=True)], groups)
    numbers = [as_numbers(column) for column in columns]
    seen = np.unique(np.concatenate(numbers))
    seen = seen[np.isfinite(seen)]
    arrow = columns[0].type
    scale: Scale = "day" if is_moment(arrow) else "clock" if pa.types.is_time(arrow) else "number"
    if seen.size <= FEW and scale != "day":
        labels = [_written(column, values) for column, values in zip(columns, numbers, strict=True)]
        return _bars(name, [_counted(each, share) for each, share in zip(labels, shares, strict=True)], groups)
    return _histogram(name, numbers, shares, groups, scale)


def _kind_to_chart(kind: str, column: pa.ChunkedArray) -> str:
    """Return how to chart a column: as its kind says, or by its labels if it was left out of the kernel and has only a few."""
    simple = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_string, pa.types.is_dictionary)
    if kind != "left out" or not any(is_kind(column.type) for is_kind in simple):
        return kind
    return "category" if 2 <= pc.count_distinct(column, mode="only_valid").as_py() <= FEW_LEFT_OUT else kind


def _written(column: pa.ChunkedArray, numbers: Floats) -> Labels:
    """Write numbers as labels; NaN counts as missing."""
    values, places = np.unique(np.nan_to_num(numbers, nan=np.inf), return_inverse=True)
    first = {place: text_of(column[int(row)], 20) for place, row in enumerate(np.unique(places, return_index=True)[1])}
    words = np.array([None if np.isinf(value) else first[place] for place, value in enumerate(values)], dtype=object)
    chosen: Labels = words[places]
    return chosen


def _bars(name: str, counted: list[dict[str, float]], groups: tuple[str, str]) -> Distribution:
    """Return the bars of two groups, each given by the share of its rows that has a label."""
    clearest = max(
        sorted({*counted[0], *counted[1]}), key=lambda word: _clear(*(each.get(word, 0.0) for each in counted)), default=""
    )
    order, rest = _ordered(counted[0], counted[1], clearest)
    parts = [[totals.get(word, 0.0) for word in order] for totals in counted]
    words = "No values."
    if order:
        here = [percent(totals.get(clearest, 0.0)) for totals in counted]
        words = f"Most unlike at {clearest}: {here[0]} {groups[0]}, {here[1]} {groups[1]}."
    if rest:
        order.append(f"{len(rest):,} others")
        for part, totals in zip(parts, counted, strict=True):
            part.append(sum(totals.get(word, 0.0) for word in rest))
    first, second = tuple(parts[0]), tuple(parts[1])
    return Distribution(name, (), tuple(order), first, second, _gap(first, second), "number", words)


def _clear(first: float, second: float) -> float:
    """Return how clearly two shares differ: in units of what chance does to shares of that size, but for the number of rows."""
    common = (first + second) / 2.0
    return abs(first - second) / math.sqrt(max(common * (1.0 - common), 1e-12))


def _of_all_rows(chart: Distribution, profiles: Counted, groups: tuple[str, str]) -> Distribution | None:
    """Return a chart with shares and words of all rows; None if the profiles did not count what it shows."""
    if chart.edges:
        parts = [_classes_of(each, chart) for each in profiles]
        if parts[0] is None or parts[1] is None:
            return None
        unit = _unit(chart.scale)
        means = [math.nan if each.mean is None else each.mean / unit for each in profiles]
        absent = [(each.missing + each.unreadable) / max(1, each.rows) for each in profiles]
        words = _averages(means, groups, chart.scale) + _missing(absent, groups)
        first, second = tuple(parts[0].tolist()), tuple(parts[1].tolist())
        return replace(chart, first=first, second=second, gap=_gap(first, second), words=words, counted=True)
    tallies = [_tallied(each) for each in profiles]
    if tallies[0] is None or tallies[1] is None or profiles[0].form.measured != profiles[1].form.measured:
        return None
    return replace(_bars(chart.name, [tallies[0], tallies[1]], groups), counted=True)


def _classes_of(column: ColumnProfile, chart: Distribution) -> Floats | None:
    """Return the share of all rows in each class of a histogram; what lies beyond its ends is in the outermost classes."""
    if column.numbers is None or column.frequent is None:
        return None
    edges, unit = np.array(chart.edges), _unit(chart.scale)
    if column.frequent.exact:
        held = np.array([column.form.number(value) for value in column.frequent.values]) / unit
        finite = np.isfinite(held)
        counts = counted_in(held[finite], edges, column.frequent.counts[: held.size][finite].astype(np.float64))
    else:
        low, high = (np.clip(each / unit, edges[0], edges[-1]) for each in column.numbers.histogram.edges())
        counts = spread_over(low, high, column.numbers.histogram.counts.astype(np.float64), edges)
    return np.asarray(counts / max(1, column.rows))


def _tallied(column: ColumnProfile) -> dict[str, float] | None:
    """Return the share of all rows that has each value, as its label; None if not all values were counted and kept."""
    held, rows = column.frequent, max(1, column.rows)
    if held is None or not held.exact or len(held.values) < held.counts.size:
        return None
    totals: dict[str, float] = {}
    absent = column.missing + column.unreadable
    for word, count in [
        *((_label(column, value), int(count)) for value, count in zip(held.values, held.counts, strict=True)),
        *([("missing", absent)] if absent else []),
    ]:
        totals[word] = totals.get(word, 0.0) + count / rows
    return totals


def _label(column: ColumnProfile, value: Value) -> str:
    if column.form.measured and not column.form.clock and column.form.name != "bool":
        return number_text(column.form.number(value), 6)
    return clean(column.form.value_text(value), LONGEST)


def _unit(scale: Scale) -> float:
    """Return the seconds in a unit of a scale; profiles have times in seconds."""
    return 86_400.0 if scale == "day" else 1.0


def _counted(labels: Labels, shares: Floats) -> dict[str, float]:
    totals: dict[str, float] = {}
    for label, share in zip(labels, shares, strict=True):
        word = "missing" if label is None else str(label)
        totals[word] = totals.get(word, 0.0) + float(share)
    return totals


def _ordered(first: dict[str, float], second: dict[str, float], always: str) -> tuple[list[str], list[str]]:
    """Return the labels to show and those to combine: a few numbers by size, words by their shares, largest first.

    always: the label that is shown in any case, last if it is rare.
    """
    order = sorted({*first, *second}, key=lambda word: (-(first.get(word, 0.0) + second.get(word, 0.0)), word))
    if len(order) <= FEW + 1 and all(_is_number(word) or word == "missing" for word in order):
        return sorted(order, key=lambda word: float(word) if _is_number(word) else np.inf), []
    if len(order) <= MOST_LABELS:
        return order, []
    shown = order[: MOST_LABELS - 1]
    if always not in shown:
        shown[-1] = always
    return shown, [word for word in order if word not in shown]


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _histogram(
    name: str, numbers: list[Floats], shares: tuple[Floats, Floats], groups: tuple[str, str], scale: Scale
) -> Distribution:
    kept = [np.isfinite(values) for values in numbers]
    numbers = [np.clip(values, -LARGEST, LARGEST) for values in numbers]
    low, high = _range(np.concatenate([values[keep] for values, keep in zip(numbers, kept, strict=True)]))
    edges = np.linspace(low, high, CLASSES + 1)
    parts = []
    for values, keep, share in zip(numbers, kept, shares, strict=True):
        places = np.clip(np.searchsorted(edges, values[keep], "right") - 1, 0, CLASSES - 1)
        parts.append(tuple(np.bincount(places, share[keep], CLASSES).tolist()))
    means, absent = [], []
    for values, share, keep in zip(numbers, shares, kept, strict=True):
        weight = float(share[keep].sum())
        means.append(float(share[keep] @ values[keep]) / weight if weight > 0 else math.nan)
        absent.append(max(0.0, 1.0 - weight))
    words = _averages(means, groups, scale) + _missing(absent, groups)
    return Distribution(name, tuple(edges.tolist()), (), parts[0], parts[1], _gap(parts[0], parts[1]), scale, words)


def _range(values: Floats) -> tuple[float, float]:
    if not values.size:
        return 0.0, 1.0
    low, high = (float(each) for each in np.quantile(values, [TAIL, 1.0 - TAIL]))
    least, most = float(values.min()), float(values.max())
    # Ends that are only a little farther out are shown as they are.
    low, high = (least if low - least < 0.5 * (high - low) else low), (most if most - high < 0.5 * (high - low) else high)
    if high <= low:
        low, high = (least, most) if most > least else (low - 0.5, low + 0.5)
    return low, high


def _averages(means: list[float], groups: tuple[str, str], scale: Scale) -> str:
    write: dict[Scale, Callable[[float], str]] = {"day": _day, "clock": clock, "number": lambda mean: amount(mean, 4)}
    written = [write[scale](mean) for mean in means]
    return f"Mean {written[0]} {groups[0]}, {written[1]} {groups[1]}."


def _day(value: float) -> str:
    return "unknown" if np.isnan(value) else str(np.datetime64("1970-01-01") + np.timedelta64(round(value), "D"))


def _missing(shares: list[float], groups: tuple[str, str]) -> str:
    if max(shares) < 1e-9:
        return ""
    return f" Missing: {percent(shares[0])} {groups[0]}, {percent(shares[1])} {groups[1]}."


def _gap(first: tuple[float, ...], second: tuple[float, ...]) -> float:
    return 0.5 * sum(abs(a - b) for a, b in zip(first, second, strict=True))
