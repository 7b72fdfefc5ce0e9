"""The charts of the page of a history, as svg elements that fill whatever width they have; their labels are markup around them.

The coordinates run from 0 to 1000 along time and from 0 to 100 upwards, and lines keep their width when these are stretched.
"""

from collections.abc import Callable, Sequence
from html import escape
from typing import NamedTuple

import numpy as np

from supersample._typing import Floats
from supersample.report import words
from supersample.report.shapes import Axis, compact
from supersample.report.timeline.courses import Course, Lengths, Quartiles, Values
from supersample.report.timeline.overview import Steps
from supersample.report.timeline.view import HistoryView, Mark

__all__ = ["Drawn", "Plot", "Spark", "course_charts", "evidence_plot", "missing_plot", "rows_plot"]

WIDTH, HEIGHT = 1000, 100
#: The evidence axis reaches beyond the alarm threshold by so much, at least and at most; what is higher is cut.
_LEAST_TOP, _MOST_TOP = 1.25, 2.0
#: The least width of the interval of a change.
_NARROW = 3.0


class Plot(NamedTuple):
    """A chart with the labels of its axis: the lowest and highest value, and the place of a line, from the top, in percent."""

    svg: str
    low: str
    high: str
    line: float | None = None


class Spark(NamedTuple):
    """A share or a mean along time, on a scale of its own from 0 to its largest."""

    label: str
    svg: str
    largest: str


class Drawn(NamedTuple):
    """The charts of a column: numbers have a plot, values, texts and vectors sparks; missing: None if nothing is."""

    plot: Plot | None
    sparks: tuple[Spark, ...]
    missing: Spark | None


def evidence_plot(view: HistoryView) -> Plot:
    """Draw the evidence of a change of content and of volume, the alarm threshold, and the changes."""
    evidence, volume = view.overview.evidence, view.overview.volume
    most = max((float(each.values.max(initial=0.0)) for each in (evidence, volume)), default=0.0)
    top = min(max(_LEAST_TOP, 1.1 * most), _MOST_TOP)
    line = HEIGHT * (1.0 - 1.0 / top)
    body = (
        _marks(view.marks)
        + (f'<path class="second" d="{_line(_levels(volume, top))}"/>' if view.volume else "")
        + f'<path class="first" d="{_line(_levels(evidence, top))}"/>'
        + f'<path class="limit" d="M0 {line:.1f}H{WIDTH}"/>'
    )
    size = evidence.values.size
    last = f"{words.percent(float(evidence.values[-1]))} of the threshold at the end" if size else "no block closed"
    marked = f"{words.count(len(view.marks), 'change')} marked"
    label = f"Evidence of a change along time, with the alarm threshold: {last}; {marked}"
    return Plot(_svg(body, label), "0", words.amount(top), line)


def rows_plot(view: HistoryView, label: str = "Rows of a block along time") -> Plot:
    """Draw how many rows of a block came in time, and how many late."""
    rows = view.overview.rows
    largest = float(max(rows.values.max(initial=0.0), 0.0 if view.late is None else view.late.values.max(initial=0.0)))
    late = "" if view.late is None else f'<path class="late" d="{_area(_levels(view.late, largest))}"/>'
    body = f'<path class="all" d="{_area(_levels(rows, largest))}"/>{late}{_marks(view.marks)}'
    return Plot(_svg(body, f"{label}: at most {words.amount(largest)}"), "0", compact(largest))


def missing_plot(view: HistoryView) -> Plot | None:
    """Draw the share of values that are missing, over all columns that are shown; None if none is."""
    absent = np.sum([each.absent for each in view.courses], axis=0)
    if not np.any(absent):
        return None
    shares = absent / np.maximum(np.sum([each.rows for each in view.courses], axis=0), 1)
    spark = _spark("missing values", shares, view, words.percent)
    return Plot(spark.svg, "0", spark.largest)


def course_charts(course: Course, view: HistoryView) -> Drawn:
    """Draw the course of a column."""
    of = course.of
    sparks: tuple[Spark, ...] = ()
    if isinstance(of, Values):
        rows = np.maximum(course.rows, 1)
        sparks = tuple(_spark(label, of.counts[:, place] / rows, view, words.percent) for place, label in enumerate(of.labels))
    elif isinstance(of, Lengths):
        sparks = (_spark(f"mean {of.unit}", of.means, view, words.amount),)
    missing = _spark("missing", course.missing, view, words.percent) if course.absent.any() else None
    return Drawn(_quartiles(course.name, of, view) if isinstance(of, Quartiles) else None, sparks, missing)


