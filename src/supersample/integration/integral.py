"""An integral with its standard deviation, and the posterior of the function."""

from dataclasses import dataclass, field

import numpy as np

from supersample._notebook import notebook_html
from supersample._text import plural
from supersample._threads import one_blas_thread
from supersample._typing import Floats, PointsLike
from supersample._validation import check_points
from supersample.errors import InputError
from supersample.integration.marginal import Marginal
from supersample.integration.posterior import Posterior, in_units, posterior_of
from supersample.integration.problem import Problem
from supersample.kernels import Kernel
from supersample.measures import Empirical
from supersample.selection.batch.estimated_mmd import EXACT_ROWS, sampled_squares

__all__ = ["Integral", "integral_of"]


@dataclass(frozen=True)
class Integral:
    """An integral: its posterior mean and standard deviation, and the data that they are computed from.

    mean, sd: of the average of the function over the measure; times the volume of a box, of the integral dx over it.
    mean = sum_i weights_i values_i. points: where the function was called, in that order; values: what it returned.
    trusted: False if the values contradict the prior, or are too few to show it; the note says why, and sd is widened.
    kernel, amplitude, noise: the most likely prior, f = m + amplitude g with g ~ GP(0, kernel), and the standard deviation of
    the noise in the values, given or inferred. kernels: all that the result is averaged over, with their shares, largest first.
    note: also what replaced the measure, or why there are fewer calls than asked for.

    Memory O(n^2) for each of the kernels and n calls, and O(N d) for N candidates of d columns.

    >>> import supersample as ss
    >>> line = ss.measures.Uniform(-1.0, 1.0)
    >>> found = ss.integrate(lambda x: x[0] ** 2, line, 8, random_state=0)
    >>> len(found), found.points.shape, round(found.mean, 3), found.trusted
    (8, (8, 1), 0.333, True)
    >>> mean, sd = found.predict([[0.5]])
    >>> mean.round(2)
    array([0.25])
    >>> more = ss.integrate(lambda x: x[0] ** 2, line, 12, resume=found)
    >>> bool((more.points[:8] == found.points).all()), more.sd < found.sd
    (True, True)
    """

    mean: float
    sd: float
    points: Floats
    weights: Floats
    values: Floats
    trusted: bool
    note: str
    posterior: Posterior = field(repr=False, compare=False)
    problem: Problem = field(repr=False, compare=False)

    @property
    def kernel(self) -> Kernel:
        """The most likely kernel."""
        return self.posterior.best.prior.kernel

    @property
    def amplitude(self) -> float:
        """The amplitude given, or fitted with the most likely kernel."""
        return self.posterior.unit * self.posterior.best.amplitude

    @property
    def noise(self) -> float:
        """The standard deviation of the noise given, or fitted with the most likely kernel."""
        return self.posterior.noise if self.problem.noise is None else self.problem.noise

    @property
    def kernels(self) -> tuple[tuple[float, Kernel], ...]:
        """The shares of the evidence and the kernels that have them, largest first."""
        shares: dict[Kernel, float] = {}
        for share, part in zip(self.posterior.shares.tolist(), self.posterior.parts, strict=True):
            shares[part.prior.kernel] = shares.get(part.prior.kernel, 0.0) + share
        return tuple(sorted(((share, kernel) for kernel, share in shares.items()), key=lambda pair: -pair[0]))

    @one_blas_thread()
    def predict(self, x: PointsLike) -> tuple[Floats, Floats]:
        """Return the posterior mean and standard deviation of f at each row of x.

        For one kernel, f(x) has mean m + k(x, X) K^-1 (y - m) and variance a^2 [k(x, x) - k(x, X) K^-1 k(X, x) +
        (1 - k(x, X) K^-1 1)^2 / 1^T K^-1 1] (n - 1) / (n - 3): eq. 10 and 11 of Huszar and Duvenaud 2012 for a prior whose mean
        m and amplitude a are integrated out. Means and variances are averaged over kernels as those of the integral are, and
        widened as it is. Noise is no part of f. Points may lie outside a bounded measure: f was not called there, so sd is
        larger the farther they are, and a prior that fits inside may not fit there. O(n^2) for each row and kernel.
        """
        rows = np.ascontiguousarray(check_points(x, "x", width=self.points.shape[1]), dtype=np.float64)
        return self.posterior.predict(rows)

    def __len__(self) -> int:
        """Count the calls of the function."""
        return int(self.values.size)

    def __str__(self) -> str:
        """Return the average with its standard deviation, measure, number of calls and prior, and what speaks against it."""
        kernels = self.kernels
        more, what = len(kernels) - 1, f"average over {self.problem.measure!r}, from {plural(len(self), 'call')} of f"
        share = next(share for share, kernel in kernels if kernel == self.kernel)
        others = f", {share:.0%} of the evidence; {more} other kernel{'s' * (more != 1)} averaged" * (more > 0)
        noise = f"noise {self.noise:.2g}, " * (self.noise > 0.0)
        lines = [
            f"{self.mean:.6g} +- {self.sd:.2g} (one standard deviation), {what}",
            f"  prior    amplitude {self.amplitude:.4g}, {noise}{self.kernel!r}{others}",
            *([] if self.trusted else ["  trusted  no"]),
            *([f"  note     {self.note}"] if self.note else []),
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the integral with its standard deviation, and the prior."""
        return notebook_html(self)


@one_blas_thread()
def integral_of(problem: Problem, points: Floats, values: Floats, note: str = "") -> Integral:
    """Return the integral from points and values: for each kernel in closed form, then averaged."""
    if values.size == 0:
        raise InputError(f"there are no values of f, so that nothing is known of its integral. {note}".rstrip())
    found = posterior_of(problem, points, values)
    remarks = [problem.note, note, found.remark]
    results = [_linear(problem, part, found.grain) for part in found.parts]
    weights = np.stack([each[0] for each in results])
    shares = np.array([each[1] for each in results])
    means = weights @ in_units(values, found.centre, found.unit)
    mean = float(found.shares @ means)
    spread = found.shares * (means - mean) ** 2
    with np.errstate(invalid="ignore"):  # an infinite variance
        variance = float((spread + found.shares * shares).sum())
    if _is_estimated(problem):
        remarks.append("The variance is an estimate, by a sample of the measure's points.")
    sd = found.unit * found.widening * float(np.sqrt(variance))
    return Integral(
        found.centre + found.unit * mean, sd, points, found.shares @ weights, values, found.trusted,
        " ".join(filter(None, remarks)), found, problem,
    )  # fmt: skip


def _linear(problem: Problem, part: Marginal, grain: float) -> tuple[Floats, float]:
    """Return weights and variance of the integral under one prior.

    Large weights multiply the rounding of kernel values and of the function's values; the variance is at least that error.
    """
    target, kernel, points = problem.target, part.prior.kernel, part.points
    exact = target.by_points() if isinstance(target, Empirical) else target
    z = exact.mean_embedding(kernel, points)
    weights = part.weights(z)
    size = float(np.abs(weights).sum())
    least = float(np.finfo(float).eps * size**2 * kernel.diagonal(points).max())
    if _is_estimated(problem) and isinstance(exact, Empirical):
        # The variance is MMD^2 of the weights plus the noise of their values; E itself would take N^2 kernel values.
        estimate = sampled_squares(kernel, exact, points, weights[None], problem.seed.child("held-out"))
        share = float(estimate.squares[0]) + part.prior.ratio * float(weights @ weights)
        least = max(least, estimate.error or 0.0)
    else:
        share = part.share(z, exact.energy(kernel))
    return weights, max(share, least) * part.variance + (grain * size) ** 2


def _is_estimated(problem: Problem) -> bool:
    return isinstance(problem.target, Empirical) and problem.target.weights.size > EXACT_ROWS
