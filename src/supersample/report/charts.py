"""The charts of the page, drawn by matplotlib: each takes plain data and returns one svg element."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

from supersample._typing import Floats
from supersample.report import words
from supersample.report.cells import clean
from supersample.report.distributions import Distribution
from supersample.report.palette import STAND_INS
from supersample.report.projection import Cloud, Map
from supersample.report.svg import draw
from supersample.report.view import Trace

__all__ = ["distribution_chart", "map_chart", "trace_chart"]

#: Groups of a distribution: the data behind, the prototypes in front; or left and right.
GROUPS = {"summary": ("data", "prototypes"), "comparison": ("prototypes", "criticisms")}
#: How each kind of point is drawn: colour, marker, area, opacity.
MARKS: dict[str, tuple[str, str, float, float]] = {
    "data": ("data", "o", 7.0, 0.45),
    "prototypes": ("prototypes", "o", 30.0, 0.85),
    "criticisms": ("criticisms", "D", 30.0, 0.95),
    "left": ("prototypes", "o", 9.0, 0.5),
    "right": ("criticisms", "D", 8.0, 0.5),
}


def map_chart(data: Map, name: str = "map") -> str:
    """Draw the clouds of a map over each other."""

    def paint(figure: Figure) -> None:
        axes = figure.add_axes((0.03, 0.03, 0.94, 0.94))
        axes.set_xlim(*_reach([x for cloud in data.clouds for x, _ in cloud.points]))
        axes.set_ylim(*_reach([y for cloud in data.clouds for _, y in cloud.points]))
        for order, cloud in enumerate(data.clouds):
            _scatter(axes, cloud, order)
        axes.xaxis.set_major_locator(NullLocator())
        axes.yaxis.set_major_locator(NullLocator())
        for spine in axes.spines.values():
            spine.set_visible(False)

    kinds = ", ".join(f"{words.count(len(cloud.points))} {cloud.role}" for cloud in data.clouds)
    return draw(paint, name=name, label=f"Map of the data in two dimensions: {kinds}", width=480, height=370)


def _scatter(axes: Any, cloud: Cloud, order: int) -> None:
    if not cloud.points:
        return
    colour, marker, area, opacity = MARKS[cloud.role]
    x, y = np.array(cloud.points).T
    # Points beyond the limits are drawn at the border, not left out.
    x, y = np.clip(x, *axes.get_xlim()), np.clip(y, *axes.get_ylim())
    sizes: Any = area
    if cloud.sizes:
        sizes = np.clip(area * np.array(cloud.sizes) * len(cloud.sizes), 12.0, 250.0)
    is_small = area < 20
    axes.scatter(
        x, y, s=sizes, marker=marker, clip_on=False, color=STAND_INS[colour], alpha=opacity, zorder=2 + order,
        edgecolors="none" if is_small else STAND_INS["paper"], linewidths=0 if is_small else 0.8,
    )  # fmt: skip


def _reach(values: Sequence[float]) -> tuple[float, float]:
    """Return limits that hold all values except those so far out that they would squeeze the others together."""
    if not values:
        return -1.0, 1.0
    array = np.array(values)
    low, high = (float(each) for each in np.quantile(array, [0.002, 0.998]))
    margin = 0.06 * (high - low) or 1.0
    return max(low - 4 * margin, float(array.min()) - margin), min(high + 4 * margin, float(array.max()) + margin)


def trace_chart(trace: Trace, name: str = "trace") -> str:
    """Draw MMD against the rows seen, both on logarithmic scales, with its error band and the random baseline."""
    rows, mmd = np.array(trace.rows, dtype=float), np.array(trace.mmd)
    error = np.nan_to_num(np.array(trace.error))
    drawn = np.array(trace.drawn)

    def paint(figure: Figure) -> None:
        axes = figure.add_axes((0.125, 0.19, 0.855, 0.79))
        axes.set_xscale("log")
        axes.set_yscale("log")
        _lines(axes, rows[drawn], mmd[drawn], error[drawn], np.array(trace.random_mmd)[drawn])
        axes.set_xlabel("rows seen", labelpad=7)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_minor_formatter(NullFormatter())
            axis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _short(value)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: words.amount(value, 2)))
        _decades(axes, _least_and_most(rows[drawn]), _least_and_most(mmd[drawn], np.array(trace.random_mmd)[drawn]))
        axes.grid(axis="y", color=STAND_INS["line"], linewidth=0.8)
        axes.tick_params(length=0)
        axes.spines["left"].set_visible(False)

    last = f"{words.amount(trace.mmd[-1])} after {words.count(trace.rows[-1])} rows"
    label = f"MMD of the prototypes against rows seen: {last}; random rows: {words.amount(trace.random_mmd[-1])}"
    return draw(paint, name=name, label=label, width=480, height=290)


def _lines(axes: Any, rows: Floats, mmd: Floats, error: Floats, random_mmd: Floats) -> None:
    ours, theirs = STAND_INS["prototypes"], STAND_INS["data"]
    axes.plot(rows, random_mmd, color=theirs, linewidth=1.8, linestyle=(0, (5, 3)))
    axes.fill_between(rows, np.maximum(mmd - 2 * error, mmd / 50), mmd + 2 * error, color=ours, alpha=0.2, linewidth=0)
    axes.plot(rows, mmd, color=ours, linewidth=2.2, marker="o", markersize=3.5 if len(rows) < 30 else 0.0)


def _decades(axes: Any, x_ends: tuple[float, float], y_ends: tuple[float, float]) -> None:
    """Put ticks at powers of ten; on a short axis also at 2 and 5 times these; on a very short one only at the ends."""
    for axis, limits, ends in ((axes.xaxis, axes.get_xlim(), x_ends), (axes.yaxis, axes.get_ylim(), y_ends)):
        span = math.log10(limits[1] / limits[0])
        if span < 0.5:
            axis.set_major_locator(FixedLocator(list(ends)))
            continue
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if span < 2 else (1.0,), numticks=7))


def _least_and_most(*values: Floats) -> tuple[float, float]:
    every = np.concatenate(values)
    return float(every.min()), float(every.max())


def _short(value: float) -> str:
    for size, letter in ((1e9, "bn"), (1e6, "m"), (1e3, "k")):
        if value >= size:
            return words.amount(value / size, 2) + letter
    return words.amount(value, 2)


def distribution_chart(data: Distribution, name: str, groups: str = "summary") -> str:
    """Draw the shares of two groups in one column: steps for numbers, pairs of bars for labels."""
    colours = [STAND_INS[part] for part in GROUPS[groups]]

    def paint(figure: Figure) -> None:
        if data.edges:
            _steps(figure, data, colours)
        else:
            _pairs(figure, data, colours)

    height = 130 if data.edges else 34 + 26 * len(data.labels)
    return draw(paint, name=name, label=f"Distribution of {data.name}. {data.words}", width=300, height=height)


def _steps(figure: Figure, data: Distribution, colours: Sequence[str]) -> None:
    axes = figure.add_axes((0.01, 0.19, 0.95, 0.79))
    axes.stairs(data.first, data.edges, fill=True, color=colours[0], alpha=0.38)
    axes.stairs(data.first, data.edges, color=colours[0], linewidth=1.0)
    axes.stairs(data.second, data.edges, color=colours[1], linewidth=2.0)
    axes.set_xlim(data.edges[0], data.edges[-1])
    axes.set_ylim(0, 1.08 * max(*data.first, *data.second, 1e-9))
    axes.yaxis.set_major_locator(NullLocator())
    axes.spines["left"].set_visible(False)
    axes.tick_params(length=3)
    if data.scale == "day":
        _days(axes, data.edges[0], data.edges[-1])
        return
    axes.xaxis.set_major_locator(MaxNLocator(4))
    write = words.clock if data.scale == "clock" else lambda value: words.amount(value, 4)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: write(value)))


def _days(axes: Any, low: float, high: float) -> None:
    """Label the first, middle and last time of an axis in days since 1970, as finely as its length requires."""
    span = high - low
    unit = "Y" if span > 3_650 else "M" if span > 365 else "D" if span > 3 else "m"
    seconds = [round(86_400 * day) for day in (low, (low + high) / 2, high)]
    ticks = [str(np.datetime64(second, "s").astype(f"datetime64[{unit}]")).replace("T", " ") for second in seconds]
    labels = axes.set_xticks([low, (low + high) / 2, high], ticks if unit != "m" else [ticks[0], "", ticks[2]])
    for tick, side in zip(labels, ("left", "center", "right"), strict=True):
        tick.label1.set_horizontalalignment(side)


def _pairs(figure: Figure, data: Distribution, colours: Sequence[str]) -> None:
    n_labels = len(data.labels)
    height = 34 + 26 * n_labels
    labels = [clean(label, 15) for label in data.labels]
    left = min(0.42, (12 + 7.5 * max(map(len, labels), default=0)) / 300)
    axes = figure.add_axes((left, 30 / height, 0.96 - left, 1 - 32 / height))
    places = np.arange(n_labels, dtype=float)
    axes.barh(places - 0.19, data.first, height=0.36, color=colours[0], alpha=0.75)
    axes.barh(places + 0.19, data.second, height=0.36, color=colours[1])
    axes.set_ylim(n_labels - 0.5, -0.5)
    axes.set_xlim(0, 1.04 * max(*data.first, *data.second, 1e-9))
    axes.set_yticks(places, labels)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", length=3)
    axes.xaxis.set_major_locator(MaxNLocator(3))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0%}"))
    axes.spines["left"].set_visible(False)
