"""The judge of every selection: the exact kernel, in plain NumPy blocks, with nothing of ours imported.

MMD^2 = E - 2 sum_i w_i z(y_i) + sum_ij w_i w_j k(y_i, y_j) with k(x, y) = exp(-|x - y|^2 / (2 bandwidth^2)), E the mean of k
over all pairs of the data and z(y) its mean over the data. Weights are taken as they come: they need not sum to one.
"""

import numpy as np
import numpy.typing as npt

__all__ = ["Judge", "median_distance"]

Floats = npt.NDArray[np.float64]

_BLOCK = 1024


def median_distance(points: Floats, rows: int = 1000) -> float:
    """Return the median distance between different rows of an even sample of these."""
    some = points[:: max(1, len(points) // rows)][:rows]
    squares = _squared_distances(some, some)[np.triu_indices(len(some), 1)]
    return float(np.sqrt(np.median(squares)))


class Judge:
    """A data set with its kernel, and E computed once: O(N^2 d) time, O(N) memory."""

    def __init__(self, points: Floats, bandwidth: float) -> None:
        """Compute E block by block; of each pair of blocks one is enough."""
        self.points, self.bandwidth = np.asarray(points, dtype=np.float64), bandwidth
        n = len(self.points)
        total = 0.0
        for start in range(0, n, _BLOCK):
            rows = self.points[start : start + _BLOCK]
            total += float(self._kernel(rows, rows).sum())
            for other in range(start + _BLOCK, n, _BLOCK):
                total += 2.0 * float(self._kernel(rows, self.points[other : other + _BLOCK]).sum())
        self.within = total / n**2

    def mmd(self, chosen: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> float:
        """Return the MMD between the data and these points, equally weighted if no weights are given."""
        few = np.asarray(chosen, dtype=np.float64)
        share = np.full(len(few), 1.0 / len(few)) if weights is None else np.asarray(weights, dtype=np.float64)
        between = np.zeros(len(few))
        for start in range(0, len(self.points), _BLOCK):
            between += self._kernel(self.points[start : start + _BLOCK], few).sum(axis=0)
        square = self.within - 2.0 * float(share @ between) / len(self.points) + float(share @ self._kernel(few, few) @ share)
        return float(np.sqrt(max(square, 0.0)))

    def _kernel(self, left: Floats, right: Floats) -> Floats:
        squares = _squared_distances(left, right)
        squares *= -0.5 / self.bandwidth**2
        np.exp(squares, out=squares)
        return squares


def _squared_distances(left: Floats, right: Floats) -> Floats:
    # The data's own place drops out of a distance; centring keeps |x|^2 + |y|^2 - 2 x.y from cancelling far from the origin.
    centre = right.mean(axis=0)
    a, b = left - centre, right - centre
    squares: Floats = np.einsum("ij,ij->i", a, a)[:, None] + np.einsum("ij,ij->i", b, b)
    squares -= 2.0 * (a @ b.T)
    np.maximum(squares, 0.0, out=squares)
    return squares
