"""A two-sample test of how columns go together: correlations of normal scores, pair by pair."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import special

from supersample._typing import Floats, Mask

__all__ = ["LEAST_ROWS", "Pair", "compare_pairs", "normal_scores"]

#: Rows below which the mean of products is not taken to be normal.
LEAST_ROWS = 100.0
_LEAST = float(np.finfo(np.float64).tiny)
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


def compare_pairs(sides: Sequence[Floats], shares: Sequence[Floats], factors: Sequence[Floats], most: int) -> list[Pair] | None:
    """Test whether the mean product of any two columns of scores differs between two samples.

    sides: rows x columns each; shares: the share of a sample that each row represents; factors: by which the variance of each
    column's mean is larger than that of independent rows. That of a product is taken to be the smaller one of its columns: it
    is so for copies of rows, and no more for normal series, whose products forget faster than they do. Each product is tested
    by its means and its variance over both samples, so that no distribution is assumed. Return the pairs that differ most, at
    most so many, with p-values adjusted by Bonferroni's rule; None if there are too few rows to test any. O(rows columns^2).
    """
    sizes = [1.0 / float(each @ each) for each in shares]
    n_columns = sides[0].shape[1]
    if n_columns < 2 or min(sizes) < LEAST_ROWS:
        return None
    means = [(side.T * share) @ side for side, share in zip(sides, shares, strict=True)]
    squares = [(side.T**2 * share) @ side**2 for side, share in zip(sides, shares, strict=True)]
    parts = [size / sum(sizes) for size in sizes]
    centre = parts[0] * means[0] + parts[1] * means[1]
    variance = parts[0] * squares[0] + parts[1] * squares[1] - centre**2
    first, second = np.triu_indices(n_columns, 1)
    fewer = [size / np.minimum(each[first], each[second]) for size, each in zip(sizes, factors, strict=True)]
    spread = np.maximum(variance[first, second], 0.0) * (1.0 / fewer[0] + 1.0 / fewer[1])
    gap = (means[1] - means[0])[first, second]
    there = spread > 0
    pvalues = np.ones(first.size)
    pvalues[there] = np.minimum(special.chdtrc(1, gap[there] ** 2 / spread[there]) * first.size, 1.0)
    order = np.argsort(-(gap**2) / np.where(there, spread, np.inf), kind="stable")[:most]
    return [
        Pair(a, b, _correlation(means[0], a, b), _correlation(means[1], a, b), max(float(pvalues[place]), _LEAST))
        for place, a, b in zip(order.tolist(), first[order].tolist(), second[order].tolist(), strict=True)
    ]


def _correlation(means: Floats, first: int, second: int) -> float:
    """Return the correlation of two columns; their means are left out of it, since scores are centred over both samples."""
    size = float(np.sqrt(means[first, first] * means[second, second]))
    return float(means[first, second] / size) if size > 0 else 0.0
