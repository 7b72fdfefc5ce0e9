"""Held-out features that measure a selection: importance-sampled frequencies, spread further out than the kernel's own."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from supersample._products import RowProduct
from supersample._random import Seed
from supersample._stored import DTYPE, FLOATS, INTEGER, instance_of, stored
from supersample._typing import Floats, RandomState, Reals
from supersample.errors import InputError, MismatchError
from supersample.features.base import FeatureMap
from supersample.features.nystroem import Nystroem
from supersample.features.random_fourier import Projection, RandomFourier
from supersample.kernels import Kernel, KernelLike, Stationary

__all__ = ["REACH_ROWS", "EvenHeldOut", "HeldOut", "error_of_mean", "held_out_map"]

#: Shares of the frequencies that have each stretch factor; the factor is 1 + stretch / sqrt(width).
_SHARES = (0.5, 0.25, 0.25)
_STRETCH = (0.0, 1.4, 2.8)
#: For every other uniform that is moved into the tail, the distance to the end of the interval is raised to this power.
_TAIL_POWER = 4.0
#: Columns are moved no further out than this distance: cosines of very large angles take many times as long.
_TAIL_END = 2.0**-15
#: Uniforms lie at least this far from 0 and 1, where frequencies are infinite.
_LEAST = 2.0**-53
#: Rows that the reach is taken from.
REACH_ROWS = 5000


_FIELDS = {
    "kernel": instance_of(Kernel), "n_features": INTEGER, "dtype": DTYPE, "origin": FLOATS, "seed": instance_of(Seed),
}  # fmt: skip


@stored("HeldOut", {**_FIELDS, "reach": FLOATS}, tag="map", make="restored")
class HeldOut(RandomFourier):
    """Fourier features by importance sampling, to estimate a small MMD without bias and with a small error.

    MMD^2 is the mean of |mean exp(iwx) - mean exp(iwy)|^2 over frequencies from the kernel's spectral measure p (Zhao and Meng
    2015, eq. 4). A good selection makes that small wherever p is large; the rest comes from rare, high frequencies, and a plain
    sample would miss them. Here half of the frequencies are drawn from p and the others from further out (q is the mixture);
    frequency k has the weight r_k = p / q. The average of r_k |.|^2 is unbiased, and its terms are of similar size. Radial
    kernels stretch the length of a frequency; others, such as the Laplacian, move one column of it into its tail.

    reach: how far rows spread in each column, from 0 to 1 for the widest. A wide table often varies in few of its columns: only
    there do high frequencies matter, and only there are they drawn more often.

    >>> import supersample as ss
    >>> phi = HeldOut(ss.kernels.Gaussian(1.0), 4096, random_state=0)
    >>> x = phi.transform([[0.0, 0.0], [1.0, 0.0]])
    >>> bool(abs(x[0] @ x[1] - 0.6065) < 0.05)
    True
    """

    def __init__(
        self,
        kernel: KernelLike,
        n_features: int = 128,
        *,
        dtype: npt.DTypeLike = np.float32,
        origin: npt.ArrayLike = 0.0,
        reach: npt.ArrayLike = 1.0,
        random_state: RandomState = None,
    ) -> None:
        """Set kernel, size and seed; n_features must be even, since each frequency has a cosine and a sine."""
        super().__init__(kernel, n_features, form="paired", dtype=dtype, origin=origin, random_state=random_state)
        if self.n_features % 2:
            raise InputError(f"n_features of HeldOut must be even, got {n_features}")
        self.reach: Floats = np.atleast_1d(np.asarray(reach, dtype=np.float64))
        if self.reach.ndim != 1 or not (bool((self.reach >= 0.0).all()) and float(self.reach.max(initial=0.0)) == 1.0):
            raise InputError(f"reach must be 1, or one number from 0 to 1 for each column with 1 for the widest, got {reach!r}")

    @property
    def identity(self) -> Mapping[str, Any]:
        """Kernel, size, dtype, origin, seed, reach and how far frequencies are stretched."""
        how = {"shares": list(_SHARES), "stretch": list(_STRETCH), "tail": _TAIL_POWER, "reach": self.reach.tolist()}
        return {**super().identity, **how}

    def _draw(self, n_inputs: int, unit: float) -> tuple[Reals, Reals]:
        """Return the frequencies (n_inputs x L) and the roots of their weights, relative to equal ones."""
        if self.reach.size not in (1, n_inputs):
            raise MismatchError(f"reach has {self.reach.size} values and the points have {n_inputs} columns; pass one a column")
        draw = _radial if self.kernel.is_radial else _by_columns
        reach = np.broadcast_to(self.reach, n_inputs)
        frequencies, weights = draw(self.kernel, self.n_frequencies, reach, self.seed.child("judge").generator())
        roots = np.tile(np.sqrt(weights), 2)
        columns = (unit * frequencies).T.astype(np.float32)
        return np.ascontiguousarray(columns, dtype=self.dtype), roots.astype(self.dtype)

    def _steepest(self, drawn: Any) -> float:
        return float(np.linalg.norm(drawn[0].astype(np.float64), axis=0).max())

    def _widened(self, drawn: Any) -> tuple[Floats, Reals]:
        return drawn[0].astype(np.float64), drawn[1]

    def _projection(self, drawn: Any) -> Projection:
        return RowProduct(drawn[0])

    def _heights(self, drawn: Any) -> Any:
        return super()._heights(drawn) * drawn[1]

    def largest_weight(self, n_inputs: int) -> float:
        """Return the largest weight p / q that a frequency can have: at most 2 for Gaussian kernels, 3.2 for other radial ones.

        Radial: p / q is largest at frequency 0, since q is a mixture of p and wider copies of it, and at the first end of the
        uniform that sets the length. Others: where no column is in its tail, q is p times the share that is not moved.
        """
        count = self.n_frequencies
        if not self.kernel.is_radial:
            return count / (count // 2) if count > 1 else np.inf
        factors, edges = _stretched(np.broadcast_to(self.reach, n_inputs), count)
        at_zero = np.diff(edges) / count @ np.exp(-np.log(factors).sum(axis=1))
        return float((_towards_one(np.zeros(1))[0] if self.kernel.n_uniforms else 1.0) / at_zero)

    @property
    def squared_norm(self) -> float | None:
        """None: the weights differ, and so do the norms."""
        return None


@stored("Judge", _FIELDS, tag="map", make="restored")
class EvenHeldOut(HeldOut):
    """Held-out features of the same reach in every column; files of earlier versions hold it."""


def held_out_map(
    kernel: Kernel, n_features: int, n_landmarks: int, sample: Floats, *, origin: Floats, random_state: RandomState
) -> FeatureMap:
    """Return the best held-out map for this kernel: `HeldOut`, or Nystroem for kernels without a spectrum.

    n_landmarks: the number of landmarks of Nystroem, chosen from `sample`, which also shows how far rows spread.
    """
    if kernel.has_spectrum:
        return HeldOut(kernel, n_features, origin=origin, reach=_reach(kernel, sample), random_state=random_state)
    return Nystroem.from_sample(kernel, sample, n_landmarks, random_state=random_state)


def error_of_mean(terms: Floats) -> float:
    """Return the standard error of the mean of independent terms, so large that two of them cover 92 to 95 times in 100.

    Mean and spread of skewed terms vary together: where the mean comes out two standard errors too low, the spread comes out
    too low by about g / sqrt(n), with g the skewness of the n terms (Johnson 1978). The terms of a small MMD are skewed (g of 2
    to 4), so that the usual error is least where it is needed most. Here it is larger by this share.

    >>> error_of_mean(np.array([1.0, 1.0, 3.0, 3.0]))  # no skewness: sqrt(4 / 3) / sqrt(4)
    0.5773...
    """
    n = terms.size
    offsets = terms - terms.mean()
    spread = float(np.sqrt(np.mean(offsets**2)))
    if n < 2 or spread == 0.0:
        return 0.0
    skewness = float(np.mean((offsets / spread) ** 3))
    return spread / float(np.sqrt(n - 1)) * (1.0 + abs(skewness) / float(np.sqrt(n)))


def _reach(kernel: Kernel, sample: Floats) -> Floats:
    """Return the squared mean deviation of each column, in bandwidths, relative to the largest."""
    rows = sample[:: max(1, sample.shape[0] // REACH_ROWS)]
    with np.errstate(over="ignore", invalid="ignore"):
        rows = kernel.scale(rows) if isinstance(kernel, Stationary) else rows
        spread = np.abs(rows - rows.mean(axis=0)).mean(axis=0)
    widest = float(spread.max())
    if not 0.0 < widest < np.inf:  # no row differs, or the spread is beyond float64
        return np.ones(rows.shape[1])
    return np.asarray((spread / widest) ** 2)


def _stretched(reach: Floats, count: int) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Return the factors by which each column of a frequency is stretched, group by group, and where the groups end."""
    # 1 + stretch / sqrt(d) for d columns of equal reach.
    factors = 1.0 + np.outer(_STRETCH, reach) * (np.sqrt(np.sum(reach**2)) / np.sum(reach))
    return factors, np.round(np.cumsum((0.0, *_SHARES)) * count).astype(np.int64)


