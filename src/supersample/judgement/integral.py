"""Bayesian quadrature: an integral of a costly function, with a standard deviation."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from supersample._random import Seed, as_seed
from supersample._threads import one_blas_thread
from supersample._typing import Floats, Indices, PointsLike, RandomState
from supersample.embedding.measures import Empirical, Measure
from supersample.errors import InputError, InputTypeError
from supersample.features.kernels import Kernel, KernelLike, as_kernel
from supersample.features.kernels.base import Bandwidth
from supersample.judgement.likelihood import Prior, fitted
from supersample.records.arrays import check_count, check_points, choose
from supersample.selection import Selection, herd, sbq, wkh
from supersample.selection.weighting import free_weights

__all__ = ["Integral", "integrate"]

_METHODS = {"wkh": wkh, "sbq": sbq, "herd": herd}
_CANDIDATES = 10_000
#: Draws that stand for a measure without a closed form.
_DRAWS = 20_000

Parameter = Literal["amplitude", "width", "noise"]


@dataclass(frozen=True)
class Integral:
    """An integral as a Gaussian: its posterior mean and standard deviation, and what they rest on.

    mean = sum_i weights_i values_i. points: where the function was called, in that order; values: what it returned.
    kernel, amplitude, noise: the prior f ~ GP(0, amplitude^2 k) and the standard deviation of what is added to its values.
    indices, candidates: what the points were chosen from, kept so that more can be chosen (`resume`). note: as of Selection.
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

    def __len__(self) -> int:
        """Count the calls of the function."""
        return int(self.values.size)


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
    amplitude: float = 1.0,
    noise: float = 0.0,
    method: Literal["wkh", "sbq", "herd"] = "wkh",
    resume: Integral | None = None,
    random_state: RandomState = None,
) -> Integral:
    """Return the integral of f over a measure from n calls of f, with a standard deviation (Bayesian quadrature).

    Under the prior f ~ GP(0, a^2 k) the integral is Gaussian with mean z^T K^-1 f(X) (OWH eq. 16) and variance
    a^2 (E - z^T K^-1 z) (OWH eq. 22). The variance does not need f, so all points are chosen before the first call. If f
    lies in the kernel's space, |f| times the MMD bounds the error; the prior mean is 0, so that few points shrink the
    estimate to 0. The standard deviation is worth what the prior is: fit it, or know it.

    f: takes one point (a one-dimensional array) and returns a number; with vectorized=True, takes all points as rows.

    candidates: where f may be called; by default 10,000 draws of the measure, or the points of an empirical one.

    fit: True chooses amplitude and width that make the values most probable, -f^T K^-1 f / 2 - log|K| / 2 the logarithm; or a
    list of "amplitude", "width", "noise". The points were chosen before, with the width as given.

    noise: the standard deviation of what f adds to its true values.

    method: how points are chosen, always with the weights of Bayesian quadrature. "sbq" lowers the variance most with each
    point; with smooth kernels it does so by pairs of near points with huge opposite weights, which a function that is not
    quite as smooth does not forgive. "wkh", the default, does not, at next to no cost in variance.

    resume: an earlier result: f is called at n - len(resume) more points only, chosen by its kernel from its candidates.

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
    count = check_count(n, "n")
    choose(method, "method", tuple(_METHODS))
    parts = _parts(fit)
    start = Prior(_positive(amplitude, "amplitude"), as_kernel(kernel, bandwidth), _positive(noise, "noise", or_zero=True))
    seed = as_seed(random_state)
    if resume is None:
        pool = _candidates(measure, candidates, seed)
        first = None
    else:
        pool, first, start = _resumed(resume, count, start)
    start = start._replace(kernel=start.kernel.resolve(pool, random_state=seed.child("bandwidth").sequence()))
    target, note = _embeddable(measure, start.kernel, seed)
    chosen = _METHODS[method](
        pool, count, target=target, kernel=start.kernel, start=first, random_state=seed.child("choice").sequence()
    )
    before = 0 if resume is None else len(resume)
    values = _call(f, np.asarray(chosen.points[before:], dtype=np.float64), vectorized)
    if resume is not None:
        values = np.concatenate([resume.values, values])
    prior = fitted(start, np.asarray(chosen.points, dtype=np.float64), values, parts) if parts else start
    return _posterior(chosen, values, target, prior, pool, note)


def _embeddable(measure: Measure, kernel: Kernel, seed: Seed) -> tuple[Measure, str]:
    """Return the measure, or draws in its place where it has no closed form for the kernel, and what to say about it."""
    if isinstance(measure, Empirical) or measure.is_exact(kernel):
        return measure, ""
    note = f"{type(measure).__name__} has no closed form for {kernel!r}: {_DRAWS:,} draws stand for it, in mean and sd alike."
    return measure.sampled(_DRAWS, seed.child("draws").sequence()), note


def _posterior(chosen: Selection, values: Floats, target: Measure, prior: Prior, pool: Floats, note: str) -> Integral:
    points = np.asarray(chosen.points, dtype=np.float64)
    gram = prior.kernel(points)
    gram[np.diag_indices_from(gram)] += (prior.noise / prior.amplitude) ** 2
    weights, explained, _ = free_weights(gram, target.mean_embedding(prior.kernel, points))
    # Large weights multiply the rounding of kernel values: less variance than that cannot be claimed.
    rounding = np.finfo(float).eps * float(np.abs(weights).sum()) ** 2 * float(np.diag(gram).max())
    variance = prior.amplitude**2 * max(target.energy(prior.kernel) - float(explained.sum()), rounding)
    return Integral(
        float(weights @ values),
        float(np.sqrt(variance)),
        points,
        weights,
        values,
        prior.kernel,
        prior.amplitude,
        prior.noise,
        chosen.indices,
        pool,
        " ".join(filter(None, [note, chosen.note])),
    )


def _candidates(measure: Measure, candidates: PointsLike | None, seed: Seed) -> Floats:
    if candidates is not None:
        return check_points(candidates, "candidates", width=measure.dimension).astype(np.float64)
    if isinstance(measure, Empirical):
        return measure.points
    return measure.sample(_CANDIDATES, seed.child("candidates").sequence())


def _resumed(resume: Integral, count: int, asked: Prior) -> tuple[Floats, Selection, Prior]:
    if not isinstance(resume, Integral):
        raise InputTypeError(f"resume must be an Integral, as integrate returns, got {type(resume).__name__}")
    if count < len(resume):
        raise InputError(f"n counts the points of resume too: it must be at least {len(resume)}, got {count}")
    first = Selection(resume.indices, resume.points, resume.weights, np.empty(0))
    return resume.candidates, first, Prior(resume.amplitude, resume.kernel, max(resume.noise, asked.noise))


def _call(f: Callable[[Any], Any], points: Floats, vectorized: bool) -> Floats:
    if points.shape[0] == 0:
        return np.empty(0)
    if not vectorized:
        try:
            return _finite(np.array([float(f(point)) for point in points]), points)
        except (TypeError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            raise InputTypeError(
                f"f must return one number for one point; calling it failed with: {error}. Set vectorized=True if f takes all "
                f"points as rows"
            ) from error
    values = np.asarray(f(points), dtype=np.float64)
    if values.shape != (points.shape[0],):
        raise InputError(
            f"f must return {points.shape[0]} numbers for {points.shape[0]} rows, got shape {values.shape}; set "
            f"vectorized=False if it takes one point"
        )
    return _finite(values, points)


def _finite(values: Floats, points: Floats) -> Floats:
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise InputError(f"f must return finite numbers, got {values[bad[0]]} at {points[bad[0]].tolist()}")
    return values


def _parts(fit: Any) -> frozenset[str]:
    if isinstance(fit, bool):
        return frozenset(("amplitude", "width")) if fit else frozenset()
    names = (fit,) if isinstance(fit, str) else tuple(fit)
    return frozenset(choose(name, "fit", ("amplitude", "width", "noise")) for name in names)


def _positive(value: Any, name: str, *, or_zero: bool = False) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise InputTypeError(f"{name} must be a number, got {type(value).__name__} {value!r}")
    if not np.isfinite(value) or value < 0 or (value == 0 and not or_zero):
        raise InputError(f"{name} must be {'0 or more' if or_zero else 'positive'} and finite, got {value!r}")
    return float(value)
