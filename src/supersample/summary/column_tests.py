"""What changed in one column between two summaries, by the profiles of all their rows.

Each question about a column (missing values, shares of values, location, spread, shape, tails) has a p-value of its own and a
share of the column's level. The column's p-value is the smallest of them, each divided by its share.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from supersample._typing import Floats, Indices
from supersample.discrepancy.count_tests import Factors, compare_ordered, compare_shares, compare_values, expected_enough
from supersample.profile import ColumnProfile
from supersample.profile.histogram import aligned, counts_at
from supersample.profile.numbers import value_counts
from supersample.records.encoding.values import coded, numbers_of
from supersample.summary.change_words import change_of_value, named, pair, percents, short
from supersample.summary.depending import ColumnFactors
from supersample.summary.group_changes import by_groups, change_of_groups
from supersample.summary.value_shares import change_of_one_value, replaced_share

__all__ = ["Finding", "Verdict", "by_counts", "findings", "verdict_of", "words_of_samples"]

#: Parts of the level of a column. Location is what most people ask for; the others are found by their size.
_LOCATION, _SPREAD, _REST = 4.0, 2.0, 1.0
#: Values that are named at most, and standard errors by which a second one must have changed.
_NAMED, _CLEAR = 2, 3.0
#: Numbers of so few different values are compared value by value, and by their location.
_FEW = 10
#: A ratio of standard deviations nearer to 1 than this is not worth a word.
_SAME = 0.005
#: A tail may be cut in words where shares differ by this part of the clearest difference, in standard errors.
_ALMOST = 0.95
#: A value is named where the difference of its share is more than this part of the largest difference of two shares.
_MOSTLY = 0.5
#: Words for two columns of no common value, and for changes of values that are not counted.
_NONE_IN_COMMON = "no value in common"
_SAMPLED = {"text": "its texts", "vector": "its vectors"}
#: The density of a difference of two normal numbers at 0: shares move by so much for each standard deviation of it.
_DENSITY, _TINY = 0.4, 1e-300
#: Below this p-value it says nothing which of two changes has the smaller one: a large shift moves every score.
_NO_DOUBT = 1e-12


class Finding(NamedTuple):
    """The answer to one question: its p-value, its weight, the largest difference of two shares, and the change in words.

    follows: whether it changes with location and spread too, so that it is told only if it is the clearest.
    """

    pvalue: float
    weight: float
    difference: float
    words: str
    follows: bool = False


class Verdict(NamedTuple):
    """All answers about a column together: a p-value, the largest difference of two shares, and the questions that count.

    told: the p-value of each question worth a word, divided by its share of the column's level, and its words; the smallest
    first, and of those beyond all doubt in the order of the questions: location, spread, shape.
    """

    pvalue: float
    difference: float
    told: tuple[tuple[float, str], ...]


def verdict_of(found: Sequence[Finding], at_least: float) -> Verdict:
    """Combine the answers by Bonferroni's rule; answers about differences smaller than `at_least` count for nothing."""
    total = sum(each.weight for each in found)
    answers = [
        (min(1.0, each.pvalue * total / each.weight), each.words, each.follows) for each in found if each.difference >= at_least
    ]
    answers.sort(key=lambda each: max(each[0], _NO_DOUBT))
    told = [(pvalue, words) for place, (pvalue, words, follows) in enumerate(answers) if place == 0 or not follows]
    largest = max((each.difference for each in found), default=0.0)
    return Verdict(min((each[0] for each in answers), default=1.0), largest, tuple(told))


