"""How a result is shown in a notebook: every layer calls `report.notebook`, the last layer, through this module."""

import importlib

__all__ = ["notebook_html"]


def notebook_html(result: object) -> str:
    """Return a result as a small piece of HTML, for `_repr_html_`."""
    # `report` is a later layer that results must not depend on, so it is imported only when one is shown.
    shown: str = importlib.import_module("supersample.report.notebook").html_of(result)
    return shown
