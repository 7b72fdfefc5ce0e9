"""What all greedy selections share: the rule of herding, and how ties are broken."""

import numpy as np

from supersample._typing import Floats, Indices

__all__ = ["TIE", "first_best", "herding_gain"]

#: Values whose difference is below this share of the terms that they are sums of are equal up to rounding.
TIE = 1e-12


def first_best(values: Floats, scale: float, labels: Indices | None = None) -> int:
    """Return the place of the largest value; of values equal up to rounding, that of the lowest label; -1 if all are -inf.

    scale: the size of the terms that the values are sums and differences of. labels: by default the places themselves.

    >>> first_best(np.array([1.0, 2.0, 2.0 + 1e-15]), 2.0)
    1
    """
    top = float(values.max(initial=-np.inf))
    if top == -np.inf:
        return -1
    tied = values >= top - TIE * max(scale, abs(top))
    if labels is None:
        return int(np.argmax(tied))
    ties = np.flatnonzero(tied)
    return int(ties[np.argmin(labels[ties])])


def herding_gain(z: Floats, sums: Floats, diagonal: Floats, n: int) -> Floats:
    """Return how much each candidate x, as point n + 1, lowers the MMD of equal weights, up to terms that x does not change.

    z(x) - 1/(n+1) sum_m k(x, x_m) - k(x, x) / (2 (n+1)), with `sums` the sum over the n points chosen: high z draws points to
    where the target has mass, the sum keeps them apart.
    """
    share = 1.0 / (n + 1.0)
    values = z - share * sums
    values -= 0.5 * share * diagonal
    return values
