"""Rows of a stream: points, their positions in the stream, and their weights."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from supersample._checks import MOST_EXPONENT, require, within
from supersample._stored import FLOATS, INDICES, stored
from supersample._typing import Floats, Indices, Mask
from supersample.embedding.moments import ScaledWeight, ScaledWeights

__all__ = ["Rows"]


@stored("Rows", {"positions": INDICES, "mantissas": FLOATS, "exponents": INDICES}, rebuilt=("points", "positions"))
@dataclass(frozen=True)
class Rows:
    """Some rows of a stream, in order; weights as mantissa * 2^exponent."""

    points: Floats
    positions: Indices
    mantissas: Floats
    exponents: Indices

    @classmethod
    def none(cls, width: int) -> "Rows":
        """Return no rows."""
        empty = np.empty(0, dtype=np.int64)
        return cls(np.empty((0, width)), empty, np.empty(0), empty)

    def __len__(self) -> int:
        """Count the rows."""
        return int(self.points.shape[0])

    @property
    def weights(self) -> ScaledWeights:
        """The weights, as mantissas and exponents."""
        return ScaledWeights(self.mantissas, self.exponents)

    def take(self, chosen: slice | Indices) -> "Rows":
        """Return some of the rows."""
        return Rows(self.points[chosen], self.positions[chosen], self.mantissas[chosen], self.exponents[chosen])

    def without(self, points: Floats) -> "Rows":
        """Return the rows that equal none of some points."""
        return self.take(np.flatnonzero(~self.among(points))) if len(points) else self

    def among(self, points: Floats) -> Mask:
        """Return which rows equal one of some points."""
        return np.asarray(np.isin(_as_items(self.points), _as_items(points)))

    def shifted(self, by: int) -> "Rows":
        """Return the rows as if they stood `by` places later in the stream."""
        return Rows(self.points, self.positions + by, self.mantissas, self.exponents)

    def weighed(self, factor: ScaledWeight) -> "Rows":
        """Return the rows with all weights multiplied by a factor."""
        mantissas, shifts = np.frexp(self.mantissas * factor.mantissa)
        return Rows(self.points, self.positions, mantissas, self.exponents + factor.exponent + shifts)

    def copy(self) -> "Rows":
        """Return rows that share no memory with these."""
        return Rows(self.points.copy(), self.positions.copy(), self.mantissas.copy(), self.exponents.copy())

    def put(self, slots: Indices, rows: "Rows", chosen: Indices) -> None:
        """Overwrite slots by chosen rows, in place and in order: if two rows share a slot, the later one stays."""
        places, last = np.unique(slots[::-1], return_index=True)
        stayed = chosen[::-1][last]
        self.points[places] = rows.points[stayed]
        self.positions[places] = rows.positions[stayed]
        self.mantissas[places] = rows.mantissas[stayed]
        self.exponents[places] = rows.exponents[stayed]

    def relative_weights(self) -> Floats:
        """Return the weights divided by a common power of two, so that the largest is near one."""
        if len(self) == 0:
            return self.mantissas
        return np.asarray(np.ldexp(self.mantissas, np.maximum(self.exponents - self.exponents.max(), -2000)))

    @staticmethod
    def joined(*parts: "Rows") -> "Rows":
        """Return the rows of all parts, in order."""
        return Rows(
            np.concatenate([part.points for part in parts]),
            np.concatenate([part.positions for part in parts]),
            np.concatenate([part.mantissas for part in parts]),
            np.concatenate([part.exponents for part in parts]),
        )

    def check(self, width: int) -> None:
        """Refuse rows whose arrays do not fit together, or whose weights are not positive."""
        require(self.points.shape == (self.positions.size, width), "points and positions differ in number")
        require(self.mantissas.shape == self.exponents.shape == self.positions.shape, "weights and positions differ in number")
        require(np.unique(self.positions).size == self.positions.size, "a row is held twice")
        require(bool(((self.mantissas >= 0.5) & (self.mantissas < 1.0)).all()), "weights are not positive numbers")
        require(within(self.exponents, MOST_EXPONENT), "weights are not positive numbers")


def _as_items(points: Floats) -> npt.NDArray[np.void]:
    """Return each point as one value, to be compared as a whole."""
    whole = np.ascontiguousarray(points + 0.0)  # -0.0 becomes 0.0
    return whole.view(np.dtype((np.void, whole.itemsize * whole.shape[1]))).ravel()
