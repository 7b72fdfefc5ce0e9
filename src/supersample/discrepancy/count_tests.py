"""Two-sample tests of one column by counts of all rows: of a share, of values, and of values in order.

None of them needs the rows, none uses bins that one sample chose, and none changes when the two samples change places. They
assume that rows are independent of each other, or that the variance of means is larger by known factors: then a sample counts
as that many times fewer rows (Rao and Scott 1981).
"""

import math
from typing import NamedTuple

import numpy as np
from scipy import special

from supersample._typing import Floats, Indices, Mask

__all__ = [
    "INDEPENDENT",
    "Factors",
    "Ordered",
    "compare_ordered",
    "compare_shares",
    "compare_values",
    "expected_enough",
    "weighted_holm",
]

#: Rows that a value or a group of values must lead one to expect on either side for the chi-squared distribution to hold.
_EXPECTED = 5.0
#: With so many rows expected of either kind on either side, a share is tested by chi-squared, else exactly.
_MANY = 200.0
#: Standard deviations from its mean beyond which a count is taken to be impossible.
_FAR = 60.0
#: The share of all rows at either end whose origin is counted, and a number of them, for values far from all others.
_TAIL, _TAIL_ROWS = 0.005, 20
#: A count this near to a whole number is one.
_WHOLE = 1e-9
#: Factors of the variances of means on the left and on the right.
Factors = tuple[float, float]
INDEPENDENT: Factors = (1.0, 1.0)
#: The least p-value: none is 0.
_LEAST = float(np.finfo(np.float64).tiny)


class Ordered(NamedTuple):
    """How two samples of numbers differ, as p-values; location, spread: with the sign of right minus left.

    low, high: where the tails begin, as places of `left` and `right`: the last of the low ones, the first of the high ones.
    """

    location: float
    spread: float
    shape: float
    low_tail: float
    high_tail: float
    moves: float
    widens: float
    low: int
    high: int


def compare_shares(left: int, n_left: int, right: int, n_right: int, factors: Factors = INDEPENDENT) -> float:
    """Test whether `left` of n_left rows and `right` of n_right are one share.

    Given their sum, `left` is hypergeometric: twice the smaller tail, or chi-squared where all counts are large. Counts that
    are divided by factors are rounded towards each other.
    """
    if factors != INDEPENDENT:
        left, n_left, right, n_right = _fewer(left, n_left, right, n_right, factors)
    (n_left, left), (n_right, right) = sorted([(n_left, left), (n_right, right)])  # their order changes no digit
    total, rows = left + right, n_left + n_right
    if n_left == 0 or n_right == 0 or total in (0, rows):
        return 1.0
    mean = total * (n_left / rows)
    if min(n_left, n_right) * (min(total, rows - total) / rows) >= _MANY:
        spread = mean * (1.0 - total / rows) * (n_right / rows)
        return _chi2((left - mean) ** 2 / spread, 1)
    deviation = np.sqrt(mean * (1.0 - total / rows) * (n_right / rows)) + 1.0
    first = max(0, total - n_right, int(mean - _FAR * deviation))
    last = min(total, n_left, int(mean + _FAR * deviation) + 1)
    counts = np.arange(first, last + 1, dtype=np.float64)
    logs = _log_choose(n_left, counts) + _log_choose(n_right, total - counts)
    chances = np.exp(logs - logs.max())
    chances /= chances.sum()
    below, above = chances[counts <= left].sum(), chances[counts >= left].sum()
    return float(min(1.0, max(2.0 * min(below, above), _LEAST)))


