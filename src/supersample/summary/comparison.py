"""The result of a comparison of two summaries: one verdict, the columns that changed, and rows that show it."""

import importlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from supersample._text import about, amount, plural
from supersample.discrepancy.result import TestResult
from supersample.errors import InputError
from supersample.summary.notes import Note, grouped, told

__all__ = [
    "LEVEL",
    "MOST_PAIRS",
    "ColumnChange",
    "Comparison",
    "PairChange",
    "gain_in_words",
    "level_in_words",
    "nothing_found",
]

#: Level at which columns count as changed, after adjustment for the number of tests.
LEVEL = 0.05
#: Pairs of columns that are kept, at most.
MOST_PAIRS = 10
#: Pairs of columns, and columns, that are put into words.
_TOLD, _LISTED = 3, 12
#: Kinds of notes on columns that the two sides do not have in common.
_NOT_COMPARED = ("only on the left", "only on the right", "another role", "another type")


@dataclass(frozen=True)
class ColumnChange:
    """The difference in one column alone.

    mmd, share: its MMD between the background samples, and its part of the MMD^2 of all columns, both beyond chance.
    pvalue: of all its tests together, adjusted for the number of columns and the joint test.
    difference: the largest difference of two shares: of a value, of a range of numbers, of missing values, or of all values
    that only one side has; of more than 256 categories, of a group of them, and of text, of the texts with a word of a group.
    The MMD where values are not counted (vectors), and of text if it is larger. Of more than 256 numbers it is the least that
    the counts allow.
    what: the clearest change in words, such as "missing 1.0% -> 5.1%", be it chance or not, and others that are none at the
    level of the comparison; "no difference found" if the p-value is 1. It ends in "in the samples" where its numbers are not
    those of all rows.
    effective_rows: as how many independent rows the values of each side count in its tests (of missing values and of spread it
    may be others); None if values are not tested.
    """

    name: str
    mmd: float
    pvalue: float
    share: float
    difference: float = 0.0
    what: str = ""
    effective_rows: tuple[float, float] | None = None


@dataclass(frozen=True)
class PairChange:
    """Two columns that go together otherwise than before.

    before, after: the rank correlation of the two, by normal scores, in the two background samples.
    pvalue: adjusted for the number of pairs and of all other tests. values: of a category, the value whose presence goes with
    the other column otherwise, in quotes; empty for numbers and truth values.
    """

    columns: tuple[str, str]
    before: float
    after: float
    pvalue: float
    values: tuple[str, str] = ("", "")

    @property
    def names(self) -> str:
        """The names of the two columns, with values of categories, joined by "and"."""
        return " and ".join(f"{name} {value}".rstrip() for name, value in zip(self.columns, self.values, strict=True))

    @property
    def what(self) -> str:
        """Their correlations, as in "rank correlation 0.10 -> 0.90"."""
        return f"rank correlation {self.before:.2f} -> {self.after:.2f}"

    def in_words(self) -> str:
        """Return the names of the two, and their correlations."""
        return f"{self.names} ({self.what})"


def nothing_found(at_least: float) -> str:
    """Say that no difference was found, or none that was to count.

    >>> nothing_found(0.0), nothing_found(0.01)
    ('no difference found', 'no difference of at least 0.01 found')
    """
    return f"no difference{f' of at least {amount(at_least)}' if at_least > 0 else ''} found"


def level_in_words(level: float) -> str:
    """Write a level as it is shown.

    >>> level_in_words(0.05), level_in_words(0.001)
    ('5%', '0.001')
    """
    return "5%" if level == LEVEL else f"{level:.3g}"


