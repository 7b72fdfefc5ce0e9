"""Where to call f next: greedy points for a kernel and a measure, after those that are known or asked for already."""

from typing import Any

import numpy as np

from supersample._typing import Floats, Indices
from supersample.integration.marginal import Prior
from supersample.integration.problem import Problem
from supersample.kernels import Kernel, Sum
from supersample.measures import Empirical
from supersample.selection import Selection, herd, sbq, wkh
from supersample.selection.batch.candidates import ExactCandidates
from supersample.selection.batch.estimated_mmd import EXACT_ROWS
from supersample.selection.batch.residual import ExactResidual

__all__ = ["next_points", "round_end"]

_METHODS = {"wkh": wkh, "sbq": sbq, "herd": herd}
#: Noise whose variance is below this share of k(x, x) is lost in the rounding of kernel values.
_NEGLIGIBLE_NOISE = 1e-12
#: A gain below this share of E is rounding error.
_MATCHED = 1e-18
#: Values before the first fit; the next fit is made when there is a quarter more of them.
_FIRST_ROUND = 5


def round_end(count: int) -> tuple[int, int]:
    """Return the number of values that the last fit was made from, and the number at which the next one is made.

    The schedule depends on the number of values alone, so that a run in parts chooses the points of a single run.

    >>> [round_end(count) for count in (0, 4, 5, 8, 9, 10)]
    [(0, 5), (0, 5), (5, 6), (8, 10), (8, 10), (10, 12)]
    """
    last, end = 0, _FIRST_ROUND
    while end <= count:
        last, end = end, end + max(1, end // 4)
    return last, end


def next_points(problem: Problem, taken: Floats, count: int, prior: Prior) -> tuple[Floats, str]:
    """Return up to `count` candidates to call f at, after the points `taken`, and a note if there are fewer.

    If kernels are averaged, points are chosen for the sum of the fitted kernel and of the roughest one of the same width: a
    smooth kernel alone leaves gaps in which a kink or a step hides.
    """
    pool, known = problem.candidates, taken.shape[0]
    quiet = not problem.repeated or prior.ratio <= _NEGLIGIBLE_NOISE * float(prior.kernel.diagonal(pool[:1]).max())
    if quiet:
        count = min(count, pool.shape[0] - known)
    kernel = prior.kernel
    if problem.rough(kernel) != kernel:
        kernel = Sum.of((0.5, kernel), (0.5, problem.rough(kernel)))
    if count <= 0:
        return pool[:0], f"All {pool.shape[0]} candidates have been called."
    target = problem.choosing
    features = target.features if isinstance(target, Empirical) else None
    if problem.method == "herd" or (features is not None and quiet):
        return _by_method(problem, taken, count, kernel, replace=not quiet)
    if isinstance(target, Empirical) and target.weights.size <= EXACT_ROWS:
        target = target.by_points()
    places, note = _greedy(
        ExactCandidates(kernel, pool, target), taken, count, 0.0 if quiet else prior.ratio, by_variance=problem.method == "sbq"
    )
    return pool[places], note


def _greedy(space: ExactCandidates, taken: Floats, count: int, ratio: float, *, by_variance: bool) -> tuple[Indices, str]:
    """Return candidates that each lower the variance of the integral most, or with by_variance=False have the largest |zr(x)|.

    With noise of variance `ratio` beside k, a call at x lowers E - z^T (K + ratio I)^-1 z by zr(x)^2 / (R(x) + ratio), where
    R(x) and zr(x) are the residuals of k(x, x) and of z(x) after the earlier calls: every call lowers the variance, and a point
    may be called again. O(N n) for call n, O(N n) memory.
    """
    after = ExactResidual(space, taken.shape[0] + count, ratio)
    scale = float((space.z**2 / space.diagonal).max())
    for row in taken:
        after.add(row)
    places: list[int] = []
    while len(places) < count:
        best = after.best(by_variance=by_variance)
        known = taken.shape[0] + len(places)
        if best < 0:
            return np.array(places, dtype=np.int64), (
                f"{known} points span all candidates but for less than 1e-8 of k(x, x) (copies, or a kernel so wide that K is "
                f"singular), so that no other point can add anything."
            )
        if not ratio and float(after.z[best]) ** 2 <= _MATCHED * scale * float(after.left[best]):
            return np.array(places, dtype=np.int64), (
                f"No candidate has anything in common with what {known} points leave of the target, to rounding (they match "
                f"it, or it is out of the kernel's reach), so that no other point has weight."
            )
        after.add(space.row(best), best)
        places.append(best)
    return np.array(places, dtype=np.int64), ""


def _by_method(problem: Problem, taken: Floats, count: int, kernel: Kernel, *, replace: bool) -> tuple[Floats, str]:
    """Return points by a batch method, which continues from the points taken: herding, or any method by features."""
    pool, target, known = problem.candidates, problem.choosing, taken.shape[0]
    features = target.features if isinstance(target, Empirical) else None
    given: dict[str, Any] = {"kernel": kernel} if features is None else {"features": features}
    rows = {row.tobytes(): place for place, row in enumerate(pool)} if known else {}
    places = np.array([rows.get(row.tobytes(), 0) for row in taken], dtype=np.int64)
    found = _METHODS[problem.method](
        pool,
        known + count,
        target=target,
        resume=Selection(places, taken, np.full(known, 1.0 / max(1, known)), np.empty(0)),
        replace=replace,
        random_state=problem.seed.child("choice").sequence(),
        weighting="uniform",
        **given,
    )
    return np.asarray(found.points[known:], dtype=np.float64), found.note if len(found) < known + count else ""
