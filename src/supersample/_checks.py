"""Checks of state that comes from a file: what must hold, with limits beyond all that can come about.

Each class of the state checks itself (`check`). A check refuses by a ValueError, which the reader of the file turns into one
error that names the file. A forged state would otherwise load and fail later, in some matrix routine that knows nothing of
files. The limits are wide, so that no rounding of another machine is refused.
"""

import numpy as np
import numpy.typing as npt

from supersample._typing import Floats, Indices

__all__ = ["FURTHEST", "MOST", "MOST_FEATURES", "ROUNDING", "require", "within"]

Reals = npt.NDArray[np.float32] | npt.NDArray[np.float64]

#: No number of rows, chunks or points reaches this.
MOST = 1 << 62
#: Features, MMD and the like are never larger than this many times the root of k(x, x).
FURTHEST = 1e6
#: The features of a map are written for three rows when it is checked; what a stream does with more would not fit in memory.
MOST_FEATURES = 1 << 20
#: What sums of float64 may be off by, as a share.
ROUNDING = 1e-6


def require(holds: bool, otherwise: str) -> None:
    """Refuse unless something holds."""
    if not holds:
        raise ValueError(otherwise)


def within(values: Reals | Indices, limit: float | Floats) -> bool:
    """Say whether no value is larger in size, or none at all; the smallest int64 has no size in int64."""
    return bool(((values >= -limit) & (values <= limit)).all())
