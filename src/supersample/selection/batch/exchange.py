"""Exchange steps for points with free weights: a greedy choice that is taken back where another candidate is better."""

import numpy as np
from scipy import linalg

from supersample._typing import Floats
from supersample.selection.batch.assemble import Picked
from supersample.selection.batch.candidates import CandidateSpace
from supersample.selection.batch.residual import CLEAR

__all__ = ["exchange"]

#: An exchange must lower MMD^2 by at least this share of it, and by this share of E, which is rounding.
_LEAST, _ROUNDING = 1e-6, 1e-13
_MOST_SWEEPS = 50


class _Chosen:
    """The chosen points with K^-1, their weights, and what they leave of every candidate."""

    def __init__(self, space: CandidateSpace, chosen: Picked) -> None:
        self.space, self.picked = space, chosen
        self.columns = np.array([space.column(row) for row in chosen.points])
        self.z, _ = space.embed(chosen.points)
        self.refresh()

    def refresh(self) -> None:
        """Compute everything again from the points: updates add up rounding errors."""
        rows = self.picked.points
        root = linalg.cholesky(self.space.gram(rows, rows), lower=True, check_finite=False)
        self.inverse = linalg.cho_solve((root, True), np.eye(len(self.picked)), check_finite=False)
        factor = linalg.solve_triangular(root, self.columns, lower=True, check_finite=False)
        self.left = self.space.diagonal - np.einsum("ij,ij->j", factor, factor)
        halves = linalg.solve_triangular(root, self.z, lower=True, check_finite=False)
        self.explained = float(halves @ halves)

    def without(self, place: int) -> tuple[Floats, Floats]:
        """Return what the other points leave of z(x) and k(x, x) for every candidate x. O(N m).

        With u = K^-1 k(points, x), leaving out point i adds u_i^2 / (K^-1)_ii to the residual of k(x, x), and
        u_i w_i / (K^-1)_ii to that of z(x).
        """
        own = float(self.inverse[place, place])
        weights = self.inverse @ self.z
        across = self.inverse[place] @ self.columns
        z = self.space.z - weights @ self.columns + across * (float(weights[place]) / own)
        return z, self.left + across**2 / own

    def put(self, place: int, index: int, left: Floats) -> None:
        """Put a candidate in a place, with `left` the residuals of k(x, x) without that place. O(N m)."""
        others = np.delete(np.arange(len(self.picked)), place)
        row = self.space.row(index)
        column = self.space.column(row)
        own = float(self.inverse[place, place])
        across = self.inverse[others, place]
        inner = self.inverse[np.ix_(others, others)] - np.outer(across, across) / own
        solved = inner @ self.columns[others][:, index]
        rest = float(left[index])
        covariance = column - solved @ self.columns[others]
        self.left = left - covariance**2 / rest
        self.inverse[np.ix_(others, others)] = inner + np.outer(solved, solved) / rest
        self.inverse[place, others] = self.inverse[others, place] = -solved / rest
        self.inverse[place, place] = 1.0 / rest
        self.columns[place], self.z[place] = column, self.space.z[index]
        self.picked.put(self.space, place, index)


def exchange(space: CandidateSpace, chosen: Picked, energy: float) -> None:
    """Exchange points for candidates, one place after the other, while that lowers the MMD.

    In the end each place has the candidate that is best beside all the others. O(N m^2) for each sweep over the places, O(N m)
    memory. Points that earlier ones span, as in a selection to resume, are left as they are, and so are all others then.
    """
    try:
        held = _Chosen(space, chosen)
    except linalg.LinAlgError:
        return
    for _ in range(_MOST_SWEEPS):
        before, indices = held.explained, list(chosen.indices)
        for place in range(len(chosen)):
            _improve(held, place, energy)
        if chosen.indices == indices:
            return
        held.refresh()
        if held.explained - before <= max(_LEAST * (energy - before), _ROUNDING * energy):
            return


def _improve(held: _Chosen, place: int, energy: float) -> None:
    """Put the best candidate in a place, if it is better than the point there."""
    z, left = held.without(place)
    gains = np.where(left > CLEAR * held.space.diagonal, z**2 / np.maximum(left, np.finfo(float).tiny), -np.inf)
    gains[np.delete(held.picked.indices, place)] = -np.inf
    best = int(np.argmax(gains))
    own = float(held.inverse[place, place])
    weight = float(held.inverse[place] @ held.z)
    now = energy - held.explained
    gain = float(gains[best]) - weight**2 / own
    if gain > max(_LEAST * now, _ROUNDING * energy):
        held.put(place, best, left)
        held.explained += gain
