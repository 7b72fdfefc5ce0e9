"""What changed in a column of more than 256 categories: by counts of groups of values, and bounds on those of single ones."""

from typing import NamedTuple

import numpy as np

from supersample._typing import Floats, Indices
from supersample.discrepancy.count_tests import Factors
from supersample.discrepancy.group_tests import compare_groups
from supersample.profile import ColumnProfile
from supersample.profile.groups import group_of
from supersample.summary.change_words import bounded, named, percent, percents
from supersample.summary.value_shares import replaced_share

__all__ = ["GroupChange", "by_groups", "change_of_groups"]

#: Values that are named at most, and standard errors by which the share of each must have changed at least.
_NAMED, _CLEAR = 2, 3.0
_TINY = 1e-300


class GroupChange(NamedTuple):
    """The p-value of a column, the largest difference of two shares of it, and the change in words."""

    pvalue: float
    difference: float
    words: str


class _Value(NamedTuple):
    """A value whose share certainly changed: by how much at least, in shares and in standard errors, and the words for it."""

    clear: float
    gap: float
    words: str


def by_groups(left: ColumnProfile, right: ColumnProfile, role: str) -> bool:
    """Return whether the values of a column are compared by counts of groups of all rows."""
    return role in ("category", "constant") and left.group_counts is not None and right.group_counts is not None


def change_of_groups(left: ColumnProfile, right: ColumnProfile, min_count: int, factors: Factors) -> GroupChange:
    """Test the values of a column by counts of groups, all together and the clearest one, each with half of the level.

    The difference is that of a group, or of values that only one side has, or what is certain of a single value. min_count:
    values that are rarer on both sides are not named.
    """
    counts = left.group_counts, right.group_counts
    assert counts[0] is not None and counts[1] is not None  # noqa: PT018
    known = counts[0], counts[1]
    found = compare_groups(*known, factors)
    sizes = [max(int(each.sum()), 1) for each in known]
    shares = known[0] / sizes[0], known[1] / sizes[1]
    gap = float(np.abs(shares[1] - shares[0]).max())
    there = known[0] + known[1] > 0
    replaced = replaced_share((known[0][there], known[1][there]), factors)
    values = _certain(left, right, shares, min_count, factors)
    return GroupChange(
        min(1.0, 2.0 * min(found.together, found.one)),
        max(gap, replaced, *(each.gap for each in values), 0.0),
        _words(values, replaced, (float(shares[0][found.place]), float(shares[1][found.place])), found.one <= found.together),
    )


def _words(values: list[_Value], replaced: float, group: tuple[float, float], one: bool) -> str:
    """Put the change into words: values that are certain to have changed, else what is known of values nobody can name.

    one: whether the clearest group says more than all of them together; group: its shares.
    """
    if replaced == 1.0:
        return "no value in common"
    clear = [each for each in values if each.clear >= _CLEAR]
    if clear and max(each.gap for each in clear) >= replaced:
        return ", ".join(each.words for each in clear[:_NAMED])
    if replaced > abs(group[1] - group[0]):
        return f"values that only one side has, in at least {percent(replaced)} of its rows"
    if one and group[0] != group[1]:
        return f"some of its values together {percents(*group)}"
    return "the shares of its values"


def _certain(
    left: ColumnProfile, right: ColumnProfile, groups: tuple[Floats, Floats], min_count: int, factors: Factors
) -> list[_Value]:
    """Return the values whose share certainly changed, by the bounds of their counts, the clearest change first."""
    sides = left, right
    names = {
        key: each.form.value_text(value)
        for each in sides
        if each.frequent
        for key, value in zip(each.frequent.hashes.tolist(), each.frequent.values, strict=False)
    }
    if not names:
        return []
    hashes = np.array(list(names), dtype=np.int64)
    least, most = (
        np.array(each) for each in zip(*(_bounds(*each, hashes) for each in zip(sides, groups, strict=True)), strict=True)
    )
    gaps = np.maximum(least[0] - most[1], least[1] - most[0])
    sizes = [max(each.count, 1) for each in sides]
    common = np.clip((most[0] * sizes[0] + most[1] * sizes[1]) / sum(sizes), _TINY, 0.5)
    clear = gaps / np.sqrt(common * (1.0 - common) * (factors[0] / sizes[0] + factors[1] / sizes[1]))
    out = []
    for place in np.lexsort((hashes, -np.round(clear, 9))):
        if gaps[place] > 0:
            often = any(float(each[place]) * size >= min_count for each, size in zip(least, sizes, strict=True))
            name = named(names[int(hashes[place])], quoted=not left.form.measured) if often else "a rare value"
            before, after = ((float(least[side, place]), float(most[side, place])) for side in (0, 1))
            out.append(_Value(float(clear[place]), float(gaps[place]), f"{name} {bounded(before, after)}"))
    return out


def _bounds(column: ColumnProfile, groups: Floats, hashes: Indices) -> tuple[Floats, Floats]:
    """Return the least and the largest shares that some values can have, which are at most those of their groups."""
    assert column.frequent is not None
    held = dict(zip(column.frequent.hashes.tolist(), column.frequent.counts.tolist(), strict=True))
    least = np.array([held.get(key, 0) for key in hashes.tolist()], dtype=np.float64)
    size = max(column.count, 1)
    most = np.minimum((least + column.frequent.lowered) / size, groups[group_of(hashes.view(np.uint64))])
    return least / size, most
