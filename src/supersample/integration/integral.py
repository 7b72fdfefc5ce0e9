"""Bayesian quadrature: an integral of a costly function, with a standard deviation."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from supersample._notebook import notebook_html
from supersample._random import Seed, as_seed
from supersample._threads import one_blas_thread
from supersample._typing import Floats, Indices, PointsLike, RandomState
from supersample._validation import check_count, check_flag, choose
from supersample.errors import InputError, InputTypeError
from supersample.integration.evaluate import values_of
from supersample.integration.likelihood import Prior, fitted
from supersample.integration.problem import PriorOptions, Problem, new_problem, resumed_problem
from supersample.kernels import Kernel, KernelLike
from supersample.kernels.bandwidth import Bandwidth
from supersample.measures import Empirical, Measure
from supersample.selection import Selection, herd, sbq, wkh
from supersample.selection.batch.candidates import ExactCandidates
from supersample.selection.batch.estimated_mmd import EXACT_ROWS, sampled_squares
from supersample.selection.batch.residual import noisy_points
from supersample.selection.batch.weighting import free_weights

__all__ = ["Integral", "integrate"]

_METHODS = {"wkh": wkh, "sbq": sbq, "herd": herd}
#: Noise whose variance is below this share of k(x, x) is lost in the rounding of kernel values.
_NEGLIGIBLE_NOISE = 1e-12
#: Noise assumed when points are selected, as a share of the amplitude, if noise is fitted.
_UNKNOWN = 0.1

#: Amplitudes and noises lie between 1 / _LARGEST and _LARGEST, so that the square of their ratio fits into float64.
_LARGEST = 1e75

Parameter = Literal["amplitude", "width", "noise"]


@dataclass(frozen=True)
class Integral:
    """An integral as a Gaussian: its posterior mean and standard deviation, and the data that they are computed from.

    mean = sum_i weights_i values_i. points: where the function was called, in that order; values: what it returned.
    kernel, amplitude, noise: the prior f ~ GP(0, amplitude^2 k) and the standard deviation of the noise in the values.
    indices, candidates: the points as rows of the candidates; problem: measure, prior and method that selected them. They are
    kept so that more points can be selected (`resume`). note: as in Selection.

    Memory O((n + N) d) for n calls and N candidates of d columns.

    >>> import supersample as ss
    >>> line = ss.measures.Uniform(-1.0, 1.0)
    >>> found = ss.integrate(lambda x: x[0] ** 2, line, 6, bandwidth=1.0, random_state=0)
    >>> len(found), found.points.shape, round(found.mean, 3)
    (6, (6, 1), 0.334)
    >>> more = ss.integrate(lambda x: x[0] ** 2, line, 8, resume=found)
    >>> bool((more.points[:6] == found.points).all()), more.sd < found.sd
    (True, True)
    """

    mean: float
    sd: float
    points: Floats
    weights: Floats
    values: Floats
    kernel: Kernel
    amplitude: float
    noise: float
    indices: Indices
    candidates: Floats
    note: str = ""
    problem: Problem | None = field(default=None, repr=False, compare=False)

    def __len__(self) -> int:
        """Count the calls of the function."""
        return int(self.values.size)

    def __str__(self) -> str:
        """Return the integral with its standard deviation, the number of calls and the prior."""
        lines = [
            f"{self.mean:.6g} +- {self.sd:.2g} (one standard deviation), from {len(self):,} calls of the function",
            f"  prior    amplitude {self.amplitude:.4g}, {self.kernel!r}",
        ]
        return "\n".join([*lines, f"  note     {self.note}"] if self.note else lines)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the integral with its standard deviation, and the prior."""
        return notebook_html(self)


