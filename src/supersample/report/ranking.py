"""Which columns are most informative, and what is unusual about a row."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from supersample._typing import Floats, Indices
from supersample.records.encoding import ColumnNote
from supersample.report.cells import clean, text_of
from supersample.report.numbers import Labels, as_labels, as_numbers, is_moment
from supersample.report.words import amount, percent

__all__ = ["Oddity", "Usual", "UsualLabels", "UsualNumbers", "added_by", "rank_columns", "unusual", "usual_of"]

#: A value is unusual if less than this share of the data lies beyond it or equals it.
RARE = 0.025
#: A label is rare beside others if its share is below this part of the share that labels of rows usually have.
RARER = 0.1
#: A number is far from the others if it is so many scales from the median; the scale of a normal column is its deviation.
FAR, NORMAL_QUARTILES = 8.0, 1.349
#: What sentences call the rows that all is compared with.
THE_DATA = "the data"
#: What is said of a value that is missing, or text that was to be read as something else and could not be.
_NO_VALUE = "has no readable value"
#: Numbers are cut into this many classes of equal size.
CLASSES = 10


class Oddity(NamedTuple):
    """What is unusual about a value: its column, the share of the data that lies beyond or equals it, and words."""

    name: str
    share: float
    words: str


class Usual(Protocol):
    """What is usual in one column."""

    @property
    def name(self) -> str:
        """The column."""

    def oddity(self, column: pa.ChunkedArray) -> Oddity | None:
        """Return what is unusual about the first value of a column, if anything is."""


class UsualLabels:
    """The share of each label of a column."""

    def __init__(self, name: str, labels: Labels, shares: Floats, where: str) -> None:
        self.name, self.where = name, where
        self.shares: dict[str | None, float] = {}
        for label, share in zip(labels, shares, strict=True):
            self.shares[label] = self.shares.get(label, 0.0) + float(share)
        others = [self.shares[label] - share for label, share in zip(labels, shares, strict=True)]
        self.usual, self.own = (float(np.median(others)), 1.0 / len(others)) if others else (0.0, 0.0)

    def oddity(self, column: pa.ChunkedArray) -> Oddity | None:
        """Return a label that is rare, also beside the labels of most rows: where these are rare too, it says nothing."""
        label = as_labels(column)[0]
        share = self.shares.get(label, 0.0)
        if share >= RARE or share + self.own > RARER * self.usual:
            return None
        return _as_few(self.name, _NO_VALUE if label is None else f"is {text_of(column[0], 40)}", share, self.where)


class UsualNumbers:
    """The numbers or times of a column in order, the share below each, and from where on they are far from the others."""

    def __init__(self, name: str, column: pa.ChunkedArray, shares: Floats, where: str) -> None:
        self.name, self.where = name, where
        self.words = ("earlier", "later") if is_moment(column.type) or pa.types.is_time(column.type) else ("lower", "higher")
        numbers = as_numbers(column)
        there = ~np.isnan(numbers)
        order = np.argsort(numbers[there], kind="stable")
        self.numbers = numbers[there][order]
        self.below, self.missing = np.concatenate([[0.0], np.cumsum(shares[there][order])]), float(shares[~there].sum())
        halves = self.numbers[np.isfinite(self.numbers)] / 2.0  # the distance of the largest numbers would be infinite
        lower, middle, upper = np.quantile(halves, [0.25, 0.5, 0.75]).tolist() if halves.size else (0.0, 0.0, 0.0)
        reach = FAR * (upper - lower) / NORMAL_QUARTILES if upper > lower else math.inf
        most = np.finfo(np.float64).max if halves.size else math.inf  # beside finite numbers, infinite ones are far
        self.usual = max(2.0 * (middle - reach), -most), min(2.0 * (middle + reach), most)

    def oddity(self, column: pa.ChunkedArray) -> Oddity | None:
        """Return a number that few are beyond, that lies far from the others however many equal it, or that is missing."""
        value = float(as_numbers(column)[0])
        if not self.numbers.size:
            return None
        if math.isnan(value):
            return _as_few(self.name, _NO_VALUE, self.missing, self.where) if self.missing < RARE else None
        total = float(self.below[-1])
        beneath = float(self.below[np.searchsorted(self.numbers, value, "left")]) / total
        above = 1.0 - float(self.below[np.searchsorted(self.numbers, value, "right")]) / total
        # Rows with the same value count as beyond it: a common value is not rare, unless it lies far from the others.
        most, than = (beneath, self.words[1]) if above <= beneath else (above, self.words[0])
        if 1.0 - most >= RARE and self.usual[0] <= value <= self.usual[1]:
            return None
        written = amount(value) if math.isinf(value) else text_of(column[0], 40)
        where = self.where
        if self.missing:
            where = "its values" if where == THE_DATA else f"its values on {where}"
        return Oddity(self.name, 1.0 - most, f"{clean(self.name, 40)} is {written}, {than} than {_most(most)} of {where}")


def _as_few(name: str, what: str, share: float, where: str) -> Oddity:
    few = percent(share) if share else "hardly any"
    return Oddity(name, share, f"{clean(name, 40)} {what}, as in {few} of {where}")


def _most(share: float) -> str:
    """Write a share of a sample; the rarest rows may not be in it."""
    return "nearly all" if share > 0.9995 else percent(share)


def usual_of(background: pa.Table, kinds: Mapping[str, str], shares: Floats, where: str = THE_DATA) -> tuple[Usual, ...]:
    """Learn what is usual in each column that is a number, a time, a category or a boolean.

    where: what the background is a sample of, as sentences call it.
    """
    found: list[Usual] = []
    for name, kind in kinds.items():
        if kind in ("category", "boolean"):
            found.append(UsualLabels(name, as_labels(background.column(name)), shares, where))
        elif kind in ("number", "time"):
            found.append(UsualNumbers(name, background.column(name), shares, where))
    return tuple(found)


def unusual(row: pa.Table, usual: Sequence[Usual], added: Mapping[str, float] | None = None, most: int = 3) -> tuple[str, ...]:
    """Return in words what is unusual about a row; nothing if all of it is usual.

    added: how much each column adds to the distance of the row from the others, as `added_by` says: the largest first.
    Without it, the rarest first.
    """
    found = [odd for each in usual if (odd := each.oddity(row.column(each.name))) is not None]
    found.sort(key=lambda odd: odd.share if added is None else -added.get(odd.name, 0.0))
    return tuple(odd.words for odd in found[:most])


def added_by(columns: Sequence[ColumnNote], points: Floats, sample: Floats) -> list[dict[str, float]]:
    """Return for each point how much each column adds to its squared distance from the middle of a sample, beyond the usual.

    Middle and usual distance are medians, so that the far rows themselves do not count as usual.
    """
    middle = np.median(sample, axis=0)
    away, usual, end = (points - middle) ** 2, (sample - middle) ** 2, 0
    added: list[dict[str, float]] = [{} for _ in points]
    for note in columns:
        part, end = slice(end, end + note.width), end + note.width
        if note.used:
            beyond = away[:, part].sum(axis=1) - np.median(usual[:, part].sum(axis=1))
            for row, value in zip(added, beyond.tolist(), strict=True):
                row[note.name] = value
    return added


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
