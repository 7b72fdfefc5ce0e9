"""The fixed data that every benchmark draws from: two Gaussian samples a little apart."""

import numpy as np
import numpy.typing as npt

__all__ = ["BANDWIDTH", "D", "two_samples"]

D = 16
#: About the median distance between rows of a standard normal sample in D dimensions.
BANDWIDTH = 5.5


def two_samples(n: int) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Return n + n standard normal float32 rows in 16 columns, those of the second sample moved by 0.05 in each column."""
    generator = np.random.default_rng(20_240)
    x, y = generator.standard_normal((2, n, D), dtype=np.float32)
    return x, y + np.float32(0.05)
