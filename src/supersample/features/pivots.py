"""Rows that span a sample in the space of a kernel: randomly pivoted Cholesky (Chen, Epperly, Tropp and Webber 2022)."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import linalg

from supersample._typing import Floats, Indices
from supersample.errors import InputError
from supersample.kernels import Kernel

__all__ = ["Enough", "PivotedFactor"]


class Enough(NamedTuple):
    """When to stop: at least so many pivots, and the mean share of k(x, x) that they may leave of the other rows."""

    least: int
    unspanned: float


class PivotedFactor:
    """A partial Cholesky factor of the Gram matrix of some rows, one row of it for each pivot; grows in place.

    chosen: the pivots. left: the residual of k(x, x) of every row, those chosen at zero.
    """

    def __init__(self, kernel: Kernel, rows: Floats, most: int, tolerance: float) -> None:
        """Leave room for `most` pivots; it is done when less than `tolerance` of the sum of k(x, x) is left."""
        self.kernel, self.rows = kernel, rows
        self.left = kernel.diagonal(rows).copy()
        self._total = float(self.left.sum())
        if bool((self.left < 0).any()) or not self._total > 0:
            raise InputError(
                f"kernel {kernel!r} must be positive definite and not zero everywhere: k(x, x) is negative for some rows or "
                f"zero for all"
            )
        self._floor = tolerance * self._total
        self._factor = np.zeros((min(most, rows.shape[0]), rows.shape[0]))
        self._rows_of = kernel.against(rows)
        self.chosen: list[int] = []

    @property
    def done(self) -> bool:
        """Whether there is room for no more, or nothing is left to span."""
        return len(self.chosen) == self._factor.shape[0] or float(self.left.sum()) <= self._floor

    @property
    def left_share(self) -> float:
        """The share of k(x, x) that the pivots leave of the rows that were not chosen."""
        others = self.left.size - len(self.chosen)
        return float(self.left.sum()) / others / (self._total / self.left.size) if others else 0.0

    def spans(self, enough: Enough) -> bool:
        """Return whether the pivots span enough of the rows that were not chosen."""
        return len(self.chosen) >= enough.least and self.left_share <= enough.unspanned

    def features(self) -> npt.NDArray[np.float32]:
        """Return features of the rows whose products are the kernel values but for what is left."""
        return np.ascontiguousarray(self._factor[: len(self.chosen)].T, dtype=np.float32)

    def add(self, generator: np.random.Generator) -> None:
        """Add one pivot, drawn in proportion to the residual."""
        total, step = float(self.left.sum()), len(self.chosen)
        pivot = int(generator.choice(self.left.size, p=self.left / total))
        held = self._factor[:step]
        residual = self._rows_of(self.rows[pivot : pivot + 1])[0] - held.T @ held[:, pivot]
        if not residual[pivot] > 0:
            raise self._not_definite()
        self._factor[step] = residual / np.sqrt(residual[pivot])
        self._subtract(self._factor[step] ** 2, [pivot])

    def add_some(self, count: int, generator: np.random.Generator) -> None:
        """Add at least one pivot, and at most `count`; as likely as if they were drawn one by one, by matrix products."""
        pivots, step = self._proposed(count, generator), len(self.chosen)
        residual = self._residuals(pivots, self._rows_of(self.rows[pivots]), slice(None))
        try:
            root = linalg.cholesky(residual[:, pivots], lower=True, check_finite=False)
        except linalg.LinAlgError as error:
            raise self._not_definite() from error
        added = linalg.solve_triangular(root, residual, lower=True, check_finite=False)
        self._factor[step : step + pivots.size] = added
        self._subtract(np.einsum("ij,ij->j", added, added), pivots.tolist())

    def _proposed(self, count: int, generator: np.random.Generator) -> Indices:
        """Draw in proportion to the residual as it is now, and accept each with the chance that is left of it after the others.

        Accelerated RPCholesky (Epperly, Tropp and Webber 2024). The first is always accepted.
        """
        drawn = generator.choice(self.left.size, count, p=self.left / float(self.left.sum()))
        chances = generator.random(count)
        gram = self._residuals(drawn, self.kernel.against(self.rows[drawn])(self.rows[drawn]), drawn)
        before = self.left[drawn]
        room = self._factor.shape[0] - len(self.chosen)
        accepted = [0]
        gram -= np.outer(gram[:, 0], gram[0]) / gram[0, 0]
        for place in range(1, count):
            own = float(gram[place, place])
            if len(accepted) < room and chances[place] * before[place] < own:
                accepted.append(place)
                gram -= np.outer(gram[:, place], gram[place]) / own
        return np.asarray(drawn[accepted], dtype=np.int64)

    def _residuals(self, pivots: Indices, values: Floats, others: Indices | slice) -> Floats:
        """Return what is left of kernel values between some rows and others."""
        held = self._factor[: len(self.chosen)]
        return np.asarray(values - held[:, pivots].T @ held[:, others])

    def _subtract(self, spanned: Floats, pivots: list[int]) -> None:
        self.left = np.maximum(self.left - spanned, 0.0)
        self.left[pivots] = 0.0
        self.chosen.extend(pivots)

    def _not_definite(self) -> InputError:
        return InputError(f"kernel {self.kernel!r} must be positive definite; on these rows it is not")
