"""Frank-Wolfe on the convex hull of the candidates' features: sparse weights that are positive and sum to one."""

from dataclasses import replace as replace_fields
from functools import partial
from typing import Literal

import numpy as np

from supersample._random import as_seed
from supersample._threads import one_blas_thread
from supersample._typing import Floats, Indices, PointsLike, RandomState
from supersample._validation import choose
from supersample.device.arrays import home_of, working
from supersample.errors import InputError
from supersample.features import FeatureMap
from supersample.kernels import KernelLike
from supersample.kernels.bandwidth import Bandwidth
from supersample.selection.batch.assemble import assemble, assemble_steps, begin, check_options, on_host, steps_of
from supersample.selection.batch.candidates import TargetLike, build
from supersample.selection.batch.frank_wolfe_iterate import Atoms
from supersample.selection.batch.herding import herd_points
from supersample.selection.batch.weighting import Weighting
from supersample.selection.greedy import first_settled
from supersample.selection.result import Selection

__all__ = ["Variant", "frank_wolfe"]

Variant = Literal["fixed", "line-search", "fully-corrective", "away", "pairwise"]
_VARIANTS = ("fixed", "line-search", "fully-corrective", "away", "pairwise")
#: The duality gap, relative to k(x, x), below which the target is matched up to rounding.
_GAP = 1e-14
_OFF_SIMPLEX = 1e-6


@one_blas_thread()
def frank_wolfe(
    candidates: PointsLike,
    m: int,
    *,
    target: TargetLike = None,
    variant: Variant = "line-search",
    kernel: KernelLike = "gaussian",
    bandwidth: Bandwidth = "median",
    weighting: Weighting | None = None,
    resume: Selection | None = None,
    replace: bool = True,
    features: FeatureMap | None = None,
    refine: bool = False,
    random_state: RandomState = None,
) -> Selection:
    """Take m Frank-Wolfe steps towards the target within the convex hull of the candidates (Bach et al. 2012).

    A step finds the candidate s with the largest slope <mu - nu, phi(s)> and moves nu = sum_i w_i phi(x_i) towards it, so that
    weights stay positive and sum to one. Each step adds at most one point: there are at most m, and one value of `mmd` for each
    step. Variants:
        fixed: steps 1/(n+1), which is herding (from w_0 = mu, as Chen et al. 2010 start it), weights in units of 1/m;
        line-search: the step that is best on the line, gamma = <mu - nu, d> / |d|^2 with d = phi(s) - nu;
        fully-corrective: all weights refitted on the simplex after each step;
        away: moves away from the worst point if that is the better direction (Lacoste-Julien and Jaggi 2015);
        pairwise: moves weight from the worst point to the best.
    Stops early, with a note, when the duality gap is down to rounding.

    Arguments as for `herd`; replace=False allows each candidate one step only. weighting: None keeps those of the steps;
    otherwise the points that have weight at the end are reweighted, and `mmd` has a value for each point. resume: the iteration
    continues from its weights, and m counts its steps. Only the end of its path is known for another kernel or target, or if
    the path is an estimate with another random_state; every step of resume then shows that end. For fixed steps its weights
    must be those of such steps.
    On a cluster (Dask, Spark) each part takes m steps, and the last run, from the union of their points, m steps again.
    O(N d) for each step after z and O(N + m^2) memory; fully-corrective O(N m) memory.

    >>> import numpy as np
    >>> import supersample as ss
    >>> points = np.array([[0.0], [1.0], [2.0], [9.0]])
    >>> found = frank_wolfe(points, 30, target=[[0.0], [0.0], [2.0]], variant="pairwise", kernel=ss.kernels.Gaussian(1.0))
    >>> found.indices, found.weights.round(3)
    (array([0, 2]), array([0.667, 0.333]))
    """
    chosen_variant = choose(variant, "variant", _VARIANTS)
    kind = check_options(weighting, "uniform", refine=refine, replace=replace)
    seed = as_seed(random_state)
    with working(home_of(candidates=candidates)):
        space = build(candidates, target, kernel, bandwidth, features, seed, rounded=not refine)
        resume = on_host(resume, space.home)
        past = steps_of(resume) if isinstance(resume, Selection) else 0
        first = _checked(resume, past, fixed=chosen_variant == "fixed") if isinstance(resume, Selection) and past else resume
        count, chosen = begin(space, m, first, refine=refine, replace=replace)
        if past > count:
            raise InputError(f"m counts the steps of resume too: it must be at least {past}, got {count}")
        # There are at most as many points as candidates, unless points are moved or resume has points off the pool.
        room = count if refine else min(count, space.size + (0 if resume is None else len(resume)))
        atoms = Atoms(space, room, keep_columns=chosen_variant == "fully-corrective")
        note = ""
        if chosen_variant == "fixed":
            herd_points(space, chosen, count, replace=replace, refine=refine)
            atoms.count_up(chosen, past)
        else:
            if resume is not None and past:
                atoms.restore(chosen, resume.weights, past)
            note = _steps(atoms, count, chosen_variant, replace=replace, refine=refine)
        if weighting is None:
            before = resume.mmd if resume is not None and past else None
            return assemble_steps(space, atoms.chosen(), atoms.table, candidates, seed, note, before=before)
        held = atoms.chosen().kept(space, np.flatnonzero(atoms.weights[: atoms.size] > 0))
        return assemble(space, held, kind, candidates, seed, note)


