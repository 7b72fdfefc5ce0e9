"""The empirical measure of a set of points, weighted or not: data as a target."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from supersample._compiled import gaussian
from supersample._random import Seed
from supersample._threads import BLOCK_ROWS, cut, map_blocks
from supersample._typing import Floats, Indices, Points, PointsLike
from supersample._validation import check_points, check_weights, shares
from supersample.device.arrays import is_device_array
from supersample.embedding.mean import MeanEmbedding
from supersample.errors import InputTypeError, MismatchError
from supersample.features import FeatureMap
from supersample.kernels import Gaussian, Kernel, KernelLike
from supersample.measures.base import Measure

__all__ = ["Empirical"]

_TILE = 1024
#: Rows of a tile computed at a time, few enough for kernel values to stay in cache.
_ROWS = 128
#: Up to this width distances by differences are as fast as by a matrix product, and more exact.
_WIDEST = 16
_BATCH = 8


class Empirical(Measure):
    """Equal or weighted masses at given points: data, or draws from a density without a closed form.

    z(y) = sum_i w_i k(x_i, y) and E = sum_ij w_i w_j k(x_i, x_j), exact for every kernel: in tiles on all cores,
    O(n N d) time for n rows y (half of N^2 for E), O(n + N) memory. With importance weights, draws from one density represent
    another.

    features: a feature map; z and E are then products with the mean features, O((n + N) d D), for N too large for N^2. They are
    approximate, and a greedy selection that mixes such a z with exact kernel values does badly: pass the same map as `features`
    to the selection as well, so that errors cancel. The MMD of selections and the standard deviation of integrals are computed
    from the points, not from this map.

    >>> from supersample.kernels import Gaussian
    >>> Empirical([[0.0], [1.0]]).mean_embedding(Gaussian(1.0), [[0.0]]).round(4)
    array([0.8033])
    """

    _block_rows = BLOCK_ROWS

    def __new__(cls, points: Any = None, *_: Any, **__: Any) -> Self:
        """Hold arrays of torch, CuPy and JAX where they lie."""
        if cls is Empirical and is_device_array(points):
            from supersample.measures.on_device import EmpiricalOnDevice  # a kind of this class

            return super().__new__(EmpiricalOnDevice)  # type: ignore[return-value]
        return super().__new__(cls)

    def __init__(self, points: PointsLike, weights: npt.ArrayLike | None = None, *, features: FeatureMap | None = None) -> None:
        """Set points and weights; the weights need not sum to one."""
        self.points: Floats = np.array(check_points(points, "points"), dtype=np.float64, order="C")
        count = self.points.shape[0]
        self.weights = shares(None if weights is None else check_weights(weights, count, "weights"), count)
        if features is not None and not isinstance(features, FeatureMap):
            raise InputTypeError(f"features must be a feature map such as ss.features.Fourier(...), got {features!r}")
        self.features = features
        self._mean: Floats | None = None
        if features is not None:
            self._mean = MeanEmbedding(features).update(self.points, self.weights).mean

    @classmethod
    def holding(cls, points: Points) -> Self:
        """Return equal masses at checked points without a copy, for targets used within one call only."""
        held = cls.__new__(cls)
        held.points = np.ascontiguousarray(points, dtype=np.float64)
        held.weights = shares(None, held.points.shape[0])
        held.features = held._mean = None
        return held

    def by_points(self) -> "Empirical":
        """Return the same masses without the feature map, so that z and E are exact."""
        if self.features is None:
            return self
        exact = Empirical.holding(self.points)
        exact.weights = self.weights
        return exact

    @property
    def scale_rows(self) -> Any:
        """The points, from which a bandwidth can be taken."""
        return self.points

    def rows_at(self, places: Indices) -> Floats:
        """Return some of the points."""
        return self.points[places]

    def mean_features(self, feature_map: FeatureMap) -> Floats:
        """Return the mean features of the measure."""
        return MeanEmbedding(feature_map).update(self.points, self.weights).state.mean()

    @property
    def dimension(self) -> int:
        """The number of columns."""
        return int(self.points.shape[1])

    def is_exact(self, kernel: KernelLike) -> bool:
        """Whether z and E are exact: always, unless computed from features."""
        return self.features is None

    def _draw(self, n: int, seed: Seed) -> Floats:
        return np.asarray(self.points[seed.generator().choice(self.weights.size, n, p=self.weights)])

    def _is_closed(self, kernel: Kernel) -> bool:
        return True

    def mean_embedding(self, kernel: KernelLike, points: PointsLike) -> Floats:
        """Return z(y) for each row y: all kernel values with the measure's points, in tiles, or products of features."""
        if self.features is None or self._mean is None:
            return super().mean_embedding(kernel, points)
        self._require_host(points)
        self._require_kernel(kernel)
        rows = check_points(points, "points", width=self.dimension)
        step = max(1, (1 << 22) // self.features.n_features)
        parts = [self.features.transform(rows[part]) @ self._mean for part in cut(rows.shape[0], step)]
        return np.asarray(np.concatenate(parts), dtype=np.float64)

    def energy(self, kernel: KernelLike) -> float:
        """Return E, over all pairs of points, a point with itself included."""
        if self._mean is not None:
            self._require_kernel(kernel)
            return float(self._mean @ self._mean)
        return float(self.weights @ self.own_embedding(kernel))

    def own_embedding(self, kernel: KernelLike) -> Floats:
        """Return z at the measure's own points; the Gram matrix is symmetric, so half of it is computed."""
        if self._mean is not None:
            return self.mean_embedding(kernel, self.points)
        resolved = self._checked(kernel)
        tiles = cut(self.weights.size, _TILE)
        sums = self._gaussian_sums(resolved, tiles) if _is_plain_gaussian(resolved, self.dimension) else None
        prepared = [resolved.against(self.points[tile]) for tile in tiles] if sums is None else []

        def work(row: int) -> Floats:
            """Return what a row of tiles adds to z at its own points and, by symmetry, at all later points."""
            start, points, weights = tiles[row].start, self.points[tiles[row]], self.weights[tiles[row]]
            added = np.zeros(self.weights.size - start)
            across, total = np.empty(weights.size), np.zeros(weights.size)
            for column in range(row, len(tiles)):
                below = np.zeros(tiles[column].stop - tiles[column].start)
                if sums is not None:
                    sums(row, column, across, below)
                else:
                    for part in cut(weights.size, _ROWS):
                        values = prepared[column](points[part])
                        across[part] = values @ self.weights[tiles[column]]
                        below += weights[part] @ values
                total += across
                if column > row:
                    added[tiles[column].start - start : tiles[column].stop - start] = below
            added[: weights.size] = total
            return added

        z = np.zeros(self.weights.size)
        # A few rows of tiles at a time: the results of all of them would take memory of order N^2.
        for batch in cut(len(tiles), _BATCH):
            for row, added in enumerate(map_blocks(work, list(range(batch.start, batch.stop))), start=batch.start):
                z[tiles[row].start :] += added
        return z

    def _gaussian_sums(self, kernel: Kernel, tiles: list[slice]) -> Callable[[int, int, Floats, Floats], None]:
        """Return a function that adds up one tile of the Gram matrix without storing it."""
        scaled = kernel.scale(self.points)
        rows = [scaled[tile] for tile in tiles]
        columns = [np.ascontiguousarray(each.T) for each in rows]
        weights = [self.weights[tile] for tile in tiles]

        def add(row: int, column: int, across: Floats, below: Floats) -> None:
            gaussian.sums(rows[row], columns[column], weights[row], weights[column], across, below)

        return add

    def _embed(self, kernel: Kernel, rows: Floats) -> Floats:
        total = np.zeros(rows.shape[0])
        values = np.empty((rows.shape[0], _TILE))
        for tile in cut(self.weights.size, _TILE):
            block = (
                values[:, : tile.stop - tile.start]
                if tile.stop - tile.start == _TILE
                else np.empty((rows.shape[0], tile.stop - tile.start))
            )
            kernel.fill(rows, self.points[tile], block)
            total += block @ self.weights[tile]
        return total

    def _energy(self, kernel: Kernel) -> float:
        return float(self.weights @ self.own_embedding(kernel))

    def _require_kernel(self, kernel: KernelLike) -> None:
        resolved = self._checked(kernel)
        if self.features is not None and self.features.kernel.identity != resolved.identity:
            raise MismatchError(
                f"features of Empirical stand for kernel {self.features.kernel!r}, but kernel is {resolved!r}; pass the same "
                f"kernel to both"
            )


def _is_plain_gaussian(kernel: Kernel, dimension: int) -> bool:
    return type(kernel) is Gaussian and dimension <= _WIDEST
