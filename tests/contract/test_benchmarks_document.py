"""BENCHMARKS.md and the page of all tables are what their generator makes of the committed results; pictures are there."""

import re
from pathlib import Path

import pytest
from benchmarks.peers.document import TABLES_PAGE, TRADE_OFFS, compose, trade_offs
from benchmarks.peers.rows import label, mean, seconds
from benchmarks.peers.tables_page import ORDER, compose_tables, read

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "peers" / "results"


@pytest.fixture(scope="module")
def document():
    return (ROOT / "BENCHMARKS.md").read_text(encoding="utf-8")


def test_document_is_made_from_the_results(document):
    assert document == compose(read(RESULTS)), "run python -m benchmarks.peers.document"
    every = (ROOT / TABLES_PAGE).read_text(encoding="utf-8")
    assert every == compose_tables(read(RESULTS)), "run python -m benchmarks.peers.document"


def test_the_short_page_is_short(document):
    assert len(document.splitlines()) <= 120  # two pages; what is longer goes to the page of all tables


def test_the_page_on_methods_has_the_numbers_of_the_results():
    page = (ROOT / "docs" / "which-method.md").read_text(encoding="utf-8")
    assert trade_offs(read(RESULTS)[TRADE_OFFS]) in page, "run python -m benchmarks.peers.document"


def test_every_table_is_there_or_named_as_missing(document):
    taken = {path.stem for path in RESULTS.glob("*.json")}
    assert taken <= set(ORDER)
    named = re.search(r"^Tables that the command takes and that are not here: (.+)\.$", document, re.MULTILINE)
    assert set(ORDER) - taken == (set(named[1].split(", ")) if named else set())


@pytest.mark.parametrize("name", ["BENCHMARKS.md", TABLES_PAGE])
def test_pictures_are_there_and_small(name):
    page = ROOT / name
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", page.read_text(encoding="utf-8"))
    assert pictures
    for each in pictures:
        assert 0 < (page.parent / each).stat().st_size < 100_000, each


SHOWN = ("random rows", "scikit-learn k-means nearest rows [cluster weights]", "coreax herding", "coreax iterative herding",
         "stream", "sbq [free weights]")  # fmt: skip


def test_the_numbers_of_the_readme_are_those_of_the_results():
    readme, tables = (ROOT / "README.md").read_text(encoding="utf-8"), read(RESULTS)
    rows = [line for line in readme.splitlines() if re.match(r"\| (electricity|CovType|MNIST), ", line)]
    nearer, longer, added = [], [], []
    for name, line in zip(("electricity-large", "covtype-large", "mnist-large"), rows, strict=True):
        found = {label(row): row for row in tables[name]["rows"]}
        assert re.findall(r"\d\.\d+", line) == [f"{mean(found[each]['mmd']):.3g}" for each in SHOWN]
        ours, theirs = found["stream"], found["coreax iterative herding"]
        nearer.append(mean(found["random rows"]["mmd"]) / mean(ours["mmd"]))
        longer.append(seconds(theirs) / seconds(ours))
        added.append((theirs["peak_mb"] - theirs["before_mb"], ours["peak_mb"] - ours["before_mb"]))
    assert f"are {min(nearer):.2g} to {max(nearer):.2g} times nearer to the data than random rows" in readme
    assert f"takes {min(longer):.0f} to {max(longer):.0f} times as long (warm)" in readme
    assert all(2_250 < theirs < 2_350 and ours < 200 for theirs, ours in added)
    assert "adds 2.3 GB of memory instead of less than 0.2" in " ".join(readme.split())
