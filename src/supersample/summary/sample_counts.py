"""Counts of a background sample whose rows count by their shares: of rows with weights, profiles of all rows are of no use."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from scipy import special

from supersample import profile as profiles
from supersample._typing import Floats, Mask
from supersample.profile import Profile
from supersample.records.encoding.values import coded, numbers_of
from supersample.selection.stream.lifecycle import Stream
from supersample.summary.depending import ColumnFactors
from supersample.summary.state import Running, column_plans

__all__ = ["SampleCounts", "sample_counts"]

#: A row of an average share is counted so many times; shares are rounded to a part of it.
_TIMES = 16
#: Values of rows that weigh too little to be counted are counted once, up to so many.
_LIGHT = 16
#: Rows that are counted at a time.
_ROWS = 4096
_TINY = 1e-300


class SampleCounts(NamedTuple):
    """A sample as a profile in which each row was counted as often as its share says.

    size: how often in all. most: how often a single row at most.
    """

    profile: Profile
    shares: Floats
    size: int
    most: int

    @property
    def variance(self) -> float:
        """How many times larger variances of means are than those of so many independent rows, whatever the values (Kish)."""
        return self.size * float(self.shares @ self.shares)

    def designs(self, name: str, role: str, values: pa.Array) -> ColumnFactors:
        """Return how many times larger the variances of a column's means still are since weights go with its values, or 1.

        values: of the rows of the sample. The means are those of normal scores and of their squares, of which tests of numbers
        consist, and of missing values; those of single values are taken together by the scale of Satterthwaite's rule, as by
        Rao and Scott (1981), which is the larger the more they differ.
        """
        if np.ptp(self.shares) == 0:
            return ColumnFactors()
        numbers = numbers_of(values).astype(np.float64) if role == "number" else None
        gone = np.asarray(values.is_null().to_numpy(zero_copy_only=False)) | (False if numbers is None else np.isnan(numbers))
        own = far = 0.0
        if self.profile[name].frequent is not None:
            own = self._of_values(values, ~gone)
        if numbers is not None:
            scores = _normal_scores(numbers[~gone], self.shares[~gone])
            own, far = max(own, self._of_mean(scores, ~gone)), self._of_mean(scores**2, ~gone)
        absent = self._of_mean(gone.astype(np.float64), np.ones(gone.size, dtype=bool))
        usual = self.variance
        return ColumnFactors(max(own / usual, 1.0), max(absent / usual, 1.0), max(own / usual, far / usual, 1.0))

    def _of_mean(self, scores: Floats, there: Mask) -> float:
        shares = self.shares[there]
        away = (scores - shares @ scores / max(float(shares.sum()), _TINY)) ** 2
        return self.size * float(shares**2 @ away) / max(float(shares @ away), _TINY)

    def _of_values(self, values: pa.Array, there: Mask) -> float:
        codes = coded(values.filter(pa.array(there)))
        places, own = codes.indices.to_numpy(zero_copy_only=False), self.shares[there]
        total = max(float(own.sum()), _TINY)
        parts = np.bincount(places, own, len(codes.dictionary)).astype(np.float64) / total
        squares = np.bincount(places, own**2, len(codes.dictionary))
        if parts.size < 2:
            return 0.0
        # Of the indicator of each value, relative to that of an independent sample.
        spread = (squares * (1.0 - 2.0 * parts) + parts**2 * squares.sum()) / total
        each = self.size * spread / np.maximum(parts * (1.0 - parts), _TINY)
        return float((1.0 - parts) @ each**2) / max(float((1.0 - parts) @ each), _TINY)


def sample_counts(state: Running, held: Stream) -> SampleCounts:
    """Return the counts of the background sample of a state, given its drained stream."""
    shares = held.background.shares()
    tested = {block.name for block in (*state.encoding.blocks, *state.encoding.aside)}
    tested |= {note.name for note in state.encoding.notes if note.kind == "constant"}
    # Without their roles: groups of values are for all rows, and the design effect of a single group is not known.
    plans = [plan._replace(role="any") for plan in column_plans(state.encoding, state.schema) if plan.name in tested]
    rows = state.kept.at(held.background.rows.positions).select([plan.name for plan in plans])
    times = 1 if np.ptp(shares) == 0 else _TIMES
    ends = np.floor(np.cumsum(shares) * times * shares.size + 0.5).astype(np.int64)
    repeats = np.diff(ends, prepend=0)
    places = np.repeat(np.arange(shares.size), repeats)
    found = profiles.init(plans)
    for start in range(0, places.size, _ROWS):
        for batch in rows.take(pa.array(places[start : start + _ROWS])).combine_chunks().to_batches():
            found = profiles.update(found, batch)
    found = _with_light_values(found, rows.filter(pa.array(repeats == 0)))
    return SampleCounts(found, shares, int(ends[-1]), int(repeats.max(initial=1)))


def _with_light_values(found: Profile, light: pa.Table) -> Profile:
    """Count the values of rows that weigh too little to be counted once, if they are few: they are there, and not gone."""
    columns = []
    for column in found.columns if light.num_rows else ():
        counted = column.frequent is not None and column.frequent.exact
        values = light[column.name].unique() if counted else ()
        if 0 < len(values) <= _LIGHT:
            (column,) = profiles.update(Profile((column,)), pa.record_batch({column.name: values})).columns
        columns.append(column)
    return Profile(tuple(columns)) if light.num_rows else found


def _normal_scores(values: Floats, shares: Floats) -> Floats:
    """Return the normal quantiles of the weighted mid-ranks."""
    if values.size == 0:
        return values
    _, places = np.unique(values, return_inverse=True)
    mass = np.bincount(places, shares)
    ranks = (np.cumsum(mass) - 0.5 * mass) / float(mass.sum())
    return np.asarray(special.ndtri(np.clip(ranks, _TINY, 1.0))[places])
