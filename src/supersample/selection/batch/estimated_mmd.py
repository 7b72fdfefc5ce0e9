"""Estimate the MMD of a path of weights, with its error, if E of the target would take too many kernel values."""

from typing import NamedTuple

import numpy as np

from supersample._random import Seed
from supersample._threads import cut
from supersample._typing import Floats
from supersample.features import FeatureMap
from supersample.features.heldout import REACH_ROWS, error_of_mean, held_out_map
from supersample.features.random_fourier import RandomFourier
from supersample.kernels import Kernel
from supersample.measures import Empirical
from supersample.measures.mean_only import MeanOnly
from supersample.selection.batch.candidates import CandidateSpace, ExactCandidates, FeatureCandidates

__all__ = ["EXACT_ROWS", "Estimate", "estimated_squares", "held_out_squares", "needs_estimate", "sampled_squares"]

#: Up to this many points of the target, E is computed exactly, in about a second.
EXACT_ROWS = 20_000
_HELD_OUT, _ORIGIN_ROWS = 512, 1000
#: Number of kernel values between a sample of the target and all of it, and the smallest size of the sample.
_KERNEL_VALUES, _LEAST_ROWS = 200_000_000, 500
_BLOCK = 4096


class Estimate(NamedTuple):
    """MMD^2 for each step, the standard error of the last one (None: not known), and the method of estimation."""

    squares: Floats
    error: float | None
    by: str


def needs_estimate(space: CandidateSpace) -> bool:
    """Whether E of the space's target is too expensive, or only mean features of the target are known."""
    if isinstance(space, FeatureCandidates) and space.map.is_exact:
        return False
    measure = space.measure
    if isinstance(measure, MeanOnly):
        return True
    known = isinstance(space, ExactCandidates) and measure.is_exact(space.kernel)
    return isinstance(measure, Empirical) and not known and measure.weights.size > EXACT_ROWS


def estimated_squares(space: CandidateSpace, rows: Floats, table: Floats, seed: Seed) -> Estimate:
    """Return |mu - sum_i w_i phi(x_i)|^2 for each row w of the table, independently of how the rows were selected."""
    measure = space.measure
    if isinstance(measure, MeanOnly):
        return _by_features(measure.held_out, measure.held_out_mean, rows, table)
    assert isinstance(measure, Empirical)
    return held_out_squares(space.kernel, measure, rows, table, seed.child("held-out"))


def held_out_squares(kernel: Kernel, measure: Empirical, rows: Floats, table: Floats, seed: Seed) -> Estimate:
    """Return the same for a measure of points, by held-out random frequencies of the kernel.

    For kernels without a spectrum a sample of the target is used, since landmark features underestimate the MMD.
    """
    if not kernel.has_spectrum:
        return sampled_squares(kernel, measure, rows, table, seed)
    size, state = measure.weights.size, seed.sequence()
    origin = measure.rows_at(np.arange(min(size, _ORIGIN_ROWS))).mean(axis=0)
    spread = measure.rows_at(np.arange(0, size, max(1, size // REACH_ROWS)))
    judge = held_out_map(kernel, _HELD_OUT, 0, spread, origin=origin, random_state=state)
    return _by_features(judge, measure.mean_features(judge), rows, table)


def sampled_squares(kernel: Kernel, measure: Empirical, rows: Floats, table: Floats, seed: Seed) -> Estimate:
    """Return an unbiased estimate of MMD^2 = E_x r(x) - sum_j w_j r(x_j), with r = z - sum_j w_j k(x_j, .) the residual.

    z is exact, over all N points of the target; only the mean of r is taken over a sample of the target. After a good selection
    r is small everywhere, so the error is far below that of a mean of z. O(N (m + s)) kernel values for a sample of s rows.
    """
    target = measure.by_points()
    size = max(_LEAST_ROWS, _KERNEL_VALUES // target.weights.size)
    sample = target.sample(size, seed.sequence())
    z, own = target.mean_embedding(kernel, rows), target.mean_embedding(kernel, sample)
    across, last = np.zeros(rows.shape[0]), np.empty(size)
    for part in cut(size, _BLOCK):
        values = kernel(sample[part], rows)
        across += values.sum(axis=0)
        last[part] = own[part] - values @ table[-1]
    gram = kernel(rows)
    within = np.einsum("ij,ij->i", table @ gram, table)
    squares = own.mean() - table @ (across / size) - table @ z + within
    return Estimate(squares, float(last.std(ddof=1) / np.sqrt(size)), f"{size:,} rows of the target")


def _by_features(judge: FeatureMap, mean: Floats, rows: Floats, table: Floats) -> Estimate:
    differences = table @ judge.transform(rows).astype(np.float64) - mean
    squares = np.einsum("ij,ij->i", differences, differences)
    if not isinstance(judge, RandomFourier):
        return Estimate(squares, None, f"{judge.n_features} landmark features, which can only show too little,")
    # Cosine and sine of one frequency count as one draw.
    error = error_of_mean(judge.terms(differences[-1] ** 2))
    return Estimate(squares, error, f"{judge.n_features} features that took no part in the choice")
