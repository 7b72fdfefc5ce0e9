"""A measure of which only mean features are kept: what is left of data that no one machine holds."""

from supersample._random import Seed
from supersample._typing import Floats
from supersample.errors import InputError
from supersample.features import FeatureMap
from supersample.kernels import Kernel, KernelLike
from supersample.measures.base import Measure

__all__ = ["Embedded"]


class Embedded(Measure):
    """The mean features of a measure in two maps: one for the choice, and one that judges it and that it never sees.

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
        """Say that nothing better is known of it."""
        return True

    def _draw(self, n: int, seed: Seed) -> Floats:
        raise InputError("a measure known by its mean features alone has no draws; pass points, or another measure")

    def _is_closed(self, kernel: Kernel) -> bool:
        return kernel.identity == self.features.kernel.identity

    def _embed(self, kernel: Kernel, rows: Floats) -> Floats:
        return self.features.transform(rows).astype(float) @ self.mean

    def _energy(self, kernel: Kernel) -> float:
        return float(self.mean @ self.mean)
