"""Mean and standard deviation from sums without rounding.

The sums of the values and of their squares are kept as whole numbers times a power of two. Nothing is rounded until a result is
read, so the state depends on the set of values only, not on their order, their batches or how parts were merged, and there is
no cancellation: the deviation of 1e9 + x is that of x, up to the digits that the values themselves have.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from supersample._checks import MOST, require
from supersample._compiled import exact
from supersample._compiled.exact import LAST_EXPONENT, SQUARE_DIGITS, VALUE_DIGITS
from supersample._stored import INTEGER, instance_of, stored
from supersample._typing import Floats, Indices

__all__ = ["ExactSum", "Moments", "merge", "of"]

#: Bits of root that are computed before it is rounded to a float64.
_ROOT_BITS = 128


@stored("ExactSum", {"mantissa": INTEGER, "exponent": INTEGER})
@dataclass(frozen=True)
class ExactSum:
    """The number mantissa * 2^exponent; the mantissa is odd, or both are zero, so that a number has one form."""

    mantissa: int = 0
    exponent: int = 0

    @classmethod
    def of(cls, mantissa: int, exponent: int) -> "ExactSum":
        """Return mantissa * 2^exponent in its one form."""
        if mantissa == 0:
            return cls()
        zeros = (mantissa & -mantissa).bit_length() - 1
        return cls(mantissa >> zeros, exponent + zeros)

    def plus(self, other: "ExactSum") -> "ExactSum":
        """Return the sum of both."""
        last = min(self.exponent, other.exponent)
        whole = (self.mantissa << (self.exponent - last)) + (other.mantissa << (other.exponent - last))
        return ExactSum.of(whole, last)

    def fraction(self) -> Fraction:
        """Return the number."""
        return Fraction(self.mantissa) * Fraction(2) ** self.exponent

    def check(self, digits: int, last: int) -> None:
        """Refuse a number in another form, or with other digits than a sum of float64 or their squares can have."""
        require(self == ExactSum.of(self.mantissa, self.exponent), "a sum is not in its one form")
        require(last <= self.exponent < 32 * digits + last, "a sum has an impossible scale")
        require(self.mantissa.bit_length() + self.exponent - last <= 32 * (digits + 2), "a sum is too large")


@stored("ProfileMoments", {"count": INTEGER, "total": instance_of(ExactSum), "squares": instance_of(ExactSum)})
@dataclass(frozen=True)
class Moments:
    """How many finite values there were, their sum and the sum of their squares."""

    count: int = 0
    total: ExactSum = ExactSum()
    squares: ExactSum = ExactSum()

    @property
    def mean(self) -> float:
        """The mean, rounded once; NaN without values."""
        return float(self.total.fraction() / self.count) if self.count else math.nan

    @property
    def sd(self) -> float:
        """The standard deviation with the divisor n - 1, rounded once; NaN for fewer than two values."""
        if self.count < 2:
            return math.nan
        return _root(self._scatter() / (self.count * (self.count - 1)))

    def _scatter(self) -> Fraction:
        """Return n sum x^2 - (sum x)^2."""
        return self.count * self.squares.fraction() - self.total.fraction() ** 2

    def check(self) -> None:
        """Refuse sums that no values have."""
        require(0 <= self.count <= MOST, "the moments are of an impossible number of values")
        self.total.check(VALUE_DIGITS, LAST_EXPONENT)
        self.squares.check(SQUARE_DIGITS, 2 * LAST_EXPONENT)
        require(self.count > 0 or self == Moments(), "there are moments of no values")
        # Cauchy and Schwarz; there is no rounding to allow for.
        require(self.squares.mantissa >= 0 and self._scatter() >= 0, "the squares of values are less than their mean allows")
        require(self.count != 1 or self._scatter() == 0, "one value has a deviation")


def of(values: Floats, repeats: Indices | None = None) -> Moments:
    """Return the moments of finite values; repeats: how often each occurs, once if None."""
    totals, squares = np.zeros(VALUE_DIGITS, dtype=np.int64), np.zeros(SQUARE_DIGITS, dtype=np.int64)
    times = np.zeros(0, dtype=np.int64) if repeats is None else repeats
    exact.add_exactly(values, times, totals, squares)
    count = values.size if repeats is None else int(repeats.sum())
    return Moments(count, _number(totals, LAST_EXPONENT), _number(squares, 2 * LAST_EXPONENT))


def merge(left: Moments, right: Moments) -> Moments:
    """Return the moments of both data sets together: exact, and the same in any order."""
    return Moments(left.count + right.count, left.total.plus(right.total), left.squares.plus(right.squares))


def _number(digits: Indices, last: int) -> ExactSum:
    used = np.flatnonzero(digits).tolist()
    return ExactSum.of(sum(int(digits[place]) << (32 * place) for place in used), last)


def _root(square: Fraction) -> float:
    """Return the square root of a fraction that is not negative, rounded once; infinite if beyond float64."""
    above, below = square.numerator, square.denominator
    shift = max(0, _ROOT_BITS - (above.bit_length() - below.bit_length()))
    shift += shift % 2
    root = math.isqrt((above << shift) // below)
    try:
        return float(Fraction(root, 1 << (shift // 2)))
    except OverflowError:
        return math.inf