def findings(
    left: ColumnProfile, right: ColumnProfile, role: str, *, told: Sequence[ColumnProfile], sampled: Finding, min_count: int,
    factors: Sequence[ColumnFactors],
) -> Iterator[Finding]:  # fmt: skip
    """Yield the answers about a column, from the profiles of both sides.

    factors: of the variances of means, on both sides, where rows depend on each other. sampled: the answer from samples of both
    sides, which is used for values that are not counted. told: the profiles of all rows, which say means and spreads in words:
    `left` and `right` themselves, unless these are of samples. min_count: values that are rarer on both sides are not named.
    """
    values, absent = (factors[0].values, factors[1].values), (factors[0].missing, factors[1].missing)
    spreads = factors[0].spread, factors[1].spread
    for kind, counts in (("missing", (left.missing, right.missing)), ("unreadable", (left.unreadable, right.unreadable))):
        if any(counts):
            shares = _share(counts[0], left.rows), _share(counts[1], right.rows)
            pvalue = compare_shares(counts[0], left.rows, counts[1], right.rows, absent)
            yield Finding(pvalue, _REST, abs(shares[1] - shares[0]), f"{kind} {percents(*shares)}")
    if not by_counts(left, right, role):
        grouped = by_groups(left, right, role)
        of_all = change_of_groups(left, right, min_count, values) if grouped else sampled
        yield Finding(of_all.pvalue, _LOCATION, of_all.difference, of_all.words)
    elif role == "number" and _few(left, right):
        yield _of_values(left, right, min_count, values)
        yield from (each for each in _of_numbers(left, right, told, min_count, values, spreads) if each.weight == _LOCATION)
    elif role == "number":
        yield from _of_numbers(left, right, told, min_count, values, spreads)
    else:
        yield _of_values(left, right, min_count, values)


def by_counts(left: ColumnProfile, right: ColumnProfile, role: str) -> bool:
    """Return whether the values of a column are compared by the counts of their profiles, not by samples."""
    if role == "number":
        measured = left.numbers is not None and right.numbers is not None and left.centre == right.centre
        return measured or _few(left, right)
    return role in ("category", "boolean", "constant") and _exact(left, right)


def words_of_samples(
    role: str, sides: Sequence[pa.Array], shares: Sequence[Floats], min_count: int, mark: str = ""
) -> str:  # fmt: skip
    """Say what changed most in a column by two samples with weights: missing values, the mean, or the share of a value.

    min_count: values that are rarer in both samples are not named. mark: follows numbers, where they are not those of all rows.
    """
    numbers = [numbers_of(each).astype(np.float64) if role == "number" else np.zeros(len(each)) for each in sides]
    gone = [each.is_null().to_numpy(zero_copy_only=False) | np.isnan(own) for each, own in zip(sides, numbers, strict=True)]
    gaps = [float(share @ absent) for share, absent in zip(shares, gone, strict=True)]
    told = [(abs(gaps[1] - gaps[0]), f"missing {percents(*gaps)}")]
    there = [np.where(absent, 0.0, share) for absent, share in zip(gone, shares, strict=True)]
    there = [each / max(float(each.sum()), _TINY) for each in there]
    if role == "number":
        means = [_weighted(share, each) for share, each in zip(there, numbers, strict=True)]
        both = zip(there, numbers, means, strict=True)
        with np.errstate(over="ignore"):
            spread = math.sqrt(sum(_weighted(share, (each - mean) ** 2) for share, each, mean in both))
        if means[0] != means[1] and spread > 0:
            told.append((_DENSITY * abs(means[1] - means[0]) / spread, f"mean {pair(*means)}"))
    elif role in ("category", "boolean", "constant"):
        codes = coded(pa.chunked_array(sides).combine_chunks())
        each_place = np.split(codes.indices.fill_null(0).to_numpy(zero_copy_only=False), [len(sides[0])])
        before, after = (np.bincount(each, own, len(codes.dictionary)) for each, own in zip(each_place, there, strict=True))
        place = int(np.argmax(np.abs(after - before)))
        known = max(int((each == place).sum()) for each in each_place) >= min_count
        name = named(str(codes.dictionary[place]), quoted=role == "category") if known else None
        change = change_of_value(name, float(before[place]), float(after[place]))
        told.append((float(np.abs(after - before)[place]), change))
    largest, words = max(told)
    return words + mark if largest > 0 else _SAMPLED.get(role, "its values")


def _weighted(shares: Floats, values: Floats) -> float:
    """Return the weighted mean of the finite values."""
    finite = np.isfinite(values)
    return float(shares[finite] @ values[finite]) / max(float(shares[finite].sum()), _TINY)


