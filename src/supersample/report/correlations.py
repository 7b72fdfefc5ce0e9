"""Which columns go together, in a sample of the rows: only what chance alone would not show."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import chdtri, ndtri
from scipy.stats import rankdata

from supersample._typing import Floats, Indices

__all__ = ["Link", "links_of"]

#: Weaker links say little, even if they are not chance.
WEAKEST = 0.3
#: The probability that independent columns show any link at all, for the whole table.
LEVEL = 1e-3
#: Links of a column that are kept, strongest first.
MOST_LINKS = 3
#: The most frequent value of a column must leave at least this many rows, and this share of them, to the others; a class of
#: labels must have as many rows to count by itself.
_LEAST_ROWS, _LEAST_SHARE = 20, 0.005
#: The most classes of labels.
_MOST_CLASSES = 30

#: One class a row, -1 where a value is missing.
Classes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Link:
    """How strongly a column goes with another: from -1 to 1 by ranks, from 0 to 1 otherwise."""

    name: str
    measure: str
    value: float


def links_of(numbers: Mapping[str, Floats], labels: Mapping[str, Classes]) -> dict[str, tuple[Link, ...]]:
    """Return the strongest links of each column with the others.

    numbers: columns as numbers, NaN where missing; labels: columns as classes. All of the same rows.
    Two columns of numbers: Spearman's rank correlation; labels and numbers: the correlation ratio of ranks, the root of the
    share of their variance between classes; two columns of labels: Cramer's V. Rows where one of the two is missing do not
    count. A link is kept from WEAKEST on, and only beyond what one of all pairs would reach by chance with a probability of
    LEVEL. O(n p^2) for p columns.
    """
    n_rows = next((each.size for each in (*numbers.values(), *labels.values())), 0)
    least = max(_LEAST_ROWS, _LEAST_SHARE * n_rows)
    ranked = {name: _ranks(values) for name, values in numbers.items() if _varies(values, least)}
    classed = {name: joined for name, classes in labels.items() if (joined := _joined(classes, least)).max(initial=-1) > 0}
    size = len(ranked) + len(classed)
    level = LEVEL / max(1, size * (size - 1) // 2)
    found: dict[str, list[Link]] = {}
    for first, second, measure, value in (
        *_by_ranks(ranked, level, least), *_by_ratio(ranked, classed, level), *_by_counts(classed, level),
    ):  # fmt: skip
        found.setdefault(first, []).append(Link(second, measure, value))
        found.setdefault(second, []).append(Link(first, measure, value))
    return {name: tuple(sorted(links, key=lambda link: -abs(link.value))[:MOST_LINKS]) for name, links in found.items()}


_Pairs = list[tuple[str, str, str, float]]


def _varies(values: Floats, least: float) -> bool:
    _, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    return counts.size > 0 and int(counts.sum() - counts.max()) >= least


def _ranks(values: Floats) -> Floats:
    """Return ranks from -1 to 1, NaN where missing; infinite values are the first and the last."""
    ranks = np.full(values.size, np.nan)
    there = ~np.isnan(values)
    ranks[there] = 2.0 * rankdata(values[there]) / (there.sum() + 1.0) - 1.0
    return ranks


def _joined(classes: Classes, least: float) -> Classes:
    """Return classes numbered by size, those with too few rows, or beyond the most frequent, joined into one."""
    there = classes >= 0
    values, places, counts = np.unique(classes[there], return_inverse=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")[: _MOST_CLASSES - 1]
    kept = order[counts[order] >= least]
    number = np.full(values.size, kept.size)
    number[kept] = np.arange(kept.size)
    joined = np.full(classes.size, -1, dtype=np.int64)
    joined[there] = number[places]
    if kept.size and 0 < int((joined == kept.size).sum()) < least:  # too few to be a class
        joined[joined == kept.size] = kept.size - 1
    return joined


def _by_ranks(ranked: Mapping[str, Floats], level: float, least: float) -> _Pairs:
    names = list(ranked)
    if len(names) < 2:
        return []
    ranks = np.column_stack([ranked[name] for name in names])
    there = ~np.isnan(ranks)
    mask, ranks = there.astype(np.float64), np.where(there, ranks, 0.0)
    # Sums over the rows where both columns of a pair have values.
    count, total, squares = mask.T @ mask, ranks.T @ mask, (ranks * ranks).T @ mask
    with np.errstate(invalid="ignore", divide="ignore"):
        covariance = ranks.T @ ranks - total * total.T / count
        variance = squares - total * total / count
        found = covariance / np.sqrt(variance * variance.T)
        noise = -ndtri(level / 2.0) / np.sqrt(count - 1.0)
    found = np.where((count > least) & (variance > 1e-9) & (variance.T > 1e-9), found, 0.0)
    chosen = np.argwhere(np.triu(np.abs(found) >= np.maximum(WEAKEST, np.where(count > 1, noise, np.inf)), 1))
    return [(names[i], names[j], "rank correlation", float(np.clip(found[i, j], -1.0, 1.0))) for i, j in chosen.tolist()]


def _by_ratio(ranked: Mapping[str, Floats], classed: Mapping[str, Classes], level: float) -> _Pairs:
    pairs: _Pairs = []
    for label, classes in classed.items():
        for name, ranks in ranked.items():
            both = (classes >= 0) & ~np.isnan(ranks)
            groups, values = classes[both], ranks[both]
            sizes = np.bincount(groups, minlength=1)
            if np.count_nonzero(sizes) < 2:
                continue
            values = values - values.mean()
            sums, whole = np.bincount(groups, values), float(values @ values)
            between = float(np.divide(sums * sums, sizes, out=np.zeros(sums.size), where=sizes > 0).sum())
            noise = float(chdtri(np.count_nonzero(sizes) - 1, level)) / values.size
            if whole > 1e-9 and between / whole >= max(WEAKEST**2, noise):
                pairs.append((label, name, "correlation ratio", min(1.0, between / whole) ** 0.5))
    return pairs


def _by_counts(classed: Mapping[str, Classes], level: float) -> _Pairs:
    names = list(classed)
    pairs: _Pairs = []
    for place, first in enumerate(names):
        for second in names[place + 1 :]:
            counts = _crossed(classed[first], classed[second])
            degrees = min(counts.shape) - 1
            if degrees < 1:
                continue
            total = counts.sum()
            expected = counts.sum(axis=1)[:, None] * counts.sum(axis=0) / total
            square = float(((counts - expected) ** 2 / expected).sum()) / total
            noise = float(chdtri((counts.shape[0] - 1) * (counts.shape[1] - 1), level)) / total
            if square / degrees >= max(WEAKEST**2, noise / degrees):
                pairs.append((first, second, "Cramer's V", min(1.0, square / degrees) ** 0.5))
    return pairs


def _crossed(first: Classes, second: Classes) -> Indices:
    """Count the rows of each pair of classes, without classes that have none."""
    both = (first >= 0) & (second >= 0)
    width = int(second.max(initial=0)) + 1
    height = int(first.max(initial=0)) + 1
    counts = np.bincount(first[both] * width + second[both], minlength=height * width).reshape(height, width)
    return counts[counts.any(axis=1)][:, counts.any(axis=0)]
