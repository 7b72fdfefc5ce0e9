"""The notebooks of docs/gallery: short, without outputs, by public names only, with what they claim asserted.

`make gallery` runs them.
"""

import ast
import json
import re
from pathlib import Path

import pytest

import supersample as ss

ROOT = Path(__file__).parents[2]
GALLERY = ROOT / "docs" / "gallery"
NOTEBOOKS = sorted(GALLERY.glob("*.ipynb"))


def cells(path, kind):
    book = json.loads(path.read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == kind]


def trees(path):
    return [ast.parse(code) for code in cells(path, "code")]


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def notebook(request):
    return request.param


def test_there_are_six_and_the_page_lists_them():
    names = [path.name for path in NOTEBOOKS]
    assert len(names) == 6
    assert sorted(re.findall(r"\]\((\S+\.ipynb)\)", (GALLERY / "index.md").read_text())) == names


def test_every_notebook_is_linked_from_a_guide(notebook):
    guides = (ROOT / "docs" / "guides").glob("*.md")
    assert any(f"](../gallery/{notebook.name})" in guide.read_text() for guide in guides)


def test_a_notebook_is_short_and_has_no_outputs(notebook):
    book = json.loads(notebook.read_text(encoding="utf-8"))
    assert 5 <= len(book["cells"]) <= 10
    assert book["nbformat"] == 4
    assert len({cell["id"] for cell in book["cells"]}) == len(book["cells"])
    code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    assert cells(notebook, "markdown")[0].startswith("# ")


def test_what_is_claimed_is_asserted_and_something_is_drawn(notebook):
    nodes = [node for tree in trees(notebook) for node in ast.walk(tree)]
    assert sum(isinstance(node, ast.Assert) for node in nodes) >= 3
    assert any(isinstance(node, ast.Attribute) and node.attr == "subplots" for node in nodes)


def test_only_public_names_are_used(notebook):
    nodes = [node for tree in trees(notebook) for node in ast.walk(tree)]
    assert not [node.attr for node in nodes if isinstance(node, ast.Attribute) and node.attr.startswith("_")]
    ours = [node for node in nodes if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("supersample")]
    assert ours == []
    used = {node.attr for node in nodes if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "ss"}
    assert used
    assert used <= set(ss.__all__)


def test_links_of_a_notebook_lead_somewhere(notebook):
    targets = re.findall(r"\]\(([^)\s]+)\)", "\n".join(cells(notebook, "markdown")))
    assert targets
    assert [target for target in targets if not (GALLERY / target).exists()] == []
