"""Weights under which the prototypes have the means and shares of all rows, as the profile counted them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from supersample._threads import one_blas_thread
from supersample._typing import Floats, Mask
from supersample.errors import InputError
from supersample.profile import ColumnProfile, floats_of, texts_of
from supersample.selection.pool import kernel_block
from supersample.selection.stream import background
from supersample.selection.stream.calibration import Target, target_of
from supersample.selection.stream.prototype_weights import nearest_weights, pulls_of
from supersample.summary.depending import drained
from supersample.summary.state import Running

__all__ = ["profile_weights"]

#: Shares of the rows below the quantiles that are to be kept; those that make up fewer than so many prototypes are left out.
_QUANTILES, _LEAST_PROTOTYPES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99), 5
#: How much the square of one statistic's error, in its standard deviations, counts beside MMD^2; the first that fits is taken.
_STRENGTHS = (1.0, 0.1, 0.01, 0.001)
#: The share that is kept of what the weights without statistics gain in MMD^2 over equal ones: the sample is not all rows.
_KEPT = 0.25
#: Rows of the background that stand for the data.
_TARGET = 10_000
#: Prototypes, at most: their Gram matrix is held, and solved with for each strength.
_MOST = 2000


@one_blas_thread()
def profile_weights(state: Running, rows: pa.Table, points: Floats, nearest: Floats) -> Floats:
    """Return weights under which the rows have the means, and shares below quantiles and of values, of the profile.

    They minimise w^T K w - 2 w^T z + s |C^T w|^2 as `prototype_weights` does without the last term. C holds the statistics of
    each row less those of all rows, in standard deviations; so its term is that of a kernel whose mean embedding is known
    exactly. `nearest` are the weights for s = 0. s is the largest for which a quarter is left of what these gain over equal
    weights in MMD^2 to the sample; the weights then go towards those of the next larger s as far as that allows. With nothing
    left they were up to 2% farther from all rows than equal weights. O(M^2 (M + columns)).
    """
    if len(rows) > _MOST:
        raise InputError(
            f"weighting='profile' takes at most {_MOST:,} prototypes, got {len(rows):,}; use weighting='simplex', which is for "
            "any number"
        )
    statistics = _statistics(_counted(state), rows)
    if statistics.shape[1] == 0:
        return nearest
    kernel, target = state.stream.fixed_plan.kernel, _target(state)
    gram, pulls = kernel_block(kernel, points, points), pulls_of(kernel, points, target)

    def square(left: Floats, right: Floats) -> float:
        return float(left @ gram @ right)

    def gain(weights: Floats) -> float:
        """Return the MMD^2 of equal weights less that of these."""
        equal = np.full(len(weights), 1.0 / len(weights))
        return square(equal, equal) - square(weights, weights) + 2.0 * float((weights - equal) @ pulls[0])

    kept = _KEPT * max(gain(nearest), 0.0)
    beyond, within = None, nearest
    for strength in _STRENGTHS:
        found = nearest_weights(gram + strength * (statistics @ statistics.T), pulls)
        if gain(found) >= kept:
            within = found
            break
        beyond = found
    if beyond is None:
        return within
    # MMD^2 along the way is a square in the part that is gone; `within` keeps enough of the gain and `beyond` does not.
    way = beyond - within
    bend, slope = square(way, way), square(within, way) - float(way @ pulls[0])
    if not bend > 0.0:  # they are the same
        return within
    part = (np.sqrt(max(slope**2 + bend * max(gain(within) - kept, 0.0), 0.0)) - slope) / bend
    return np.asarray(within + min(max(part, 0.0), 1.0) * way)


def _counted(state: Running) -> Sequence[ColumnProfile]:
    """Return the profiles of the columns in the kernel; refuse a summary whose profile is not that of what is matched."""
    asked, why = state.request, ""
    if state.profile is None:
        why = "the summary was saved by an earlier version and has no profile"
    elif state.stream.aim is not None:
        why = "the prototypes are to match a target, and the profile is that of the source"
    elif asked.weight is not None or asked.settings.half_life is not None:
        why = "the rows have weights, and the profile counts all rows alike"
    if why:
        raise InputError(f"weighting='profile' cannot be used: {why}; use weighting='simplex'")
    assert state.profile is not None
    used = {block.name for block in state.encoding.blocks}
    return [each for each in state.profile.columns if each.name in used and each.role in ("number", "boolean", "category")]


def _target(state: Running) -> Target:
    """Return rows of the background under weights with which they have the mean features of all rows."""
    held = drained(state)
    held = replace(held, background=background.settled(held.background, held.settings.n_background))
    whole, sums, _ = held.matched
    return target_of(whole.first(_TARGET), held.fixed_plan.feature_map, sums.mean())


def _statistics(columns: Sequence[ColumnProfile], rows: pa.Table) -> Floats:
    """Return a column for each statistic: its value for each row less the mean over all rows, divided by its deviation."""
    found = [each for column in columns for each in _of_column(column, rows.column(column.name).combine_chunks())]
    return np.array(found, dtype=np.float64).reshape(len(found), len(rows)).T


def _of_column(column: ColumnProfile, values: pa.Array) -> Iterator[Floats]:
    if column.role == "category":
        yield from _shares_of_values(column, values)
        return
    floats = floats_of(column, values)
    yield from _of_share(np.isnan(floats), (column.missing + column.unreadable) / column.rows)
    there, mean, sd = np.isfinite(floats), column.mean, column.sd
    if mean is None or sd is None or not sd > 0:
        return
    yield np.where(there, (np.where(there, floats, mean) - mean) / sd, 0.0)
    if column.role == "number":
        for below, share in _below_quantiles(column, floats[there]):
            for statistic in _of_share(below, share, len(floats)):
                whole = np.zeros(len(floats))
                whole[there] = statistic
                yield whole


def _shares_of_values(column: ColumnProfile, values: pa.Array) -> Iterator[Floats]:
    """Yield the statistics of the shares of single values, where these were counted exactly, and of missing ones."""
    texts = np.array([*texts_of(column, values), None], dtype=object)[:-1]
    yield from _of_share(texts == None, (column.missing + column.unreadable) / column.rows)  # noqa: E711
    held = column.frequent
    if held is None or not held.exact:
        return
    for value, count in zip(held.values, held.counts.tolist(), strict=True):
        yield from _of_share(texts == column.form.value_text(value), count / column.rows)


def _below_quantiles(column: ColumnProfile, floats: Floats) -> Iterator[tuple[Mask, float]]:
    """Yield which of some finite values lie in the histogram up to the bucket of a quantile, and the share of all that do."""
    assert column.numbers is not None
    histogram = column.numbers.histogram
    ends = np.cumsum(histogram.counts)
    places = np.unique(np.searchsorted(ends, np.array(_QUANTILES) * ends[-1]))
    keys = np.array([histogram.key_of(value) for value in floats.tolist()], dtype=np.int64)
    for place in places.tolist():
        yield keys <= histogram.keys[place], float(ends[place] / ends[-1])


def _of_share(chosen: Mask, share: float, size: int | None = None) -> Iterator[Floats]:
    """Yield the statistic of a share of the rows; nothing if it, or the rest, is that of too few prototypes."""
    if min(share, 1.0 - share) * (len(chosen) if size is None else size) >= _LEAST_PROTOTYPES:
        yield np.asarray((chosen - share) / np.sqrt(share * (1.0 - share)))
