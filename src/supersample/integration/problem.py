"""Saved state needed to resume an integral, and checks that later calls agree with it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from supersample._random import Seed
from supersample._typing import Floats, PointsLike
from supersample._validation import check_points
from supersample.errors import InputError, MismatchError
from supersample.integration.likelihood import Prior
from supersample.kernels import Kernel, KernelLike, as_kernel
from supersample.kernels.bandwidth import Bandwidth
from supersample.measures import Empirical, Measure
from supersample.selection.batch.bandwidth import resolved, rows_of
from supersample.selection.batch.candidates import drawn_where_open

__all__ = ["PriorOptions", "Problem", "new_problem", "resumed_problem"]

_CANDIDATES = 10_000


@dataclass(frozen=True)
class PriorOptions:
    """The arguments of a call that set the prior and the selection; None where left out."""

    kernel: KernelLike
    bandwidth: Bandwidth
    amplitude: float | None
    noise: float | None
    method: str | None
    candidates: PointsLike | None

    def given_kernel(self) -> Kernel | None:
        """Return the given kernel, or None if it was left at the default."""
        left = isinstance(self.kernel, str) and self.kernel == "gaussian" and self.bandwidth == "median"
        return None if left else as_kernel(self.kernel, self.bandwidth)


@dataclass(frozen=True)
class Problem:
    """The measure, its target (draws if it has no closed form), the prior before any fit, and how points are selected.

    prior: the one that points are selected by, also after a resume, so that a resumed integral equals a single run.
    """

    measure: Measure
    target: Measure
    prior: Prior
    method: str
    candidates: Floats
    note: str


def new_problem(measure: Measure, options: PriorOptions, seed: Seed) -> Problem:
    """Set candidates, bandwidth and target for an integral and all that resume it."""
    by_features = isinstance(measure, Empirical) and measure.features is not None
    if options.candidates is not None:
        pool = np.array(check_points(options.candidates, "candidates", width=measure.dimension), dtype=np.float64)
    elif isinstance(measure, Empirical):
        pool = measure.points
    else:
        pool = measure.sample(_CANDIDATES, seed.child("candidates").sequence())
    kernel, alike = options.given_kernel(), ""
    if by_features:
        assert isinstance(measure, Empirical)
        assert measure.features is not None
        kernel = measure.features.kernel if kernel is None else kernel
        if kernel.identity != measure.features.kernel.identity:
            raise MismatchError(
                f"features of Empirical stand for kernel {measure.features.kernel!r}, but kernel is {kernel!r}; pass the same "
                f"kernel to both"
            )
    else:
        kernel = as_kernel(options.kernel, options.bandwidth)
        kernel, alike = resolved(kernel, pool, None if kernel.is_resolved else rows_of(measure))
    kernel.check_width(measure.dimension)
    target, drawn = drawn_where_open(measure, kernel, seed)
    prior = Prior(1.0 if options.amplitude is None else options.amplitude, kernel, options.noise or 0.0)
    return Problem(measure, target, prior, options.method or "wkh", pool, " ".join(filter(None, [alike, drawn])))


def resumed_problem(problem: Problem, now: Prior, measure: Measure, options: PriorOptions) -> Problem:
    """Return the saved state, or raise an error that says what contradicts it. now: the prior of the earlier result."""
    if not _same(measure, problem.measure):
        raise MismatchError(
            f"measure must be the one that resume is an integral over, {type(problem.measure).__name__}, got another "
            f"{type(measure).__name__}; pass the same, or leave resume out"
        )
    kernel = options.given_kernel()
    if kernel is not None and not kernel.is_resolved:
        kernel, _ = resolved(kernel, problem.candidates, rows_of(problem.measure))
    known = (problem.prior.kernel, now.kernel)
    if kernel is not None and all(kernel.identity != each.identity for each in known):
        raise _contradiction("kernel", problem.prior.kernel, kernel)
    for name, value, held in (
        ("amplitude", options.amplitude, (problem.prior.amplitude, now.amplitude)),
        ("noise", options.noise, (problem.prior.noise, now.noise)),
        ("method", options.method, (problem.method,)),
    ):
        if value is not None and value not in held:
            raise _contradiction(name, held[0], value)
    if options.candidates is not None:
        pool = check_points(options.candidates, "candidates", width=measure.dimension)
        if not np.array_equal(pool, problem.candidates):
            raise MismatchError("candidates must be left out with resume, which continues with its own; these are others")
    return problem


def _contradiction(name: str, held: Any, given: Any) -> InputError:
    return InputError(
        f"{name} must be left out with resume, which continues with its own, {held!r}, got {given!r}; start a new integral "
        f"for another"
    )


def _same(left: Measure, right: Measure) -> bool:
    """Whether two measures are of one type with equal parameters."""
    if left is right:
        return True
    mine, theirs = vars(left), vars(right)
    return type(left) is type(right) and mine.keys() == theirs.keys() and all(_equal(mine[key], theirs[key]) for key in mine)


def _equal(left: Any, right: Any) -> bool:
    return np.array_equal(left, right) if isinstance(left, np.ndarray) else bool(left == right)
