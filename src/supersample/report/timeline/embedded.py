"""What the page's script compares two ranges by: counts of every span in common classes, as JSON."""

import base64
import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from supersample._typing import Floats
from supersample.history.rules import Rules
from supersample.report.timeline.courses import Course, Lengths, Quartiles, Values
from supersample.report.timeline.moments import moment
from supersample.report.timeline.scale import TimeScale
from supersample.report.timeline.spans import Span

__all__ = ["Preset", "embedded", "script_json"]

#: A pair of ranges with a name: the first span of each, and that after its last.
Preset = tuple[str, tuple[int, int], tuple[int, int]]
#: Mean features are kept as whole numbers up to this.
_FULL = 32_767


def embedded(
    spans: Sequence[Span], courses: Sequence[Course], scale: TimeScale, rules: Rules, presets: Sequence[Preset], factor: float
) -> dict[str, Any]:
    """Return what the script needs, as plain values. factor: by which rows count as fewer, since they depend on others."""
    return {
        "clock": rules.clock,
        "season": None if rules.season is None else rules.n_phases,
        "phases": None if rules.season is None else [list(each.phases) for each in spans],
        "starts": [moment(each.start, rules) for each in spans],
        "ends": [moment(each.end, rules) for each in spans],
        "literals": [[_literal(each.start, rules), _literal(each.end, rules)] for each in spans],
        "places": [[round(scale.at(each.start), 5), round(scale.at(each.end), 5)] for each in spans],
        "rows": [each.rows for each in spans],
        "blocks": [each.n_blocks for each in spans],
        "presets": [[name, list(first), list(second)] for name, first, second in presets],
        "columns": [_column(each) for each in courses],
        "features": _features(spans) | {"factor": _digits(factor, 4)},
    }


def script_json(values: dict[str, Any]) -> str:
    """Return values as JSON that stands in a script element: nothing in it can end the element or begin a comment."""
    text = json.dumps(values, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for mark in "<>&\u2028\u2029":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return text


def _literal(time: float, rules: Rules) -> str:
    """Write a moment as Python and the shell take it."""
    return repr(rules.text(time)) if rules.clock else f"{time:.15g}"


def _column(course: Course) -> dict[str, Any]:
    found: dict[str, Any] = {"name": course.name, "absent": course.absent.tolist(), "kind": "none"}
    of = course.of
    if isinstance(of, Quartiles):
        found |= {
            "kind": "numbers", "form": of.form, "edges": [_digits(each, 8) for each in of.edges.tolist()],
            "even": of.axis.kind == "even", "counts": of.counts.tolist(), "finite": of.finite.tolist(),
            "means": [None if math.isnan(each) else _digits(each, 12) for each in of.means.tolist()],
        }  # fmt: skip
    elif isinstance(of, Values):
        found |= {"kind": "values", "labels": list(of.labels), "exact": of.exact, "counts": of.counts.tolist()}
    elif isinstance(of, Lengths):
        means = [None if math.isnan(each) else _digits(each, 8) for each in of.means.tolist()]
        found |= {"kind": "lengths", "unit": of.unit, "means": means, "numbers": of.numbers.tolist()}
    return found


def _digits(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}")


def _features(spans: Sequence[Span]) -> dict[str, Any]:
    """Return the mean features of the rows of each span that came in time, as whole numbers of 16 bits in base 64."""
    rows = np.array([each.n_in_time for each in spans])
    means: Floats = np.array([each.sums for each in spans]) / np.maximum(rows, 1)[:, None]
    largest = float(np.abs(means).max(initial=0.0)) or 1.0
    numbers = np.rint(means / largest * _FULL).astype("<i2")
    return {
        "rows": rows.tolist(), "size": int(means.shape[1]), "unit": largest / _FULL,
        "means": base64.b64encode(numbers.tobytes()).decode("ascii"),
    }  # fmt: skip
