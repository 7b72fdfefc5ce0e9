"""The posterior of f averaged over kernels by their evidence, and what leave-one-out residuals say about it."""

from dataclasses import dataclass
from itertools import groupby

import numpy as np
from scipy import special

from supersample._typing import Floats
from supersample.errors import InputError
from supersample.integration.marginal import Marginal, Prior, marginal, tail
from supersample.integration.problem import Problem

__all__ = ["Posterior", "in_units", "most_likely", "posterior_of"]

#: Kernels with a smaller share of the evidence are dropped: each costs an integral of its kernel.
_SMALLEST_SHARE = 1e-4
#: The smallest rounding error of values; its square is a number.
_FINEST = 1e-150
#: A right prior is called wrong in this share of all integrals.
_FALSE_ALARMS = 0.01
#: With fewer values there are no residuals with a finite variance.
_FEWEST = 4
#: With fewer values, residuals are so uncertain that hardly any speaks against a prior.
_ENOUGH = 6


@dataclass(frozen=True)
class Posterior:
    """A mixture: parts with their shares of the evidence. Values are centre + unit y, where y are those of the parts.

    widening: the factor on all standard deviations that the residuals ask for, 1 if they are as predicted.
    residuals: of each value after the others, as normal scores: standard normal if the prior is right.
    trusted, remark: whether the standard deviation can be trusted, and why not.
    """

    centre: float
    unit: float
    grain: float
    parts: tuple[Marginal, ...]
    shares: Floats
    residuals: Floats
    widening: float
    trusted: bool
    remark: str

    @property
    def best(self) -> Marginal:
        """The part with the largest share."""
        return self.parts[int(np.argmax(self.shares))]

    @property
    def noise(self) -> float:
        """The standard deviation of the noise in the values under the best part."""
        return self.unit * self.best.amplitude * float(np.sqrt(self.best.prior.ratio))

    def predict(self, rows: Floats) -> tuple[Floats, Floats]:
        """Return mean and standard deviation of f at rows."""
        found = [part.predict(rows) for part in self.parts]
        means, variances = np.stack([each[0] for each in found]), np.stack([each[1] for each in found])
        mean = self.shares @ means
        variance = self.shares @ (variances + (means - mean) ** 2)
        return self.centre + self.unit * mean, self.unit * self.widening * np.sqrt(variance)


def posterior_of(problem: Problem, points: Floats, values: Floats) -> Posterior:
    """Return the posterior under all kernels of the problem, each weighted by its evidence. O(n^3) for each."""
    centre, unit, equal = _scale(values)
    grain = float(np.finfo(float).eps * np.abs(values).max() / unit)
    parts, shares = _averaged(problem, points, in_units(values, centre, unit), unit, grain)
    kept = shares > _SMALLEST_SHARE
    parts, shares = [part for part, keep in zip(parts, kept, strict=True) if keep], shares[kept] / shares[kept].sum()
    residuals = np.empty(0) if equal or values.size < _FEWEST else _residuals(parts, shares)
    widening, trusted, remark = _fit_of_prior(residuals, values.size, equal=equal, known=problem.amplitude is not None)
    return Posterior(centre, unit, grain, tuple(parts), shares, residuals, widening, trusted, remark)


def most_likely(problem: Problem, points: Floats, values: Floats) -> Prior:
    """Return the prior with the largest evidence."""
    centre, unit, _ = _scale(values)
    grain = float(np.finfo(float).eps * np.abs(values).max() / unit)
    parts, shares = _averaged(problem, points, in_units(values, centre, unit), unit, grain)
    return parts[int(np.argmax(shares))].prior


def in_units(values: Floats, centre: float, unit: float) -> Floats:
    """Return (values - centre) / unit, by halves: the difference of two numbers near the largest does not fit into float64."""
    return np.asarray((0.5 * values - 0.5 * centre) / (0.5 * unit))


