"""A matplotlib drawing as one svg element of the page, with CSS variables as colours and ids that do not clash."""

import io
import re
import threading
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from supersample.report.palette import STAND_INS

__all__ = ["draw"]

#: Settings that make the drawing independent of the user's own and of the date. Text stays text and is never parsed as math.
SETTINGS: dict[Any, Any] = {
    "axes.edgecolor": STAND_INS["line"],
    "axes.facecolor": "none",
    "axes.labelcolor": STAND_INS["muted"],
    "axes.linewidth": 1.0,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.size": 12.0,
    "svg.fonttype": "none",
    "svg.hashsalt": "supersample",
    "text.color": STAND_INS["muted"],
    "text.parse_math": False,
    "xtick.color": STAND_INS["line"],
    "xtick.labelcolor": STAND_INS["muted"],
    "ytick.color": STAND_INS["line"],
    "ytick.labelcolor": STAND_INS["muted"],
}

#: matplotlib's settings belong to the process: only one drawing at a time changes and restores them.
_ONE_AT_A_TIME = threading.Lock()
_VARIABLE = {colour: f"var(--{part})" for part, colour in STAND_INS.items()}
_COLOUR = re.compile("|".join(_VARIABLE))
_FONT = re.compile(r"font: (?:\w+ )*([\d.]+)px [^;]*")


def draw(paint: Callable[[Figure], None], *, name: str, label: str, width: int, height: int) -> str:
    """Return a chart as an svg element of `width` by `height` pixels; `paint` fills the figure."""
    with _ONE_AT_A_TIME, mpl.rc_context(), warnings.catch_warnings():
        mpl.rcdefaults()
        mpl.rcParams.update(SETTINGS)
        # The reader's browser has glyphs that the fonts used for measuring here lack.
        warnings.filterwarnings("ignore", message=r"(?s).*Glyph .* missing", category=UserWarning)
        figure = Figure(figsize=(width / 72, height / 72), facecolor="none")
        FigureCanvasSVG(figure)
        paint(figure)
        file = io.BytesIO()
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return _inlined(file.getvalue(), name, label)


def _inlined(source: bytes, name: str, label: str) -> str:
    root = ET.fromstring(source)  # noqa: S314 -- written by matplotlib a moment ago
    for metadata in root.findall("{*}metadata"):
        root.remove(metadata)
    named = set(re.findall(rb"(?:url\(#|href=\"#)([^)\"]+)", source))
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        attributes = {key.rpartition("}")[2]: value for key, value in element.attrib.items()}
        element.attrib.clear()
        element.attrib.update({key: _adapted(key, value, name, named) for key, value in attributes.items() if value})
        if element.get("id") == "":
            del element.attrib["id"]
    root.attrib = {"viewBox": root.attrib["viewBox"], "class": "chart", "role": "img", "aria-label": label}
    for style in root.findall("defs/style"):
        style.text = None
    return _shorter(ET.tostring(root, encoding="unicode"))


def _adapted(key: str, value: str, name: str, named: set[bytes]) -> str:
    """Return an attribute's value with the page's colours, inherited fonts and unique ids."""
    if key == "id":
        return f"{name}-{value}" if value.encode() in named else ""
    if key == "href":
        return value.replace("#", f"#{name}-")
    if key == "clip-path":
        return value.replace("url(#", f"url(#{name}-")
    if key == "style":
        return _COLOUR.sub(lambda found: _VARIABLE[found[0]], _FONT.sub(r"font-size: \1px", value))
    return value


def _shorter(text: str) -> str:
    """Remove empty styles, space between elements, and decimals far below a pixel."""
    text = re.sub(r"<defs>\s*<style type=\"text/css\"\s*/>\s*</defs>", "", text)
    text = re.sub(r"(?<=[ \"(-])(\d+\.\d{2})\d+", r"\1", text)
    return re.sub(r">\s+<", "><", text).strip()
