"""Nystroem features: any positive-definite kernel, through its values at a few landmarks."""

import hashlib
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import linalg

from supersample._checks import require, within
from supersample._products import RowProduct
from supersample._random import Seed, as_seed
from supersample._stored import DTYPE, FLOATS, NUMBER, REALS, instance_of, stored
from supersample._threads import BLOCK_ROWS, cut, map_blocks, one_blas_thread, pad
from supersample._typing import Features, Floats, Indices, Points, PointsLike, RandomState, Reals
from supersample._validation import check_count
from supersample.device.arrays import Home
from supersample.errors import InputError
from supersample.features.base import FeatureMap, as_dtype, resolved_kernel
from supersample.features.on_device import DeviceMap, NystroemOnDevice
from supersample.features.pivots import Enough, PivotedFactor
from supersample.kernels import Kernel, KernelLike, as_kernel
from supersample.kernels.base import as_float64
from supersample.kernels.singles import single_against

__all__ = ["TRACE_TOLERANCE", "Nystroem", "landmarks_of", "pivoted_landmarks"]

_SAMPLE_ROWS = 5000
#: At or above this tolerance, float32 maps multiply in float32.
_SINGLE_TOLERANCE = 1e-7
#: Pivots are drawn until this share of the sum of k(x, x) is left: the rest is rounding noise.
TRACE_TOLERANCE = 1e-12
#: The first pivots are drawn one by one, later ones so many at a time.
_ONE_BY_ONE, _TOGETHER = 256, 64
#: More landmarks than this are whitened by their Cholesky factor: a tenth of the time, and half of the products for each row.
_MOST_BY_EIGENVALUES = 256


@stored(
    "Nystroem",
    {"kernel": instance_of(Kernel), "landmarks": FLOATS, "whitening": REALS, "tolerance": NUMBER, "dtype": DTYPE},
    tag="map",
    make="restored",
)
class Nystroem(FeatureMap):
    """Features phi(x) = K_ZZ^-1/2 k_Z(x) on landmarks Z, for any positive-definite kernel (Williams and Seeger 2001).

    phi(x).phi(y) = k_Z(x) K_ZZ^-1 k_Z(y) is exact at the landmarks and the best approximation by functions in their span; far
    from all landmarks it falls to zero, so landmarks must cover the data. The features are ordered by falling eigenvalue; there
    are as many as the numerical rank of K_ZZ, at most one a landmark. Whitening is done in float64. Costs O(n l (d + D)) for l
    landmarks, and O(l^3) once; O(l (l + d)) memory beside the features.

    >>> from supersample.kernels import Function
    >>> phi = Nystroem(Function(lambda x, y: (1 + x @ y.T) ** 2, name="square"), [[0.0], [1.0], [2.0]])
    >>> x = phi.transform([[3.0], [4.0]])
    >>> round(float(x[0] @ x[1]), 2)
    169.0
    """

    def __init__(
        self,
        kernel: KernelLike,
        landmarks: PointsLike,
        *,
        tolerance: float = 1e-10,
        dtype: npt.DTypeLike = np.float32,
    ) -> None:
        """Fix kernel and landmarks, and whiten.

        tolerance: eigenvalues under this share of the largest are left out; under 1e-12 they would be rounding noise.
        """
        resolved, points = resolved_kernel(kernel), as_float64(landmarks, "landmarks")
        if not 1e-12 <= tolerance < 1:
            raise InputError(f"tolerance must lie between 1e-12 and 1, got {tolerance!r}")
        with one_blas_thread():
            whitening = _whiten(resolved, points, tolerance)
        self._fix(resolved, points, whitening, float(tolerance), as_dtype(dtype))

    @classmethod
    def restored(
        cls, kernel: Kernel, landmarks: Floats, whitening: Reals, *, tolerance: float, dtype: npt.DTypeLike
    ) -> "Nystroem":
        """Return a map with its stored whitening: recomputed elsewhere, its directions could be rotated or reversed."""
        restored = cls.__new__(cls)
        require(bool(np.isfinite(landmarks).all()), "the landmarks are not finite")
        restored._fix(kernel, landmarks, whitening, tolerance, as_dtype(dtype))
        return restored

    def _fix(self, kernel: Kernel, landmarks: Floats, whitening: Reals, tolerance: float, dtype: np.dtype[Any]) -> None:
        self.kernel, self.landmarks, self.tolerance, self.dtype = kernel, landmarks, tolerance, dtype
        # Rounding errors grow by the root of 1 / tolerance: float32 is accurate enough only if few directions are kept.
        working = np.float32 if dtype == np.float32 and tolerance >= _SINGLE_TOLERANCE else np.float64
        self.whitening: Reals = whitening.astype(working)
        self._whiten = RowProduct(self.whitening)
        self._to_landmarks = single_against(kernel, landmarks) if working == np.float32 else kernel.against(landmarks)
        self.n_features = whitening.shape[1]

    @classmethod
    def from_sample(
        cls,
        kernel: KernelLike,
        sample: PointsLike,
        n_landmarks: int = 200,
        *,
        dtype: npt.DTypeLike = np.float32,
        random_state: RandomState = None,
    ) -> Self:
        """Choose landmarks from (at most 5,000 rows of) a sample by randomly pivoted Cholesky.

        A "median" bandwidth is resolved from the sample.
        """
        resolved, landmarks = landmarks_of(kernel, sample, n_landmarks, as_seed(random_state), TRACE_TOLERANCE)
        return cls(resolved, landmarks, dtype=dtype)

    @property
    def by_cholesky(self) -> bool:
        """Whether the whitening is triangular, that of a Cholesky factor."""
        return self.landmarks.shape[0] > _MOST_BY_EIGENVALUES and not bool(np.tril(self.whitening, -1).any())

    @property
    def identity(self) -> Mapping[str, Any]:
        """Kernel, dtype and digests of the landmarks and their whitening."""
        return {
            "map": "Nystroem",
            "kernel": dict(self.kernel.identity),
            "n_features": self.n_features,
            "dtype": self.dtype.name,
            "tolerance": self.tolerance,
            "n_landmarks": self.landmarks.shape[0],
            "n_inputs": self.landmarks.shape[1],
            "landmarks": _digest(self.landmarks),
            "whitening": _digest(self.whitening),
        }

    def fill(self, points: Points, out: Features) -> None:
        """Write kernel values to the landmarks, whitened, block by block on all cores."""
        width = self.landmarks.shape[1]
        if points.shape[1] != width:
            raise InputError(
                f"points must have {width} columns like the landmarks, got {points.shape[1]}; pass the same columns"
            )

        def work(rows: slice) -> None:
            values = self._to_landmarks(np.asarray(pad(points[rows]), dtype=np.float64))
            whitened = self._whiten(values.astype(self.whitening.dtype, copy=False))
            out[rows] = whitened[: rows.stop - rows.start]

        map_blocks(work, cut(points.shape[0], BLOCK_ROWS))

    def on_device(self, home: Home, n_inputs: int) -> DeviceMap:
        """Copy landmarks and whitening there."""
        if n_inputs != self.landmarks.shape[1]:
            raise InputError(
                f"points must have {self.landmarks.shape[1]} columns like the landmarks, got {n_inputs}; pass the same columns"
            )
        return NystroemOnDevice(home, self.kernel, self.landmarks, self.whitening, self.dtype)

    def check(self) -> None:
        """Refuse landmarks and a whitening that do not fit together."""
        require(self.landmarks.ndim == 2, "the landmarks are incomplete")
        require(1e-12 <= self.tolerance < 1, "the landmarks are impossible")
        # Eigenvalues under the tolerance, as a share of the largest, were left out; the largest is at least k(x, x).
        most = 2.0 / np.sqrt(self.tolerance * float(self.kernel.diagonal(self.landmarks).max()))
        require(self.whitening.shape[0] == self.landmarks.shape[0], "the landmarks are incomplete")
        require(within(self.whitening, most), "the landmarks are impossible")