def _checked(resume: Selection, past: int, *, fixed: bool) -> Selection:
    """Refuse weights that are off the simplex; for fixed steps, repeat each point as often as it was chosen."""
    if bool((resume.weights < 0).any()) or abs(float(resume.weights.sum()) - 1.0) > _OFF_SIMPLEX:
        raise InputError(
            f"resume must have weights that are positive and sum to one, as Frank-Wolfe steps keep them, got a sum of "
            f"{float(resume.weights.sum()):.6g} and a least weight of {float(resume.weights.min()):.6g}; choose it with "
            f"weighting='simplex'"
        )
    if not fixed:
        return resume
    times = np.rint(resume.weights * past).astype(np.int64)
    off = np.abs(resume.weights * past - times)
    if float(off.max()) > _OFF_SIMPLEX * past or int(times.sum()) != past or int(times.min()) < 1:
        raise InputError(
            f"resume must have weights that are multiples of 1/{past} for variant='fixed', whose {past} steps give each point "
            f"that much for every time it is chosen, got a weight of {float(resume.weights[int(off.argmax())]):.6g}; choose it "
            f"with variant='fixed' or by herd, or go on with another variant"
        )
    return replace_fields(
        resume,
        indices=np.repeat(resume.indices, times),
        points=np.repeat(resume.points, times, axis=0),
        weights=np.full(past, 1.0 / past),
    )


def _slopes(atoms: Atoms, places: Indices | slice) -> Floats:
    """Return the slopes of candidates; those of a few, given by their places, are computed exactly."""
    if not isinstance(places, slice):
        atoms.space.settle(places)
    slopes: Floats = atoms.space.z[places] - atoms.values[places]
    # The first point is the one nearest to mu by itself.
    return slopes if atoms.size else slopes - 0.5 * atoms.space.diagonal[places]


def _steps(atoms: Atoms, count: int, variant: str, *, replace: bool, refine: bool) -> str:
    """Take steps until there are `count`; return why there are fewer."""
    space = atoms.space
    scale = space.scale
    while len(atoms.table) < count:
        slopes = _slopes(atoms, slice(None))
        if not replace:
            slopes = space.barred(slopes, atoms.indices)
        if space.home is None:
            best = first_settled(slopes, scale, space.error, partial(_slopes, atoms))
            slopes[best] += atoms.look_at(best)
        else:
            best = space.first_best(slopes)
        if atoms.size == 0:
            atoms.begin_at(best, refine=refine)
            continue
        gap = float(slopes[best]) - atoms.slope()
        worst = atoms.worst()
        behind = atoms.slope() - float(atoms.slopes()[worst])
        # With replace=False, a step away from a held point may help where no step towards a candidate does.
        promise = gap if replace else {"away": max(gap, behind), "pairwise": gap + behind}.get(variant, gap)
        if promise <= _GAP * scale:
            return f"{len(atoms.table)} of {count} steps: " + (
                "the duality gap is down to rounding, so that no step within the convex hull of the candidates leads nearer."
                if replace
                else "no step that replace=False allows leads nearer."
            )
        if variant == "fully-corrective":
            atoms.correct(best, refine=refine)
        elif variant == "line-search":
            atoms.towards(best, refine=refine)
        elif variant == "pairwise":
            atoms.exchange(best, worst, refine=refine)
        elif gap >= behind:
            atoms.towards(best, refine=refine)
        else:
            atoms.away(worst)
    return ""
