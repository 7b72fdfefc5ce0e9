"""Rows that show a change: a few of each side, no two alike in all columns, with how many times as common their likes are.

Two rows are alike in some columns if they lie in the same classes of these (`row_classes.py`). For each row, the columns are
chosen in which rows like it gained most: those that the verdict names, and one more where that tells clearly more.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from supersample._typing import Floats, Indices, Mask
from supersample.selection.stream.lifecycle import Stream
from supersample.summary.row_classes import Classes, classes_of
from supersample.summary.row_kinds import KNOWN, Kinds, Like, Samples, chance_of_part, kinds_of, likes
from supersample.summary.row_store import RowStore
from supersample.summary.state import Running

__all__ = ["Group", "Shown", "telling_rows"]

#: The columns of one change: one, or two that go together otherwise than before.
Group = tuple[str, ...]
#: Rows shown of each side.
_SHOWN = 10
#: Changes for which one more column is looked for, and columns among which it is: the clearest of both.
_EXTENDED, _MORE_COLUMNS = 12, 40
#: Rows by which the other side is drawn to this one, when it is asked whether a row is a good example.
_DRAWN = 2.0
#: One more column must make the ratio this many times as large, as a logarithm, or a ratio near 1 half as large again.
_TELLS_MORE, _HALF = float(np.log(1.5)), 0.5
#: The chance that in any of all kinds of rows looked at one more column seems to tell and does not, and rows of a kind that is.
_SECOND_CHANCE, _LEAST = 0.01, 5.0


class Shown(NamedTuple):
    """A side whose rows are to be shown.

    state, held: what is compared, and its stream with nothing pending. rows: the same rows as they came. witness: mean features
    of this side minus those of the other.
    """

    state: Running
    held: Stream
    rows: RowStore
    witness: Floats


class _Family(NamedTuple):
    """Columns in which rows are alike, by place; wide: whether their numbers lie in a few wide ranges."""

    columns: tuple[int, ...]
    wide: bool = False


def telling_rows(left: Shown, right: Shown, columns: Sequence[str], named: Sequence[Group] | None) -> tuple[pa.Table, pa.Table]:
    """Return rows of both sides that show what changed: one for each change, the clearest first, then further ones.

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
        self.samples = _samples(first, second)
        self.classes = self._classes(columns)
        places = {each.name: place for place, each in enumerate(self.classes)}
        self.named = bool(named)
        self.groups = [tuple(places[name] for name in group) for group in named] or [(each,) for each in places.values()]
        self.families: list[_Family] = []
        self.known: dict[_Family, Kinds] = {}
        self.alone = [self._likes(_Family((each,)), self._kinds((each,)), 1) for each in range(self._n_more)]
        self.n_searched = self._n_searched()

    def _classes(self, columns: Sequence[str]) -> list[Classes]:
        states = [each.state for each in self.shown]
        encoding = states[0].encoding
        blocks = {each.name: each for each in (*encoding.blocks, *encoding.aside)}
        batches = [pa.RecordBatch.from_struct_array(each.kept.table.to_struct_array().combine_chunks()) for each in states]
        profiles = None
        if all(each.counts_alike for each in states) and states[0].profile is not None and states[1].profile is not None:
            profiles = states[0].profile, states[1].profile
        found = []
        for name in columns:
            values = tuple(encoding.column(batch, name) for batch in batches)
            # Where the samples hold all rows, they are more exact than the histograms of the profiles.
            of_all = None if profiles is None or self.samples.whole else (profiles[0][name], profiles[1][name])
            if of_all is not None and any(each.numbers is not None and each.numbers.count != each.count for each in of_all):
                of_all = None  # of summaries made apart, whose numbers are those of the samples
            found.append(classes_of(blocks[name], (values[0], values[1]), self.samples.shares, of_all))
        return found

    @property
    def _n_more(self) -> int:
        return min(len(self.classes), _MORE_COLUMNS)

    def tables(self) -> tuple[pa.Table, pa.Table]:
        """Return the rows of both."""
        changes = [self._likes_of_change(place) for place in range(len(self.groups))]
        out = []
        for side, shown in enumerate(self.shown):
            rows, found = self._picked(side, [each[side] for each in changes])
            words = [self._in_words(int(family), side, int(row)) for family, row in zip(found.family, rows, strict=True)]
            most = self.samples.most_unseen(1 - side)
            out.append(_table(shown, rows, found, words, most).take(pa.array(np.argsort(-found.ratio, kind="stable"))))
        return out[0], out[1]

    def _likes_of_change(self, place: int) -> list[Like]:
        """Return in which columns rows are best taken for alike to show a change, and what follows from it, for each side."""
        group = self.groups[place]
        paired = len(group) > 1
        plain = self._likes(_Family(group, wide=paired), self._kinds(group, wide=paired), len(group))
        best, doubts = list(plain), [np.zeros(each.clear.size) for each in plain]
        if paired:
            for side, fine in enumerate(self._likes(_Family(group), self._kinds(group), len(group))):
                best[side] = best[side].or_else(fine, fine.clear > best[side].clear)
        more = self._extended(group) if place < _EXTENDED else []
        for family in more:
            kinds = kinds_of(self._classes_of(family), self.samples)
            for side, like in enumerate(self._likes(family, kinds, len(more))):
                # Both together must tell more than either does, by far and not by chance.
                clear = np.maximum(np.maximum(plain[side].clear, self.alone[family.columns[-1]][side].clear), 0.0)
                least = clear + np.minimum(_HALF * clear, _TELLS_MORE)
                better = like.clear > np.maximum(best[side].clear, least)
                if better.any():
                    better[better] = self._both_count(side, family, kinds, np.flatnonzero(better))
                    best[side] = best[side].or_else(like, better)
                if family.wide == paired:
                    doubts[side] = np.minimum(doubts[side], self._doubt(side, plain[side], like))
        return [each.doubted(doubt) for each, doubt in zip(best, doubts, strict=True)]

    def _extended(self, group: tuple[int, ...]) -> list[_Family]:
        """Return a change's columns with one more, the last, in narrow ranges of numbers and in wide ones where there are any.

        Two columns that go together otherwise are looked at in wide ranges only.
        """
        others = [each for each in range(self._n_more) if each not in group]
        found = [_Family((*group, each), wide) for each in others for wide in (False, True)]
        ranges = [any(self.classes[place].has_ranges for place in each.columns) for each in found]
        return [
            each for each, ranged in zip(found, ranges, strict=True)
            if (each.wide if len(group) > 1 else ranged or not each.wide)
        ]  # fmt: skip

    def _both_count(self, side: int, family: _Family, kinds: Kinds, rows: Indices) -> Mask:
        """Return for which rows their kind in all columns gained more than without the last, or in it alone, beyond chance."""
        here, there = (each[rows] for each in kinds.in_sample(side))
        out = here + there >= _LEAST
        for part in (family.columns[:-1], family.columns[-1:]):
            whole = [each[rows] for each in self._kinds(part, wide=family.wide).in_sample(side)]
            out &= chance_of_part(here, there, *whole) <= _SECOND_CHANCE / self.n_searched
        return np.asarray(out)

    def _n_searched(self) -> int:
        """Return how many kinds of rows, at most, are looked at in one more column than is named, on either side."""
        most = int(sum(self.samples.sizes) / _LEAST)
        families = (self._classes_of(each) for group in self.groups[:_EXTENDED] for each in self._extended(group))
        return 2 * sum(min(math.prod(len(each.words) for each in classes), most) for classes in families) or 1

    def _doubt(self, side: int, plain: Like, more: Like) -> Floats:
        """Return how much less than all rows of its kind the rows that are like a row in one more column gained, or more.

        A row whose own kind did not gain is no good example of one that did. It is the logarithm of the share of these rows
        among all of the kind here, over the same there; the latter is drawn to the former as if by some rows more.
        """
        part = np.minimum(np.maximum(more.here, 1.0) / np.maximum(plain.here, 1.0), 1.0)
        sampled = self.samples.sizes[1 - side] / self.samples.seen[1 - side]
        there = (more.there * sampled + _DRAWN * part) / (plain.there * sampled + _DRAWN)
        return np.asarray(np.log(part / there))

    def _likes(self, family: _Family, kinds: Kinds, searched: int) -> list[Like]:
        """Compare how common rows of a kind are, for each row of both sides; searched: how many families are looked at."""
        self.families.append(family)
        return [likes(kinds, side, len(self.families) - 1, searched) for side in (0, 1)]

    def _kinds(self, columns: tuple[int, ...], *, wide: bool = False) -> Kinds:
        """Return the kinds of rows in columns that are asked for again and again."""
        family = _Family(columns, wide)
        if family not in self.known:
            self.known[family] = kinds_of(self._classes_of(family), self.samples)
        return self.known[family]

    def _classes_of(self, family: _Family) -> list[Classes]:
        return [self.classes[place].wider() if family.wide else self.classes[place] for place in family.columns]

    def _picked(self, side: int, by_group: Sequence[Like]) -> tuple[Indices, Like]:
        """Choose rows: one for each change that this side shows, then those whose kind gained most and that are most unlike.

        All are of kinds that are more common here beyond chance.
        """
        best = by_group[0]
        for each in by_group[1:]:
            best = best.or_else(each, each.rank > best.rank)
        rows: list[int] = []
        chosen: list[Like] = []
        nearest = np.zeros(best.rank.size)  # the share of columns in which the most similar row chosen is alike

        def add(row: int, like: Like) -> None:
            rows.append(row)
            chosen.append(like.take(np.array([row])))
            alike = [each.similarity(side, row) for each in self.classes]
            np.maximum(nearest, np.mean(alike, axis=0), out=nearest)

        for group, change in zip(self.groups, by_group, strict=True) if self.named else ():
            shown = any(set(group) <= set(self.families[int(like.family[0])].columns) for like in chosen)
            free = np.flatnonzero((nearest < 1.0) & (change.clear > 0.0))
            if not shown and free.size and len(rows) < _SHOWN:
                add(int(free[np.argmax(_score(change.rank, nearest)[free])]), change)
        while len(rows) < _SHOWN:
            score = _score(best.rank, nearest)
            row = int(np.argmax(score))
            if not score[row] > 0.0:
                break
            add(row, best)
        parts = [best.take(np.empty(0, dtype=np.int64)), *chosen]
        numbers = np.concatenate([each.numbers for each in parts], axis=1)
        return np.array(rows, dtype=np.int64), Like(numbers, np.concatenate([each.family for each in parts]))

    def _in_words(self, family: int, side: int, row: int) -> str:
        found = self.families[family]
        classes = self._classes_of(found._replace(columns=tuple(sorted(found.columns))))
        return ", ".join(f"{each.name} {each.words[int(each.codes[side][row])]}" for each in classes)