def landmarks_of(
    kernel: KernelLike, sample: PointsLike, n_landmarks: int, seed: Seed, tolerance: float, enough: Enough | None = None
) -> tuple[Kernel, Floats]:
    """Return the kernel, with a "median" bandwidth resolved from the sample, and landmarks chosen from the sample."""
    rows = as_float64(sample, "sample")
    resolved = as_kernel(kernel).resolve(rows, random_state=seed.sequence())
    count = check_count(n_landmarks, "n_landmarks")
    return resolved, rows[pivoted_landmarks(resolved, rows, count, seed=seed, tolerance=tolerance, enough=enough)]


@one_blas_thread()
def pivoted_landmarks(
    kernel: Kernel,
    sample: Floats,
    n_landmarks: int,
    *,
    seed: Seed,
    tolerance: float = TRACE_TOLERANCE,
    enough: Enough | None = None,
) -> Indices:
    """Choose rows by randomly pivoted Cholesky (Chen, Epperly, Tropp and Webber 2022).

    Each pivot is drawn in proportion to the residual of k(x, x) after the earlier ones; stops early when less than `tolerance`
    of the sum is left, or as `enough` says. Uses only the first 5,000 rows of a random permutation. O(n l^2) time, O(n l)
    memory.
    """
    generator = seed.child("landmarks").generator()
    pool = np.sort(generator.permutation(sample.shape[0])[:_SAMPLE_ROWS])
    factor = PivotedFactor(kernel, sample[pool], n_landmarks, tolerance)
    while not factor.done and not (enough is not None and factor.spans(enough)):
        if len(factor.chosen) < _ONE_BY_ONE:
            factor.add(generator)
        else:
            factor.add_some(_TOGETHER, generator)
    return np.asarray(pool[factor.chosen], dtype=np.int64)


def _digest(values: Reals) -> str:
    return hashlib.sha256(np.ascontiguousarray(values, dtype="<f8").tobytes()).hexdigest()


def _whiten(kernel: Kernel, landmarks: Floats, tolerance: float) -> Floats:
    """Return W with W W^T = K_ZZ^-1: U L^-1/2 of K_ZZ = U L U^T, largest eigenvalues first, without rounding noise.

    For many landmarks the transposed inverse of the Cholesky factor, unless that would be large with noise.
    """
    gram = kernel(landmarks)
    if landmarks.shape[0] > _MOST_BY_EIGENVALUES:
        triangle = _inverse_factor(gram)
        if triangle is not None and within(triangle, 1.0 / np.sqrt(tolerance * float(np.diag(gram).max()))):
            return triangle
    values, vectors = linalg.eigh(gram)
    keep = values > tolerance * max(float(values[-1]), 0.0)
    if not bool(keep.any()):
        raise InputError("landmarks: the kernel is zero at all of them, so they span nothing; choose other landmarks")
    order = np.argsort(values)[::-1][: int(keep.sum())]
    whitening: Floats = np.ascontiguousarray(vectors[:, order] / np.sqrt(values[order]))
    return whitening


def _inverse_factor(gram: Floats) -> Floats | None:
    """Return the transposed inverse of the Cholesky factor, upper triangular; None if the matrix has none."""
    try:
        factor = linalg.cholesky(gram, lower=True, check_finite=False)
    except linalg.LinAlgError:
        return None
    return np.ascontiguousarray(linalg.lapack.dtrtri(factor, lower=1)[0].T)
