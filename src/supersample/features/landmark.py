"""Landmark features plus Fourier features of the residual kernel that the landmarks do not span."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from supersample._checks import FURTHEST, require, within
from supersample._products import RowProduct
from supersample._random import as_seed
from supersample._stored import REALS, instance_of, stored
from supersample._threads import BLOCK_ROWS, cut, map_blocks, one_blas_thread, pad
from supersample._typing import Features, Points, PointsLike, RandomState, Reals
from supersample._validation import check_count
from supersample.device.arrays import Home
from supersample.features.base import FeatureMap, as_dtype
from supersample.features.fourier import Fourier
from supersample.features.nystroem import Nystroem, landmarks_of
from supersample.features.on_device import DeviceMap, LandmarksOnDevice
from supersample.kernels import KernelLike

__all__ = ["SPAN_TOLERANCE", "Landmark"]

#: Eigenvalues of the landmarks' Gram matrix under this share of the largest go to the residual part.
SPAN_TOLERANCE = 1e-6


@stored(
    "Landmark",
    {"spanned": instance_of(Nystroem), "waves": instance_of(Fourier), "overlap": REALS},
    tag="map",
    make="restored",
)
class Landmark(FeatureMap):
    """Nystroem features on landmarks Z, and Fourier features psi of the residual kernel.

    phi(x) = [ K_ZZ^-1/2 k_Z(x) ; psi(x) - psi(Z)^T K_ZZ^-1 k_Z(x) ]. The inner products of the second part approximate
    k(x, y) - k_Z(x) K_ZZ^-1 k_Z(y), the residual kernel. It is near zero where the landmarks cover the data and equals k where
    they do not, so the map is as accurate as Nystroem near the landmarks and as good as Fourier far from them. The map is
    immutable. Needs a shift-invariant kernel. Costs O(n (l (d + r) + (d + r) D)) for l landmarks of numerical rank r and D
    residual features.

    >>> import numpy as np
    >>> import supersample as ss
    >>> sample = np.random.default_rng(0).normal(size=(500, 2))
    >>> phi = Landmark.from_sample(ss.kernels.Gaussian(1.0), sample, n_residual=512, random_state=0)
    >>> x = phi.transform([[0.0, 0.0], [1.0, 0.0], [50.0, 0.0], [51.0, 0.0]])
    >>> bool(abs(x[0] @ x[1] - np.exp(-0.5)) < 1e-3)
    True
    >>> bool(abs(x[2] @ x[3] - np.exp(-0.5)) < 0.1)
    True
    """

    def __init__(
        self,
        kernel: KernelLike,
        landmarks: PointsLike,
        n_residual: int = 128,
        *,
        dtype: npt.DTypeLike = np.float32,
        random_state: RandomState = None,
    ) -> None:
        """Set kernel, landmarks and the frequencies' seed."""
        self.dtype = as_dtype(dtype)
        self.spanned = Nystroem(kernel, landmarks, tolerance=SPAN_TOLERANCE, dtype=self.dtype)
        self.kernel = self.spanned.kernel
        points = self.spanned.landmarks
        self.waves = Fourier(
            self.kernel,
            check_count(n_residual, "n_residual"),
            dtype=self.dtype,
            origin=points.mean(axis=0),
            random_state=random_state,
        )
        self.n_features = self.spanned.n_features + self.waves.n_features
        # psi(Z)^T K_ZZ^-1 k_Z(x) in terms of the spanned features of x: a well-conditioned product, unlike K_ZZ^-1 itself.
        exact = Nystroem(self.kernel, points, tolerance=SPAN_TOLERANCE, dtype=np.float64)
        waves = self.waves.transform(points).astype(np.float64)
        with one_blas_thread():
            if exact.by_cholesky:
                overlap: Reals = exact.whitening.T @ waves
            else:
                overlap = np.linalg.lstsq(exact.transform(points).astype(np.float64), waves, rcond=None)[0]
        self._fix_overlap(overlap.astype(self.dtype))

    @classmethod
    def restored(cls, spanned: Nystroem, waves: Fourier, overlap: Reals) -> "Landmark":
        """Return a map from its stored parts."""
        restored = cls.__new__(cls)
        restored.dtype, restored.kernel = spanned.dtype, spanned.kernel
        restored.spanned, restored.waves = spanned, waves
        restored.n_features = spanned.n_features + waves.n_features
        restored._fix_overlap(overlap)
        return restored

    def _fix_overlap(self, overlap: Reals) -> None:
        self.overlap = overlap
        self._to_waves = RowProduct(overlap)

    @classmethod
    def from_sample(
        cls,
        kernel: KernelLike,
        sample: PointsLike,
        n_landmarks: int = 200,
        n_residual: int = 128,
        *,
        dtype: npt.DTypeLike = np.float32,
        random_state: RandomState = None,
    ) -> Self:
        """Choose at most `n_landmarks` from a sample by randomly pivoted Cholesky, fewer if fewer span it.

        A "median" bandwidth is resolved from the sample.
        """
        seed = as_seed(random_state)
        resolved, landmarks = landmarks_of(kernel, sample, n_landmarks, seed, SPAN_TOLERANCE)
        return cls(resolved, landmarks, n_residual, dtype=dtype, random_state=seed.child("residual").sequence())

    @property
    def identity(self) -> Mapping[str, Any]:
        """The identities of both parts."""
        return {"map": "Landmark", "spanned": dict(self.spanned.identity), "waves": dict(self.waves.identity)}

    def fill(self, points: Points, out: Features) -> None:
        """Write both parts; the second is the waves minus their projection onto the first."""
        rank = self.spanned.n_features
        spanned = np.empty((points.shape[0], rank), dtype=self.dtype)
        self.spanned.fill(points, spanned)
        self.waves.fill(points, out[:, rank:])

        def work(rows: slice) -> None:
            out[rows, :rank] = spanned[rows]
            out[rows, rank:] -= self._to_waves(pad(spanned[rows]))[: rows.stop - rows.start]

        map_blocks(work, cut(points.shape[0], BLOCK_ROWS))

    def on_device(self, home: Home, n_inputs: int) -> DeviceMap:
        """Bring both parts there."""
        return LandmarksOnDevice(self.spanned.on_device(home, n_inputs), self.waves.on_device(home, n_inputs), self.overlap)

    def check(self) -> None:
        """Refuse parts that do not fit together."""
        spanned, waves, overlap = self.spanned, self.waves, self.overlap
        require(type(spanned) is Nystroem and waves.kernel == spanned.kernel, "the landmarks are incomplete")
        require(overlap.shape == (spanned.n_features, waves.n_features), "the landmarks are incomplete")
        require(overlap.dtype == waves.dtype == spanned.dtype, "the landmarks are of different types")
        require(within(overlap, FURTHEST), "the landmarks are impossible")
        spanned.check()