def _quartiles(name: str, of: Quartiles, view: HistoryView) -> Plot:
    """Draw median and quartiles of a column of numbers; the scale is that of its distribution, from the least to the most."""
    spans = np.array(view.spans)
    finite = of.quartiles[np.isfinite(of.quartiles)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (of.axis.low, of.axis.high)
    axis = Axis(of.axis.kind, low, high, of.axis.centre, of.axis.scale)
    below, middle, above = (
        Steps(spans[:, 0], spans[:, 1], np.where(np.isnan(each), np.nan, axis.place(np.nan_to_num(each, nan=low))))
        for each in of.quartiles.T
    )
    body = (
        f'<path class="band" d="{_band(_levels(below, 1.0), _levels(above, 1.0))}"/>'
        f'{_marks(view.marks)}<path class="first" d="{_line(_levels(middle, 1.0))}"/>'
    )
    return Plot(_svg(body, f"Median and quartiles of {name} along time"), _number(low, of.form), _number(high, of.form))


def _spark(label: str, values: Floats, view: HistoryView, written: Callable[[float], str]) -> Spark:
    """Draw a share or a mean along the spans, on a scale from 0."""
    spans, largest = np.array(view.spans), float(np.nanmax(values, initial=0.0))
    body = f'<path class="all" d="{_area(_levels(Steps(spans[:, 0], spans[:, 1], values), largest))}"/>{_marks(view.marks)}'
    said = written(largest)
    return Spark(label, _svg(body, f"{label} along time: at most {said}"), said)


def _svg(body: str, label: str) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" class="chart along" role="img" '
        f'aria-label="{escape(label, quote=True)}">{body}</svg>'
    )


def _marks(marks: Sequence[Mark]) -> str:
    """Draw where changes lie: the interval as a strip, the moment as a line."""
    found = []
    for mark in marks:
        low, high = WIDTH * mark.low, WIDTH * mark.high
        wide = max(high - low, _NARROW)
        x = min(max((low + high - wide) / 2, 0.0), WIDTH - wide)
        found.append(f'<rect class="{mark.kind}" x="{x:.1f}" y="0" width="{wide:.1f}" height="{HEIGHT}"/>')
        found.append(f'<path class="{mark.kind}" d="M{WIDTH * mark.place:.1f} 0V{HEIGHT}"/>')
    return "".join(found)


def _levels(steps: Steps, largest: float) -> list[tuple[float, float, float]]:
    """Return where each value begins and ends, and how high it is drawn, from the top; NaN stays NaN."""
    heights = np.clip(steps.values / (largest or 1.0), 0.0, 1.0)
    return [
        (WIDTH * low, WIDTH * high, HEIGHT * (1.0 - float(height)))
        for low, high, height in zip(steps.low, steps.high, heights, strict=True)
    ]


def _line(levels: Sequence[tuple[float, float, float]]) -> str:
    """Return a path of steps, broken where there is nothing."""
    parts, last = [], None
    for low, high, level in levels:
        if np.isnan(level):
            last = None
            continue
        joined = last is not None and low - last < 0.05
        parts.append(f"{'V' if joined else f'M{low:.1f} '}{level:.1f}H{high:.1f}")
        last = high
    return _short("".join(parts)) or "M0 0"


def _area(levels: Sequence[tuple[float, float, float]]) -> str:
    """Return a path around the area below steps; nothing is drawn where there is nothing."""
    parts, last = [], None
    for low, high, level in levels:
        if np.isnan(level):
            continue
        if last is None or low - last >= 0.05:
            parts.append(f"{'' if last is None else f'V{HEIGHT}Z'}M{low:.1f} {HEIGHT}")
        parts.append(f"V{level:.1f}H{high:.1f}")
        last = high
    return _short("".join(parts)) + f"V{HEIGHT}Z" if parts else "M0 0"


def _band(below: Sequence[tuple[float, float, float]], above: Sequence[tuple[float, float, float]]) -> str:
    """Return a path around the area between two lines of steps: one box for each span."""
    boxes = [
        f"M{low:.1f} {top:.1f}H{high:.1f}V{bottom:.1f}H{low:.1f}Z"
        for (low, high, bottom), (_, _, top) in zip(below, above, strict=True)
        if not np.isnan(bottom)
    ]
    return _short("".join(boxes)) or "M0 0"


def _short(path: str) -> str:
    return path.replace(".0H", "H").replace(".0V", "V").replace(".0 ", " ").replace(".0Z", "Z").replace(".0M", "M")


def _number(value: float, form: str) -> str:
    if form == "moment":
        return str(np.datetime64(round(value), "s")).replace("T", " ").removesuffix(" 00:00:00")
    if form == "clock":
        return words.clock(value)
    return compact(value) + " s" * (form == "duration")
