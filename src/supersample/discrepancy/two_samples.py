"""Two checked samples with a common origin, and a kernel resolved from the pooled rows only."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from supersample._random import Seed
from supersample._typing import Floats, Indices, Points, PointsLike
from supersample._validation import check_points, check_same_width
from supersample.device.arrays import Home, home_of
from supersample.device.checks import check_device_points, host_rows
from supersample.errors import InputError
from supersample.features import Fastfood, Fourier
from supersample.features.random_fourier import RandomFourier
from supersample.kernels import Kernel

__all__ = ["TwoSamples", "pool", "resolve_all", "wave_map"]

#: Rows of each sample that the origin and the median distance are taken from.
_LOOK = 1000
#: Rows of both samples that a kernel function is tested on.
_TRIED = 50


class TwoSamples(NamedTuple):
    """Two checked samples and a point near their middle.

    home: where they lie; None for NumPy arrays.
    """

    x: Any
    y: Any
    origin: Floats
    home: Home | None = None

    @property
    def n(self) -> int:
        """Rows of both together."""
        return int(self.x.shape[0] + self.y.shape[0])

    def rows(self, start: int, stop: int) -> Any:
        """Return pooled rows start to stop, those of x before those of y."""
        m = int(self.x.shape[0])
        if stop <= m:
            return self.x[start:stop, :]
        if start >= m:
            return self.y[start - m : stop - m, :]
        concatenate = np.concatenate if self.home is None else self.home.xp.concat
        return concatenate([self.x[start:, :], self.y[: stop - m, :]])

    def sample(self, size: int, seed: Seed) -> Points:
        """Return at most `size` pooled rows, drawn without regard to which sample they come from."""
        chosen = np.sort(seed.generator().permutation(self.n)[:size])
        return self.at(chosen)

    def at(self, places: Indices) -> Points:
        """Return some pooled rows, given in rising order, on the host."""
        m = int(self.x.shape[0])
        parts = ((self.x, places[places < m]), (self.y, places[places >= m] - m))
        return np.concatenate([rows[own] if self.home is None else host_rows(rows, own, self.home) for rows, own in parts])


def pool(x: PointsLike, y: PointsLike, *, min_rows: int) -> TwoSamples:
    """Check both samples against each other."""
    home = home_of(X=x, Y=y)
    left, right = (
        check_points(each, name, min_rows=min_rows)
        if home is None
        else check_device_points(each, name, home, min_rows=min_rows)
        for each, name in ((x, "X"), (y, "Y"))
    )
    check_same_width(left, right, "X", "Y")
    first = [rows[:_LOOK] if home is None else home.host(rows[: min(_LOOK, rows.shape[0]), :]) for rows in (left, right)]
    return TwoSamples(left, right, np.concatenate(first).mean(axis=0, dtype=np.float64), home)


def resolve_all(kernels: Sequence[Kernel], samples: TwoSamples, seed: Seed) -> tuple[Kernel, ...]:
    """Resolve "median" bandwidths from a sample of the pooled rows: using the labels would invalidate the level."""
    places = np.linspace(0, samples.n - 1, min(_TRIED, samples.n)).astype(np.int64)
    for kernel in kernels:
        kernel.check_on(samples.at(places).astype(np.float64), differences=True)
    if all(kernel.is_resolved for kernel in kernels):
        return tuple(kernels)
    rows = samples.sample(_LOOK, seed.child("bandwidth"))
    if rows.shape[0] < 2:
        raise InputError("bandwidth='median' needs at least two rows in X and Y together; pass a bandwidth as a number")
    return tuple(kernel.resolve(rows) for kernel in kernels)


def wave_map(kernel: Kernel, method: str, n_features: int, samples: TwoSamples, seed: Seed) -> RandomFourier:
    """Build the map of method "fourier" or "fastfood"; one seed gives shared frequencies."""
    if not kernel.has_spectrum:
        raise InputError(
            f"method={method!r} needs a shift-invariant kernel (Gaussian, Laplacian, Matern, Cauchy, sums of them), got "
            f"{kernel!r}; use method='exact', which works for every kernel"
        )
    if method == "fastfood":
        return Fastfood(kernel, n_features, origin=samples.origin, random_state=seed.sequence())
    return Fourier(kernel, n_features, origin=samples.origin, random_state=seed.sequence())
