"""BENCHMARKS.md is what its generator makes of the committed results, and its pictures are there."""

import re
from pathlib import Path

import pytest
from benchmarks.peers.document import ORDER, TRADE_OFFS, compose, read, trade_offs

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "peers" / "results"


@pytest.fixture(scope="module")
def document():
    return (ROOT / "BENCHMARKS.md").read_text(encoding="utf-8")


def test_document_is_made_from_the_results(document):
    assert document == compose(read(RESULTS)), "run python -m benchmarks.peers.document"


def test_the_page_on_methods_has_the_numbers_of_the_results():
    page = (ROOT / "docs" / "which-method.md").read_text(encoding="utf-8")
    assert trade_offs(read(RESULTS)[TRADE_OFFS]) in page, "run python -m benchmarks.peers.document"


def test_every_table_is_there_or_named_as_missing(document):
    taken = {path.stem for path in RESULTS.glob("*.json")}
    assert taken <= set(ORDER)
    named = re.search(r"^Tables that the command takes and that are not here: (.+)\.$", document, re.MULTILINE)
    assert set(ORDER) - taken == (set(named[1].split(", ")) if named else set())


def test_pictures_are_there_and_small(document):
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", document)
    assert pictures
    for each in pictures:
        assert 0 < (ROOT / each).stat().st_size < 100_000, each
