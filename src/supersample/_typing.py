"""Names for array shapes, used in signatures."""

from typing import Any

import numpy as np
import numpy.typing as npt

#: n rows of d numbers.
Points = npt.NDArray[np.floating[Any]]
#: n rows of D features.
Features = npt.NDArray[np.floating[Any]]
#: One number a row, not negative.
Weights = npt.NDArray[np.float64]
#: A float64 array of any shape.
Floats = npt.NDArray[np.float64]
#: A float32 or float64 array of any shape.
Reals = npt.NDArray[np.floating[Any]]
#: An array of positions or counts.
Indices = npt.NDArray[np.int64]
#: True or false for each place.
Mask = npt.NDArray[np.bool_]
#: An array of bytes.
Bytes = npt.NDArray[np.uint8]
#: What users may pass where points are expected.
PointsLike = npt.ArrayLike
#: What users may pass as a source of randomness.
RandomState = int | np.random.Generator | np.random.SeedSequence | None
