"""A measure known only by its mean features, for data that no single machine holds."""

import numpy as np

from supersample._random import Seed
from supersample._typing import Floats
from supersample.errors import InputError
from supersample.features import FeatureMap
from supersample.kernels import Kernel, KernelLike
from supersample.measures.base import Measure

__all__ = ["MeanOnly"]


class MeanOnly(Measure):
    """The mean features of a measure in two maps: one used to select, and a held-out one used to measure the MMD.

    Serves as the target of a selection whose `features` are the first map; there are no points to draw from.
    """

    def __init__(self, features: FeatureMap, mean: Floats, held_out: FeatureMap, held_out_mean: Floats, dimension: int) -> None:
        """Keep maps and means."""
        self.features, self.mean, self.held_out, self.held_out_mean = features, mean, held_out, held_out_mean
        self._dimension = dimension

    @property
    def dimension(self) -> int:
        """The number of columns."""
        return self._dimension

    def is_exact(self, kernel: KernelLike) -> bool:
        """True: nothing more exact is known about the measure."""
        return True

    def _draw(self, n: int, seed: Seed) -> Floats:
        raise InputError("a measure known by its mean features alone has no draws; pass points, or another measure")

    def _is_closed(self, kernel: Kernel) -> bool:
        return kernel.identity == self.features.kernel.identity

    def _embed(self, kernel: Kernel, rows: Floats) -> Floats:
        return np.asarray(self.features.transform(rows).astype(float) @ self.mean)

    def _energy(self, kernel: Kernel) -> float:
        return float(self.mean @ self.mean)
