"""The guarantee of greedy selection with free weights: how far it can be from the best points that there are."""

from typing import NamedTuple

import numpy as np

from supersample._typing import Floats, Points, PointsLike
from supersample._validation import check_points
from supersample.errors import InputError
from supersample.kernels import Kernel
from supersample.measures import Empirical
from supersample.selection.batch.candidates import TargetLike, as_measure
from supersample.selection.batch.weighting import free_weights

__all__ = ["GreedyBound", "greedy_bound"]

#: k(x, x) is constant where it varies by less than this share.
_CONSTANT = 1e-9


class GreedyBound(NamedTuple):
    """What Theorem 1 of Khanna, Hodgkinson and Mahoney 2021 promises for a selection, beside given atoms.

    mmd: the bound on the MMD with the first one, two, ... points. atoms: the MMD of the r atoms with their best weights, 0 if
    the target is a sum of them (Theorem 2). least, most: the extreme eigenvalues of the kernel matrix of atoms and points, the
    constants m_omega and M_Omega of the theorems.
    """

    mmd: Floats
    atoms: float
    least: float
    most: float


def greedy_bound(points: Points, kernel: Kernel, atoms: PointsLike, target: TargetLike) -> GreedyBound:
    """Return the bound for points in the order of their selection. O((m + r)^3) after z and E of the target."""
    rows = np.ascontiguousarray(points, dtype=np.float64)
    others = np.unique(np.ascontiguousarray(check_points(atoms, "atoms", width=rows.shape[1]), dtype=np.float64), axis=0)
    if target is None:
        raise InputError("target must be the measure or the points that the selection was made for, got None")
    measure = as_measure(target, rows, "points")
    if not (isinstance(measure, Empirical) or measure.is_exact(kernel)):
        raise InputError(
            f"target must have a closed form for {kernel!r}, or be points, got {type(measure).__name__}; pass draws from it"
        )
    measure = measure.by_points() if isinstance(measure, Empirical) else measure
    union = np.unique(np.vstack([others, rows]), axis=0)
    diagonal = kernel.diagonal(union)
    if float(np.ptp(diagonal)) > _CONSTANT * float(diagonal.max()):
        raise InputError(
            f"bound needs a kernel with constant k(x, x), got {kernel!r} with {diagonal.min():.3g} to {diagonal.max():.3g}; "
            f"select with ss.kernels.Normalized(kernel)"
        )
    values = np.linalg.eigvalsh(kernel(union))
    least, most = max(float(values[0]), 0.0), float(values[-1])
    energy = measure.energy(kernel)
    _, explained, _ = free_weights(kernel(others), measure.mean_embedding(kernel, others))
    square = max(energy - float(explained.sum()), 0.0)
    share = np.exp(-np.arange(1, rows.shape[0] + 1) * least / (others.shape[0] * most))
    return GreedyBound(np.sqrt((1.0 - share) * square + share * energy), float(np.sqrt(square)), least, most)
