"""What a notebook shows of a result: a small piece of HTML, in the words of the terminal and of the page.

It has no script, no outside resource and no colour of its own, so that it reads in a light and in a dark notebook; every value
of the data is escaped, and cut so that the whole stays under 30 KB whatever the data hold.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch

import pyarrow as pa
import pyarrow.compute as pc

from supersample._text import number_text
from supersample.discrepancy import TestResult
from supersample.integration import Integral
from supersample.records.sources import RESERVED
from supersample.report import words
from supersample.report.cells import clean, text_of
from supersample.report.comparison_view import change_lines, facts_of, names_of, verdict_of
from supersample.report.gallery import Heading, headings
from supersample.report.rendering import environment
from supersample.report.view import Fact, NoteGroup, headline_of, note_groups, why_shown
from supersample.selection import Selection
from supersample.summary import Comparison, Summary
from supersample.summary.comparison import gain_in_words

__all__ = ["NotebookView", "Rows", "html_of"]

#: Rows shown of prototypes and points, of criticisms and of each side of a comparison; columns of each, changes and notes.
MOST_ROWS, FEW_ROWS, MOST_COLUMNS, MOST_CHANGES, MOST_NOTES = 10, 5, 8, 10, 5
#: Characters of a name or value in a table, of what changed in a column, of a note, of a line of the terminal, of a meaning.
LONGEST, LONGEST_CHANGE, LONGEST_NOTE, LONGEST_LINE, LONGEST_MEANING = 24, 100, 160, 600, 1_500


@dataclass(frozen=True)
class Rows:
    """A table with a title: the text of each cell, and a remark below a row or nothing.

    n_rows: how many there are, shown or not; n_hidden: columns that are not shown.
    """

    title: str
    columns: tuple[Heading, ...]
    cells: tuple[tuple[str, ...], ...]
    remarks: tuple[str, ...]
    n_rows: int
    n_hidden: int = 0


@dataclass(frozen=True)
class NotebookView:
    """What is shown, from the top: where the data are from, one sentence, what it means, tables, notes, and single numbers."""

    source: str
    headline: str
    meaning: str = ""
    tables: tuple[Rows, ...] = ()
    notes: tuple[NoteGroup, ...] = ()
    facts: tuple[Fact, ...] = ()


@singledispatch
def html_of(result: object) -> str:
    """Return a result as HTML for a notebook."""
    raise TypeError(f"result must be one of the package, got {type(result).__name__}")


@html_of.register
def _summary(result: Summary) -> str:
    prototypes, criticisms = result.prototypes, result.criticisms
    headline, meaning = headline_of(result, prototypes.num_rows)
    # The largest share first, as on the page; rows are named by their positions, so the order of the stream is not lost.
    largest = prototypes.take(pc.sort_indices(prototypes, [("_share", "descending"), ("_row", "ascending")]))
    shares = [words.percent(share) for share in largest.column("_share").to_pylist()]
    rows = prototypes.column("_row").to_pylist()
    reasons = criticisms.slice(0, FEW_ROWS).select(["_kind", "_share", "_nearest"]).to_pylist()
    tables = [_rows("Prototypes: what is typical", largest, MOST_ROWS, {"Share": shares})]
    if criticisms.num_rows:
        missed = _rows("Criticisms: what the prototypes do not show", criticisms, FEW_ROWS)
        tables.append(replace(missed, remarks=tuple(why_shown(reason, rows) for reason in reasons)))
    facts = tuple(fact for fact in _headline_and_facts(str(result), LONGEST_NOTE)[1] if fact.label in ("kernel", "left out"))
    notes = tuple(map(_short, note_groups(result.notes)))
    return _render(NotebookView(clean(result.source, 120), headline, meaning, tuple(tables), notes, facts))


@html_of.register
def _comparison(result: Comparison) -> str:
    left, right = ("", "") if result.summaries is None else (clean(each, 60) for each in names_of(*result.summaries))
    headline, meaning = verdict_of(result)
    lines = [(line.name, line.what, line.pvalue) for line in change_lines(result) if line.changed]
    lines += [(each.names, each.what, words.probability(each.pvalue)) for each in result.pairs_at(result.level)]
    tables = []
    if lines:
        cells = tuple((clean(name, LONGEST), clean(what, LONGEST_CHANGE), p) for name, what, p in lines[:MOST_CHANGES])
        names = Heading("Column", False), Heading("What changed", False), Heading("p-value", True)
        tables.append(Rows("Where they differ: the columns", names, cells, ("",) * len(cells), len(lines)))
    if result.rejects(result.level):  # else there is nothing that the rows could show, as on the terminal
        sides = ("left", left, result.left_rows), ("right", right, result.right_rows)
        tables += [
            _gained(f"More common on the {side}{name and f': {name}'}", table)
            for side, name, table in sides
            if table is not None and table.num_rows
        ]
    title = f"{left or 'left'} and {right or 'right'}" if left or right else ""
    facts = facts_of(result, (left, right))
    notes = tuple(map(_short, note_groups(result.notes)))
    return _render(NotebookView(title, headline, clean(meaning, LONGEST_MEANING), tuple(tables), notes, facts))


def _gained(title: str, table: pa.Table) -> Rows:
    """Return the rows of one side of a comparison, each with how many times as common rows like it are."""
    gains = table.slice(0, FEW_ROWS).to_pylist()
    return replace(_rows(title, table, FEW_ROWS), remarks=tuple(clean(gain_in_words(each), LONGEST_NOTE) for each in gains))


@html_of.register
def _selection(result: Selection) -> str:
    result = result.on_host()
    headline, facts = _headline_and_facts(str(result))
    shown, points = min(len(result), MOST_ROWS), result.points[:MOST_ROWS, :MOST_COLUMNS]
    names = ["Row", "Weight", *(f"x{place}" for place in range(points.shape[1]))]
    cells = tuple(
        (words.count(int(index)), number_text(float(weight), 3), *(number_text(float(value), 4) for value in point))
        for index, weight, point in zip(result.indices[:shown], result.weights[:shown], points, strict=True)
    )
    heads, hidden = tuple(Heading(name, True) for name in names), result.points.shape[1] - points.shape[1]
    table = Rows("Points in the order of selection", heads, cells, ("",) * shown, len(result), hidden)
    return _render(NotebookView("", headline, "", (table,) if shown else (), (), facts))


@html_of.register(TestResult)
@html_of.register(Integral)
def _text(result: object) -> str:
    headline, facts = _headline_and_facts(str(result))
    return _render(NotebookView("", headline, facts=facts))


def _headline_and_facts(text: str, longest: int = LONGEST_LINE) -> tuple[str, tuple[Fact, ...]]:
    r"""Split what the terminal shows into its first line and the numbers below, each with its label.

    >>> _headline_and_facts("It holds\n  left out  a, b\n  MMD       0.1  (exact)")[1][1]
    Fact(label='MMD', value='0.1  (exact)', about='')
    """
    first, *rest = text.splitlines()
    facts = []
    for line in rest:
        label, _, value = re.sub(" {2,}", "\n", line.strip(), count=1).partition("\n")
        facts.append(
            Fact(clean(label, LONGEST), clean(words.shortened(value) if label in ("kernel", "prior") else value, longest))
        )
    return clean(first, longest), tuple(facts)


def _rows(title: str, table: pa.Table, most: int, ahead: Mapping[str, Sequence[str]] | None = None) -> Rows:
    """Return the first rows and columns of a table of a summary; ahead: columns of text that come before."""
    own = [name for name in table.column_names if name not in RESERVED]
    names, shown = own[:MOST_COLUMNS], table.slice(0, most)
    lead = dict(ahead or {}) | {"Row": [words.count(row) for row in shown.column("_row").to_pylist()]}
    columns = [*lead.values(), *([text_of(value, LONGEST) for value in shown.column(name)] for name in names)]
    return Rows(
        title,
        (*(Heading(name, True) for name in lead), *headings(table, names, LONGEST)),
        tuple(zip(*(column[: shown.num_rows] for column in columns), strict=True)),
        ("",) * shown.num_rows,
        table.num_rows,
        len(own) - len(names),
    )


def _short(group: NoteGroup) -> NoteGroup:
    return replace(group, column=clean(group.column, LONGEST), words=clean(group.words, LONGEST_NOTE))


def _render(view: NotebookView) -> str:
    return environment().get_template("notebook.html.j2").render(view=view, most_notes=MOST_NOTES).strip()
