"""Kernel herding: select candidates one by one, each minimising the MMD of equal weights to the target."""

from functools import partial

import numpy as np

from supersample._random import as_seed
from supersample._threads import one_blas_thread
from supersample._typing import Floats, Indices, PointsLike, RandomState
from supersample.device.arrays import home_of, working
from supersample.features import FeatureMap
from supersample.kernels import KernelLike
from supersample.kernels.bandwidth import Bandwidth
from supersample.kernels.stationary import Stationary
from supersample.selection.batch.assemble import Picked, assemble, begin, check_options, on_host
from supersample.selection.batch.candidates import CandidateSpace, TargetLike, build
from supersample.selection.batch.continuous import ascend
from supersample.selection.batch.foresight import Foresight
from supersample.selection.batch.weighting import Weighting
from supersample.selection.greedy import first_settled, herding_gain
from supersample.selection.result import Selection

__all__ = ["herd", "herd_points", "lengths"]


@one_blas_thread()
def herd(
    candidates: PointsLike,
    m: int,
    *,
    target: TargetLike = None,
    kernel: KernelLike = "gaussian",
    bandwidth: Bandwidth = "median",
    weighting: Weighting | None = None,
    resume: Selection | None = None,
    replace: bool = False,
    features: FeatureMap | None = None,
    refine: bool = False,
    random_state: RandomState = None,
) -> Selection:
    """Select m candidates that represent the target with equal weights, greedily by MMD (Chen, Welling and Smola 2010).

    With n points chosen, the next is argmax_x z(x) - 1/(n+1) sum_m k(x, x_m) - k(x, x) / (2 (n+1)), the minimiser of the MMD of
    the n + 1 points with weights 1/(n+1). Huszar and Duvenaud 2012, eq. 8, and Khanna, Hodgkinson and Mahoney 2021, eq. 5,
    print 2 z(x) in place of z(x); that would not minimise eq. 7 of Huszar and Duvenaud. High z(x) draws points to where the
    target has mass; the sum keeps them apart. Ties go to the lowest row.

    candidates: rows in memory, or a Dask Array or DataFrame or a Spark DataFrame of numbers. Distributed rows stay on their
    workers and are selected by Algorithm 2 of Khanna et al. 2021; the result then has the MMD of each of its s + 1 selections
    as `runs`, and the place of the returned one as `best`.

    target: a measure (`ss.measures`), an array of points, or None: the candidates themselves.

    kernel: a name, with `bandwidth`, a kernel, or a function. A "median" bandwidth is that of the candidates (of 1,000 of them,
    the same for every seed, so that equal calls have equal kernels).

    weighting: "uniform" (the default, for which the points are selected), "free" (Bayesian quadrature, Huszar and Duvenaud
    2012, eq. 20) or "simplex" (positive, with sum one); the points are the same.

    resume: an earlier selection to continue from; m counts its points too. replace: candidates may be chosen again.

    features: a feature map whose products replace the kernel in the selection, for pools and targets too large for N kernel
    values a point of the target. The path is then measured by the exact kernel, or, for targets of more than 20,000 points,
    estimated by other features (by rows of the target for kernels without a spectrum), as the note says.

    refine: move each selected point uphill off the pool, so that it is no longer a candidate. Each point is then better at its
    own step; the path may still end higher than without refinement.

    Costs N kernel values for each point of the target to compute z, then O(N d) for each selected point; O(N + m^2) memory.
    With features, O(N D) time a point and O(N D) memory. Of more than 2^22 numbers in more than 16 columns, kernel values are
    computed in float32, and again in float64 where that could change a choice.

    >>> import numpy as np
    >>> import supersample as ss
    >>> grid = np.linspace(-3.0, 3.0, 61)[:, None]
    >>> found = herd(grid, 3, target=ss.measures.GaussianMixture([1.0], [[0.0]], [[[1.0]]]), kernel=ss.kernels.Gaussian(1.0))
    >>> found.points[:, 0].round(1) + 0.0, found.mmd.round(3)
    (array([ 0. , -1.2,  1. ]), array([0.404, 0.347, 0.077]))
    """
    kind = check_options(weighting, "uniform", refine=refine, replace=replace)
    seed = as_seed(random_state)
    with working(home_of(candidates=candidates)):
        space = build(candidates, target, kernel, bandwidth, features, seed, rounded=not refine)
        count, chosen = begin(space, m, on_host(resume, space.home), refine=refine, replace=replace)
        herd_points(space, chosen, count, replace=replace, refine=refine)
        return assemble(space, chosen, kind, candidates, seed, _on_mixture(space, features))


def _on_mixture(space: CandidateSpace, features: FeatureMap | None) -> str:
    """Return a note if the target is known by features and the candidates by the exact kernel."""
    if features is not None or getattr(space.measure, "features", None) is None:
        return ""
    return (
        "The target is known by features and the candidates by the exact kernel, so errors of the features do not cancel, and "
        "points may be worse than random ones: pass the same map as features, or a target without one."
    )


def herd_points(space: CandidateSpace, chosen: Picked, count: int, *, replace: bool, refine: bool) -> None:
    """Add points until there are `count`; keeps the sum of the chosen kernel columns, O(N)."""
    if space.home is not None:
        from supersample.selection.batch.herding_on_device import herd_points_on  # not needed on the host

        herd_points_on(space, chosen, count, replace=replace)
        return
    sums = np.zeros(space.size)
    taken = np.zeros(space.size)
    for index, row in zip(chosen.indices, chosen.points, strict=True):
        sums += space.column(row)
        taken[index] = 0.0 if replace else -np.inf
    scale = float(space.diagonal.max())
    ahead = None if space.fast is None or refine else Foresight(space.fast, space.z, space.diagonal, replace=replace)
    while len(chosen) < count:
        n = len(chosen)
        values = herding_gain(space.z, sums, space.diagonal, n)
        values += taken
        best = first_settled(values, scale, space.error, partial(_gains, space, chosen))
        row = _polished(space, chosen, space.row(best)) if refine else space.row(best)
        chosen.add(space, best, row)
        if not replace:
            taken[best] = -np.inf
        if len(chosen) < count:
            sums += space.column(row) if ahead is None else ahead.column(best, sums, n, taken, count)


def _gains(space: CandidateSpace, chosen: Picked, places: Indices) -> Floats:
    """Return the gains of a few candidates, computed exactly."""
    space.settle(places)
    sums = space.gram(np.asarray(space.points[places], dtype=np.float64), chosen.points).sum(axis=1)
    return herding_gain(space.z[places], sums, space.diagonal[places], len(chosen))


def lengths(space: CandidateSpace) -> Floats:
    """Return the length scale of the kernel for each column: its bandwidth, or the spread of the candidates."""
    width = space.points.shape[1]
    if isinstance(space.kernel, Stationary):
        return np.broadcast_to(np.asarray(space.kernel.bandwidth, dtype=np.float64), (width,))
    spread = np.asarray(space.points, dtype=np.float64).std(axis=0)
    return np.where(spread > 0, spread, 1.0)


def _polished(space: CandidateSpace, chosen: Picked, row: Floats) -> Floats:
    def criterion(rows: Floats) -> Floats:
        z, diagonal = space.embed(rows)
        return herding_gain(z, space.gram(rows, chosen.points).sum(axis=1), diagonal, len(chosen))

    return ascend(criterion, row, lengths(space))
