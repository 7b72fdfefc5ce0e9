"""Points at which to evaluate a noisy function: greedy quadrature with noise on the diagonal."""

import numpy as np

from supersample._compiled import residual
from supersample._typing import Floats, Indices
from supersample.selection.batch.candidates import ExactCandidates

__all__ = ["noisy_points"]

_TIE = 1e-10


def noisy_points(space: ExactCandidates, count: int, noise: float, first: Indices, *, by_variance: bool) -> Indices:
    """Return `count` candidates: first the given ones, then each that lowers the variance of the integral most.

    With noise of variance `noise` beside k, a call at x lowers E - z^T (K + noise I)^-1 z by zr(x)^2 / (R(x) + noise), where
    R(x) and zr(x) are the residuals of k(x, x) and of z(x) after the earlier calls. R + noise is never 0: a point may be called
    again, and every call lowers the variance. by_variance=False takes the largest |zr(x)|.

    Partial Cholesky of K + noise I, as in `residual`: O(N n) for call n, O(N n) memory.
    """
    factor, product = np.empty((count, space.size)), np.zeros(space.size)
    left, z, floor = space.diagonal + noise, space.z.copy(), np.zeros(space.size)
    chosen = np.empty(count, dtype=np.int64)
    for n in range(count):
        place = int(first[n]) if n < first.size else int(residual.best(z, left, floor, by_variance, _TIE))
        chosen[n] = place
        column: Floats = space.column(space.row(place))
        np.dot(factor[:n, place].copy(), factor[:n], out=product)
        length = float(np.sqrt(left[place]))
        residual.subtract(product, length, float(z[place]) / length, column, z, left)
        factor[n] = column
    return chosen
