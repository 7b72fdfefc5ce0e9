"""Rows that show a change: a few of each side, no two alike, with how many times as common rows like them are there.

Two rows are alike in some columns if they lie in the same classes of these (`row_classes.py`). For each row, the columns are
chosen in which rows like it gained most: those that the verdict names, and one more where that tells clearly more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from scipy import special

from supersample._typing import Floats, Indices, Mask
from supersample.selection.stream.lifecycle import Stream
from supersample.summary.row_classes import Classes, classes_of
from supersample.summary.row_store import RowStore
from supersample.summary.state import Running

__all__ = ["Group", "Shown", "telling_rows"]

#: The columns of one change: one, or two that go together otherwise than before.
Group = tuple[str, ...]
#: Rows shown of each side.
_SHOWN = 10
#: Changes for which one more column is looked for, and columns among which it is: the clearest of both.
_EXTENDED, _MORE_COLUMNS = 12, 40
#: Added to each count, so that no ratio is infinite; standard errors that are taken off its logarithm.
_ADDED, _ERRORS = 0.5, 2.0
#: Rows by which the other side is drawn to this one, when it is asked whether a row is a good example.
_DRAWN = 2.0
#: The chance that any of all kinds of rows looked at seems more common and is not.
_CHANCE = 0.05
#: One more column must make the ratio this many times as large, as a logarithm, or a ratio near 1 half as large again.
_TELLS_MORE, _HALF = float(np.log(1.5)), 0.5


class Shown(NamedTuple):
    """A side whose rows are to be shown.

    state, held: what is compared, and its stream with nothing pending. rows: the same rows as they came. witness: mean features
    of this side minus those of the other.
    """

    state: Running
    held: Stream
    rows: RowStore
    witness: Floats


@dataclass(frozen=True)
class _Like:
    """For each row of a side: how many times as common rows like it are here, and how many there are here and there.

    numbers: the five below, one row each. family: the columns in which rows are alike, by place.
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

    def take(self, rows: Indices) -> "_Like":
        """Return this for some rows."""
        return _Like(self.numbers[:, rows], self.family[rows])

    def or_else(self, other: "_Like", better: Mask) -> "_Like":
        """Return the other for the rows where it is better."""
        return _Like(np.where(better, other.numbers, self.numbers), np.where(better, other.family, self.family))

    def doubted(self, doubt: Floats) -> "_Like":
        """Return this with a lower rank."""
        return _Like(np.stack([self.clear, self.clear + doubt, *self.numbers[2:]]), self.family)


def telling_rows(left: Shown, right: Shown, columns: Sequence[str], named: Sequence[Group] | None) -> tuple[pa.Table, pa.Table]:
    """Return rows of both sides that show what changed, those whose kind gained most first.

    columns: all that were compared. named: what changed; empty if the columns are not known, None if nothing changed and no
    rows are to be shown. Both the clearest first. Each change has a row on the sides where rows like it are clearly more
    common, as far as ten rows go. The others are of the kinds that gained most, and unlike those before them.
    O(rows log(rows)) for each of some hundred sets of columns.
    """
    if named is None:
        return _table(left), _table(right)
    return _Sides(left, right, columns, named).tables()


