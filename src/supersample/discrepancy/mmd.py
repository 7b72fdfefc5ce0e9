"""The squared maximum mean discrepancy between two samples: exactly, by features, or from blocks of pairs."""

import math
from typing import Literal

import numpy as np
import numpy.typing as npt

from supersample._random import as_seed
from supersample._threads import BLOCK_ROWS, cut, map_blocks
from supersample._typing import Floats, Points, PointsLike, RandomState, Weights
from supersample._validation import check_count, check_weights, choose, shares
from supersample.device.arrays import follow, home_of, hosted, working
from supersample.discrepancy.blocks import block_values
from supersample.discrepancy.mmd_on_device import block_values_on, exact_on
from supersample.discrepancy.two_samples import TwoSamples, pool, resolve_all, wave_map
from supersample.embedding import MeanEmbedding
from supersample.errors import InputError
from supersample.kernels import Kernel, KernelLike, as_kernel
from supersample.kernels.bandwidth import Bandwidth

__all__ = ["METHODS", "Estimator", "Method", "choose_estimator", "mmd2"]

Method = Literal["exact", "fourier", "fastfood", "block", "linear"]
Estimator = Literal["biased", "unbiased", "paired"]
METHODS = ("exact", "fourier", "fastfood", "block", "linear")

_TILE_COLUMNS = 1024


def mmd2(
    X: PointsLike,
    Y: PointsLike,
    *,
    kernel: KernelLike = "gaussian",
    bandwidth: Bandwidth = "median",
    method: Method = "exact",
    estimator: Estimator | None = None,
    n_features: int = 1024,
    weight_x: npt.ArrayLike | None = None,
    weight_y: npt.ArrayLike | None = None,
    random_state: RandomState = None,
) -> float:
    """Return the squared maximum mean discrepancy between two samples.

    MMD^2 = mean k(x, x') + mean k(y, y') - 2 mean k(x, y) (Zhao and Meng 2015, eq. 1 and appendix A). "biased" includes pairs
    of a row with itself and is never negative; "unbiased" leaves them out, and its mean is the discrepancy of the
    distributions. The default is "biased", and "unbiased" for "block" and "linear", which have no biased one.
    "paired", for "block" and "linear" only, also leaves out k(x_i, y_i) and rows that fill no block, as printed in Gretton et
    al. 2012, Lemma 14, and Zaremba et al. 2013. It is for comparison with them: "unbiased" has the same mean and less variance.

    method:
        exact: all pairs, in blocks on all cores; O((m + n)^2 d) time, memory independent of m and n.
        fourier, fastfood: the means of `n_features` random features (Zhao and Meng 2015, Algorithm 1; two features are one
            frequency of the paper); O((m + n) d D), or D log d in place of d D.
        block: the mean over blocks of about sqrt(min(m, n)) rows, each row in one (B-test); O((m + n)^1.5 d).
        linear: the same with two rows a block, or more of the larger sample (MMD-linear); O((m + n) d).
    kernel: a name, with `bandwidth`, a kernel, or a function of two arrays; a "median" bandwidth is taken from the pooled rows.
    weight_x, weight_y: a weight for each row, not for "block" and "linear".
    random_state: draws the frequencies, and the rows that the median distance is taken from; without it, these are always the
    same rows.

    Arrays of torch, CuPy and JAX are compared where they lie, in float64 (JAX: in the widest type that is switched on); method
    "fastfood" is for the CPU only.

    >>> import numpy as np
    >>> x, y = np.zeros((3, 1)), np.ones((2, 1))
    >>> round(mmd2(x, y, kernel=lambda a, b: a @ b.T), 4)
    1.0
    """
    method = choose(method, "method", METHODS)  # type: ignore[assignment]
    chosen = choose_estimator(estimator, method)
    home = home_of(X=X, Y=Y, weight_x=weight_x, weight_y=weight_y)
    with working(home):
        samples = pool(X, Y, min_rows=1 if chosen == "biased" else 2)
        wx, wy = (
            None if each is None else check_weights(hosted(home, each), rows.shape[0], name)
            for each, rows, name in ((weight_x, samples.x, "weight_x"), (weight_y, samples.y, "weight_y"))
        )
        return _mmd2(samples, wx, wy, as_kernel(kernel, bandwidth), method, chosen, n_features, random_state)


