"""How many times larger the variance of a mean is than that of as many independent rows, by block sums of several lengths."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from scipy import special

__all__ = ["Level", "variance_factor"]

#: Blocks that a length must leave to be looked at.
_FEWEST = 16.0
#: The probability that independent rows are taken to depend on each other anywhere in a summary.
_LEVEL = 0.001
#: A length is long enough if it is so many times the factor: a sum of AR(1) rows then lacks 1 part in 16 of its variance.
_LONG = 8.0
#: Estimates from k blocks are raised by (1 + z^2) / (2 k) with z = 3, about Student's t at the level of one test among many.
_ALLOWANCE = 5.0


class Level(Protocol):
    """Blocks of one length: rows of each, their number, and the variance of their sums, divided by that of independent rows."""

    @property
    def length(self) -> int:
        """Rows of a block."""

    @property
    def blocks(self) -> float:
        """How many there are."""

    @property
    def ratio(self) -> float:
        """The ratio of variances."""


def variance_factor(levels: Sequence[Level], dimensions: float, n_tests: int) -> float:
    """Return the factor; 1 unless rows clearly depend on those before them.

    levels: in the order of lengths 1, 2, 4, ... dimensions: how many independent numbers a block sum is worth. n_tests: how
    many factors are looked at together.

    Under independence, the ratio times its degrees of freedom k d / (1 - 1 / b) is about chi-squared, for k blocks of b rows
    in d dimensions: a factor other than 1 needs a length at which that is too large, by Bonferroni's rule. The factor is then
    the largest estimate up to the first length that is 8 times its own ratio, or to a later one at which the ratio has clearly
    grown.
    """
    seen = [each for each in levels[1:] if each.blocks >= _FEWEST]
    if not seen:
        return 1.0
    freedom = [dimensions * each.blocks for each in seen]
    chances = [
        special.chdtrc(own / (1.0 - 1.0 / each.length), own / (1.0 - 1.0 / each.length) * each.ratio)
        for each, own in zip(seen, freedom, strict=True)
    ]
    if min(chances) * len(seen) * n_tests > _LEVEL:
        return 1.0
    end = next((place for place, each in enumerate(seen) if each.length >= _LONG * each.ratio), len(seen) - 1)
    for place in range(end + 1, len(seen)):
        grown = seen[place].ratio / max(seen[end].ratio, 1.0)
        if special.chdtrc(freedom[place], freedom[place] * grown) * len(seen) * n_tests <= _LEVEL:
            end = place
    raised = [each.ratio * (1.0 + _ALLOWANCE / own) for each, own in zip(seen[: end + 1], freedom, strict=False)]
    return max(1.0, float(np.max(raised)))
