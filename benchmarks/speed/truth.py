"""The true MMD between a data set and a few points: with the exact kernel, its expensive term computed once."""

import math

import numpy as np

from supersample import mmd2
from supersample._typing import Floats, PointsLike
from supersample.kernels import Gaussian
from supersample.kernels.bandwidth import median_distance

__all__ = ["Truth", "median_kernel"]

#: What the quadrature leaves out, as a share of one.
_EPSILON = 1e-14
_BLOCK_ELEMENTS = 1 << 24


def median_kernel(points: Floats) -> Gaussian:
    """Return the Gaussian kernel whose bandwidth is the median distance between rows of a sample of these."""
    return Gaussian(median_distance(points, random_state=0))


class Truth:
    """A data set that selections are judged against.

    MMD^2 = E - 2 mean z(y) + mean k(y, y'), with E the mean of k over all pairs of the data and z(y) that over the data. E
    costs O(N^2 d), but is the same for all selections. In two dimensions it is computed by quadrature in O(N), to 14 digits.
    """

    def __init__(self, points: Floats, kernel: Gaussian) -> None:
        """Compute E."""
        self.points, self.kernel = points, kernel
        if points.shape[1] == 2:
            _check_quadrature(points, kernel)
            self.within = _by_quadrature(points, kernel)
        else:
            self.within = _by_pairs(points, kernel)

    def mmd(self, chosen: PointsLike) -> float:
        """Return the MMD between the data and equally weighted points."""
        few = np.asarray(chosen, dtype=np.float64)
        return float(self.mmds(few, np.full((len(few), 1), 1.0 / len(few)))[0])

    def mmds(self, few: Floats, weights: Floats) -> Floats:
        """Return the MMD between the data and points with weights that sum to one, for each column of weights."""
        step = max(1, _BLOCK_ELEMENTS // len(few))
        between, among = np.zeros(weights.shape[1]), np.zeros(weights.shape[1])
        for start in range(0, len(self.points), step):
            between += (self.kernel(self.points[start : start + step], few) @ weights).sum(axis=0)
        for start in range(0, len(few), step):
            part = slice(start, start + step)
            among += np.einsum("iw,iw->w", weights[part], self.kernel(few[part], few) @ weights)
        return np.sqrt(np.maximum(self.within - 2.0 * between / len(self.points) + among, 0.0))


def _by_pairs(points: Floats, kernel: Gaussian) -> float:
    """Return the mean of k over all pairs, from the MMD to a single row."""
    one = points[:1]
    return mmd2(points, one, kernel=kernel, method="exact") + 2.0 * float(kernel(points, one).mean()) - 1.0


def _by_quadrature(points: Floats, kernel: Gaussian) -> float:
    """Return the same in two dimensions: the trapezoidal rule for k(x - y) = int p(w) cos(w.(x - y)) dw, p Gaussian.

    With steps h in frequency the rule gives the sum of k over all shifts by 2 pi / h, which all but one lie beyond the data.
    """
    scaled = kernel.scale(points - points.min(axis=0))
    reach = math.sqrt(2.0 * math.log(1.0 / _EPSILON))
    step = 2.0 * math.pi / (float(scaled.max()) + reach)
    most = math.ceil(reach / step)
    orders = np.arange(-most, most + 1)
    weights = step / math.sqrt(2.0 * math.pi) * np.exp(-0.5 * (orders * step) ** 2)
    total = np.zeros((orders.size, orders.size), dtype=np.complex128)
    for start in range(0, len(scaled), 50_000):
        rows = scaled[start : start + 50_000]
        first, second = (np.exp(1j * step * rows[:, column, None] * orders) for column in (0, 1))
        total += first.T @ second
    return float(weights @ (np.abs(total / len(scaled)) ** 2 @ weights))


def _check_quadrature(points: Floats, kernel: Gaussian) -> None:
    some = points[:: max(1, len(points) // 1000)]
    value, expected = _by_quadrature(some, kernel), _by_pairs(some, kernel)
    if not math.isclose(value, expected, rel_tol=1e-11):
        raise AssertionError(f"quadrature gives {value} and all pairs {expected} for E: they must measure the same thing")
