"""Which columns are most informative, and what is unusual about a row."""

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from supersample._typing import Floats, Indices
from supersample.report.cells import MISSING, clean, text_of
from supersample.report.numbers import as_labels, as_numbers, is_moment
from supersample.report.words import percent

__all__ = ["Usual", "rank_columns", "unusual", "usual_of"]

#: A value is unusual if less than this share of the data lies beyond it or equals it.
RARE = 0.025
#: Numbers are cut into this many classes of equal size.
CLASSES = 10


class Usual:
    """What is usual in one column: sorted numbers, or the share of each label."""

    def __init__(self, name: str, column: pa.ChunkedArray, kind: str, shares: Floats, where: str) -> None:
        self.name, self.is_label, self.where = name, kind in ("category", "boolean"), where
        self.is_time = is_moment(column.type) or pa.types.is_time(column.type)
        self.share_of: dict[str | None, float] = {}
        self.numbers, self.below = np.empty(0), np.zeros(1)
        if self.is_label:
            for label, share in zip(as_labels(column), shares, strict=True):
                self.share_of[label] = self.share_of.get(label, 0.0) + float(share)
        else:
            numbers = as_numbers(column)
            kept = np.isfinite(numbers)
            order = np.argsort(numbers[kept], kind="stable")
            self.numbers = numbers[kept][order]
            self.below = np.concatenate([[0.0], np.cumsum(shares[kept][order])])

    def tail(self, column: pa.ChunkedArray) -> tuple[float, str]:
        """Return the rarity of the first value of a column, as a share and in words; 1 and no words for a missing number."""
        written = text_of(column[0], 40)
        name = clean(self.name, 40)
        if self.is_label:
            share = self.share_of.get(as_labels(column)[0], 0.0)
            return share, f"{name} is {written}, as in {percent(share) if share else 'hardly any'} of {self.where}"
        value = float(as_numbers(column)[0])
        if written == MISSING or not np.isfinite(value) or not self.numbers.size:
            return 1.0, ""
        total = float(self.below[-1])
        beneath = float(self.below[np.searchsorted(self.numbers, value, "left")]) / total
        above = 1.0 - float(self.below[np.searchsorted(self.numbers, value, "right")]) / total
        low, high = ("earlier", "later") if self.is_time else ("lower", "higher")
        # Rows with the same value count as beyond it: a common value is not rare, however far out it lies.
        if above <= beneath:
            return 1.0 - beneath, f"{name} is {written}, {high} than {_most(beneath)} of {self.where}"
        return 1.0 - above, f"{name} is {written}, {low} than {_most(above)} of {self.where}"


def _most(share: float) -> str:
    """Write a share of a sample; the rarest rows may not be in it."""
    return "nearly all" if share > 0.9995 else percent(share)


def usual_of(background: pa.Table, kinds: Mapping[str, str], shares: Floats, where: str = "the data") -> tuple[Usual, ...]:
    """Learn what is usual in each column that is a number, a time, a category or a boolean.

    where: what the background is a sample of, as sentences call it.
    """
    simple = ("number", "time", "category", "boolean")
    return tuple(Usual(name, background.column(name), kind, shares, where) for name, kind in kinds.items() if kind in simple)


def unusual(row: pa.Table, usual: Sequence[Usual], most: int = 3) -> tuple[str, ...]:
    """Return in words what is rare about a row, rarest first; nothing if all of it is usual."""
    tails = [each.tail(row.column(each.name)) for each in usual]
    rare = sorted((tail for tail in tails if tail[0] < RARE), key=lambda tail: tail[0])
    return tuple(words for _, words in rare[:most])


def rank_columns(table: pa.Table, kinds: Mapping[str, str], coordinates: Floats, shares: Floats) -> list[str]:
    """Order columns by how much of the variance of the map they explain (correlation ratio), most first.

    Numbers are cut into ten classes of equal size; each label is a class. Columns that cannot be cut into classes explain
    nothing. Equal columns keep their order; constant ones, and those left out of the kernel, come last.
    """
    explained = {}
    for name, kind in kinds.items():
        if kind in ("category", "boolean"):
            labels = as_labels(table.column(name))
            classes = np.unique(np.array([str(each) for each in labels]), return_inverse=True)[1]
        elif kind in ("number", "time"):
            numbers = np.nan_to_num(as_numbers(table.column(name)), nan=-np.inf)
            cuts = np.unique(np.quantile(numbers, np.linspace(0, 1, CLASSES + 1)[1:-1], method="nearest"))
            classes = np.searchsorted(cuts, numbers, "right")
        else:
            classes = np.zeros(len(table), dtype=int)
        explained[name] = _correlation_ratio(classes, coordinates, shares)
    return sorted(explained, key=lambda name: (kinds[name] in ("constant", "left out", "weight"), -explained[name]))


def _correlation_ratio(classes: Indices, coordinates: Floats, shares: Floats) -> float:
    centred = coordinates - shares @ coordinates
    total = float((shares[:, None] * centred * centred).sum())
    n_classes = int(classes.max(initial=0)) + 1
    weight = np.bincount(classes, shares, n_classes)
    between = 0.0
    for axis in centred.T:
        sums = np.bincount(classes, shares * axis, n_classes)
        between += float(np.divide(sums * sums, weight, out=np.zeros_like(sums), where=weight > 0).sum())
    # Many small classes explain much by chance alone.
    chance = (n_classes - 1) / max(1, len(classes) - 1)
    return round(between / total - chance, 12) if total > 0 else 0.0
