"""An alarm: when a stream changed, how sure that is, and what changed."""

from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa

from supersample._text import amount
from supersample.summary.comparison import LEVEL, ColumnChange, Comparison, PairChange

__all__ = ["Alarm", "what_changed"]

#: Columns and pairs of columns that are put into words.
_TOLD = 3


@dataclass(frozen=True)
class Alarm:
    """A change of a stream.

    kind: "content", or "volume" if it is the number of rows that changed.
    at: the row, or the moment, at which the alarm was raised; rows are counted from 0.
    change: the first row, or the moment, after the change, as estimated. between: the earliest and latest that it may be.
    mmd: the distance of the mean features before and after; of volume, the ratio of rows after and before.
    evidence: over the line at which an alarm is raised; at least 1.
    columns, pairs: what changed, the clearest first, by a comparison of rows before and after. It says what changed and is no
    second test, since its rows are those that raised the alarm.
    before, after: rows that were common and are not any more, and rows that are common since; None for volume, and where there
    are too few.
    """

    kind: Literal["content", "volume"]
    at: Any
    change: Any
    between: tuple[Any, Any]
    mmd: float
    evidence: float
    columns: tuple[ColumnChange, ...] = ()
    pairs: tuple[PairChange, ...] = ()
    before: pa.Table | None = None
    after: pa.Table | None = None

    @property
    def changed(self) -> tuple[str, ...]:
        """The names of the columns that show the change by themselves."""
        return tuple(each.name for each in self.columns if each.pvalue <= LEVEL)

    def in_words(self) -> str:
        """Say what changed."""
        if self.kind == "volume":
            return f"{amount(self.mmd)} times as many rows"
        told = [f"{each.name} {each.what}" for each in self.columns if each.pvalue <= LEVEL]
        told += [each.in_words() for each in self.pairs if each.pvalue <= LEVEL]
        more = f"; {len(told) - _TOLD} more" if len(told) > _TOLD else ""
        return "; ".join(told[:_TOLD]) + more if told else "no column shows it by itself yet"

    def __str__(self) -> str:
        """Say when, how much and what."""
        size = "" if self.kind == "volume" else f", MMD {amount(self.mmd)}"
        first, last = self.between
        return f"changed at {self.change} ({first} to {last}), noticed at {self.at}{size}: {self.in_words()}"


def what_changed(found: Comparison) -> dict[str, Any]:
    """Return what an alarm says of a comparison of rows before and after."""
    return {"columns": found.columns, "pairs": found.pairs, "before": found.left_rows, "after": found.right_rows}
