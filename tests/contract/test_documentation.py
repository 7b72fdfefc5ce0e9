"""What README and guides show is run."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCKS = [
    pytest.param(block, id=f"{page.name}-{number}")
    for page in PAGES
    for number, block in enumerate(re.findall(r"^```python\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE))
]


@pytest.mark.parametrize("block", BLOCKS)
def test_code_in_the_documentation_runs(block):
    assert "supersample" in block
    exec(compile(block, "documentation", "exec"), {})


def test_every_link_between_pages_leads_somewhere():
    broken = [
        f"{page.name}: {target}"
        for page in PAGES
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text())
        if not target.startswith("http") and not (page.parent / target).exists()
    ]
    assert broken == []