@one_blas_thread()
def integrate(
    f: Callable[[Any], Any],
    measure: Measure,
    n: int,
    *,
    kernel: KernelLike = "gaussian",
    bandwidth: Bandwidth = "median",
    candidates: PointsLike | None = None,
    vectorized: bool = False,
    fit: bool | Sequence[Parameter] = False,
    amplitude: float | None = None,
    noise: float | None = None,
    method: Literal["wkh", "sbq", "herd"] | None = None,
    resume: Integral | None = None,
    random_state: RandomState = None,
) -> Integral:
    """Return the integral of f over a measure from n calls of f, with a standard deviation (Bayesian quadrature).

    Under the prior f ~ GP(0, a^2 k) the integral is Gaussian with mean z^T K^-1 f(X) and variance a^2 (E - z^T K^-1 z) (Huszar
    and Duvenaud 2012, eq. 16 and 22). The variance does not depend on f, so all points are selected before the first call. If f
    lies in the kernel's space, |f| times the MMD bounds the error. The prior mean is 0, so that few points shrink the estimate
    to 0. The standard deviation is only as good as the prior: fit it, or know it.

    f: takes one point (a one-dimensional array) and returns a number; with vectorized=True, takes all points as rows.

    candidates: points at which f may be called; by default 10,000 draws of the measure, or the points of an empirical one.

    fit: True fits amplitude and width by maximum likelihood, -f^T K^-1 f / 2 - log|K| / 2 up to a constant; or a list of
    "amplitude", "width", "noise". The points are selected before the fit, with the given width.

    amplitude: a, 1 by default. noise: the standard deviation of the noise in the values of f, 0 by default. With noise, f is
    called again at a point where that lowers the variance most. If noise is fitted and not given, points are selected assuming
    0.1 x amplitude.

    method: how points are selected; the weights are always those of Bayesian quadrature. "sbq" lowers the variance most with
    each point; with smooth kernels it does so by pairs of near points with huge opposite weights, which give large errors for a
    function that is less smooth. "wkh", the default, avoids such pairs, at almost no cost in variance.

    resume: an earlier result. f is called at n - len(resume) more points only, selected like the earlier ones, so that the
    points are those of a single run with n calls. Measure, kernel, amplitude, noise, method and candidates are those of the
    earlier result. Its final prior is used, unless `fit` fits it again.

    For an empirical measure with `features`, points are selected by the features, and the integral is over the measure's
    points; for more than 20,000 of them the standard deviation is an estimate, and the note says so.

    O(N n^2) for N candidates, and n calls of f.

    >>> import supersample as ss
    >>> found = integrate(lambda x: x[0] ** 2, ss.measures.Uniform(-1.0, 1.0), 12, bandwidth=1.0, random_state=0)
    >>> round(found.mean, 4), found.sd < 1e-4
    (0.3333, True)
    """
    if not callable(f):
        raise InputTypeError(f"f must be a function of a point, got {type(f).__name__}")
    if not isinstance(measure, Measure):
        raise InputTypeError(
            f"measure must be one of ss.measures, got {type(measure).__name__}; wrap data as ss.measures.Empirical(points)"
        )
    count, by_rows, parts = check_count(n, "n"), check_flag(vectorized, "vectorized"), _parts(fit)
    if method is not None:
        choose(method, "method", tuple(_METHODS))
    options = PriorOptions(
        kernel,
        bandwidth,
        None if amplitude is None else _positive(amplitude, "amplitude"),
        None if noise is None else _positive(noise, "noise", or_zero=True),
        method,
        candidates,
    )
    seed = as_seed(random_state)
    problem, prior = _problem(measure, options, resume, count, seed)
    first = np.empty(0, dtype=np.int64) if resume is None else resume.indices
    noise_for_selection = problem.prior.noise
    if noise_for_selection == 0.0 and ("noise" in parts or prior.noise > 0.0):
        noise_for_selection = _UNKNOWN * problem.prior.amplitude
    indices, note = _chosen(problem, count, first, noise_for_selection, seed)
    points = problem.candidates[indices]
    values = values_of(f, points[first.size :], vectorized=by_rows)
    if resume is not None:
        values = np.concatenate([resume.values, values])
    if parts and values.size:
        prior = fitted(problem.prior, points, values, parts)
    return _posterior(problem, prior, indices, values, note, seed)


def _problem(measure: Measure, options: PriorOptions, resume: Integral | None, count: int, seed: Seed) -> tuple[Problem, Prior]:
    """Return the state of a new or resumed integral, and its prior."""
    if resume is None:
        problem = new_problem(measure, options, seed)
        prior = problem.prior
    else:
        if not isinstance(resume, Integral) or resume.problem is None:
            raise InputTypeError(f"resume must be an Integral, as integrate returns, got {type(resume).__name__}")
        if count < len(resume):
            raise InputError(f"n counts the points of resume too: it must be at least {len(resume)}, got {count}")
        prior = Prior(resume.amplitude, resume.kernel, resume.noise)
        problem = resumed_problem(resume.problem, prior, measure, options)
    return problem, prior