def _of_values(left: ColumnProfile, right: ColumnProfile, min_count: int, factors: Factors) -> Finding:
    assert left.frequent is not None and right.frequent is not None  # noqa: PT018
    hashes = np.union1d(left.frequent.hashes, right.frequent.hashes)
    counts = [counts_at(each.frequent.hashes, each.frequent.counts, hashes) for each in (left, right) if each.frequent]
    names = {
        key: named(each.form.value_text(value), quoted=not each.form.measured)
        for each in (left, right)
        if each.frequent
        for key, value in zip(each.frequent.hashes.tolist(), each.frequent.values, strict=False)
    }
    sizes = [max(int(each.sum()), 1) for each in counts]
    shares = [each / size for each, size in zip(counts, sizes, strict=True)]
    gaps, common = shares[1] - shares[0], (counts[0] + counts[1]) / sum(sizes)
    clear = np.abs(gaps) / np.sqrt(
        np.maximum(common * (1.0 - common), 1e-300) * (factors[0] / sizes[0] + factors[1] / sizes[1])
    )
    clear[~expected_enough(counts[0], counts[1])] = 0.0
    # Of two values, the rarer one says it all.
    order = np.lexsort((common, -np.round(clear, 9)))[: _NAMED if hashes.size > 2 else 1]
    said = [
        change_of_value(
            names.get(int(hashes[place])) if max(each[place] for each in counts) >= min_count else None,
            *(float(each[place]) for each in shares),
        )
        for rank, place in enumerate(order)
        if clear[place] > (0.0 if rank == 0 else _CLEAR)
    ]
    pvalue = compare_values(counts[0], counts[1], factors)
    replaced = replaced_share((counts[0], counts[1]), factors)
    words = _NONE_IN_COMMON if replaced == 1.0 else ", ".join(said) or "rare values"
    return Finding(pvalue, _LOCATION, max(float(np.abs(gaps).max(initial=0.0)), replaced), words)


def _of_numbers(
    left: ColumnProfile,
    right: ColumnProfile,
    of_all: Sequence[ColumnProfile],
    min_count: int,
    factors: Factors,
    spreads: Factors,
) -> Iterator[Finding]:
    counts, lows, highs = _buckets(left, right)
    sizes = [max(int(each.sum()), 1) for each in counts]
    if min(each.sum() for each in counts) == 0:
        return
    moved, found = compare_ordered(*counts, factors), compare_ordered(*counts, spreads)
    apart = np.cumsum(counts[0]) / sizes[0] - np.cumsum(counts[1]) / sizes[1]
    in_range = float(np.ptp(np.append(apart, 0.0)))  # of any range, be it of one value
    of_value, value = change_of_one_value(left, right, min_count)
    replaced = replaced_share(counts, factors) if _exact(left, right) else 0.0
    distance = max(in_range, of_value, replaced)
    told = value if of_value > _MOSTLY * distance else ""
    none = _NONE_IN_COMMON if replaced == 1.0 else ""
    yield Finding(moved.location, _LOCATION, distance, _moved(of_all[0], of_all[1], moved.moves))
    yield Finding(found.spread, _SPREAD, distance, _widened(of_all[0], of_all[1], found.widens))
    yield Finding(found.shape, _REST, distance, none or told or "the shape of its distribution", follows=not told)
    with np.errstate(invalid="ignore"):
        gaps = np.append(np.nan_to_num(lows[1:] - highs[:-1]), 0.0)
    below = _end_of_tail(counts[0], counts[1], gaps, found.low)
    above = _end_of_tail(counts[0][::-1], counts[1][::-1], np.roll(gaps[::-1], -1), counts[0].size - 1 - found.high)
    low = [float(each[: below + 1].sum() / size) for each, size in zip(counts, sizes, strict=True)]
    high = [float(each[-above - 1 :].sum() / size) for each, size in zip(counts, sizes, strict=True)]
    last = short(float(highs[below]), float(lows[min(below + 1, lows.size - 1)]))
    first = short(float(lows[-above - 1]), float(highs[max(highs.size - above - 2, 0)]))
    apart_by = [max(abs(each[1] - each[0]), replaced if none else 0.0) for each in (low, high)]
    yield Finding(found.low_tail, _REST, apart_by[0], none or f"values up to {last}: {percents(*low)}", True)
    yield Finding(found.high_tail, _REST, apart_by[1], none or f"values from {first} on: {percents(*high)}", True)


