"""Pauses between attempts, which grow, and differ from process to process so that not all come back at once."""

import random

__all__ = ["Pauses"]


class Pauses:
    """Pauses from `first` seconds on, doubled each time up to `longest`, each shortened by up to a quarter at random."""

    def __init__(self, first: float = 0.5, longest: float = 60.0) -> None:
        self._first, self._longest, self._count = first, longest, 0

    def next(self) -> float:
        """Return how long to wait now."""
        seconds = min(self._first * 2.0 ** min(self._count, 30), self._longest)
        self._count += 1
        return seconds * random.uniform(0.75, 1.0)  # noqa: S311  # nobody gains from guessing it

    def reset(self) -> None:
        """Begin with the first pause again."""
        self._count = 0
