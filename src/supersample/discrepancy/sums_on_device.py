"""Sums of k over all pairs of two samples that lie on a device, for many resamples of the pooled rows at once.

Labels are drawn on the host in the order of the NumPy path, so that p-values agree with it. Where there are too many of them
they are drawn on the device, from the host's seed.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from supersample._random import Seed
from supersample._typing import Floats
from supersample.device.arrays import Array, Home
from supersample.device.blocks import item_bytes, require_room
from supersample.discrepancy.labels_on_device import dealt_labels
from supersample.discrepancy.resampled_mmd import ExactSums, FeatureSums, PairSums
from supersample.discrepancy.resampling import Resampling, resampled_labels
from supersample.discrepancy.two_samples import TwoSamples
from supersample.kernels import Kernel

__all__ = ["ExactSumsOnDevice", "FeatureSumsOnDevice"]

#: Up to so many labels are drawn on the host.
_MOST_DRAWN_HERE = 1 << 28


class FeatureSumsOnDevice(FeatureSums):
    """FeatureSums with features and label matrices on the device; the spectrum of a sample of rows is taken on the host."""

    def __init__(
        self, home: Home, samples: TwoSamples, kernels: Sequence[Kernel], method: str, n_features: int, seed: Seed
    ) -> None:
        super().__init__(samples, kernels, method, n_features, seed)
        self.home = home
        self.there = [each.on_device(home, int(samples.x.shape[1])) for each in self.maps]
        reach = max(float(home.xp.max(home.xp.abs(rows))) for rows in (samples.x, samples.y))
        self.far = [each.is_far(reach) for each in self.there]
        self.centres: list[Array] | None = None

    def pairs(self, how: Resampling, n_columns: int, seed: Seed) -> list[PairSums]:
        """Sum features over each resample; sums over pairs are inner products of these."""
        home, xp = self.home, self.home.xp
        width, wide = self.maps[0].n_features, home.wide
        sums = [[home.zeros((width, n_columns)) for _ in range(2)] for _ in self.maps]
        diagonals = [[home.zeros(n_columns) for _ in range(2)] for _ in self.maps]
        start = 0
        for first, second in self._labels(how, n_columns, seed):
            stop = start + int(first.shape[0])
            for index, features in enumerate(self._centred(start, stop)):
                norms = xp.sum(features * features, axis=1)
                mine = xp.astype(features.T @ first, wide)
                own = xp.astype(norms @ first, wide)
                if second is None:
                    other = xp.sum(features, axis=0, dtype=wide)[:, None] - mine
                    theirs = xp.sum(norms, dtype=wide) - own
                else:
                    other, theirs = xp.astype(features.T @ second, wide), xp.astype(norms @ second, wide)
                sums[index] = [sums[index][0] + mine, sums[index][1] + other]
                diagonals[index] = [diagonals[index][0] + own, diagonals[index][1] + theirs]
            start = stop
        return [
            PairSums(*(home.floats(each) for each in (*_products(xp, *total), *diagonal)))
            for total, diagonal in zip(sums, diagonals, strict=True)
        ]

    def _labels(self, how: Resampling, n_columns: int, seed: Seed) -> Iterator[tuple[Array, Array | None]]:
        samples = self.samples
        sizes = (int(samples.x.shape[0]), int(samples.y.shape[0]))
        drawn_here = samples.n * n_columns <= _MOST_DRAWN_HERE or not self.home.is_mutable
        if how == "permutation" and not drawn_here:
            for labels in dealt_labels(self.home, sizes, n_columns, self.rows, seed.child(how)):
                yield labels, None
            return
        for first, second in resampled_labels(how, sizes, n_columns, self.rows, seed):
            yield tuple(None if each is None else self.home.array(each, self.home.single) for each in (first, second))  # type: ignore[misc]

    def _centred(self, start: int, stop: int) -> list[Array]:
        """Return the features of pooled rows for each kernel, centred so that float32 sums keep their digits."""
        rows = self.samples.rows(start, stop)
        found = [each.features(rows, far=far) for each, far in zip(self.there, self.far, strict=True)]
        if self.centres is None:
            self.centres = [self.home.xp.mean(each, axis=0) for each in found]
        return [each - centre for each, centre in zip(found, self.centres, strict=True)]


class ExactSumsOnDevice(ExactSums):
    """ExactSums with the Gram matrix on the device, a block of rows at a time, in float64."""

    def __init__(self, home: Home, samples: TwoSamples, kernels: Sequence[Kernel]) -> None:
        self.home, self.samples, self.kernels = home, samples, kernels
        self.pooled = samples.rows(0, samples.n)

    def _pairs(self, kernel: Kernel, x: Floats, y: Floats) -> PairSums:
        home, xp = self.home, self.home.xp
        needed = 6 * x.size * item_bytes(home, home.wide)
        require_room(home, needed, f"the labels of {x.shape[1]} resamples of {x.shape[0]:,} rows", "use method='fourier'")
        on_device = kernel.on_device(home, home.wide, self.samples.origin)
        points = on_device.prepare(self.pooled)
        first, second = home.array(x), home.array(y)
        sums: Any = [0.0, 0.0, 0.0]
        for rows in on_device.blocks(points, points.size):
            gram = on_device.block(points.rows(rows), points)
            to_x, to_y = gram @ first, gram @ second
            mine, theirs = first[rows, :], second[rows, :]
            parts = (mine * to_x, theirs * to_y, mine * to_y)
            sums = [xp.sum(each, axis=0) + total for each, total in zip(parts, sums, strict=True)]
        diagonal = on_device.diagonal(points)
        return PairSums(*(home.floats(each) for each in (*sums, diagonal @ first, diagonal @ second)))


def _products(xp: Any, first: Array, second: Array) -> tuple[Array, Array, Array]:
    return xp.sum(first * first, axis=0), xp.sum(second * second, axis=0), xp.sum(first * second, axis=0)
