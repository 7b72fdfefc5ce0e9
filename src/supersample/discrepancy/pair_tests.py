"""A two-sample test of how columns go together: correlations of normal scores, pair by pair."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import special

from supersample._typing import Floats, Mask

__all__ = ["LEAST", "Pair", "compare_pairs", "normal_scores"]

#: Rows below which a correlation is not taken to be normal, and those that must vary: n / (4th moment), as n p of rare flags.
_LEAST_ROWS, _LEAST_VARYING = 100.0, 25.0
#: No p-value is below this.
LEAST = float(np.finfo(np.float64).tiny)
#: Differences of correlations, and spreads of scores, that are rounding.
_SAME, _FLAT = 1e-9, 1e-9
#: Ranks stay this far from 0 and 1, where rows without weight would lie.
_EDGE = 1e-12


class Pair(NamedTuple):
    """Two columns by place, the correlations of their scores on both sides, and the p-value of the difference."""

    first: int
    second: int
    before: float
    after: float
    pvalue: float


def normal_scores(sides: Sequence[Floats], there: Sequence[Mask], weights: Sequence[Floats]) -> list[Floats]:
    """Return the normal quantile of the mid-rank of each value among those of both samples; 0 where there is no value.

    They have mean 0 and variance 1 over both, whatever the values are, unless all are equal. weights: those of the rows.
    """
    seen = [values[present] for values, present in zip(sides, there, strict=True)]
    kinds, places = np.unique(np.concatenate(seen), return_inverse=True)
    out = [np.zeros(values.size) for values in sides]
    if kinds.size < 2:
        return out
    each_place = np.split(places, [seen[0].size])
    # Sums by side, so that their order changes no digit.
    counts = [
        np.bincount(place, weights=weight[present], minlength=kinds.size)
        for place, weight, present in zip(each_place, weights, there, strict=True)
    ]
    sizes = counts[0] + counts[1]
    shares = sizes / sizes.sum()
    scores = special.ndtri(np.clip((np.cumsum(sizes) - 0.5 * sizes) / sizes.sum(), _EDGE, 1.0 - _EDGE))
    scores -= shares @ scores
    spread = float(np.sqrt(shares @ scores**2))
    for mine, place, present in zip(out, each_place, there, strict=True):
        mine[present] = scores[place] / spread if spread > 0 else 0.0
    return out


def compare_pairs(
    sides: Sequence[Floats], shares: Sequence[Floats], factors: Sequence[Floats], most: int, groups: Sequence[int] | None = None
) -> list[Pair] | None:
    """Test whether the correlation of any two columns of scores differs between two samples.

    sides: rows x columns each; shares: the share of a sample that each row represents; factors: by which the variance of each
    column's mean is larger than that of independent rows. groups: pairs of columns of the same group are not looked at.

    The factor of a product is taken to be the smaller one of its columns: it is so for copies of rows, and no more for normal
    series, whose products are dependent over shorter distances than the series themselves. Each side has its own
    means and spreads, so that these change no correlation. The variance of a correlation is that of its influence on single
    rows, a b - r (a^2 + b^2) / 2 for standardised a and b, the larger one of its side and of both, so that no distribution is
    assumed. Columns that hardly vary on a side, a few rows apart, are left out: a few rows say nothing of a correlation.
    Return the pairs that differ most, at most so many, with p-values adjusted by Bonferroni's rule; None if there are too few
    rows or columns to test any. O(rows columns^2).
    """
    sizes = [1.0 / float(each @ each) for each in shares]
    n_columns = sides[0].shape[1]
    if n_columns < 2 or min(sizes) < _LEAST_ROWS:
        return None
    found = [_correlations(side, share) for side, share in zip(sides, shares, strict=True)]
    enough = [size / fourth for size, (_, _, fourth) in zip(sizes, found, strict=True)]
    varying = np.flatnonzero(np.minimum(*enough) >= _LEAST_VARYING)
    first, second = (varying[each] for each in np.triu_indices(varying.size, 1))
    if groups is not None:
        apart = np.asarray(groups)[first] != np.asarray(groups)[second]
        first, second = first[apart], second[apart]
    if first.size == 0:
        return None
    before, after = (each[first, second] for each, *_ in found)
    spreads = [each[first, second] for _, each, _ in found]
    pooled = (sizes[0] * spreads[0] + sizes[1] * spreads[1]) / sum(sizes)
    fewer = [size / np.minimum(each[first], each[second]) for size, each in zip(sizes, factors, strict=True)]
    spread = np.maximum(spreads[0], pooled) / fewer[0] + np.maximum(spreads[1], pooled) / fewer[1]
    gap = np.where(np.abs(after - before) > _SAME, after - before, 0.0)
    there = spread > 0
    pvalues = np.ones(first.size)
    pvalues[there] = np.minimum(special.chdtrc(1, gap[there] ** 2 / spread[there]) * first.size, 1.0)
    order = np.argsort(-(gap**2) / np.where(there, spread, np.inf), kind="stable")[:most]
    return [
        Pair(a, b, float(before[place]), float(after[place]), max(float(pvalues[place]), LEAST))
        for place, a, b in zip(order.tolist(), first[order].tolist(), second[order].tolist(), strict=True)
    ]


def _correlations(side: Floats, share: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the correlations of all columns, the variances of their influence on rows, and the fourth moments of the columns.

    A column of one value has correlations of 0 and an infinite fourth moment.
    """
    scores = side - share @ side
    spreads = np.sqrt(share @ scores**2)
    scores = np.divide(scores, spreads, out=np.zeros_like(scores), where=spreads > _FLAT)
    weighed, squares = scores * share[:, None], scores**2
    r = np.clip(weighed.T @ scores, -1.0, 1.0)
    even, odd = (squares * share[:, None]).T @ squares, (weighed * squares).T @ scores
    fourth = np.diag(even)
    variance = even - r * (odd + odd.T) + 0.25 * r * r * (fourth[:, None] + fourth + 2.0 * even)
    return r, np.maximum(variance, 0.0), np.where(spreads > _FLAT, fourth, np.inf)
