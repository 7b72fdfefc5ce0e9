"""What the papers' figures share: one style, a picture and a JSON for each, and the slope of a log-log line."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

__all__ = ["LINES", "loglog_slope", "panels", "write_numbers"]

#: How each method is drawn, in every figure: the colours of Okabe and Ito, which colour-blind readers can tell apart, and a
#: marker and a dash of its own for print.
LINES: dict[str, dict[str, Any]] = {
    "exact": {"color": "black", "marker": "s", "linestyle": "-", "label": "exact"},
    "fourier": {"color": "#0072B2", "marker": "o", "linestyle": "-", "label": "FastMMD-Fourier"},
    "fastfood": {"color": "#D55E00", "marker": "^", "linestyle": "--", "label": "FastMMD-Fastfood"},
    "block": {"color": "#009E73", "marker": "D", "linestyle": "-.", "label": "block (B-test)"},
    "linear": {"color": "#CC79A7", "marker": "v", "linestyle": ":", "label": "linear"},
}

#: Inches that a legend beside the axes takes.
_LEGEND = 1.4

_STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "grid.alpha": 0.25,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "lines.markersize": 4.5,
}


@contextmanager
def panels(path: Path, count: int, *, legend_beside: bool = False) -> Iterator[list[Axes]]:
    """Give `count` axes side by side to draw on, and save them as `path`.png when done; with the legend of the first beside."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(3.7 * count + _LEGEND * legend_beside, 3.3), layout="constrained")
        axes = [figure.add_subplot(1, count, place + 1) for place in range(count)]
        yield axes
        if legend_beside:
            figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right upper")
        figure.savefig(path.with_suffix(".png"), dpi=100, pil_kwargs={"optimize": True})


def write_numbers(path: Path, numbers: Mapping[str, Any]) -> None:
    """Write the numbers behind a figure as `path`.json, to four significant digits."""
    text = json.dumps(_plain(numbers), indent=1)
    path.with_suffix(".json").write_text(text + "\n", encoding="utf-8")


def loglog_slope(x: npt.ArrayLike, y: npt.ArrayLike) -> float:
    """Return the slope of the least-squares line through log y against log x."""
    slope, _ = np.polyfit(np.log(np.asarray(x, dtype=np.float64)), np.log(np.asarray(y, dtype=np.float64)), 1)
    return float(slope)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(entry) for entry in value]
    return float(f"{value:.4g}") if isinstance(value, float | np.floating) else value
