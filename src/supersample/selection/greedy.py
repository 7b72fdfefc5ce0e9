"""What greedy selections share: the rule of herding, how ties are broken, and prototypes and criticisms over a pool.

Eq. 2 and 3 below are those of the draft Online Prototypes and Criticisms, section 2.1 (Kim, Khanna and Koyejo 2016).
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy import linalg

from supersample._typing import Floats, Indices, Reals

__all__ = ["first_best", "first_settled", "greedy_criticisms", "greedy_prototypes", "herding_gain"]

#: Values whose difference is below this share of the terms that they are sums of are equal up to rounding.
_TIE = 1e-12
#: A candidate whose residual is below this share of k(x, x) is a copy of chosen points, up to rounding.
_COPY = 1e-9
#: Candidates whose gains are updated together.
_REFRESHED = 512


def first_best(values: Floats, scale: float, labels: Indices | None = None) -> int:
    """Return the place of the largest value; of values equal up to rounding, that of the lowest label; -1 if all are -inf.

    scale: the size of the terms that the values are sums and differences of. labels: by default the places themselves.

    >>> first_best(np.array([1.0, 2.0, 2.0 + 1e-15]), 2.0)
    1
    """
    top = float(values.max(initial=-np.inf))
    if top == -np.inf:
        return -1
    tied = values >= top - _TIE * max(scale, abs(top))
    if labels is None:
        return int(np.argmax(tied))
    ties = np.flatnonzero(tied)
    return int(ties[np.argmin(labels[ties])])


def first_settled(values: Floats, scale: float, error: float, exact: Callable[[Indices], Floats]) -> int:
    """Return the place of the largest value as `first_best` does, where values are known within an error only.

    exact: computes the values of some candidates exactly; called for those that the error leaves in question.
    """
    best = first_best(values, scale)
    known = np.empty(0, dtype=np.int64)
    while error > 0.0 and best >= 0:
        close = np.flatnonzero(values >= values[best] - 2.0 * error)
        fresh = np.setdiff1d(close, known)
        if close.size == 1 or fresh.size == 0:
            break
        values[fresh] = exact(fresh)
        known = np.union1d(known, fresh)
        best = first_best(values, scale)
    return best


def herding_gain(z: Floats, sums: Floats, diagonal: Floats, n: int) -> Floats:
    """Return how much each candidate x, as point n + 1, lowers the MMD of equal weights, up to terms that x does not change.

    z(x) - 1/(n+1) sum_m k(x, x_m) - k(x, x) / (2 (n+1)), with `sums` the sum over the n points chosen: high z draws points to
    where the target has mass, the sum keeps them apart.
    """
    share = 1.0 / (n + 1.0)
    values = z - share * sums
    values -= 0.5 * share * diagonal
    return values


def greedy_prototypes(
    column: Callable[[int], Floats],
    means: Floats,
    diagonal: Floats,
    count: int,
    foretold: Callable[[int, Floats, int, Floats], Reals] | None = None,
) -> tuple[Indices, Floats]:
    """Choose prototypes one by one, each raising J most; return them and the sum of their kernel columns.

    J(S) = 2/|S| sum_{j in S} z_j - 1/|S|^2 sum_{j, l in S} k(x_j, x_l) (eq. 2), with z the column means, is -MMD^2 up to a
    constant: this is herding (`herding_gain`). column(i): k(x_j, x_i) for all j. foretold(i, sums, n, taken): the same, given
    the sum of the columns of the n points before and what is added to gains, -inf for points taken. O(N) for each step beside
    the column; ties go to the lowest index.
    """
    sums = np.zeros(means.size)
    taken = np.zeros(means.size)
    chosen = np.empty(count, dtype=np.int64)
    scale = float(diagonal.max())
    for step in range(count):
        values = herding_gain(means, sums, diagonal, step)
        values += taken
        best = first_best(values, 0.5 * (step + 1.0) * scale)  # ties are those of J, which is 2/|S| times the gain
        chosen[step] = best
        sums += column(best) if foretold is None else foretold(best, sums, step, taken)
        taken[best] = -np.inf
    return chosen, sums


def greedy_criticisms(
    block: Callable[[Indices, Indices], Floats],
    witness: Floats,
    diagonal: Floats,
    count: int,
    free: npt.NDArray[np.bool_],
    *,
    diversity: float = 1.0,
    copy: float = _COPY,
) -> Indices:
    """Choose criticisms one by one, each raising sum_{l in C} |w_l| + diversity log det K_CC most (eq. 3, where it is 1).

    The log det rises by log R(l), where R is the residual of k(x_l, x_l) after the chosen points (partial Cholesky). Gains can
    only fall as more points are chosen, so a gain from an earlier step is an upper bound: only the candidates with the largest
    bounds are updated (lazy evaluation, exact here). block(rows, columns): exact kernel values. Copies of chosen points are not
    chosen, so there may be fewer than `count`. A copy has R under `copy` times k(x, x). With diversity 0: the largest |w|.
    """
    size = np.abs(witness)
    if diversity == 0:
        return _largest(size, free, count, float(diagonal.max()))
    size = size / diversity  # the order of the gains is that of |w| / diversity + log det
    with np.errstate(divide="ignore"):
        bounds = np.where(free, size + np.log(diagonal), -np.inf)
    chosen: list[int] = []
    count = min(count, int(free.sum()))
    factor = np.zeros((count, count))
    for step in range(count):
        best, best_gain, best_row = -1, -np.inf, np.empty(0)
        order = np.argsort(-bounds, kind="stable")
        for start in range(0, order.size, _REFRESHED):
            some = order[start : start + _REFRESHED]
            slack = _TIE * max(1.0, abs(best_gain)) if np.isfinite(best_gain) else 0.0
            some = some[bounds[some] >= best_gain - slack]
            some = some[np.isfinite(bounds[some])]
            if some.size == 0:
                break
            rows = _solve(factor[:step, :step], block(some, np.array(chosen, dtype=np.int64)))
            left = diagonal[some] - np.einsum("ij,ij->i", rows, rows)
            with np.errstate(divide="ignore", invalid="ignore"):
                gains = np.where(left > copy * diagonal[some], size[some] + np.log(left), -np.inf)
            bounds[some] = gains
            top = first_best(gains, 1.0, labels=some)
            if top >= 0 and _better(float(gains[top]), int(some[top]), best_gain, best):
                best, best_gain, best_row = int(some[top]), float(gains[top]), np.append(rows[top], np.sqrt(left[top]))
        if best < 0:
            break
        factor[step, : step + 1] = best_row
        chosen.append(best)
        bounds[best] = -np.inf
    return np.array(chosen, dtype=np.int64)


def _largest(values: Floats, free: npt.NDArray[np.bool_], count: int, scale: float) -> Indices:
    """Return the places of the largest free values, largest first."""
    available = free.copy()
    chosen = np.empty(min(count, int(free.sum())), dtype=np.int64)
    for step in range(chosen.size):
        chosen[step] = first_best(np.where(available, values, -np.inf), scale)
        available[chosen[step]] = False
    return chosen


def _solve(factor: Floats, values: Floats) -> Floats:
    """Return rows f with factor f = k for each row k of values."""
    if factor.shape[0] == 0:
        return np.zeros((values.shape[0], 0))
    return np.asarray(linalg.solve_triangular(factor, values.T, lower=True, check_finite=False).T)


def _better(gain: float, index: int, best_gain: float, best: int) -> bool:
    if best < 0:
        return True
    slack = _TIE * max(1.0, abs(best_gain))
    return gain > best_gain + slack or (gain >= best_gain - slack and index < best)
