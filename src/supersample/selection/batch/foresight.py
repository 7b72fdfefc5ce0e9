"""Columns of the candidates that herding is about to choose, computed together as one matrix product.

A choice needs the column of the candidate that was chosen before it. One column at a time is a product of a matrix and a
vector, whose time is that of reading all candidates. So the next choices are foretold: a sketch of the candidates in few
dimensions says which of them will lead, and products of the leaders say which is chosen. One product of two matrices then gives
the columns of all that were foretold. The choices themselves are made from whole columns: what was foretold wrongly costs time
and changes nothing.
"""

import numpy as np

from supersample._typing import Floats, Indices, Reals
from supersample.selection.batch.columns import Columns, Sketch
from supersample.selection.greedy import herding_gain

__all__ = ["Foresight"]

#: Columns at a time, and the number of values that they hold.
_MOST, _LEAST, _VALUES = 16, 4, 1 << 22
#: Candidates that lead by the sketch, among which the next choices are guessed.
_LEADERS = 48


class Foresight:
    """Columns for herding, some computed early: O(N) memory for each of at most 16, and 64 N for the sketch."""

    def __init__(self, columns: Columns, z: Floats, diagonal: Floats, *, replace: bool) -> None:
        """Sketch the candidates. replace: one may be chosen again."""
        self.z, self.diagonal, self.replace = z, diagonal, replace
        self._columns, self._sketch = columns, Sketch(columns)
        self._block = min(_MOST, max(_LEAST, _VALUES // z.size))
        self._held: dict[int, Reals] = {}

    def column(self, index: int, sums: Floats, n: int, taken: Floats, most: int) -> Reals:
        """Return the column of a candidate, chosen as point n + 1 after n points whose columns have these sums.

        taken: added to all gains, -inf for candidates that may not be chosen. most: points to be chosen in all.
        """
        if index not in self._held:
            chosen = self._foretold(index, sums, n, taken, min(self._block, most - n))
            self._held = dict(zip(chosen, self._columns.of(np.array(chosen)), strict=True))
        return self._held[index]

    def _foretold(self, index: int, sums: Floats, n: int, taken: Floats, count: int) -> list[int]:
        """Return a candidate and those that are likely to be chosen after it."""
        chosen, rough, free = [index], sums.copy(), taken.copy()
        for step in range(1, count):
            rough += self._sketch.column(chosen[-1])
            if not self.replace:
                free[chosen[-1]] = -np.inf
            leaders = self._leaders(herding_gain(self.z, rough, self.diagonal, n + step) + free)
            exact = sums[leaders] + self._columns.between(leaders, np.array(chosen)).sum(axis=1)
            values = herding_gain(self.z[leaders], exact, self.diagonal[leaders], n + step) + free[leaders]
            best = int(leaders[np.argmax(values)])
            if best in chosen:
                break
            chosen.append(best)
        return chosen

    def _leaders(self, values: Floats) -> Indices:
        few = min(_LEADERS, values.size)
        return np.argpartition(values, values.size - few)[values.size - few :]
