"""Candidates and a target in the space of one kernel: the products that greedy selection needs, exact or by features."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from supersample._random import Seed
from supersample._threads import cut, map_blocks
from supersample._typing import Features, Floats, Indices, Mask, Points, PointsLike
from supersample._validation import check_points
from supersample.device.arrays import Home, home_of
from supersample.device.checks import check_device_points, spread_rows
from supersample.embedding import MeanEmbedding, moments
from supersample.embedding.moments import squared_norms
from supersample.errors import InputError, InputTypeError, MismatchError
from supersample.features import FeatureMap
from supersample.kernels import Kernel, KernelLike, as_kernel
from supersample.kernels.bandwidth import Bandwidth
from supersample.kernels.singles import SingleGram
from supersample.kernels.stationary import WIDEST_BY_DIFFERENCES
from supersample.measures import Empirical, Measure
from supersample.measures.mean_only import MeanOnly
from supersample.selection.batch.bandwidth import resolved, rows_of
from supersample.selection.batch.columns import LARGE, Columns, FeatureColumns, KernelColumns
from supersample.selection.greedy import first_best
from supersample.selection.pool import is_rounded

__all__ = [
    "DRAWS",
    "CandidateSpace",
    "ExactCandidates",
    "FeatureCandidates",
    "TargetLike",
    "as_measure",
    "build",
    "drawn_where_open",
]

#: A measure, an array of points, or None for the candidates themselves.
TargetLike = Measure | PointsLike | None

_TILE = 1 << 16
_BLOCK_ELEMENTS = 1 << 22
#: Rows of a part of a column of many wide candidates.
_PART = 8192
#: A bound on the error of z and of mean columns by kernel values in float32: ten times the largest that was seen.
_ROUNDED = 2e-7
#: Candidates whose z is computed in both ways, to correct the mean error of the others.
_BOTH = 128
#: Draws that replace a measure without a closed form, or from which its mean features are computed.
DRAWS = 20_000
#: Candidates that a kernel function is tested on.
_TRIED = 50


class CandidateSpace(ABC):
    """N candidates x with z(x) = <mu, phi(x)>, k(x, x), and <phi(x), phi(y)> for the chosen y, in one inner product."""

    kernel: Kernel
    measure: Measure
    points: Points
    z: Floats
    diagonal: Floats
    note: str
    home: Any = None
    #: A bound on the error of z, and of means of the columns that `fast` computes.
    error: float = 0.0
    fast: Columns | None = None

    @property
    def scale(self) -> float:
        """The largest k(x, x)."""
        return float(self.diagonal.max())

    def zeros(self) -> Any:
        """Return a zero for each candidate."""
        return np.zeros(self.size)

    def columns(self, count: int) -> Any:
        """Return room for so many columns."""
        return np.empty((count, self.size))

    def put_column(self, columns: Any, place: int, column: Any) -> Any:
        """Return the columns with one of them written."""
        columns[place] = column
        return columns

    def combined(self, weights: Floats, columns: Any) -> Any:
        """Return the sum of columns with these weights."""
        return weights @ columns[: weights.size]

    def first_best(self, values: Any) -> int:
        """Return the place of the largest value; of values equal up to rounding, the first; -1 if all are -inf."""
        return first_best(values, self.scale)

    def barred(self, values: Any, indices: list[int]) -> Any:
        """Return the values with some set to -inf."""
        values[indices] = -np.inf
        return values

    def z_of(self, indices: Indices, rows: Floats) -> Floats:
        """Return z of chosen candidates."""
        return np.asarray(self.z[indices])

    def row(self, index: int) -> Floats:
        """Return one candidate in float64."""
        return np.asarray(self.points[index], dtype=np.float64)

    @property
    def size(self) -> int:
        """The number of candidates."""
        return int(self.z.size)

    @abstractmethod
    def column(self, row: Floats) -> Floats:
        """Return <phi(x), phi(row)> for every candidate x."""

    def settle(self, places: Indices) -> Floats:
        """Compute z of some candidates exactly, where it was not; return by how much it changed."""
        return np.zeros(places.size)

    @abstractmethod
    def embed(self, rows: Floats) -> tuple[Floats, Floats]:
        """Return z and k(x, x) of rows that need not be candidates."""

    @abstractmethod
    def gram(self, left: Floats, right: Floats) -> Floats:
        """Return the inner products of two small sets of rows."""


class ExactCandidates(CandidateSpace):
    """Exact kernel values: O(N d) a column, O(N) memory.

    If `rounded` allows it, kernel values of many wide candidates and smooth kernels are computed in float32, and added up in
    float64. z and mean columns then have an error of at most `error`, and what the error leaves in question is computed
    exactly before a choice is made (`settle`, `gram`).
    """

    def __init__(self, kernel: Kernel, points: Points, measure: Measure, note: str = "", *, rounded: bool = False) -> None:
        """Embed the candidates."""
        self.kernel, self.points, self.measure, self.note = kernel, points, measure, note
        self._rows = np.asarray(points, dtype=np.float64)
        self._is_own = isinstance(measure, Empirical) and measure.points is points
        self._settled: Mask | None = None
        self._against: list[Callable[[Floats], Floats]] = []
        is_large = points.shape[1] > WIDEST_BY_DIFFERENCES and points.size > LARGE
        tile = _PART if is_large else _TILE
        self._tiles = map_blocks(lambda part: kernel.against(self._rows[part]), cut(points.shape[0], tile))
        gram = SingleGram(kernel, self._rows) if rounded and is_large else None
        if gram is not None and gram.is_rounded:
            self.fast, self.error = KernelColumns(gram), _ROUNDED
        self.z = self._embedded(gram if self.fast is not None else None)
        self.diagonal = kernel.diagonal(self._rows)

    def _embedded(self, gram: SingleGram | None) -> Floats:
        """Return z, in float32 where the candidates' kernel values are and there are many with the target."""
        measure = self.measure
        if not isinstance(measure, Empirical) or measure.features is not None:
            return measure.mean_embedding(self.kernel, self._rows)
        if gram is not None and is_rounded(self._rows, measure.points):
            both = gram if self._is_own else SingleGram(self.kernel, np.concatenate([self._rows, measure.points]))
            if both.is_rounded:
                everything, targets = np.arange(len(self._rows)), slice(len(self._rows), None)
                if self._is_own:
                    self.z = both.embed_all(measure.weights)
                else:
                    self.z = both.embed(targets, measure.weights, everything)
                self._settled = np.zeros(len(self._rows), dtype=np.bool_)
                # The mean error, which would be that of E, is nearly the same everywhere.
                shift = float(self.settle(everything[:: max(1, len(self._rows) // _BOTH)]).mean())
                return np.asarray(np.where(self._settled, self.z, self.z + shift))
        return measure.own_embedding(self.kernel) if self._is_own else measure.mean_embedding(self.kernel, self._rows)

    def settle(self, places: Indices) -> Floats:
        """Compute z of some candidates exactly, where it was not; return by how much it changed."""
        before = self.z[places]
        if self._settled is not None:
            fresh = places[~self._settled[places]]
            if fresh.size:
                rows, back = np.unique(self._rows[fresh], axis=0, return_inverse=True)
                self.z[fresh] = self._exactly(rows)[back.ravel()]
                self._settled[fresh] = True
        return np.asarray(self.z[places] - before)

    def is_settled(self, index: int) -> bool:
        """Whether z of a candidate is exact."""
        return self._settled is None or bool(self._settled[index])

    def settle_by(self, index: int, column: Floats) -> float:
        """Do so for one candidate whose column is known: where the candidates are the target, z follows from it."""
        if self._settled is None or self.is_settled(index) or not self._is_own or not isinstance(self.measure, Empirical):
            return float(self.settle(np.array([index]))[0])
        before = float(self.z[index])
        self.z[index], self._settled[index] = self.measure.weights @ column, True
        return float(self.z[index]) - before

    def _exactly(self, rows: Floats) -> Floats:
        """Return z of a few rows by kernel values in float64."""
        assert isinstance(self.measure, Empirical)
        points, weights = self.measure.points, self.measure.weights
        parts = cut(weights.size, _PART)
        if not self._against:
            self._against = self._tiles if self._is_own else [self.kernel.against(points[part]) for part in parts]
        sums = map_blocks(lambda place: self._against[place](rows) @ weights[parts[place]], list(range(len(parts))))
        return np.asarray(np.sum(sums, axis=0))

    @cached_property
    def energy(self) -> float:
        """E of the target, computed on first use: for many points it costs more than everything else."""
        if self._is_own and isinstance(self.measure, Empirical):
            return float(self.measure.weights @ self.z)
        return self.measure.energy(self.kernel)

    def column(self, row: Floats) -> Floats:
        """Return one row of the Gram matrix, in tiles on all cores where there are many candidates."""
        one = np.ascontiguousarray(row[None])
        return np.concatenate(map_blocks(lambda against: against(one)[0], self._tiles))

    def embed(self, rows: Floats) -> tuple[Floats, Floats]:
        """Return the measure's z and the kernel's diagonal."""
        return self.measure.mean_embedding(self.kernel, rows), self.kernel.diagonal(rows)

    def gram(self, left: Floats, right: Floats) -> Floats:
        """Return exact kernel values."""
        out = np.empty((left.shape[0], right.shape[0]))
        if out.size:
            self.kernel.fill(left, right, out)
        return out


class FeatureCandidates(CandidateSpace):
    """Inner products of features, in z and columns alike so that their errors cancel: O(N D) a column, O(N D) memory."""

    def __init__(self, feature_map: FeatureMap, points: Points, measure: Measure, seed: Seed, note: str = "") -> None:
        """Transform the candidates, and the points of the measure, or draws from it if it has no points."""
        self.kernel, self.points, self.measure, self.note = feature_map.kernel, points, measure, note
        self.map = feature_map
        self.features: Features = np.empty((points.shape[0], feature_map.n_features), dtype=feature_map.dtype)
        self._blocks = cut(points.shape[0], max(1, _BLOCK_ELEMENTS // feature_map.n_features))
        for rows in self._blocks:
            feature_map.fill(points[rows], self.features[rows])
        if isinstance(measure, Empirical) and measure.points is points:
            state = moments.init(feature_map.n_features)
            for rows in self._blocks:
                state = moments.update(state, self.features[rows], moments.scale_weights(measure.weights[rows]))
            self.mean = state.mean()
        elif isinstance(measure, MeanOnly):
            self.mean = measure.mean
        elif isinstance(measure, Empirical):
            self.mean = MeanEmbedding(feature_map).update(measure.points, measure.weights).mean
        else:
            draws = measure.sample(DRAWS, seed.child("mean features").sequence())
            self.mean = MeanEmbedding(feature_map).update(draws).mean
            self.note = " ".join(filter(None, [note, f"Mean features are those of {DRAWS:,} draws from the target."]))
        self.z = self.product(self.mean)
        self.diagonal = squared_norms(self.features)
        if self.features.size > LARGE:
            self.fast = FeatureColumns(self.features)

    @property
    def is_single(self) -> bool:
        """Whether features are held in float32."""
        return bool(self.features.dtype == np.float32)

    def product(self, vector: Floats) -> Floats:
        """Return phi(x).vector for every candidate, on all cores."""
        narrow = vector.astype(self.features.dtype)
        return np.concatenate(map_blocks(lambda rows: self.features[rows] @ narrow, self._blocks)).astype(np.float64)

    def transform(self, rows: Floats) -> Floats:
        """Return the features of a few rows, in float64."""
        return np.asarray(self.map.transform(rows.astype(self.points.dtype)), dtype=np.float64)

    def column(self, row: Floats) -> Floats:
        """Return the products with one row's features."""
        return self.product(self.transform(row[None])[0])

    def embed(self, rows: Floats) -> tuple[Floats, Floats]:
        """Return the products with the mean features, and the squared norms."""
        features = self.transform(rows)
        return np.asarray(features @ self.mean), np.einsum("ij,ij->i", features, features)

    def gram(self, left: Floats, right: Floats) -> Floats:
        """Return products of features."""
        return np.asarray(self.transform(left) @ self.transform(right).T)


def as_measure(target: TargetLike, points: Points, name: str = "candidates") -> Measure:
    """Return the target as a measure: itself, that of an array of points, or that of the candidates."""
    if isinstance(target, Measure):
        if target.dimension != points.shape[1]:
            raise MismatchError(
                f"target is a measure in {target.dimension} dimension{'s' * (target.dimension != 1)} and the {name} have "
                f"{points.shape[1]} column{'s' * (points.shape[1] != 1)}; pass the same columns of both"
            )
        lies = getattr(target, "home", None)
        if isinstance(target, Empirical) and lies != home_of(points=points):
            raise MismatchError(
                f"target must lie where the {name} do, and its points are {'on the host' if lies is None else f'{lies}'}; "
                f"bring both to one device, or to the host"
            )
        return target
    home = home_of(points=points, target=target)
    if home is not None:
        from supersample.measures.on_device import EmpiricalOnDevice

        there = points if target is None else check_device_points(target, "target", home, width=int(points.shape[1]))
        return EmpiricalOnDevice.lying(there, home)
    return Empirical.holding(points if target is None else check_points(target, "target", width=points.shape[1]))


def build(
    candidates: PointsLike,
    target: TargetLike,
    kernel: KernelLike,
    bandwidth: Bandwidth,
    features: FeatureMap | None,
    seed: Seed,
    *,
    rounded: bool = False,
    residuals: bool = False,
) -> CandidateSpace:
    """Check the arguments and put candidates and target into one space.

    A "median" bandwidth is that of the candidates, or of the target where all candidates are equal. A target without a closed
    form for the kernel is replaced by draws, and the note says so. rounded: see `ExactCandidates`. residuals: whether they will
    be taken, for which kernel values of a device must be in float64.
    """
    home = home_of(candidates=candidates, target=None if isinstance(target, Measure) else target)
    points = check_points(candidates, "candidates") if home is None else check_device_points(candidates, "candidates", home)
    given = _kernel(kernel, bandwidth, features)
    if target is None and home is None:
        points = np.ascontiguousarray(points, dtype=np.float64)
    measure = as_measure(target, points)
    with_scale, alike = resolved(given, points, rows_of(measure) if not given.is_resolved else None)
    with_scale.check_on(points.astype(np.float64, copy=False) if home is None else spread_rows(points, _TRIED, home))
    measure, drawn = drawn_where_open(measure, with_scale, seed)
    note = " ".join(filter(None, [alike, drawn]))
    if home is not None:
        return _there(with_scale, features, points, measure, seed, home, note, wide=residuals)
    if features is not None:
        return FeatureCandidates(features, points, measure, seed, note)
    with_scale.check_width(points.shape[1])
    return ExactCandidates(with_scale, points, measure, note, rounded=rounded)


def _there(
    kernel: Kernel,
    features: FeatureMap | None,
    points: Any,
    measure: Measure,
    seed: Seed,
    home: Home,
    note: str,
    *,
    wide: bool,
) -> CandidateSpace:
    """Return the space of candidates on a device."""
    from supersample.measures.on_device import EmpiricalOnDevice
    from supersample.selection.batch.on_device import ExactOnDevice, FeaturesOnDevice  # kinds of the classes above

    if isinstance(measure, Empirical) and not isinstance(measure, EmpiricalOnDevice):  # draws
        measure = EmpiricalOnDevice.lying(home.array(measure.points), home)
    if features is not None:
        return FeaturesOnDevice(features, points, measure, seed, home, note)
    kernel.check_width(int(points.shape[1]))
    return ExactOnDevice(kernel, points, measure, home, note, wide=wide)


def drawn_where_open(measure: Measure, kernel: Kernel, seed: Seed) -> tuple[Measure, str]:
    """Return the measure, or draws in its place if it has no closed form for the kernel, and a note about it."""
    if isinstance(measure, Empirical) or measure.is_exact(kernel):
        return measure, ""
    note = (
        f"{type(measure).__name__} has no closed form for {kernel!r}, so {DRAWS:,} draws stand for it, in every number shown."
    )
    return measure.sampled(DRAWS, seed.child("draws").sequence()), note


def _kernel(kernel: KernelLike, bandwidth: Bandwidth, features: FeatureMap | None) -> Kernel:
    if features is None:
        return as_kernel(kernel, bandwidth)
    if not isinstance(features, FeatureMap):
        raise InputTypeError(
            f"features must be a feature map such as ss.features.Fourier(...) or None, got {type(features).__name__}"
        )
    default = isinstance(kernel, str) and kernel == "gaussian" and bandwidth == "median"
    if not default and as_kernel(kernel, bandwidth).identity != features.kernel.identity:
        raise InputError(
            f"kernel must be left out where features are given: they carry their own, {features.kernel!r}, and kernel is "
            f"{as_kernel(kernel, bandwidth)!r}"
        )
    return features.kernel
