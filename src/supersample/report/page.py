"""One self-contained page of a view: markup, style, script, charts and pictures in a single file."""

import base64
import hashlib
import os
from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from supersample._files import as_path, write_atomically
from supersample.errors import InputError
from supersample.history import History
from supersample.report.charts import distribution_chart, map_chart, trace_chart
from supersample.report.column_charts import shape_chart
from supersample.report.comparison_view import ComparisonView, view_of_comparison
from supersample.report.palette import css_variables
from supersample.report.panels import PANELS, Panel
from supersample.report.rendering import environment
from supersample.report.timeline import HistoryView, view_of_history
from supersample.report.timeline.charts import course_charts, evidence_plot, missing_plot, rows_plot
from supersample.report.timeline.embedded import script_json
from supersample.report.view import SummaryView, view_of
from supersample.summary import Comparison, Summary

__all__ = ["render_comparison", "render_history", "render_summary", "write_comparison", "write_history", "write_report"]


def write_report(summary: Summary, path: str | os.PathLike[str], *, title: str | None = None) -> Path:
    """Write the page of a summary, and return its path.

    The page is one file: it needs no network, stays under 5 MB, and the same summary gives the same bytes.
    """
    return _write(path, lambda: render_summary(view_of(summary, title)))


def write_comparison(
    left: Summary,
    right: Summary,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    names: tuple[str, str] | None = None,
    comparison: Comparison | None = None,
) -> Path:
    """Write the page of two summaries side by side, and return its path; a given comparison is not made again.

    names: what the two sides are called; the names of their files unless given, "left" and "right" for tables in memory.
    """
    return _write(path, lambda: render_comparison(view_of_comparison(left, right, title, comparison, names)))


def write_history(history: History, path: str | os.PathLike[str], *, title: str | None = None) -> Path:
    """Write the page of a history along time, and return its path; at most some 500 spans of time are in it."""
    return _write(path, lambda: render_history(view_of_history(history, title)))


def _write(path: str | os.PathLike[str], render: Callable[[], str]) -> Path:
    """Write a page atomically; refuse a missing folder, or a folder as the path, before the page is rendered."""
    target = as_path(path, "path")
    if not target.parent.is_dir():
        raise InputError(f"path must lie in a folder that exists, got {str(target)!r}: make {str(target.parent)!r} first")
    if target.is_dir():
        raise InputError(f"path must name a file, got the folder {str(target)!r}; try {str(target / 'report.html')!r}")
    write_atomically(target, render().encode(), "path")
    return target


def render_summary(view: SummaryView) -> str:
    """Return the page of a summary."""
    charts: dict[str, str | list[str]] = {
        "map": map_chart(view.map),
        "trace": trace_chart(view.trace) if view.trace.is_drawn else "",
        "distributions": [distribution_chart(each, f"column-{place}") for place, each in enumerate(view.distributions)],
        "shapes": [shape_chart(card) for card in view.cards],
    }
    return _render("summary.html.j2", view, charts, {name: panel for name, panel in PANELS.items() if panel.shown(view)})


def render_comparison(view: ComparisonView) -> str:
    """Return the page of a comparison."""
    charts: dict[str, str | list[str]] = {
        "map": map_chart(view.map),
        "distributions": [
            distribution_chart(each, f"column-{place}", "comparison") for place, each in enumerate(view.distributions)
        ],
    }
    return _render("comparison.html.j2", view, charts, {})


def render_history(view: HistoryView) -> str:
    """Return the page of a history."""
    charts: dict[str, Any] = {
        "evidence": evidence_plot(view),
        "rows": rows_plot(view),
        "missing": missing_plot(view),
        "courses": [course_charts(each, view) for each in view.courses],
    }
    return _render("history.html.j2", view, charts, {}, "timeline", data=script_json(view.embedded))


def _render(
    template: str,
    view: SummaryView | ComparisonView | HistoryView,
    charts: Mapping[str, Any],
    panels: Mapping[str, Panel],
    *more: str,
    data: str = "",
) -> str:
    """Fill a template. more: names of further scripts and styles. data: what scripts read, as JSON."""
    script = "\n".join(_text(f"{name}.js") for name in ("page", *more))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    return (
        environment()
        .get_template(template)
        .render(
            view=view,
            charts=charts,
            panels=panels,
            script=script,
            script_hash=digest,
            style="\n".join(_text(f"{name}.css") for name in ("style", *more)),
            data=data,
            light=css_variables(dark=False),
            dark=css_variables(dark=True),
        )
    )


def _text(name: str) -> str:
    return (files("supersample.report") / "templates" / name).read_text(encoding="utf-8")
