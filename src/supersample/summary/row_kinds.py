"""Kinds of rows, those in the same classes of some columns: how many there are on both sides, and which are more common.

Counts are those of all rows where the profiles know them, else those of the background samples.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import special

from supersample._typing import Floats, Indices, Mask
from supersample.summary.row_classes import Classes

__all__ = ["KNOWN", "Kinds", "Like", "Samples", "chance_of_part", "kinds_of", "likes"]

#: Added to each count, so that no ratio is infinite; standard errors that are taken off its logarithm.
_ADDED, _ERRORS = 0.5, 2.0
#: How well it is known how many rows there are: counted, estimated, or estimated and not seen in the sample of the other side.
KNOWN = ("exact", "about", "not seen")
#: Rows that a sample must lead one to expect for at least one to be in it in 95% of all cases.
_UNSEEN = -float(np.log(0.05))
#: The chance that any of all kinds of rows looked at seems more common and is not.
_CHANCE = 0.05


class Samples(NamedTuple):
    """The background samples of both sides.

    shares: the share of its side that each row held represents, 0 for rows that are not of the sample. sizes: as how many rows
    of equal weight they count. seen: all rows of each side. whole: whether both samples hold all of them.
    """

    shares: tuple[Floats, Floats]
    sizes: tuple[float, float]
    seen: tuple[int, int]
    whole: bool

    @property
    def exact(self) -> bool:
        """Whether both samples hold all rows, and all rows of a side count alike."""
        return self.whole and all(abs(size - rows) < _ADDED for size, rows in zip(self.sizes, self.seen, strict=True))

    def most_unseen(self, side: int) -> float:
        """Return how many rows of a side can be of a kind that its sample does not show, at most, in 95% of all cases."""
        return _UNSEEN / self.sizes[side] * self.seen[side]


class Kinds(NamedTuple):
    """The kinds of rows in some columns.

    codes: the kind of each row held, on both sides. sampled: how many there are of each kind in the samples, as rows of equal
    weight. counted, rows: the same by the best that is known, of how many rows. among_all: how many there are among all rows; 0
    only if it is certain that there is none. exact: whether that is no estimate. seen: whether the sample of a side shows any.
    """

    codes: tuple[Indices, Indices]
    sampled: tuple[Floats, Floats]
    counted: tuple[Floats, Floats]
    rows: tuple[float, float]
    among_all: tuple[Floats, Floats]
    exact: Mask
    seen: tuple[Mask, Mask]

    def in_sample(self, side: int) -> tuple[Floats, Floats]:
        """Return, for each row of a side, how many rows of its kind the samples of this side and of the other hold."""
        return self.sampled[side][self.codes[side]], self.sampled[1 - side][self.codes[side]]

    def often(self, least: float) -> int:
        """Return how many kinds have at least so many rows in both samples together."""
        return int((self.sampled[0] + self.sampled[1] >= least).sum())


@dataclass(frozen=True)
class Like:
    """For each row of a side: how many times as common rows like it are here, and how many there are here and there.

    numbers: the six below, one row each. family: the columns in which rows are alike, by place.
    """

    numbers: Floats
    family: Indices

    @property
    def clear(self) -> Floats:
        """The logarithm of the ratio less two standard errors; below 0 where it may be chance, by the kinds looked at."""
        return np.asarray(self.numbers[0])

    @property
    def rank(self) -> Floats:
        """The same, less what one more column tells against it."""
        return np.asarray(self.numbers[1])

    @property
    def ratio(self) -> Floats:
        """How many times as common they are."""
        return np.asarray(self.numbers[2])

    @property
    def here(self) -> Floats:
        """How many there are on this side."""
        return np.asarray(self.numbers[3])

    @property
    def there(self) -> Floats:
        """How many there are on the other."""
        return np.asarray(self.numbers[4])

    @property
    def known(self) -> Indices:
        """How well these two are known: a place of `KNOWN`."""
        return np.asarray(self.numbers[5], dtype=np.int64)

    def take(self, rows: Indices) -> "Like":
        """Return this for some rows."""
        return Like(self.numbers[:, rows], self.family[rows])

    def or_else(self, other: "Like", better: Mask) -> "Like":
        """Return the other for the rows where it is better."""
        return Like(np.where(better, other.numbers, self.numbers), np.where(better, other.family, self.family))

    def doubted(self, doubt: Floats) -> "Like":
        """Return this with a lower rank."""
        return Like(np.stack([self.clear, self.clear + doubt, *self.numbers[2:]]), self.family)


def kinds_of(classes: Sequence[Classes], samples: Samples) -> Kinds:
    """Divide the rows of both sides by their classes in some columns. O(rows log(rows))."""
    both, size = np.concatenate(classes[0].codes), len(classes[0].words)
    for each in classes[1:]:
        both, size = both * len(each.words) + np.concatenate(each.codes), size * len(each.words)
        if size > both.size:
            kinds, both = np.unique(both, return_inverse=True)
            size = kinds.size
    first, second = np.split(both, [samples.shares[0].size])
    codes = first, second
    parts = [
        np.bincount(code, weights=share, minlength=size).astype(np.float64)
        for code, share in zip(codes, samples.shares, strict=True)
    ]
    sampled = parts[0] * samples.sizes[0], parts[1] * samples.sizes[1]
    counts = classes[0].counts if len(classes) == 1 else None
    if counts is not None:
        among_all = [_at_least_one(each) for each in counts.classes]
        seen = np.ones(size, dtype=bool)
        return Kinds(codes, sampled, counts.classes, counts.rows, (among_all[0], among_all[1]), counts.exact, (seen, seen))
    held = np.bincount(first, minlength=size) > 0, np.bincount(second, minlength=size) > 0
    among_all = [_estimated(part, there, samples, side) for side, (part, there) in enumerate(zip(parts, held, strict=True))]
    for each in classes:  # there are no more of a kind than of its class in one column, where all rows were counted
        for side, known in enumerate(each.counts.classes if each.counts is not None else ()):
            among_all[side][both] = np.minimum(among_all[side][both], _at_least_one(known)[np.concatenate(each.codes)])
    exact = np.full(size, samples.exact)
    return Kinds(codes, sampled, sampled, samples.sizes, (among_all[0], among_all[1]), exact, held)


def _at_least_one(counts: Floats) -> Floats:
    """Return counts of what is there as 1 at least, however small its weight."""
    return np.where(counts > 0.0, np.maximum(counts, 1.0), 0.0)


def _estimated(part: Floats, held: Mask, samples: Samples, side: int) -> Floats:
    """Return about how many of all rows are of each kind, by their shares in a sample.

    A row that is held is there, however small its weight. Of a kind that no row held is of, half a row of the sample is assumed
    unless that holds all rows.
    """
    unseen = 0.0 if samples.whole else _ADDED / (samples.sizes[side] + 2.0 * _ADDED)
    return np.asarray(np.where(held, np.maximum(part * samples.seen[side], 1.0), np.ceil(unseen * samples.seen[side])))


def likes(kinds: Kinds, side: int, family: int, searched: int) -> Like:
    """Compare how common rows of the same kind are on both sides, for each row of a side.

    family: the place of their columns. searched: how many such sets of columns are looked at.
    """
    counted, rows = kinds.counted, kinds.rows
    mine, theirs = counted[side] + _ADDED, counted[1 - side] + _ADDED
    ratio: Floats = (mine / (rows[side] + 2.0 * _ADDED)) / (theirs / (rows[1 - side] + 2.0 * _ADDED))
    errors = np.sqrt(1.0 / mine + 1.0 / theirs)
    n_kinds = int(((counted[0] + counted[1]) > 0.0).sum()) * searched
    chance = np.log(ratio) + float(special.ndtri(_CHANCE / max(n_kinds, 1))) * errors
    clear = np.where(chance > 0.0, np.log(ratio) - _ERRORS * errors, np.minimum(chance, 0.0))
    code = kinds.codes[side]
    known = np.where(kinds.exact, 0, np.where(kinds.seen[1 - side] | (kinds.among_all[1 - side] == 0.0), 1, 2))
    numbers = np.stack([clear, clear, ratio, kinds.among_all[side], kinds.among_all[1 - side], known])[:, code]
    return Like(numbers, np.full(code.size, family))


def chance_of_part(here: Floats, there: Floats, whole_here: Floats, whole_there: Floats) -> Floats:
    """Return the chance of so many here, if the same part of both wholes is meant; wholes include their parts.

    It is binomial, of the part or of the rest, whichever is rarer: given how many there are on both sides together, each lies
    on a side in proportion to the wholes. That is never less than Fisher's exact chance by more than rounding.

    >>> chance_of_part(np.array([9.0]), np.array([1.0]), np.array([100.0]), np.array([100.0])).round(4).tolist()
    [0.0107]
    """
    rest_here, rest_there = whole_here - here, whole_there - there
    rare = here + there <= rest_here + rest_there
    mine, other = np.where(rare, here, rest_there), np.where(rare, there, rest_here)
    part = np.where(rare, whole_here, whole_there) / (whole_here + whole_there)
    return np.asarray(np.where(mine > 0.0, special.betainc(np.maximum(mine, 1e-9), np.maximum(other, 0.0) + 1.0, part), 1.0))