def _chosen(problem: Problem, count: int, first: Indices, noise: float, seed: Seed) -> tuple[Indices, str]:
    """Return where to call f, and a note if there are fewer places than asked for."""
    target, pool, prior = problem.target, problem.candidates, problem.prior
    if count > pool.shape[0] and noise == 0.0:
        raise InputError(
            f"n must not be more than the {pool.shape[0]} candidates, got {count}: a value without noise is known after one "
            f"call; ask for fewer, or pass more candidates"
        )
    features = target.features if isinstance(target, Empirical) else None
    ratio = (noise / prior.amplitude) ** 2
    state = seed.child("choice").sequence()
    if problem.method != "herd" and ratio > _NEGLIGIBLE_NOISE * float(prior.kernel.diagonal(pool).max()):
        near = isinstance(target, Empirical) and target.weights.size <= EXACT_ROWS
        known = target.by_points() if near and isinstance(target, Empirical) else target
        space = ExactCandidates(prior.kernel, pool, known)
        return noisy_points(space, count, ratio, first, by_variance=problem.method == "sbq"), ""
    resumed = Selection(first, pool[first], np.full(first.size, 1.0 / max(1, first.size)), np.empty(0))
    given: dict[str, Any] = {"kernel": prior.kernel} if features is None else {"features": features}
    found = _METHODS[problem.method](
        pool, count, target=target, resume=resumed, replace=noise > 0.0, random_state=state, weighting="uniform", **given
    )
    short = found.note if len(found) < count else ""
    return found.indices, short


def _posterior(problem: Problem, prior: Prior, indices: Indices, values: Floats, note: str, seed: Seed) -> Integral:
    points, target = problem.candidates[indices], problem.target
    exact = target.by_points() if isinstance(target, Empirical) else target
    ratio = (prior.noise / prior.amplitude) ** 2
    gram, z = np.empty((0, 0)), np.empty(0)
    if values.size:  # no values if no candidate is within the kernel's reach of the measure
        gram, z = prior.kernel(points), exact.mean_embedding(prior.kernel, points)
    gram[np.diag_indices_from(gram)] += ratio
    weights, explained, _ = free_weights(gram, z)
    # Large weights multiply the rounding of kernel values; the variance is at least that error.
    least = float(np.finfo(float).eps * np.abs(weights).sum() ** 2 * np.diag(gram).max(initial=0.0))
    remarks = [problem.note, note]
    if isinstance(exact, Empirical) and exact is not target and exact.weights.size > EXACT_ROWS and values.size:
        # E - z^T (K + r I)^-1 z is MMD^2 of the weights plus r times their squares; E itself would take N^2 kernel values.
        estimate = sampled_squares(prior.kernel, exact, points, weights[None], seed.child("held-out"))
        share, error = float(estimate.squares[0]) + ratio * float(weights @ weights), estimate.error or 0.0
        least = max(least, error)
        remarks.append(f"The variance is an estimate, by {estimate.by}, to within {prior.amplitude**2 * error:.2g}.")
    else:
        share = exact.energy(prior.kernel) - float(explained.sum())
    return Integral(
        float(weights @ values),
        float(prior.amplitude * np.sqrt(max(share, least))),
        points,
        weights,
        values,
        prior.kernel,
        prior.amplitude,
        prior.noise,
        indices,
        problem.candidates,
        " ".join(filter(None, remarks)),
        problem,
    )


def _parts(fit: Any) -> frozenset[str]:
    if isinstance(fit, bool):
        return frozenset(("amplitude", "width")) if fit else frozenset()
    if not isinstance(fit, str | list | tuple | set | frozenset):
        raise InputTypeError(
            f"fit must be True, False, or a list of 'amplitude', 'width', 'noise', got {type(fit).__name__} {fit!r}"
        )
    names = (fit,) if isinstance(fit, str) else tuple(fit)
    return frozenset(choose(name, "fit", ("amplitude", "width", "noise")) for name in names)


def _positive(value: Any, name: str, *, or_zero: bool = False) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise InputTypeError(f"{name} must be a number, got {type(value).__name__} {value!r}")
    if not ((or_zero and value == 0) or 1.0 / _LARGEST <= value <= _LARGEST):
        least = "0 or more" if or_zero else "positive"
        raise InputError(f"{name} must be {least}, of a size between {1 / _LARGEST:g} and {_LARGEST:g}, got {value!r}; scale f")
    return float(value)