def _radial(kernel: Kernel, count: int, reach: Floats, generator: np.random.Generator) -> tuple[Floats, Floats]:
    """Return frequencies of a radial kernel, some of them stretched, and their weights."""
    n_inputs = reach.size
    factors, edges = _stretched(reach, count)
    drawn = np.diff(edges) / count
    directions = generator.standard_normal((count, n_inputs)) * np.repeat(factors, np.diff(edges), axis=0)
    # p / q for the mixture q of the draws, in logarithms: products of factors overflow for wide data.
    logs = np.log(np.maximum(drawn, 1e-300)) - np.log(factors).sum(axis=1) + 0.5 * directions**2 @ (1.0 - factors**-2.0).T
    weights = np.exp(-np.logaddexp.reduce(logs, axis=1))
    uniforms = np.clip(generator.random((count, kernel.n_uniforms)), _LEAST, 1.0 - _LEAST)
    if kernel.n_uniforms:
        weights *= _towards_one(uniforms[:, 0])
    return kernel.scale(directions * kernel.spread(uniforms)[:, None]), weights


def _by_columns(kernel: Kernel, count: int, reach: Floats, generator: np.random.Generator) -> tuple[Floats, Floats]:
    """Return frequencies of any kernel with a spectrum, every other one with a column far out in its tail, with weights."""
    n_inputs, often = reach.size, reach / reach.sum()
    uniforms = np.clip(generator.random((count, n_inputs + kernel.n_uniforms)), _LEAST, 1.0 - _LEAST)
    moved = np.arange(0, count, 2)
    columns = generator.choice(n_inputs, moved.size, p=often)
    upper = uniforms[moved, columns] > 0.5
    least = _TAIL_END ** (1.0 / _TAIL_POWER)
    left = (least + (1.0 - least) * _to_the_end(uniforms[moved, columns])) ** _TAIL_POWER
    uniforms[moved, columns] = np.where(upper, 1.0 - 0.5 * left, 0.5 * left)
    # The density of q relative to p: column j is the one that is moved with chance `often[j]`.
    share, reached = moved.size / count, _to_the_end(uniforms[:, :n_inputs])
    density = np.where(reached >= _TAIL_END, _tail_density(reached) / (1.0 - least), 0.0) @ often
    return kernel.frequencies(uniforms, n_inputs), 1.0 / (1.0 - share + share * density)


def _to_the_end(uniforms: Floats) -> Floats:
    """Return twice the distance to the nearer end of the unit interval, which is uniform again."""
    return np.asarray(2.0 * np.minimum(uniforms, 1.0 - uniforms))


def _tail_density(left: Floats) -> Floats:
    """Return the density of a uniform that was raised to the tail power."""
    return np.asarray(left ** (1.0 / _TAIL_POWER - 1.0) / _TAIL_POWER)


def _towards_one(uniforms: Floats) -> Floats:
    """Move every other uniform towards one, in place, and return the weights that undo it: 1 over the mixture's density."""
    left = 1.0 - uniforms
    left[::2] **= _TAIL_POWER
    left = np.maximum(left, _LEAST)
    uniforms[:] = 1.0 - left
    return np.asarray(1.0 / (0.5 + 0.5 * _tail_density(left)))