def _end_of_tail(left: Indices, right: Indices, gaps: Floats, first: int) -> int:
    """Return where the lower tail of two samples is cut in words: at a place or later, where their shares differ most clearly.

    The tail that is tested ends where both together have so many rows, be it amid those that changed. Of places where the
    shares differ almost as clearly, it is the one with the widest gap after it (`gaps`).
    """
    ends = np.cumsum(left), np.cumsum(right)
    gap = ends[1] / max(int(ends[1][-1]), 1) - ends[0] / max(int(ends[0][-1]), 1)
    common = (ends[0] + ends[1]) / max(int(ends[0][-1] + ends[1][-1]), 1)
    clear = np.sign(gap[first]) * gap / np.sqrt(np.maximum(common * (1.0 - common), _TINY))
    clear[:first] = clear[common > max(0.5, float(common[first]))] = -np.inf
    near = np.flatnonzero(clear >= _ALMOST * clear.max())
    return int(near[np.argmax(gaps[near])]) if clear.max() > 0.0 else first


def _moved(left: ColumnProfile, right: ColumnProfile, sign: float) -> str:
    """Say by how much a column moved: by its mean if that moved the same way, else by its median."""
    for name, values in (
        ("mean", (left.mean, right.mean)),
        ("median", (left.quantile(0.5), right.quantile(0.5))),
    ):
        before, after = values
        if before is not None and after is not None and (after - before) * sign > 0:
            return f"{name} {pair(before, after)}"
    return "lower values" if sign < 0 else "higher values"


def _widened(left: ColumnProfile, right: ColumnProfile, sign: float) -> str:
    """Say by how much a column spread: by its standard deviation if that grew the same way, else by its quartiles."""
    middle = [_interquartile(each) for each in (left, right)]
    for name, before, after in (("spread", left.sd, right.sd), ("middle half", middle[0], middle[1])):
        if before and after and (after / before - 1.0) * sign > _SAME:
            return f"{name} x {after / before:.3g}"
    return "a narrower spread" if sign < 0 else "a wider spread"


def _interquartile(column: ColumnProfile) -> float | None:
    ends = column.quantile(0.25), column.quantile(0.75)
    return None if ends[0] is None or ends[1] is None or not math.isfinite(ends[1] - ends[0]) else ends[1] - ends[0]


def _buckets(left: ColumnProfile, right: ColumnProfile) -> tuple[tuple[Indices, Indices], Floats, Floats]:
    """Return counts of both sides for values or buckets in increasing order, and their least and largest values."""
    if _exact(left, right):
        sides = [value_counts(each.frequent, each.form) for each in (left, right) if each.frequent is not None]
        values = np.union1d(sides[0][0], sides[1][0])
        return (counts_at(*sides[0], values), counts_at(*sides[1], values)), values, values
    assert left.numbers is not None and right.numbers is not None  # noqa: PT018
    both = aligned(left.numbers.histogram, right.numbers.histogram)
    first, second = (
        np.concatenate([[numbers.lowest], each.counts, [numbers.highest]])
        for numbers, each in zip((left.numbers, right.numbers), both, strict=True)
    )
    lows, highs = (np.concatenate([[-np.inf], each, [np.inf]]) for each in both[0].edges())
    return (first, second), lows, highs


def _exact(left: ColumnProfile, right: ColumnProfile) -> bool:
    return all(each.frequent is not None and each.frequent.exact for each in (left, right))


def _few(left: ColumnProfile, right: ColumnProfile) -> bool:
    """Return whether the numbers of a column are so few that each of them means something."""
    return _exact(left, right) and max(each.distinct or 0 for each in (left, right)) <= _FEW


def _share(count: int, rows: int) -> float:
    return count / rows if rows else 0.0
