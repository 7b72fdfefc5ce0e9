"""Shares of single values in two profiles: which one changed most, and how much of a side the other does not have."""

import numpy as np

from supersample._checks import MOST
from supersample._typing import Floats, Indices
from supersample.discrepancy.count_tests import Factors, expected_enough
from supersample.profile import ColumnProfile
from supersample.summary.change_words import bounded, named

__all__ = ["change_of_one_value", "n_counted", "replaced_share"]


def replaced_share(counts: tuple[Indices, Indices], factors: Factors) -> float:
    """Return the larger share of a side in values that the other does not have, of those frequent enough to be expected there.

    It is 1 only if the two have no value in common.
    """
    often = expected_enough(*counts, factors)
    both = (counts[0] > 0) & (counts[1] > 0)
    gone, new = (float(each[often & ~both].sum() / max(int(each.sum()), 1)) for each in counts)
    return 1.0 if often.all() and not both.any() else max(gone, new)


def change_of_one_value(left: ColumnProfile, right: ColumnProfile, min_count: int) -> tuple[float, str]:
    """Return by how much the share of a value differs at least, the largest of those held, and its change in words.

    Where not all values are held, counts are known up to a bound, and are at most those of a bucket of the histogram.
    """
    assert left.frequent is not None and right.frequent is not None  # noqa: PT018
    sides = left, right
    names = {
        key: (each.form.value_text(value), each.form.number(value))
        for each in sides
        if each.frequent
        for key, value in zip(each.frequent.hashes.tolist(), each.frequent.values, strict=False)
    }
    sizes = n_counted(left), n_counted(right)
    if not names or min(sizes) == 0:
        return 0.0, ""
    numbers = np.array([number for _, number in names.values()])
    least, most = (np.array(each) for each in zip(*(_bounds(each, list(names), numbers) for each in sides), strict=True))
    gaps = np.maximum(least[0] - most[1], least[1] - most[0])
    place = int(np.argmax(gaps))
    often = any(size * float(share) >= min_count for size, share in zip(sizes, least[:, place], strict=True))
    name = named(list(names.values())[place][0], quoted=False) if often else "a rare value"
    before, after = ((float(least[side, place]), float(most[side, place])) for side in (0, 1))
    return max(float(gaps[place]), 0.0), f"{name} {bounded(before, after)}"


def _bounds(column: ColumnProfile, hashes: list[int], numbers: Floats) -> tuple[Floats, Floats]:
    """Return the least and the largest shares that some values can have, given their hashes and numbers."""
    assert column.frequent is not None and column.numbers is not None  # noqa: PT018
    held = dict(zip(column.frequent.hashes.tolist(), column.frequent.counts.tolist(), strict=True))
    least = np.array([held.get(key, 0) for key in hashes])
    most, histogram = least + column.frequent.lowered, column.numbers.histogram
    if column.frequent.lowered:
        counts = dict(zip(histogram.keys.tolist(), histogram.counts.tolist(), strict=True))
        in_bucket = [counts.get(histogram.key_of(each), 0) if np.isfinite(each) else MOST for each in numbers.tolist()]
        most = np.minimum(most, in_bucket)
    return least / n_counted(column), most / n_counted(column)


def n_counted(column: ColumnProfile) -> int:
    """Return how many values a profile counted: of summaries made apart, those of numbers in the sample."""
    return column.count if column.numbers is None else column.numbers.count