def _mmd2(
    samples: TwoSamples,
    wx: Weights | None,
    wy: Weights | None,
    kernel: Kernel,
    method: Method,
    chosen: Estimator,
    n_features: int,
    random_state: RandomState,
) -> float:
    seed, home = as_seed(random_state), samples.home
    # Without a seed, the rows for the median are always the same ones, so that the same call gives the same number.
    (resolved,) = resolve_all([kernel], samples, as_seed(0) if random_state is None else seed)
    if method == "exact":
        if home is not None:
            return exact_on(home, samples, wx, wy, resolved, unbiased=chosen == "unbiased")
        return _exact(samples.x, samples.y, wx, wy, resolved, chosen)
    if method in ("fourier", "fastfood"):
        feature_map = wave_map(resolved, method, check_count(n_features, "n_features"), samples, seed)
        left = MeanEmbedding(feature_map).update(samples.x, None if wx is None else follow(home, wx))
        right = MeanEmbedding(feature_map).update(samples.y, None if wy is None else follow(home, wy))
        return left.mmd2(right, estimator="unbiased" if chosen == "unbiased" else "biased")
    if wx is not None or wy is not None:
        raise InputError(f"weight_x and weight_y do not go with method={method!r}; use 'exact', 'fourier' or 'fastfood'")
    paired = chosen == "paired"
    if home is not None:
        return float(block_values_on(home, samples, resolved, linear=method == "linear", paired=paired).mean())
    return float(block_values(samples.x, samples.y, resolved, linear=method == "linear", paired=paired).mean())


def choose_estimator(estimator: str | None, method: str) -> Estimator:
    """Return the given estimator, or the method's default; refuse one that the method does not have."""
    in_blocks = method in ("block", "linear")
    if estimator is None:
        return "unbiased" if in_blocks else "biased"
    chosen = choose(estimator, "estimator", ("biased", "unbiased", "paired"))
    if chosen == ("biased" if in_blocks else "paired"):
        raise InputError(f"estimator={chosen!r} does not exist for method={method!r}; use 'unbiased' or leave it out")
    return estimator  # type: ignore[return-value]


def _exact(x: Points, y: Points, wx: Weights | None, wy: Weights | None, kernel: Kernel, estimator: Estimator) -> float:
    left, right = x.astype(np.float64), y.astype(np.float64)
    a, b = shares(wx, left.shape[0]), shares(wy, right.shape[0])
    within = 0.0
    for points, share in ((left, a), (right, b)):
        total = _quadratic_form(points, points, share, share, kernel, symmetric=True)
        diagonal = math.fsum(share * share * kernel.diagonal(points))
        if estimator == "unbiased":
            pairs = 1.0 - math.fsum(share * share)
            if not pairs > 1e-12:
                raise InputError(
                    "estimator='unbiased' needs at least two rows of positive weight in each of X and Y, got one; use "
                    "estimator='biased'"
                )
            within += total / pairs
        else:
            within += total + diagonal
    return within - 2.0 * _quadratic_form(left, right, a, b, kernel, symmetric=False)


def _quadratic_form(left: Floats, right: Floats, a: Floats, b: Floats, kernel: Kernel, *, symmetric: bool) -> float:
    """Return sum_ij a_i b_j k(left_i, right_j), in tiles; if symmetric, without the terms i = j."""

    def work(rows: slice) -> float:
        parts = []
        tile = np.empty((rows.stop - rows.start, _TILE_COLUMNS))
        for columns in cut(right.shape[0], _TILE_COLUMNS):
            if symmetric and columns.stop <= rows.start:
                continue
            values = tile.reshape(-1)[: tile.shape[0] * (columns.stop - columns.start)]
            values = values.reshape(tile.shape[0], -1)
            kernel.fill(left[rows], right[columns], values)
            if symmetric and columns.start < rows.stop:
                # Keep only the part above the diagonal; the part below is its mirror image.
                values[np.arange(columns.start, columns.stop) <= np.arange(rows.start, rows.stop)[:, None]] = 0.0
            parts.append(float(a[rows] @ (values @ b[columns])))
        return math.fsum(parts)

    total = math.fsum(map_blocks(work, cut(left.shape[0], BLOCK_ROWS)))
    return 2.0 * total if symmetric else total
