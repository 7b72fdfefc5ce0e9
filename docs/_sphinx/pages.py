"""What Markdown pages need to be read both on a code host and as a site.

The order of pages stands in `contents` (conf.py) and not in the pages. The changelog and its like lie at the root of the
repository, where people look for them; the site shows each in the place of a page that points there (`root_pages`). Links
between all of them are those of files in the repository; what the site has no page for becomes plain text.
"""

import os
import re
from pathlib import Path, PurePosixPath
from typing import Any

ROOT = Path(__file__).parents[2]

_FENCE = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"(?P<picture>!?)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)")


def site_links(text: str, folder: str, docname: str, root_pages: dict[str, str]) -> str:
    """Return Markdown of a file in `folder` of the repository with its links as seen from a page of the site."""
    here = PurePosixPath("docs", docname).parent
    pages = {root: PurePosixPath("docs", page + ".md") for page, root in root_pages.items()}

    def moved(match: re.Match[str]) -> str:
        path, _, anchor = match["target"].partition("#")
        if not path or re.match(r"[a-z]+:", path):
            return match[0]
        target = PurePosixPath(os.path.normpath(PurePosixPath(folder, path)))
        target = pages.get(str(target), target)
        if (ROOT / target).is_dir() and (ROOT / target / "index.md").exists():
            target /= "index.md"
        on_site = target.suffix in (".md", ".ipynb") and target.parts[0] == "docs" and (ROOT / target).exists()
        if not match["picture"] and not on_site:
            # A file that is there and no page is named; one that is not there is left for Sphinx to complain of.
            return match["text"] if (ROOT / target).exists() else match[0]
        new = os.path.relpath(target, here) + ("#" + anchor if anchor else "")
        return f"{match['picture']}[{match['text']}]({new})"

    parts = _FENCE.split(text)  # code stays as it is
    return "".join(part if place % 2 else _LINK.sub(moved, part) for place, part in enumerate(parts))


def _read(app: Any, docname: str, source: list[str]) -> None:
    if str(app.env.doc2path(docname)).endswith(".ipynb"):  # its links are right already, and it is no text
        return
    root = app.config.root_pages.get(docname)
    folder = str(PurePosixPath("docs", docname).parent)
    if root is not None and root != "README.md":
        app.env.note_dependency(str(ROOT / root))
        source[0], folder = (ROOT / root).read_text(), ""
    text = site_links(source[0], folder, docname, app.config.root_pages)
    for caption, entries in app.config.contents.get(docname, {}).items():
        text += f"\n\n```{{toctree}}\n:hidden:\n:caption: {caption}\n" + "\n".join(entries) + "\n```\n"
    source[0] = text


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_config_value("contents", {}, "env", types=[dict])
    app.add_config_value("root_pages", {}, "env", types=[dict])
    app.connect("source-read", _read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
