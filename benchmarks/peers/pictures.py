"""One picture for each data set: true MMD against warm seconds, with the Pareto front."""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
from PIL import Image

from benchmarks.peers.pareto import front
from benchmarks.peers.rows import Row, Table, error, is_ours, label, mean, measures, seconds

__all__ = ["draw"]

#: A colour for each package, told apart by colour-blind readers too, and markers for its methods in their order.
_COLOURS = {
    "none": "#000000",
    "supersample": "#D55E00",
    "goodpoints": "#0072B2",
    "coreax": "#009E73",
    "apricot-select": "#CC79A7",
    "aix360": "#7F3C8D",
    "mmd-critic": "#8C6D31",
    "datasketches": "#56B4E9",
    "scikit-learn": "#6B7280",
    "scikit-learn-extra": "#B8BCC4",
}
_MARKERS = "oDs^vP<>X*"
_STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
}


def draw(table: Table, path: Path) -> None:
    """Write the picture of a table of selections; hollow marks have weights of their own."""
    rows: Sequence[Row] = table["rows"]
    places = measures(rows)
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(9.2, 5.4), layout="constrained")
        axes = figure.add_subplot()
        axes.set_xscale("log")
        axes.set_yscale("log")
        seen: dict[str, int] = {}
        for row in rows:
            package = row["package"]
            marker = _MARKERS[seen.setdefault(package, 0) % len(_MARKERS)]
            seen[package] += 1
            colour = _COLOURS.get(package, "#444444")
            axes.errorbar(
                seconds(row),
                mean(row["mmd"]),
                yerr=error(row["mmd"]),
                fmt=marker,
                color=colour,
                markerfacecolor=colour if row["weights"] == "equal" else "white",
                markersize=9 if is_ours(row) else 6,
                elinewidth=0.8,
                label=label(row),
            )
        for kind, considered in (("--", rows), ("-", [row for row in rows if row["weights"] == "equal"])):
            edge = [places[name] for name in front(measures(considered))]
            told = "front, any weights" if kind == "--" else "front, equal weights"
            x, y = [first for first, _ in edge], [second for _, second in edge]
            axes.step(x, y, where="post", color="0.35", linewidth=1.0, linestyle=kind, label=told, zorder=0)
        axes.set_xlabel("seconds, warm")
        axes.set_ylabel("true MMD")
        axes.set_title(f"{table['data']}: {table['n']:,} rows to {table['m']}", loc="left")
        figure.legend(*axes.get_legend_handles_labels(), loc="outside right upper", frameon=False, fontsize=8)
        drawn = BytesIO()
        figure.savefig(drawn, format="png", dpi=100)
    # Few colours are in use; a palette makes the file a third as large.
    Image.open(drawn).convert("RGB").quantize(128).save(path, optimize=True)
