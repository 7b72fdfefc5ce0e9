"""The iterate of Frank-Wolfe: points with positive weights that sum to one, and their products with the candidates."""

from typing import Any

import numpy as np

from supersample._typing import Floats
from supersample.selection.batch.assemble import Picked
from supersample.selection.batch.candidates import CandidateSpace, ExactCandidates
from supersample.selection.batch.continuous import ascend
from supersample.selection.batch.herding import lengths
from supersample.selection.batch.weighting import simplex_weights
from supersample.selection.greedy import first_best

__all__ = ["Atoms"]


class Atoms:
    """nu = sum_i w_i phi(x_i), kept as points, weights, and <nu, phi(x)> for every candidate x.

    Each move changes weights and values, and writes the weights after it into `table`, one row a step.
    """

    def __init__(self, space: CandidateSpace, count: int, *, keep_columns: bool) -> None:
        """Start with no points, and room for `count`."""
        self.space = space
        self.indices: list[int] = []
        self._places: dict[tuple[int, bytes], int] = {}
        self.rows = np.empty((count, space.points.shape[1]))
        self.weights = np.zeros(count)
        self.values: Any = space.zeros()
        self.table: list[Floats] = []
        self._gram = np.zeros((count, count))
        self._z = np.zeros(count)
        self._columns: Any = space.columns(count) if keep_columns else None
        #: The last row looked at, and its column.
        self._seen: tuple[bytes, Floats] | None = None

    @property
    def size(self) -> int:
        """Points so far, those of weight 0 included."""
        return len(self.indices)

    def chosen(self) -> Picked:
        """Return the points in the form that other selections use."""
        chosen = Picked(self.space, None, self.size)
        for index, row in zip(self.indices, self.rows, strict=False):
            chosen.add(self.space, index, row)
        return chosen

    def slopes(self) -> Floats:
        """Return <mu - nu, phi(x_i)> for each point held."""
        n = self.size
        return np.asarray(self._z[:n] - self._gram[:n, :n] @ self.weights[:n])

    def slope(self) -> float:
        """Return <mu - nu, nu>."""
        return float(self.weights[: self.size] @ self.slopes())

    def worst(self) -> int:
        """Return the held point with the smallest slope; of slopes equal up to rounding, as after a line search, the first."""
        held = self.weights[: self.size] > 0
        return first_best(np.where(held, -self.slopes(), -np.inf), self.space.scale)

    def look_at(self, index: int) -> float:
        """Compute the column of a candidate, and z exactly if it was not; return by how much z changed."""
        if not isinstance(self.space, ExactCandidates) or self.space.is_settled(index):
            return 0.0
        row = self.space.row(index)
        self._seen = (row.tobytes(), self.space.column(row))
        return self.space.settle_by(index, self._seen[1])

    def begin_at(self, index: int, *, refine: bool) -> None:
        """Put all weight on one candidate."""
        place, column = self._place(index, refine=refine)
        self.weights[place] = 1.0
        self.values = 1.0 * column
        self.table.append(self.weights[: self.size].copy())

    def towards(self, index: int, *, refine: bool) -> None:
        """Move towards a candidate by line search."""
        place, column = self._place(index, refine=refine)
        nu, across = self._norms(place)
        length = nu - 2.0 * across + float(self._gram[place, place])
        rise = float(self.slopes()[place]) - self.slope()
        self._mix(place, column, _step(rise, length, 1.0))

    def away(self, place: int) -> None:
        """Move away from a point held, at most until its weight is 0."""
        nu, across = self._norms(place)
        length = nu - 2.0 * across + float(self._gram[place, place])
        rise = self.slope() - float(self.slopes()[place])
        weight = float(self.weights[place])
        longest = weight / (1.0 - weight) if weight < 1.0 else np.inf
        step = _step(rise, length, longest)
        self._mix(place, self._column(place), -step)
        if step >= longest:
            self.weights[place] = self.table[-1][place] = 0.0

    def exchange(self, index: int, worst: int, *, refine: bool) -> None:
        """Move weight from a point held to a candidate."""
        place, column = self._place(index, refine=refine)
        length = float(self._gram[place, place] - 2.0 * self._gram[place, worst] + self._gram[worst, worst])
        slopes = self.slopes()
        longest = float(self.weights[worst])
        step = _step(float(slopes[place] - slopes[worst]), length, longest)
        self.values = self.values + step * (column - self._column(worst))
        self.weights[place] += step
        self.weights[worst] = 0.0 if step >= longest else longest - step
        self.table.append(self.weights[: self.size].copy())

    def correct(self, index: int, *, refine: bool) -> None:
        """Add a candidate and find the best weights on the simplex of all points."""
        self._place(index, refine=refine)
        n = self.size
        self.weights[:n] = simplex_weights(self._gram[:n, :n], self._z[:n], self.weights[:n])
        assert self._columns is not None
        self.values = self.space.combined(self.weights[:n], self._columns)
        self.table.append(self.weights[:n].copy())

    def count_up(self, chosen: Picked, past: int) -> None:
        """Add herded points, with one count for each time selected; the first `past` steps all get their last weights."""
        counts = np.zeros(len(chosen))
        for step, (index, row) in enumerate(zip(chosen.indices, chosen.points, strict=True)):
            place = self._places.get((index, row.tobytes()))
            counts[self._append(index, row) if place is None else place] += 1.0
            self.table.append(counts[: self.size] / (step + 1.0))
        self.table[:past] = [self.table[past - 1]] * past
        self.weights[: self.size] = self.table[-1]

    def restore(self, chosen: Picked, weights: Floats, past: int) -> None:
        """Continue from an earlier selection; all its past steps get its final weights."""
        for index, row, weight in zip(chosen.indices, chosen.points, weights, strict=True):
            place = self._append(index, row)
            self.weights[place] = weight
            self.values = self.values + float(weight) * self._column(place)
        self.table.extend(self.weights[: self.size].copy() for _ in range(past))

    def _place(self, index: int, *, refine: bool) -> tuple[int, Any]:
        """Return the place of a candidate among the points, added if new, and its column."""
        row = self._polished(self.space.row(index)) if refine else self.space.row(index)
        place = self._places.get((index, row.tobytes()))
        if place is None:
            place = self._append(index, row)
        return place, self._column(place)

    def _append(self, index: int, row: Floats) -> int:
        place = self.size
        z, diagonal = self._embedded(index, row)
        self.rows[place], self._z[place] = row, z
        across = self.space.gram(self.rows[:place], row[None])[:, 0] if place else np.empty(0)
        self._gram[place, :place] = self._gram[:place, place] = across
        self._gram[place, place] = diagonal
        self.indices.append(index)
        self._places.setdefault((index, row.tobytes()), place)
        if self._columns is not None:
            self._columns = self.space.put_column(self._columns, place, self._column_of(row))
        return place

    def _embedded(self, index: int, row: Floats) -> tuple[float, float]:
        """Return z and k(x, x) of a point; of a candidate of many, z is known by now."""
        space = self.space
        if (
            space.home is None
            and isinstance(space, ExactCandidates)
            and space.error > 0.0
            and np.array_equal(row, space.row(index))
        ):
            space.settle(np.array([index]))
            return float(space.z[index]), float(space.diagonal[index])
        z, diagonal = space.embed(row[None])
        return float(z[0]), float(diagonal[0])

    def _column(self, place: int) -> Any:
        return self._column_of(self.rows[place]) if self._columns is None else self._columns[place, :]

    def _column_of(self, row: Floats) -> Any:
        return self._seen[1] if self._seen is not None and self._seen[0] == row.tobytes() else self.space.column(row)

    def _norms(self, place: int) -> tuple[float, float]:
        """Return |nu|^2 and <nu, phi(x_place)>."""
        n = self.size
        products = self._gram[:n, :n] @ self.weights[:n]
        return float(self.weights[:n] @ products), float(products[place])

    def _mix(self, place: int, column: Any, step: float) -> None:
        """Set nu to (1 - step) nu + step phi(x_place)."""
        self.values = (1.0 - step) * self.values + step * column
        self.weights *= 1.0 - step
        self.weights[place] += step
        self.table.append(self.weights[: self.size].copy())

    def _polished(self, row: Floats) -> Floats:
        def criterion(rows: Floats) -> Floats:
            z, diagonal = self.space.embed(rows)
            if self.size == 0:
                return np.asarray(z - 0.5 * diagonal)
            return np.asarray(z - self.space.gram(rows, self.rows[: self.size]) @ self.weights[: self.size])

        return ascend(criterion, row, lengths(self.space))


def _step(rise: float, length: float, longest: float) -> float:
    """Return the best step along a direction, given the slope on it and its squared length."""
    return longest if length <= 0.0 else min(max(rise / length, 0.0), longest)