def compare_values(left: Indices, right: Indices, factors: Factors = INDEPENDENT) -> float:
    """Test whether two samples have the same shares of values, given how often each value occurs, by Pearson's chi-squared.

    Values too rare to be tested by themselves count together; beside a single frequent value, their share is tested exactly.
    """
    if left.size < 2:
        return 1.0
    often = expected_enough(left, right, factors)
    if often.sum() <= 1:  # of one frequent value, the share is tested
        rest = ~often if often.any() else np.arange(left.size) != np.argmax(left + right)
        return compare_shares(int(left[rest].sum()), int(left.sum()), int(right[rest].sum()), int(right.sum()), factors)
    columns = np.stack([left / factors[0], right / factors[1]])
    kept = columns[:, often]
    rest = columns[:, ~often].sum(axis=1, keepdims=True)
    if rest.sum() > 0:
        if not _expected(rest.sum(), columns) >= _EXPECTED:  # the rarest of the others joins them
            rarest = int(np.argmin(kept.sum(axis=0)))
            rest = rest + kept[:, [rarest]]
            kept = np.delete(kept, rarest, axis=1)
        kept = np.concatenate([kept, rest], axis=1)
    sizes, totals = kept.sum(axis=1, keepdims=True), kept.sum(axis=0, keepdims=True)
    if kept.shape[1] < 2 or sizes.min() == 0:
        return 1.0
    expected = sizes * (totals / totals.sum())
    return _chi2(float(((kept - expected) ** 2 / expected).sum(axis=0).sum()), kept.shape[1] - 1)


def expected_enough(left: Indices, right: Indices, factors: Factors = INDEPENDENT) -> Mask:
    """Return which values are frequent enough to be tested by themselves: 5 of them are expected on either side."""
    columns = np.stack([left / factors[0], right / factors[1]])
    return np.asarray(_expected(columns.sum(axis=0), columns) >= _EXPECTED)


def compare_ordered(left: Indices, right: Indices, factors: Factors = INDEPENDENT) -> Ordered:
    """Test two samples of numbers, given counts of values in increasing order.

    Location, spread and shape are tested by the mean scores of the two samples: with u the mid-rank of a value among all rows
    divided by their number, these are q(u), q(u)^2 - 1 for the normal quantile q (van der Waerden 1952, Klotz 1962), and three
    cosines (Neyman 1937). Values are joined with their neighbours until 5 of them are expected on either side. The tails, of
    which such groups tell nothing, are tested by the share of either sample in the lowest and highest 0.5% of all rows, and
    among the 20 lowest and highest: twice the smaller p-value of the two.
    """
    fewer = left / factors[0], right / factors[1]
    both = fewer[0] + fewer[1]
    sizes = np.array([left.sum() / factors[0], right.sum() / factors[1]])
    if both.size < 2 or sizes.min() == 0:
        return Ordered(1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0, max(both.size - 1, 0))
    groups = _groups(both, _EXPECTED * sizes.sum() / sizes.min())
    pair = np.stack([np.bincount(groups, weights=each) for each in fewer]).astype(np.float64)
    location, spread, shape, moves, widens = _by_scores(pair, sizes)
    low_tail, low = _tail(left, right, both, factors)
    high_tail, end = _tail(left[::-1], right[::-1], both[::-1], factors)
    return Ordered(location, spread, shape, low_tail, high_tail, moves, widens, low, both.size - 1 - end)


def weighted_holm(pvalues: Floats, weights: Floats) -> Floats:
    """Return p-values adjusted for their number by Holm's rule (1979) with weights, which sum to one.

    Reject those that are at most the level: the probability that any of these is wrong is at most the level. The smallest is
    the smallest p-value divided by its weight.
    """
    order = np.argsort(pvalues / weights, kind="stable")
    left = np.cumsum(weights[order][::-1])[::-1]  # the weight of those not yet rejected
    steps = pvalues[order] / weights[order] * left
    adjusted = np.empty_like(pvalues)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


