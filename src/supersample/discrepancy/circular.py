"""Circular discrepancy of two samples wrapped around a circle, and its ensemble over many projections.

Section 3 of Zhao and Meng 2015.
"""

from typing import Literal

import numpy as np
import numpy.typing as npt

from supersample._random import as_seed
from supersample._threads import cut
from supersample._typing import Floats, PointsLike, RandomState, Weights
from supersample._validation import check_count, check_weights, choose, shares
from supersample.device.checks import refuse
from supersample.discrepancy.two_samples import TwoSamples, pool, resolve_all, wave_map
from supersample.errors import InputError
from supersample.features.random_fourier import RandomFourier
from supersample.kernels import KernelLike, as_kernel
from supersample.kernels.bandwidth import Bandwidth

__all__ = ["Distance", "check_norm", "circular_discrepancy", "circular_ensemble", "over_frequencies", "projection"]

Distance = Literal["sine", "mallows"]

_FREQUENCIES_AT_A_TIME = 64


def circular_discrepancy(
    X: npt.ArrayLike,
    Y: npt.ArrayLike,
    *,
    distance: Distance = "sine",
    weight_x: npt.ArrayLike | None = None,
    weight_y: npt.ArrayLike | None = None,
) -> float:
    """Return the discrepancy of two samples of angles, in radians.

    sine: sup_y of E sin(y - X) - E sin(y - Y) (Zhao and Meng 2015, eq. 7), equal to the amplitude |E exp(iX) - E exp(iY)|
    (Claim 5 there): how well one diameter separates the two samples. It depends only on the first trigonometric moment.
    mallows: the least work to move one sample into the other along the circle (Wasserstein-1 on the circle, the extension that
    the paper proposes), zero only if the samples are the same: min over c of the integral of |F - G - c|, where the best c is a
    median of F - G. O(n log n).

    >>> import numpy as np
    >>> circular_discrepancy([0.0, np.pi], [np.pi / 2, 3 * np.pi / 2]) < 1e-12
    True
    >>> round(circular_discrepancy([0.0, np.pi], [np.pi / 2, 3 * np.pi / 2], distance="mallows"), 4)
    1.5708
    """
    choose(distance, "distance", ("sine", "mallows"))
    x, y = _angles(X, "X"), _angles(Y, "Y")
    wx = None if weight_x is None else check_weights(weight_x, x.size, "weight_x")
    wy = None if weight_y is None else check_weights(weight_y, y.size, "weight_y")
    signed = np.concatenate([shares(wx, x.size), -shares(wy, y.size)])
    return float(_discrepancies(np.concatenate([x, y])[:, None], signed, distance)[0])


def circular_ensemble(
    X: PointsLike,
    Y: PointsLike,
    *,
    kernel: KernelLike = "gaussian",
    bandwidth: Bandwidth = "median",
    distance: Distance = "sine",
    norm: float = 2.0,
    n_frequencies: int = 512,
    random_state: RandomState = None,
) -> float:
    """Return the circular discrepancies over random frequencies of a kernel, combined by a norm.

    Each frequency wraps both samples around a circle by w.x mod 2 pi (Zhao and Meng 2015, eq. 5 and 6). With distance="sine"
    and norm=2 the result is the biased estimate of MMD (Definition 3 and Claim 6 there). The paper proposes the others as
    extensions: norm=1 is the mean, norm=inf the worst frequency, and distance="mallows" a different metric. O(n (d + log n) L)
    time.

    >>> import numpy as np
    >>> x = np.random.default_rng(0).normal(size=(500, 2))
    >>> circular_ensemble(x, x + 0.5, norm=1.0, random_state=0) < circular_ensemble(x, x + 0.5, random_state=0)
    True
    """
    choose(distance, "distance", ("sine", "mallows"))
    check_norm(norm)
    samples = pool(X, Y, min_rows=1)
    refuse(samples.home, "circular_ensemble", "bring X and Y to the host, or use mmd2")
    seed = as_seed(random_state)
    (resolved,) = resolve_all([as_kernel(kernel, bandwidth)], samples, seed)
    count = check_count(n_frequencies, "n_frequencies")
    rows, frequencies = projection(samples, wave_map(resolved, "fourier", 2 * count, samples, seed))
    m, n = samples.x.shape[0], samples.y.shape[0]
    signed = np.concatenate([np.full(m, 1.0 / m), np.full(n, -1.0 / n)])
    values = np.concatenate(
        [_discrepancies(rows @ frequencies[:, part], signed, distance) for part in cut(count, _FREQUENCIES_AT_A_TIME)]
    )
    return float(over_frequencies(values[:, None], norm, resolved.k0)[0])


