"""Huszar and Duvenaud (2012), *Optimally-Weighted Herding is Bayesian Quadrature*: equations 7 to 23, 36 and 37.

A target is given by z(x) = E k(x, x') at the candidates and its energy E k(x, x').
"""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def objective_7(chosen: list[int], z: Floats, gram: Floats, energy: float) -> float:
    """Return equation 7: energy - 2/N sum_n z(x_n) + 1/N^2 sum_nm k(x_n, x_m)."""
    n = len(chosen)
    return energy - 2.0 / n * sum(z[i] for i in chosen) + sum(gram[i, j] for i in chosen for j in chosen) / n**2


def herding_by_7(z: Floats, gram: Floats, energy: float, m: int) -> list[int]:
    """Return the points of greedy minimisation of equation 7, which is what herding is said to be."""
    chosen: list[int] = []
    for _ in range(m):
        chosen.append(int(np.argmin([objective_7([*chosen, x], z, gram, energy) for x in range(len(z))])))
    return chosen


def herding_by_8(z: Floats, gram: Floats, m: int) -> list[int]:
    """Return the points of equation 8 as printed: argmax 2 z(x) - 1/(n+1) sum_m k(x, x_m)."""
    chosen: list[int] = []
    for n in range(m):
        chosen.append(int(np.argmax([2 * z[x] - sum(gram[x, i] for i in chosen) / (n + 1) for x in range(len(z))])))
    return chosen


def weights_20(chosen: list[int], z: Floats, gram: Floats) -> Floats:
    """Return the weights z' K^-1 of Bayesian quadrature."""
    return np.linalg.inv(gram[np.ix_(chosen, chosen)]) @ z[chosen]


def variance_22(chosen: list[int], z: Floats, gram: Floats, energy: float) -> float:
    """Return the posterior variance of the integral, energy - z' K^-1 z."""
    return energy - float(z[chosen] @ np.linalg.inv(gram[np.ix_(chosen, chosen)]) @ z[chosen])


def sbq(z: Floats, gram: Floats, energy: float, m: int) -> list[int]:
    """Return the points of equation 23: each minimises equation 22 with those before it."""
    chosen: list[int] = []
    for _ in range(m):
        left = [x for x in range(len(z)) if x not in chosen]  # K is singular with a point twice
        chosen.append(left[int(np.argmin([variance_22([*chosen, x], z, gram, energy) for x in left]))])
    return chosen


def posterior_10_11(k_star: Floats, k_star_star: Floats, gram: Floats, f: Floats) -> tuple[Floats, Floats]:
    """Return mean and covariance of f at new points, given k(x*, X), k(x*, x*), k(X, X) and f(X)."""
    inverse = np.linalg.inv(gram)
    return k_star @ inverse @ f, k_star_star - k_star @ inverse @ k_star.T


def incoherency_36(gram: Floats) -> float:
    """Return the largest k(x, x') / sqrt(k(x, x) k(x', x')) over pairs of different points."""
    scale = np.sqrt(np.diag(gram))
    normal = gram / np.outer(scale, scale)
    np.fill_diagonal(normal, -np.inf)
    return float(normal.max())


def guarantee_37(best: float, m: int, gram: Floats) -> float:
    """Return the least s(A_m) that the greedy choice is promised: (1 - 1/e) max s(A) - m epsilon, with epsilon = 4 r."""
    return float((1.0 - np.exp(-1.0)) * best - m * 4.0 * incoherency_36(gram))
