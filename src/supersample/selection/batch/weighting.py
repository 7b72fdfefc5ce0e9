"""Weights for chosen points: equal, free (Bayesian quadrature), or on the simplex."""

from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import linalg

from supersample._typing import Floats, Indices
from supersample._validation import choose

__all__ = ["WEIGHTINGS", "Weighed", "Weighting", "free_weights", "path_weights", "simplex_weights", "weigh", "weights_of"]

Mask = npt.NDArray[np.bool_]
Weighting = Literal["uniform", "free", "simplex"]
WEIGHTINGS = ("uniform", "free", "simplex")

#: A point whose residual to the span of the others is below this share of k(x, x) gets no weight: it would be noise.
SPANNED = 1e-10
_SLACK = 1e-12


class Weighed(NamedTuple):
    """The weights of all points, MMD^2 of the first one, two, ... points, and the points spanned by earlier ones."""

    weights: Floats
    squares: Floats
    spanned: Indices


def weigh(kind: str, gram: Floats, z: Floats, energy: float) -> Weighed:
    """Return the weights of one kind, and MMD^2 of the first one, two, ... points each with their own weights of that kind.

    gram, z: kernel values between the points, and E k(x, point). O(m^3); for the simplex O(m^4), one quadratic program for each
    size.
    """
    kind = choose(kind, "weighting", WEIGHTINGS)
    sizes = np.arange(1, z.size + 1)
    if kind == "uniform":
        # The sum of each leading square block is twice that of its lower triangle, minus the diagonal.
        rows = np.tril(gram).sum(axis=1)
        within = np.cumsum(2.0 * rows - np.diag(gram)) / sizes**2
        squares = energy - 2.0 * np.cumsum(z) / sizes + within
        return Weighed(np.full(z.size, 1.0 / z.size), np.asarray(squares), np.empty(0, dtype=np.int64))
    if kind == "free":
        weights, explained, spanned = free_weights(gram, z)
        return Weighed(weights, np.asarray(energy - np.cumsum(explained)), spanned)
    table = path_weights(kind, gram, z)
    squares = energy - 2.0 * table @ z + np.einsum("ij,jk,ik->i", table, gram, table, optimize=True)
    return Weighed(table[-1], np.asarray(squares), np.empty(0, dtype=np.int64))


def weights_of(kind: str, gram: Floats, z: Floats) -> Floats:
    """Return the weights of one kind of all points, without those of the first one, two, ... points. O(m^3)."""
    if kind == "uniform":
        return np.full(z.size, 1.0 / z.size)
    return free_weights(gram, z)[0] if kind == "free" else simplex_weights(gram, z)


def path_weights(kind: str, gram: Floats, z: Floats) -> Floats:
    """Return the weights of the first one, two, ... points as the rows of a lower triangle. O(m^2) memory."""
    size = z.size
    table = np.zeros((size, size))
    if kind == "uniform":
        return np.tril(np.ones((size, size))) / np.arange(1, size + 1)[:, None]
    if kind == "free":
        factor, kept, _ = _factor(gram, z)
        halves = linalg.solve_triangular(factor, z[kept], lower=True, check_finite=False) if kept.size else z[kept]
        for step in range(size):
            count = int(np.searchsorted(kept, step, side="right"))
            part = factor[:count, :count]
            table[step, kept[:count]] = linalg.solve_triangular(part, halves[:count], lower=True, trans=1, check_finite=False)
        return table
    weights = np.ones(1)
    for step in range(size):
        weights = simplex_weights(gram[: step + 1, : step + 1], z[: step + 1], weights)
        table[step, : step + 1] = weights
        weights = np.append(weights, 0.0)
    return table


def free_weights(gram: Floats, z: Floats) -> tuple[Floats, Floats, Indices]:
    """Return w = K^-1 z, the decrease of MMD^2 by each point, and which points are spanned by earlier ones.

    The weights are Huszar and Duvenaud 2012, eq. 20. By Cholesky, K = L L^T: with y = L^-1 z, point j lowers MMD^2 by y_j^2
    (eq. 22 there) and w = L^-T y; no inverse is formed. Points spanned by earlier ones, such as copies, get weight 0, so K may
    be singular.
    """
    factor, kept, spanned = _factor(gram, z)
    weights, explained = np.zeros(z.size), np.zeros(z.size)
    if kept.size:
        halves = linalg.solve_triangular(factor, z[kept], lower=True, check_finite=False)
        weights[kept] = linalg.solve_triangular(factor, halves, lower=True, trans=1, check_finite=False)
        explained[kept] = halves**2
    return weights, explained, spanned


