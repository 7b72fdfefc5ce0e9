"""Classes of rows, column by column: values, ranges of numbers, groups of texts; what "rows like this one" means in words.

They are formed from the rows of two summaries together. Their counts are those of all rows where the profiles know them.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from supersample._typing import Floats, Indices, Mask
from supersample.profile import ColumnProfile
from supersample.profile.histogram import Histogram
from supersample.records.encoding.column_type import ColumnType
from supersample.records.encoding.hashed_category import HashedCategory
from supersample.records.encoding.number import Number
from supersample.records.encoding.one_hot import Category
from supersample.records.encoding.values import coded, numbers_of, plain_storage

__all__ = ["Classes", "Counts", "classes_of"]

#: Numbers of so few different values are classes by themselves; of others, those that this share of the rows has.
_FEW, _OFTEN = 10, 0.05
#: Where numbers are cut into ranges, as shares of both sides together; a cut may be rounded by this part of the nearer tail.
_CUTS, _ROUNDING = (0.002, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.998), 0.2
#: Cuts of the wide ranges, in which two columns are looked at together.
_WIDE = (0.25, 0.75)
#: Groups of texts or vectors, rows that they are formed from, steps of the search for them, and its seed.
_GROUPS, _GROUPED, _STEPS, _SEED = 12, 2_000, 12, 20160611
#: Characters of a value that are shown.
_LONGEST = 40
#: Buckets that lost no more bits than this hold one number each, for all that is shown of it.
_EXACT_LEVEL = 12
_DAY = 86_400.0


class Counts(NamedTuple):
    """How many rows of each class there are on both sides, of how many rows; exact: for which classes they are no estimates."""

    classes: tuple[Floats, Floats]
    rows: tuple[float, float]
    exact: Mask


class Classes(NamedTuple):
    """The classes of one column.

    codes: the class of each row of both sides. words: what a class is, in words that follow the column's name. counts: of all
    rows, None if only the samples tell. ranges: how many of the first classes are no ranges of numbers, and how many are no
    more: those between are in order. wide: the same with fewer, wider ranges of numbers: the new class of each one, and words.
    """

    name: str
    codes: tuple[Indices, Indices]
    words: tuple[str, ...]
    counts: Counts | None
    ranges: tuple[int, int]
    wide: tuple[Indices, tuple[str, ...]]

    @property
    def has_ranges(self) -> bool:
        """Whether any of them is a range of numbers."""
        return self.ranges[0] < self.ranges[1]

    def wider(self) -> "Classes":
        """Return these with wider ranges of numbers, by which two columns can be looked at together."""
        places, words = self.wide
        codes = places[self.codes[0]], places[self.codes[1]]
        return self._replace(codes=codes, words=words, counts=None, ranges=(self.ranges[0], len(words) - 1))

    def similarity(self, side: int, row: int) -> Floats:
        """Return how similar each row of a side is to one of them: 1 in the same class, 1/2 in the range beside it, else 0."""
        codes = self.codes[side]
        ordered = (codes >= self.ranges[0]) & (codes < self.ranges[1])
        beside = ordered & ordered[row] & (np.abs(codes - codes[row]) == 1)
        return np.asarray((codes == codes[row]) + 0.5 * beside)


class _Kinds(NamedTuple):
    """Classes of the values that are there: a code for each row, words, and counts of both sides, if all rows were counted.

    first_range: where the ranges of numbers begin, which are the last classes. wide: as in `Classes`, None if it is the same.
    """

    codes: Indices
    words: list[str]
    counts: tuple[Floats, Floats] | None
    first_range: int
    wide: tuple[Indices, list[str]] | None = None


def classes_of(
    block: ColumnType,
    sides: tuple[pa.Array, pa.Array],
    shares: tuple[Floats, Floats],
    profiles: tuple[ColumnProfile, ColumnProfile] | None,
) -> Classes:
    """Divide the values of a column into classes; missing values are one of them.

    sides: the values of the rows held. shares: the share of its side that each row represents. profiles: of all rows, None if
    they may not be used, as of rows with weights.
    """
    values = pa.chunked_array([plain_storage(each) for each in sides]).combine_chunks()
    values = values if isinstance(values, pa.Array) else values.chunk(0)
    # One row of weights for each side: their sums do not depend on which comes first, to the last digit.
    weights = np.zeros((2, len(values)))
    weights[0, : shares[0].size], weights[1, shares[0].size :] = shares
    if isinstance(block, Number) and not pa.types.is_boolean(values.type):
        numbers = numbers_of(values).astype(np.float64)
        there = ~np.isnan(numbers)
        kinds = _of_numbers(numbers[there], weights[:, there], block.kind == "time", profiles)
    else:
        there = ~values.is_null().to_numpy(zero_copy_only=False)
        present = values.drop_null()
        if isinstance(block, HashedCategory | Category | Number):
            kinds = _of_values(present, profiles)
        else:
            kinds = _of_coordinates(block, present)
    codes = np.full(there.size, len(kinds.words), dtype=np.int64)
    codes[there] = kinds.codes
    first, second = np.split(codes, [shares[0].size])
    counts = None
    if kinds.counts is not None and profiles is not None:
        gone = [float(each.missing + each.unreadable) for each in profiles]
        both = [np.append(each, missing) for each, missing in zip(kinds.counts, gone, strict=True)]
        exact = np.append(np.full(len(kinds.words), all(each.frequent and each.frequent.exact for each in profiles)), True)
        counts = Counts((both[0], both[1]), (float(profiles[0].rows), float(profiles[1].rows)), exact)
    ranges = kinds.first_range, len(kinds.words)
    places, words = (np.arange(len(kinds.words)), kinds.words) if kinds.wide is None else kinds.wide
    wide = np.append(places, len(words)), (*words, "missing")
    return Classes(block.name, (first, second), (*kinds.words, "missing"), counts, ranges, wide)


def _of_values(values: pa.Array, profiles: tuple[ColumnProfile, ColumnProfile] | None) -> _Kinds:
    codes = coded(values)
    known = codes.dictionary.to_pylist()
    words = [_shown(each) for each in known]
    counted = None
    if profiles is not None and all(each.frequent is not None and each.frequent.exact for each in profiles):
        tallies = [_tally(each) for each in profiles]
        keys = [each if isinstance(each, str) else float(each) for each in known]
        counted = np.array([[tally.get(key, 0.0) for key in keys] for tally in tallies], dtype=np.float64).reshape(2, -1)
    places = codes.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return _Kinds(places, words, None if counted is None else (counted[0], counted[1]), len(words))


def _shown(value: object) -> str:
    """Write a value: texts in quotes, and cut if they are long."""
    if isinstance(value, str):
        return repr(value if len(value) <= _LONGEST else f"{value[:_LONGEST]}...")
    return str(value).lower() if isinstance(value, bool) else str(value)


def _tally(profile: ColumnProfile) -> dict[str | float, float]:
    """Return how often each value occurs: texts by themselves, others as numbers."""
    assert profile.frequent is not None
    form, held = profile.form, profile.frequent
    keys = [each if form.family == "text" else form.number(each) for each in held.values]
    return dict(zip(keys, held.counts.astype(np.float64).tolist(), strict=False))


def _of_numbers(values: Floats, weights: Floats, timed: bool, profiles: tuple[ColumnProfile, ColumnProfile] | None) -> _Kinds:
    """Take frequent numbers by themselves and the others in ranges."""
    known, places = np.unique(values, return_inverse=True)
    sums = [np.bincount(places, weights=each, minlength=known.size) for each in weights]
    mass: Floats = np.asarray(sums[0] + sums[1], dtype=np.float64)
    mass /= max(float(mass.sum()), float(np.finfo(np.float64).tiny))
    single = np.ones(known.size, dtype=bool) if known.size <= _FEW else mass >= _OFTEN
    alone, others = known[single], known[~single]
    cuts = _cuts(others, mass[~single], timed, _CUTS) if others.size else None
    words = _clock(known) if timed else _number
    named = [words(float(each)) for each in alone] + ([] if cuts is None else _ranges(cuts, alone, words))
    codes = np.empty(known.size, dtype=np.int64)
    codes[single] = np.arange(alone.size)
    wide = None
    if cuts is not None:
        codes[~single] = alone.size + np.searchsorted(cuts, others, side="right")
        apart = _cuts(others, mass[~single], timed, _WIDE)
        lows = alone.size + np.searchsorted(apart, np.append(-np.inf, cuts), side="right")
        wide = np.append(np.arange(alone.size), lows), named[: alone.size] + _ranges(apart, alone, words)
    counted = None if profiles is None else [_counted(each, alone, cuts) for each in profiles]
    known_of_all = counted is not None and counted[0] is not None and counted[1] is not None
    of_all = (counted[0], counted[1]) if known_of_all else None  # type: ignore[index]
    return _Kinds(codes[places], named, of_all, alone.size, wide)  # type: ignore[arg-type]


def _cuts(values: Floats, mass: Floats, timed: bool, shares: Sequence[float]) -> Floats:
    """Return where to cut sorted values into ranges: near some quantiles, and in wide gaps, at numbers of few digits."""
    ends = np.cumsum(mass) / mass.sum()
    found = _in_gaps(values, ends, timed)
    for share in shares:
        exact = float(values[min(int(np.searchsorted(ends, share)), values.size - 1)])
        found.append(_rounded(exact, values, mass, _ROUNDING * min(share, 1.0 - share), timed))
    inside = np.unique(np.array(found))
    return np.asarray(inside[np.isfinite(inside) & (inside > values[0]) & (inside <= values[-1])])


def _in_gaps(values: Floats, ends: Floats, timed: bool) -> list[float]:
    """Return a cut in each tail that has a gap as wide as the middle half of the values, in the innermost such gap.

    Values far from all others are a kind of their own, as those in another unit.
    """
    low, high = (int(np.searchsorted(ends, share)) for share in (0.25, 0.75))
    with np.errstate(over="ignore", invalid="ignore"):
        gaps = np.diff(values)
        wide = np.flatnonzero((gaps > values[high] - values[low]) & np.isfinite(gaps))
    out = []
    for place in (*wide[wide < low][-1:].tolist(), *wide[wide >= high][:1].tolist()):
        start, end = float(values[place]), float(values[place + 1])
        cuts = (float(f"{start + 0.5 * (end - start):.{digits}g}") for digits in range(1, 17))
        out.append(float(np.ceil(end)) if timed else next((each for each in cuts if start < each <= end), end))
    return out


def _rounded(exact: float, values: Floats, mass: Floats, slack: float, timed: bool) -> float:
    """Return a number of few digits with at most `slack` of the mass between it and the exact one; a time in whole seconds."""
    if not np.isfinite(exact):
        return exact
    if timed:
        return float(np.rint(exact))
    for digits in range(2, 17):
        cut = float(f"{exact:.{digits}g}")
        low, high = np.searchsorted(values, sorted((cut, exact)))
        if float(mass[low:high].sum()) <= slack:
            return cut
    return exact


def _ranges(cuts: Floats, alone: Floats, words: Callable[[float], str]) -> list[str]:
    """Put the ranges between cuts into words, and the values in them that are classes by themselves."""
    edges = np.concatenate([[-np.inf], cuts, [np.inf]])
    out = []
    for low, high in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        if np.isinf(low) and np.isinf(high):
            text = "of another value"
        elif np.isinf(low):
            text = f"below {words(high)}"
        else:
            text = f"from {words(low)} on" if np.isinf(high) else f"from {words(low)} to below {words(high)}"
        inner = [words(each) for each in alone.tolist() if low <= each < high]
        out.append(f"{text}, but not {' or '.join(inner)}" if inner else text)
    return out


def _counted(profile: ColumnProfile, alone: Floats, cuts: Floats | None) -> Floats | None:
    """Return how many rows have each of some values, and lie in each range between the cuts; None if that is not known."""
    if profile.numbers is None or profile.frequent is None:
        return None
    n_ranges = 0 if cuts is None else cuts.size + 1
    if profile.frequent.exact:
        tally = _tally(profile)
        single = np.array([tally.pop(each, 0.0) for each in alone.tolist()])
        others = np.array([each for each in tally if isinstance(each, float)])
        places = np.searchsorted(np.empty(0) if cuts is None else cuts, others, side="right")
        ranges = np.bincount(places, weights=np.array(list(tally.values())), minlength=n_ranges)
        return np.concatenate([single, ranges[:n_ranges]])
    if alone.size or cuts is None:
        return None
    below = np.array([_below(profile.numbers.histogram, each) for each in cuts.tolist()])
    ends = np.concatenate([[0.0], below, [float(profile.numbers.histogram.counts.sum())]])
    counts = np.diff(ends)
    counts[0] += profile.numbers.lowest
    counts[-1] += profile.numbers.highest
    return counts


def _below(histogram: Histogram, cut: float) -> float:
    """Return about how many values lie below a number: those of its own bucket are taken to be spread evenly."""
    lows, highs = histogram.edges()
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        parts = np.clip((cut - lows) / (highs - lows), 0.0, 1.0)
    whole = (histogram.level <= _EXACT_LEVEL) | ~np.isfinite(parts)
    return float(histogram.counts @ np.where(whole, lows < cut, parts))


def _number(value: float) -> str:
    """Write a number with all its digits, and without a point that it does not need."""
    return repr(value + 0.0).removesuffix(".0")


def _clock(seconds: Floats) -> Callable[[float], str]:
    """Return how to write times that are given in seconds: with their day, unless all are times of one."""
    of_day = bool(((seconds >= 0.0) & (seconds < _DAY)).all())

    def written(value: float) -> str:
        moment = str(np.datetime64(round(value), "s")) if np.isfinite(value) else str(value)
        return moment.partition("T")[2] if of_day else moment

    return written


def _of_coordinates(block: ColumnType, values: pa.Array) -> _Kinds:
    """Group texts, vectors and other values by their coordinates in the kernel (k-means)."""
    points = np.zeros((len(values), block.width))
    if len(values):
        block.fill(values, points)
    known, places = np.unique(points, axis=0, return_inverse=True)
    rng = np.random.default_rng(_SEED)
    chosen = known[rng.permutation(len(known))[:_GROUPED]]
    centres = chosen[: min(_GROUPS, len(known))].copy()
    for _ in range(_STEPS):
        nearest = _nearest(chosen, centres)
        for group in range(len(centres)):
            mine = chosen[nearest == group]
            if len(mine):
                centres[group] = mine.mean(axis=0)
    codes = _nearest(known, centres)[places.ravel()] if len(known) else np.empty(0, dtype=np.int64)
    return _Kinds(codes, ["like this one's"] * len(centres), None, len(centres))


def _nearest(points: Floats, centres: Floats) -> Indices:
    """Return the place of the centre nearest to each point."""
    distances = (centres * centres).sum(axis=1) - 2.0 * (points @ centres.T)
    return np.asarray(np.argmin(distances, axis=1))
