"""The panels of a summary's page, in their order: each has a line here, a template, and data."""

from collections.abc import Callable
from typing import Any, NamedTuple

from supersample._registry import Registry
from supersample.summary import Summary

__all__ = ["PANELS", "Panel"]


class Panel(NamedTuple):
    """A section of the page.

    link: its words in the menu; None for a section that the menu leaves out.
    template: a file of `report/templates`. It has `view` (all that `view.py` gathered), `charts`, and `own`, the panel's data.
    data: computes the data that only this panel shows.
    shown: whether the page of a view has this panel.
    """

    link: str | None
    template: str
    data: Callable[[Summary], Any] = lambda _: None
    shown: Callable[[Any], bool] = lambda _: True


#: A new panel is a template and a line here; its name is the section's anchor.
PANELS: Registry[Panel] = Registry(
    "panel",
    {
        "headline": Panel(None, "panels/headline.html.j2"),
        "notes": Panel("Notes", "panels/notes.html.j2", shown=lambda view: bool(view.notes)),
        "prototypes": Panel("Prototypes", "panels/prototypes.html.j2"),
        "criticisms": Panel("Criticisms", "panels/criticisms.html.j2"),
        "columns": Panel("Columns", "panels/columns.html.j2"),
        "map": Panel("Map", "panels/map.html.j2"),
        "trace": Panel("Closeness", "panels/trace.html.j2"),
        "reading": Panel("How it was read", "panels/reading.html.j2"),
        "small-print": Panel("Small print", "panels/small_print.html.j2"),
    },
)
