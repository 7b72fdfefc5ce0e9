"""Pairs of columns whose rank correlation is compared: numbers, truth values, and single values of categories."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from supersample._typing import Floats, Mask
from supersample.discrepancy.pair_tests import compare_pairs, normal_scores
from supersample.summary.comparison import MOST_PAIRS, PairChange

__all__ = ["PairScores"]

#: Values of a category that are looked at in pairs, those of all, and their least share.
_PAIRED_VALUES, _PAIRED_IN_ALL, _PAIRED_SHARE = 6, 200, 0.05


class PairScores:
    """Columns whose correlations are compared: normal scores over both background samples, of categories by value."""

    def __init__(self, shares: list[Floats], n_categories: int) -> None:
        self.shares = shares
        self.most_values = max(1, min(_PAIRED_VALUES, _PAIRED_IN_ALL // max(n_categories, 1)))
        self.columns: list[tuple[str, str]] = []
        self.scores: list[list[Floats]] = []
        self.factors: list[list[float]] = []
        # Each sample counts by its size, as the rows would if they lay in one table.
        self.weights = [each / float(each @ each) for each in shares]

    def add(self, name: str, values: Sequence[Floats], there: Sequence[Mask], factors: list[float], value: str = "") -> None:
        """Add numbers of a column, and whether they are there, on both sides. value: what they say of a category."""
        self.columns.append((name, value))
        self.factors.append(factors)
        self.scores.append(normal_scores(values, there, self.weights))

    def add_category(self, name: str, sides: Sequence[pa.Array], factors: list[float]) -> None:
        """Add a category by the presence of each frequent value; of two values, that of the rarer one says it all."""
        codes = pa.chunked_array(sides).combine_chunks().dictionary_encode()
        kinds = np.array([str(each) for each in codes.dictionary.to_pylist()])
        each_place = np.split(codes.indices.fill_null(-1).to_numpy(zero_copy_only=False), [len(sides[0])])
        # Sums by side, so that their order changes no digit.
        counts = [np.bincount(each + 1, own, kinds.size + 1)[1:] for each, own in zip(each_place, self.weights, strict=True)]
        total = counts[0] + counts[1]
        often = np.lexsort((kinds, -total))[: self.most_values]
        often = often[total[often] >= _PAIRED_SHARE * total.sum()]
        for kind in often[-1:] if kinds.size == 2 else often:
            held = [(each == kind).astype(np.float64) for each in each_place]
            self.add(name, held, [each >= 0 for each in each_place], factors, repr(str(kinds[kind])))

    def test(self, at_least: float) -> list[PairChange] | None:
        """Return the pairs that changed most; None if there are too few rows or columns to test any.

        A correlation that changed by less than `at_least` counts for nothing.
        """
        if len(self.columns) < 2:
            return None
        sides = [np.stack([each[side] for each in self.scores], axis=1) for side in (0, 1)]
        names = [name for name, _ in self.columns]
        groups = np.unique(names, return_inverse=True)[1].tolist()
        pairs = compare_pairs(sides, self.shares, list(np.array(self.factors).T), _PAIRED_VALUES**2 * MOST_PAIRS, groups)
        if pairs is None:
            return None
        clearest: dict[tuple[str, str], PairChange] = {}
        for a, b, before, after, p in pairs:
            (first, here), (second, there) = self.columns[a], self.columns[b]
            pvalue = p if abs(after - before) >= at_least else 1.0
            found = PairChange((first, second), before, after, pvalue, (here, there))
            clearest[first, second] = min(found, clearest.get((first, second), found), key=lambda each: each.pvalue)
        return list(clearest.values())[:MOST_PAIRS]
