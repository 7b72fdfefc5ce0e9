"""From projections w.x to cosine and sine features: what Fourier and Fastfood share."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from supersample._random import as_seed
from supersample._threads import BLOCK_ROWS, cut, map_blocks, pad
from supersample._typing import Features, Floats, Points, RandomState, Reals
from supersample.errors import MismatchError
from supersample.features.base import FeatureMap, as_dtype, resolved_kernel
from supersample.features.kernels import KernelLike
from supersample.records.arrays import check_count, choose

__all__ = ["Waves"]

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
        self.n_features = check_count(n_features, "n_features")
        self.form = choose(form, "form", ("paired", "phase"))
        self.dtype = as_dtype(dtype)
        self.seed = as_seed(random_state)
        self.origin = np.atleast_1d(np.asarray(origin, dtype=np.float64))
        self._amplitude = np.float32(np.sqrt(2.0 * self.kernel.k0 / self.n_features))
        self._drawn: tuple[int, Any] | None = None

    @property
    def n_frequencies(self) -> int:
        """Half as many as features in the paired form (rounded up), as many in the phase form."""
        return (self.n_features + 1) // 2 if self.form == "paired" else self.n_features

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
    def _draw(self, n_inputs: int) -> Any:
        """Draw what the projection needs for inputs of this width; a function of the seed and the width alone."""

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
            self._drawn = (n_inputs, self._draw(n_inputs))
        return self._drawn[1]

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

        def work(task: slice) -> None:
            for start in range(task.start, task.stop, size):
                stop = min(start + size, task.stop)
                rows = points[start:stop]
                rows = (rows - self.origin if centred else rows).astype(self.dtype, copy=False)
                projections = np.empty((size, self.n_frequencies), dtype=self.dtype)
                self._project(drawn, pad(rows), projections)
                for factor, out in zip(factors, outs, strict=True):
                    self._wave(projections[: stop - start], factor, out[start:stop])

        map_blocks(work, cut(points.shape[0], size * _BLOCKS_A_TASK))

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
