"""Column names, where the data carry them."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import _get_feature_names

from supersample.errors import MismatchError

__all__ = ["check_names"]


def check_names(data: Any, expected: npt.NDArray[np.object_] | None) -> npt.NDArray[np.object_] | None:
    """Return the column names of a frame whose names are all strings, None for others; refuse other names than before."""
    names: npt.NDArray[np.object_] | None = _get_feature_names(data)
    if expected is not None and names is not None and list(names) != list(expected):
        raise MismatchError(
            f"X must have the same columns in the same order as before, {list(expected)}; got {list(names)}. The feature names "
            f"should match those that were passed during fit"
        )
    return names
