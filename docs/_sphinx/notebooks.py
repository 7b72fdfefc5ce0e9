"""Notebooks as pages: the text of the repository with the outputs of the run that `make gallery` made."""

import json
from pathlib import Path, PurePosixPath
from typing import Any

from sphinx.util import logging

ROOT = Path(__file__).parents[2]

_log = logging.getLogger(__name__)


def sources(notebook: dict[str, Any]) -> list[str]:
    """Return what stands in the cells."""
    return ["".join(cell["source"]) for cell in notebook["cells"]]


def _read(app: Any, docname: str, source: list[str]) -> None:
    path = Path(app.env.doc2path(docname))
    if path.suffix != ".ipynb":
        return
    executed = ROOT / app.config.gallery_folder / path.name
    shown = json.loads(executed.read_text(encoding="utf-8")) if executed.exists() else {"cells": []}
    if sources(shown) != sources(json.loads(source[0])):
        _log.warning(
            "%s has no outputs, or those of an earlier text: run `make gallery`", PurePosixPath(docname), location=docname
        )
        return
    offer = f"{{download}}`This notebook <{path.name}>`, without outputs, to run it yourself."
    shown["cells"].append({"cell_type": "markdown", "id": "download", "metadata": {}, "source": offer})
    app.env.note_dependency(str(executed))
    source[0] = json.dumps(shown)


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_config_value("gallery_folder", "out/gallery", "env", types=[str])
    app.connect("source-read", _read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
