"""Lengths of texts and lists: the extremes and the sum, all exact."""

from dataclasses import dataclass

from supersample._checks import MOST, require
from supersample._stored import INTEGER, optional, stored
from supersample._typing import Indices

__all__ = ["Lengths", "merge", "of"]


@stored("LengthProfile", {"shortest": optional(INTEGER), "longest": optional(INTEGER), "total": INTEGER})
@dataclass(frozen=True)
class Lengths:
    """Lengths of texts in characters, or of lists in values; no extremes without values."""

    shortest: int | None = None
    longest: int | None = None
    total: int = 0

    def check(self, n_values: int) -> None:
        """Refuse lengths that this number of values cannot have."""
        if self.shortest is None or self.longest is None:
            require(self == Lengths() and n_values == 0, "there are lengths of no values")
            return
        require(n_values > 0 and 0 <= self.shortest <= self.longest <= MOST, "the lengths are out of order")
        others = n_values - 1
        least, most = self.longest + others * self.shortest, self.shortest + others * self.longest
        require(least <= self.total <= most, "the lengths do not add up")


def of(lengths: Indices) -> Lengths:
    """Return the statistics of some lengths."""
    return Lengths(int(lengths.min()), int(lengths.max()), int(lengths.sum())) if lengths.size else Lengths()


def merge(left: Lengths, right: Lengths) -> Lengths:
    """Return the statistics of both data sets together."""
    if left.shortest is None or left.longest is None:
        return right
    if right.shortest is None or right.longest is None:
        return left
    return Lengths(min(left.shortest, right.shortest), max(left.longest, right.longest), left.total + right.total)
