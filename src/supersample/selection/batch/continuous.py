"""Move a point off the pool, uphill on a smooth criterion."""

from collections.abc import Callable

import numpy as np
from scipy import optimize

from supersample._typing import Floats

__all__ = ["ascend"]

#: Central differences of smooth functions are most exact at about the cube root of the rounding error.
_STEP = 1e-5
_STEPS = 50
#: Largest move, in length scales of the kernel: a maximum farther away is reached from another candidate.
_FARTHEST = 3.0


def ascend(criterion: Callable[[Floats], Floats], start: Floats, scale: Floats) -> Floats:
    """Return a point near `start` where the criterion is at least as large, by quasi-Newton steps (L-BFGS).

    criterion: maps n rows to n values. Gradients are central differences, so any kernel and any measure can be used; all rows
    of one step are evaluated in one call. scale: a length scale of the criterion for each column, such as the bandwidth.
    """
    width = start.size
    offsets = np.vstack([np.zeros(width), _STEP * np.eye(width), -_STEP * np.eye(width)])
    around = np.abs(criterion(start + scale * np.vstack([np.zeros(width), np.eye(width), -np.eye(width)])))
    unit = max(float(around.max()), np.finfo(float).tiny)

    def value_and_gradient(moved: Floats) -> tuple[float, Floats]:
        values = criterion(start + scale * (moved + offsets)) / unit
        slope = (values[1 : 1 + width] - values[1 + width :]) / (2.0 * _STEP)
        return -float(values[0]), -slope

    found = optimize.minimize(
        value_and_gradient,
        np.zeros(width),
        jac=True,
        method="L-BFGS-B",
        bounds=[(-_FARTHEST, _FARTHEST)] * width,
        options={"maxiter": _STEPS, "gtol": 1e-7},
    )
    end = start + scale * found.x
    before, after = criterion(np.vstack([start, end]))
    return np.asarray(end if after > before else start)
