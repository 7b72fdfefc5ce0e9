"""From projections w.x to cosine and sine features: what Fourier and Fastfood share."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from supersample._random import as_seed
from supersample._threads import BLOCK_ROWS, cut, map_blocks, pad
from supersample._typing import Features, Floats, Points, RandomState, Reals
from supersample.errors import InputError, InputTypeError, MismatchError
from supersample.features.base import FeatureMap, as_dtype, resolved_kernel
from supersample.features.kernels import KernelLike, Stationary
from supersample.records.arrays import check_count, choose

__all__ = ["Waves"]

#: Bandwidths beyond 2^40 or under 2^-40 are measured in a unit of their own.
_FLOAT32_SAFE = 40.0
#: Blocks of rows so much shorter than what overflows are not looked at more closely.
_ROOM = 1e-2
#: Blocks that one task of the thread pool takes.
_BLOCKS_A_TASK = 4


class Waves(FeatureMap):
    """Random waves: features cos(w.x) and sin(w.x) for frequencies w from the kernel's spectral measure.

    Frequencies, phases and amplitude are rounded to float32 for either dtype, so that the two differ by the rounding of
    their arithmetic alone. form "paired": sqrt(2 k0 / D) [cos(W x); sin(W x)] with D / 2 frequencies; |phi(x)|^2 = k0. An
    odd D adds one feature of the other form. form "phase": sqrt(2 k0 / D) cos(W x + b) with D frequencies and uniform
    phases b (SSR eq. 8).
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
        self._amplitude = np.float32(np.sqrt(2.0 * self.kernel.k0 / self.n_features))
        self._drawn: tuple[int, Any] | None = None
        self._unit = 1.0
        self._harmless = 0.0

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
        """Draw what the projection needs for rows of this width, divided by `unit`; depends on the seed and the width alone."""

    @abstractmethod
    def _steepest(self, drawn: Any) -> float:
        """Return what no number on the way to the projections of a row of length one exceeds."""

    @abstractmethod
    def _project(self, drawn: Any, rows: Reals, out: Reals) -> None:
        """Write the projections W x of a block of rows into `out` (rows x n_frequencies)."""

    def drawn(self, n_inputs: int) -> Any:
        """Return what was drawn for this width, drawing it at the first call."""
        if self._drawn is None or self._drawn[0] != n_inputs:
            if self.origin.size not in (1, n_inputs):
                raise MismatchError(
                    f"origin has {self.origin.size} values and the points have {n_inputs} columns; pass one value a column"
                )
            self._unit = self._choose_unit(n_inputs)
            drawn = self._draw(n_inputs, self._unit)
            steepest = self._steepest(drawn)
            self._harmless = _ROOM * float(np.finfo(self.dtype).max) / steepest if np.isfinite(steepest) else 0.0
            self._drawn = (n_inputs, drawn)
        return self._drawn[1]

    def frequency_matrix(self, n_inputs: int) -> Floats:
        """Return the frequencies in float64, one a column (n_inputs x n_frequencies)."""
        rows = np.eye(n_inputs, dtype=self.dtype)
        out = np.empty((n_inputs, self.n_frequencies), dtype=self.dtype)
        self._project(self.drawn(n_inputs), rows, out)
        return out.astype(np.float64) / self._unit

    def _choose_unit(self, n_inputs: int) -> float:
        """Return 1, or for bandwidths that float32 cannot hold a power of two near them, to measure rows and frequencies in."""
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
        drawn = self.drawn(points.shape[1])
        size = BLOCK_ROWS
        centred = bool(np.any(self.origin))
        unit = self._unit

        def work(task: slice) -> None:
            for start in range(task.start, task.stop, size):
                stop = min(start + size, task.stop)
                rows = points[start:stop]
                projections = np.empty((size, self.n_frequencies), dtype=self.dtype)
                with np.errstate(over="ignore", invalid="ignore"):  # told by the check, which knows the row
                    rows = rows - self.origin if centred else rows
                    rows = (rows.astype(np.float64) / unit if unit != 1.0 else rows).astype(self.dtype, copy=False)
                    block = pad(rows)
                    self._project(drawn, block, projections)
                    if not np.sqrt(np.vdot(block, block)) < self._harmless:
                        self._require_finite(projections[: stop - start], points[start:stop])
                for factor, out in zip(factors, outs, strict=True):
                    self._wave(projections[: stop - start], factor, out[start:stop])

        map_blocks(work, cut(points.shape[0], size * _BLOCKS_A_TASK))

    def _require_finite(self, projections: Reals, points: Points) -> None:
        """Refuse points whose projections have overflowed: their features would not be numbers."""
        finite = np.isfinite(projections).all(axis=1)
        if not finite.all():
            furthest = float(np.abs(points[~finite]).max())  # beside an origin far out, near rows are far too
            raise InputError(
                f"points: a row that reaches {furthest:.3g} lies more bandwidths away than {self.dtype.name} can hold, for "
                f"{self!r}; pass a larger bandwidth, or scale the points"
            )

    def terms(self, squares: Floats) -> Floats:
        """Return one term for each pair of cosine and sine, whose mean is MMD^2, from squared differences of mean features."""
        half = self.n_features // 2
        return np.asarray(half * (squares[:half] + squares[half : 2 * half]))

    def _wave(self, projections: Reals, factor: float, out: Features) -> None:
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
        out *= self.dtype.type(self._amplitude)

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