def _fewer(left: int, n_left: int, right: int, n_right: int, factors: Factors) -> tuple[int, int, int, int]:
    """Return counts divided by the factors, in whole rows: shares may come nearer to each other, never farther apart."""
    sizes = [max(1, round(size / factor)) for size, factor in zip((n_left, n_right), factors, strict=True)]
    counts = [size * count / max(rows, 1) for size, count, rows in zip(sizes, (left, right), (n_left, n_right), strict=True)]
    larger = int(right * n_left > left * n_right)
    ends = [0, 0]
    ends[larger], ends[1 - larger] = math.floor(counts[larger] + _WHOLE), math.ceil(counts[1 - larger] - _WHOLE)
    if ends[larger] * sizes[1 - larger] <= ends[1 - larger] * sizes[larger]:
        return 0, sizes[0], 0, sizes[1]
    return ends[0], sizes[0], ends[1], sizes[1]


def _by_scores(pair: Floats, sizes: Floats) -> tuple[float, float, float, float, float]:
    """Return the p-values of location, spread and shape, and the direction of the first two."""
    both = pair.sum(axis=0)
    if both.size < 2:
        return 1.0, 1.0, 1.0, 0.0, 0.0
    ranks = (np.cumsum(both) - 0.5 * both) / both.sum()
    normal = special.ndtri(ranks)
    scores = np.stack([normal, normal**2, *(np.cos(turns * np.pi * ranks) for turns in (3, 4, 5))], axis=1)
    shares = both / both.sum()
    scores -= shares @ scores
    gap = pair[1] / sizes[1] @ scores - pair[0] / sizes[0] @ scores
    covariance = (scores.T * shares) @ scores * (1.0 / sizes).sum() * (sizes.sum() / (sizes.sum() - 1.0))
    found = [_quadratic(gap[part], covariance[part, part]) for part in (slice(0, 1), slice(1, 2), slice(2, 5))]
    return found[0], found[1], found[2], float(np.sign(gap[0])), float(np.sign(gap[1]))


def _quadratic(gap: Floats, covariance: Floats) -> float:
    """Return the p-value of a difference of means, given its covariance, which may be singular."""
    values, vectors = np.linalg.eigh(covariance)
    there = values > 1e-9 * max(float(values.max()), _LEAST)
    if not there.any():
        return 1.0
    return _chi2(float(((vectors[:, there].T @ gap) ** 2 / values[there]).sum()), int(there.sum()))


def _groups(both: Floats, least: float) -> Indices:
    """Return the number of the group of each value: neighbours are joined until a group has `least` rows."""
    groups = np.empty(both.size, dtype=np.int64)
    group, held = 0, 0.0
    for place, count in enumerate(both.tolist()):
        groups[place] = group
        held += count
        if held >= least:
            group, held = group + 1, 0.0
    if group > 0:  # what is left over joins the last group
        groups[groups == group] = group - 1
    return groups


def _tail(left: Indices, right: Indices, both: Floats, factors: Factors) -> tuple[float, int]:
    """Test the shares of the two samples in the lower tail, a narrow and a wide one; return the p-value and its last place."""
    rows = float(both.sum())
    wanted = {min(each, 0.5 * rows) for each in (float(_TAIL_ROWS), max(_TAIL * rows, _TAIL_ROWS))}
    ends = sorted({int(np.searchsorted(np.cumsum(both), each)) for each in wanted})
    found = [
        (
            compare_shares(int(left[: end + 1].sum()), int(left.sum()), int(right[: end + 1].sum()), int(right.sum()), factors),
            end,
        )
        for end in ends
    ]
    pvalue, end = min(found)
    return min(1.0, len(ends) * pvalue), end


def _expected(totals: Floats, columns: Floats) -> Floats:
    """Return how many of some numbers of rows are expected on the smaller side."""
    return np.asarray(totals * (columns.sum(axis=1).min() / max(columns.sum(), 1.0)))


def _chi2(statistic: float, degrees: int) -> float:
    return max(float(special.chdtrc(degrees, max(statistic, 0.0))), _LEAST)


def _log_choose(n: int, k: Floats) -> Floats:
    return np.asarray(special.gammaln(n + 1.0) - special.gammaln(k + 1.0) - special.gammaln(n - k + 1.0))
