"""The guide to tables shows what a messy table is taken for, column by column and note by note, as it is found here."""

import re
from pathlib import Path

import pytest

import messy
import supersample as ss
from supersample.records.sources import open_source

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "tables.md"
#: The longest example of a value that the guide shows.
LONGEST = 32


@pytest.fixture(scope="module")
def orders():
    return messy.orders(30_000, 0)


@pytest.fixture(scope="module")
def summary(orders):
    return ss.summarize(orders, random_state=0)


def shown(value):
    """Return a value as the guide shows it."""
    text = str(value)
    return f"`{text}`" if len(text) <= LONGEST else f"`{text[:LONGEST]}`..."


def role_lines(summary, orders):
    """Return the lines of the table of roles: each column with its first value, its role and how it is used."""
    (first,) = next(open_source(orders).batches(0)).slice(0, 1).to_pylist()
    used = [f"{column.width}" if column.used else f"none: {column.note}" for column in summary.columns]
    return [
        f"| `{column.name}` | {shown(first[column.name])} | {column.kind} | {use} |"
        for column, use in zip(summary.columns, used, strict=True)
    ]


def note_lines(summary):
    """Return the lines of the table of notes."""
    return [f"| {note.kind} | {note} |" for note in summary.notes]


def table_under(heading):
    """Return the lines of the table in the guide whose first line is given, without its head."""
    found = re.search(rf"^{re.escape(heading)}\n\|[-| ]+\n((?:\|.*\n)+)", GUIDE.read_text(), re.MULTILINE)
    assert found is not None, heading
    return found[1].splitlines()


def test_roles_are_those_of_the_guide(summary, orders):
    assert table_under("| column | its first value | role | coordinates in the kernel |") == role_lines(summary, orders)


def test_notes_are_those_of_the_guide(summary):
    assert table_under("| kind | note |") == note_lines(summary)
