"""Sequential Bayesian quadrature and weighted kernel herding: greedy points with the best free weights."""

import numpy as np
from scipy import linalg

from supersample._random import as_seed
from supersample._threads import one_blas_thread
from supersample._typing import Floats, PointsLike, RandomState
from supersample._validation import check_flag
from supersample.device.arrays import home_of, working
from supersample.device.checks import refuse
from supersample.errors import InputError
from supersample.features import FeatureMap
from supersample.kernels import KernelLike
from supersample.kernels.bandwidth import Bandwidth
from supersample.selection.batch.assemble import Picked, assemble, begin, check_options, on_host
from supersample.selection.batch.candidates import CandidateSpace, TargetLike, build
from supersample.selection.batch.continuous import ascend
from supersample.selection.batch.exchange import exchanged
from supersample.selection.batch.herding import lengths
from supersample.selection.batch.residual import CLEAR, ExactResidual, Residual, residual_of
from supersample.selection.batch.weighting import Weighting
from supersample.selection.result import Selection

__all__ = ["sbq", "wkh"]

#: A gain below this share of E is rounding error.
_MATCHED = 1e-18


@one_blas_thread()
def sbq(
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
    exchange: bool = False,
    random_state: RandomState = None,
) -> Selection:
    """Select m candidates by sequential Bayesian quadrature: each lowers the variance of the integral most.

    The criterion is eq. 23 of Huszar and Duvenaud 2012.

    With weights w = K^-1 z the squared MMD is E - z^T K^-1 z, the posterior variance of the integral under a Gaussian process
    with this kernel (Proposition 1 there). Adding x lowers it by zr(x)^2 / R(x), where R(x) and zr(x) are the residuals of
    k(x, x) and of z(x) after projection on the selected points. Both are kept for the whole pool by a partial Cholesky factor;
    no inverse is formed. Weights may be negative and need not sum to one. Ties go to the lowest row.

    If the selected points span all candidates (copies, or a kernel so wide that K is singular to rounding), or match the
    target, the selection is shorter than m and its note says so. replace=True changes nothing, since a point selected twice is
    spanned.

    Arguments as for `herd`; weighting: "free" by default. O(N (d + n)) for point n after z, O(N m) memory; with features
    O(N D) a point and O(N D) memory.

    exchange: afterwards replace points, one place after the other, by the candidate that lowers the MMD of free weights most
    beside all the others, until none does (a greedy choice is never taken back otherwise; the future work of section 8.1
    there). That is done from these points and from as many of `herd`, and the set that ends nearer is returned. The path is
    that of the points in their places: only its last value is meant to be low. O(N m^2) for each sweep over the places, usually
    three to ten, and O(N m) memory.

    >>> import numpy as np
    >>> import supersample as ss
    >>> grid = np.linspace(-3.0, 3.0, 61)[:, None]
    >>> found = sbq(grid, 3, target=ss.measures.GaussianMixture([1.0], [[0.0]], [[[1.0]]]), kernel=ss.kernels.Gaussian(1.0))
    >>> found.points[:, 0].round(1) + 0.0, found.mmd.round(3)
    (array([ 0. , -1.6,  1.4]), array([0.278, 0.209, 0.056]))
    """
    options = (target, kernel, bandwidth, weighting, resume, replace, features, refine, exchange, random_state)
    return _select(candidates, m, *options, by_variance=True)


@one_blas_thread()
def wkh(
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
    exchange: bool = False,
    random_state: RandomState = None,
) -> Selection:
    """Select m candidates by weighted kernel herding: the linear criterion on the residual, with all weights refitted.

    The next point is argmax_x |<mu - sum_i w_i phi(x_i), phi(x)>| = argmax_x |zr(x)|, then w = K^-1 z (Khanna, Hodgkinson and
    Mahoney 2021, Algorithm 1). Their eq. 5 prints another factor before z; their proofs use this criterion. Unlike `sbq`, the
    criterion is not divided by R(x), the part of a candidate that is new. Everything else is as in `sbq`, `exchange` included.

    Costs N kernel values for each point of the target to compute z, then O(N (d + n)) for point n, and O(N m) memory; with
    features O(N D) a point and O(N D) memory.

    >>> import numpy as np
    >>> import supersample as ss
    >>> grid = np.linspace(-3.0, 3.0, 61)[:, None]
    >>> found = wkh(grid, 3, target=ss.measures.GaussianMixture([1.0], [[0.0]], [[[1.0]]]), kernel=ss.kernels.Gaussian(1.0))
    >>> found.points[:, 0].round(1) + 0.0
    array([ 0. , -1.7,  1.6])
    """
    options = (target, kernel, bandwidth, weighting, resume, replace, features, refine, exchange, random_state)
    return _select(candidates, m, *options, by_variance=False)