class _Sides:
    """Both sides with the classes of their rows, column by column."""

    def __init__(self, first: Shown, second: Shown, columns: Sequence[str], named: Sequence[Group]) -> None:
        self.shown = first, second
        self.shares = _shares(first), _shares(second)
        self.sizes = 1.0 / float(self.shares[0] @ self.shares[0]), 1.0 / float(self.shares[1] @ self.shares[1])
        self.classes = self._classes(columns)
        places = {each.name: place for place, each in enumerate(self.classes)}
        self.named = bool(named)
        self.groups = [tuple(places[name] for name in group) for group in named] or [(each,) for each in places.values()]
        self.families: list[tuple[int, ...]] = []

    def _classes(self, columns: Sequence[str]) -> list[Classes]:
        states = [each.state for each in self.shown]
        encoding = states[0].encoding
        blocks = {each.name: each for each in (*encoding.blocks, *encoding.aside)}
        batches = [pa.RecordBatch.from_struct_array(each.kept.table.to_struct_array().combine_chunks()) for each in states]
        profiles = None
        if encoding.weight_column is None and states[0].profile is not None and states[1].profile is not None:
            profiles = states[0].profile, states[1].profile
        # Where the samples hold all rows, they are more exact than the histograms of the profiles.
        whole = all(int((share > 0).sum()) >= each.held.n_seen for share, each in zip(self.shares, self.shown, strict=True))
        found = []
        for name in columns:
            values = tuple(encoding.column(batch, name) for batch in batches)
            of_all = None if profiles is None or whole else (profiles[0][name], profiles[1][name])
            if of_all is not None and any(each.numbers is not None and each.numbers.count != each.count for each in of_all):
                of_all = None  # of summaries made apart, whose numbers are those of the samples
            found.append(classes_of(blocks[name], (values[0], values[1]), self.shares, of_all))
        return found

    def tables(self) -> tuple[pa.Table, pa.Table]:
        """Return the rows of both."""
        told = [self._told(side) for side in (0, 1)]
        clearest = [[float(each.clear.max(initial=-np.inf)) for each in of_side] for of_side in told]
        out = []
        for side, shown in enumerate(self.shown):
            pairs = zip(clearest[side], clearest[1 - side], strict=True)
            wanted = [self.named and (mine > 0.0 or theirs <= min(mine, 0.0)) for mine, theirs in pairs]
            rows, likes = self._picked(side, told[side], wanted)
            order = np.argsort(-likes.ratio, kind="stable")
            rows, likes = rows[order], likes.take(order)
            words = [self._in_words(int(family), side, int(row)) for family, row in zip(likes.family, rows, strict=True)]
            out.append(_table(shown, rows, likes, words))
        return out[0], out[1]

    def _told(self, side: int) -> list[_Like]:
        """Return, for each change, in which columns rows are best taken for alike, and what follows from it."""
        columns = range(min(len(self.classes), _MORE_COLUMNS))
        alone = [self._like(side, (each,), 1).clear for each in columns]
        out = []
        for place, group in enumerate(self.groups):
            plain = self._like(side, group, 1)
            best, doubt = plain, np.zeros(plain.clear.size)
            others = [each for each in columns if each not in group]
            for column in others if place < _EXTENDED else ():
                more = self._like(side, (*group, column), len(others))
                # Both together must tell more than either does.
                clear = np.maximum(np.maximum(plain.clear, alone[column]), 0.0)
                least = clear + np.minimum(_HALF * clear, _TELLS_MORE)
                best = best.or_else(more, more.clear > np.maximum(best.clear, least))
                doubt = np.minimum(doubt, self._doubt(side, plain, more))
            out.append(best.doubted(doubt))
        return out

    def _doubt(self, side: int, plain: _Like, more: _Like) -> Floats:
        """Return how much less than all rows of its kind the rows that are like a row in one more column gained, or more.

        A row whose own kind did not gain is no good example of one that did. It is the logarithm of the share of these rows
        among all of the kind here, over the same there; the latter is drawn to the former as if by some rows more.
        """
        part = np.minimum(np.maximum(more.here, 1.0) / np.maximum(plain.here, 1.0), 1.0)
        sampled = self.sizes[1 - side] / self.shown[1 - side].held.n_seen
        there = (more.there * sampled + _DRAWN * part) / (plain.there * sampled + _DRAWN)
        return np.asarray(np.log(part / there))

    def _like(self, side: int, family: tuple[int, ...], searched: int) -> _Like:
        """Compare how common rows of the same classes in some columns are, for each row of a side.

        searched: how many such sets of columns are looked at.
        """
        self.families.append(family)
        classes = [self.classes[place] for place in family]
        counts = classes[0].counts if len(family) == 1 else None
        codes = [classes[0].codes[each] for each in (0, 1)]
        found: Sequence[Floats]
        if counts is None:
            both, size = np.concatenate(classes[0].codes), len(classes[0].words)
            for each in classes[1:]:
                both, size = both * len(each.words) + np.concatenate(each.codes), size * len(each.words)
                if size > both.size:
                    kinds, both = np.unique(both, return_inverse=True)
                    size = kinds.size
            codes = np.split(both, [self.shares[0].size])
            sums = [np.bincount(code, weights=share, minlength=size) for code, share in zip(codes, self.shares, strict=True)]
            held: list[Floats] = [each.astype(np.float64) for each in sums]
            found, rows = [share * each for share, each in zip(held, self.sizes, strict=True)], self.sizes
            known = [share * float(each.held.n_seen) for share, each in zip(held, self.shown, strict=True)]
        else:
            found, rows, known = counts.classes, counts.rows, [*counts.classes]
        mine, theirs = found[side] + _ADDED, found[1 - side] + _ADDED
        ratio: Floats = (mine / (rows[side] + 2.0 * _ADDED)) / (theirs / (rows[1 - side] + 2.0 * _ADDED))
        errors = np.sqrt(1.0 / mine + 1.0 / theirs)
        n_kinds = int(((found[0] + found[1]) > 0.0).sum()) * searched
        chance = np.log(ratio) + float(special.ndtri(_CHANCE / max(n_kinds, 1))) * errors
        clear = np.where(chance > 0.0, np.log(ratio) - _ERRORS * errors, np.minimum(chance, 0.0))
        code = codes[side]
        numbers = np.stack([clear, clear, ratio, known[side], known[1 - side]])[:, code]
        return _Like(numbers, np.full(code.size, len(self.families) - 1))

    def _picked(self, side: int, told: Sequence[_Like], wanted: Sequence[bool]) -> tuple[Indices, _Like]:
        """Choose rows: one for each change that this side shows, then those whose kind gained most and that are most unlike.

        wanted: whether a change is to be shown on this side.
        """
        best = told[0]
        for each in told[1:]:
            best = best.or_else(each, each.rank > best.rank)
        rows: list[int] = []
        likes: list[_Like] = []
        nearest = np.zeros(best.rank.size)  # the share of columns in which the most similar row chosen is alike

        def add(row: int, like: _Like) -> None:
            rows.append(row)
            likes.append(like.take(np.array([row])))
            alike = [each.similarity(side, row) for each in self.classes]
            np.maximum(nearest, np.mean(alike, axis=0), out=nearest)

        for group, change, asked in zip(self.groups, told, wanted, strict=True):
            shown = any(set(group) <= set(self.families[int(like.family[0])]) for like in likes)
            free = np.flatnonzero((nearest < 1.0) & (change.ratio > 1.0))
            if asked and not shown and free.size and len(rows) < _SHOWN:
                add(int(free[np.argmax(_score(change.rank, nearest)[free])]), change)
        while len(rows) < _SHOWN:
            score = _score(best.rank, nearest)
            row = int(np.argmax(score))
            if not score[row] > 0.0:
                break
            add(row, best)
        parts = [best.take(np.empty(0, dtype=np.int64)), *likes]
        numbers = np.concatenate([each.numbers for each in parts], axis=1)
        return np.array(rows, dtype=np.int64), _Like(numbers, np.concatenate([each.family for each in parts]))

    def _in_words(self, family: int, side: int, row: int) -> str:
        classes = [self.classes[place] for place in sorted(self.families[family])]
        return ", ".join(f"{each.name} {each.words[int(each.codes[side][row])]}" for each in classes)


