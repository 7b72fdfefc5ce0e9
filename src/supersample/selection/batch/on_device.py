"""Candidates that lie on a device: their products with the chosen points are computed and compared there."""

from functools import cached_property
from typing import Any

import numpy as np

from supersample._random import Seed
from supersample._typing import Floats, Indices
from supersample.device.arrays import Array, Home
from supersample.device.blocks import item_bytes, require_room
from supersample.device.checks import host_rows
from supersample.features import FeatureMap
from supersample.kernels import Kernel
from supersample.measures import Empirical, Measure
from supersample.measures.on_device import EmpiricalOnDevice
from supersample.selection.batch.candidates import DRAWS, ExactCandidates, FeatureCandidates

__all__ = ["ExactOnDevice", "FeaturesOnDevice"]


class _CandidatesOnDevice:
    """What candidates of a device share: numbers for each of them stay there, and those of the chosen few come to the host."""

    home: Any
    #: z is as exact as it will be: nothing is left to settle.
    error: float = 0.0
    fast: Any = None
    points: Any
    z: Any
    diagonal: Any

    @property
    def size(self) -> int:
        """The number of candidates."""
        return int(self.points.shape[0])

    @cached_property
    def scale(self) -> float:
        """The largest k(x, x)."""
        return float(self.home.xp.max(self.diagonal))

    def row(self, index: int) -> Floats:
        """Return one candidate in float64."""
        return np.asarray(self.rows_at(np.array([index]))[0])

    def rows_at(self, indices: Indices) -> Floats:
        """Return some candidates in float64."""
        return np.asarray(host_rows(self.points, indices, self.home), dtype=np.float64)

    def settle(self, places: Indices) -> Floats:
        """Return by how much z of some candidates changes: nothing."""
        return np.zeros(len(places))

    def is_settled(self, index: int) -> bool:
        """Whether z of a candidate will not change: always."""
        return True

    def zeros(self) -> Array:
        """Return a zero for each candidate."""
        return self.home.zeros(self.size)

    def columns(self, count: int) -> Array:
        """Return room for so many columns."""
        needed = count * self.size * item_bytes(self.home, self.home.wide)
        require_room(self.home, needed, f"the columns of {count} points and {self.size:,} candidates", "ask for fewer points")
        return self.home.zeros((count, self.size))

    def put_column(self, columns: Array, place: int, column: Array) -> Array:
        """Return the columns with one of them written."""
        return self.home.put(columns, (place, slice(None)), column)

    def combined(self, weights: Floats, columns: Array) -> Array:
        """Return the sum of columns with these weights."""
        return self.home.array(weights) @ columns[: weights.size, :]

    def first_best(self, values: Array) -> int:
        """Return the place of the largest value; -1 if all are -inf."""
        best = self.home.xp.argmax(values)
        return int(best) if np.isfinite(float(values[int(best)])) else -1

    def barred(self, values: Array, indices: list[int]) -> Array:
        """Return the values with some set to -inf."""
        if not indices:
            return values
        barred = np.zeros(self.size, dtype=np.bool_)
        barred[indices] = True
        return self.home.xp.where(self.home.array(barred), -np.inf * self.home.xp.ones_like(values), values)

    def z_of(self, indices: Indices, rows: Floats) -> Floats:
        """Return z of the chosen candidates, computed again in float64: those of all candidates are rounded."""
        return self.embed(rows)[0]  # type: ignore[attr-defined, no-any-return]


