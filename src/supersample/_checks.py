"""Checks of state read from a file: conditions that must hold, with limits that no valid state reaches.

Each class of the state checks itself (`check`). A check raises a ValueError, and the reader of the file turns it into one error
that names the file. Without checks a forged state would load and fail later, in some matrix routine. The limits are wide, so
that rounding on another machine is not refused.
"""

import numpy as np
import numpy.typing as npt

from supersample._typing import Floats, Indices

__all__ = ["FURTHEST", "MOST", "MOST_EXPONENT", "MOST_FEATURES", "ROUNDING", "require", "within"]

Reals = npt.NDArray[np.float32] | npt.NDArray[np.float64]

#: Upper limit on numbers of rows, chunks and points.
MOST = 1 << 62
#: Upper limit on the exponents of weights: beyond float64, since old rows may have lost half of their weight very often.
MOST_EXPONENT = 1 << 48
#: Upper limit on features, MMD and similar values, in units of the root of k(x, x).
FURTHEST = 1e6
#: Upper limit on features. A check computes a map's features for three rows; a stream with more would not fit in memory.
MOST_FEATURES = 1 << 20
#: Relative error allowed in sums of float64.
ROUNDING = 1e-6


def require(holds: bool, otherwise: str) -> None:
    """Raise a ValueError with the message `otherwise` unless the condition holds."""
    if not holds:
        raise ValueError(otherwise)


def within(values: Reals | Indices, limit: float | Floats) -> bool:
    """Return whether all values are at most `limit` in size; compares both signs, since abs of the smallest int64 overflows."""
    return bool(((values >= -limit) & (values <= limit)).all())