def _select(
    candidates: PointsLike,
    m: int,
    target: TargetLike,
    kernel: KernelLike,
    bandwidth: Bandwidth,
    weighting: Weighting | None,
    resume: Selection | None,
    replace: bool,
    features: FeatureMap | None,
    refine: bool,
    exchange: bool,
    random_state: RandomState,
    *,
    by_variance: bool,
) -> Selection:
    kind = check_options(weighting, "free", refine=refine, replace=replace)
    if check_flag(exchange, "exchange") and refine:
        raise InputError(
            "exchange=True puts candidates in the places of points, and refine=True moves points off; set one of them"
        )
    seed = as_seed(random_state)
    with working(home_of(candidates=candidates)):
        space = build(candidates, target, kernel, bandwidth, features, seed, rounded=not (refine or exchange), residuals=True)
        if exchange:
            refuse(space.home, "exchange=True", "leave it out, or bring the candidates to the host")
        count, chosen = begin(space, m, held := on_host(resume, space.home), refine=refine, replace=replace)
        residual, note = _pick(space, chosen, count, refine=refine, by_variance=by_variance)
        if exchange:
            chosen = exchanged(space, chosen, held, residual.energy)
        return assemble(space, chosen, kind, candidates, seed, note)


def _pick(space: CandidateSpace, chosen: Picked, count: int, *, refine: bool, by_variance: bool) -> tuple[Residual, str]:
    """Add points until there are `count`; return what they leave, and why there are fewer."""
    residual = residual_of(space, count)
    for row in chosen.points:
        residual.add(row)
    note = ""
    while len(chosen) < count:
        best = residual.best(by_variance=by_variance)
        if best < 0:
            share = f"{residual.clear:.0e}".replace("e-0", "e-")
            note = (
                f"{len(chosen)} of {count} points: they span all candidates but for less than {share} of k(x, x) "
                f"(copies, or a kernel so wide that K is singular), so that no other point can add anything."
            )
            break
        if float(residual.z[best]) ** 2 <= _MATCHED * residual.energy * float(residual.left[best]):
            note = (
                f"{len(chosen)} of {count} points: no candidate has anything in common with what they leave of the target, to "
                f"rounding (they match it, or it is out of the kernel's reach), so that no other point has weight."
            )
            break
        row = space.row(best)
        if refine and isinstance(residual, ExactResidual):
            row = _polished(residual, row, by_variance)
        residual.add(row, best if np.array_equal(row, space.row(best)) else None)
        chosen.add(space, best, row)
    return residual, note


def _polished(residual: ExactResidual, row: Floats, by_variance: bool) -> Floats:
    """Move a point uphill, away from the span of the selected points, where both parts of the gain are rounding."""
    space = residual.space
    root, halves = residual.root, residual.halves

    def criterion(rows: Floats) -> Floats:
        z, diagonal = space.embed(rows)
        if halves.size:
            spanned = linalg.solve_triangular(root, space.gram(residual.rows, rows), lower=True, check_finite=False)
            z = z - halves @ spanned
            left = diagonal - np.einsum("ij,ij->j", spanned, spanned)
        else:
            left = diagonal
        value = z**2 / np.maximum(left, CLEAR * diagonal) if by_variance else np.abs(z)
        return np.asarray(np.where(left > CLEAR * diagonal, value, 0.0))

    return ascend(criterion, row, lengths(space))
