"""Cosine and sine features of projections w.x: the common base of Fourier and Fastfood."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from supersample._random import Seed, as_seed
from supersample._threads import BLOCK_ROWS, cut, map_blocks, pad
from supersample._typing import Features, Floats, Indices, Points, RandomState, Reals
from supersample._validation import check_count, choose
from supersample.device.arrays import Home
from supersample.errors import InputError, InputTypeError, MismatchError
from supersample.features.base import FeatureMap, as_dtype, resolved_kernel
from supersample.features.on_device import DeviceMap, WavesOnDevice
from supersample.kernels import KernelLike, Stationary

__all__ = ["Projection", "RandomFourier"]

#: For bandwidths above 2^40 or below 2^-40, rows and frequencies are rescaled by a power of two.
_FLOAT32_SAFE = 40.0
#: Blocks of rows shorter than this share of the overflow limit are not checked for overflow.
_ROOM = 1e-2
#: Blocks that one task of the thread pool takes.
_BLOCKS_A_TASK = 4


#: A function that writes the projections W x of a block of rows (rows x n_frequencies) into its second argument.
Projection = Callable[[Reals, Reals], Any]


class _Prepared(NamedTuple):
    """The draws for rows of one width, the projection by them, the unit of rows, and the length up to which none overflows."""

    n_inputs: int
    drawn: Any
    project: Projection
    unit: float
    harmless: float


class RandomFourier(FeatureMap):
    """Random waves: features cos(w.x) and sin(w.x) for frequencies w from the kernel's spectral measure.

    Frequencies, phases and amplitude are rounded to float32 for either dtype, so that the two dtypes differ only by the
    rounding of their arithmetic. form "paired": sqrt(2 k0 / D) [cos(W x); sin(W x)] with D / 2 frequencies; |phi(x)|^2 = k0. An
    odd D adds one feature of the other form. form "phase": sqrt(2 k0 / D) cos(W x + b) with D frequencies and uniform phases b
    (Paige, Sejdinovic and Wood 2016, eq. 8).
    """

    def __init__(
        self,
        kernel: KernelLike,
        n_features: int,
        *,
        form: Literal["paired", "phase"],
        dtype: npt.DTypeLike,
        origin: npt.ArrayLike,
        random_state: RandomState,
    ) -> None:
        self.kernel = resolved_kernel(kernel)
        if not self.kernel.has_spectrum:
            raise InputError(
                f"{type(self).__name__} features need a shift-invariant kernel (Gaussian, Laplacian, Matern, Cauchy, sums of "
                f"them), got {self.kernel!r}; use Nystroem features, which work for every kernel"
            )
        self.n_features = check_count(n_features, "n_features")
        self.form = choose(form, "form", ("paired", "phase"))
        self.dtype = as_dtype(dtype)
        self.seed = as_seed(random_state)
        self.origin = _checked_origin(origin)
        self._is_centred = bool(np.any(self.origin))
        self._amplitude = np.float32(np.sqrt(2.0 * self.kernel.k0 / self.n_features))
        self._prepared: _Prepared | None = None

    @classmethod
    def restored(cls, *, seed: Seed, **options: Any) -> Self:
        """Return the map with these options and this seed; they determine all its draws."""
        return cls(**options, random_state=seed.sequence())

    @property
    def n_frequencies(self) -> int:
        """Half as many as features in the paired form (rounded up), as many in the phase form."""
        return (self.n_features + 1) // 2 if self.form == "paired" else self.n_features

    @property
    def squared_norm(self) -> float | None:
        """k0 for pairs of cosine and sine."""
        if self.form != "paired" or self.n_features % 2:
            return None
        return float(self._amplitude) ** 2 * self.n_frequencies

    @property
    def identity(self) -> Mapping[str, Any]:
        """Kernel, size, form, dtype, origin and seed."""
        return {
            "map": type(self).__name__,
            "kernel": dict(self.kernel.identity),
            "n_features": self.n_features,
            "form": self.form,
            "dtype": self.dtype.name,
            "origin": self.origin.tolist(),
            "seed": [self.seed.entropy, *self.seed.path],
        }

    @abstractmethod
    def _draw(self, n_inputs: int, unit: float) -> Any:
        """Draw the parameters of the projection for rows measured in `unit`; they depend on the seed and the width only."""

    @abstractmethod
    def _steepest(self, drawn: Any) -> float:
        """Return an upper bound on all intermediate numbers in the projection of a row of length one."""

    @abstractmethod
    def _widened(self, drawn: Any) -> Any:
        """Return the draws in float64."""

    @abstractmethod
    def _projection(self, drawn: Any) -> Projection:
        """Return the projection by these draws."""

    def drawn(self, n_inputs: int) -> Any:
        """Return the draws for this width; they are made at the first call."""
        return self._prepare(n_inputs).drawn

    def _prepare(self, n_inputs: int) -> _Prepared:
        held = self._prepared
        if held is None or held.n_inputs != n_inputs:
            if self.origin.size not in (1, n_inputs):
                raise MismatchError(
                    f"origin has {self.origin.size} values and the points have {n_inputs} columns; pass one value a column"
                )
            unit = self._choose_unit(n_inputs)
            with np.errstate(over="ignore"):
                drawn = self._draw(n_inputs, unit)
                steepest = self._steepest(drawn)
            if not np.isfinite(steepest):
                raise InputError(
                    f"kernel {self.kernel!r} has bandwidths too small, or too far apart, for float32 to hold its frequencies; "
                    f"pass larger ones, and scale the points with them"
                )
            harmless = _ROOM * float(np.finfo(self.dtype).max) / max(steepest, 1e-300)
            held = _Prepared(n_inputs, drawn, self._projection(drawn), unit, harmless)
            self._prepared = held  # in one step: threads may share a map
        return held

    def frequency_matrix(self, n_inputs: int) -> Floats:
        """Return the frequencies in float64, one a column (n_inputs x n_frequencies)."""
        held = self._prepare(n_inputs)
        rows = np.eye(n_inputs, dtype=self.dtype)
        out = np.empty((n_inputs, self.n_frequencies), dtype=self.dtype)
        held.project(rows, out)
        return out.astype(np.float64) / held.unit

    def _choose_unit(self, n_inputs: int) -> float:
        """Return the unit of rows and frequencies: 1, or a power of two near bandwidths that float32 cannot hold."""
        typical = 0.0
        if isinstance(self.kernel, Stationary):
            typical = float(np.log2(self.kernel.scale(np.ones((1, n_inputs)))).mean())
        return float(2.0 ** -np.round(typical)) if abs(typical) > _FLOAT32_SAFE else 1.0

    def fill(self, points: Points, out: Features) -> None:
        """Write the features block by block on all cores."""
        self.fill_family(points, (1.0,), [out])

    def fill_family(self, points: Points, factors: Sequence[float], outs: Sequence[Features]) -> None:
        """Write the features for all frequencies times each of `factors`, with one projection for all.

        A factor of c gives the same kernel with its bandwidth divided by c, and shared frequencies.
        """
        held = self._prepare(points.shape[1])
        size = BLOCK_ROWS
        largest = self.dtype.type(max(1.0, *factors))
        harmless = min(held.harmless / float(largest), 1e150) ** 2

        def work(task: slice) -> None:
            for start in range(task.start, task.stop, size):
                stop = min(start + size, task.stop)
                projections = np.empty((size, self.n_frequencies), dtype=self.dtype)
                with np.errstate(over="ignore", invalid="ignore"):
                    block = pad(self._measured(points[start:stop], held.unit).astype(self.dtype, copy=False))
                    held.project(block, projections)
                    far = np.empty(0, dtype=np.int64)
                    flat = block.reshape(-1)
                    if not float(flat @ flat) < harmless:
                        far = np.flatnonzero(~np.isfinite(projections[: stop - start] * largest).all(axis=1))
                        projections[far] = 0.0
                for factor, out in zip(factors, outs, strict=True):
                    self._wave(held.drawn, projections[: stop - start], factor, out[start:stop])
                if far.size:
                    self._fill_far(held, points[start:stop][far], factors, [(out, start + far) for out in outs])

        map_blocks(work, cut(points.shape[0], size * _BLOCKS_A_TASK))

    def _measured(self, points: Points, unit: float) -> Points:
        rows = points - self.origin if self._is_centred else points
        return rows.astype(np.float64) / unit if unit != 1.0 else rows

    def _fill_far(
        self, held: _Prepared, points: Points, factors: Sequence[float], places: Sequence[tuple[Features, Indices]]
    ) -> None:
        """Write the features of rows whose projections overflow in the map's dtype; they are projected in float64."""
        wide = np.empty((BLOCK_ROWS, self.n_frequencies))
        with np.errstate(over="ignore", invalid="ignore"):
            block = pad(self._measured(points.astype(np.float64), held.unit))
            self._projection(self._widened(held.drawn))(block, wide)
            angles = [wide[: points.shape[0]] * factor for factor in factors]
        if not all(bool(np.isfinite(each).all()) for each in angles):
            raise InputError(
                f"points: a row that reaches {float(np.abs(points).max()):.3g} lies more bandwidths away than float64 can "
                f"hold, for {self!r}; pass a larger bandwidth, or scale the points"
            )
        for each, (out, rows) in zip(angles, places, strict=True):
            features = np.empty((rows.size, self.n_features), dtype=self.dtype)
            self._wave(held.drawn, each, 1.0, features)
            out[rows] = features

    def on_device(self, home: Home, n_inputs: int) -> DeviceMap:
        """Copy the draws there."""
        held = self._prepare(n_inputs)
        has_phases = self.form == "phase" or self.n_features % 2 == 1
        return WavesOnDevice(
            home,
            frequencies=self.frequency_matrix(n_inputs),
            origin=np.broadcast_to(self.origin, (n_inputs,)),
            heights=self._heights(held.drawn),
            phases=self._phases() if has_phases else None,
            n_features=self.n_features,
            dtype=self.dtype,
            harmless=held.harmless * held.unit,
        )

    def terms(self, squares: Floats) -> Floats:
        """Return one term for each pair of cosine and sine, from squared differences of mean features; their mean is MMD^2."""
        half = self.n_features // 2
        return np.asarray(half * (squares[:half] + squares[half : 2 * half]))

    def largest_weight(self, n_inputs: int) -> float:
        """Return an upper bound of the frequencies' weights, relative to equal ones, for rows of this width."""
        return 1.0

    def _wave(self, drawn: Any, projections: Reals, factor: float, out: Features) -> None:
        if factor != 1.0:
            projections = projections * self.dtype.type(factor)
        if self.form == "paired":
            half = self.n_features // 2
            np.cos(projections[:, :half], out=out[:, :half])
            np.sin(projections[:, :half], out=out[:, half : 2 * half])
            if self.n_features % 2:
                np.cos(projections[:, -1] + self._phases()[-1], out=out[:, -1])
        else:
            np.cos(projections + self._phases(), out=out)
        out *= self._heights(drawn)

    def _heights(self, drawn: Any) -> Any:
        """Return the amplitude of the waves: one number, or one for each feature."""
        return self.dtype.type(self._amplitude)

    def _phases(self) -> Reals:
        phases: Floats = self.seed.child("phases").generator().uniform(0.0, 2.0 * np.pi, self.n_frequencies)
        return phases.astype(np.float32).astype(self.dtype)


def _checked_origin(origin: npt.ArrayLike) -> Floats:
    try:
        array = np.atleast_1d(np.asarray(origin, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise InputTypeError(f"origin must be a number or one number for each column, got {origin!r}") from error
    if array.ndim != 1 or not bool(np.isfinite(array).all()):
        raise InputError(f"origin must be a finite number or one for each column, got {origin!r}")
    return array