def _scale(values: Floats) -> tuple[float, float, bool]:
    """Return a centre and a unit of the values, and whether all are equal to rounding.

    In this unit values of any size can be squared. Mean and amplitude are integrated out, so it changes nothing else.
    """
    centre = float((values / values.size).sum())  # the sum of the values themselves may not fit into float64
    unit = min(2.0 * float(np.abs(0.5 * values - 0.5 * centre).max()), float(np.abs(values).max()))
    equal = bool(unit <= 4.0 * np.finfo(float).eps * abs(centre))
    return centre, (abs(centre) or 1.0) if equal else unit, equal


def _averaged(problem: Problem, points: Floats, scaled: Floats, unit: float, grain: float) -> tuple[list[Marginal], Floats]:
    """Return the posterior under each prior that can matter, and its share of the evidence.

    Priors of one kernel follow each other and share its matrix. Those with too little evidence are dropped on the way, since
    each holds n^2 numbers.
    """
    parts: list[Marginal] = []
    for kernel, priors in groupby(problem.priors(scaled, unit), key=lambda prior: prior.kernel):
        gram = np.empty((scaled.size, scaled.size))
        kernel.fill(points, points, gram)
        found = [marginal(prior, points, gram, scaled, max(grain, _FINEST)) for prior in priors]
        parts += [part for part in found if part is not None]
        least = max((part.evidence for part in parts), default=0.0) + np.log(_SMALLEST_SHARE)
        parts = [part for part in parts if part.evidence >= least]
    if not parts:
        raise InputError(
            f"kernel must be positive definite: its matrix of the {scaled.size} points has negative eigenvalues; use another"
        )
    evidence = np.array([part.evidence for part in parts])
    shares = np.exp(evidence - evidence.max())
    return parts, shares / shares.sum()


def _residuals(parts: list[Marginal], shares: Floats) -> Floats:
    """Return the residual of each value after the others as a normal score, under the mixture without that value.

    Without value i, a part's share is its share divided by the density that it predicts for the value.
    """
    found = [part.residuals() for part in parts]
    logs = np.log(shares)[:, None] - np.stack([each.log_density for each in found])
    without = np.exp(logs - logs.max(axis=0))
    without /= without.sum(axis=0)
    freedom = [part.freedom - 1.0 for part in parts]
    standardised = [each.standardised for each in found]
    below = sum(share * tail(t, each) for share, t, each in zip(without, standardised, freedom, strict=True))
    above = sum(share * tail(-t, each) for share, t, each in zip(without, standardised, freedom, strict=True))
    score = special.ndtri(np.clip(np.minimum(below, above), 1e-300, 0.5))
    return np.asarray(np.where(np.asarray(below) < above, score, -score))


def _fit_of_prior(residuals: Floats, count: int, *, equal: bool, known: bool) -> tuple[float, bool, str]:
    """Return the widening, whether the prior is to be trusted, and why not.

    The standard deviation is multiplied by the root mean square of the residuals, or by the largest one over the median of the
    largest of so many standard normals, if that is more; never by less than 1.
    """
    if equal and count > 1:
        return 1.0, False, "All values are equal, so nothing shows how much the function varies between the points."
    few = f"{count} value{'s' * (count != 1)} cannot show whether the prior fits: that takes {_ENOUGH} at least."
    if count < _FEWEST:
        endless = "" if known else f" With fewer than {_FEWEST} the standard deviation of an unknown amplitude is infinite."
        return 1.0, False, few + endless
    worst, typical = float(np.abs(residuals).max()), float(np.sqrt(np.mean(residuals**2)))
    widening = max(1.0, typical, worst / _largest(count, 0.5))
    if worst <= _largest(count, 1.0 - _FALSE_ALARMS):
        return widening, count >= _ENOUGH, few if count < _ENOUGH else ""
    return (
        widening,
        False,
        (
            f"A value is {worst:.1f} standard deviations from what the other values predict: the prior does not fit this "
            f"function (a step, a kink, or noise?). sd is widened by a factor of {widening:.2g}, and may still be too small."
        ),
    )


def _largest(count: int, level: float) -> float:
    """Return the quantile of the largest of so many absolute standard normals."""
    return float(-special.ndtri(-0.5 * np.expm1(np.log(level) / count)))