def _score(rank: Floats, nearest: Floats) -> Floats:
    """Return how good rows are as the next one to show: their gain, less the more they are like those shown."""
    return np.asarray(np.where(rank > 0.0, np.expm1(rank) * (1.0 - nearest) ** 2, rank))


def _shares(side: Shown) -> Floats:
    """Return the share of its side that each row held represents: 0 for rows that are not of the background sample."""
    out = np.zeros(side.state.kept.positions.size)
    out[np.searchsorted(side.state.kept.positions, side.held.background.rows.positions)] = side.held.background.shares()
    return out


def _table(side: Shown, rows: Indices | None = None, likes: _Like | None = None, words: Sequence[str] = ()) -> pa.Table:
    """Return some of the rows as they came, with what is said of them."""
    chosen = np.empty(0, dtype=np.int64) if rows is None else rows
    nothing = np.empty(0)
    positions = side.state.kept.positions[chosen]
    (batch,) = side.state.kept.table.take(pa.array(chosen)).combine_chunks().to_batches() or (None,)
    features = np.empty((0, side.witness.size))
    if batch is not None:
        features = side.held.fixed_plan.feature_map.transform(side.state.encoding.points(batch)).astype(np.float64)
    more = {
        "_row": pa.array(positions),
        "_ratio": pa.array(nothing if likes is None else likes.ratio),
        "_count": pa.array(np.rint(nothing if likes is None else likes.here).astype(np.int64)),
        "_other": pa.array(np.rint(nothing if likes is None else likes.there).astype(np.int64)),
        "_like": pa.array(list(words), pa.string()),
        "_witness": pa.array(features @ side.witness),
    }
    table = side.rows.at(positions)
    for name, values in more.items():
        table = table.append_column(name, values)
    return table
