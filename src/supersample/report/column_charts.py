"""The small charts of the columns, as svg elements: one path for all rows, one for the prototypes, and the axis.

They are written here and not drawn by matplotlib: a page may have hundreds, and each takes 1 KB instead of 8, and no time.
"""

from collections.abc import Sequence
from html import escape

from supersample.report.columns import ColumnCard

__all__ = ["shape_chart"]

#: The size of a chart, the line that its bars stand on, and the room above them, in pixels.
WIDTH, HEIGHT, FLOOR, CEILING = 300, 96, 74, 4
#: The least height of a class that holds any row, so that tails are seen.
LEAST = 1.0


def shape_chart(card: ColumnCard) -> str:
    """Return the distribution of a column as an svg element; nothing for columns that have none."""
    shape = card.shape
    if shape is None:
        return ""
    largest = max(*shape.first, *shape.second, 1e-12)
    beside = ", and the prototypes, as a line" if any(shape.second) else ""
    label = escape(f"Distribution of {card.name}: all rows, filled{beside}", quote=True)
    ticks = "".join(_tick(place, text) for place, text in shape.ticks)
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" class="chart shape" role="img" aria-label="{label}">'
        f'<path class="all" d="{_outline(shape.first, largest)}Z"/>'
        + (f'<path class="chosen" d="{_outline(shape.second, largest)}"/>' if any(shape.second) else "")
        + f'<path class="axis" d="M0 {FLOOR}H{WIDTH}"/>{ticks}</svg>'
    )


def _outline(shares: Sequence[float], largest: float) -> str:
    """Return a path along the tops of classes, from the floor to the floor."""
    steps, before = [f"M0 {FLOOR}"], float(FLOOR)
    for place, share in enumerate(shares, start=1):
        height = max(LEAST, share / largest * (FLOOR - CEILING)) if share > 0 else 0.0
        level = FLOOR - height
        steps.append(f"{f'V{level:.1f}' if level != before else ''}H{WIDTH * place / len(shares):.1f}")
        before = level
    return "".join([*steps, f"V{FLOOR}"]).replace(".0V", "V").replace(".0H", "H")


def _tick(place: float, text: str) -> str:
    x = place * WIDTH
    # Labels at the ends would reach beyond the chart.
    half = 3.3 * len(text)
    side, at = ("start", 0.0) if x < half else ("end", float(WIDTH)) if x > WIDTH - half else ("middle", x)
    label = f'<text x="{at:.1f}" y="{HEIGHT - 5}" text-anchor="{side}">{escape(text)}</text>'
    return f'<path class="axis" d="M{x:.1f} {FLOOR}v4"/>{label}'
