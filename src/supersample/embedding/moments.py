"""Sums of weighted features as plain state: init, update, merge, and the statistics computed from them.

Rows are added to a float64 partial sum of 256 rows, and partial sums to a compensated total. Both are part of the state, so the
result does not depend on the batches, to the bit. Sums are kept relative to a power of two, so that weights of any scale
neither overflow nor underflow.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from supersample._checks import MOST_EXPONENT, ROUNDING, require, within
from supersample._compiled import sums
from supersample._compiled.sums import FOLD
from supersample._stored import FLOATS, INDICES, stored
from supersample._typing import Features, Floats, Indices, Weights
from supersample.errors import InputError

__all__ = [
    "ONE",
    "Moments",
    "ScaledWeight",
    "ScaledWeights",
    "init",
    "merge",
    "scale_log_weights",
    "scale_weights",
    "squared_norms",
    "update",
    "weight_share",
]

#: Sums of weights below this are none.
_NO_WEIGHT = 1e-200

_N_EXTRA = 3


class ScaledWeights(NamedTuple):
    """Weights as mantissa * 2^exponent with mantissa 0 or in [0.5, 1), so that a log weight may have any scale."""

    mantissas: Floats
    exponents: Indices


class ScaledWeight(NamedTuple):
    """A factor of weights as mantissa * 2^exponent, with mantissa above 0 and at most 1."""

    mantissa: float
    exponent: int


#: The factor that changes nothing.
ONE = ScaledWeight(1.0, 0)


@stored("Moments", {"totals": FLOATS, "errors": FLOATS, "partials": FLOATS, "counts": INDICES})
@dataclass(frozen=True)
class Moments:
    """Running sums of w phi (D values) and w, relative to 2^exponent, and of w^2 and w^2 |phi|^2, relative to 2^(2 exponent).

    counts: rows seen, rows in `partials`, the exponent, 1 once a positive weight was seen (as in `_compiled/sums.py`).
    """

    totals: Floats
    errors: Floats
    partials: Floats
    counts: Indices

    @property
    def n_seen(self) -> int:
        """Rows seen, those of weight zero included."""
        return int(self.counts[0])

    @property
    def exponent(self) -> int:
        """The power of two that the sums are relative to."""
        return int(self.counts[2])

    @property
    def has_weight(self) -> bool:
        """Whether a row of positive weight was seen."""
        return bool(self.counts[3])

    def sums(self) -> Floats:
        """Return the sums themselves, relative to 2^exponent (and 2^(2 exponent) for the last two)."""
        return (self.totals + self.partials) + self.errors

    @property
    def total_weight(self) -> float:
        """The sum of the weights; infinite if it exceeds float64, which affects no other result."""
        with np.errstate(over="ignore"):
            return float(np.ldexp(self.sums()[-3], self.exponent))

    @property
    def effective_rows(self) -> float:
        """(sum w)^2 / sum w^2: the number of equally weighted rows that give the same variance; n for equal weights."""
        total, squares = self.sums()[-3:-1]
        return float(total * total / squares) if squares > 0 else 0.0

    def mean(self) -> Floats:
        """Return mu = sum w phi / sum w."""
        values = self.sums()
        if not values[-3] > 0:
            raise InputError("the embedding has no mean yet: it has seen no row of positive weight; call update(points) first")
        return np.asarray(values[:-_N_EXTRA] / values[-3])

    def off_diagonal(self) -> float:
        """Return the mean of phi(x).phi(y) over pairs of different rows, in proportion to their weights.

        (W^2 |mu|^2 - sum w^2 |phi|^2) / (W^2 - sum w^2), the U-statistic of the feature kernel.
        """
        values = self.sums()
        weight, squares, norms = values[-_N_EXTRA:]
        mean = self.mean()
        pairs = weight * weight - squares
        if not pairs > 1e-12 * weight * weight:
            raise InputError(
                "estimator='unbiased' needs at least two rows of positive weight in each sample, got fewer; pass more rows "
                "or use estimator='biased'"
            )
        return float((weight * weight * float(mean @ mean) - norms) / pairs)

    def scaled(self, factor: ScaledWeight) -> "Moments":
        """Return the moments of the same rows with all weights multiplied by a factor."""
        if not self.has_weight:
            return self
        factors = np.full(self.totals.size, factor.mantissa)
        factors[-2:] = factor.mantissa**2
        counts = self.counts.copy()
        counts[2] += factor.exponent
        return replace(
            self, totals=self.totals * factors, errors=self.errors * factors, partials=self.partials * factors, counts=counts
        )

    def check(self, n_features: int, n_used: int, largest: float) -> None:
        """Refuse sums that `n_used` rows with features of at most `largest` in size cannot have."""
        sums = (self.totals, self.errors, self.partials)
        require(all(each.shape == (n_features + 3,) for each in sums), "moments and features differ in number")
        require(all(bool(np.isfinite(each).all()) for each in sums), "the moments are not finite")
        require(self.counts.shape == (4,) and self.n_seen == n_used, "the moments are of another number of rows")
        require(0 <= self.counts[1] < FOLD and self.counts[3] == (n_used > 0), "the moments are of another number of rows")
        require(abs(self.exponent) <= MOST_EXPONENT, "the moments have an impossible scale")
        if n_used == 0:
            require(not any(bool(each.any()) for each in sums), "there are moments of no rows")
            return
        limits = np.full(n_features + 3, n_used * largest)
        limits[-3:] = n_used, n_used, n_used * largest * largest
        require(all(within(each, limits) for each in sums), "the moments are too large")
        values = self.sums()
        weight, squares, norms = values[-3:]
        require(weight > _NO_WEIGHT and squares > _NO_WEIGHT and norms >= 0, "the moments have no weight")
        # Each weight is at most one, and by Cauchy and Schwarz (sum w)^2 <= n sum w^2.
        require(squares <= weight * (1.0 + ROUNDING) <= n_used * (1.0 + ROUNDING) ** 2, "the moments weigh too much")
        require(weight * weight <= n_used * squares * (1.0 + ROUNDING), "the moments weigh too much")
        require(within(values[:-3], weight * largest), "the moments are too large")


def init(n_features: int) -> Moments:
    """Return the moments of no data."""
    length = n_features + _N_EXTRA
    return Moments(np.zeros(length), np.zeros(length), np.zeros(length), np.zeros(4, dtype=np.int64))


def squared_norms(features: Features) -> Floats:
    """Return |phi|^2 for each row in float64; it does not depend on the other rows passed."""
    norms = np.empty(features.shape[0])
    sums.squared_norms(features, norms)
    return norms


def update(state: Moments, features: Features, weights: ScaledWeights | None = None, *, norms: Floats | None = None) -> Moments:
    """Return the moments after more rows; the given state is not changed. O(n D).

    norms: |phi|^2 of the rows, if already computed.
    """
    after = Moments(state.totals.copy(), state.errors.copy(), state.partials.copy(), state.counts.copy())
    norms = squared_norms(features) if norms is None else norms
    mantissas, exponents = weights or ScaledWeights(np.empty(0), np.empty(0, dtype=np.int64))
    sums.accumulate(features, norms, mantissas, exponents, after.totals, after.errors, after.partials, after.counts)
    return after


def merge(left: Moments, right: Moments) -> Moments:
    """Return the moments of both data sets together: exact up to one rounding, and the same in either order."""
    if not (left.has_weight and right.has_weight):
        some, none = (right, left) if right.has_weight else (left, right)
        counts = some.counts.copy()
        counts[0] += none.n_seen
        return replace(some, counts=counts)
    exponent = max(left.exponent, right.exponent)
    pairs = []
    for state in (left, right):
        shift = max(state.exponent - exponent, -2000)
        factors = np.full(state.totals.size, np.ldexp(1.0, shift))
        factors[-2:] = np.ldexp(1.0, 2 * shift)
        total, error = _two_sum(state.totals * factors, state.partials * factors)
        pairs.append((total, error + state.errors * factors))
    total, error = _two_sum(pairs[0][0], pairs[1][0])
    counts = np.array([left.n_seen + right.n_seen, 0, exponent, 1], dtype=np.int64)
    return Moments(total, error + (pairs[0][1] + pairs[1][1]), np.zeros_like(total), counts)


def weight_share(left: Moments, right: Moments) -> float:
    """Return the left moments' share of the total weight."""
    exponent = max(left.exponent, right.exponent)
    mine, theirs = (float(np.ldexp(each.sums()[-3], max(each.exponent - exponent, -2000))) for each in (left, right))
    return mine / (mine + theirs)


def scale_weights(weights: Weights) -> ScaledWeights:
    """Split checked weights into mantissa and exponent."""
    mantissas, exponents = np.frexp(weights)
    return ScaledWeights(mantissas, exponents.astype(np.int64))


def scale_log_weights(log_weights: Floats) -> ScaledWeights:
    """Split weights given by their natural logarithm; minus infinity is a weight of zero."""
    some = np.isfinite(log_weights)
    safe = np.where(some, log_weights, 0.0)
    exponents = np.floor(safe / np.log(2.0)).astype(np.int64) + 1
    mantissas, corrections = np.frexp(np.exp(safe - exponents * np.log(2.0)))
    exponents += corrections
    return ScaledWeights(np.where(some, mantissas, 0.0), np.where(some, exponents, 0))


def _two_sum(left: Floats, right: Floats) -> tuple[Floats, Floats]:
    total = left + right
    back = total - left
    return total, (left - (total - back)) + (right - back)
