"""Weights for any given points."""

from typing import Any

import numpy as np

from supersample._random import as_seed
from supersample._threads import one_blas_thread
from supersample._typing import Floats, PointsLike, RandomState
from supersample._validation import check_points, choose
from supersample.device.arrays import Home, follow, home_of, working
from supersample.device.checks import check_device_points
from supersample.errors import InputError
from supersample.kernels import Kernel, KernelLike, as_kernel
from supersample.kernels.bandwidth import Bandwidth
from supersample.measures import Empirical, Measure
from supersample.selection.batch.bandwidth import resolved, rows_of
from supersample.selection.batch.candidates import TargetLike, as_measure, drawn_where_open
from supersample.selection.batch.weighting import WEIGHTINGS, Weighting, weights_of

__all__ = ["quadrature_weights"]


@one_blas_thread()
def quadrature_weights(
    points: PointsLike,
    *,
    target: TargetLike,
    kernel: KernelLike = "gaussian",
    bandwidth: Bandwidth = "median",
    kind: Weighting = "free",
    random_state: RandomState = None,
) -> Floats:
    """Return the weights that minimise the MMD of the points to the target.

    free: w = K^-1 z, the weights of Bayesian quadrature (Huszar and Duvenaud 2012, eq. 20); they may be negative and need not
    sum to one.
    simplex: the best that are not negative and sum to one. uniform: 1/n. Copies of a point do not share its weight: with "free"
    the first copy has all of it. O(n^3) time after z.

    target: a measure or an array of points. bandwidth: a "median" one is that of the target (of 1,000 rows or draws, always the
    same). random_state: for draws, where the target has no closed form for the kernel.

    >>> import supersample as ss
    >>> target = ss.measures.Uniform(0.0, 1.0)
    >>> quadrature_weights([[0.25], [0.75]], target=target, kernel=ss.kernels.Gaussian(0.5)).round(3)
    array([0.487, 0.487])
    """
    if target is None:
        raise InputError("target must be a measure or an array of points, got None; points stand for themselves already")
    choose(kind, "kind", WEIGHTINGS)
    home = home_of(points=points, target=None if isinstance(target, Measure) else target)
    with working(home):
        return follow(home, _weights(points, target, as_kernel(kernel, bandwidth), kind, random_state, home))


def _weights(
    points: Any, target: TargetLike, given: Kernel, kind: Weighting, random_state: RandomState, home: Home | None
) -> Floats:
    if home is None:
        rows = np.ascontiguousarray(check_points(points, "points"), dtype=np.float64)
        measure = as_measure(target, rows, "points")
    else:
        there = check_device_points(points, "points", home)
        rows, measure = home.floats(there), as_measure(target, there, "points")
    with_scale, _ = resolved(given, rows_of(measure), rows) if not given.is_resolved else (given, "")
    with_scale.check_on(rows.astype(np.float64, copy=False))
    with_scale.check_width(rows.shape[1])
    measure, _ = drawn_where_open(measure, with_scale, as_seed(random_state))
    if isinstance(measure, Empirical):
        measure = measure.by_points()  # weights of exact kernel values and approximate z would be noise
    return weights_of(kind, with_scale(rows), measure.mean_embedding(with_scale, rows))
