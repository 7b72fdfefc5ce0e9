"""Sums of k over all pairs of two samples, for many resamples of the pooled rows at once."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from supersample._random import Seed
from supersample._threads import BLOCK_ROWS, cut, map_blocks, one_blas_thread
from supersample._typing import Floats, Reals
from supersample.discrepancy.mmd import Estimator
from supersample.discrepancy.resampling import Resampling, resampled_labels
from supersample.discrepancy.two_samples import TwoSamples, wave_map
from supersample.kernels import Kernel, Stationary

__all__ = ["ExactSums", "FeatureSums", "PairSums", "ResampledSums"]

#: Elements of features held at a time, over all kernels of a family.
_BLOCK_ELEMENTS = 1 << 23
#: Rows whose covariance or Gram matrix the eigenvalues of the spectral null are taken from.
_SPECTRUM_ROWS = 4000
#: Pooled rows from which on the width of the null is corrected, and the smallest factor; fewer rows say too little about it.
_LEAST_ROWS, _NARROWEST = 20, 0.05
_ROUNDING = 1e-12


class PairSums(NamedTuple):
    """For each resample: sums of k over pairs within x, within y and across, and of k(x, x) within each."""

    xx: Floats
    yy: Floats
    xy: Floats
    x_diagonal: Floats
    y_diagonal: Floats

    def statistics(self, m: int, n: int, estimator: Estimator) -> Floats:
        """Return MMD^2 for each resample of m and n rows."""
        across = 2.0 * self.xy / (float(m) * n)
        if estimator == "biased":
            return np.asarray(self.xx / float(m) ** 2 + self.yy / float(n) ** 2 - across)
        within_x = (self.xx - self.x_diagonal) / (m * (m - 1.0))
        within_y = (self.yy - self.y_diagonal) / (n * (n - 1.0))
        return np.asarray(within_x + within_y - across)

    def trace(self, n_pooled: int) -> float:
        """Return the trace of the pooled covariance: sum |phi - mean|^2 = sum |phi|^2 - |sum phi|^2 / n, over n - 1."""
        total = self.xx + self.yy + 2.0 * self.xy
        return float((self.x_diagonal + self.y_diagonal - total / n_pooled)[0]) / (n_pooled - 1)


class ResampledSums(ABC):
    """The kernel matrix of the pooled rows, which is not stored."""

    @abstractmethod
    def pairs(self, how: Resampling, n_columns: int, seed: Seed) -> list[PairSums]:
        """Return the sums over pairs for each kernel of the family."""

    @abstractmethod
    def spectrum(self, seed: Seed) -> Floats:
        """Return the eigenvalues of the pooled covariance of the first kernel, scaled to the trace of all rows."""

    @abstractmethod
    def narrowing(self, seed: Seed) -> list[float]:
        """Return the standard deviation of the null over that of its plug-in estimate, for each kernel; at most 1.

        The variance of m n / (m + n) MMD^2 tends to 2 sum_l lambda_l^2 = 2 E h(x, y)^2, h the centred kernel. Bootstrap and
        spectral nulls put the mean over all pairs of rows in place of E, those of a row with itself included. Where rows are
        nearly orthogonal to one another, as in many dimensions, these are most of it. The mean over pairs of different rows,
        centred as by Szekely and Rizzo 2014, is unbiased.
        """


class FeatureSums(ResampledSums):
    """ResampledSums in the space of random features: n x D x columns multiplications, without kernel values."""

    def __init__(self, samples: TwoSamples, kernels: Sequence[Kernel], method: str, n_features: int, seed: Seed) -> None:
        self.samples = samples
        self.maps = [wave_map(kernel, method, n_features, samples, seed) for kernel in kernels]
        self.factors = _shared_factors(kernels)
        self.rows = max(BLOCK_ROWS, _BLOCK_ELEMENTS // (n_features * len(kernels)))
        self._only_block: list[Reals] | None = None
        self._centres: list[Reals] | None = None

    def pairs(self, how: Resampling, n_columns: int, seed: Seed) -> list[PairSums]:
        """Sum features over each resample; sums over pairs are inner products of these."""
        sizes = (self.samples.x.shape[0], self.samples.y.shape[0])
        width = self.maps[0].n_features
        sums = [np.zeros((2, width, n_columns)) for _ in self.maps]
        diagonals = [np.zeros((2, n_columns)) for _ in self.maps]
        start = 0
        for first, second in resampled_labels(how, sizes, n_columns, self.rows, seed):
            for index, features in enumerate(self._features(start, start + first.shape[0])):
                norms = np.einsum("ij,ij->i", features, features)
                mine = features.T @ first
                other = features.sum(axis=0)[:, None] - mine if second is None else features.T @ second
                sums[index] += np.stack([mine, other])
                mine = norms @ first
                other = norms.sum() - mine if second is None else norms @ second
                diagonals[index] += np.stack([mine, other])
            start += first.shape[0]
        return [
            PairSums(
                np.einsum("ij,ij->j", total[0], total[0]),
                np.einsum("ij,ij->j", total[1], total[1]),
                np.einsum("ij,ij->j", total[0], total[1]),
                *diagonal,
            )
            for total, diagonal in zip(sums, diagonals, strict=True)
        ]

    def narrowing(self, seed: Seed) -> list[float]:
        """Sum over pairs of rows of a sample, by the smaller of covariance and Gram matrix."""
        rows = self.samples.sample(_SPECTRUM_ROWS, seed.child("spectrum"))
        found = []
        for each in self.maps:
            features = each.transform(rows).astype(np.float64)
            features -= features.mean(axis=0)
            with one_blas_thread():
                small = features.T @ features if features.shape[0] > features.shape[1] else features @ features.T
            sums = features @ features.sum(axis=0)
            own = np.einsum("ij,ij->i", features, features)
            found.append(_narrowing(float((small**2).sum()), sums, own, self.samples.n))
        return found

    def spectrum(self, seed: Seed) -> Floats:
        """Take the eigenvalues of the smaller of covariance and Gram matrix of a sample, and the trace of all rows."""
        features = self.maps[0].transform(self.samples.sample(_SPECTRUM_ROWS, seed.child("spectrum"))).astype(np.float64)
        features -= features.mean(axis=0)
        with one_blas_thread():  # on busy cores, several BLAS threads wait for each other and are slower than one
            small = features.T @ features if features.shape[0] > features.shape[1] else features @ features.T
            values = np.maximum(np.linalg.eigvalsh(small) / (features.shape[0] - 1), 0.0)
        if features.shape[0] == self.samples.n:
            return np.asarray(values)
        return _with_trace(values, self.pairs("observed", 1, seed)[0].trace(self.samples.n))

    def _features(self, start: int, stop: int) -> list[Reals]:
        """Return the features of pooled rows for each kernel, centred so that float32 sums keep their digits.

        A shift of all features by one vector changes no statistic: each is a difference of means.
        """
        if self._only_block is not None:
            return self._only_block
        rows = np.ascontiguousarray(self.samples.rows(start, stop))
        outs = [np.empty((rows.shape[0], each.n_features), dtype=each.dtype) for each in self.maps]
        if self.factors is not None:
            self.maps[0].fill_family(rows, self.factors, outs)
        else:
            for each, out in zip(self.maps, outs, strict=True):
                each.fill(rows, out)
        if self._centres is None:
            self._centres = [out.mean(axis=0, dtype=np.float64).astype(out.dtype) for out in outs]
        for out, centre in zip(outs, self._centres, strict=True):
            out -= centre
        if rows.shape[0] == self.samples.n:
            self._only_block = outs
        return outs


class ExactSums(ResampledSums):
    """ResampledSums of the exact kernel, a block of rows of the Gram matrix at a time; n^2 (d + columns) operations."""

    def __init__(self, samples: TwoSamples, kernels: Sequence[Kernel]) -> None:
        self.samples = samples
        self.kernels = kernels
        self.points = samples.rows(0, samples.n).astype(np.float64)

    def pairs(self, how: Resampling, n_columns: int, seed: Seed) -> list[PairSums]:
        """Multiply blocks of the Gram matrix with the label matrix."""
        sizes = (self.samples.x.shape[0], self.samples.y.shape[0])
        ((first, second),) = resampled_labels(how, sizes, n_columns, self.samples.n, seed)
        x = first.astype(np.float64)
        y = 1.0 - x if second is None else second.astype(np.float64)
        return [self._pairs(kernel, x, y) for kernel in self.kernels]

    def _pairs(self, kernel: Kernel, x: Floats, y: Floats) -> PairSums:
        n = self.points.shape[0]

        def work(rows: slice) -> Floats:
            gram = np.empty((rows.stop - rows.start, n))
            kernel.fill(self.points[rows], self.points, gram)
            to_x, to_y = gram @ x, gram @ y
            return np.stack(
                [
                    np.einsum("ij,ij->j", x[rows], to_x),
                    np.einsum("ij,ij->j", y[rows], to_y),
                    np.einsum("ij,ij->j", x[rows], to_y),
                ]
            )

        xx, yy, xy = np.sum(map_blocks(work, cut(n, BLOCK_ROWS)), axis=0)
        diagonal = kernel.diagonal(self.points)
        return PairSums(xx, yy, xy, diagonal @ x, diagonal @ y)

    def narrowing(self, seed: Seed) -> list[float]:
        """Sum over pairs of rows of a sample, by its Gram matrix."""
        rows = self.samples.sample(_SPECTRUM_ROWS // 2, seed.child("spectrum"))
        found = []
        for kernel in self.kernels:
            gram = kernel(rows)
            gram -= gram.mean()
            found.append(_narrowing(float((gram**2).sum()), gram.sum(axis=1), np.diag(gram), self.samples.n))
        return found

    def spectrum(self, seed: Seed) -> Floats:
        """Take the eigenvalues of the centred Gram matrix of a sample, and the trace of all rows."""
        kernel = self.kernels[0]
        gram = kernel(self.samples.sample(_SPECTRUM_ROWS // 2, seed.child("spectrum")))
        gram -= gram.mean(axis=0)
        gram -= gram.mean(axis=1)[:, None]
        with one_blas_thread():
            values = np.maximum(np.linalg.eigvalsh(gram) / (gram.shape[0] - 1), 0.0)
        if gram.shape[0] == self.samples.n:
            return np.asarray(values)
        return _with_trace(values, self.pairs("observed", 1, seed)[0].trace(self.samples.n))


def _narrowing(squares: float, sums: Floats, own: Floats, n_rows: int) -> float:
    """Return the factor from the Gram matrix of a sample: its sum of squares, its row sums and its diagonal.

    A shift of the features or of the kernel by a constant changes nothing. What pairs of a row with itself add falls as 1 over
    the number of rows, so it is less for all `n_rows` than for the sample.
    """
    n = sums.size
    if n < _LEAST_ROWS:
        return 1.0
    others = sums - own
    different = squares - float(own @ own) - 2.0 / (n - 2) * float(others @ others)
    unbiased = (different + float(others.sum()) ** 2 / ((n - 1.0) * (n - 2))) / (n * (n - 3.0))
    plain = (squares - 2.0 / n * float(sums @ sums) + (float(sums.sum()) / n) ** 2) / (n - 1.0) ** 2
    if not plain > 0.0:
        return 1.0
    added = max(plain - unbiased, 0.0) * n / n_rows
    return float(np.clip(np.sqrt(max(unbiased, 0.0) / max(unbiased + added, _ROUNDING * plain)), _NARROWEST, 1.0))


def _with_trace(values: Floats, trace: float) -> Floats:
    """Scale eigenvalues of a sample of rows to the trace of all rows; for constant rows all are 0 and stay so."""
    total = float(values.sum())
    return np.asarray(values * (trace / total)) if total > 0 else values


def _shared_factors(kernels: Sequence[Kernel]) -> list[float] | None:
    """Return bandwidth_0 / bandwidth_i if the kernels differ only in a scalar bandwidth: they share one projection."""
    first = kernels[0]
    factors = []
    for kernel in kernels:
        if type(kernel) is not type(first) or not isinstance(kernel, Stationary) or not isinstance(first, Stationary):
            return None
        mine, reference = kernel.bandwidth, first.bandwidth
        if not isinstance(mine, float) or not isinstance(reference, float):
            return None
        if {**kernel.identity, "bandwidth": None} != {**first.identity, "bandwidth": None}:
            return None
        factors.append(reference / mine)
    return factors
