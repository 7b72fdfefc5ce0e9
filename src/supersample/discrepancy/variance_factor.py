"""How many times larger the variance of a mean is than that of as many independent rows, by block sums of several lengths."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from scipy import special

from supersample._typing import Floats

__all__ = ["Level", "Measured", "beyond_chance", "variance_factor"]

#: Blocks that a length must leave to be looked at.
_FEWEST = 16.0
#: The probability that independent rows are taken to depend on each other anywhere in a summary.
_LEVEL = 0.001
#: A length is long enough if it is so many times the factor: a sum of AR(1) rows then lacks 1 part in 16 of its variance.
_LONG = 8.0
#: Estimates from k blocks are raised by (1 + z^2) / (2 k) with z = 3, about Student's t at the level of one test among many.
_ALLOWANCE = 5.0
#: The probability that a ratio is larger than it is said to be at most.
_UNLIKELY = 0.01
#: Rows of a sample that must have a part in the variance for dependence to be told.
_FEWEST_EVENTS = 10.0


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


class Measured(Protocol):
    """What was measured of some numbers: blocks in the order of lengths 1, 2, 4, ..., and how many numbers a sum is worth."""

    @property
    def levels(self) -> Sequence[Level]:
        """The blocks of each length; none if the numbers do not vary."""

    @property
    def dimensions(self) -> float:
        """How many independent numbers a block sum is worth."""


def variance_factor(measured: Measured, n_tests: int, others: Sequence[Measured] = ()) -> float:
    """Return the factor; 1 unless rows clearly depend on those before them.

    n_tests: how many factors are looked at together. others: of the rows that these are compared with; if both are of one kind,
    both have one factor. So it is at most what any of the others can have at the same length: what changes within one sample
    only is a difference, not dependence.

    Under independence, the ratio times its degrees of freedom k d / (1 - 1 / b) is about chi-squared, for k blocks of b rows
    in d dimensions: a factor other than 1 needs a length at which that is too large, by Bonferroni's rule. The factor is then
    the largest estimate up to the first length that is 8 times its own ratio, or to a later one at which the ratio has clearly
    grown.
    """
    factor, length = _clear_factor(measured, n_tests)
    if factor == 1.0 or not others:
        return factor
    return max(1.0, min(factor, max(max(_clear_factor(each, n_tests)[0], _most_possible(each, length)) for each in others)))


def beyond_chance(measured: Measured, n_tests: int, squares: Floats) -> bool:
    """Return whether a factor above 1 is more than what a few rows that stand out show by chance.

    squares: (x - mean)^2 of the same numbers in a random sample of the rows. If only m rows stand out, as the ones of a column
    of zeros, the ratio is 1 + 2 (c - E c) / m for c pairs of them in one block, and c is about Poisson, with the mean
    m^2 / (2 f) that gives the ratio the variance 2 / f of f degrees of freedom. For small m that has a far longer tail than
    chi-squared, which `variance_factor` takes. In general m is the number of equal rows whose products are as large as those
    of pairs of rows here, less twice its error in the sample.
    """
    events, seen = _events(squares), _seen(measured)
    if not events or not seen:
        return False
    rows = (events - 2.0 * np.sqrt(events)) / squares.size * measured.levels[0].blocks
    chances = []
    for each in seen:
        expected = rows**2 / (2.0 * measured.dimensions * each.blocks) * (1.0 - 1.0 / each.length)
        pairs = expected + rows * (each.ratio - 1.0) / 2.0
        chances.append(float(special.gammainc(pairs, expected)) if pairs > 0 else 1.0)
    return min(chances) * len(seen) * n_tests <= _LEVEL


def _events(squares: Floats) -> float:
    """Return sum x^2 / P, where P^2 is the mean of (x y)^2 over pairs of rows, weighted by itself: m for m ones among zeros.

    A row has no pair with itself, so that a single far one does not count. 0 if a few rows have nearly all of the sum: outside
    the sample there may be more of them.
    """
    total, second, fourth = (float((squares**power).sum()) for power in (1, 2, 4))
    if total**2 <= _FEWEST_EVENTS * second:
        return 0.0
    return total * float(np.sqrt((total**2 - second) / (second**2 - fourth)))


def _seen(measured: Measured) -> list[Level]:
    return [each for each in measured.levels[1:] if each.blocks >= _FEWEST]


def _clear_factor(measured: Measured, n_tests: int) -> tuple[float, int]:
    """Return the factor, and the length of the blocks that it was seen in."""
    seen = _seen(measured)
    if not seen:
        return 1.0, 1
    freedom = [measured.dimensions * each.blocks for each in seen]
    chances = [
        special.chdtrc(own / (1.0 - 1.0 / each.length), own / (1.0 - 1.0 / each.length) * each.ratio)
        for each, own in zip(seen, freedom, strict=True)
    ]
    if min(chances) * len(seen) * n_tests > _LEVEL:
        return 1.0, 1
    end = next((place for place, each in enumerate(seen) if each.length >= _LONG * each.ratio), len(seen) - 1)
    for place in range(end + 1, len(seen)):
        grown = seen[place].ratio / max(seen[end].ratio, 1.0)
        if special.chdtrc(freedom[place], freedom[place] * grown) * len(seen) * n_tests <= _LEVEL:
            end = place
    raised = [each.ratio * (1.0 + _ALLOWANCE / own) for each, own in zip(seen[: end + 1], freedom, strict=False)]
    largest = int(np.argmax(raised))
    return max(1.0, float(raised[largest])), seen[largest].length


def _most_possible(measured: Measured, length: int) -> float:
    """Return the upper end of a confidence interval for the ratio at one length: infinite if there are too few blocks of it.

    Numbers that do not vary show no dependence.
    """
    if not measured.levels:
        return 1.0
    level = next((each for each in measured.levels if each.length == length), None)
    if level is None or level.blocks < _FEWEST:
        return np.inf
    freedom = measured.dimensions * level.blocks
    return float(level.ratio * freedom / special.chdtri(freedom, 1.0 - _UNLIKELY))