def _factor(gram: Floats, z: Floats) -> tuple[Floats, Indices, Indices]:
    """Return L of the points that earlier ones do not span, the places of these points, and those of the others."""
    diagonal = np.diag(gram)
    everything = np.arange(z.size)
    try:
        whole = linalg.cholesky(gram, lower=True, check_finite=False)
        if bool((np.diag(whole) ** 2 > SPANNED * diagonal).all()):
            return np.asarray(whole), everything, np.empty(0, dtype=np.int64)
    except linalg.LinAlgError:
        pass
    factor = np.zeros_like(gram)
    kept: list[int] = []
    for point in range(z.size):
        count = len(kept)
        row = np.empty(0)
        if count:
            row = linalg.solve_triangular(factor[:count, :count], gram[kept, point], lower=True, check_finite=False)
        left = float(diagonal[point] - row @ row)
        if left > SPANNED * float(diagonal[point]):
            factor[count, :count] = row
            factor[count, count] = np.sqrt(left)
            kept.append(point)
    count = len(kept)
    chosen = np.array(kept, dtype=np.int64)
    return factor[:count, :count], chosen, np.setdiff1d(everything, chosen)


def simplex_weights(gram: Floats, z: Floats, start: Floats | None = None) -> Floats:
    """Return the weights that minimise w^T K w - 2 z^T w over w >= 0 with sum 1.

    By the active-set method of Lawson and Hanson (1974) with the sum as a constraint: solve on the support, step back to the
    boundary where a weight would be negative, add the point with the steepest gradient. Finite, and exact up to rounding, even
    if K is singular, provided that z are products of one vector with the features of K, as embeddings are.
    """
    # Adding a constant to the kernel changes nothing, since weights sum to one. K is then singular only if a point lies in the
    # affine hull of the others, and such a point has no gradient to enter by.
    constant = float(np.diag(gram).max(initial=0.0))
    gram, z = gram + constant, z + constant
    # The positive part of the free weights has nearly the right support, so few points are added or dropped.
    weights = np.maximum(free_weights(gram, z)[0], 0.0) if start is None else start.copy()
    if not bool((weights > 0).any()):
        weights[int(np.argmin(0.5 * np.diag(gram) - z))] = 1.0
    weights /= weights.sum()
    support = weights > 0
    barred = np.zeros(z.size, dtype=np.bool_)
    slack = _SLACK * float(np.diag(gram).max(initial=0.0))
    for _ in range(10 * z.size + 10):
        weights, support = _descend(gram, z, weights, support)
        gradient = gram @ weights - z
        level = float(weights @ gradient)
        open_to = ~support & ~barred & (gradient < level - slack)
        if not bool(open_to.any()):
            break
        entering = int(np.argmin(np.where(open_to, gradient, np.inf)))
        if _is_spanned(gram, support, entering):
            barred[entering] = True
            continue
        support[entering] = True
    return weights


def _descend(gram: Floats, z: Floats, weights: Floats, support: Mask) -> tuple[Floats, Mask]:
    """Go to the best weights on the support, dropping points whose weight would turn negative on the way."""
    while True:
        places = np.flatnonzero(support)
        best = _on_support(gram[np.ix_(places, places)], z[places])
        now = weights[places]
        negative = best <= 0
        if not bool(negative.any()):
            moved = np.zeros_like(weights)
            moved[places] = best / best.sum()
            return moved, support
        # If a new point (weight 0) would leave at once, the step is 0 and only that point is dropped.
        share = float(np.min(now[negative] / (now[negative] - best[negative])))
        now = np.maximum(now + share * (best - now), 0.0)
        leaving = negative & (now <= _border(now))
        if not bool(leaving.any()):
            leaving = negative & (now == now[negative].min())
        now[leaving] = 0.0
        support = support.copy()
        support[places[leaving]] = False
        weights = np.zeros_like(weights)
        weights[places] = now / now.sum()


def _border(weights: Floats) -> float:
    """Return the weight below which a point is on the boundary, up to rounding."""
    return 1e-15 * float(weights.max())


def _on_support(gram: Floats, z: Floats) -> Floats:
    """Return K^-1 z moved along K^-1 1 until the weights sum to one."""
    factor = linalg.cho_factor(gram, lower=True, check_finite=False)
    both = linalg.cho_solve(factor, np.column_stack([z, np.ones(z.size)]), check_finite=False)
    return np.asarray(both[:, 0] + both[:, 1] * (1.0 - both[:, 0].sum()) / both[:, 1].sum())


def _is_spanned(gram: Floats, support: Mask, entering: int) -> bool:
    places = np.flatnonzero(support)
    factor = linalg.cholesky(gram[np.ix_(places, places)], lower=True, check_finite=False)
    row = linalg.solve_triangular(factor, gram[places, entering], lower=True, check_finite=False)
    own = float(gram[entering, entering])
    return bool(own - row @ row <= SPANNED * own)
