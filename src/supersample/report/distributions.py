"""The distributions of one column in two groups of rows: shares in the same classes."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from supersample._typing import Floats
from supersample.report.cells import text_of
from supersample.report.numbers import Flags, Labels, as_labels, as_numbers, is_moment
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

Scale = Literal["number", "day", "clock"]


@dataclass(frozen=True)
class Distribution:
    """Shares of two groups in the same classes.

    edges: the borders of a histogram, or empty; labels: the values of bars, or empty. scale: what the edges are: numbers, days
    since 1970 (dates and timestamps), or seconds since midnight (times of day).
    gap: half the sum of the absolute differences, 0 if the groups are distributed alike and 1 if they share nothing.
    """

    name: str
    edges: tuple[float, ...]
    labels: tuple[str, ...]
    first: tuple[float, ...]
    second: tuple[float, ...]
    gap: float
    scale: Scale
    words: str


def distribution_of(
    name: str, kind: str, tables: tuple[pa.Table, pa.Table], shares: tuple[Floats, Floats], groups: tuple[str, str]
) -> Distribution | None:
    """Return the distributions of a column in two tables, or None for columns that are neither numbers nor labels.

    groups: words for each table in a sentence, such as "in the data".
    """
    left_out = kind == "left out"
    kind = _kind_to_chart(kind, tables[0].column(name))
    chart = _spread(name, kind, tables, shares, groups)
    return replace(chart, words=chart.words + " Not in the kernel.") if left_out and chart is not None else chart


def _spread(
    name: str, kind: str, tables: tuple[pa.Table, pa.Table], shares: tuple[Floats, Floats], groups: tuple[str, str]
) -> Distribution | None:
    if kind not in ("number", "time", "category", "boolean"):
        return None
    columns = [table.column(name) for table in tables]
    if kind in ("category", "boolean"):
        return _bars(name, [as_labels(column) for column in columns], shares, groups)
    numbers = [as_numbers(column) for column in columns]
    seen = np.unique(np.concatenate(numbers))
    seen = seen[np.isfinite(seen)]
    arrow = columns[0].type
    scale: Scale = "day" if is_moment(arrow) else "clock" if pa.types.is_time(arrow) else "number"
    if seen.size <= FEW and scale != "day":
        return _bars(name, [_written(column, values) for column, values in zip(columns, numbers, strict=True)], shares, groups)
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


def _bars(name: str, labels: list[Labels], shares: tuple[Floats, Floats], groups: tuple[str, str]) -> Distribution:
    counted = [_counted(each, share) for each, share in zip(labels, shares, strict=True)]
    order, rest = _ordered(*counted)
    parts = [[totals.get(word, 0.0) for word in order] for totals in counted]
    if rest:
        order.append(f"{len(rest):,} others")
        for part, totals in zip(parts, counted, strict=True):
            part.append(sum(totals.get(word, 0.0) for word in rest))
    words = "No values."
    if order:
        widest = max(range(len(order)), key=lambda place: abs(parts[0][place] - parts[1][place]))
        here = [percent(part[widest]) for part in parts]
        words = f"Most unlike at {order[widest]}: {here[0]} {groups[0]}, {here[1]} {groups[1]}."
    first, second = tuple(parts[0]), tuple(parts[1])
    return Distribution(name, (), tuple(order), first, second, _gap(first, second), "number", words)


def _counted(labels: Labels, shares: Floats) -> dict[str, float]:
    totals: dict[str, float] = {}
    for label, share in zip(labels, shares, strict=True):
        word = "missing" if label is None else str(label)
        totals[word] = totals.get(word, 0.0) + float(share)
    return totals


def _ordered(first: dict[str, float], second: dict[str, float]) -> tuple[list[str], list[str]]:
    """Return the labels to show and those to combine: a few numbers by size, words by their shares, largest first."""
    order = sorted({*first, *second}, key=lambda word: (-(first.get(word, 0.0) + second.get(word, 0.0)), word))
    if len(order) <= FEW + 1 and all(_is_number(word) or word == "missing" for word in order):
        return sorted(order, key=lambda word: float(word) if _is_number(word) else np.inf), []
    if len(order) <= MOST_LABELS:
        return order, []
    return order[: MOST_LABELS - 1], order[MOST_LABELS - 1 :]


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
    words = _averages(numbers, shares, kept, groups, scale) + _missing(kept, shares, groups)
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


def _averages(
    numbers: list[Floats], shares: tuple[Floats, Floats], kept: list[Flags],
    groups: tuple[str, str], scale: Scale,
) -> str:  # fmt: skip
    means = []
    for values, share, keep in zip(numbers, shares, kept, strict=True):
        weight = float(share[keep].sum())
        means.append(float(share[keep] @ values[keep]) / weight if weight > 0 else float("nan"))
    write: dict[Scale, Callable[[float], str]] = {"day": _day, "clock": clock, "number": lambda mean: amount(mean, 4)}
    written = [write[scale](mean) for mean in means]
    return f"Mean {written[0]} {groups[0]}, {written[1]} {groups[1]}."


def _day(value: float) -> str:
    return "unknown" if np.isnan(value) else str(np.datetime64("1970-01-01") + np.timedelta64(round(value), "D"))


def _missing(kept: list[Flags], shares: tuple[Floats, Floats], groups: tuple[str, str]) -> str:
    missing = [max(0.0, 1.0 - float(share[keep].sum())) for keep, share in zip(kept, shares, strict=True)]
    if max(missing) < 1e-9:
        return ""
    return f" Missing: {percent(missing[0])} {groups[0]}, {percent(missing[1])} {groups[1]}."


def _gap(first: tuple[float, ...], second: tuple[float, ...]) -> float:
    return 0.5 * sum(abs(a - b) for a, b in zip(first, second, strict=True))