def check_norm(norm: object) -> float:
    """Return the order of a norm over frequencies; refuse one that is invalid."""
    if isinstance(norm, bool) or not isinstance(norm, int | float | np.integer | np.floating) or not norm >= 1:
        raise InputError(f"norm must be a number of at least 1, or inf, got {norm!r}")
    return float(norm)


def projection(samples: TwoSamples, feature_map: RandomFourier) -> tuple[Floats, Floats]:
    """Return the pooled rows and the frequencies, one a column; their product holds the angles."""
    frequencies = feature_map.frequency_matrix(samples.x.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):
        rows = samples.rows(0, samples.n) - samples.origin
        reach = float(np.linalg.norm(rows, axis=1).max() * np.linalg.norm(frequencies, axis=0).max())
    if not np.isfinite(reach):
        raise InputError(
            "X and Y must lie so near that float64 holds their distances in bandwidths, and do not; scale them, or pass a "
            "kernel with a larger bandwidth"
        )
    return rows, frequencies


def over_frequencies(values: Floats, norm: float, k0: float) -> Floats:
    """Combine discrepancies (frequencies x assignments) by the norm over frequencies, the mean in place of the sum."""
    scale = np.sqrt(k0)
    largest = values.max(axis=0)
    if np.isinf(norm):
        return np.asarray(scale * largest)
    # Relative to the largest, since high powers of small numbers underflow.
    shares = values / np.where(largest > 0.0, largest, 1.0)
    return np.asarray(scale * largest * np.mean(shares**norm, axis=0) ** (1.0 / norm))


def _discrepancies(angles: Floats, signed: Weights, distance: str) -> Floats:
    """Return the discrepancy for each column of angles; `signed` holds the rows' shares, negative for the second sample."""
    if distance == "sine":
        return np.asarray(np.hypot(signed @ np.cos(angles), signed @ np.sin(angles)))
    wrapped = np.mod(angles, 2.0 * np.pi)
    order = np.argsort(wrapped, axis=0)
    places = np.take_along_axis(wrapped, order, axis=0)
    # F - G is constant between neighbouring angles; the last interval ends at the first angle of the next turn.
    heights = np.cumsum(signed[order], axis=0)
    lengths = np.diff(places, axis=0, append=places[:1] + 2.0 * np.pi)
    return np.array([_work(heights[:, k], lengths[:, k]) for k in range(angles.shape[1])])


def _work(heights: Floats, lengths: Floats) -> float:
    order = np.argsort(heights)
    middle = int(np.searchsorted(np.cumsum(lengths[order]), np.pi))
    median = heights[order[min(middle, heights.size - 1)]]
    return float(lengths @ np.abs(heights - median))


def _angles(values: npt.ArrayLike, name: str) -> Floats:
    array = np.asarray(values)
    if array.dtype.kind not in "biuf" or array.ndim != 1 or array.size == 0:
        raise InputError(
            f"{name} must be a non-empty one-dimensional array of angles in radians, got dtype {array.dtype} and shape "
            f"{array.shape}"
        )
    if not bool(np.isfinite(array).all()):
        raise InputError(f"{name} must hold finite angles, got NaN or infinity; drop such entries first")
    return array.astype(np.float64)
