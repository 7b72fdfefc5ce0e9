"""An alarm: when a stream changed, how sure that is, and what changed."""

import math
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa

from supersample._text import amount
from supersample.summary.comparison import ColumnChange, Comparison, PairChange

__all__ = ["Alarm", "what_changed"]

#: A column or a pair is named if its adjusted p-value is at most this; less than elsewhere, since its rows raised the alarm.
_LEVEL = 0.01
#: Columns and pairs of columns that are put into words.
_TOLD = 3
#: Rows of each side that are shown where none stand out.
_SHOWN = 5


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
    before, after: rows that were common and are not any more, and rows that are common since, with what `Comparison.left_rows`
    says of them; where no rows stand out, some rows before and the latest ones. None for volume, and where there are too few.
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
        """The names of the columns that show the change by themselves: those with a p-value of at most 1%."""
        return tuple(each.name for each in self.columns if each.pvalue <= _LEVEL)

    @property
    def changed_pairs(self) -> tuple[PairChange, ...]:
        """The pairs of columns that go together otherwise since the change: those with a p-value of at most 1%."""
        return tuple(each for each in self.pairs if each.pvalue <= _LEVEL)

    def in_words(self) -> str:
        """Say what changed."""
        if self.kind == "volume":
            some = f"{amount(self.mmd)} times as many rows" if math.isfinite(self.mmd) else "rows again, after none"
            return some if self.mmd > 0 else "no rows any more"
        told = [f"{each.name} {each.what}" for each in self.columns if each.name in self.changed]
        told += [each.in_words() for each in self.changed_pairs]
        more = f"; {len(told) - _TOLD} more" if len(told) > _TOLD else ""
        return "; ".join(told[:_TOLD]) + more if told else "no column shows it by itself yet"

    def __str__(self) -> str:
        """Say when, how much and what."""
        size = "" if self.kind == "volume" else f", MMD {amount(self.mmd)}"
        first, last = self.between
        return f"changed at {self.change} ({first} to {last}), noticed at {self.at}{size}: {self.in_words()}"


def what_changed(found: Comparison, before: pa.Table, after: pa.Table) -> dict[str, Any]:
    """Return what an alarm says of a comparison of rows before and after."""
    left, right = found.left_rows, found.right_rows
    shown = before.slice(0, _SHOWN), after.slice(max(0, after.num_rows - _SHOWN))
    if left.num_rows + right.num_rows == 0:
        left, right = shown
    elif left.num_rows == 0:
        left = pa.concat_tables([left, shown[0]], promote_options="default")
    elif right.num_rows == 0:
        right = pa.concat_tables([right, shown[1]], promote_options="default")
    return {"columns": found.columns, "pairs": found.pairs, "before": left, "after": right}
