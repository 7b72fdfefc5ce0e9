"""Two-sample tests of counts of many groups: of all of them together, and of the one that differs most clearly.

Groups are given beforehand, by bits of a hash, so that neither sample chose them. Neither test changes when the two samples
change places. They assume what the tests of `count_tests` assume.
"""

from typing import NamedTuple

import numpy as np
from scipy import special

from supersample._typing import Floats, Indices
from supersample.discrepancy.count_tests import INDEPENDENT, Factors, compare_shares, compare_values

__all__ = ["Groups", "clearest_group", "compare_groups"]

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
    too (`clearest_group`).
    """
    if min(int(left.sum()), int(right.sum())) == 0:
        return Groups(1.0, 1.0, 0)
    one, place = clearest_group(left, int(left.sum()), right, int(right.sum()), factors)
    return Groups(compare_values(*_joined(left, right, factors), factors), one, place)


def _joined(left: Indices, right: Indices, factors: Factors) -> tuple[Indices, Indices]:
    """Return counts of so few groups that they hold enough rows on average: half of them at a time join the other half."""
    smaller = min(int(left.sum()) / factors[0], int(right.sum()) / factors[1])
    while left.size > 2 and smaller < _ON_AVERAGE * left.size:
        left, right = (each.reshape(2, -1).sum(axis=0) for each in (left, right))
    return left, right


def clearest_group(
    left: Indices, n_left: int, right: Indices, n_right: int, factors: Factors = INDEPENDENT
) -> tuple[float, int]:  # fmt: skip
    """Test whether groups have the same shares of n_left and n_right rows; a row may be in several groups. O(groups).

    Returns the smallest p-value, adjusted by Bonferroni's rule with weights, and its place. Half of the level is shared
    equally, half by the rows of both sides in the groups, so that frequent values pay less for the many rare ones. The p-value
    of a group holds given how many rows of both sides it has, and the weights follow from these, so that this is allowed.
    """
    both = left + right
    if min(n_left, n_right) == 0 or not both.any():
        return 1.0, 0
    fewer = left / factors[0], right / factors[1]
    weights = 0.5 / int(np.count_nonzero(both)) + 0.5 * both / int(both.sum())
    approximate = np.where(both > 0, _log_chances(fewer, (n_left / factors[0], n_right / factors[1])) - np.log(weights), np.inf)
    chosen = np.argsort(np.round(approximate, 9), kind="stable")[:_EXACTLY]
    found = [
        (compare_shares(int(left[each]), n_left, int(right[each]), n_right, factors) / weights[each], int(each))
        for each in chosen
    ]
    pvalue, place = min(found)
    return min(1.0, float(pvalue)), place


def _log_chances(counts: tuple[Floats, Floats], sizes: tuple[float, float]) -> Floats:
    """Return the logarithm of the p-value of each group by chi-squared."""
    totals, rows = counts[0] + counts[1], sizes[0] + sizes[1]
    away = (counts[0] * sizes[1] - counts[1] * sizes[0]) ** 2
    variance = totals * (rows - totals) * (sizes[0] * sizes[1])
    return np.asarray(np.log(2.0) + special.log_ndtr(-np.sqrt(away * rows / np.maximum(variance, _TINY))))
