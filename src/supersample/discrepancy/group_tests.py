"""Two-sample tests of counts of many groups: of all of them together, and of the one that differs most clearly.

Groups are given beforehand, by bits of a hash, so that neither sample chose them. Neither test changes when the two samples
change places. They assume what the tests of `count_tests` assume.
"""

from typing import NamedTuple

import numpy as np
from scipy import special

from supersample._typing import Floats, Indices
from supersample.discrepancy.count_tests import INDEPENDENT, Factors, compare_shares, compare_values

__all__ = ["Groups", "compare_groups"]

#: Rows that groups hold on average on the smaller side, at least; groups are joined two by two until they do.
_ON_AVERAGE = 5.0
#: Groups that are tested exactly, of those that a chi-squared test finds the clearest.
_EXACTLY = 16
_TINY = 1e-300


class Groups(NamedTuple):
    """How counts of groups differ, as p-values: all together, and the clearest one, whose place is `place`.

    one: adjusted for the number of groups.
    """

    together: float
    one: float
    place: int


def compare_groups(left: Indices, right: Indices, factors: Factors = INDEPENDENT) -> Groups:
    """Test whether two samples have the same shares of 2^q groups. O(groups).

    All together by Pearson's chi-squared; groups are joined until they hold 5 rows on average, so that few rows do not leave
    most of them to the rest. Many groups hide one that grows by itself, so the smallest p-value of a single group is returned
    too, adjusted by Bonferroni's rule with weights: half of the level is shared equally, half by the groups' shares of all
    rows, so that frequent values pay less for the many rare ones. The weights follow from the totals of both sides, and each
    p-value holds given these, so that this is allowed.
    """
    if min(int(left.sum()), int(right.sum())) == 0:
        return Groups(1.0, 1.0, 0)
    one, place = _clearest(left, right, factors)
    return Groups(compare_values(*_joined(left, right, factors), factors), one, place)


def _joined(left: Indices, right: Indices, factors: Factors) -> tuple[Indices, Indices]:
    """Return counts of so few groups that they hold enough rows on average: half of them at a time join the other half."""
    smaller = min(int(left.sum()) / factors[0], int(right.sum()) / factors[1])
    while left.size > 2 and smaller < _ON_AVERAGE * left.size:
        left, right = (each.reshape(2, -1).sum(axis=0) for each in (left, right))
    return left, right


def _clearest(left: Indices, right: Indices, factors: Factors) -> tuple[float, int]:
    """Return the smallest p-value of one group, adjusted, and its place."""
    fewer = left / factors[0], right / factors[1]
    sizes = float(fewer[0].sum()), float(fewer[1].sum())
    totals = fewer[0] + fewer[1]
    both = left + right
    weights = 0.5 / int(np.count_nonzero(both)) + 0.5 * both / int(both.sum())
    approximate = np.where(totals > 0.0, _chi2(fewer, sizes, totals) - np.log(weights), np.inf)
    chosen = np.argsort(np.round(approximate, 9), kind="stable")[:_EXACTLY]
    counts = int(left.sum()), int(right.sum())
    found = [
        (compare_shares(int(left[each]), counts[0], int(right[each]), counts[1], factors) / weights[each], int(each))
        for each in chosen
    ]
    pvalue, place = min(found)
    return min(1.0, float(pvalue)), place


def _chi2(counts: tuple[Floats, Floats], sizes: tuple[float, float], totals: Floats) -> Floats:
    """Return the logarithm of the p-value of each group by chi-squared."""
    rows = sizes[0] + sizes[1]
    away = (counts[0] * sizes[1] - counts[1] * sizes[0]) ** 2
    variance = totals * (rows - totals) * (sizes[0] * sizes[1])
    return np.asarray(np.log(2.0) + special.log_ndtr(-np.sqrt(away * rows / np.maximum(variance, _TINY))))
