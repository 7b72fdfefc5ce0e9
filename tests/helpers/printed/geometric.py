"""Khanna, Hodgkinson and Mahoney (2021), *Geometric Rates of Convergence*: Algorithms 1 and 2, and the bounds of the theorems.

A target is given by z(x) = E k(x, x') at the candidates and its energy E k(x, x').
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Method = Literal["WKH", "SBQ"]


def g_8(chosen: Sequence[int], w: Floats, z: Floats, gram: Floats, energy: float) -> float:
    """Return equation 8: |mu - sum_i w_i phi(x_i)|^2."""
    s = list(chosen)
    return float(energy - 2.0 * w @ z[s] + w @ gram[np.ix_(s, s)] @ w)


def weights(chosen: Sequence[int], z: Floats, gram: Floats) -> Floats:
    """Return K^-1 z, step 5 of Algorithm 1; by least squares where K is singular."""
    s = list(chosen)
    return np.linalg.lstsq(gram[np.ix_(s, s)], z[s], rcond=None)[0]


def algorithm_1(
    method: Method, domain: Sequence[int], m: int, z: Floats, gram: Floats, energy: float
) -> tuple[list[int], Floats]:
    """Return points and weights: equation 5 as printed for WKH, equation 7 for SBQ, each with all weights K^-1 z afterwards."""
    chosen: list[int] = []
    w = np.zeros(0)
    for n in range(m):
        left = [x for x in domain if x not in chosen]
        if method == "WKH":
            criterion = [n / (n + 1) * float(gram[x, chosen] @ w) - 2.0 * z[x] for x in left]
        else:
            criterion = [g_8([*chosen, x], weights([*chosen, x], z, gram), z, gram, energy) for x in left]
        chosen.append(left[int(np.argmin(criterion))])
        w = weights(chosen, z, gram)
    return chosen, w


def algorithm_2(
    method: Method, parts: Sequence[Sequence[int]], m: int, z: Floats, gram: Floats, energy: float
) -> tuple[list[int], Floats, list[list[int]]]:
    """Return the best of s + 1 choices with its weights, and all of them: those of the parts, and that from their union."""
    choices = [algorithm_1(method, each, m, z, gram, energy) for each in parts]
    union = sorted({x for chosen, _ in choices for x in chosen})
    choices.append(algorithm_1(method, union, m, z, gram, energy))
    best = int(np.argmin([g_8(chosen, w, z, gram, energy) for chosen, w in choices]))
    return *choices[best], [chosen for chosen, _ in choices]


def constants(atoms: Sequence[int], gram: Floats) -> tuple[float, float]:
    """Return m_omega and M_Omega of Assumption 1 for these atoms: extreme eigenvalues of their kernel matrix."""
    values = np.linalg.eigvalsh(gram[np.ix_(list(atoms), list(atoms))])
    return float(values[0]), float(values[-1])


def theorem_1(steps: int, r: int, least: float, most: float, best: float, energy: float) -> float:
    """Return (1 - epsilon) min g(T_r) + epsilon |mu|^2 with the epsilon of s = r M/m log(1/epsilon) steps."""
    epsilon = float(np.exp(-steps * least / (r * most)))
    return (1.0 - epsilon) * best + epsilon * energy


def theorem_2(steps: int, r: int, least: float, most: float, energy: float, epsilon: float = 0.0) -> float:
    """Return exp(-i m / (r M)) g(empty, 0), plus 2 epsilon for a target that is epsilon-close to r atoms (section 4.1)."""
    return float(np.exp(-steps * least / (r * most))) * energy + 2.0 * epsilon


def fisher_kernel(scores: Floats, information: Floats) -> Floats:
    """Return f_i' I^-1 f_j for the rows of `scores`."""
    return scores @ np.linalg.inv(information) @ scores.T
