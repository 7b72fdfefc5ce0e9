"""The MMD between a selection and the data, estimated by held-out features."""

from typing import NamedTuple

import numpy as np

from supersample._random import Seed
from supersample._threads import one_blas_thread
from supersample._typing import Floats
from supersample.embedding.moments import Moments
from supersample.features import FeatureMap
from supersample.features.heldout import error_of_mean
from supersample.features.landmark import Landmark
from supersample.features.nystroem import Nystroem
from supersample.features.random_fourier import RandomFourier
from supersample.selection.stream.calibration import Control

__all__ = ["Certificate", "captured_energy", "certify", "equal_random_rows", "equal_weights", "random_baseline"]

#: Largest number of random sets for a baseline.
_MOST_SETS = 20
#: Rounding error of an exact MMD^2, as a share of k(x, x).
_ROUNDING = 1e-10


class Certificate(NamedTuple):
    """An estimate of MMD(selection, data) and its standard error, both on the scale of MMD, not of its square.

    MMD lies within two errors of the estimate 95 times in 100, without a control 92 to 95 times.
    """

    mmd: float
    error: float


@one_blas_thread()
def certify(
    held_out: FeatureMap, moments: Moments, points: Floats, weights: Floats, control: Control | None = None
) -> Certificate:
    """Return the held-out estimate of MMD between weighted points and the stream; the weights sum to one.

    MMD^2 is the mean over the kernel's frequencies of t(w) = |mean exp(iwx) - mean exp(iwy)|^2 (Zhao and Meng 2015, eq. 4). The
    held-out frequencies are independent of the selection, so their average is unbiased. With a control (rows near the data,
    whose MMD^2 to the points is known exactly) the average is taken of t(w) - c(w) alone, c(w) the same for the control, and
    the known mean of c is added: still unbiased, and the better the nearer the control. Of the two estimates the one with the
    smaller error is returned; if the control is all the data, its MMD is exact. docs/decisions/025 has the error and how often
    two of them cover.

    For kernels without a spectrum the held-out features are Nystroem features on other landmarks: then MMD is measured in their
    span, and there is no standard error (NaN).
    """
    chosen = weights @ held_out.transform(points).astype(np.float64)
    squares = (moments.mean() - chosen) ** 2
    if not isinstance(held_out, RandomFourier):
        return Certificate(float(np.sqrt(squares.sum())), float("nan"))
    terms = held_out.terms(squares)
    rounding = (_ROUNDING if control is None else control.rounding) * held_out.kernel.k0
    square, spread = float(terms.mean()), error_of_mean(terms)
    if control is not None and control.complete:
        square, spread = control.square(held_out.kernel, points, weights), 0.0
    elif control is not None:
        near = control.weights @ held_out.transform(control.points).astype(np.float64)
        rest = terms - held_out.terms((near - chosen) ** 2)
        near_square = control.square(held_out.kernel, points, weights) + float(rest.mean())
        near_spread = error_of_mean(rest)
        if near_spread > rounding:  # what has a chance below one in n is not seen by n frequencies
            near_spread = max(near_spread, near_square / terms.size)
        if near_spread < spread:
            square, spread = near_square, near_spread
    if max(square, spread) <= rounding:
        return Certificate(0.0, 0.0)
    mmd, spread = float(np.sqrt(max(square, 0.0))), max(spread, rounding)
    # The derivative of the root is infinite at zero; there the upper end of two errors is the root of two spreads.
    error = float(np.sqrt(0.5 * spread))
    return Certificate(mmd, min(error, spread / (2.0 * mmd)) if mmd > 0.0 else error)


def equal_weights(size: int) -> Floats:
    """Return 1 / size for each of so many points."""
    return np.full(size, 1.0 / size)


def random_baseline(
    held_out: FeatureMap, moments: Moments, sample: Floats, shares: Floats, size: int, seed: Seed, *, replaced: bool = False
) -> float:
    """Return the held-out MMD of `size` rows drawn at random: the root mean square over sets drawn from a sample.

    sample: rows in random order with their shares of the data. If these are equal, the rows are cut into sets of `size`;
    otherwise, or if rows are to be drawn with replacement (`replaced`), sets are drawn by share. At most 20 sets are used; a
    single one would be mostly chance.
    """
    if not replaced and shares.min() == shares.max():
        sets = max(1, min(_MOST_SETS, sample.shape[0] // size))
        drawn = np.arange(sets * min(size, sample.shape[0])).reshape(sets, -1)
    else:
        drawn = seed.child("baseline").generator().choice(sample.shape[0], (_MOST_SETS, size), p=shares)
    features = held_out.transform(sample[drawn.ravel()]).astype(np.float64)
    means = features.reshape(*drawn.shape, -1).mean(axis=1)
    return float(np.sqrt(np.mean(((means - moments.mean()) ** 2).sum(axis=1))))


def equal_random_rows(mmd: float, random_mmd: float, size: int, n_rows: float, *, replaced: bool = False) -> float:
    """Return how many rows drawn at random have the mean square MMD `mmd`^2, if `size` of them have `random_mmd`^2.

    The mean square MMD between n of N rows, drawn without replacement, and all of them is c (1 / n - 1 / N): it falls to 0 at
    n = N, so the result is never above N. Rows drawn by weight have no such end: for them, N is infinite. replaced: whether
    those of `random_mmd` were drawn with replacement; theirs is c / size. NaN if one of the two is not known.

    >>> equal_random_rows(0.01, 0.04, 100, 10**9), equal_random_rows(0.0, 0.04, 100, 1_000)
    (1599.997600003..., 1000.0)
    """
    if np.isnan(mmd) or np.isnan(random_mmd):
        return float("nan")
    if mmd == 0.0 or (size >= n_rows and not replaced):
        return float(n_rows)
    if random_mmd == 0.0:
        return 0.0
    drawn = 1.0 / size - (0.0 if replaced else 1.0 / n_rows)
    return 1.0 / (drawn * (mmd / random_mmd) ** 2 + 1.0 / n_rows)


def captured_energy(feature_map: FeatureMap, points: Floats, shares: Floats) -> float:
    """Return the share of E k(x, x) that the landmarks of a map span; 1 for maps without landmarks.

    Near 1 the landmarks cover the data, near 0 they do not. A Landmark map approximates the rest by random features.
    """
    spanned = feature_map.spanned if isinstance(feature_map, Landmark) else feature_map
    if not isinstance(spanned, Nystroem):
        return 1.0
    features = spanned.transform(points).astype(np.float64)
    total = float(shares @ feature_map.kernel.diagonal(points))
    return float(shares @ np.einsum("ij,ij->i", features, features)) / total
