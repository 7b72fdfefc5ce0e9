"""Exchange steps for points with free weights: a greedy choice is taken back where another candidate is better."""

import numpy as np
from scipy import linalg

from supersample._compiled import rotation
from supersample._typing import Floats
from supersample.selection.batch.assemble import Picked
from supersample.selection.batch.candidates import CandidateSpace
from supersample.selection.batch.herding import herd_points
from supersample.selection.batch.residual import CLEAR
from supersample.selection.result import Selection

__all__ = ["exchange", "exchanged"]

#: An exchange must lower MMD^2 by at least this share of it, and by this share of E, which is rounding.
_LEAST, _ROUNDING = 1e-6, 1e-13
_MOST_SWEEPS = 50


class _Circle:
    """The chosen points in a circle: K = L L^T of them in an order that begins with any place.

    root: L. factor: L^-1 k(points, x) for every candidate x. halves: L^-1 z.
    """

    def __init__(self, space: CandidateSpace, rows: Floats) -> None:
        self.space = space
        columns = np.array([space.column(row) for row in rows])
        self.root = np.ascontiguousarray(linalg.cholesky(space.gram(rows, rows), lower=True, check_finite=False))
        self.factor = np.ascontiguousarray(linalg.solve_triangular(self.root, columns, lower=True, check_finite=False))
        self.halves = linalg.solve_triangular(self.root, space.embed(rows)[0], lower=True, check_finite=False)

    @property
    def explained(self) -> float:
        """E - MMD^2 of the points with their best weights."""
        return float(self.halves @ self.halves)

    def turn(self) -> tuple[Floats, Floats]:
        """Move the first point to the end; return what the others leave of z(x) and k(x, x) for every candidate. O(N m)."""
        rotation.first_to_last(self.root, self.factor, self.halves)
        others = self.factor[:-1]
        return self.space.z - self.halves[:-1] @ others, self.space.diagonal - np.einsum("ij,ij->j", others, others)

    def replace_last(self, index: int, z: float, left: float) -> None:
        """Put a candidate in the place of the last point, given what the others leave of it. O(N m)."""
        length = np.sqrt(left)
        self.root[-1, :-1], self.root[-1, -1] = self.factor[:-1, index], length
        self.factor[-1] = (self.space.column(self.space.row(index)) - self.root[-1, :-1] @ self.factor[:-1]) / length
        self.halves[-1] = z / length


def exchanged(space: CandidateSpace, greedy: Picked, resume: Selection | None, energy: float) -> Picked:
    """Return the better of two sets after exchange: the greedy points, and as many of herding.

    Exchange ends at a set that no single change improves, which depends on where it starts. Points of equal weights cover the
    target more evenly, and are often the better start.
    """
    if len(greedy) == 0:
        return greedy
    herded = Picked(space, resume, len(greedy))
    herd_points(space, herded, len(greedy), replace=False, refine=False)
    first, second = exchange(space, greedy, energy), exchange(space, herded, energy)
    return herded if second > first + _worth(energy, first) else greedy


def exchange(space: CandidateSpace, chosen: Picked, energy: float) -> float:
    """Exchange points for candidates, one place after the other, while that lowers the MMD; return E - MMD^2.

    In the end each place has the candidate that is best beside all the others. O(N m^2) for each sweep over the places, O(N m)
    memory. Where some points span others, all are left as they are, and 0 is returned.
    """
    try:
        circle = _Circle(space, chosen.points)
    except linalg.LinAlgError:
        return 0.0
    for _ in range(_MOST_SWEEPS):
        before, indices = circle.explained, list(chosen.indices)
        for place in range(len(chosen)):
            _improve(circle, chosen, place, energy)
        if chosen.indices == indices or circle.explained - before <= _worth(energy, before):
            break
    return circle.explained


def _improve(circle: _Circle, chosen: Picked, place: int, energy: float) -> None:
    """Put the best candidate in a place, which is first in the circle, if it is better than the point there."""
    space, explained = circle.space, circle.explained
    z, left = circle.turn()
    gains = np.where(left > CLEAR * space.diagonal, z**2 / np.maximum(left, np.finfo(float).tiny), -np.inf)
    gains[np.delete(chosen.indices, place)] = -np.inf
    best = int(np.argmax(gains))
    if float(gains[best]) - float(circle.halves[-1]) ** 2 > _worth(energy, explained):
        circle.replace_last(best, float(z[best]), float(left[best]))
        chosen.put(space, place, best)


def _worth(energy: float, explained: float) -> float:
    """Return how much an exchange must lower MMD^2."""
    return max(_LEAST * (energy - explained), _ROUNDING * energy)