def _score(rank: Floats, nearest: Floats) -> Floats:
    """Return how good rows are as the next one to show: their gain, less the more they are like those shown."""
    return np.asarray(np.where(rank > 0.0, np.expm1(rank) * (1.0 - nearest) ** 2, rank))


def _samples(first: Shown, second: Shown) -> Samples:
    shares = _shares(first), _shares(second)
    sizes = 1.0 / float(shares[0] @ shares[0]), 1.0 / float(shares[1] @ shares[1])
    seen = first.held.n_seen, second.held.n_seen
    return Samples(shares, sizes, seen, all(int((each > 0).sum()) >= rows for each, rows in zip(shares, seen, strict=True)))


def _shares(side: Shown) -> Floats:
    out = np.zeros(side.state.kept.positions.size)
    out[np.searchsorted(side.state.kept.positions, side.held.background.rows.positions)] = side.held.background.shares()
    return out


def _table(
    side: Shown, rows: Indices | None = None, found: Like | None = None, words: Sequence[str] = (), most: float = 0.0
) -> pa.Table:
    """Return some of the rows as they came, with what is said of them.

    most: rows of a kind that the other side can have at most if its sample shows none.
    """
    chosen = np.empty(0, dtype=np.int64) if rows is None else rows
    like = Like(np.empty((6, 0)), np.empty(0, dtype=np.int64)) if found is None else found
    known = [KNOWN[place] for place in like.known.tolist()]
    there = [math.ceil(most) if each == "not seen" else round(rows) for each, rows in zip(known, like.there, strict=True)]
    positions = side.state.kept.positions[chosen]
    (batch,) = side.state.kept.table.take(pa.array(chosen)).combine_chunks().to_batches() or (None,)
    features = np.empty((0, side.witness.size))
    if batch is not None:
        features = side.held.fixed_plan.feature_map.transform(side.state.encoding.points(batch)).astype(np.float64)
    more = {
        "_row": pa.array(positions),
        "_ratio": pa.array(like.ratio),
        "_count": pa.array(np.rint(like.here).astype(np.int64)),
        "_other": pa.array(there, pa.int64()),
        "_known": pa.array(known, pa.string()),
        "_like": pa.array(list(words), pa.string()),
        "_witness": pa.array(features @ side.witness),
    }
    table = side.rows.at(positions)
    for name, values in more.items():
        table = table.append_column(name, values)
    return table
