"""Rows of a device that come to a stream, and the few of them that the host needs."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from supersample._typing import Indices
from supersample.device.arrays import Array, Home
from supersample.embedding.moments import ScaledWeights
from supersample.selection.stream.rows import Rows

__all__ = ["RowsOnDevice"]


@dataclass(frozen=True)
class RowsOnDevice:
    """Rows of the device with their positions and weights, which are few numbers and stay on the host."""

    points: Array
    positions: Indices
    weights: ScaledWeights | None

    def part(self, start: int, stop: int) -> "RowsOnDevice":
        """Return some consecutive rows."""
        whole = self.weights
        weights = None if whole is None else ScaledWeights(whole.mantissas[start:stop], whole.exponents[start:stop])
        return RowsOnDevice(self.points[start:stop, :], self.positions[start:stop], weights)

    def joined(self, other: "RowsOnDevice", home: Home) -> "RowsOnDevice":
        """Return these rows and then those of another; of none, the others themselves."""
        if self.positions.size == 0:
            return other
        weights = None
        if not (self.weights is None and other.weights is None):
            one, two = (each.scaled(np.arange(each.positions.size)) for each in (self, other))
            mantissas = np.concatenate([one.mantissas, two.mantissas])
            weights = ScaledWeights(mantissas, np.concatenate([one.exponents, two.exponents]))
        points = home.xp.concat([self.points, other.points])
        return RowsOnDevice(points, np.concatenate([self.positions, other.positions]), weights)

    def of_host(self, places: Indices, home: Home) -> Rows:
        """Copy some rows to the host."""
        return self.start_to_host(places, home)()

    def start_to_host(self, places: Indices, home: Home) -> Callable[[], Rows]:
        """Start to copy some rows to the host; the function that is returned waits for them."""
        coming = home.fetch(home.xp.take(self.points, home.send(places), axis=0))

        def rows() -> Rows:
            mantissas, exponents = self.scaled(places)
            return Rows(np.array(coming(), dtype=np.float64), self.positions[places], mantissas, exponents)

        return rows

    def scaled(self, places: Indices) -> ScaledWeights:
        """Return the weights of some rows."""
        if self.weights is None:
            return ScaledWeights(np.full(places.size, 0.5), np.ones(places.size, dtype=np.int64))
        return ScaledWeights(self.weights.mantissas[places], self.weights.exponents[places])