def gain_in_words(row: Mapping[str, Any]) -> str:
    """Say how many times as common rows like a row of `left_rows` or `right_rows` are on its side.

    >>> gain_in_words({"_ratio": 20.7, "_count": 2110, "_other": 102, "_known": "about", "_like": "status 500"})
    'about 21 times as common: status 500 (about 2,100 rows, against 100)'
    """
    ratio, here, there, exact = row["_ratio"], row["_count"], row["_other"], row["_known"] == "exact"
    rows = plural(here, "row") if exact else "about 1 row" if here == 1 else f"about {about(here)} rows"
    if row["_known"] == "not seen":
        return f"not seen in the sample of the other side (fewer than about {about(there)} rows): {row['_like']} ({rows})"
    if there == 0:
        return f"not seen on the other side: {row['_like']} ({rows})"
    times = amount(float(f"{ratio:.{2 if ratio >= 1.1 else 3}g}"))
    return f"about {times} times as common: {row['_like']} ({rows}, against {f'{there:,}' if exact else about(there)})"


@dataclass(frozen=True)
class Comparison(TestResult):
    """The result of `Summary.compare`: one verdict over all tests, of the whole and of single columns, and where they differ.

    pvalue: the smallest p-value of these tests, adjusted for their number. Columns share 60% of the level, pairs of columns
    have 10% of it, and the joint test has 30%, or 40% where no pairs can be tested.
    joint: the joint test alone, MMD by all columns in the kernel; statistic and null_quantiles are its own.
    pairs: the pairs of columns whose rank correlation changed most, ten at most.
    level: the p-value up to which the two are said to differ, 0.05; `supersample compare --level` sets another.
    columns: one entry for each column in the kernel and for the label, the clearest changes first. changed: names of those
    whose adjusted p-value is at most `level`; there is none where the two do not differ at that level.
    left_rows, right_rows: up to ten rows of each side that show what changed, no two alike in all columns, the largest
    `_ratio` first; none where the two do not differ at `level`. `_ratio`: how many times as common rows like it are on
    its side. `_like`: in what they are like it. `_count`, `_other`: how many of them there are on its side and on the
    other, 0 only if there is none. `_known`: whether these are "exact", or known "about", or rows like it are "not seen" in
    the sample of the other side, so that `_other` is the most there can be, in 95% of such cases. `_witness`: the
    difference of mean similarity.
    notes: what to know about it: columns that only one side has, and what is lost if neither was made like the other.
    at_least: the smallest difference that was to count; tests that found a smaller one are not in `pvalue`, but in `joint`. All
    p-values are those of no difference at all: it is the difference found that must be so large, which is no test of the limit.
    smaller: the columns that differ at `level`, but by less than `at_least`, the largest difference first.
    summaries: the two that were compared, as they were then; `report` reads them, and it is None for a comparison made by hand.
    effective_rows: as how many independent rows of equal weight each side counts in the joint test; None if a summary of an
    earlier version is among them, which did not measure dependence. dependence: the factors by which these are fewer, 1 where
    rows are independent. dependent: the columns in which rows of either side depend on those before them; their tests count
    fewer rows, too, each its own number of them (`ColumnChange.effective_rows`).

    >>> import numpy as np
    >>> import supersample as ss
    >>> data = np.random.default_rng(0).normal(size=(2_000, 2))
    >>> first = ss.summarize(data[:1_000], prototypes=10, random_state=0)
    >>> second = ss.summarize(data[1_000:] + [1.0, 0.0], like=first, random_state=1)
    >>> first.compare(second).changed
    ('x0',)
    """

    columns: tuple[ColumnChange, ...] = ()
    pairs: tuple[PairChange, ...] = ()
    joint: TestResult | None = None
    left_rows: Any = None
    right_rows: Any = None
    notes: tuple[Note, ...] = ()
    at_least: float = 0.0
    smaller: tuple[str, ...] = ()
    effective_rows: tuple[float, float] | None = None
    dependence: tuple[float, float] = (1.0, 1.0)
    dependent: tuple[str, ...] = ()
    level: float = LEVEL
    summaries: tuple[Any, Any] | None = field(default=None, repr=False, compare=False)

    @property
    def mmd(self) -> float:
        """The MMD, the square root of the statistic."""
        return float(np.sqrt(self.statistic))

    @property
    def n_left(self) -> int:
        """Rows seen by the left summary."""
        return self.n_x

    @property
    def n_right(self) -> int:
        """Rows seen by the right summary."""
        return self.n_y

    @property
    def changed(self) -> tuple[str, ...]:
        """The columns that differ by themselves, at `level` over all tests together."""
        return self.changed_at(self.level)

    def changed_at(self, level: float) -> tuple[str, ...]:
        """Return the columns that differ by themselves at a level over all tests together."""
        return tuple(each.name for each in self.columns if each.pvalue <= level)

    def pairs_at(self, level: float) -> tuple[PairChange, ...]:
        """Return the pairs of columns that go together otherwise than before, at a level over all tests together."""
        return tuple(each for each in self.pairs if each.pvalue <= level)

    def report(self, path: str | os.PathLike[str], *, title: str | None = None, names: tuple[str, str] | None = None) -> Path:
        """Write a self-contained page for the browser and return its path; a page that is there is replaced.

        names: what the page calls the two sides, as in ("week 1", "week 2"); the names of their files unless given, and "left"
        and "right" for tables in memory, which have none.
        """
        if self.summaries is None:
            raise InputError(
                "this comparison does not hold the summaries that its page shows; make it by Summary.compare, and report that"
            )
        # `report` is a later layer that this one must not depend on, so it is imported only here.
        write = importlib.import_module("supersample.report").write_comparison
        written: Path = write(*self.summaries, path, title=title, names=names, comparison=self)
        return written

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers and names as plain values."""
        return {
            "mmd": self.mmd,
            "statistic": self.statistic,
            "pvalue": self.pvalue,
            "joint_pvalue": self.pvalue if self.joint is None else self.joint.pvalue,
            "differs": self.rejects(self.level),
            "level": self.level,
            "at_least": self.at_least,
            "rows": [self.n_left, self.n_right],
            "effective_rows": None if self.effective_rows is None else list(self.effective_rows),
            "dependent": list(self.dependent),
            "changed": list(self.changed),
            "smaller": list(self.smaller),
            "columns": [vars(each) for each in self.columns],
            "pairs": [
                vars(each) | {"columns": list(each.columns), "values": list(each.values)} for each in self.pairs_at(self.level)
            ],
            "notes": [vars(each) for each in self.notes],
        }

    def __str__(self) -> str:
        """Return the result in words, at its level."""
        return self.in_words()

    def in_words(self, level: float | None = None) -> str:
        """Return in words whether the two differ at a level, how far apart they are, and in which columns.

        level: `self.level` unless another is given.
        """
        level = self.level if level is None else level
        shown = level_in_words(level)
        if self.rejects(level):
            limit = f"; only differences of at least {self.at_least:.3g} count" if self.at_least else ""
            verdict = f"differ at the {shown} level{limit}"
        else:
            limit = f" of at least {self.at_least:.3g}" if self.at_least else ""
            verdict = f"show no difference{limit} at the {shown} level"
        changed, pairs = [each for each in self.columns if each.pvalue <= level], self.pairs_at(level)
        none = "none"
        if self.at_least:
            none = f"none is found to differ by {self.at_least:.3g} or more"
        elif self.rejects(level):
            none = "none is clear by itself"
        none += "; all of them together are" if self.rejects(level) and not pairs else ""
        lines = [
            f"Comparison of {self.n_left:,} and {self.n_right:,} rows: they {verdict}",
            *(f"  rows     {each}" for each in self.corrected_in_words()),
            f"  p-value  {self._pvalue_in_words()}",
            f"  MMD      {self.mmd:.4g}{self._joint_in_words()}",
            *(["  columns  " + none] if not changed else []),
        ]
        width = max((len(each.name) for each in changed[:_LISTED]), default=0)
        lines += [
            f"  {'columns' if place == 0 else '':7}  {each.name:{width}}  {each.what}"
            for place, each in enumerate(changed[:_LISTED])
        ]
        if len(changed) > _LISTED:
            lines.append(f"           and {len(changed) - _LISTED} more: {', '.join(each.name for each in changed[_LISTED:])}")
        if self.smaller:
            lines.append(f"           by less than {self.at_least:.3g}, not counted: {', '.join(self.smaller_in_words())}")
        lines += [f"  together {each.in_words()}" for each in pairs[:_TOLD]]
        if len(pairs) > _TOLD:
            more = plural(len(pairs) - _TOLD, "more pair")
            lines.append(f"           and {'at least ' * (len(pairs) == MOST_PAIRS)}{more} of columns")
        lines += [f"  note     {told(group)}" for group in grouped(self.notes)]
        return "\n".join(lines)

    def _pvalue_in_words(self) -> str:
        """Return the p-value, and how many tests it is of; with a limit, how many of them found that much."""
        together = (
            f"{self.pvalue:.4g} of {self.n_tests} tests together" if self.n_tests > 1 else f"{self.pvalue:.4g} of one test"
        )
        if self.n_counting == self.n_tests:
            return together
        if self.n_counting == 0:
            return f"{self.pvalue:.4g}, since no test found a difference of at least {self.at_least:.3g}"
        less = self.n_tests - self.n_counting
        return f"{together}; {less} of them found less than {self.at_least:.3g} and {'does' if less == 1 else 'do'} not count"

    def _joint_in_words(self) -> str:
        if self.joint is None:
            return ""
        below = f", which does not count: MMD is below {self.at_least:.3g}" if self.statistic < self.at_least**2 else ""
        return f"; p-value {self.joint.pvalue:.4g} of all columns jointly{below}"

    def smaller_in_words(self) -> list[str]:
        """Return the columns that differ by less than was to count, each with its difference."""
        sizes = {each.name: amount(each.difference, 2) for each in self.columns}
        return [f"{name} {sizes[name]}" for name in self.smaller]

    def corrected_in_words(self) -> tuple[str, ...]:
        """Return what the tests made of rows that depend on those before them; nothing if rows are independent."""
        if self.effective_rows is None:
            return ("taken to be independent: a summary of an earlier version did not measure whether they are",)
        sides = zip(("left", "right"), self.dependence, self.effective_rows, strict=True)
        jointly = [f"about {about(rows)} on the {side}" for side, factor, rows in sides if factor > 1.0]
        if not jointly and not self.dependent:
            return ()
        counted = f"jointly as {' and '.join(jointly)}" if jointly else "as fewer in some columns"
        return (f"count {counted}, since they depend on those before them", *self._by_column())

    def _by_column(self) -> tuple[str, ...]:
        """Say as how many rows both sides count in columns that changed, or whose rows depend on each other."""
        asked = {*self.changed, *self.dependent}
        own = [(each.name, each.effective_rows) for each in self.columns if each.name in asked and each.effective_rows]
        told = [f"{name} as about {about(rows[0])} and {about(rows[1])}" for name, rows in own[:_TOLD]]
        more = f"; there are counts for {plural(len(own) - _TOLD, 'more column')}" if len(own) > _TOLD else ""
        return (f"count in {', in '.join(told)}{more}",) if told else ()

    @property
    def not_compared(self) -> tuple[Note, ...]:
        """Notes on columns that only one side has, or that are something else on the other, so that no test saw them."""
        return tuple(each for each in self.notes if each.kind in _NOT_COMPARED)

    @property
    def n_tests(self) -> int:
        """How many tests the p-value is adjusted for: one for each column, the joint one, and that of pairs of columns."""
        return len(self.columns) + (self.joint is not None) + bool(self.pairs)

    @property
    def n_counting(self) -> int:
        """How many of these tests found a difference of at least `at_least`; the p-value of others is taken for 1."""
        limit = self.at_least
        pairs = any(abs(each.after - each.before) >= limit for each in self.pairs)
        jointly = self.joint is not None and self.statistic >= limit**2
        return sum(each.difference >= limit for each in self.columns) + jointly + pairs