class ExactOnDevice(_CandidatesOnDevice, ExactCandidates):
    """Kernel values in float32, which choose; those of the chosen points are taken again in float64, to judge.

    wide: choose by values in float64, for residuals: what is left of nearly equal numbers would be the rounding of float32.
    """

    def __init__(
        self, kernel: Kernel, points: Array, measure: Measure, home: Home, note: str = "", *, wide: bool = False
    ) -> None:
        self.kernel, self.points, self.measure, self.home, self.note = kernel, points, measure, home, note
        xp = home.xp
        self.dtype = home.wide if wide else home.single
        middle = home.floats(xp.mean(xp.astype(points, home.wide), axis=0))
        self.on_device = kernel.on_device(home, self.dtype, middle)
        self.prepared = self.on_device.prepare(points)
        self.diagonal = xp.astype(self.on_device.diagonal(self.prepared), home.wide)

    @cached_property
    def z(self) -> Array:  # type: ignore[override]
        """The mean embedding at each candidate: on first use, so that what does not fit is refused before it."""
        measure, home = self.measure, self.home
        if not isinstance(measure, EmpiricalOnDevice):
            return home.array(measure.mean_embedding(self.kernel, home.floats(self.points)))
        if measure.lie is self.points:
            return measure.own_there(self.kernel, self.dtype)
        return measure.embed_there(self.kernel, self.points, self.dtype)

    @cached_property
    def energy(self) -> float:
        """E of the target, from z of its own points if their kernel values are as exact as E needs them."""
        measure = self.measure
        if (
            isinstance(measure, EmpiricalOnDevice)
            and measure.lie is self.points
            and measure.features is None
            and self.dtype in (self.home.wide, measure.energy_type)
        ):
            return float(self.home.xp.sum(self.home.array(measure.weights) * self.z))
        return measure.energy(self.kernel)

    def column(self, row: Floats) -> Array:
        """Return kernel values with one row, of the host."""
        return self._column(self.on_device.prepare(self.home.array(row[None])))

    def column_at(self, place: Array) -> Array:
        """Return kernel values with one candidate, whose place lies on the device."""
        return self._column(self.prepared.take(place[None], self.home.xp))

    def _column(self, one: Any) -> Array:
        return self.home.xp.astype(self.on_device.block(self.prepared, one)[:, 0], self.home.wide)

    def embed(self, rows: Floats) -> tuple[Floats, Floats]:
        """Return z and k(x, x) of rows of the host."""
        return self.measure.mean_embedding(self.kernel, rows), self.kernel.diagonal(rows)


class FeaturesOnDevice(_CandidatesOnDevice, FeatureCandidates):
    """Products of features, all of which are held there."""

    def __init__(
        self, feature_map: FeatureMap, points: Array, measure: Measure, seed: Seed, home: Home, note: str = ""
    ) -> None:
        self.kernel, self.points, self.measure, self.home, self.note = feature_map.kernel, points, measure, home, note
        self.map = feature_map
        n_rows, n_inputs = (int(size) for size in points.shape)
        there = feature_map.on_device(home, n_inputs)
        needed = n_rows * feature_map.n_features * item_bytes(home, there.dtype)
        require_room(home, needed, f"{feature_map.n_features} features of {n_rows:,} candidates", "use fewer features")
        far = there.is_far(float(home.xp.max(home.xp.abs(points))))
        self.features = home.zeros((n_rows, feature_map.n_features), there.dtype)
        norms = []
        for part in there.blocks(n_rows):
            some = there.features(points[part, :], far=far)
            self.features = home.put(self.features, (part, slice(None)), some)
            norms.append(home.xp.sum(some * some, axis=1, dtype=home.wide))
        if isinstance(measure, EmpiricalOnDevice):
            self.mean = measure.mean_features(feature_map)
        else:
            assert not isinstance(measure, Empirical)
            self.mean = feature_map.transform(measure.sample(DRAWS, seed.child("mean features").sequence())).mean(axis=0)
            self.note = " ".join(filter(None, [note, f"Mean features are those of {DRAWS:,} draws from the target."]))
        self.z = self.product(self.mean)
        self.diagonal = home.xp.concat(norms)

    @property
    def is_single(self) -> bool:
        """Whether features are held in float32."""
        return bool(self.features.dtype == self.home.single)

    def transform(self, rows: Floats) -> Floats:
        """Return the features of a few rows of the host, in float64."""
        own = np.float32 if self.points.dtype == self.home.single else np.float64
        return np.asarray(self.map.transform(rows.astype(own)), dtype=np.float64)

    def product(self, vector: Floats) -> Array:
        """Return phi(x).vector for every candidate."""
        return self.project(self.home.array(vector))

    def project(self, vector: Array) -> Array:
        """Return the same for a vector of the device."""
        xp = self.home.xp
        return xp.astype(self.features @ xp.astype(vector, self.features.dtype), self.home.wide)

    def column_at(self, place: Array) -> Array:
        """Return the products with one candidate, whose place lies on the device."""
        return self.project(self.home.xp.take(self.features, place[None], axis=0)[0, :])
