"""Online criticisms: the c points of the stream that the prototypes represent worst.

Algorithms 2 and 4 of the draft Online Prototypes and Criticisms.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from supersample._checks import ROUNDING, require
from supersample._compiled.criticisms import first_entry
from supersample._stored import FLOATS, INTEGER, SINGLES, instance_of, stored
from supersample._typing import Floats, Indices
from supersample.features.base import require_features
from supersample.kernels import Kernel
from supersample.selection.pool import kernel_block
from supersample.selection.stream.rows import Rows

__all__ = ["COPY", "Criticisms"]

Singles = npt.NDArray[np.float32]

#: A row whose residual to the held criticisms is below this share of k(x, x) counts as a copy of them.
COPY = 1e-6


@stored("Criticisms", {"size": INTEGER, "rows": instance_of(Rows), "features": SINGLES, "gram": FLOATS})
@dataclass
class Criticisms:
    """At most `size` points C with large sum |w| + log det K_CC, w = phi.(mu - nu); changed in place while rows come in.

    The witness comes from features, the log det from the exact kernel. gram: K_CC.
    """

    size: int
    rows: Rows
    features: Singles
    gram: Floats

    @classmethod
    def empty(cls, size: int, width: int, n_features: int) -> "Criticisms":
        """Return no criticisms."""
        return cls(size, Rows.none(width), np.empty((0, n_features), dtype=np.float32), np.empty((0, 0)))

    @classmethod
    def of(cls, size: int, rows: Rows, features: Singles, kernel: Kernel) -> "Criticisms":
        """Return given rows as criticisms."""
        return cls(size, rows.copy(), features, kernel_block(kernel, rows.points, rows.points))

    def copy(self) -> "Criticisms":
        """Return criticisms that can be changed without changing these."""
        return replace(self, rows=self.rows.copy(), features=self.features.copy(), gram=self.gram.copy())

    def offer(self, kernel: Kernel, rows: Rows, features: Singles, witness: Singles, taken: Indices | None = None) -> None:
        """Offer rows in order, except those `taken`; witness = mu - nu in features scores them and rescores the held points."""
        start = 0
        if len(self.rows) < self.size:
            refused = np.setdiff1d(np.arange(len(rows)), taken if taken is not None else [])
            rows, features, taken = rows.take(refused), features[refused], None
            start = self._fill(kernel, rows, features)
        if start < len(rows) and self.size > 0:
            size = np.abs((features[start:] @ witness).astype(np.float64))
            if taken is not None:
                size[taken] = -np.inf  # cannot enter
            held = np.abs((self.features @ witness).astype(np.float64))
            self.exchange(kernel, rows.take(slice(start, None)), features[start:], size, held)

    def exchange(self, kernel: Kernel, rows: Rows, features: Singles, size: Floats, held: Floats) -> int:
        """Offer rows with |w| = size to a full set with |w| = held; update `held` and return how many entered.

        O(c (c + d)) for each row; a change of the set costs O(n d + c^3) more.
        """
        points = rows.points
        # Relative to the largest held: exp(-|w|) itself would underflow for kernels with large values.
        reference = float(held.max(initial=0.0))
        with np.errstate(over="ignore"):
            fade = np.exp(reference - size)
            held_fade = np.exp(reference - held)
        diagonal = kernel.diagonal(points)
        gram = kernel_block(kernel, points, self.rows.points)
        row = entered = 0
        while True:
            row, slot = first_entry(row, gram, diagonal, fade, self._inverse(), held_fade, COPY)
            if slot < 0:
                return entered
            self._replace(slot, kernel, rows.take(slice(row, row + 1)), features[row])
            held_fade[slot], held[slot] = fade[row], size[row]
            row += 1
            entered += 1
            gram[row:, slot] = kernel_block(kernel, points[row:], self.rows.points[slot : slot + 1])[:, 0]

    def objective(self, held: Floats) -> float:
        """Return sum |w| + log det K_CC, with |w| = held."""
        return float(held.sum() + np.linalg.slogdet(self.gram)[1])

    def _fill(self, kernel: Kernel, rows: Rows, features: Singles) -> int:
        """Put rows into free places, except copies of held points; return the number of rows examined."""
        own = kernel.diagonal(rows.points)
        looked = 0
        while len(self.rows) < self.size and looked < len(rows):
            column = kernel_block(kernel, rows.points[looked:], self.rows.points)
            left = own[looked:] - np.einsum("ij,ij->i", column @ self._inverse(), column)
            fresh = np.flatnonzero(left > COPY * own[looked:])
            if fresh.size == 0:
                return len(rows)
            first = int(fresh[0])
            row = slice(looked + first, looked + first + 1)
            self.rows = Rows.joined(self.rows, rows.take(row))
            self.features = np.concatenate([self.features, features[row]])
            self.gram = np.block([[self.gram, column[first][:, None]], [column[first], own[row]]])
            looked += first + 1
        return looked

    def _replace(self, slot: int, kernel: Kernel, row: Rows, features: Singles) -> None:
        self.rows.put(np.array([slot]), row, np.array([0]))
        self.features[slot] = features
        self.gram[slot] = self.gram[:, slot] = kernel_block(kernel, self.rows.points, row.points)[:, 0]

    def _inverse(self) -> Floats:
        """Return K_CC^-1 with a jitter on the diagonal, so that nearly equal points do not make it diverge."""
        if len(self.rows) == 0:
            return np.empty((0, 0))
        jitter = 1e-9 * float(np.trace(self.gram)) / len(self.rows)
        return np.ascontiguousarray(np.linalg.inv(self.gram + jitter * np.eye(len(self.rows))))

    def check(self, n_features: int, kernel: Kernel | None) -> None:
        """Refuse criticisms that do not fit their features and their kernel."""
        count = len(self.rows)
        require(count <= self.size, "there are more criticisms than were asked for")
        require_features(self.features, (count, n_features), kernel, "the criticisms")
        require(self.gram.shape == (count, count), "the criticisms have a Gram matrix of another size")
        if kernel is not None:
            exact = kernel_block(kernel, self.rows.points, self.rows.points)
            near = np.abs(self.gram - exact) <= ROUNDING * kernel.largest
            require(bool(near.all()), "the criticisms have another Gram matrix than their kernel gives")
